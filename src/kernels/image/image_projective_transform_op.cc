// ImageProjectiveTransformV2 and V3: output pixel (x, y) is the input at
//   ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k),  k = c0 x + c1 y + 1.
// A point outside the image is moved inside by fill_mode (REFLECT, WRAP,
// NEAREST), or (CONSTANT) takes the fill value, of which bilinear interpolation
// takes a share at the border.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "headrace/op_kernel.h"
#include "kernels/image/resize.h"
#include "kernels/lib/cancellable_loops.h"

namespace headrace {
namespace {

enum class FillMode { kConstant, kReflect, kWrap, kNearest };

Status ParseFillMode(const std::string& s, FillMode* out) {
  if (s == "CONSTANT") {
    *out = FillMode::kConstant;
  } else if (s == "REFLECT") {
    *out = FillMode::kReflect;
  } else if (s == "WRAP") {
    *out = FillMode::kWrap;
  } else if (s == "NEAREST") {
    *out = FillMode::kNearest;
  } else {
    return errors::InvalidArgument(
        "fill_mode must be CONSTANT, REFLECT, WRAP or NEAREST, got '", s, "'");
  }
  return OkStatus();
}

// Moves coordinate x into [0, size - 1]. NaN stays.
float MoveInside(FillMode mode, float x, int64_t size) {
  if (mode == FillMode::kConstant || std::isnan(x)) return x;
  const auto last = static_cast<float>(size - 1);
  const auto n = static_cast<float>(size);
  if (size <= 1 && mode != FillMode::kNearest) return 0;
  if (mode == FillMode::kReflect) {
    const float period = 2 * n;
    if (x < 0) {
      x += period * std::trunc(-x / period);
      x = x < -n ? x + period : -x - 1;
    } else if (x > last) {
      x -= period * std::trunc(x / period);
      if (x >= n) x = period - x - 1;
    }
  } else if (mode == FillMode::kWrap) {
    // Steps of the size, counted in steps of one less, as TensorFlow has it.
    if (x < 0) {
      x += n * (std::trunc(-x / last) + 1);
    } else if (x > last) {
      x -= n * std::trunc(x / last);
    }
  }
  return std::max(0.0f, std::min(last, x));
}

// Saturates; 0 for NaN in integers.
template <typename T>
T ToPixel(float v) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(v)) return 0;
    constexpr auto kLow = static_cast<float>(std::numeric_limits<T>::min());
    constexpr auto kHigh = static_cast<float>(std::numeric_limits<T>::max());
    if (v <= kLow) return std::numeric_limits<T>::min();
    if (v >= kHigh) return std::numeric_limits<T>::max();
  }
  return static_cast<T>(v);
}

