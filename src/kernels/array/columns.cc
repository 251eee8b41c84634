#include "kernels/array/columns.h"

#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {

void ConcatColumns(OpKernelContext* ctx, absl::Span<const Tensor* const> values,
                   int64_t rows, Tensor* out) {
  if (rows == 0 || out->NumElements() == 0) return;
  const int64_t out_columns = out->NumElements() / rows;
  int64_t at = 0;
  for (const Tensor* v : values) {
    const int64_t columns = v->NumElements() / rows;
    BoxCopy copy;
    copy.AddDim(rows, columns, out_columns);
    copy.AddDim(columns, 1, 1);
    copy.Run(ctx, *v, 0, out, at);
    at += columns;
  }
}

void SplitColumns(OpKernelContext* ctx, const Tensor& in, int axis,
                  absl::Span<const int64_t> sizes, bool drop) {
  const TensorShape& shape = in.shape();
  const int64_t rows = shape.ProductOf(0, axis);
  const int64_t inner = shape.ProductOf(axis + 1, shape.dims());
  const int64_t row = shape.dim_size(axis) * inner;
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TensorShape part = shape;
    if (drop) {
      part.RemoveDim(axis);
    } else {
      part.set_dim(axis, sizes[i]);
    }
    const int index = static_cast<int>(i);
    if (rows == 1) {
      SetOutputRun(ctx, index, in, at * inner, part);
    } else {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(index, part, &out));
      BoxCopy copy;
      copy.AddDim(rows, row, sizes[i] * inner);
      copy.AddDim(sizes[i] * inner, 1, 1);
      copy.Run(ctx, in, at * inner, out, 0);
    }
    at += sizes[i];
  }
}

}  // namespace headrace
