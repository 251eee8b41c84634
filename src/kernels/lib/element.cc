#include "kernels/lib/element.h"

#include <algorithm>
#include <cstring>

#include "headrace/simd.h"
#include "kernels/lib/visit_type.h"

namespace headrace {

void ZeroElements(Tensor* t) {
  if (t->NumElements() <= 0) return;
  if (DataTypeCanUseMemcpy(t->dtype())) {
    std::memset(t->raw_data(), 0, t->TotalBytes());
    return;
  }
  WithElement(t->dtype(), [&]<typename T>(Element<T>) {
    T* p = ElementsOf<T>(t);
    std::fill(p, p + t->NumElements(), T());
  });
}

void FillElements(const Tensor& value, Tensor* t, int64_t begin, int64_t n) {
  if (n <= 0) return;
  WithElement(t->dtype(), [&]<typename T>(Element<T>) {
    T* p = ElementsOf<T>(t) + begin;
    const T v = *ElementsOf<T>(value);
    if constexpr (kIsPlainElement<T>) {
      // memset where every byte is the same, as in zero: it knows the fastest
      // stores of the machine.
      char bytes[sizeof(T)];
      std::memcpy(bytes, &v, sizeof(T));
      if (std::all_of(bytes, bytes + sizeof(T),
                      [&](char b) { return b == bytes[0]; })) {
        std::memset(static_cast<void*>(p), bytes[0], n * sizeof(T));
        return;
      }
      RunSimd([&] {
        for (int64_t i = 0; i < n; ++i) p[i] = v;
      });
    } else {
      std::fill(p, p + n, v);
    }
  });
}

namespace {
template <typename T>
void Append(const Tensor& t, DimVector* out) {
  for (T v : t.span<T>()) out->push_back(v);
}
}  // namespace

Status ReadIntegers(const Tensor& t, std::string_view name, DimVector* out) {
  out->clear();
  out->reserve(t.NumElements());
  if (VisitType<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>(
          t.dtype(), [&]<typename T>(T) { Append<T>(t, out); })) {
    return OkStatus();
  }
  return errors::InvalidArgument(name, " must be integers, got ",
                                 DataTypeString(t.dtype()));
}

Status ReadIntegerVector(const Tensor& t, std::string_view name,
                         DimVector* out) {
  if (t.dims() != 1) {
    return errors::InvalidArgument(name, " must be a vector, got shape ",
                                   t.shape().DebugString());
  }
  return ReadIntegers(t, name, out);
}

Status ReadInteger(const Tensor& t, std::string_view name, int64_t* out) {
  if (t.NumElements() != 1) {
    return errors::InvalidArgument(name, " must be a scalar, got shape ",
                                   t.shape().DebugString());
  }
  DimVector v;
  HR_RETURN_IF_ERROR(ReadIntegers(t, name, &v));
  *out = v[0];
  return OkStatus();
}

Status NormalizeAxis(int64_t axis, int rank, std::string_view name,
                     int64_t* out) {
  if (axis < -rank || axis >= rank) {
    return errors::InvalidArgument(name, " ", axis, " is not in [", -rank, ", ",
                                   rank, ")");
  }
  *out = axis < 0 ? axis + rank : axis;
  return OkStatus();
}

}  // namespace headrace
