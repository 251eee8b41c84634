// RaggedRange: row i starts at starts[i], steps by deltas[i] and stops before
// limits[i]. A scalar applies to every row. As in TensorFlow, numbers are added
// up one by one in their type, and the length of a row is computed in that
// type, too.
#include <cmath>
#include <limits>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/row_splits.h"

namespace headrace {
namespace {

template <typename T>
class RaggedRangeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    constexpr const char* kNames[] = {"starts", "limits", "deltas"};
    int64_t rows = -1;
    for (int i = 0; i < 3; ++i) {
      const Tensor& t = ctx->input(i);
      OP_REQUIRES(ctx, t.dims() <= 1,
                  errors::InvalidArgument(kNames[i],
                                          " must be a scalar or vector, got ",
                                          t.shape().DebugString()));
      if (t.dims() == 0) continue;
      OP_REQUIRES(
          ctx, rows < 0 || rows == t.NumElements(),
          errors::InvalidArgument(
              "starts, limits, and deltas must have the same shape, got ",
              ctx->input(0).shape().DebugString(), ", ",
              ctx->input(1).shape().DebugString(), " and ",
              ctx->input(2).shape().DebugString()));
      rows = t.NumElements();
    }
    if (rows < 0) rows = 1;
    SplitsWriter splits;
    OP_REQUIRES_OK(ctx, splits.Allocate(ctx, 0, rows));
    for (int64_t r = 0; r < rows; ++r) {
      const T start = At(ctx, 0, r), limit = At(ctx, 1, r);
      const T delta = At(ctx, 2, r);
      OP_REQUIRES(ctx, delta != T(0),
                  errors::InvalidArgument("Requires delta != 0, row ", r));
      const int64_t length = Length(start, limit, delta);
      OP_REQUIRES(ctx, length >= 0,
                  errors::InvalidArgument(
                      "Requires ((limit - start) / delta) to be a "
                      "number that int64 has, row ",
                      r, ": ", start, " to ", limit, " by ", delta));
      OP_REQUIRES_OK(ctx, splits.Add(length));
    }
    Tensor* values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {splits.end()}, &values));
    T* out = values->data<T>();
    const Tensor& ends = *ctx->mutable_output(0);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t length =
          ends.dtype() == DT_INT32
              ? ends.data<int32_t>()[r + 1] - ends.data<int32_t>()[r]
              : ends.data<int64_t>()[r + 1] - ends.data<int64_t>()[r];
      T v = At(ctx, 0, r);
      const T delta = At(ctx, 2, r);
      for (int64_t i = 0; i < length; ++i, v = WrapAdd(v, delta)) *out++ = v;
    }
  }

 private:
  static T At(OpKernelContext* ctx, int i, int64_t row) {
    const Tensor& t = ctx->input(i);
    return t.data<T>()[t.dims() == 0 ? 0 : row];
  }

  // -1 if int64 does not have the number.
  static int64_t Length(T start, T limit, T delta) {
    if (delta > 0 && limit < start) return 0;
    if (delta < 0 && limit > start) return 0;
    if constexpr (std::is_integral_v<T>) {
      const auto far = [](T a, T b) {
        return static_cast<uint64_t>(int64_t{a}) -
               static_cast<uint64_t>(int64_t{b});
      };
      const uint64_t span = delta > 0 ? far(limit, start) : far(start, limit);
      const uint64_t step = delta > 0 ? far(delta, 0) : far(0, delta);
      const uint64_t n = span / step + (span % step != 0);
      return n > std::numeric_limits<int64_t>::max() ? -1
                                                     : static_cast<int64_t>(n);
    } else {
      const T n = std::ceil(std::abs((limit - start) / delta));
      // False for NaN too.
      return n < static_cast<T>(0x1p63) ? static_cast<int64_t>(n) : -1;
    }
  }
};

#define HR_REGISTER(T)                                               \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("RaggedRange").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      RaggedRangeOp<T>);
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
HR_REGISTER(float)
HR_REGISTER(double)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
