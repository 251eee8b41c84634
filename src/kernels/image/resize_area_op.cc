// ResizeArea: each output pixel is the mean of the box [i * scale, (i + 1) *
// scale) of the input, where pixels at the edge of the box count for the part
// of them that lies inside.
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/image/resize.h"

namespace headrace {
namespace {

struct Box {
  int64_t begin;
  std::vector<float> weight;
};

std::vector<Box> Boxes(int64_t out, float scale) {
  std::vector<Box> boxes(out);
  for (int64_t i = 0; i < out; ++i) {
    const float low = static_cast<float>(i) * scale;
    const float high = static_cast<float>(i + 1) * scale;
    boxes[i].begin = static_cast<int64_t>(std::floor(low));
    const auto end = static_cast<int64_t>(std::ceil(high));
    for (int64_t k = boxes[i].begin; k < end; ++k) {
      const float left = static_cast<float>(k), right = left + 1;
      boxes[i].weight.push_back(left < low
                                    ? (right > high ? scale : right - low)
                                    : (right > high ? high - left : 1.0f));
    }
  }
  return boxes;
}

template <typename T>
class ResizeAreaOp : public ResizeOp {
 public:
  using ResizeOp::ResizeOp;

 private:
  void Resize(OpKernelContext* ctx, const Tensor& images, const ResizeShape& s,
              Tensor* out) override {
    const std::vector<Box> ys = Boxes(s.out_h, s.scale_h);
    const std::vector<Box> xs = Boxes(s.out_w, s.scale_w);
    const float norm = 1.0f / (s.scale_h * s.scale_w);
    const T* in = images.data<T>();
    float* o = out->data<float>();
    const int64_t row = s.in_w * s.channels;
    ctx->ParallelFor(
        s.batch * s.out_h,
        2.0 * (s.scale_h + 1) * (s.out_w + s.in_w) * s.channels,
        [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const T* image = in + r / s.out_h * s.in_h * row;
            const Box& y = ys[r % s.out_h];
            float* to = o + r * s.out_w * s.channels;
            std::fill(to, to + s.out_w * s.channels, 0.0f);
            for (size_t j = 0; j < y.weight.size(); ++j) {
              const T* from =
                  image + std::clamp<int64_t>(y.begin + j, 0, s.in_h - 1) * row;
              AddRow(from, y.weight[j] * norm, xs, s, to);
            }
          }
        });
  }

  static void AddRow(const T* from, float weight, const std::vector<Box>& xs,
                     const ResizeShape& s, float* to) {
    for (const Box& x : xs) {
      for (size_t i = 0; i < x.weight.size(); ++i) {
        const T* pixel =
            from + std::clamp<int64_t>(x.begin + i, 0, s.in_w - 1) * s.channels;
        const float w = weight * x.weight[i];
        for (int64_t c = 0; c < s.channels; ++c) {
          to[c] += static_cast<float>(pixel[c]) * w;
        }
      }
      to += s.channels;
    }
  }
};

#define REGISTER(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("ResizeArea").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ResizeAreaOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER)
HR_CALL_SIGNED_INT_TYPES(REGISTER)
REGISTER(uint8_t)
REGISTER(uint16_t)
#undef REGISTER

}  // namespace
}  // namespace headrace
