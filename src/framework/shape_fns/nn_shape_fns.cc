// Shape functions of the neural network ops: bias, pooling, batch
// normalisation. Each also refuses what the kernel would refuse, as far as the
// shapes are known while the graph is built.
#include <cstdint>
#include <string>
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/window_shape.h"

namespace headrace::shape_inference {
namespace {

using Shape = InferenceContext::Shape;

Status GetDataFormat(InferenceContext* c, DataFormat* format,
                     std::string* name) {
  *name = "NHWC";
  if (c->attrs().Find("data_format") != nullptr) {
    HR_RETURN_IF_ERROR(c->GetAttr("data_format", name));
  }
  return ParseDataFormat(*name, format);
}

Status GetWindowAttr(InferenceContext* c, const char* attr, int rank,
                     std::vector<int64_t>* out) {
  HR_RETURN_IF_ERROR(c->GetAttr(attr, out));
  if (static_cast<int>(out->size()) != rank) {
    return errors::InvalidArgument(c->op_def().name, " requires the ", attr,
                                   " attribute to contain ", rank,
                                   " values, but got: ", out->size());
  }
  return OkStatus();
}

// One dimension of the result; -1 if the input's is unknown.
Status PooledDim(int64_t in, int64_t k, int64_t s, Padding padding,
                 int64_t before, int64_t after, int64_t* out) {
  if (k < 1) {
    return errors::InvalidArgument(
        "Sliding window ksize must be positive, got ", k);
  }
  int64_t ignored;
  if (in < 0) {
    *out = -1;
    // Still refuses a bad stride.
    return WindowedOutputSize(k, k, 1, s, Padding::kValid, &ignored, &before,
                              &after);
  }
  HR_RETURN_IF_ERROR(CheckWindowFits(in, k, 1, padding, before, after));
  return WindowedOutputSize(in, k, 1, s, padding, out, &before, &after);
}

// Every dimension but the batch is pooled; a window of 1 leaves it alone.
Status PoolShape(InferenceContext* c, int rank) {
  Shape input;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &input));
  DataFormat format;
  std::string name;
  HR_RETURN_IF_ERROR(GetDataFormat(c, &format, &name));
  std::vector<int64_t> ksize, strides, explicit_paddings;
  HR_RETURN_IF_ERROR(GetWindowAttr(c, "ksize", rank, &ksize));
  HR_RETURN_IF_ERROR(GetWindowAttr(c, "strides", rank, &strides));
  std::string padding_name;
  HR_RETURN_IF_ERROR(c->GetAttr("padding", &padding_name));
  Padding padding;
  HR_RETURN_IF_ERROR(ParsePadding(padding_name, &padding));
  if (padding == Padding::kExplicit) {
    HR_RETURN_IF_ERROR(c->GetAttr("explicit_paddings", &explicit_paddings));
    if (static_cast<int>(explicit_paddings.size()) != 2 * rank) {
      return errors::InvalidArgument("explicit_paddings must contain ",
                                     2 * rank, " values, got ",
                                     explicit_paddings.size());
    }
  }
  Shape output = input;
  for (int i = 1; i < rank; ++i) {
    const bool is_depth = i == ChannelDim(format, rank);
    int64_t before = 0, after = 0, out;
    if (padding == Padding::kExplicit) {
      before = explicit_paddings[2 * i];
      after = explicit_paddings[2 * i + 1];
    }
    if (is_depth && ksize[i] == 1 && strides[i] == 1) continue;
    HR_RETURN_IF_ERROR(PooledDim(InferenceContext::Dim(input, i), ksize[i],
                                 strides[i], padding, before, after, &out));
    output.set_dim(i, out);
  }
  c->set_output(0, output);
  return OkStatus();
}

int BatchNormRank(const std::string& format) {
  return format.size() == 5 ? 5 : 4;  // NDHWC and NCDHW
}

}  // namespace

