// Shape functions of the convolutions and matrix products. Those of
// convolutions know a size only when every number it comes from is known; the
// checks between known numbers are the kernels' own (conv_attrs.h).
#include <limits>

#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/conv_attrs.h"
#include "framework/shape_fns/window_shape.h"

namespace headrace {

Status ConvAttrs::Check(const std::string& padding_name,
                        const std::string& format_name) {
  const size_t rank = this->rank();
  HR_RETURN_IF_ERROR(ParsePadding(padding_name, &padding));
  HR_RETURN_IF_ERROR(ParseDataFormat(format_name, &format));
  if (strides.size() != rank) {
    return errors::InvalidArgument(
        "strides: the sliding window strides field must specify ", rank,
        " dimensions, got ", strides.size());
  }
  if (dilations.empty()) dilations.assign(rank, 1);
  if (dilations.size() != rank) {
    return errors::InvalidArgument("dilations: must specify ", rank,
                                   " dimensions, got ", dilations.size());
  }
  for (const auto* list : {&strides, &dilations, &explicit_paddings}) {
    for (int64_t v : *list) {
      if (v > std::numeric_limits<int32_t>::max()) {
        return errors::InvalidArgument(
            "strides, dilations and explicit_paddings must fit int32, got ", v);
      }
    }
  }
  if (padding != Padding::kExplicit) {
    if (!explicit_paddings.empty()) {
      return errors::InvalidArgument(
          "explicit_paddings must be empty unless padding is EXPLICIT, got ",
          explicit_paddings.size(), " entries with padding ", padding_name);
    }
    return OkStatus();
  }
  if (explicit_paddings.size() != 2 * rank) {
    return errors::InvalidArgument("explicit_paddings must have ", 2 * rank,
                                   " entries, got ", explicit_paddings.size());
  }
  const size_t channel = ChannelDim(format, rank);
  for (size_t i = 0; i < explicit_paddings.size(); ++i) {
    const int64_t p = explicit_paddings[i];
    if (p < 0) {
      return errors::InvalidArgument(
          "explicit_paddings must be nonnegative, got ", p, " at ", i);
    }
    if (p != 0 && (i / 2 == 0 || i / 2 == channel)) {
      return errors::InvalidArgument(
          "explicit_paddings must be 0 in the batch and depth dimensions, got ",
          p, " at ", i);
    }
  }
  return OkStatus();
}

Status ConvAttrs::CheckValues() const {
  const int channel = ChannelDim(format, rank());
  for (int i = 0; i < rank(); ++i) {
    const bool spatial_dim = i != 0 && i != channel;
    if (!spatial_dim && strides[i] != 1) {
      return errors::Unimplemented(
          "strides in the batch and depth dimensions must be 1, got ",
          strides[i], " in dimension ", i);
    }
    if (!spatial_dim && dilations[i] != 1) {
      return errors::Unimplemented(
          "dilations in the batch and depth dimensions must be 1, got ",
          dilations[i], " in dimension ", i);
    }
    if (strides[i] <= 0) {
      return errors::InvalidArgument("strides must be larger than 0, got ",
                                     strides[i], " in dimension ", i);
    }
    if (dilations[i] <= 0) {
      return errors::InvalidArgument(
          "dilated rates must be larger than 0, got ", dilations[i],
          " in dimension ", i);
    }
  }
  return OkStatus();
}

Status ConvChainAttrs::Set(size_t count, const std::vector<int64_t>& strides,
                           const std::vector<std::string>& paddings,
                           const std::vector<int64_t>& explicit_paddings) {
  if (depthwise.size() != count || strides.size() != count ||
      paddings.size() != count || count == 0 || depthwise.back()) {
    return errors::InvalidArgument(
        "depthwise, strides and paddings: wanted one element for each of ",
        count, " convolutions, the last of depthwise false, got ",
        depthwise.size(), ", ", strides.size(), " and ", paddings.size());
  }
  size_t padded = 0;
  for (const std::string& p : paddings) padded += p == "EXPLICIT" ? 1 : 0;
  constexpr size_t kEach = 8;
  if (explicit_paddings.size() != kEach * padded) {
    return errors::InvalidArgument(
        "explicit_paddings: wanted eight elements for each of ", padded,
        " EXPLICIT convolutions, got ", explicit_paddings.size());
  }
  auto next = explicit_paddings.begin();
  for (size_t i = 0; i < count; ++i) {
    ConvAttrs& conv = convs.emplace_back();
    conv.strides = {1, strides[i], strides[i], 1};
    if (paddings[i] == "EXPLICIT") {
      conv.explicit_paddings.assign(next, next + kEach);
      next += kEach;
    }
    HR_RETURN_IF_ERROR(conv.Check(paddings[i], "NHWC"));
    HR_RETURN_IF_ERROR(conv.CheckValues());
  }
  return OkStatus();
}

Status ConvSizesOf(const ConvAttrs& attrs, const TensorShape& input,
                   const TensorShape& filter, bool depthwise, ConvSizes* out) {
  const int rank = attrs.rank();
  if (input.dims() != rank) {
    return errors::InvalidArgument("input must be ", rank, "-dimensional, got ",
                                   input.DebugString());
  }
  if (filter.dims() != rank) {
    return errors::InvalidArgument("filter must be ", rank,
                                   "-dimensional, got ", filter.DebugString());
  }
  HR_RETURN_IF_ERROR(attrs.CheckValues());
  ConvSizes& s = *out;
  s = ConvSizes();
  const auto shapes = [&] {
    return StrCat("input ", input.DebugString(), ", filter ",
                  filter.DebugString());
  };
  s.batch = input.dim_size(0);
  s.in_channels = input.dim_size(ChannelDim(attrs.format, rank));
  const int64_t filter_in = filter.dim_size(rank - 2);
  const int64_t filter_out = filter.dim_size(rank - 1);
  for (int i = 0; i < attrs.spatial; ++i) {
    if (filter.dim_size(i) <= 0) {
      return errors::InvalidArgument(
          "filter must not have zero spatial dimensions (", shapes(), ")");
    }
  }
  if (depthwise) {
    if (filter_in != s.in_channels) {
      return errors::InvalidArgument(
          "input and filter must have the same depth: ", s.in_channels, " vs ",
          filter_in, " (", shapes(), ")");
    }
    s.groups = s.in_channels;
    s.out_channels = MultiplyWithoutOverflow(s.in_channels, filter_out);
    if (s.out_channels < 0) {
      return errors::InvalidArgument("output depth overflows (", shapes(), ")");
    }
    if (s.groups == 0) s.groups = 1;
  } else {
    if (filter_in <= 0) {
      return errors::InvalidArgument("filter depth must be larger than 0 (",
                                     shapes(), ")");
    }
    if (s.in_channels % filter_in != 0) {
      return errors::InvalidArgument(
          "input depth must be evenly divisible by filter depth: ",
          s.in_channels, " vs ", filter_in, " (", shapes(), ")");
    }
    s.groups = s.in_channels / filter_in;
    s.out_channels = filter_out;
    if (s.groups == 0) {
      return errors::InvalidArgument("input depth must be larger than 0 (",
                                     shapes(), ")");
    }
    if (filter_out % s.groups != 0) {
      return errors::InvalidArgument(
          "output depth must be evenly divisible by number of groups: ",
          filter_out, " vs ", s.groups, " (", shapes(), ")");
    }
  }
  for (int i = 0; i < attrs.spatial; ++i) {
    const int at = i + 3 - attrs.spatial;
    const int dim = SpatialDim(attrs.format, i);
    s.in[at] = input.dim_size(dim);
    s.filter[at] = filter.dim_size(i);
    s.stride[at] = attrs.strides[dim];
    s.dilation[at] = attrs.dilations[dim];
    if (attrs.padding == Padding::kExplicit) {
      s.pad_before[at] = attrs.explicit_paddings[2 * dim];
      s.pad_after[at] = attrs.explicit_paddings[2 * dim + 1];
    }
    HR_RETURN_IF_ERROR(WindowedOutputSize(
        s.in[at], s.filter[at], s.dilation[at], s.stride[at], attrs.padding,
        &s.out[at], &s.pad_before[at], &s.pad_after[at]));
  }
  return OkStatus();
}

TensorShape ConvOutputShape(const ConvAttrs& attrs, const ConvSizes& s) {
  TensorShape shape({s.batch});
  if (attrs.format == DataFormat::kNCHW) shape.AddDim(s.out_channels);
  for (int i = 3 - attrs.spatial; i < 3; ++i) shape.AddDim(s.out[i]);
  if (attrs.format == DataFormat::kNHWC) shape.AddDim(s.out_channels);
  return shape;
}

namespace shape_inference {
namespace {

Status CheckWindowsFit(const ConvAttrs& attrs, const PartialTensorShape& input,
                       const PartialTensorShape& filter) {
  for (int i = 0; i < attrs.spatial; ++i) {
    const int dim = SpatialDim(attrs.format, i);
    const int64_t in = InferenceContext::Dim(input, dim);
    const int64_t window = InferenceContext::Dim(filter, i);
    if (in < 0 || window < 0) continue;
    const bool is_explicit = attrs.padding == Padding::kExplicit;
    HR_RETURN_IF_ERROR(CheckWindowFits(
        in, window, attrs.dilations[dim], attrs.padding,
        is_explicit ? attrs.explicit_paddings[2 * dim] : 0,
        is_explicit ? attrs.explicit_paddings[2 * dim + 1] : 0));
  }
  return OkStatus();
}

Status ConvShape(InferenceContext* c, int spatial, bool depthwise) {
  const int rank = spatial + 2;
  ConvAttrs attrs;
  HR_RETURN_IF_ERROR(ConvAttrs::Read(*c, spatial, &attrs));
  PartialTensorShape input, filter;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &input));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), rank, &filter));
  HR_RETURN_IF_ERROR(CheckWindowsFit(attrs, input, filter));
  TensorShape known_input, known_filter;
  if (input.AsTensorShape(&known_input) &&
      filter.AsTensorShape(&known_filter)) {
    ConvSizes sizes;
    HR_RETURN_IF_ERROR(
        ConvSizesOf(attrs, known_input, known_filter, depthwise, &sizes));
    c->set_output(0, ConvOutputShape(attrs, sizes));
    return OkStatus();
  }

  DimVector out(rank, -1);
  out[0] = input.dim_size(0);
  const int channel = ChannelDim(attrs.format, rank);
  const int64_t in_depth = input.dim_size(channel);
  const int64_t filter_in = filter.dim_size(rank - 2);
  const int64_t filter_out = filter.dim_size(rank - 1);
  if (depthwise) {
    int64_t depth;
    HR_RETURN_IF_ERROR(c->MergeDims(in_depth, filter_in, &depth));
    HR_RETURN_IF_ERROR(c->Multiply(depth, filter_out, &out[channel]));
  } else {
    out[channel] = filter_out;
    if (in_depth > 0 && filter_in > 0 && in_depth % filter_in != 0) {
      return errors::InvalidArgument(
          "input depth must be evenly divisible by filter depth: ", in_depth,
          " vs ", filter_in);
    }
  }
  for (int i = 0; i < spatial; ++i) {
    const int dim = SpatialDim(attrs.format, i);
    if (attrs.strides[dim] <= 0 || attrs.dilations[dim] <= 0) {
      return errors::InvalidArgument(
          "strides and dilations must be larger than 0, got ",
          attrs.strides[dim], " and ", attrs.dilations[dim]);
    }
    const bool need_filter =
        attrs.padding != Padding::kSame && filter.dim_size(i) < 0;
    if (input.dim_size(dim) < 0 || need_filter) continue;
    const bool is_explicit = attrs.padding == Padding::kExplicit;
    int64_t before = is_explicit ? attrs.explicit_paddings[2 * dim] : 0;
    int64_t after = is_explicit ? attrs.explicit_paddings[2 * dim + 1] : 0;
    const int64_t window = filter.dim_size(i) < 0 ? 1 : filter.dim_size(i);
    HR_RETURN_IF_ERROR(WindowedOutputSize(
        input.dim_size(dim), window, attrs.dilations[dim], attrs.strides[dim],
        attrs.padding, &out[dim], &before, &after));
  }
  c->set_output(0, PartialTensorShape(out));
  return OkStatus();
}

}  // namespace

