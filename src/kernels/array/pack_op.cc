#include "absl/container/inlined_vector.h"
#include "headrace/op_kernel.h"
#include "kernels/array/columns.h"

namespace headrace {
namespace {

class PackOp : public OpKernel {
 public:
  explicit PackOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }
  void Compute(OpKernelContext* ctx) override {
    const int n = ctx->num_inputs();
    const TensorShape& first = ctx->input(0).shape();
    const int rank = first.dims() + 1;
    OP_REQUIRES(ctx, -rank <= axis_ && axis_ < rank,
                errors::InvalidArgument("axis = ", axis_, " not in [", -rank,
                                        ", ", rank, ")"));
    OP_REQUIRES(ctx, rank <= kMaxTensorRank,
                errors::InvalidArgument("Pack: too many dimensions"));
    const int axis = static_cast<int>(axis_ < 0 ? axis_ + rank : axis_);
    absl::InlinedVector<const Tensor*, 8> values(n);
    for (int i = 0; i < n; ++i) {
      values[i] = &ctx->input(i);
      OP_REQUIRES(ctx, values[i]->shape() == first,
                  errors::InvalidArgument(
                      "Shapes of all inputs must match: values[0].shape = ",
                      first.DebugString(), " != values[", i,
                      "].shape = ", values[i]->shape().DebugString()));
    }
    TensorShape shape = first;
    shape.InsertDim(axis, n);
    if (n == 1 && shape.IsValid()) {
      Tensor out;
      OP_REQUIRES(ctx, out.CopyFrom(*values[0], shape),
                  errors::Internal("Pack: cannot reshape"));
      ctx->set_output(0, std::move(out));
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    ConcatColumns(ctx, values, first.ProductOf(0, axis), out);
  }

 private:
  int64_t axis_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("Pack").Device(DEVICE_CPU), PackOp);

}  // namespace
}  // namespace headrace
