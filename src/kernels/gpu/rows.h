// Launches of what updates rows (row_functors.h).
#ifndef HEADRACE_KERNELS_GPU_ROWS_H_
#define HEADRACE_KERNELS_GPU_ROWS_H_

#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/row_functors.h"

namespace headrace::gpu {

// `count` rows of a tensor of this shape, each given by `depth` coordinates in
// its first dims.
inline Status RowsOf(const Tensor& indices, int64_t count, int depth,
                     const TensorShape& shape, RowIndices* rows) {
  if (depth > RowIndices::kMaxDepth) {
    return errors::Unimplemented("GPU: indices of ", depth,
                                 " coordinates, the most are ",
                                 RowIndices::kMaxDepth);
  }
  rows->data = indices.raw_data();
  rows->wide = indices.dtype() == DT_INT64;
  rows->depth = depth;
  rows->count = count;
  for (int d = 0; d < depth; ++d) rows->size[d] = shape.dim_size(d);
  return OkStatus();
}

// Queues `update` of these rows of `inner` elements.
template <typename Update>
Status ForRows(Stream* stream, const RowIndices& rows, int64_t inner,
               const Update& update) {
  // Threads that keep a device busy; more read the indices in vain.
  constexpr int64_t kWanted = 16384;
  int64_t parts = 1;
  while (parts < rows.count && parts * inner < kWanted) parts *= 2;
  if (rows.count == 0 || inner == 0) return OkStatus();
  return ForEach(stream, parts * inner,
                 gpu::UpdateRows<Update>{update, rows, inner, parts - 1});
}

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_ROWS_H_
