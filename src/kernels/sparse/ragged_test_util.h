// For the tests of the ops on ragged tensors.
#ifndef HEADRACE_KERNELS_SPARSE_RAGGED_TEST_UTIL_H_
#define HEADRACE_KERNELS_SPARSE_RAGGED_TEST_UTIL_H_

#include <limits>
#include <string>
#include <vector>

#include "framework/kernel/op_tester.h"

namespace headrace {

inline constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
inline constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

using Ints = std::vector<int64_t>;

template <typename T = int64_t>
Tensor V(const std::vector<T>& v) {
  return MakeTensor<T>({static_cast<int64_t>(v.size())}, v);
}
inline Tensor Strings(const std::vector<std::string>& v) {
  return V(std::vector<tstring>(v.begin(), v.end()));
}
inline Tensor Ones(const TensorShape& shape) {
  return MakeTensor<float>(shape,
                           std::vector<float>(shape.num_elements(), 1.f));
}

// Splits that every kernel which reads all splits must reject.
struct BadSplits {
  std::vector<Ints> splits;
  const char* message;
};
inline const BadSplits kBadSplits[] = {
    {{{1, 3, 3, 5}}, "must begin with 0, got 1"},
    {{{0, 3, 3, 4}}, "number of values, 5, got 4"},
    {{{0, 3, 3, 9}}, "number of values, 5, got 9"},
    {{{0, 4, 3, 5}}, "must not fall, got 4 followed by 3"},
    {{{0, kMin, 5}}, "must not fall"},
    {{{}}, "at least one element"},
    {{{0, 2, 4}, {0, 3, 3, 5}}, "rt_nested_splits[0] must end with"},
    {{{0, 2, 2}, {0, 3, 3, 5}}, "number of values, 3, got 2"},
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_SPARSE_RAGGED_TEST_UTIL_H_
