// ArgMax and ArgMin: where along an axis the extreme is, the first of equal
// ones. NaN never wins; where nothing does (all NaN, or all at the type's end)
// the answer is 0.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/simd_width.h"
#include "kernels/math/axis_split.h"

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

  // Block by block: the first block that has the extreme is searched for it
  // when all have been seen.
  static int64_t Scan(const T* x, int64_t n) {
    int64_t at = 0;
    const auto body = [&at, x, n](auto bytes) {
      C best = B::Worst();
      int64_t where = -1;
      for (int64_t i = 0; i < n; i += kBlock) {
        const C extreme =
            Extreme<decltype(bytes)::value>(x + i, std::min(kBlock, n - i));
        if (!B::Is(extreme, best)) continue;
        best = extreme;
        where = i;
      }
      if (where < 0) return;
      while (where + kSearch <= n && !Has(x + where, best)) where += kSearch;
      while (static_cast<C>(x[where]) != best) ++where;
      at = where;
    };
    if constexpr (kVector) {
      RunSimdWide(body);
    } else {
      body(std::integral_constant<int, 16>());
    }
    return at;
  }

  static constexpr int64_t kBlock = 1024;
  static constexpr int64_t kSearch = 64;

  // True if `best` is one of kSearch elements.
  static inline bool Has(const T* x, C best) {
    C found = 0;  // of the elements' size, so that it is one of their lanes
    for (int64_t i = 0; i < kSearch; ++i) {
      found = static_cast<C>(x[i]) == best ? C(1) : found;
    }
    return found != C(0);
  }

  // The extreme of n elements, in lanes. Four vectors, so that comparisons do
  // not wait for each other.
  template <int kBytes>
  static inline C Extreme(const T* x, int64_t n) {
    C best = B::Worst();
    int64_t i = 0;
    if constexpr (kVector) {
      using Vector = VectorOf<kBytes, C>;
      using V = typename Vector::Type;
      constexpr int kLanes = Vector::kLanes;
      V lane[4];
      for (V& v : lane) v = V{} + best;
      for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
        for (int k = 0; k < 4; ++k) {
          const V v = Vector::At(x + i + k * kLanes);
          lane[k] = (kMax ? v > lane[k] : v < lane[k]) ? v : lane[k];
        }
      }
      for (int k = 1; k < 4; ++k) {
        lane[0] =
            (kMax ? lane[k] > lane[0] : lane[k] < lane[0]) ? lane[k] : lane[0];
      }
      for (int l = 0; l < kLanes; ++l) {
        if (B::Is(lane[0][l], best)) best = lane[0][l];
      }
    }
    for (; i < n; ++i) {
      const C v = static_cast<C>(x[i]);
      best = B::Is(v, best) ? v : best;
    }
    return best;
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
