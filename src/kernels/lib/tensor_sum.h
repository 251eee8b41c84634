// Sums for gradient arrays and accumulators, which add tensors one by one.
#ifndef HEADRACE_KERNELS_LIB_TENSOR_SUM_H_
#define HEADRACE_KERNELS_LIB_TENSOR_SUM_H_

#include "headrace/tensor.h"

namespace headrace {

// *sum += x, element by element. Integers wrap around. In place if *sum is the
// only owner of its buffer, else in a new buffer. InvalidArgument if types or
// shapes differ, or if the type has no sum.
Status AddToTensor(const Tensor& x, Tensor* sum);

// *t /= n; integers are truncated. n is not 0. Otherwise as AddToTensor.
Status DivideTensor(int64_t n, Tensor* t);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_TENSOR_SUM_H_
