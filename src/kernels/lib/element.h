// Code that only moves elements does not care for their type but for their
// size: one instance serves float, int32, uint32 and qint32. WithElement picks
// the stand-in, an unsigned integer of the element's size, or the class itself
// for strings, resources and variants, whose copies are objects.
#ifndef HEADRACE_KERNELS_LIB_ELEMENT_H_
#define HEADRACE_KERNELS_LIB_ELEMENT_H_

#include <cstdint>
#include <string_view>

#include "framework/tensor/variant.h"
#include "headrace/resource_handle.h"
#include "headrace/tensor.h"

namespace headrace {

struct alignas(8) Bytes16 {
  uint64_t lo = 0, hi = 0;
};

template <typename T>
struct Element {
  using Type = T;
};

// Calls fn(Element<S>()) for the stand-in S of `dtype`; once, or never for a
// type that no tensor has.
//   WithElement(t.dtype(), [&]<typename T>(Element<T>) { ... });
template <typename F>
void WithElement(DataType dtype, const F& fn) {
  switch (DataTypeSize(BaseType(dtype))) {
    case 1:
      return fn(Element<uint8_t>());
    case 2:
      return fn(Element<uint16_t>());
    case 4:
      return fn(Element<uint32_t>());
    case 8:
      return fn(Element<uint64_t>());
    case 16:
      return fn(Element<Bytes16>());
    default:
      break;
  }
  switch (BaseType(dtype)) {
    case DT_STRING:
      return fn(Element<tstring>());
    case DT_RESOURCE:
      return fn(Element<ResourceHandle>());
    case DT_VARIANT:
      return fn(Element<Variant>());
    default:
      return;
  }
}

template <typename T>
constexpr bool kIsPlainElement =
    std::is_integral_v<T> || std::is_same_v<T, Bytes16>;

// The elements of `t` seen as stand-ins.
template <typename T>
T* ElementsOf(Tensor* t) {
  return static_cast<T*>(t->raw_data());
}
template <typename T>
const T* ElementsOf(const Tensor& t) {
  return static_cast<const T*>(t.raw_data());
}

// Makes all elements zero, "", or empty objects.
void ZeroElements(Tensor* t);
// Elements [begin, begin + n) of `t` become the one element of `value`.
void FillElements(const Tensor& value, Tensor* t, int64_t begin, int64_t n);

// The elements of an integer tensor (int8..int64, uint16) as int64.
// InvalidArgument for another type; `name` is the argument's, for the message.
Status ReadIntegers(const Tensor& t, std::string_view name, DimVector* out);
// As ReadIntegers, of a tensor that must be a vector.
Status ReadIntegerVector(const Tensor& t, std::string_view name,
                         DimVector* out);
// As ReadIntegers, of a tensor of one element.
Status ReadInteger(const Tensor& t, std::string_view name, int64_t* out);

// Takes an axis in [-rank, rank) to [0, rank).
Status NormalizeAxis(int64_t axis, int rank, std::string_view name,
                     int64_t* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_ELEMENT_H_