Status BiasAddShape(InferenceContext* c) {
  DataFormat format;
  std::string name;
  HR_RETURN_IF_ERROR(GetDataFormat(c, &format, &name));
  Shape input, bias;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 2, &input));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &bias));
  if (input.unknown_rank()) {
    c->set_output(0, input);
    return OkStatus();
  }
  const int axis = ChannelDim(format, input.dims());
  int64_t channels;
  HR_RETURN_IF_ERROR(
      c->MergeDims(input.dim_size(axis), bias.dim_size(0), &channels));
  input.set_dim(axis, channels);
  c->set_output(0, input);
  return OkStatus();
}

Status BiasAddGradShape(InferenceContext* c) {
  DataFormat format;
  std::string name;
  HR_RETURN_IF_ERROR(GetDataFormat(c, &format, &name));
  Shape input;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 2, &input));
  c->set_output(0, InferenceContext::Vector(
                       input.unknown_rank()
                           ? -1
                           : input.dim_size(ChannelDim(format, input.dims()))));
  return OkStatus();
}

Status AvgPoolShape(InferenceContext* c) {
  std::vector<int64_t> ksize;
  HR_RETURN_IF_ERROR(c->GetAttr("ksize", &ksize));
  return PoolShape(c, ksize.size() == 5 ? 5 : 4);
}

Status MaxPoolShape(InferenceContext* c) { return AvgPoolShape(c); }

// y, batch_mean, batch_variance, reserve_space_1, reserve_space_2 and in V3
// reserve_space_3, whose content is the kernel's own.
Status FusedBatchNormShape(InferenceContext* c) {
  DataFormat format;
  std::string name;
  HR_RETURN_IF_ERROR(GetDataFormat(c, &format, &name));
  const int rank = BatchNormRank(name);
  Shape x;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &x));
  if (x.unknown_rank()) x = Shape::UnknownDims(rank);
  bool is_training = true;
  HR_RETURN_IF_ERROR(c->GetAttr("is_training", &is_training));
  const int axis = ChannelDim(format, rank);
  int64_t channels = x.dim_size(axis);
  for (int i = 1; i < 5; ++i) {
    Shape v;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &v));
    if (i >= 3 && is_training) continue;  // may be empty
    HR_RETURN_IF_ERROR(
        c->MergeDims(channels, InferenceContext::Dim(v, 0), &channels));
  }
  x.set_dim(axis, channels);
  c->set_output(0, x);
  for (int i = 1; i < 5; ++i) {
    c->set_output(i, InferenceContext::Vector(channels));
  }
  if (c->num_outputs() > 5) c->set_output(5, InferenceContext::UnknownShape());
  return OkStatus();
}

// Inputs y_backprop, x, scale, reserve_space_1, reserve_space_2[, 3].
Status FusedBatchNormGradShape(InferenceContext* c) {
  DataFormat format;
  std::string name;
  HR_RETURN_IF_ERROR(GetDataFormat(c, &format, &name));
  const int rank = BatchNormRank(name);
  Shape dy, x;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &dy));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), rank, &x));
  HR_RETURN_IF_ERROR(c->Merge(dy, x, &x));
  if (x.unknown_rank()) x = Shape::UnknownDims(rank);
  const int axis = ChannelDim(format, rank);
  int64_t channels = x.dim_size(axis);
  for (int i = 2; i < 5; ++i) {
    Shape v;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &v));
    HR_RETURN_IF_ERROR(
        c->MergeDims(channels, InferenceContext::Dim(v, 0), &channels));
  }
  x.set_dim(axis, channels);
  c->set_output(0, x);
  c->set_output(1, InferenceContext::Vector(channels));
  c->set_output(2, InferenceContext::Vector(channels));
  c->set_output(3, InferenceContext::Vector(0));
  c->set_output(4, InferenceContext::Vector(0));
  return OkStatus();
}

}  // namespace headrace::shape_inference
