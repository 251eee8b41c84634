#include "kernels/nn/pooling.h"

#include "absl/strings/str_join.h"

namespace headrace {
namespace {

PoolLayout Strides(DataFormat format, int64_t channels,
                   const std::array<int64_t, 3>& size) {
  PoolLayout l;
  if (format == DataFormat::kNHWC) {
    l.channel = 1;
    l.col = channels;
    l.row = l.col * size[2];
    l.plane = l.row * size[1];
    l.batch = l.plane * size[0];
  } else {
    l.col = 1;
    l.row = size[2];
    l.plane = l.row * size[1];
    l.channel = l.plane * size[0];
    l.batch = l.channel * channels;
  }
  return l;
}

}  // namespace

Status PoolAttrs::Read(OpKernelConstruction* ctx) {
  op = ctx->def().op;
  std::string text;
  HR_RETURN_IF_ERROR(ctx->GetAttr("padding", &text));
  HR_RETURN_IF_ERROR(ParsePadding(text, &padding));
  if (ctx->HasAttr("data_format")) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("data_format", &text));
    HR_RETURN_IF_ERROR(ParseDataFormat(text, &format));
    rank = static_cast<int>(text.size());
    if (rank != 4 && rank != 5) {
      return errors::InvalidArgument("data_format ", text,
                                     " is not one of pooling's");
    }
  }
  if (padding == Padding::kExplicit) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("explicit_paddings", &explicit_paddings));
    if (static_cast<int>(explicit_paddings.size()) != 2 * rank) {
      return errors::InvalidArgument("explicit_paddings must have ", 2 * rank,
                                     " entries, got ",
                                     explicit_paddings.size());
    }
    const int depth = ChannelDim(format, rank);
    for (int i = 0; i < 2 * rank; ++i) {
      if (explicit_paddings[i] < 0) {
        return errors::InvalidArgument(
            "explicit_paddings must not be negative, got ",
            explicit_paddings[i]);
      }
      if ((i / 2 == 0 || i / 2 == depth) && explicit_paddings[i] != 0) {
        return errors::InvalidArgument(
            "explicit_paddings of the batch and depth dimensions must be 0, "
            "got ",
            explicit_paddings[i]);
      }
    }
  }
  if (ctx->HasAttr("ksize")) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("ksize", &ksize));
    HR_RETURN_IF_ERROR(ctx->GetAttr("strides", &strides));
    HR_RETURN_IF_ERROR(CheckWindow());
  }
  return OkStatus();
}

Status PoolAttrs::SetWindow(const Tensor& k, const Tensor& s) {
  for (const Tensor* t : {&k, &s}) {
    if (t->dtype() != DT_INT32 || t->dims() != 1 || t->dim_size(0) != rank) {
      return errors::InvalidArgument(
          "Sliding window ", t == &k ? "ksize" : "stride",
          " must be an int32 vector of ", rank, " elements, got shape ",
          t->shape().DebugString());
    }
  }
  ksize.assign(k.data<int32_t>(), k.data<int32_t>() + rank);
  strides.assign(s.data<int32_t>(), s.data<int32_t>() + rank);
  return CheckWindow();
}

Status PoolAttrs::CheckWindow() const {
  if (static_cast<int>(ksize.size()) != rank) {
    return errors::InvalidArgument("Sliding window ksize field must specify ",
                                   rank, " dimensions, got ", ksize.size());
  }
  if (static_cast<int>(strides.size()) != rank) {
    return errors::InvalidArgument("Sliding window stride field must specify ",
                                   rank, " dimensions, got ", strides.size());
  }
  for (int i = 0; i < rank; ++i) {
    if (ksize[i] <= 0) {
      return errors::InvalidArgument(
          "Sliding window ksize must be positive. The specified or inferred "
          "ksize is: ",
          absl::StrJoin(ksize, ","));
    }
    if (strides[i] <= 0) {
      return errors::InvalidArgument(
          "Sliding window strides must be positive. The specified or inferred "
          "strides are: ",
          absl::StrJoin(strides, ","));
    }
  }
  if (ksize[0] != 1 || strides[0] != 1) {
    return errors::Unimplemented(
        "Pooling is not yet supported on the batch dimension.");
  }
  return OkStatus();
}

Status PoolAttrs::Resolve(const TensorShape& input, PoolGeometry* g) const {
  if (input.dims() != rank) {
    return errors::InvalidArgument(op, ": input must be ", rank,
                                   "-dimensional, got shape ",
                                   input.DebugString());
  }
  g->format = format;
  g->in_shape = input;
  g->batch = input.dim_size(0);
  const int depth = ChannelDim(format, rank);
  g->channels = input.dim_size(depth);
  g->depth_window = ksize[depth];
  const int spatial = rank - 2;
  for (int i = 0; i < 3; ++i) {
    const int dim = SpatialDim(format, i - (3 - spatial));
    if (i < 3 - spatial) {
      g->in[i] = g->out[i] = g->window[i] = g->stride[i] = 1;
      g->pad[i] = 0;
      continue;
    }
    g->in[i] = input.dim_size(dim);
    g->window[i] = ksize[dim];
    g->stride[i] = strides[dim];
    int64_t before = 0, after = 0;
    if (padding == Padding::kExplicit) {
      before = explicit_paddings[2 * dim];
      after = explicit_paddings[2 * dim + 1];
    }
    HR_RETURN_IF_ERROR(WindowedOutputSize(g->in[i], g->window[i], 1,
                                          g->stride[i], padding, &g->out[i],
                                          &before, &after));
    g->pad[i] = before;
  }
  if (g->depth_window != 1 || strides[depth] != 1) {
    if (op != "MaxPool" && op != "MaxPoolV2") {
      return errors::Unimplemented(
          op, ": pooling over the depth dimension is not supported, got ksize ",
          absl::StrJoin(ksize, ","));
    }
    for (int i = 0; i < 3; ++i) {
      if (g->window[i] != 1) {
        return errors::Unimplemented(
            "MaxPooling supports exactly one of pooling across depth or "
            "pooling across width/height.");
      }
    }
    if (g->channels % g->depth_window != 0) {
      return errors::Unimplemented(
          "Depthwise max pooling requires the depth window to evenly divide "
          "the input depth");
    }
    if (strides[depth] != g->depth_window) {
      return errors::Unimplemented(
          "Depthwise max pooling requires the depth window to equal the depth "
          "stride");
    }
  }
  DimVector out(input.dim_sizes().begin(), input.dim_sizes().end());
  out[depth] = g->out_channels();
  for (int i = 0; i < spatial; ++i) {
    out[SpatialDim(format, i)] = g->out[3 - spatial + i];
  }
  HR_RETURN_IF_ERROR(TensorShape::Build(out, &g->out_shape));
  // Strides of an empty tensor may overflow, but are never used.
  if (g->in_shape.num_elements() > 0) {
    g->in_layout = Strides(format, g->channels, g->in);
  }
  if (g->out_shape.num_elements() > 0) {
    g->out_layout = Strides(format, g->out_channels(), g->out);
  }
  return OkStatus();
}

}  // namespace headrace
