// SparseSlice: the entries in a box, moved to its corner; a box that reaches
// beyond the shape is cut off there. SparseSliceGrad puts the gradients back at
// the entries they came from, 0 elsewhere.
#include "kernels/lib/element.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

class SparseSliceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "", &s));
    DimVector start, size;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(3), "start", &start));
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(4), "size", &size));
    OP_REQUIRES(ctx,
                start.size() == s.dims.size() && size.size() == s.dims.size(),
                errors::InvalidArgument(
                    "start and size must have as many elements as the input "
                    "has dims, ",
                    s.rank, ": got ", start.size(), " and ", size.size()));
    DimVector dims(s.rank);
    for (int d = 0; d < s.rank; ++d) {
      OP_REQUIRES(ctx, size[d] >= 0,
                  errors::InvalidArgument("size must not be negative, got ",
                                          size[d], " in dim ", d));
      // A start before the first element is allowed, and moves it away.
      int64_t rest;
      if (__builtin_sub_overflow(s.dims[d], start[d], &rest)) rest = size[d];
      dims[d] = std::min(size[d], std::max<int64_t>(0, rest));
    }
    std::vector<int64_t> inside;
    for (int64_t i = 0; i < s.n; ++i) {
      bool in = true;
      for (int d = 0; d < s.rank; ++d) {
        const uint64_t moved =
            static_cast<uint64_t>(s.at(i, d)) - static_cast<uint64_t>(start[d]);
        in &= s.at(i, d) >= start[d] && moved < static_cast<uint64_t>(dims[d]);
      }
      if (in) inside.push_back(i);
    }
    const int64_t n = inside.size();
    Tensor *indices = nullptr, *values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, s.rank}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &values));
    int64_t* row = indices->data<int64_t>();
    for (int64_t i : inside) {
      for (int d = 0; d < s.rank; ++d) *row++ = s.at(i, d) - start[d];
    }
    GatherElements(s.values, inside, values);
    OP_REQUIRES_OK(ctx, SetShapeOutput(ctx, 2, dims));
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseSlice").Device(DEVICE_CPU), SparseSliceOp);

class SparseSliceGradOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& grad = ctx->input(0);
    const Tensor& in = ctx->input(1);
    const Tensor& sliced = ctx->input(3);
    DimVector start;
    OP_REQUIRES_OK(ctx,
                   ReadIntegerVector(ctx->input(2), "input_start", &start));
    OP_REQUIRES(ctx, grad.dims() == 1 && in.dims() == 2 && sliced.dims() == 2,
                errors::InvalidArgument(
                    "SparseSliceGrad: backprop_val_grad must be a vector and "
                    "both indices matrices, got shapes ",
                    grad.shape().DebugString(), ", ", in.shape().DebugString(),
                    ", ", sliced.shape().DebugString()));
    const int64_t rank = in.dim_size(1), m = sliced.dim_size(0);
    OP_REQUIRES(
        ctx,
        sliced.dim_size(1) == rank &&
            static_cast<int64_t>(start.size()) == rank,
        errors::InvalidArgument(
            "SparseSliceGrad: indices and input_start must have one rank, got ",
            rank, ", ", sliced.dim_size(1), " and ", start.size()));
    OP_REQUIRES(
        ctx, grad.NumElements() == m,
        errors::InvalidArgument("SparseSliceGrad: ", m, " output_indices, but ",
                                grad.NumElements(), " gradients"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {in.dim_size(0)}, &out));
    ZeroElements(out);
    const int64_t *x = in.data<int64_t>(), *y = sliced.data<int64_t>();
    int64_t used = 0;
    WithElement(grad.dtype(), [&]<typename T>(Element<T>) {
      for (int64_t i = 0; i < in.dim_size(0) && used < m; ++i) {
        bool same = true;
        for (int64_t d = 0; d < rank; ++d) {
          same &= static_cast<uint64_t>(x[i * rank + d]) ==
                  static_cast<uint64_t>(y[used * rank + d]) +
                      static_cast<uint64_t>(start[d]);
        }
        if (same) ElementsOf<T>(out)[i] = ElementsOf<T>(grad)[used++];
      }
    });
    OP_REQUIRES(
        ctx, used == m,
        errors::Internal("SparseSliceGrad: output_indices[", used,
                         "] is none of input_indices, or not in their order"));
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseSliceGrad").Device(DEVICE_CPU),
                        SparseSliceGradOp);

}  // namespace
}  // namespace headrace
