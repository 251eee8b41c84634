// ResizeNearestNeighbor copies one input pixel to each output pixel, of any
// type; its gradient adds up the outputs that a pixel was copied to.
#include <vector>

#include "framework/kernel/op_kernel.h"
#include "kernels/image/resize.h"
#include "kernels/lib/scalar_update.h"

namespace headrace {
namespace {

class ResizeNearestNeighborOp : public OpKernel {
 public:
  explicit ResizeNearestNeighborOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Init(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& images = ctx->input(0);
    ResizeShape s;
    OP_REQUIRES_OK(
        ctx, ResizeForward(images, ctx->input(1), attrs_.align_corners, &s));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {s.batch, s.out_h, s.out_w, s.channels}, &out));
    if (out->NumElements() == 0) return;
    const auto ys = NearestTaps(s.in_h, s.out_h, s.scale_h, attrs_);
    const auto xs = NearestTaps(s.in_w, s.out_w, s.scale_w, attrs_);
    const int64_t pixel = s.channels * DataTypeSize(images.dtype());
    const char* in = static_cast<const char*>(images.raw_data());
    char* o = static_cast<char*>(out->raw_data());
    ctx->ParallelFor(s.batch * s.out_h, s.out_w * (2 + 0.1 * pixel),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t r = begin; r < end; ++r) {
                         const char* from =
                             in + (r / s.out_h * s.in_h + ys[r % s.out_h]) *
                                      s.in_w * pixel;
                         char* to = o + r * s.out_w * pixel;
                         for (const int64_t x : xs) {
                           std::memcpy(to, from + x * pixel, pixel);
                           to += pixel;
                         }
                       }
                     });
  }

 private:
  ResizeAttrs attrs_;
};
REGISTER_KERNEL_BUILDER(Name("ResizeNearestNeighbor").Device(DEVICE_CPU),
                        ResizeNearestNeighborOp);

template <typename T>
class ResizeNearestNeighborGradOp : public OpKernel {
 public:
  using A = std::conditional_t<kIsSmallFloat<T>, float, T>;

  explicit ResizeNearestNeighborGradOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Init(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& grads = ctx->input(0);
    const Tensor& size = ctx->input(1);
    OP_REQUIRES(ctx, size.dims() == 1 && size.dim_size(0) == 2,
                errors::InvalidArgument(
                    "size must be a vector of 2 numbers, height and width, got "
                    "shape ",
                    size.shape().DebugString()));
    ResizeShape s;
    OP_REQUIRES_OK(
        ctx, ResizeBackward(grads, size.data<int32_t>()[0],
                            size.data<int32_t>()[1], attrs_.align_corners, &s));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {s.batch, s.in_h, s.in_w, s.channels}, &out));
    if (out->NumElements() == 0) return;
    const auto ys = NearestTaps(s.in_h, s.out_h, s.scale_h, attrs_);
    const auto xs = NearestTaps(s.in_w, s.out_w, s.scale_w, attrs_);
    const T* g = grads.data<T>();
    T* o = out->data<T>();
    const int64_t in_size = s.in_h * s.in_w * s.channels;
    const int64_t out_size = s.out_h * s.out_w * s.channels;
    ctx->ParallelFor(s.batch, out_size + in_size,
                     [&](int64_t begin, int64_t end) {
                       std::vector<A> sum;
                       for (int64_t b = begin; b < end; ++b) {
                         sum.assign(in_size, A(0));
                         const T* from = g + b * out_size;
                         for (const int64_t y : ys) {
                           for (const int64_t x : xs) {
                             A* to = sum.data() + (y * s.in_w + x) * s.channels;
                             for (int64_t c = 0; c < s.channels; ++c) {
                               to[c] = Combine<UpdateOp::kAdd, A>(
                                   to[c], static_cast<A>(*from++));
                             }
                           }
                         }
                         for (int64_t i = 0; i < in_size; ++i) {
                           o[b * in_size + i] = static_cast<T>(sum[i]);
                         }
                       }
                     });
  }

 private:
  ResizeAttrs attrs_;
};
#define REGISTER(T)                                         \
  REGISTER_KERNEL_BUILDER(Name("ResizeNearestNeighborGrad") \
                              .Device(DEVICE_CPU)           \
                              .TypeConstraint<T>("T"),      \
                          ResizeNearestNeighborGradOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER)
REGISTER(int8_t)
REGISTER(uint8_t)
REGISTER(int32_t)
#undef REGISTER

}  // namespace
}  // namespace headrace
