// A check of windows in shape functions that kernels do not have.
#ifndef HEADRACE_FRAMEWORK_SHAPE_FNS_WINDOW_SHAPE_H_
#define HEADRACE_FRAMEWORK_SHAPE_FNS_WINDOW_SHAPE_H_

#include "framework/shape_fns/common_shape_fns.h"

namespace headrace {

// Refuses a VALID or EXPLICIT window that reaches beyond its input, as
// TensorFlow does while a graph is built. While it runs, a kernel makes an
// empty output where WindowedOutputSize gives 0. All numbers are known; the
// paddings are read for kExplicit only.
Status CheckWindowFits(int64_t in, int64_t filter, int64_t dilation,
                       Padding padding, int64_t pad_before = 0,
                       int64_t pad_after = 0);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_SHAPE_FNS_WINDOW_SHAPE_H_
