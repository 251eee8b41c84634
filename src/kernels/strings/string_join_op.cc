// StringJoin: the inputs, element by element, with a separator between them.
// Scalars go with every shape; the others must agree.
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/strings/join_strings.h"

namespace headrace {
namespace {

class StringJoinOp : public OpKernel {
 public:
  explicit StringJoinOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("separator", &separator_));
  }

  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    bool scalars = true;
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      const TensorShape& s = ctx->input(i).shape();
      if (s.dims() == 0) continue;
      OP_REQUIRES(ctx, scalars || s == shape,
                  errors::InvalidArgument(
                      "Input shapes do not match: expected ",
                      shape.DebugString(), ", got ", s.DebugString()));
      shape = s;
      scalars = false;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    std::vector<absl::string_view> pieces(ctx->num_inputs());
    for (int64_t k = 0; k < out->NumElements(); ++k) {
      for (int i = 0; i < ctx->num_inputs(); ++i) {
        const Tensor& in = ctx->input(i);
        pieces[i] = in.data<tstring>()[in.dims() == 0 ? 0 : k];
      }
      JoinStrings(pieces, separator_, &out->data<tstring>()[k]);
    }
  }

 private:
  std::string separator_;
};

REGISTER_KERNEL_BUILDER(Name("StringJoin").Device(DEVICE_CPU), StringJoinOp);

}  // namespace
}  // namespace headrace
