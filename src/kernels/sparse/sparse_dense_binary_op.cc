// SparseDenseCwiseAdd, Mul and Div: the values of a sparse tensor with what a
// dense one has at their indices. The dense one is broadcast, never the sparse.
// The result has the sparse side's entries, for Add as well.
#include "kernels/lib/elementwise.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

enum class CwiseOp : uint8_t { kAdd, kMul, kDiv };

template <typename T, CwiseOp kOp>
class SparseDenseBinaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "sp", &s));
    const Tensor& dense = ctx->input(3);
    const int skip = s.rank - dense.dims();
    // How far one step of each sparse dim moves in the dense tensor.
    DimVector strides(s.rank, 0);
    int64_t stride = 1;
    bool fits = skip >= 0;
    for (int d = s.rank - 1; fits && d >= skip; --d) {
      const int64_t size = dense.dim_size(d - skip);
      fits = size == 1 || size == s.dims[d];
      strides[d] = size == 1 ? 0 : stride;
      stride *= size;
    }
    OP_REQUIRES(ctx, fits,
                errors::InvalidArgument(
                    "SparseDenseBinaryOpShared broadcasts dense to sparse "
                    "only; got incompatible shapes: ",
                    IndexString(s.dims.data(), s.rank), " vs. ",
                    dense.shape().DebugString()));
    OP_REQUIRES_OK(ctx, CheckBounds(s, "sp"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {s.n}, &out));
    const T *x = s.values.data<T>(), *y = dense.data<T>();
    for (int64_t i = 0; i < s.n; ++i) {
      int64_t at = 0;
      for (int d = skip; d < s.rank; ++d) at += s.at(i, d) * strides[d];
      if constexpr (std::is_integral_v<T> && kOp == CwiseOp::kDiv) {
        OP_REQUIRES(ctx, y[at] != 0,
                    errors::InvalidArgument("Integer division by zero"));
      }
      out->data<T>()[i] = Apply(x[i], y[at]);
    }
  }

 private:
  static T Apply(const T& x, const T& y) {
    if constexpr (kOp == CwiseOp::kAdd) return WrapAdd(x, y);
    if constexpr (kOp == CwiseOp::kMul) return WrapMul(x, y);
    if constexpr (kOp == CwiseOp::kDiv) {
      if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
        if (y == T(-1)) return WrapSub<T>(0, x);
      }
      return static_cast<T>(x / y);
    }
  }
};
#define HR_REGISTER_ONE(NAME, OP, T)                        \
  REGISTER_KERNEL_BUILDER(                                  \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SparseDenseBinaryOp<T, CwiseOp::OP>);
#define HR_REGISTER(T)                            \
  HR_REGISTER_ONE("SparseDenseCwiseAdd", kAdd, T) \
  HR_REGISTER_ONE("SparseDenseCwiseMul", kMul, T) \
  HR_REGISTER_ONE("SparseDenseCwiseDiv", kDiv, T)
HR_CALL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_REGISTER_ONE

}  // namespace
}  // namespace headrace
