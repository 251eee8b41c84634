// Tensors as columns: in memory a concatenation along an axis is one along
// columns, where a tensor is a [rows, columns] matrix and rows are the
// dimensions before the axis. Thread-safe; each call fills its own outputs.
#ifndef HEADRACE_KERNELS_ARRAY_COLUMNS_H_
#define HEADRACE_KERNELS_ARRAY_COLUMNS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Puts `values` side by side into *out as matrices of `rows` rows.
void ConcatColumns(OpKernelContext* ctx, absl::Span<const Tensor* const> values,
                   int64_t rows, Tensor* out);

// Output i is sizes[i] wide along `axis`. With `drop`, all sizes are 1 and the
// axis is left out of the shapes. Where no dimension larger than 1 comes before
// the axis, the parts are slices that share the input's buffer.
void SplitColumns(OpKernelContext* ctx, const Tensor& in, int axis,
                  absl::Span<const int64_t> sizes, bool drop);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_ARRAY_COLUMNS_H_
