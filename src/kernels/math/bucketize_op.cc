// Bucketize: the number of the bucket that each value falls into.
#include <algorithm>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// How many boundaries are not above the value.
template <typename T>
class BucketizeOp : public OpKernel {
 public:
  explicit BucketizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("boundaries", &boundaries_));
    OP_REQUIRES(ctx, std::is_sorted(boundaries_.begin(), boundaries_.end()),
                errors::InvalidArgument("Expected sorted boundaries"));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    const T* in = x.data<T>();
    int32_t* out = y->data<int32_t>();
    ctx->ParallelFor(x.NumElements(), 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double v = static_cast<double>(in[i]);
        out[i] = static_cast<int32_t>(
            std::upper_bound(boundaries_.begin(), boundaries_.end(), v,
                             [](double a, float b) { return a < b; }) -
            boundaries_.begin());
      }
    });
  }

 private:
  std::vector<float> boundaries_;
};

#define HR_REGISTER(T)                                             \
  REGISTER_KERNEL_BUILDER(                                         \
      Name("Bucketize").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      BucketizeOp<T>);
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
HR_REGISTER(float)
HR_REGISTER(double)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
