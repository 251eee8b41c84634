// Checks of arguments that convolutions of all devices share.
#ifndef HEADRACE_KERNELS_LIB_CONV_ARGS_H_
#define HEADRACE_KERNELS_LIB_CONV_ARGS_H_

#include "headrace/tensor.h"

namespace headrace {

// InvalidArgument unless `t` is a vector with an element for each of `channels`
// output channels.
Status CheckPerChannel(const char* name, const Tensor& t, int64_t channels);

// Reads a vector of int32 or int64, in host memory, as the sizes of a shape:
// input_sizes, filter_sizes.
Status ReadSizes(const char* name, const Tensor& t, DimVector* dims);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_CONV_ARGS_H_
