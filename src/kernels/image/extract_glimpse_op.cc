// ExtractGlimpse and V2: one window per image of a batch, at the offset (y, x).
// `normalized`: offsets are in units of the image's size. `centered`: they
// count from the middle, from -1 to 1. The offset is the window's middle. In V2
// it is the window's first pixel, unless offsets are normalised and centred.
// Pixels outside the image are noise: uniform over the image's range, normal
// with each channel's mean and deviation, or zero.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

enum class GlimpseNoise { kUniform, kGaussian, kZero };

class ExtractGlimpseOp : public OpKernel {
 public:
  explicit ExtractGlimpseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    bool uniform_noise;
    std::string noise;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("centered", &centered_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("normalized", &normalized_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("uniform_noise", &uniform_noise));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("noise", &noise));
    OP_REQUIRES(ctx, !uniform_noise || noise == "uniform",
                errors::InvalidArgument("The uniform_noise and noise could not "
                                        "be specified at the same time: noise "
                                        "is '",
                                        noise, "'"));
    OP_REQUIRES(ctx,
                noise == "uniform" || noise == "gaussian" || noise == "zero",
                errors::InvalidArgument(
                    "The noise could only be uniform, gaussian, or zero, got '",
                    noise, "'"));
    noise_ = noise == "uniform"    ? GlimpseNoise::kUniform
             : noise == "gaussian" ? GlimpseNoise::kGaussian
                                   : GlimpseNoise::kZero;
    second_version_ = type_string() == "ExtractGlimpseV2";
    generator_.Init(0, 0);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &size = ctx->input(1),
                 &offsets = ctx->input(2);
    OP_REQUIRES(ctx, in.dims() == 4,
                errors::InvalidArgument("input must be 4-dimensional, got "
                                        "shape ",
                                        in.shape().DebugString()));
    OP_REQUIRES(
        ctx, size.dims() == 1 && size.dim_size(0) == 2,
        errors::InvalidArgument("input must be a vector of size 2 (height, "
                                "width), got shape ",
                                size.shape().DebugString()));
    const int64_t batch = in.dim_size(0), channels = in.dim_size(3);
    OP_REQUIRES(
        ctx,
        offsets.dims() == 2 && offsets.dim_size(0) == batch &&
            offsets.dim_size(1) == 2,
        errors::InvalidArgument("offsets must be [", batch, ", 2], got shape ",
                                offsets.shape().DebugString()));
    const int64_t height = size.data<int32_t>()[0];
    const int64_t width = size.data<int32_t>()[1];
    OP_REQUIRES(ctx, height >= 0 && width >= 0,
                errors::InvalidArgument("size must not be negative, got ",
                                        height, " and ", width));
    // Offsets are float32, which cannot tell pixels apart beyond this.
    constexpr int64_t kMaxGlimpseSide = int64_t{1} << 24;
    OP_REQUIRES(ctx, std::max(height, width) <= kMaxGlimpseSide,
                errors::InvalidArgument("no side of a glimpse may exceed ",
                                        kMaxGlimpseSide, " pixels, got ",
                                        height, " x ", width));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, {batch, height, width, channels}, &out));
    if (out->NumElements() == 0) return;
    const int64_t glimpse = height * width * channels;
    const int64_t image = in.dim_size(1) * in.dim_size(2) * channels;
    Philox stream;
    if (noise_ != GlimpseNoise::kZero) {
      stream = generator_.Reserve(static_cast<Philox::Counter>(batch) *
                                  BlocksOf(glimpse));
    }
    ctx->ParallelFor(
        batch, 2.0 * static_cast<double>(glimpse),
        [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            Philox mine = stream;
            mine.Skip(static_cast<Philox::Counter>(b) * BlocksOf(glimpse));
            const float* at = offsets.data<float>() + 2 * b;
            Copy(in, in.data<float>() + b * image,
                 First(at[0], in.dim_size(1), height),
                 First(at[1], in.dim_size(2), width), height, width, mine,
                 out->data<float>() + b * glimpse);
          }
        });
  }

 private:
  // Two words of the stream for an element.
  static Philox::Counter BlocksOf(int64_t n) {
    return static_cast<Philox::Counter>(n) / 2 + 1;
  }

  // The first pixel of a window of `window` pixels, on an axis of `size`; one
  // that is far outside for offsets that are no pixels at all.
  int64_t First(float offset, int64_t size, int64_t window) const {
    const auto n = static_cast<float>(size);
    const auto half_window = static_cast<float>(window) / 2;
    if (normalized_) offset *= n;
    if (second_version_ && !(normalized_ && centered_)) {
      if (centered_ && !normalized_) offset += n / 2;
    } else {
      if (centered_) offset = offset / 2 + n / 2;
      offset -= half_window;
    }
    constexpr float kFar = 1e15f;
    if (!(std::abs(offset) < kFar)) return static_cast<int64_t>(kFar);
    return static_cast<int64_t>(offset);
  }

  void Copy(const Tensor& in, const float* image, int64_t y, int64_t x,
            int64_t height, int64_t width, const Philox& stream,
            float* out) const {
    const int64_t rows = in.dim_size(1), columns = in.dim_size(2),
                  channels = in.dim_size(3);
    const int64_t y0 = std::clamp<int64_t>(-y, 0, height);
    const int64_t y1 = std::clamp<int64_t>(rows - y, y0, height);
    const int64_t x0 = std::clamp<int64_t>(-x, 0, width);
    const int64_t x1 = std::clamp<int64_t>(columns - x, x0, width);
    if (y0 > 0 || y1 < height || x0 > 0 || x1 < width) {
      FillNoise(image, rows * columns, channels, stream, height * width, out);
    }
    for (int64_t r = y0; r < y1 && x0 < x1; ++r) {
      std::copy_n(image + ((y + r) * columns + x + x0) * channels,
                  (x1 - x0) * channels, out + (r * width + x0) * channels);
    }
  }

  void FillNoise(const float* image, int64_t pixels, int64_t channels,
                 const Philox& stream, int64_t n, float* out) const {
    PhiloxWords words(stream);
    if (noise_ == GlimpseNoise::kZero || pixels == 0) {
      std::fill(out, out + n * channels, 0.0f);
    } else if (noise_ == GlimpseNoise::kUniform) {
      const auto [low, high] =
          std::minmax_element(image, image + pixels * channels);
      for (int64_t i = 0; i < n * channels; ++i) {
        out[i] = *low + UniformFloat(words()) * (*high - *low);
      }
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < pixels; ++i) sum += image[i * channels + c];
        const double mean = sum / static_cast<double>(pixels);
        for (int64_t i = 0; i < pixels; ++i) {
          const double d = image[i * channels + c] - mean;
          squares += d * d;
        }
        const double sigma = std::sqrt(squares / static_cast<double>(pixels));
        for (int64_t i = 0; i < n; ++i) {
          const double u = std::max(1e-7f, UniformFloat(words()));
          const double v = 2 * M_PI * UniformFloat(words());
          out[i * channels + c] = static_cast<float>(
              mean + sigma * std::sqrt(-2 * std::log(u)) * std::sin(v));
        }
      }
    }
  }

  bool centered_ = true, normalized_ = true, second_version_ = false;
  GlimpseNoise noise_ = GlimpseNoise::kUniform;
  GuardedPhilox generator_;
};
REGISTER_KERNEL_BUILDER(Name("ExtractGlimpse").Device(DEVICE_CPU),
                        ExtractGlimpseOp);
REGISTER_KERNEL_BUILDER(Name("ExtractGlimpseV2").Device(DEVICE_CPU),
                        ExtractGlimpseOp);

}  // namespace
}  // namespace headrace
