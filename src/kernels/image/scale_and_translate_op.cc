// ScaleAndTranslate and its gradient: an image resampled at (i + 0.5 -
// translation) / scale, in pixels whose centres are at halves, along rows and
// then along columns. With `antialias` a kernel is widened where the image
// shrinks. Where the point lies outside the image the result is 0.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/image/resize.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

// A resampling kernel: 0 beyond its radius.
struct Resampler {
  float radius;
  float (*weight)(float x, float radius);
};

float LanczosWeight(float x, float radius) {
  x = std::abs(x);
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  constexpr auto kPi = static_cast<float>(M_PI);
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) /
         (kPi * kPi * x * x);
}
float GaussianWeight(float x, float radius) {
  x = std::abs(x);
  const float sigma = radius / 3;
  return x >= radius ? 0 : std::exp(-x * x / (2 * sigma * sigma));
}
float BoxWeight(float x, float) {
  x = std::abs(x);
  return x < 0.5f ? 1 : x == 0.5f ? 0.5f : 0;
}
float TriangleWeight(float x, float) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}
float KeysCubicWeight(float x, float) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return (1.5f * x - 2.5f) * x * x + 1;
}
float MitchellCubicWeight(float x, float) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) {
    return ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  }
  return (7.0f / 6 * x - 2) * x * x + 8.0f / 9;
}

Status FindResampler(const std::string& name, Resampler* out) {
  const struct {
    const char* name;
    Resampler kernel;
  } known[] = {
      {"lanczos1", {1, LanczosWeight}},
      {"lanczos3", {3, LanczosWeight}},
      {"lanczos5", {5, LanczosWeight}},
      {"gaussian", {1.5f, GaussianWeight}},
      {"box", {0.5f, BoxWeight}},
      {"triangle", {1, TriangleWeight}},
      {"keyscubic", {2, KeysCubicWeight}},
      {"mitchellcubic", {2, MitchellCubicWeight}},
  };
  for (const auto& k : known) {
    if (name != k.name) continue;
    *out = k.kernel;
    return OkStatus();
  }
  return errors::InvalidArgument("Unrecognized kernel type: ", name);
}

// Beyond this float32 coordinates cannot tell neighbouring pixels apart.
constexpr int64_t kMaxResampledSide = int64_t{1} << 24;

// One axis: output i is the sum of `size` inputs from starts[i], weighted;
// the last of them may be 0, and lie outside.
struct Spans {
  int64_t in = 0, out = 0, size = 0;
  Tensor start_tensor, weight_tensor;
  int64_t* starts() { return start_tensor.data<int64_t>(); }
  float* weights(int64_t i) { return weight_tensor.data<float>() + i * size; }
};

Status MakeSpans(OpKernelContext* ctx, const Resampler& kernel, int64_t in,
                 int64_t out, float scale, float translation, bool antialias,
                 Spans* spans) {
  if (std::max(in, out) > kMaxResampledSide) {
    return errors::InvalidArgument("no side of an image may exceed ",
                                   kMaxResampledSide, " pixels, got ", in,
                                   " to become ", out);
  }
  const float step = 1 / scale;
  const float shift = -step * translation;
  const float widened = antialias ? std::max(step, 1.0f) : 1.0f;
  const float reach = kernel.radius * widened;
  const auto last = static_cast<float>(in - 1);
  spans->in = in;
  spans->out = out;
  spans->size =
      reach < last
          ? std::min(2 * static_cast<int64_t>(std::ceil(reach)) + 1, in)
          : in;
  HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_INT64, {out}, &spans->start_tensor));
  HR_RETURN_IF_ERROR(
      ctx->allocate_temp(DT_FLOAT, {out, spans->size}, &spans->weight_tensor));
  ZeroElements(&spans->start_tensor);
  ZeroElements(&spans->weight_tensor);
  for (int64_t i = 0; i < out; ++i) {
    const float at = (static_cast<float>(i) + 0.5f) * step + shift;
    if (!(at >= 0 && at <= static_cast<float>(in))) continue;
    const auto first = static_cast<int64_t>(
        std::clamp(std::ceil(at - reach - 0.5f), 0.0f, last));
    const auto end = static_cast<int64_t>(std::clamp(
                         std::floor(at + reach - 0.5f), 0.0f, last)) +
                     1;
    const int64_t n = std::min(end - first, spans->size);
    float* const w = spans->weights(i);
    float sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      const float x = static_cast<float>(first + k) + 0.5f - at;
      w[k] = kernel.weight(x * (1 / widened), kernel.radius);
      sum += w[k];
    }
    spans->starts()[i] = first;
    const bool vanishes =
        !(std::abs(sum) >= 1000 * std::numeric_limits<float>::min());
    for (int64_t k = 0; k < n; ++k) w[k] = vanishes ? 0 : w[k] * (1 / sum);
  }
  return OkStatus();
}

