// SampleDistortedBoundingBox, stateful and stateless: a random part of an
// image, of an area and an aspect ratio in given ranges, that covers enough of
// one of the boxes; the whole image if none is found in max_attempts. How the
// numbers of the stream are used is TensorFlow's way, so that a seed gives its
// crops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"
#include "kernels/lib/random_stream.h"
#include "kernels/lib/uniform_below.h"
#include "kernels/lib/visit_type.h"

namespace headrace {
namespace {

struct Rectangle {
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // the last two exclusive
  float Area() const {
    return x1 > x0 && y1 > y0
               ? static_cast<float>(x1 - x0) * static_cast<float>(y1 - y0)
               : 0.f;
  }
};

float CommonArea(const Rectangle& a, const Rectangle& b) {
  return Rectangle{std::max(a.x0, b.x0), std::max(a.y0, b.y0),
                   std::min(a.x1, b.x1), std::min(a.y1, b.y1)}
      .Area();
}

bool CoversAny(const Rectangle& crop, float least,
               const std::vector<Rectangle>& boxes) {
  if (crop.Area() < 1) return false;
  for (const Rectangle& box : boxes) {
    if (box.Area() < 1) continue;
    if (CommonArea(crop, box) / box.Area() >= least) return true;
  }
  return false;
}

int32_t Round(float x) { return static_cast<int32_t>(std::lrint(x)); }

// False if no crop of this ratio has an area in [least, most] of the image's.
bool DrawCrop(int32_t width, int32_t height, float least, float most,
              float ratio, PhiloxWords* next, Rectangle* crop) {
  if (!(most > 0) || !(ratio > 0) || width <= 0 || height <= 0 ||
      least > most) {
    return false;
  }
  const float min_area = least * width * height;
  const float max_area = most * width * height;
  int32_t h = Round(std::sqrt(min_area / ratio));
  int32_t max_h = Round(std::sqrt(max_area / ratio));
  if (Round(max_h * ratio) > width) {
    constexpr float kEps = 0.0000001;
    max_h = static_cast<int32_t>((width + 0.5 - kEps) / ratio);
    if (Round(max_h * ratio) > width) --max_h;
  }
  max_h = std::min(max_h, height);
  h = std::min(h, max_h);
  if (h < max_h)
    h += static_cast<int32_t>(UniformBelow<uint32_t>(max_h - h + 1, next));
  int32_t w = Round(h * ratio);
  // Rounding may have led out of the range by one row.
  const auto area = [&] { return static_cast<float>(w) * h; };
  if (area() < min_area) w = Round(++h * ratio);
  if (area() > max_area) w = Round(--h * ratio);
  if (area() < min_area || area() > max_area || w > width || h > height ||
      w <= 0 || h <= 0) {
    return false;
  }
  crop->y0 =
      h < height
          ? static_cast<int32_t>(UniformBelow<uint32_t>(height - h, next))
          : 0;
  crop->x0 = w < width
                 ? static_cast<int32_t>(UniformBelow<uint32_t>(width - w, next))
                 : 0;
  crop->x1 = crop->x0 + w;
  crop->y1 = crop->y0 + h;
  return true;
}

// The largest side: areas and sides stay well inside int32 and float.
constexpr int64_t kMaxSide = 1 << 24;

class SampleDistortedBoundingBoxOp : public OpKernel {
 public:
  explicit SampleDistortedBoundingBoxOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    if (ctx->num_inputs() < 4) {
      OP_REQUIRES_OK(ctx, InitFromSeedAttrs(ctx, &stream_));
    }
    if (ctx->num_inputs() == 2) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("min_object_covered", &covered_));
      OP_REQUIRES_OK(ctx, CheckCovered(covered_));
    }
    OP_REQUIRES_OK(ctx,
                   ctx->GetAttr("use_image_if_no_bounding_boxes", &use_image_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("aspect_ratio_range", &ratios_));
    OP_REQUIRES(ctx, ratios_.size() == 2 && ratios_[0] > 0 && ratios_[1] > 0,
                errors::InvalidArgument(
                    "aspect_ratio_range must be two positive numbers"));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("area_range", &areas_));
    OP_REQUIRES(
        ctx,
        areas_.size() == 2 && areas_[0] > 0 && areas_[1] > 0 &&
            areas_[0] <= 1 && areas_[1] <= 1,
        errors::InvalidArgument("area_range must be two numbers in (0, 1]"));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_attempts", &attempts_));
    OP_REQUIRES(ctx, attempts_ > 0 && attempts_ <= INT32_MAX,
                errors::InvalidArgument(
                    "max_attempts must be in [1, 2^31), got ", attempts_));
  }

  void Compute(OpKernelContext* ctx) override {
    DimVector size;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(0), "image_size", &size));
    OP_REQUIRES(ctx, size.size() == 3,
                errors::InvalidArgument(
                    "image_size must contain 3 elements, got ", size.size()));
    OP_REQUIRES(ctx,
                size[0] > 0 && size[1] > 0 && size[0] <= kMaxSide &&
                    size[1] <= kMaxSide,
                errors::InvalidArgument("image height and width must be in "
                                        "[1, ",
                                        kMaxSide, "], got ", size[0], " and ",
                                        size[1]));
    const auto height = static_cast<int32_t>(size[0]);
    const auto width = static_cast<int32_t>(size[1]);
    std::vector<Rectangle> boxes;
    OP_REQUIRES_OK(ctx, ReadBoxes(ctx->input(1), height, width, &boxes));
    float covered = covered_;
    if (ctx->num_inputs() > 2) {
      const Tensor& t = ctx->input(2);
      OP_REQUIRES(
          ctx, t.dims() == 0,
          errors::InvalidArgument("min_object_covered must be 0-D, got shape ",
                                  t.shape().DebugString()));
      covered = t.scalar<float>();
      OP_REQUIRES_OK(ctx, CheckCovered(covered));
    }
    const Rectangle image = {0, 0, width, height};
    if (boxes.empty()) {
      OP_REQUIRES(ctx, use_image_,
                  errors::InvalidArgument(
                      "No bounding boxes provided as input. One must enable "
                      "use_image_if_no_bounding_boxes if you wish to not "
                      "provide any bounding boxes."));
      boxes.push_back(image);
    }
    Rectangle crop = image;
    Philox stream;
    if (ctx->num_inputs() < 4) {
      stream = stream_.Reserve(attempts_);
    } else {
      OP_REQUIRES_OK(ctx, StreamFromSeed(ctx->input(3), &stream));
    }
    PhiloxWords next(stream);
    for (int64_t i = 0; i < attempts_; ++i) {
      OP_REQUIRES(ctx,
                  i % 1024 != 1023 || ctx->cancellation_manager() == nullptr ||
                      !ctx->cancellation_manager()->IsCancelled(),
                  errors::Cancelled("the step was cancelled"));
      const float ratio =
          UniformFloat(next()) * (ratios_[1] - ratios_[0]) + ratios_[0];
      Rectangle drawn;
      if (DrawCrop(width, height, areas_[0], areas_[1], ratio, &next, &drawn) &&
          CoversAny(drawn, covered, boxes)) {
        crop = drawn;
        break;
      }
    }
    OP_REQUIRES_OK(ctx, SetVector(ctx, 0, {crop.y0, crop.x0, 0}));
    OP_REQUIRES_OK(
        ctx, SetVector(ctx, 1, {crop.y1 - crop.y0, crop.x1 - crop.x0, -1}));
    Tensor* box = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {1, 1, 4}, &box));
    float* to = box->data<float>();
    to[0] = static_cast<float>(crop.y0) / static_cast<float>(height);
    to[1] = static_cast<float>(crop.x0) / static_cast<float>(width);
    to[2] = static_cast<float>(crop.y1) / static_cast<float>(height);
    to[3] = static_cast<float>(crop.x1) / static_cast<float>(width);
  }

 private:
  static Status CheckCovered(float covered) {
    if (covered >= 0) return OkStatus();
    return errors::InvalidArgument(
        "min_object_covered must be non-negative, got ", covered);
  }

  static Status ReadBoxes(const Tensor& t, int32_t height, int32_t width,
                          std::vector<Rectangle>* boxes) {
    if (t.dims() != 3 || t.dim_size(2) != 4) {
      return errors::InvalidArgument(
          "bounding boxes must have shape [batch, num_boxes, 4], got ",
          t.shape().DebugString());
    }
    const float* p = t.data<float>();
    for (int64_t i = 0; i < t.NumElements(); i += 4) {
      for (int k = 0; k < 4; ++k) {
        if (!(p[i + k] >= 0 && p[i + k] <= 1)) {
          return errors::InvalidArgument(
              "All bounding box coordinates must be in [0.0, 1.0]: ", p[i + k]);
        }
      }
      boxes->push_back({static_cast<int32_t>(p[i + 1] * width),
                        static_cast<int32_t>(p[i] * height),
                        static_cast<int32_t>(p[i + 3] * width),
                        static_cast<int32_t>(p[i + 2] * height)});
    }
    return OkStatus();
  }

  // In the type of the image's size, which holds them, except -1 in uint8.
  static Status SetVector(OpKernelContext* ctx, int i,
                          std::initializer_list<int32_t> values) {
    Tensor* out = nullptr;
    HR_RETURN_IF_ERROR(ctx->allocate_output(i, {3}, &out));
    VisitType<uint8_t, int8_t, int16_t, int32_t, int64_t>(
        out->dtype(), [&]<typename T>(T) {
          T* to = out->data<T>();
          for (int32_t v : values) *to++ = static_cast<T>(v);
        });
    return OkStatus();
  }

  GuardedPhilox stream_;
  float covered_ = 0.1f;
  bool use_image_ = false;
  std::vector<float> ratios_, areas_;
  int64_t attempts_ = 100;
};
REGISTER_KERNEL_BUILDER(Name("SampleDistortedBoundingBox").Device(DEVICE_CPU),
                        SampleDistortedBoundingBoxOp);
REGISTER_KERNEL_BUILDER(Name("SampleDistortedBoundingBoxV2").Device(DEVICE_CPU),
                        SampleDistortedBoundingBoxOp);
REGISTER_KERNEL_BUILDER(
    Name("StatelessSampleDistortedBoundingBox").Device(DEVICE_CPU),
    SampleDistortedBoundingBoxOp);

}  // namespace
}  // namespace headrace