Status Conv2DShape(InferenceContext* c) { return ConvShape(c, 2, false); }
Status UngroupedConv2DShape(InferenceContext* c) {
  PartialTensorShape in, filter;
  int64_t depth;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 4, &filter));
  HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(in, 3), c->Dim(filter, 2), &depth));
  return Conv2DShape(c);
}
Status Conv3DShape(InferenceContext* c) { return ConvShape(c, 3, false); }
Status DepthwiseConv2DNativeShape(InferenceContext* c) {
  return ConvShape(c, 2, true);
}

Status MatMulShape(InferenceContext* c) {
  PartialTensorShape a, b;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &a));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &b));
  bool transpose_a = false, transpose_b = false;
  HR_RETURN_IF_ERROR(c->GetAttr("transpose_a", &transpose_a));
  HR_RETURN_IF_ERROR(c->GetAttr("transpose_b", &transpose_b));
  int64_t inner;
  HR_RETURN_IF_ERROR(c->MergeDims(a.dim_size(transpose_a ? 0 : 1),
                                  b.dim_size(transpose_b ? 1 : 0), &inner));
  c->set_output(0, c->Matrix(a.dim_size(transpose_a ? 1 : 0),
                             b.dim_size(transpose_b ? 0 : 1)));
  return OkStatus();
}

