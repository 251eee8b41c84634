// SparseReorder: the entries in lexicographic order of their indices; entries
// with one index keep their order.
#include <numeric>

#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

class SparseReorderOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "input", &s));
    std::vector<int> dims(s.rank);
    std::iota(dims.begin(), dims.end(), 0);
    const std::vector<int64_t> order = SortedEntries(s, dims);
    if (std::is_sorted(order.begin(), order.end())) {
      ctx->set_output(0, ctx->input(0));
      ctx->set_output(1, ctx->input(1));
      return;
    }
    Tensor *indices = nullptr, *values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {s.n, s.rank}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {s.n}, &values));
    int64_t* row = indices->data<int64_t>();
    for (int64_t i : order) row = std::copy_n(s.row(i), s.rank, row);
    GatherElements(s.values, order, values);
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseReorder").Device(DEVICE_CPU),
                        SparseReorderOp);

}  // namespace
}  // namespace headrace
