// RGBToHSV, HSVToRGB, AdjustHue, AdjustSaturation: pixel by pixel on a last
// dimension of 3, values in [0, 1], hue in turns. A grey pixel has hue and
// saturation 0. AdjustContrastv2 moves each channel of an image away from its
// own mean over height and width.
#include <algorithm>
#include <cmath>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/scalar_update.h"

namespace headrace {
namespace {

template <typename A>
struct Pixel {
  A x, y, z;
};

// In turns, [0, 1).
template <typename A>
A Hue(Pixel<A> p) {
  const A r = p.x, g = p.y, b = p.z;
  const A v = std::max({r, g, b});
  const A range = v - std::min({r, g, b});
  if (!(range > 0)) return A(0);
  const A norm = A(1) / (A(6) * range);
  const A h = r == v   ? norm * (g - b)
              : g == v ? norm * (b - r) + A(2) / A(6)
                       : norm * (r - g) + A(4) / A(6);
  return h < 0 ? h + A(1) : h;
}

// The colour of a hue with full saturation and value.
template <typename A>
Pixel<A> PureColour(A hue) {
  const A h = hue * A(6);
  auto unit = [](A x) { return std::min(std::max(x, A(0)), A(1)); };
  return {unit(std::abs(h - A(3)) - A(1)), unit(A(2) - std::abs(h - A(2))),
          unit(A(2) - std::abs(h - A(4)))};
}

template <typename A>
Pixel<A> RgbToHsv(Pixel<A> p) {
  const A v = std::max({p.x, p.y, p.z});
  const A range = v - std::min({p.x, p.y, p.z});
  return {Hue(p), v > 0 ? range / v : A(0), v};
}

template <typename A>
Pixel<A> HsvToRgb(Pixel<A> p) {
  const A s = p.y, v = p.z;
  const Pixel<A> pure = PureColour(p.x);
  return {(A(1) - s + s * pure.x) * v, (A(1) - s + s * pure.y) * v,
          (A(1) - s + s * pure.z) * v};
}

struct ToHsv {
  template <typename A>
  Pixel<A> operator()(Pixel<A> p) const {
    return RgbToHsv(p);
  }
};
struct ToRgb {
  template <typename A>
  Pixel<A> operator()(Pixel<A> p) const {
    return HsvToRgb(p);
  }
};
// Does not use HSV. Using the range of a pixel's values instead of saturation
// and value also gives correct results for negative values.
struct TurnHue {
  float by;
  template <typename A>
  Pixel<A> operator()(Pixel<A> p) const {
    const A low = std::min({p.x, p.y, p.z});
    const A range = std::max({p.x, p.y, p.z}) - low;
    A h = Hue(p) + A(by);
    h -= std::floor(h);
    const Pixel<A> pure = PureColour(h);
    return {low + range * pure.x, low + range * pure.y, low + range * pure.z};
  }
};
struct ScaleSaturation {
  float by;
  template <typename A>
  Pixel<A> operator()(Pixel<A> p) const {
    Pixel<A> hsv = RgbToHsv(p);
    hsv.y = std::min(A(1), std::max(A(0), hsv.y * A(by)));
    return HsvToRgb(hsv);
  }
};

// Applies `f` to every pixel of input 0.
template <typename T, typename F>
void MapPixels(OpKernelContext* ctx, const F& f) {
  using A = std::conditional_t<kIsSmallFloat<T>, float, T>;
  const Tensor& in = ctx->input(0);
  OP_REQUIRES(ctx, in.dims() >= 1 && in.dim_size(in.dims() - 1) == 3,
              errors::InvalidArgument(
                  "images must have a last dimension of size 3, got ",
                  in.shape().DebugString()));
  Tensor* out = nullptr;
  OP_REQUIRES_OK(
      ctx, ctx->forward_input_or_allocate_output({0}, 0, in.shape(), &out));
  const T* i = in.data<T>();
  T* o = out->data<T>();
  ctx->ParallelFor(in.NumElements() / 3, 12, [&](int64_t begin, int64_t end) {
    for (int64_t p = 3 * begin; p < 3 * end; p += 3) {
      const Pixel<A> to =
          f(Pixel<A>{static_cast<A>(i[p]), static_cast<A>(i[p + 1]),
                     static_cast<A>(i[p + 2])});
      o[p] = static_cast<T>(to.x);
      o[p + 1] = static_cast<T>(to.y);
      o[p + 2] = static_cast<T>(to.z);
    }
  });
}

Status ScalarInput(OpKernelContext* ctx, const char* name, float* v) {
  const Tensor& t = ctx->input(1);
  if (t.dims() != 0) {
    return errors::InvalidArgument(
        name, " must be scalar: ", t.shape().DebugString());
  }
  *v = t.scalar<float>();
  return OkStatus();
}

Status CheckImages(const Tensor& images) {
  if (images.dims() >= 3) return OkStatus();
  return errors::InvalidArgument("input must be at least 3-D, got shape",
                                 images.shape().DebugString());
}

template <typename T, typename F>
class ColorspaceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override { MapPixels<T>(ctx, F()); }
};

template <typename T>
class AdjustHueOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    float delta = 0;
    OP_REQUIRES_OK(ctx, CheckImages(ctx->input(0)));
    OP_REQUIRES_OK(ctx, ScalarInput(ctx, "delta", &delta));
    MapPixels<T>(ctx, TurnHue{delta});
  }
};