struct Placement {
  float scale[2], translation[2];
};

// Inputs `first` and first + 1: (y, x) each.
Status ReadPlacement(OpKernelContext* ctx, int first, Placement* out) {
  for (int k = 0; k < 2; ++k) {
    const Tensor& t = ctx->input(first + k);
    if (t.dims() != 1 || t.dim_size(0) != 2) {
      return errors::InvalidArgument(
          k == 0 ? "scale" : "translation",
          " must be a vector of two elements, got shape ",
          t.shape().DebugString());
    }
    std::copy_n(t.data<float>(), 2, k == 0 ? out->scale : out->translation);
  }
  for (float s : out->scale) {
    if (!(s > 0)) {
      return errors::InvalidArgument("Scale must be greater than zero, got ",
                                     s);
    }
  }
  return OkStatus();
}

Status CheckResampled(const Tensor& image, const char* name) {
  if (image.dims() != 4) {
    return errors::InvalidArgument(name, " must be 4-dimensional, got shape ",
                                   image.shape().DebugString());
  }
  if (image.dim_size(1) > 0 && image.dim_size(2) > 0) return OkStatus();
  return errors::InvalidArgument(name, " must be of non-zero size, got shape ",
                                 image.shape().DebugString());
}

// to[outer, a, inner] += w * from[outer, b, inner] for every pair (a, b) of an
// output and an input that a span joins: a from the spans' outputs, or with
// kBack from their inputs.
template <bool kBack, typename T>
void Resample(OpKernelContext* ctx, Spans* spans, const T* from, int64_t outer,
              int64_t inner, float* to) {
  const int64_t a_size = kBack ? spans->in : spans->out;
  const int64_t b_size = kBack ? spans->out : spans->in;
  // Backwards an input does not know its outputs: all of an image are done at
  // once.
  const int64_t units = kBack ? outer : outer * a_size;
  const double cost = static_cast<double>(spans->size) *
                      static_cast<double>(inner) *
                      (kBack ? static_cast<double>(spans->out) : 1.0);
  ctx->ParallelFor(units, cost, [&](int64_t begin, int64_t end) {
    const auto add = [&](int64_t o, int64_t i) {
      const float* w = spans->weights(i);
      const int64_t start = spans->starts()[i];
      for (int64_t k = 0; k < spans->size; ++k) {
        if (w[k] == 0) continue;
        const int64_t a = kBack ? start + k : i, b = kBack ? i : start + k;
        const T* x = from + (o * b_size + b) * inner;
        float* y = to + (o * a_size + a) * inner;
        for (int64_t c = 0; c < inner; ++c) {
          y[c] += w[k] * static_cast<float>(x[c]);
        }
      }
    };
    for (int64_t u = begin; u < end; ++u) {
      if (kBack) {
        for (int64_t i = 0; i < spans->out; ++i) add(u, i);
      } else {
        add(u / a_size, u % a_size);
      }
    }
  });
}

