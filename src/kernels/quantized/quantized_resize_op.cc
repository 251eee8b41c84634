// QuantizedResizeBilinear. Four pixels are mixed in fixed point, with weights
// of 7 bits behind the point for numbers of 8 bits and of 30 for those of 32,
// which TensorFlow rounds to float first. The range stays, so that nothing is
// converted.
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/image/resize.h"
#include "kernels/lib/quantized_range.h"

namespace headrace {
namespace {

struct FloatMix {
  using Stored = float;
  using Weight = float;
  static Weight ToWeight(float w) { return w; }
  static float Mix(float tl, float tr, float bl, float br, float x, float y) {
    const float top = tl + (tr - tl) * x, bottom = bl + (br - bl) * x;
    return top + (bottom - top) * y;
  }
};

template <typename T, int kBits>
struct FixedMix {
  using Stored = T;
  using Weight = int64_t;
  static constexpr int64_t kOne = int64_t{1} << kBits;
  static Weight ToWeight(float w) {
    return static_cast<int64_t>(w * static_cast<float>(kOne));
  }
  // Below 2^63: a number has 32 bits at most, a weight 30.
  static int64_t Read(T v) {
    if constexpr (sizeof(T) == 1) return v;
    return static_cast<int64_t>(static_cast<float>(v));
  }
  static T Mix(T tl, T tr, T bl, T br, int64_t x, int64_t y) {
    const int64_t top = Read(tl) * kOne + (Read(tr) - Read(tl)) * x;
    const int64_t bottom = Read(bl) * kOne + (Read(br) - Read(bl)) * x;
    const int64_t both = top + (bottom - top) / kOne * y;
    // 2^31 - 1 was rounded up.
    return static_cast<T>(std::clamp<int64_t>((both + kOne / 2) / kOne,
                                              std::numeric_limits<T>::min(),
                                              std::numeric_limits<T>::max()));
  }
};

template <typename M>
class QuantizedResizeBilinearOp : public OpKernel {
  using T = typename M::Stored;
  struct Tap {
    int64_t low, high;
    typename M::Weight weight;
  };

 public:
  explicit QuantizedResizeBilinearOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Init(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& images = ctx->input(0);
    ResizeShape s;
    OP_REQUIRES_OK(
        ctx, ResizeForward(images, ctx->input(1), attrs_.align_corners, &s));
    for (const int i : {2, 3}) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 0,
                  errors::InvalidArgument(i == 2 ? "min" : "max",
                                          " must be a scalar, got shape ",
                                          ctx->input(i).shape().DebugString()));
      ctx->set_output(i - 1, ctx->input(i));
    }
    if (s.in_h == s.out_h && s.in_w == s.out_w) {
      ctx->set_output(0, images);
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {s.batch, s.out_h, s.out_w, s.channels}, &out));
    if (out->NumElements() == 0) return;
    const auto ys = Taps(s.in_h, s.out_h, s.scale_h);
    const auto xs = Taps(s.in_w, s.out_w, s.scale_w);
    const T* const in = static_cast<const T*>(images.raw_data());
    T* const o = static_cast<T*>(out->raw_data());
    const int64_t in_row = s.in_w * s.channels, out_row = s.out_w * s.channels;
    ctx->ParallelFor(
        s.batch * s.out_h, 4.0 * static_cast<double>(out_row),
        [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const Tap& y = ys[r % s.out_h];
            const T* const image = in + r / s.out_h * s.in_h * in_row;
            const T* const top = image + y.low * in_row;
            const T* const bottom = image + y.high * in_row;
            T* to = o + r * out_row;
            for (const Tap& x : xs) {
              const int64_t l = x.low * s.channels, h = x.high * s.channels;
              for (int64_t c = 0; c < s.channels; ++c) {
                *to++ = M::Mix(top[l + c], top[h + c], bottom[l + c],
                               bottom[h + c], x.weight, y.weight);
              }
            }
          }
        });
  }

 private:
  std::vector<Tap> Taps(int64_t in, int64_t out, float scale) const {
    std::vector<Tap> taps;
    taps.reserve(out);
    for (const LinearTap& t :
         LinearTaps(in, out, scale, attrs_.half_pixel_centers)) {
      taps.push_back({t.low, t.high, M::ToWeight(t.weight)});
    }
    return taps;
  }

  ResizeAttrs attrs_;
};

#define HR_REGISTER(T, ...)                               \
  REGISTER_KERNEL_BUILDER(Name("QuantizedResizeBilinear") \
                              .Device(DEVICE_CPU)         \
                              .TypeConstraint<T>("T"),    \
                          QuantizedResizeBilinearOp<__VA_ARGS__>)
HR_REGISTER(float, FloatMix);
HR_REGISTER(quint8, FixedMix<uint8_t, 7>);
HR_REGISTER(qint32, FixedMix<int32_t, 30>);
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
