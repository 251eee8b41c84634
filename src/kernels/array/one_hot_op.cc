// OneHot: depth values where an index was, `on` at the index and `off`
// elsewhere. An index outside [0, depth), a negative one too, gives off values
// only and is no error.
#include <limits>

#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"
#include "kernels/lib/visit_type.h"

namespace headrace {
namespace {

class OneHotOp : public OpKernel {
 public:
  explicit OneHotOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices = ctx->input(0);
    const Tensor& on = ctx->input(2);
    const Tensor& off = ctx->input(3);
    const int rank = indices.dims();
    OP_REQUIRES(
        ctx, -1 <= axis_ && axis_ <= rank,
        errors::InvalidArgument("Expected axis to be -1 or between [0, ",
                                rank + 1, ").  But received: ", axis_));
    for (int i = 1; i < 4; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 0,
                  errors::InvalidArgument(i == 1   ? "depth"
                                          : i == 2 ? "on_value"
                                                   : "off_value",
                                          " must be a scalar, but got: ",
                                          ctx->input(i).shape().DebugString()));
    }
    const int64_t depth = ctx->input(1).scalar<int32_t>();
    OP_REQUIRES(
        ctx, depth >= 0,
        errors::InvalidArgument("depth must be non-negative, got: ", depth));
    OP_REQUIRES(ctx, rank < kMaxTensorRank,
                errors::InvalidArgument("OneHot: too many dimensions"));
    const int axis = static_cast<int>(axis_ < 0 ? rank : axis_);
    TensorShape shape = indices.shape();
    shape.InsertDim(axis, depth);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const int64_t suffix = indices.shape().ProductOf(axis, rank);
    const int64_t prefix = indices.shape().ProductOf(0, axis);
    VisitType<uint8_t, int8_t, int32_t, int64_t>(
        indices.dtype(), [&]<typename I>(I) {
          Run<I>(ctx, indices, on, off, prefix, depth, suffix, out);
        });
  }

 private:
  template <typename I>
  static void Run(OpKernelContext* ctx, const Tensor& indices, const Tensor& on,
                  const Tensor& off, int64_t prefix, int64_t depth,
                  int64_t suffix, Tensor* out) {
    const I* index = indices.data<I>();
    const double cost = 0.2 * DataTypeObjectSize(out->dtype()) * depth * suffix;
    ctx->ParallelFor(prefix, cost, [&](int64_t begin, int64_t end) {
      FillElements(off, out, begin * depth * suffix,
                   (end - begin) * depth * suffix);
      WithElement(out->dtype(), [&]<typename T>(Element<T>) {
        T* p = ElementsOf<T>(out);
        const T& value = *ElementsOf<T>(on);
        for (int64_t i = begin; i < end; ++i) {
          for (int64_t k = 0; k < suffix; ++k) {
            const int64_t at = index[i * suffix + k];
            if (at >= 0 && at < depth) p[(i * depth + at) * suffix + k] = value;
          }
        }
      });
    });
  }

  int64_t axis_ = -1;
};
REGISTER_KERNEL_BUILDER(Name("OneHot").Device(DEVICE_CPU), OneHotOp);

}  // namespace
}  // namespace headrace
