// Diag and DiagPart of whole tensors: the diagonal of shape s of a tensor of
// shape s + s, which in memory is that of a square matrix.
#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

class DiagOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() >= 1 && 2 * in.dims() <= kMaxTensorRank,
                errors::InvalidArgument("Input must be at least rank 1, got ",
                                        in.dims()));
    TensorShape shape = in.shape();
    shape.AppendShape(in.shape());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    ZeroElements(out);
    const int64_t n = in.NumElements();
    WithElement(in.dtype(), [&]<typename T>(Element<T>) {
      for (int64_t i = 0; i < n; ++i) {
        ElementsOf<T>(out)[i * (n + 1)] = ElementsOf<T>(in)[i];
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("Diag").Device(DEVICE_CPU), DiagOp);

class DiagPartOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int half = in.dims() / 2;
    // Shape inference refuses scalars; one whose rank was not known before is
    // its own diagonal.
    OP_REQUIRES(ctx, in.dims() % 2 == 0,
                errors::InvalidArgument("The rank of the tensor should be even "
                                        "and positive, got shape ",
                                        in.shape().DebugString()));
    TensorShape shape;
    for (int i = 0; i < half; ++i) {
      OP_REQUIRES(ctx, in.dim_size(i) == in.dim_size(i + half),
                  errors::InvalidArgument(
                      "Invalid shape ", in.shape().DebugString(),
                      ": dimensions ", i, " and ", i + half, " do not match."));
      shape.AddDim(in.dim_size(i));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t n = shape.num_elements();
    WithElement(in.dtype(), [&]<typename T>(Element<T>) {
      for (int64_t i = 0; i < n; ++i) {
        ElementsOf<T>(out)[i] = ElementsOf<T>(in)[i * (n + 1)];
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("DiagPart").Device(DEVICE_CPU), DiagPartOp);

}  // namespace
}  // namespace headrace