Status BatchMatMulShape(InferenceContext* c) {
  PartialTensorShape x, y, x_batch, y_batch, batch;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 2, &x));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 2, &y));
  // The first version does not broadcast: what is not known has the batch of
  // the other.
  const bool broadcasts = c->op_def().name != "BatchMatMul";
  if ((x.unknown_rank() && y.unknown_rank()) ||
      (broadcasts && (x.unknown_rank() || y.unknown_rank()))) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  if (x.unknown_rank()) x = PartialTensorShape::UnknownDims(y.dims());
  if (y.unknown_rank()) y = PartialTensorShape::UnknownDims(x.dims());
  bool adj_x = false, adj_y = false;
  HR_RETURN_IF_ERROR(c->GetAttr("adj_x", &adj_x));
  HR_RETURN_IF_ERROR(c->GetAttr("adj_y", &adj_y));
  int64_t inner;
  HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(x, adj_x ? -2 : -1),
                                  c->Dim(y, adj_y ? -1 : -2), &inner));
  HR_RETURN_IF_ERROR(c->Subshape(x, 0, -2, &x_batch));
  HR_RETURN_IF_ERROR(c->Subshape(y, 0, -2, &y_batch));
  if (broadcasts) {
    HR_RETURN_IF_ERROR(BroadcastShapes(x_batch, y_batch, &batch));
  } else {
    HR_RETURN_IF_ERROR(c->Merge(x_batch, y_batch, &batch));
  }
  batch.AddDim(c->Dim(x, adj_x ? -1 : -2));
  batch.AddDim(c->Dim(y, adj_y ? -2 : -1));
  c->set_output(0, batch);
  return OkStatus();
}

}  // namespace shape_inference
}  // namespace headrace
