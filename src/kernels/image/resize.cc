#include "kernels/image/resize.h"

#include <array>
#include <limits>

namespace headrace {
namespace {

// Beyond this float32 coordinates cannot tell neighbouring pixels apart.
constexpr int64_t kMaxSide = int64_t{1} << 24;

Status CheckSides(int64_t in_h, int64_t in_w, int64_t out_h, int64_t out_w) {
  if (std::max({in_h, in_w, out_h, out_w}) <= kMaxSide) return OkStatus();
  return errors::InvalidArgument("no side of an image to resize may exceed ",
                                 kMaxSide, " pixels, got ", in_h, " x ", in_w,
                                 " to ", out_h, " x ", out_w);
}

// Weights of the cubic convolution kernel at distances i/1024 and 1 + i/1024.
constexpr int kCubicSteps = 1024;
struct CubicTable {
  explicit CubicTable(double a) {
    for (int i = 0; i <= kCubicSteps; ++i) {
      const double x = static_cast<double>(i) / kCubicSteps, y = x + 1;
      near[i] = static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
      far[i] = static_cast<float>(((a * y - 5 * a) * y + 8 * a) * y - 4 * a);
    }
  }
  std::array<float, kCubicSteps + 1> near, far;
};

// a = -0.5 is Keys' own, used with half_pixel_centers; -0.75 the older choice.
const CubicTable& TableFor(bool half_pixel_centers) {
  static const CubicTable* const kKeys = new CubicTable(-0.5);
  static const CubicTable* const kLegacy = new CubicTable(-0.75);
  return half_pixel_centers ? *kKeys : *kLegacy;
}

}  // namespace

Status ResizeAttrs::Init(OpKernelConstruction* ctx) {
  HR_RETURN_IF_ERROR(ctx->GetAttr("align_corners", &align_corners));
  if (ctx->HasAttr("half_pixel_centers")) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("half_pixel_centers", &half_pixel_centers));
  }
  if (align_corners && half_pixel_centers) {
    return errors::InvalidArgument(
        "If half_pixel_centers is True, align_corners must be False.");
  }
  return OkStatus();
}

Status ImageSize(const Tensor& size, int64_t* height, int64_t* width) {
  if (size.dims() != 1 || size.dim_size(0) != 2) {
    return errors::InvalidArgument(
        "size must be a vector of 2 numbers, height and width, got shape ",
        size.shape().DebugString());
  }
  *height = size.data<int32_t>()[0];
  *width = size.data<int32_t>()[1];
  if (*height <= 0 || *width <= 0) {
    return errors::InvalidArgument("output dimensions must be positive, got ",
                                   *height, " x ", *width);
  }
  return OkStatus();
}

Status ResizeForward(const Tensor& images, const Tensor& size,
                     bool align_corners, ResizeShape* out) {
  if (images.dims() != 4) {
    return errors::InvalidArgument("input must be 4-dimensional, got ",
                                   images.shape().DebugString());
  }
  int64_t height, width;
  HR_RETURN_IF_ERROR(ImageSize(size, &height, &width));
  if (images.dim_size(1) <= 0 || images.dim_size(2) <= 0) {
    return errors::InvalidArgument("input image must be of non-zero size, got ",
                                   images.shape().DebugString());
  }
  *out = {images.dim_size(0),
          images.dim_size(1),
          images.dim_size(2),
          height,
          width,
          images.dim_size(3),
          ResizeScale(images.dim_size(1), height, align_corners),
          ResizeScale(images.dim_size(2), width, align_corners)};
  return CheckSides(out->in_h, out->in_w, out->out_h, out->out_w);
}

Status ResizeBackward(const Tensor& grads, int64_t in_h, int64_t in_w,
                      bool align_corners, ResizeShape* out) {
  if (grads.dims() != 4) {
    return errors::InvalidArgument("grads must be 4-dimensional, got ",
                                   grads.shape().DebugString());
  }
  if (in_h <= 0 || in_w <= 0) {
    return errors::InvalidArgument(
        "the original image must be of non-zero size, got ", in_h, " x ", in_w);
  }
  *out = {grads.dim_size(0),
          in_h,
          in_w,
          grads.dim_size(1),
          grads.dim_size(2),
          grads.dim_size(3),
          ResizeScale(in_h, grads.dim_size(1), align_corners),
          ResizeScale(in_w, grads.dim_size(2), align_corners)};
  return CheckSides(in_h, in_w, out->out_h, out->out_w);
}

