// Cast between any two numeric types. What C++ leaves undefined is defined here
// as on x86 with TensorFlow: a float that fits no int32 (or int64) becomes the
// lowest value, never saturates; smaller integers take the low bits of an
// int32, uint32 those of an int64. To bool: anything but 0, NaN included. A
// complex number casts by its real part alone. Truncate=true cuts mantissa bits
// on the way to half and bfloat16, where the default rounds to nearest even.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {
namespace {

template <typename To, typename From>
inline To CastScalar(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> &&
                       std::is_integral_v<To>) {
    if constexpr (std::is_same_v<To, uint64_t>) {
      constexpr From kHalf = 9223372036854775808.0f;  // 2^63
      return x >= kHalf
                 ? static_cast<uint64_t>(CastScalar<int64_t>(x - kHalf)) ^
                       (uint64_t{1} << 63)
                 : static_cast<uint64_t>(CastScalar<int64_t>(x));
    } else if constexpr (std::is_same_v<To, uint32_t>) {
      return static_cast<uint32_t>(CastScalar<int64_t>(x));
    } else {
      using Wide = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
      constexpr From kEnd =
          sizeof(To) == 8 ? 9223372036854775808.0f : 2147483648.0f;
      // -2^31 - 0.5 still truncates to -2^31; floats have no such value.
      const bool fits =
          x < kEnd &&
          (sizeof(From) == 8 && sizeof(Wide) == 4 ? x > -kEnd - 1 : x >= -kEnd);
      return static_cast<To>(fits ? static_cast<Wide>(x)
                                  : std::numeric_limits<Wide>::min());
    }
  } else {
    return static_cast<To>(x);
  }
}

using Loop = void (*)(const void* x, void* y, int64_t n);

template <typename From, typename To>
void CastLoop(const void* xv, void* yv, int64_t n) {
  auto body = [=] {
    const From* x = static_cast<const From*>(xv);
    To* y = static_cast<To*>(yv);
    const int64_t count = n;
    for (int64_t i = 0; i < count; ++i) y[i] = CastScalar<To, From>(x[i]);
  };
  // The pairs that networks meet.
  if constexpr ((std::is_same_v<From, float> || std::is_same_v<To, float>)&&(
                    sizeof(From) <= 4 && sizeof(To) <= 4)) {
    RunSimd(body);
  } else {
    body();
  }
}

// A complex tensor is read and written as pairs of reals.
template <typename Real>
void TakeReal(const void* x, void* y, int64_t n) {
  const Real* in = static_cast<const Real*>(x);
  Real* out = static_cast<Real*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = in[2 * i];
}
template <typename Real>
void MakeComplex(const void* x, void* y, int64_t n) {
  const Real* in = static_cast<const Real*>(x);
  Real* out = static_cast<Real*>(y);
  for (int64_t i = 0; i < n; ++i) {
    out[2 * i] = in[i];
    out[2 * i + 1] = 0;
  }
}

template <typename From>
Loop LoopTo(DataType to) {
  switch (to) {
#define HR_CASE(T)               \
  case DataTypeToEnum<T>::value: \
    return &CastLoop<From, T>;
    HR_CALL_INT_TYPES(HR_CASE)
    HR_CASE(bool)
    HR_CASE(float)
    HR_CASE(double)
#undef HR_CASE
    default:
      return nullptr;
  }
}
Loop FindLoop(DataType from, DataType to) {
  switch (from) {
#define HR_CASE(T)               \
  case DataTypeToEnum<T>::value: \
    return LoopTo<T>(to);
    HR_CALL_INT_TYPES(HR_CASE)
    HR_CASE(bool)
    HR_CASE(float)
    HR_CASE(double)
#undef HR_CASE
    default:
      return nullptr;
  }
}

// The type a tensor of `t` is computed in: see narrow_float.h.
DataType ComputeDataType(DataType t) {
  switch (t) {
    case DT_HALF:
    case DT_BFLOAT16:
    case DT_COMPLEX64:
      return DT_FLOAT;
    case DT_COMPLEX128:
      return DT_DOUBLE;
    case DT_QINT8:
      return DT_INT8;
    case DT_QUINT8:
      return DT_UINT8;
    case DT_QINT16:
      return DT_INT16;
    case DT_QUINT16:
      return DT_UINT16;
    case DT_QINT32:
      return DT_INT32;
    default:
      return t;
  }
}

