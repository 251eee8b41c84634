// DataFormatDimMap turns dimension numbers of src_format into those of
// dst_format ("NHWC" to "NCHW": 3 becomes 1); numbers outside count modulo the
// rank. DataFormatVecPermute reorders a vector with one entry (or a matrix with
// one pair, as for paddings) per dimension from src_format to dst_format; with
// two entries fewer they are the spatial dimensions alone.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// Reads both formats; they must be the same letters, each once.
Status ReadFormats(OpKernelConstruction* ctx, std::string* src,
                   std::string* dst) {
  HR_RETURN_IF_ERROR(ctx->GetAttr("src_format", src));
  HR_RETURN_IF_ERROR(ctx->GetAttr("dst_format", dst));
  if (src->size() != 4 && src->size() != 5) {
    return errors::InvalidArgument(
        "Source format must be of length 4 or 5, received src_format = ", *src);
  }
  if (dst->size() != src->size()) {
    return errors::InvalidArgument(
        "Destination format must be of the length of the source format ", *src,
        ", received dst_format = ", *dst);
  }
  std::string a = *src, b = *dst;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a != b || std::adjacent_find(a.begin(), a.end()) != a.end()) {
    return errors::InvalidArgument(
        "Destination and source format must determine a permutation, got ",
        *src, " and ", *dst);
  }
  return OkStatus();
}

template <typename T>
class DataFormatDimMapOp : public OpKernel {
 public:
  explicit DataFormatDimMapOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string src, dst;
    OP_REQUIRES_OK(ctx, ReadFormats(ctx, &src, &dst));
    for (char c : src) map_.push_back(static_cast<T>(dst.find(c)));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, input.shape(), &output));
    const T* x = input.data<T>();
    T* y = output->data<T>();
    const T rank = static_cast<T>(map_.size());
    for (int64_t i = 0; i < input.NumElements(); ++i) {
      const T remainder = x[i] % rank;
      y[i] = map_[remainder < 0 ? remainder + rank : remainder];
    }
  }

 private:
  std::vector<T> map_;
};

template <typename T>
class DataFormatVecPermuteOp : public OpKernel {
 public:
  explicit DataFormatVecPermuteOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string src, dst;
    OP_REQUIRES_OK(ctx, ReadFormats(ctx, &src, &dst));
    for (char c : dst) full_.push_back(src.find(c));
    // Removes batch and channel from formats that have them.
    auto drop = [](std::string* s) {
      s->erase(std::remove_if(s->begin(), s->end(),
                              [](char c) { return c == 'N' || c == 'C'; }),
               s->end());
    };
    drop(&src);
    drop(&dst);
    for (char c : dst) spatial_.push_back(src.find(c));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    OP_REQUIRES(ctx, input.dims() == 1 || input.dims() == 2,
                errors::InvalidArgument(
                    "input must be a vector or 2D tensor, but got shape ",
                    input.shape().DebugString()));
    const int64_t rows = input.dim_size(0);
    const std::vector<int64_t>* from =
        rows == static_cast<int64_t>(full_.size())      ? &full_
        : rows == static_cast<int64_t>(spatial_.size()) ? &spatial_
                                                        : nullptr;
    OP_REQUIRES(
        ctx, from != nullptr,
        errors::InvalidArgument(
            input.dims(), "D input must be of size ", spatial_.size(), " or ",
            full_.size(), ", but got shape ", input.shape().DebugString()));
    OP_REQUIRES(ctx, input.dims() == 1 || input.dim_size(1) == 2,
                errors::InvalidArgument(
                    "Second dimension of 2D input must be of size 2, but got "
                    "shape ",
                    input.shape().DebugString()));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, input.shape(), &output));
    const T* x = input.data<T>();
    T* y = output->data<T>();
    const int64_t width = input.dims() == 1 ? 1 : 2;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        y[i * width + j] = x[(*from)[i] * width + j];
      }
    }
  }

 private:
  // Entry i of the output comes from entry full_[i] of the input.
  std::vector<int64_t> full_, spatial_;
};

#define REGISTER_DATA_FORMAT(T)                                               \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("DataFormatDimMap").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      DataFormatDimMapOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("DataFormatVecPermute").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      DataFormatVecPermuteOp<T>);
REGISTER_DATA_FORMAT(int32_t)
REGISTER_DATA_FORMAT(int64_t)
#undef REGISTER_DATA_FORMAT

}  // namespace
}  // namespace headrace
