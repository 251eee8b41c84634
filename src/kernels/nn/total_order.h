// An order of all values of a type: NaN is above every number and equal to NaN.
// Sorting with operator< and NaN is undefined behaviour.
#ifndef HEADRACE_KERNELS_NN_TOTAL_ORDER_H_
#define HEADRACE_KERNELS_NN_TOTAL_ORDER_H_

#include <type_traits>

namespace headrace {

template <typename T>
inline bool TotalGreater(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return a > b;
  } else {
    return a > b || (a != a && b == b);
  }
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_TOTAL_ORDER_H_