template <typename T>
class ImageProjectiveTransformOp : public OpKernel {
 public:
  explicit ImageProjectiveTransformOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    std::string interpolation, mode;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("interpolation", &interpolation));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("fill_mode", &mode));
    OP_REQUIRES(ctx, interpolation == "NEAREST" || interpolation == "BILINEAR",
                errors::InvalidArgument("interpolation must be NEAREST or "
                                        "BILINEAR, got '",
                                        interpolation, "'"));
    bilinear_ = interpolation == "BILINEAR";
    OP_REQUIRES_OK(ctx, ParseFillMode(mode, &mode_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &images = ctx->input(0), &transforms = ctx->input(1),
                 &size = ctx->input(2);
    OP_REQUIRES(
        ctx, images.dims() == 4,
        errors::InvalidArgument("Input images must have rank 4, got shape ",
                                images.shape().DebugString()));
    OP_REQUIRES(ctx,
                transforms.dims() == 2 && transforms.dim_size(1) == 8 &&
                    (transforms.dim_size(0) == 1 ||
                     transforms.dim_size(0) == images.dim_size(0)),
                errors::InvalidArgument(
                    "Input transform should be num_images x 8 or 1 x 8, got "
                    "shape ",
                    transforms.shape().DebugString(), " for images of shape ",
                    images.shape().DebugString()));
    int64_t height, width;
    OP_REQUIRES_OK(ctx, ImageSize(size, &height, &width));
    // Beyond this float32 coordinates cannot tell neighbouring pixels apart.
    constexpr int64_t kMaxOutputSide = int64_t{1} << 24;
    OP_REQUIRES(ctx, std::max(height, width) <= kMaxOutputSide,
                errors::InvalidArgument("no side of the output may exceed ",
                                        kMaxOutputSide, " pixels, got ", height,
                                        " x ", width));
    float fill = 0;
    if (ctx->num_inputs() > 3) {
      const Tensor& t = ctx->input(3);
      OP_REQUIRES(ctx, t.dims() == 0,
                  errors::InvalidArgument("fill_value must be a scalar, got "
                                          "shape ",
                                          t.shape().DebugString()));
      fill = t.scalar<float>();
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx,
        ctx->allocate_output(
            0, {images.dim_size(0), height, width, images.dim_size(3)}, &out));
    if (out->NumElements() == 0) return;
    const int64_t channels = images.dim_size(3);
    const int64_t step = transforms.dim_size(0) == 1 ? 0 : 8;
    const CancellableLoops cancellable(ctx);
    ctx->ParallelFor(images.dim_size(0) * height,
                     static_cast<double>(width) *
                         (20 + 10.0 * static_cast<double>(channels)),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t r = begin; r < end; ++r) {
                         const int64_t b = r / height;
                         const Source from = {
                             images.data<T>() + b * images.dim_size(1) *
                                                    images.dim_size(2) *
                                                    channels,
                             images.dim_size(1), images.dim_size(2), channels,
                             ToPixel<T>(fill)};
                         Row(from, transforms.data<float>() + b * step,
                             static_cast<float>(r % height), width,
                             out->data<T>() + r * width * channels);
                       }
                     });
  }

 private:
  struct Source {
    const T* data;
    int64_t height, width, channels;
    T fill;

    // The pixel at these whole coordinates; null if it is outside.
    const T* At(float y, float x) const {
      if (!(y >= 0 && y < static_cast<float>(height) && x >= 0 &&
            x < static_cast<float>(width))) {
        return nullptr;
      }
      return data +
             (static_cast<int64_t>(y) * width + static_cast<int64_t>(x)) *
                 channels;
    }
    T Value(const T* pixel, int64_t c) const {
      return pixel == nullptr ? fill : pixel[c];
    }
  };

  void Row(const Source& from, const float* t, float out_y, int64_t width,
           T* out) const {
    for (int64_t i = 0; i < width; ++i, out += from.channels) {
      const auto out_x = static_cast<float>(i);
      const float k = t[6] * out_x + t[7] * out_y + 1.0f;
      if (k == 0) {
        std::fill(out, out + from.channels, from.fill);
        continue;
      }
      const float in_x = (t[0] * out_x + t[1] * out_y + t[2]) / k;
      const float in_y = (t[3] * out_x + t[4] * out_y + t[5]) / k;
      const float x = MoveInside(mode_, in_x, from.width);
      const float y = MoveInside(mode_, in_y, from.height);
      if (!bilinear_) {
        const T* pixel = from.At(std::round(y), std::round(x));
        for (int64_t c = 0; c < from.channels; ++c) {
          out[c] = from.Value(pixel, c);
        }
        continue;
      }
      const float y0 = std::floor(y), y1 = y0 + 1;
      const float x0 = std::floor(x), x1 = x0 + 1;
      const T *p00 = from.At(y0, x0), *p01 = from.At(y0, x1),
              *p10 = from.At(y1, x0), *p11 = from.At(y1, x1);
      for (int64_t c = 0; c < from.channels; ++c) {
        const auto value = [&](const T* p) {
          return static_cast<float>(from.Value(p, c));
        };
        const float top = (x1 - x) * value(p00) + (x - x0) * value(p01);
        const float bottom = (x1 - x) * value(p10) + (x - x0) * value(p11);
        out[c] = ToPixel<T>((y1 - y) * top + (y - y0) * bottom);
      }
    }
  }

  bool bilinear_ = false;
  FillMode mode_ = FillMode::kConstant;
};

#define REGISTER_ONE_TRANSFORM(NAME, T)                         \
  REGISTER_KERNEL_BUILDER(                                      \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("dtype"), \
      ImageProjectiveTransformOp<T>)
#define REGISTER_TRANSFORM(T)                              \
  REGISTER_ONE_TRANSFORM("ImageProjectiveTransformV2", T); \
  REGISTER_ONE_TRANSFORM("ImageProjectiveTransformV3", T)
REGISTER_TRANSFORM(uint8_t);
REGISTER_TRANSFORM(int32_t);
REGISTER_TRANSFORM(int64_t);
REGISTER_TRANSFORM(half);
REGISTER_TRANSFORM(bfloat16);
REGISTER_TRANSFORM(float);
REGISTER_TRANSFORM(double);
#undef REGISTER_TRANSFORM
#undef REGISTER_ONE_TRANSFORM

}  // namespace
}  // namespace headrace
