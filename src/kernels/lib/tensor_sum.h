// Sums that state keeps: gradient arrays and accumulators add tensors up as
// they come.
#ifndef HEADRACE_KERNELS_LIB_TENSOR_SUM_H_
#define HEADRACE_KERNELS_LIB_TENSOR_SUM_H_

#include "headrace/tensor.h"

namespace headrace {

// *sum += x, element by element; integers wrap. In place if nobody else holds
// the buffer of *sum, else in a new one. InvalidArgument if types or shapes
// differ, or for a type that has no sum.
Status AddToTensor(const Tensor& x, Tensor* sum);

// *t /= n, integers towards zero. As AddToTensor otherwise; n is not 0.
Status DivideTensor(int64_t n, Tensor* t);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_TENSOR_SUM_H_
