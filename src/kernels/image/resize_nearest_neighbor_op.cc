// ResizeNearestNeighbor copies one input pixel to each output pixel, of any
// type; its gradient adds up the outputs that a pixel was copied to.
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/image/resize.h"
#include "kernels/lib/scalar_update.h"

namespace headrace {
namespace {

class ResizeNearestNeighborOp : public ResizeOp {
 public:
  using ResizeOp::ResizeOp;

 private:
  void Resize(OpKernelContext* ctx, const Tensor& images, const ResizeShape& s,
              Tensor* out) override {
    const auto ys = NearestTaps(s.in_h, s.out_h, s.scale_h, attrs());
    const auto xs = NearestTaps(s.in_w, s.out_w, s.scale_w, attrs());
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
};
REGISTER_KERNEL_BUILDER(Name("ResizeNearestNeighbor").Device(DEVICE_CPU),
                        ResizeNearestNeighborOp);

template <typename T>
class ResizeNearestNeighborGradOp : public ResizeGradOp {
 public:
  using A = std::conditional_t<kIsSmallFloat<T>, float, T>;

  using ResizeGradOp::ResizeGradOp;

 private:
  // Input 1 is the original size.
  Status ReadShape(const OpKernelContext& ctx, ResizeShape* s) const override {
    const Tensor& size = ctx.input(1);
    if (size.dims() != 1 || size.dim_size(0) != 2) {
      return errors::InvalidArgument(
          "size must be a vector of 2 numbers, height and width, got shape ",
          size.shape().DebugString());
    }
    return ResizeBackward(ctx.input(0), size.data<int32_t>()[0],
                          size.data<int32_t>()[1], attrs().align_corners, s);
  }
  void SumGradients(OpKernelContext* ctx, const Tensor& grads,
                    const ResizeShape& s, Tensor* out) override {
    const auto ys = NearestTaps(s.in_h, s.out_h, s.scale_h, attrs());
    const auto xs = NearestTaps(s.in_w, s.out_w, s.scale_w, attrs());
    SumPerImage<T, A, T>(ctx, s, s.out_h * s.out_w * s.channels, grads, out,
                         [&](const T* from, A* sum) {
                           for (const int64_t y : ys) {
                             for (const int64_t x : xs) {
                               A* to = sum + (y * s.in_w + x) * s.channels;
                               for (int64_t c = 0; c < s.channels; ++c) {
                                 to[c] = Combine<UpdateOp::kAdd, A>(
                                     to[c], static_cast<A>(*from++));
                               }
                             }
                           }
                         });
  }
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
