// RaggedTensorToSparse: every value gets an index, its row and place on each
// level of splits and then its place in the values' own dimensions. The shape
// is as wide as the longest row of each level.
#include <algorithm>
#include <vector>

#include "kernels/lib/row_splits.h"

namespace headrace {
namespace {

class RaggedTensorToSparseOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::vector<const Tensor*> inputs;
    const Tensor* values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input_list("rt_nested_splits", &inputs));
    OP_REQUIRES_OK(ctx, ctx->input("rt_dense_values", &values));
    std::vector<std::vector<int64_t>> splits;
    OP_REQUIRES_OK(
        ctx, ReadNestedSplits(inputs, *values, "rt_nested_splits", &splits));
    const int levels = static_cast<int>(splits.size());
    const int64_t rank = levels + values->dims();
    const int64_t n = values->NumElements();
    Tensor *indices = nullptr, *shape = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, rank}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {rank}, &shape));
    Tensor flat;
    OP_REQUIRES(ctx, flat.CopyFrom(*values, TensorShape({n})),
                errors::Internal("the values do not flatten"));
    ctx->set_output(1, flat);

    int64_t* dims = shape->data<int64_t>();
    dims[0] = static_cast<int64_t>(splits[0].size()) - 1;
    for (int l = 0; l < levels; ++l) {
      dims[l + 1] = 0;
      for (size_t r = 1; r < splits[l].size(); ++r) {
        dims[l + 1] = std::max(dims[l + 1], splits[l][r] - splits[l][r - 1]);
      }
    }
    for (int d = 1; d < values->dims(); ++d) {
      dims[levels + d] = values->dim_size(d);
    }
    if (n == 0) return;

    const int64_t value_rows = values->dim_size(0), row_size = n / value_rows;
    std::vector<size_t> row(levels, 0);
    DimVector inner(values->dims(), 0);
    int64_t* out = indices->data<int64_t>();
    for (int64_t v = 0; v < value_rows; ++v) {
      int64_t at = v;
      for (int l = levels - 1; l >= 0; --l) {
        while (at >= splits[l][row[l] + 1]) ++row[l];
        out[l + 1] = at - splits[l][row[l]];
        at = static_cast<int64_t>(row[l]);
      }
      out[0] = at;
      const int64_t* const prefix = out;
      for (int64_t i = 0; i < row_size; ++i, out += rank) {
        if (i > 0) std::copy_n(prefix, levels + 1, out);
        std::copy(inner.begin() + 1, inner.end(), out + levels + 1);
        for (int d = values->dims() - 1; d >= 1; --d) {
          if (++inner[d] < values->dim_size(d)) break;
          inner[d] = 0;
        }
      }
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("RaggedTensorToSparse").Device(DEVICE_CPU),
                        RaggedTensorToSparseOp);

}  // namespace
}  // namespace headrace
