// Code that only moves elements depends on their size, not on their type: one
// instance serves float, int32, uint32 and qint32. WithElement picks a stand-in
// type: an unsigned integer of the same size, or the class itself for strings,
// resources and variants, whose elements are objects.
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

// Calls fn(Element<S>()) once, with the stand-in S for `dtype`. Does not call
// it for a type that no tensor has.
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

// The elements of `t` as stand-ins.
template <typename T>
T* ElementsOf(Tensor* t) {
  return static_cast<T*>(t->raw_data());
}
template <typename T>
const T* ElementsOf(const Tensor& t) {
  return static_cast<const T*>(t.raw_data());
}

// Sets all elements to zero, "" or empty objects.
void ZeroElements(Tensor* t);
// Sets elements [begin, begin + n) of `t` to the one element of `value`.
void FillElements(const Tensor& value, Tensor* t, int64_t begin, int64_t n);

// Reads the elements of an integer tensor (int8..int64, uint8, uint16) as
// int64. InvalidArgument for any other type; the message uses `name`, the
// argument's name.
Status ReadIntegers(const Tensor& t, std::string_view name, DimVector* out);
// As ReadIntegers. The tensor must be a vector.
Status ReadIntegerVector(const Tensor& t, std::string_view name,
                         DimVector* out);
// As ReadIntegers. The tensor must have one element.
Status ReadInteger(const Tensor& t, std::string_view name, int64_t* out);

// Maps an axis in [-rank, rank) to [0, rank). InvalidArgument outside.
Status NormalizeAxis(int64_t axis, int rank, std::string_view name,
                     int64_t* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_ELEMENT_H_