// Clears the mantissa bits that `to` lacks and stops at its largest finite
// value, so that rounding then has nothing to do.
void TruncateFloats(DataType to, float* x, int64_t n) {
  const uint32_t keep = to == DT_HALF ? 0xffffe000u : 0xffff0000u;
  for (int64_t i = 0; i < n; ++i) {
    float v = std::bit_cast<float>(std::bit_cast<uint32_t>(x[i]) & keep);
    if (to == DT_HALF && std::isfinite(v)) {
      v = std::clamp(v, -65504.0f, 65504.0f);
      // Below the normal range a half has fixed steps of 2^-24.
      if (std::abs(v) < 6.103515625e-05f) {
        v = std::trunc(v * 16777216.0f) / 16777216.0f;
      }
    }
    x[i] = std::isnan(x[i]) ? x[i] : v;
  }
}

class CastOp : public OpKernel {
 public:
  explicit CastOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("SrcT", &src_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("DstT", &dst_));
    if (ctx->HasAttr("Truncate")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("Truncate", &truncate_));
    }
    if (src_ == dst_) return;
    loop_ = FindLoop(ComputeDataType(src_), ComputeDataType(dst_));
    OP_REQUIRES(
        ctx, loop_ != nullptr,
        errors::Unimplemented("Cast ", DataTypeString(src_), " to ",
                              DataTypeString(dst_), " is not supported"));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    if (loop_ == nullptr) {
      ctx->set_output(0, x);
      return;
    }
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    const char* from = static_cast<const char*>(x.raw_data());
    char* to = static_cast<char*>(y->raw_data());
    const int in_size = DataTypeSize(src_), out_size = DataTypeSize(dst_);
    ctx->ParallelFor(x.NumElements(), 0.5, [&](int64_t begin, int64_t end) {
      Run(from + begin * in_size, to + begin * out_size, end - begin);
    });
  }

 private:
  static bool InPlainForm(DataType t) {
    return !IsNarrowFloat(t) && !DataTypeIsComplex(t);
  }

  // Source to its compute type, then to the target's, then to the target; the
  // steps that change nothing are left out.
  void Run(const char* x, char* y, int64_t n) const {
    if (InPlainForm(src_) && InPlainForm(dst_)) {
      loop_(x, y, n);
      return;
    }
    constexpr int64_t kBlock = 512;
    alignas(64) char a[kBlock * 8], b[kBlock * 8];
    const int in_size = DataTypeSize(src_), out_size = DataTypeSize(dst_);
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      const char* from = x + i * in_size;
      char* to = y + i * out_size;
      if (src_ == DT_COMPLEX64 && dst_ == DT_COMPLEX128) {
        const float* in = reinterpret_cast<const float*>(from);
        double* out = reinterpret_cast<double*>(to);
        std::copy(in, in + 2 * m, out);
        continue;
      }
      if (src_ == DT_COMPLEX128 && dst_ == DT_COMPLEX64) {
        const double* in = reinterpret_cast<const double*>(from);
        float* out = reinterpret_cast<float*>(to);
        for (int64_t k = 0; k < 2 * m; ++k) out[k] = static_cast<float>(in[k]);
        continue;
      }
      const void* value = from;
      if (IsNarrowFloat(src_)) {
        Widen(src_, from, reinterpret_cast<float*>(a), m);
        value = a;
      } else if (src_ == DT_COMPLEX64) {
        TakeReal<float>(from, a, m);
        value = a;
      } else if (src_ == DT_COMPLEX128) {
        TakeReal<double>(from, a, m);
        value = a;
      }
      if (InPlainForm(dst_)) {
        loop_(value, to, m);
        continue;
      }
      loop_(value, b, m);
      if (dst_ == DT_COMPLEX64) {
        MakeComplex<float>(b, to, m);
      } else if (dst_ == DT_COMPLEX128) {
        MakeComplex<double>(b, to, m);
      } else {
        float* wide = reinterpret_cast<float*>(b);
        if (truncate_) TruncateFloats(dst_, wide, m);
        Narrow(dst_, wide, to, m);
      }
    }
  }

  DataType src_ = DT_INVALID, dst_ = DT_INVALID;
  bool truncate_ = false;
  Loop loop_ = nullptr;  // null: the tensor is passed on
};
REGISTER_KERNEL_BUILDER(Name("Cast").Device(DEVICE_CPU), CastOp);

}  // namespace
}  // namespace headrace
