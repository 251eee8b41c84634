// Indices of slices in GatherNd, ScatterNd and their like. The last dim of
// `indices` is a coordinate in the leading dims of a shape. It selects the
// slice of the remaining dims. CPU and GPU kernels check shapes here alike.
// What goes wrong is InvalidArgument with the shapes.
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

// GatherNd's result: indices.shape[:-1] + params.shape[depth:], where depth is
// indices.shape[-1].
Status GatherNdShape(const TensorShape& params, const TensorShape& indices,
                     TensorShape* out);

// Checks that updates.shape is indices.shape[:-1] + shape[depth:], where depth
// is indices.shape[-1]. `what` names the tensor of this shape in errors.
Status CheckScatterNd(const TensorShape& shape, std::string_view what,
                      const TensorShape& indices, const TensorShape& updates);

// Refuses updates that have no place: for an empty output, or an index depth of
// 0. ScatterNd and TensorScatter* do; variables take them.
Status CheckScatterNdHasPlace(const TensorShape& output,
                              const TensorShape& indices,
                              const TensorShape& updates);

// Checks that updates are a scalar, or of indices.shape + params.shape[1:]:
// those of Scatter*, whose indices are numbers of rows.
Status CheckScatterRows(const TensorShape& params, const TensorShape& indices,
                        const TensorShape& updates);

// Computes the row-major number of each slice. If a coordinate is outside, the
// number is -1 with `ignore_bad`; else InvalidArgument "indices[0] = [2] does
// not index into <what> [2]". `indices` has at least one dim, and its last dim
// is at most shape's rank.
Status SliceIndices(const Tensor& indices, const TensorShape& shape,
                    std::string_view what, bool ignore_bad,
                    std::vector<int64_t>* out);

// The attr bad_indices_policy: "IGNORE", or one of "", "DEFAULT", "ERROR".
Status GetIgnoreBadIndices(OpKernelConstruction* ctx, bool* ignore);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_SCATTER_INDICES_H_
