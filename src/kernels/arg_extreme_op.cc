// ArgMax and ArgMin: where along an axis the extreme is, the first of equal
// ones. NaN never wins; where nothing does (all NaN, or all at the type's end)
// the answer is 0.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/axis_split.h"
#include "kernels/elementwise.h"
#include "kernels/simd.h"

namespace headrace {
namespace {

template <typename T, bool kMax>
struct Better {
  static bool Is(T x, T best) { return kMax ? x > best : x < best; }
  static T Worst() {
    using L = std::numeric_limits<T>;
    if (kMax) return L::has_infinity ? -L::infinity() : L::lowest();
    return L::has_infinity ? L::infinity() : L::max();
  }
};

void Store(DataType type, int64_t v, int64_t at, void* out) {
  switch (type) {
    case DT_INT16:
    case DT_UINT16:
      static_cast<uint16_t*>(out)[at] = static_cast<uint16_t>(v);
      break;
    case DT_INT32:
      static_cast<int32_t*>(out)[at] = static_cast<int32_t>(v);
      break;
    default:
      static_cast<int64_t*>(out)[at] = v;
  }
}

template <typename T, bool kMax>
class ArgExtremeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    AxisSplit split;
    OP_REQUIRES_OK(ctx, split.Init(x.shape(), ctx->input(1), "dimension"));
    OP_REQUIRES(ctx, split.size > 0,
                errors::InvalidArgument("Reduction axis ", split.axis,
                                        " is empty in shape ",
                                        x.shape().DebugString()));
    TensorShape shape = x.shape();
    shape.RemoveDim(split.axis);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &y));
    if (y->NumElements() == 0) return;
    const T* in = x.data<T>();
    void* out = y->raw_data();
    const DataType type = y->dtype();
    const int64_t chunks = (split.inner + kColumns - 1) / kColumns;
    ctx->ParallelFor(
        split.outer * chunks,
        0.5 * split.size * std::min(split.inner, kColumns),
        [&](int64_t begin, int64_t end) {
          for (int64_t u = begin; u < end; ++u) {
            const int64_t column = u % chunks * kColumns;
            const int64_t row = u / chunks;
            const T* from = in + row * split.size * split.inner + column;
            const int64_t n = std::min(kColumns, split.inner - column);
            if (split.inner == 1) {
              Store(type, Scan(from, split.size), row, out);
            } else {
              ScanColumns(from, split.size, split.inner, n, type,
                          row * split.inner + column, out);
            }
          }
        });
  }

 private:
  static constexpr int64_t kColumns = 256;
  using C = ComputeType<T>;
  using B = Better<C, kMax>;
  static constexpr bool kVector =
      std::is_same_v<C, T> && std::is_arithmetic_v<T> && sizeof(T) >= 4;

  // The extreme, in lanes, and then where it is first.
  static int64_t Scan(const T* x, int64_t n) {
    int64_t at = 0;
    const auto body = [&at, x, n] {
      constexpr int kLanes = 16;
      C best = B::Worst();
      int64_t i = 0;
      if constexpr (kVector) {
        typedef C V __attribute__((vector_size(kLanes * sizeof(C))));
        V v, extreme = V{} + best;
        for (; i + kLanes <= n; i += kLanes) {
          std::memcpy(&v, x + i, sizeof(v));
          extreme = (kMax ? v > extreme : v < extreme) ? v : extreme;
        }
        for (int l = 0; l < kLanes; ++l) {
          if (B::Is(extreme[l], best)) best = extreme[l];
        }
      }
      for (; i < n; ++i) {
        const C v = static_cast<C>(x[i]);
        best = B::Is(v, best) ? v : best;
      }
      if (!B::Is(best, B::Worst())) return;
      i = 0;
      if constexpr (kVector) {
        constexpr int64_t kBlock = 16 * kLanes;
        typedef C V __attribute__((vector_size(kLanes * sizeof(C))));
        V v;
        for (; i + kBlock <= n; i += kBlock) {
          auto hits = V{} != V{};
          for (int64_t l = 0; l < kBlock; l += kLanes) {
            std::memcpy(&v, x + i + l, sizeof(v));
            hits |= v == best;
          }
          bool found = false;
          for (int l = 0; l < kLanes; ++l) found |= hits[l] != 0;
          if (found) break;
        }
      }
      while (static_cast<C>(x[i]) != best) ++i;
      at = i;
    };
    if constexpr (kVector) {
      RunSimd(body);
    } else {
      body();
    }
    return at;
  }
  static void ScanColumns(const T* x, int64_t rows, int64_t stride, int64_t n,
                          DataType type, int64_t to, void* out) {
    C best[kColumns];
    int64_t at[kColumns] = {};
    std::fill(best, best + n, B::Worst());
    for (int64_t r = 0; r < rows; ++r, x += stride) {
      for (int64_t j = 0; j < n; ++j) {
        const C v = static_cast<C>(x[j]);
        const bool better = B::Is(v, best[j]);
        best[j] = better ? v : best[j];
        at[j] = better ? r : at[j];
      }
    }
    for (int64_t j = 0; j < n; ++j) Store(type, at[j], to + j, out);
  }
};

#define HR_REGISTER(T)                                          \
  REGISTER_KERNEL_BUILDER(                                      \
      Name("ArgMax").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ArgExtremeOp<T, true>);                                   \
  REGISTER_KERNEL_BUILDER(                                      \
      Name("ArgMin").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ArgExtremeOp<T, false>);
HR_CALL_REAL_NUMBER_TYPES(HR_REGISTER)
HR_REGISTER(bool)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
