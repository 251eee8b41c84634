// ResizeBilinear and its gradient. Each output pixel mixes four input pixels;
// the output is float whatever the input is. The gradient adds each output's
// share to the same four pixels, in order, one image at a time, so that its
// sums do not depend on threads.
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/image/resize.h"

namespace headrace {
namespace {

template <typename T>
class ResizeBilinearOp : public ResizeOp {
 public:
  using ResizeOp::ResizeOp;

 private:
  void Resize(OpKernelContext* ctx, const Tensor& images, const ResizeShape& s,
              Tensor* out) override {
    const auto ys =
        LinearTaps(s.in_h, s.out_h, s.scale_h, attrs().half_pixel_centers);
    const auto xs =
        LinearTaps(s.in_w, s.out_w, s.scale_w, attrs().half_pixel_centers);
    const T* in = images.data<T>();
    float* o = out->data<float>();
    const int64_t in_row = s.in_w * s.channels, out_row = s.out_w * s.channels;
    ctx->ParallelFor(s.batch * s.out_h, 3.0 * out_row,
                     [&](int64_t begin, int64_t end) {
                       for (int64_t r = begin; r < end; ++r) {
                         const T* image = in + r / s.out_h * s.in_h * in_row;
                         const LinearTap& y = ys[r % s.out_h];
                         Row(image + y.low * in_row, image + y.high * in_row,
                             y.weight, xs, s.channels, o + r * out_row);
                       }
                     });
  }

  static void Row(const T* top, const T* bottom, float y,
                  const std::vector<LinearTap>& xs, int64_t channels,
                  float* out) {
    for (const LinearTap& x : xs) {
      const int64_t l = x.low * channels, h = x.high * channels;
      for (int64_t c = 0; c < channels; ++c) {
        const float tl = static_cast<float>(top[l + c]);
        const float tr = static_cast<float>(top[h + c]);
        const float bl = static_cast<float>(bottom[l + c]);
        const float br = static_cast<float>(bottom[h + c]);
        const float t = tl + (tr - tl) * x.weight;
        const float b = bl + (br - bl) * x.weight;
        *out++ = t + (b - t) * y;
      }
    }
  }
};

// A is the type of sums, T the type of results.
template <typename T, typename A>
class ResizeBilinearGradOp : public ResizeGradOp {
 public:
  using ResizeGradOp::ResizeGradOp;

 private:
  void SumGradients(OpKernelContext* ctx, const Tensor& grads,
                    const ResizeShape& s, Tensor* out) override {
    const auto ys =
        LinearTaps(s.in_h, s.out_h, s.scale_h, attrs().half_pixel_centers);
    const auto xs =
        LinearTaps(s.in_w, s.out_w, s.scale_w, attrs().half_pixel_centers);
    SumPerImage<float, A, T>(
        ctx, s, 4.0 * s.out_h * s.out_w * s.channels, grads, out,
        [&](const float* g, A* sum) { Image(g, s, ys, xs, sum); });
  }

  static void Image(const float* g, const ResizeShape& s,
                    const std::vector<LinearTap>& ys,
                    const std::vector<LinearTap>& xs, A* sum) {
    for (const LinearTap& y : ys) {
      A* top = sum + y.low * s.in_w * s.channels;
      A* bottom = sum + y.high * s.in_w * s.channels;
      for (const LinearTap& x : xs) {
        const int64_t l = x.low * s.channels, h = x.high * s.channels;
        for (int64_t c = 0; c < s.channels; ++c) {
          const A d = *g++;
          const A up = d * (A(1) - y.weight), down = d * A(y.weight);
          top[l + c] += up * (A(1) - x.weight);
          top[h + c] += up * x.weight;
          bottom[l + c] += down * (A(1) - x.weight);
          bottom[h + c] += down * x.weight;
        }
      }
    }
  }
};

#define REGISTER(T)                                                     \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("ResizeBilinear").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ResizeBilinearOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER)
HR_CALL_SIGNED_INT_TYPES(REGISTER)
REGISTER(uint8_t)
REGISTER(uint16_t)
#define REGISTER_GRAD(T, A)                                                 \
  REGISTER_KERNEL_BUILDER(                                                  \
      Name("ResizeBilinearGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ResizeBilinearGradOp<T, A>)
REGISTER_GRAD(half, float);
REGISTER_GRAD(bfloat16, float);
REGISTER_GRAD(float, float);
REGISTER_GRAD(double, double);
#undef REGISTER
#undef REGISTER_GRAD

}  // namespace
}  // namespace headrace
