// Splits a sparse tensor into slices along its first dim, and joins sparse
// tensors into one with an additional dim. Shared by the ops that serialise and
// store minibatches of sparse tensors.
#ifndef HEADRACE_KERNELS_SPARSE_SPARSE_BATCH_H_
#define HEADRACE_KERNELS_SPARSE_SPARSE_BATCH_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {

struct SparseTriple {
  Tensor indices, values, shape;
};

// Calls fn with each slice of `s` (one per index of dim 0), a tensor of one
// rank less. All empty slices are one object, created once, because the shape
// may have far more slices than entries. InvalidArgument unless the entries are
// in ascending order of slices.
Status UnbatchSparse(OpKernelContext* ctx, const SparseView& s,
                     absl::FunctionRef<Status(
                         int64_t, const std::shared_ptr<const SparseTriple>&)>
                         fn);

// Joins `parts`, in row-major order of `batch_dims`; their number is the
// product of `batch_dims`. The shape is batch_dims followed by the largest dims
// of the parts. Sets outputs 0, 1 and 2. Checks the parts against each other
// and against `dtype`.
Status BatchSparse(OpKernelContext* ctx, absl::Span<const int64_t> batch_dims,
                   absl::Span<const std::shared_ptr<const SparseTriple>> parts,
                   DataType dtype);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_SPARSE_SPARSE_BATCH_H_
