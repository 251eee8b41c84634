// Walks the entries of two sparse tensors in index order, as in a merge of
// sorted lists.
#ifndef HEADRACE_KERNELS_SPARSE_SPARSE_MERGE_H_
#define HEADRACE_KERNELS_SPARSE_SPARSE_MERGE_H_

#include "kernels/lib/sparse_tensor.h"

namespace headrace {

// InvalidArgument unless both have the same shape.
inline Status CheckSameShape(const SparseView& a, const SparseView& b) {
  if (a.dims == b.dims) return OkStatus();
  return errors::InvalidArgument("a and b must have one shape, got ",
                                 IndexString(a.dims.data(), a.rank), " and ",
                                 IndexString(b.dims.data(), b.rank));
}

// Calls fn(i, j) for each index: entry i of a and entry j of b have this index;
// -1 means no entry. As in TensorFlow, an index may occur twice if entries are
// not in order.
template <typename F>
void MergeEntries(const SparseView& a, const SparseView& b, const F& fn) {
  int64_t i = 0, j = 0;
  while (i < a.n || j < b.n) {
    const int c = i == a.n   ? 1
                  : j == b.n ? -1
                             : CompareIndices(a.row(i), b.row(j), a.rank);
    fn(c <= 0 ? i : -1, c >= 0 ? j : -1);
    if (c <= 0) ++i;
    if (c >= 0) ++j;
  }
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_SPARSE_SPARSE_MERGE_H_
