// What the kernels of TopK and TopKV2 ask of their inputs.
#ifndef HEADRACE_KERNELS_LIB_TOP_K_H_
#define HEADRACE_KERNELS_LIB_TOP_K_H_

#include "headrace/op_kernel.h"

namespace headrace {

// The shape of both outputs: that of input 0 with k in place of its last dim,
// which is n long. k is input 1 in host memory, or `attr_k` of a kernel with
// one input. InvalidArgument for k < 0, k > n, a scalar input, and n indices
// that `index_type` cannot hold.
Status TopKShape(OpKernelContext* ctx, int64_t attr_k, DataType index_type,
                 TensorShape* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_TOP_K_H_
