// A sparse tensor is three: indices [n, rank], values [n] and shape [rank].
// What kernels share: reading the three with their checks, the order of the
// entries, and runs of entries.
//
// Entries may be in any order unless a kernel asks for CheckOrdered; the shape
// may have more elements than int64 counts, since nothing of that size exists.
#ifndef HEADRACE_KERNELS_LIB_SPARSE_TENSOR_H_
#define HEADRACE_KERNELS_LIB_SPARSE_TENSOR_H_

#include <string>
#include <string_view>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {

struct SparseView {
  int64_t n = 0;
  int rank = 0;
  const int64_t* indices = nullptr;  // n rows of `rank`
  Tensor values;
  DimVector dims;

  const int64_t* row(int64_t i) const { return indices + i * rank; }
  int64_t at(int64_t i, int d) const { return indices[i * rank + d]; }
};

// From tensors of int64 indices and shape; `name` precedes the arguments' names
// in messages ("a" for a_indices). Checks ranks and lengths, and that no dim is
// negative; indices are not looked at.
Status ReadSparse(const Tensor& indices, const Tensor& values,
                  const Tensor& shape, std::string_view name, SparseView* out);
// From inputs i, i + 1, i + 2. The view is valid as long as the inputs.
Status ReadSparseInputs(const OpKernelContext& ctx, int i,
                        std::string_view name, SparseView* out);

// An int32 or int64 tensor as int64, shared if it is that already.
Status AsInt64(OpKernelContext* ctx, const Tensor& t, Tensor* out);

// "[1,2]".
std::string IndexString(const int64_t* row, int rank);

// Every index lies within the shape.
Status CheckBounds(const SparseView& s, std::string_view name);
// CheckBounds, and each entry's index is greater than the one before it, in
// lexicographic order: none is repeated.
Status CheckOrdered(const SparseView& s, std::string_view name);

// -1, 0 or 1 as a is before, at or after b.
inline int CompareIndices(const int64_t* a, const int64_t* b, int rank) {
  for (int d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

// The entries sorted by the dims of `dim_order`, the first one most
// significant; entries that are equal there keep their order.
std::vector<int64_t> SortedEntries(const SparseView& s,
                                   absl::Span<const int> dim_order);

// Element order[i] of `from` becomes element i of `to`, of any type.
void GatherElements(const Tensor& from, absl::Span<const int64_t> order,
                    Tensor* to);

// The vector of int64 `dims` in output i.
Status SetShapeOutput(OpKernelContext* ctx, int i,
                      absl::Span<const int64_t> dims);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_SPARSE_TENSOR_H_