template <typename T>
class AdjustSaturationOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    float scale = 0;
    OP_REQUIRES_OK(ctx, CheckImages(ctx->input(0)));
    OP_REQUIRES_OK(ctx, ScalarInput(ctx, "scale", &scale));
    MapPixels<T>(ctx, ScaleSaturation{scale});
  }
};

template <typename T>
class AdjustContrastOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& images = ctx->input(0);
    float factor = 0;
    OP_REQUIRES_OK(ctx, CheckImages(images));
    OP_REQUIRES_OK(ctx, ScalarInput(ctx, "contrast_factor", &factor));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, images.shape(), &out));
    if (out->NumElements() == 0) return;
    const int rank = images.dims();
    const int64_t channels = images.dim_size(rank - 1);
    const int64_t size = images.dim_size(rank - 3) * images.dim_size(rank - 2);
    const int64_t batch = images.NumElements() / (size * channels);
    const T* in = images.data<T>();
    T* o = out->data<T>();
    ctx->ParallelFor(batch, 2.0 * size * channels,
                     [&](int64_t begin, int64_t end) {
                       for (int64_t b = begin; b < end; ++b) {
                         Image(in + b * size * channels, size, channels, factor,
                               o + b * size * channels);
                       }
                     });
  }

 private:
  // Sums in double: a plain float sum over a large image loses digits.
  static void Image(const T* in, int64_t size, int64_t channels, float factor,
                    T* out) {
    std::vector<double> sum(channels, 0.0);
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t c = 0; c < channels; ++c) {
        sum[c] += static_cast<float>(in[i * channels + c]);
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      const auto mean = static_cast<float>(sum[c] / static_cast<double>(size));
      for (int64_t i = c; i < size * channels; i += channels) {
        out[i] =
            static_cast<T>((static_cast<float>(in[i]) - mean) * factor + mean);
      }
    }
  }
};

#define REGISTER_ONE(OP, T, ...)                                              \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          __VA_ARGS__)
#define REGISTER(T)                                    \
  REGISTER_ONE("RGBToHSV", T, ColorspaceOp<T, ToHsv>); \
  REGISTER_ONE("HSVToRGB", T, ColorspaceOp<T, ToRgb>);
HR_CALL_FLOAT_TYPES(REGISTER)
#define REGISTER_ADJUST(T)                                    \
  REGISTER_ONE("AdjustHue", T, AdjustHueOp<T>);               \
  REGISTER_ONE("AdjustSaturation", T, AdjustSaturationOp<T>); \
  REGISTER_ONE("AdjustContrastv2", T, AdjustContrastOp<T>);
REGISTER_ADJUST(half)
REGISTER_ADJUST(float)
#undef REGISTER_ONE
#undef REGISTER
#undef REGISTER_ADJUST

}  // namespace
}  // namespace headrace