Status ResizeBackwardTo(const Tensor& grads, const Tensor& original_image,
                        bool align_corners, ResizeShape* shape) {
  if (original_image.dims() != 4) {
    return errors::InvalidArgument("original_image must be 4-dimensional, got ",
                                   original_image.shape().DebugString());
  }
  if (grads.dims() == 4 && (grads.dim_size(1) <= 0 || grads.dim_size(2) <= 0)) {
    return errors::InvalidArgument("grads must be of non-zero size, got ",
                                   grads.shape().DebugString());
  }
  return ResizeBackward(grads, original_image.dim_size(1),
                        original_image.dim_size(2), align_corners, shape);
}

void ResizeOp::Compute(OpKernelContext* ctx) {
  const Tensor& images = ctx->input(0);
  ResizeShape s;
  OP_REQUIRES_OK(
      ctx, ResizeForward(images, ctx->input(1), attrs_.align_corners, &s));
  Tensor* out = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(
                          0, {s.batch, s.out_h, s.out_w, s.channels}, &out));
  if (out->NumElements() > 0) Resize(ctx, images, s, out);
}

void ResizeGradOp::Compute(OpKernelContext* ctx) {
  ResizeShape s;
  OP_REQUIRES_OK(ctx, ReadShape(*ctx, &s));
  Tensor* out = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(
                          0, {s.batch, s.in_h, s.in_w, s.channels}, &out));
  if (out->NumElements() > 0) SumGradients(ctx, ctx->input(0), s, out);
}

std::vector<LinearTap> LinearTaps(int64_t in, int64_t out, float scale,
                                  bool half_pixel_centers) {
  std::vector<LinearTap> taps(out);
  for (int64_t i = 0; i < out; ++i) {
    const float at = ResizeSource(i, scale, half_pixel_centers);
    const float floor = std::floor(at);
    // Float rounding may carry the last samples beyond the image.
    taps[i].low = std::clamp<int64_t>(static_cast<int64_t>(floor), 0, in - 1);
    taps[i].high =
        std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at)), 0, in - 1);
    taps[i].weight = at - floor;
  }
  return taps;
}

std::vector<int64_t> NearestTaps(int64_t in, int64_t out, float scale,
                                 const ResizeAttrs& attrs) {
  std::vector<int64_t> taps(out);
  for (int64_t i = 0; i < out; ++i) {
    const float x = static_cast<float>(i);
    const float at = attrs.half_pixel_centers ? std::floor((x + 0.5f) * scale)
                     : attrs.align_corners    ? std::round(x * scale)
                                              : std::floor(x * scale);
    taps[i] = std::clamp<int64_t>(static_cast<int64_t>(at), 0, in - 1);
  }
  return taps;
}

std::vector<CubicTap> CubicTaps(int64_t in, int64_t out, float scale,
                                bool half_pixel_centers) {
  const CubicTable& table = TableFor(half_pixel_centers);
  std::vector<CubicTap> taps(out);
  for (int64_t i = 0; i < out; ++i) {
    const float at = ResizeSource(i, scale, half_pixel_centers);
    const auto first = static_cast<int64_t>(std::floor(at));
    const auto step =
        static_cast<int>(std::lrint((at - std::floor(at)) * kCubicSteps));
    CubicTap& tap = taps[i];
    const float weight[4] = {table.far[step], table.near[step],
                             table.near[kCubicSteps - step],
                             table.far[kCubicSteps - step]};
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      const int64_t index = first - 1 + k;
      tap.index[k] = std::clamp<int64_t>(index, 0, in - 1);
      const bool outside = tap.index[k] != index;
      tap.weight[k] = half_pixel_centers && outside ? 0 : weight[k];
      sum += tap.weight[k];
    }
    if (half_pixel_centers &&
        std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
      for (float& w : tap.weight) w *= 1.0f / sum;
    }
  }
  return taps;
}

}  // namespace headrace
