// A sparse tensor is three tensors: indices [n, rank], values [n] and shape
// [rank]. This header reads and checks them, orders entries and handles runs of
// entries.
//
// Entries may be in any order unless a kernel calls CheckOrdered. The shape may
// have more elements than int64 can count, because nothing of that size is
// allocated.
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

// Reads tensors with int64 indices and shape. `name` is the prefix of the
// arguments' names in messages ("a" for a_indices). Checks ranks and lengths,
// and that no dim is negative. Does not check the indices.
Status ReadSparse(const Tensor& indices, const Tensor& values,
                  const Tensor& shape, std::string_view name, SparseView* out);
// Reads inputs i, i + 1 and i + 2. The view is valid as long as the inputs.
Status ReadSparseInputs(const OpKernelContext& ctx, int i,
                        std::string_view name, SparseView* out);

// Converts an int32 or int64 tensor to int64. Shares the buffer of an int64
// tensor.
Status AsInt64(OpKernelContext* ctx, const Tensor& t, Tensor* out);

// "[1,2]".
std::string IndexString(const int64_t* row, int rank);

// InvalidArgument unless every index is within the shape.
Status CheckBounds(const SparseView& s, std::string_view name);
// CheckBounds, and InvalidArgument unless the indices strictly increase in
// lexicographic order. So no index is repeated.
Status CheckOrdered(const SparseView& s, std::string_view name);

// -1, 0 or 1: a is before, equal to or after b.
inline int CompareIndices(const int64_t* a, const int64_t* b, int rank) {
  for (int d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

// Sorts the entries by the dims of `dim_order`; the first dim is the most
// significant. Stable.
std::vector<int64_t> SortedEntries(const SparseView& s,
                                   absl::Span<const int> dim_order);

// Sets element i of `to` to element order[i] of `from`. Any type.
void GatherElements(const Tensor& from, absl::Span<const int64_t> order,
                    Tensor* to);

// Sets output i to the vector of int64 `dims`.
Status SetShapeOutput(OpKernelContext* ctx, int i,
                      absl::Span<const int64_t> dims);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_SPARSE_TENSOR_H_
