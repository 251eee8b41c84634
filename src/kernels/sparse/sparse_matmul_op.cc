// SparseTensorDenseMatMul: a sparse matrix, or its conjugate transpose, by a
// dense one. Entries may be in any order and repeated; each row of the result
// is summed in the order of its entries, whatever the number of threads.
//
// SparseMatMul is older: both matrices are dense tensors, which attrs say to
// have many zeros. The product is that of MatMul, in float.
#include <vector>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/gemm.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

template <typename T>
T Conjugate(const T& x) {
  if constexpr (kIsComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

template <typename T>
class SparseTensorDenseMatMulOp : public OpKernel {
 public:
  explicit SparseTensorDenseMatMulOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adjoint_a", &adjoint_a_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adjoint_b", &adjoint_b_));
  }

  void Compute(OpKernelContext* ctx) override {
    Tensor a_indices;
    OP_REQUIRES_OK(ctx, AsInt64(ctx, ctx->input(0), &a_indices));
    SparseView a;
    OP_REQUIRES_OK(
        ctx, ReadSparse(a_indices, ctx->input(1), ctx->input(2), "a", &a));
    const Tensor& b = ctx->input(3);
    OP_REQUIRES(ctx, a.rank == 2,
                errors::InvalidArgument(
                    "Tensor 'a_shape' must have 2 elements, got ", a.rank));
    OP_REQUIRES(ctx, b.dims() == 2,
                errors::InvalidArgument("Tensor 'b' must be a matrix, got ",
                                        b.shape().DebugString()));
    const int row_dim = adjoint_a_ ? 1 : 0, inner_dim = 1 - row_dim;
    const int64_t rows = a.dims[row_dim], inner = a.dims[inner_dim];
    const int64_t columns = b.dim_size(adjoint_b_ ? 0 : 1);
    OP_REQUIRES(ctx, inner == b.dim_size(adjoint_b_ ? 1 : 0),
                errors::InvalidArgument(
                    "Cannot multiply A and B because inner dimension does not "
                    "match: ",
                    inner, " vs. ", b.dim_size(adjoint_b_ ? 1 : 0),
                    ".  Did you forget a transpose?  Dimensions of A: ",
                    IndexString(a.dims.data(), 2),
                    ", dimensions of B: ", b.shape().DebugString()));
    OP_REQUIRES_OK(ctx, CheckBounds(a, "a"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows, columns}, &out));
    if (out->NumElements() == 0) return;
    // The entries by row: those of row r are order[begin[r]..begin[r + 1]).
    std::vector<int64_t> begin(rows + 1, 0), order(a.n);
    for (int64_t i = 0; i < a.n; ++i) ++begin[a.at(i, row_dim) + 1];
    for (int64_t r = 0; r < rows; ++r) begin[r + 1] += begin[r];
    {
      std::vector<int64_t> next(begin.begin(), begin.end() - 1);
      for (int64_t i = 0; i < a.n; ++i) order[next[a.at(i, row_dim)]++] = i;
    }
    using Sum = ComputeType<T>;
    const T *x = a.values.data<T>(), *y = b.data<T>();
    T* z = out->data<T>();
    const int64_t step = adjoint_b_ ? b.dim_size(1) : 1;
    const double cost = 1.0 * columns * (1.0 + 1.0 * a.n / rows);
    ctx->ParallelFor(rows, cost, [&](int64_t first, int64_t last) {
      std::vector<Sum> sums(columns);
      for (int64_t r = first; r < last; ++r) {
        std::fill(sums.begin(), sums.end(), Sum(0));
        for (int64_t e = begin[r]; e < begin[r + 1]; ++e) {
          const int64_t k = a.at(order[e], inner_dim);
          Sum v = static_cast<Sum>(x[order[e]]);
          if (adjoint_a_) v = Conjugate(v);
          const T* from = y + (adjoint_b_ ? k : k * columns);
          for (int64_t c = 0; c < columns; ++c) {
            Sum w = static_cast<Sum>(from[c * step]);
            if (adjoint_b_) w = Conjugate(w);
            sums[c] = WrapAdd(sums[c], WrapMul(v, w));
          }
        }
        for (int64_t c = 0; c < columns; ++c) {
          z[r * columns + c] = static_cast<T>(sums[c]);
        }
      }
    });
  }

 private:
  bool adjoint_a_ = false, adjoint_b_ = false;
};
#define HR_REGISTER(T)                                    \
  REGISTER_KERNEL_BUILDER(Name("SparseTensorDenseMatMul") \
                              .Device(DEVICE_CPU)         \
                              .TypeConstraint<T>("T"),    \
                          SparseTensorDenseMatMulOp<T>);
HR_CALL_FLOAT_TYPES(HR_REGISTER)
HR_CALL_COMPLEX_TYPES(HR_REGISTER)
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
#undef HR_REGISTER

class SparseMatMulOp : public OpKernel {
 public:
  explicit SparseMatMulOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_b", &transpose_b_));
  }

  void Compute(OpKernelContext* ctx) override {
    for (int i : {0, 1}) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 2,
                  errors::InvalidArgument(i == 0 ? "a" : "b",
                                          " is not a matrix, its shape is ",
                                          ctx->input(i).shape().DebugString()));
    }
    Tensor a, b;
    OP_REQUIRES_OK(ctx, AsFloat(ctx, ctx->input(0), &a));
    OP_REQUIRES_OK(ctx, AsFloat(ctx, ctx->input(1), &b));
    const auto g = GemmArgs<float>::Dense(
        a.dim_size(transpose_a_ ? 1 : 0), b.dim_size(transpose_b_ ? 0 : 1),
        a.dim_size(transpose_a_ ? 0 : 1), transpose_a_, transpose_b_);
    OP_REQUIRES(ctx, g.k == b.dim_size(transpose_b_ ? 1 : 0),
                errors::InvalidArgument(
                    "Matrix size incompatible: a: ", a.shape().DebugString(),
                    ", b: ", b.shape().DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {g.m, g.n}, &out));
    if (out->NumElements() == 0) return;
    Gemm(ctx->thread_pool(),
         g.At(a.data<float>(), b.data<float>(), out->data<float>()));
  }

 private:
  static Status AsFloat(OpKernelContext* ctx, const Tensor& in, Tensor* out) {
    if (in.dtype() == DT_FLOAT) {
      *out = in;
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_FLOAT, in.shape(), out));
    Widen(in.data<bfloat16>(), out->data<float>(), in.NumElements());
    return OkStatus();
  }

  bool transpose_a_ = false, transpose_b_ = false;
};
REGISTER_KERNEL_BUILDER(Name("SparseMatMul").Device(DEVICE_CPU),
                        SparseMatMulOp);

}  // namespace
}  // namespace headrace
