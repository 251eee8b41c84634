// Moves of elements on a device, for the kernels that move and for those that
// need another layout first.
#ifndef HEADRACE_KERNELS_GPU_MOVE_H_
#define HEADRACE_KERNELS_GPU_MOVE_H_

#include "absl/types/span.h"
#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/layout_functors.h"

namespace headrace::gpu {

// Queues the copy of a box that begins at element `from_at` of `from` and
// `to_at` of `to`; its strides are of `from`, `to`. Both have one type.
Status MoveBox(Stream* stream, const Tensor& from, int64_t from_at, Tensor* to,
               int64_t to_at, const BoxBuilder<2>& box);

// out dim i is in dim perm[i]. `out` is allocated.
Status TransposeOnDevice(Stream* stream, const Tensor& in,
                         absl::Span<const int64_t> perm, Tensor* out);

// `in` begins at index `before` of `out`; around it is *value, a scalar on the
// device, or zero.
Status PadOnDevice(Stream* stream, const Tensor& in,
                   absl::Span<const int64_t> before, const Tensor* value,
                   Tensor* out);

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_MOVE_H_
