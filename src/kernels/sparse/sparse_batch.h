// A sparse tensor as a list of its slices along the first dim, and a list of
// sparse tensors as one with a dim more: what serialised and stored minibatches
// of sparse tensors share.
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

// Calls fn with each slice of `s`, one for each index of dim 0, as a tensor of
// one rank less. All slices without entries are one object, made once: the
// shape may promise far more slices than there are entries. The entries must
// be in ascending slices, else InvalidArgument.
Status UnbatchSparse(OpKernelContext* ctx, const SparseView& s,
                     absl::FunctionRef<Status(
                         int64_t, const std::shared_ptr<const SparseTriple>&)>
                         fn);

// `parts` in row-major order of `batch_dims`, whose product they are as many
// as, as a sparse tensor of shape batch_dims + the largest of the parts' dims,
// in outputs 0, 1 and 2. The parts are checked against each other and `dtype`.
Status BatchSparse(OpKernelContext* ctx, absl::Span<const int64_t> batch_dims,
                   absl::Span<const std::shared_ptr<const SparseTriple>> parts,
                   DataType dtype);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_SPARSE_SPARSE_BATCH_H_
