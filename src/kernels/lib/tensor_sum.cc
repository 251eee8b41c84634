#include "kernels/lib/tensor_sum.h"

#include "headrace/simd.h"
#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

// Calls fn(T()) for the C++ type of a number; false for other types.
template <typename F>
bool WithNumber(DataType t, const F& fn) {
#define HR_CASE(T)               \
  case DataTypeToEnum<T>::value: \
    fn(T());                     \
    return true
  switch (t) {
    HR_CASE(float);
    HR_CASE(double);
    HR_CASE(half);
    HR_CASE(bfloat16);
    HR_CASE(int8_t);
    HR_CASE(int16_t);
    HR_CASE(int32_t);
    HR_CASE(int64_t);
    HR_CASE(uint8_t);
    HR_CASE(uint16_t);
    HR_CASE(uint32_t);
    HR_CASE(uint64_t);
    HR_CASE(complex64);
    HR_CASE(complex128);
    default:
      return false;
  }
#undef HR_CASE
}

Status NoArithmetic(DataType t) {
  return errors::InvalidArgument("tensors of type ", DataTypeString(t),
                                 " cannot be added up");
}

Status MakeExclusive(Tensor* t) {
  if (t->OwnsExclusively()) {
    t->AllowWrites();
    return OkStatus();
  }
  Tensor own;
  HR_RETURN_IF_ERROR(t->DeepCopyTo(&own));
  *t = std::move(own);
  return OkStatus();
}

}  // namespace

Status AddToTensor(const Tensor& x, Tensor* sum) {
  if (x.dtype() != sum->dtype() || x.shape() != sum->shape()) {
    return errors::InvalidArgument(
        "cannot add a ", DataTypeString(x.dtype()), " tensor of shape ",
        x.shape().DebugString(), " to a ", DataTypeString(sum->dtype()),
        " tensor of shape ", sum->shape().DebugString());
  }
  if (!WithNumber(x.dtype(), [](auto) {})) return NoArithmetic(x.dtype());
  HR_RETURN_IF_ERROR(MakeExclusive(sum));
  WithNumber(x.dtype(), [&]<typename T>(T) {
    const T* from = x.data<T>();
    T* to = sum->data<T>();
    const int64_t n = x.NumElements();
    if constexpr (std::is_same_v<T, float>) {
      RunSimd([=] {
        const float* a = from;
        float* b = to;
        const int64_t count = n;
        for (int64_t i = 0; i < count; ++i) b[i] += a[i];
      });
    } else if constexpr (std::is_same_v<T, half> ||
                         std::is_same_v<T, bfloat16>) {
      for (int64_t i = 0; i < n; ++i) {
        to[i] = static_cast<T>(static_cast<float>(to[i]) +
                               static_cast<float>(from[i]));
      }
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = WrapAdd(to[i], from[i]);
    }
  });
  return OkStatus();
}

Status DivideTensor(int64_t by, Tensor* t) {
  if (!WithNumber(t->dtype(), [](auto) {})) return NoArithmetic(t->dtype());
  HR_RETURN_IF_ERROR(MakeExclusive(t));
  WithNumber(t->dtype(), [&]<typename T>(T) {
    T* to = t->data<T>();
    const int64_t n = t->NumElements();
    if constexpr (std::is_integral_v<T>) {
      // Wide enough for every quotient: a count of gradients is positive.
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (std::is_unsigned_v<T>) {
          to[i] = static_cast<T>(static_cast<uint64_t>(to[i]) /
                                 static_cast<uint64_t>(by));
        } else {
          to[i] = static_cast<T>(static_cast<int64_t>(to[i]) / by);
        }
      }
    } else if constexpr (std::is_same_v<T, half> ||
                         std::is_same_v<T, bfloat16>) {
      const float d = static_cast<float>(by);
      for (int64_t i = 0; i < n; ++i) {
        to[i] = static_cast<T>(static_cast<float>(to[i]) / d);
      }
    } else {
      const T d = T(static_cast<double>(by));
      for (int64_t i = 0; i < n; ++i) to[i] = to[i] / d;
    }
  });
  return OkStatus();
}

}  // namespace headrace
