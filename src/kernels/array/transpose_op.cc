// Transpose, ConjugateTranspose and InvertPermutation. Output dim i is input
// dim perm[i]: a walk over the output's indices with the input's strides
// permuted, which BoxCopy turns into copies of rows or of tiles.
#include <complex>

#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

template <typename T>
void Conjugate(OpKernelContext* ctx, Tensor* t) {
  T* p = t->data<T>();
  ctx->ParallelFor(t->NumElements(), 1.0, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) p[i] = std::conj(p[i]);
  });
}

class TransposeOp : public OpKernel {
 public:
  explicit TransposeOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), conjugate_(ctx->op_def().name == "ConjugateTranspose") {}
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    DimVector perm;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "perm", &perm));
    OP_REQUIRES(ctx, static_cast<int>(perm.size()) == rank,
                errors::InvalidArgument(
                    "transpose expects a vector of size ", rank,
                    ". But input(1) is a vector of size ", perm.size()));
    absl::InlinedVector<bool, 8> seen(rank, false);
    TensorShape shape;
    for (const int64_t p : perm) {
      OP_REQUIRES(
          ctx, 0 <= p && p < rank,
          errors::InvalidArgument(p, " is out of range [0 .. ", rank, ")"));
      seen[p] = true;
      shape.AddDim(in.dim_size(static_cast<int>(p)));
    }
    for (int i = 0; i < rank; ++i) {
      OP_REQUIRES(
          ctx, seen[i],
          errors::InvalidArgument(i, " is missing from {",
                                  ctx->input(1).SummarizeValue(10), "}."));
    }
    const bool conjugates = conjugate_ && DataTypeIsComplex(in.dtype());
    // Where only dims of size 1 move, the memory stays as it is.
    int64_t last = -1;
    bool moves = false;
    for (int64_t p : perm) {
      if (in.dim_size(static_cast<int>(p)) == 1) continue;
      moves |= p < last;
      last = p;
    }
    if (!moves && !conjugates) {
      Tensor out;
      OP_REQUIRES(ctx, out.CopyFrom(in, shape),
                  errors::Internal("Transpose: cannot reshape"));
      ctx->set_output(0, std::move(out));
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    const DimVector to = RowMajorStrides(shape.dim_sizes());
    BoxCopy copy;
    for (int i = 0; i < rank; ++i) {
      copy.AddDim(shape.dim_size(i), from[perm[i]], to[i]);
    }
    copy.Run(ctx, in, 0, out, 0);
    if (!conjugates) return;
    if (in.dtype() == DT_COMPLEX64) {
      Conjugate<complex64>(ctx, out);
    } else {
      Conjugate<complex128>(ctx, out);
    }
  }

 private:
  const bool conjugate_;
};
REGISTER_KERNEL_BUILDER(Name("Transpose").Device(DEVICE_CPU), TransposeOp);
REGISTER_KERNEL_BUILDER(Name("ConjugateTranspose").Device(DEVICE_CPU),
                        TransposeOp);

template <typename T>
class InvertPermutationOp : public OpKernel {
 public:
  explicit InvertPermutationOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    OP_REQUIRES(ctx, x.dims() == 1,
                errors::InvalidArgument("invert_permutation expects a 1D "
                                        "vector, got shape ",
                                        x.shape().DebugString()));
    const int64_t n = x.NumElements();
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    const T* in = x.data<T>();
    T* out = y->data<T>();
    for (int64_t i = 0; i < n; ++i) out[i] = -1;
    for (int64_t i = 0; i < n; ++i) {
      OP_REQUIRES(ctx, 0 <= in[i] && in[i] < n,
                  errors::InvalidArgument(in[i], " is not between 0 and ", n));
      OP_REQUIRES(
          ctx, out[in[i]] == -1,
          errors::InvalidArgument(in[i], " is duplicated in the input."));
      out[in[i]] = static_cast<T>(i);
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("InvertPermutation").Device(DEVICE_CPU).TypeConstraint<int32_t>("T"),
    InvertPermutationOp<int32_t>);
REGISTER_KERNEL_BUILDER(
    Name("InvertPermutation").Device(DEVICE_CPU).TypeConstraint<int64_t>("T"),
    InvertPermutationOp<int64_t>);

}  // namespace
}  // namespace headrace
