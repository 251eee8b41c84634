// VisitType: one switch from a DataType to a C++ type.
//
//   VisitType<float, double>(t.dtype(), [&](auto type) {
//     RunAs<decltype(type)>(ctx);
//   });
#ifndef HEADRACE_KERNELS_LIB_VISIT_TYPE_H_
#define HEADRACE_KERNELS_LIB_VISIT_TYPE_H_

#include "headrace/types.h"

namespace headrace {

// Calls f(T()) with the T of `Types` for `dtype` and returns true. Returns
// false if there is none. A reference type does not count as its base type.
template <typename... Types, typename F>
inline bool VisitType(DataType dtype, F&& f) {
  return ((dtype == DataTypeToEnum<Types>::value && (f(Types()), true)) || ...);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VISIT_TYPE_H_
