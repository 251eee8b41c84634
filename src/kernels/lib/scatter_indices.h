// Indices of slices, as GatherNd and ScatterNd have them: the last dim of
// `indices` is a coordinate in the leading dims of a shape, and names the slice
// of the rest.
#ifndef HEADRACE_KERNELS_LIB_SCATTER_INDICES_H_
#define HEADRACE_KERNELS_LIB_SCATTER_INDICES_H_

#include <string>
#include <string_view>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {

// "[1,2]": the coordinates of element `flat` of a tensor of this shape; "" for
// a scalar.
std::string IndexString(const TensorShape& shape, int64_t flat);

// The number of each slice, row-major. InvalidArgument "indices[0] = [2] does
// not index into <what> [2]" for one outside; with `ignore_bad` it is -1.
// `indices` has at least one dim and its last is at most shape's rank.
Status SliceIndices(const Tensor& indices, const TensorShape& shape,
                    std::string_view what, bool ignore_bad,
                    std::vector<int64_t>* out);

// The attr bad_indices_policy: "IGNORE", or one of "", "DEFAULT", "ERROR".
Status GetIgnoreBadIndices(OpKernelConstruction* ctx, bool* ignore);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_SCATTER_INDICES_H_
