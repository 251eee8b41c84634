// SparseDenseCwiseAdd, Mul and Div: the values of a sparse tensor with what a
// dense one has at their indices. The dense one is broadcast, never the sparse.
// The result has the sparse side's entries, for Add as well.
#include <algorithm>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

enum class CwiseOp : uint8_t { kAdd, kMul, kDiv };

// What does not depend on the type of the values.
class SparseDenseBinaryBase : public OpKernel {
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
    int64_t at[kBlock];
    for (int64_t begin = 0; begin < s.n; begin += kBlock) {
      const int64_t count = std::min(s.n - begin, kBlock);
      for (int64_t i = 0; i < count; ++i) {
        at[i] = 0;
        for (int d = skip; d < s.rank; ++d) {
          at[i] += s.at(begin + i, d) * strides[d];
        }
      }
      OP_REQUIRES_OK(ctx, Block(s.values, begin, count, dense, at, out));
    }
  }

 private:
  static constexpr int64_t kBlock = 128;  // entries

  // Elements [begin, begin + count) of `x` and `out`, with those of `y` that
  // `at` names.
  virtual Status Block(const Tensor& x, int64_t begin, int64_t count,
                       const Tensor& y, const int64_t* at,
                       Tensor* out) const = 0;
};

template <typename T, CwiseOp kOp>
class SparseDenseBinaryOp : public SparseDenseBinaryBase {
 public:
  using SparseDenseBinaryBase::SparseDenseBinaryBase;

 private:
  Status Block(const Tensor& x, int64_t begin, int64_t count, const Tensor& y,
               const int64_t* at, Tensor* out) const override {
    const T* const xs = x.data<T>() + begin;
    const T* const ys = y.data<T>();
    T* const to = out->data<T>() + begin;
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T> && kOp == CwiseOp::kDiv) {
        if (ys[at[i]] == 0) {
          return errors::InvalidArgument("Integer division by zero");
        }
      }
      to[i] = Apply(xs[i], ys[at[i]]);
    }
    return OkStatus();
  }

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
