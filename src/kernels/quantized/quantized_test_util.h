// For tests of ops on quantised numbers: tensors of them, ranges, results.
#ifndef HEADRACE_KERNELS_QUANTIZED_QUANTIZED_TEST_UTIL_H_
#define HEADRACE_KERNELS_QUANTIZED_QUANTIZED_TEST_UTIL_H_

#include <vector>

#include "framework/kernel/op_tester.h"

namespace headrace {

template <typename T>
Tensor Numbers(DataType type, const TensorShape& shape,
               const std::vector<int>& values) {
  Tensor t(type, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    static_cast<T*>(t.raw_data())[i] = static_cast<T>(values[i]);
  }
  return t;
}
inline Tensor Bytes(const TensorShape& shape, const std::vector<int>& values) {
  return Numbers<uint8_t>(DT_QUINT8, shape, values);
}
inline Tensor Sums(const std::vector<int>& values) {
  return Numbers<int32_t>(
      DT_QINT32, TensorShape({static_cast<int64_t>(values.size())}), values);
}

inline std::vector<int> Values(const Tensor& t) {
  std::vector<int> out;
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    out.push_back(
        t.dtype() == DT_QINT32  ? static_cast<const int32_t*>(t.raw_data())[i]
        : t.dtype() == DT_QINT8 ? static_cast<const int8_t*>(t.raw_data())[i]
                                : static_cast<const uint8_t*>(t.raw_data())[i]);
  }
  return out;
}

// Gives ends of ranges as inputs.
inline void Ends(OpTester* t, const std::vector<float>& ends) {
  for (const float e : ends) t->Input(MakeScalar(e));
}

inline void ExpectRange(OpTester* t, float low, float high) {
  EXPECT_FLOAT_EQ(t->Output(1).scalar<float>(), low);
  EXPECT_FLOAT_EQ(t->Output(2).scalar<float>(), high);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_QUANTIZED_QUANTIZED_TEST_UTIL_H_
