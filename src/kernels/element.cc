#include "kernels/element.h"

#include <algorithm>
#include <cstring>

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
    std::fill(p, p + n, *ElementsOf<T>(value));
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
  switch (t.dtype()) {
    case DT_INT8:
      Append<int8_t>(t, out);
      break;
    case DT_INT16:
      Append<int16_t>(t, out);
      break;
    case DT_UINT16:
      Append<uint16_t>(t, out);
      break;
    case DT_INT32:
      Append<int32_t>(t, out);
      break;
    case DT_INT64:
      Append<int64_t>(t, out);
      break;
    default:
      return errors::InvalidArgument(name, " must be integers, got ",
                                     DataTypeString(t.dtype()));
  }
  return OkStatus();
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
