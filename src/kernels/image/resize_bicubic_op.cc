// ResizeBicubic and its gradient: 4 x 4 input pixels weigh in on each output
// pixel, columns first. What a tap beyond the image counts for differs between
// the two modes; see CubicTaps.
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/image/resize.h"

namespace headrace {
namespace {

template <typename T>
class ResizeBicubicOp : public ResizeOp {
 public:
  using ResizeOp::ResizeOp;

 private:
  void Resize(OpKernelContext* ctx, const Tensor& images, const ResizeShape& s,
              Tensor* out) override {
    const auto ys =
        CubicTaps(s.in_h, s.out_h, s.scale_h, attrs().half_pixel_centers);
    const auto xs =
        CubicTaps(s.in_w, s.out_w, s.scale_w, attrs().half_pixel_centers);
    const T* in = images.data<T>();
    float* o = out->data<float>();
    const int64_t row = s.in_w * s.channels;
    ctx->ParallelFor(
        s.batch * s.out_h, 6.0 * s.out_w * s.channels + 3.0 * row,
        [&](int64_t begin, int64_t end) {
          std::vector<float> column(row);  // the four rows mixed into one
          for (int64_t r = begin; r < end; ++r) {
            const T* image = in + r / s.out_h * s.in_h * row;
            const CubicTap& y = ys[r % s.out_h];
            const T* v[4];
            for (int k = 0; k < 4; ++k) v[k] = image + y.index[k] * row;
            for (int64_t i = 0; i < row; ++i) {
              column[i] = static_cast<float>(v[0][i]) * y.weight[0] +
                          static_cast<float>(v[1][i]) * y.weight[1] +
                          static_cast<float>(v[2][i]) * y.weight[2] +
                          static_cast<float>(v[3][i]) * y.weight[3];
            }
            float* to = o + r * s.out_w * s.channels;
            for (const CubicTap& x : xs) {
              const float* h[4];
              for (int k = 0; k < 4; ++k) {
                h[k] = column.data() + x.index[k] * s.channels;
              }
              for (int64_t c = 0; c < s.channels; ++c) {
                *to++ = h[0][c] * x.weight[0] + h[1][c] * x.weight[1] +
                        h[2][c] * x.weight[2] + h[3][c] * x.weight[3];
              }
            }
          }
        });
  }
};

template <typename T>
class ResizeBicubicGradOp : public ResizeGradOp {
 public:
  using ResizeGradOp::ResizeGradOp;

 private:
  void SumGradients(OpKernelContext* ctx, const Tensor& grads,
                    const ResizeShape& s, Tensor* out) override {
    const auto ys =
        CubicTaps(s.in_h, s.out_h, s.scale_h, attrs().half_pixel_centers);
    const auto xs =
        CubicTaps(s.in_w, s.out_w, s.scale_w, attrs().half_pixel_centers);
    SumPerImage<float, T, T>(ctx, s, 20.0 * s.out_h * s.out_w * s.channels,
                             grads, out, [&](const float* from, T* to) {
                               for (const CubicTap& y : ys) {
                                 for (const CubicTap& x : xs) {
                                   Add(from, y, x, s, to);
                                   from += s.channels;
                                 }
                               }
                             });
  }

  // The share of one pixel in the sums of the sixteen that it was made of.
  static void Add(const float* from, const CubicTap& y, const CubicTap& x,
                  const ResizeShape& s, T* to) {
    for (int j = 0; j < 4; ++j) {
      for (int i = 0; i < 4; ++i) {
        T* at = to + (y.index[j] * s.in_w + x.index[i]) * s.channels;
        const T w = T(y.weight[j]) * T(x.weight[i]);
        for (int64_t c = 0; c < s.channels; ++c) at[c] += T(from[c]) * w;
      }
    }
  }
};

#define REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                             \
      Name("ResizeBicubic").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ResizeBicubicOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER)
HR_CALL_SIGNED_INT_TYPES(REGISTER)
REGISTER(uint8_t)
REGISTER(uint16_t)
REGISTER_KERNEL_BUILDER(
    Name("ResizeBicubicGrad").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    ResizeBicubicGradOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("ResizeBicubicGrad").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    ResizeBicubicGradOp<double>);
#undef REGISTER

}  // namespace
}  // namespace headrace