class ScaleAndTranslateBase : public OpKernel {
 public:
  explicit ScaleAndTranslateBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string name;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("kernel_type", &name));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("antialias", &antialias_));
    OP_REQUIRES_OK(ctx, FindResampler(name, &kernel_));
  }

 protected:
  Status BothSpans(OpKernelContext* ctx, const Tensor& in, int64_t height,
                   int64_t width, const Placement& p, Spans* rows,
                   Spans* columns) const {
    HR_RETURN_IF_ERROR(MakeSpans(ctx, kernel_, in.dim_size(1), height,
                                 p.scale[0], p.translation[0], antialias_,
                                 rows));
    return MakeSpans(ctx, kernel_, in.dim_size(2), width, p.scale[1],
                     p.translation[1], antialias_, columns);
  }

 private:
  Resampler kernel_ = {};
  bool antialias_ = true;
};

template <typename T>
class ScaleAndTranslateOp : public ScaleAndTranslateBase {
 public:
  using ScaleAndTranslateBase::ScaleAndTranslateBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &size = ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckResampled(in, "images"));
    int64_t height, width;
    OP_REQUIRES_OK(ctx, ImageSize(size, &height, &width));
    Placement p;
    OP_REQUIRES_OK(ctx, ReadPlacement(ctx, 2, &p));
    const int64_t batch = in.dim_size(0), channels = in.dim_size(3);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, {batch, height, width, channels}, &out));
    if (out->NumElements() == 0) return;
    Spans rows, columns;
    OP_REQUIRES_OK(ctx, BothSpans(ctx, in, height, width, p, &rows, &columns));
    const int64_t in_width = in.dim_size(2);
    Tensor work;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DT_FLOAT, {batch, height, in_width, channels},
                                &work));
    ZeroElements(&work);
    ZeroElements(out);
    const CancellableLoops cancellable(ctx);
    Resample<false>(ctx, &rows, in.data<T>(), batch, in_width * channels,
                    work.data<float>());
    Resample<false>(ctx, &columns, work.data<float>(), batch * height, channels,
                    out->data<float>());
  }
};
#define REGISTER_SCALE(T)                                                  \
  REGISTER_KERNEL_BUILDER(                                                 \
      Name("ScaleAndTranslate").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ScaleAndTranslateOp<T>);
REGISTER_SCALE(int8_t)
REGISTER_SCALE(uint8_t)
REGISTER_SCALE(int16_t)
REGISTER_SCALE(uint16_t)
REGISTER_SCALE(int32_t)
REGISTER_SCALE(int64_t)
REGISTER_SCALE(half)
REGISTER_SCALE(bfloat16)
REGISTER_SCALE(float)
REGISTER_SCALE(double)
#undef REGISTER_SCALE

class ScaleAndTranslateGradOp : public ScaleAndTranslateBase {
 public:
  using ScaleAndTranslateBase::ScaleAndTranslateBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor &grads = ctx->input(0), &image = ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckResampled(grads, "grads"));
    OP_REQUIRES_OK(ctx, CheckResampled(image, "original_image"));
    Placement p;
    OP_REQUIRES_OK(ctx, ReadPlacement(ctx, 2, &p));
    const int64_t batch = grads.dim_size(0), channels = grads.dim_size(3);
    const int64_t height = image.dim_size(1), width = image.dim_size(2);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, {batch, height, width, channels}, &out));
    if (out->NumElements() == 0) return;
    Spans rows, columns;
    OP_REQUIRES_OK(ctx, BothSpans(ctx, image, grads.dim_size(1),
                                  grads.dim_size(2), p, &rows, &columns));
    Tensor work;
    OP_REQUIRES_OK(
        ctx,
        ctx->allocate_temp(
            DT_FLOAT, {batch, height, grads.dim_size(2), channels}, &work));
    ZeroElements(&work);
    ZeroElements(out);
    const CancellableLoops cancellable(ctx);
    Resample<true>(ctx, &rows, grads.data<float>(), batch,
                   grads.dim_size(2) * channels, work.data<float>());
    Resample<true>(ctx, &columns, work.data<float>(), batch * height, channels,
                   out->data<float>());
  }
};
REGISTER_KERNEL_BUILDER(
    Name("ScaleAndTranslateGrad").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    ScaleAndTranslateGradOp);

}  // namespace
}  // namespace headrace
