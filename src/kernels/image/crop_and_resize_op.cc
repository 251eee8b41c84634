// CropAndResize and its two gradients. Box n, in coordinates where the image
// runs from 0 to 1, is sampled at crop_height x crop_width points from edge to
// edge (one point: the middle) in image box_ind[n]. A point outside the image
// takes the extrapolation value for all channels and has no gradient; y1 > y2
// turns the crop upside down.
#include <algorithm>
#include <cmath>

#include "headrace/op_kernel.h"
#include "kernels/lib/scalar_update.h"

namespace headrace {
namespace {

struct CropShape {
  int64_t batch, height, width, channels, boxes, crop_h, crop_w;
};

// The checks that all three ops share.
Status CheckBoxes(const Tensor& boxes, const Tensor& box_index, int64_t batch,
                  CropShape* s) {
  s->boxes = 0;
  if (boxes.NumElements() == 0 && box_index.NumElements() == 0) {
    return OkStatus();
  }
  if (boxes.dims() != 2 || boxes.dim_size(1) != 4) {
    return errors::InvalidArgument("boxes must be 2-D with 4 columns, got ",
                                   boxes.shape().DebugString());
  }
  s->boxes = boxes.dim_size(0);
  if (box_index.dims() != 1 || box_index.dim_size(0) != s->boxes) {
    return errors::InvalidArgument(
        "box_index must be a vector of one image for each of the ", s->boxes,
        " boxes, got shape ", box_index.shape().DebugString());
  }
  for (int64_t i = 0; i < s->boxes; ++i) {
    const int32_t at = box_index.data<int32_t>()[i];
    if (at < 0 || at >= batch) {
      return errors::OutOfRange(
          "box_index has values outside [0, batch_size)"
          ": box_index[",
          i, "] = ", at, ", batch_size ", batch);
    }
  }
  return OkStatus();
}

Status CheckImage(const Tensor& image, CropShape* s) {
  if (image.dims() != 4) {
    return errors::InvalidArgument("input image must be 4-D, got ",
                                   image.shape().DebugString());
  }
  s->batch = image.dim_size(0);
  s->height = image.dim_size(1);
  s->width = image.dim_size(2);
  s->channels = image.dim_size(3);
  if (s->height <= 0 || s->width <= 0) {
    return errors::InvalidArgument("image dimensions must be positive, got ",
                                   image.shape().DebugString());
  }
  return OkStatus();
}

Status CheckGrads(const Tensor& grads, int64_t boxes, int64_t channels,
                  CropShape* s) {
  if (grads.dims() != 4 || grads.dim_size(0) != boxes ||
      grads.dim_size(3) != channels || grads.dim_size(1) <= 0 ||
      grads.dim_size(2) <= 0) {
    return errors::InvalidArgument(
        "grads must be [", boxes, ", crop height, crop width, ", channels,
        "] with a positive crop, got ", grads.shape().DebugString());
  }
  s->crop_h = grads.dim_size(1);
  s->crop_w = grads.dim_size(2);
  return OkStatus();
}

// Sample i of n along an axis of `size` pixels, from `a` to `b`. False if it
// lies outside (or is not a number).
struct Sample {
  float at;
  int64_t low, high;
  float weight;  // of high
};
bool SampleAt(float a, float b, int64_t size, int64_t i, int64_t n,
              Sample* out) {
  const auto last = static_cast<float>(size - 1);
  const float step = n > 1 ? (b - a) * last / static_cast<float>(n - 1) : 0;
  out->at =
      n > 1 ? a * last + static_cast<float>(i) * step : 0.5f * (a + b) * last;
  if (!(out->at >= 0 && out->at <= last)) return false;
  out->low = static_cast<int64_t>(std::floor(out->at));
  out->high = std::min(static_cast<int64_t>(std::ceil(out->at)), size - 1);
  out->weight = out->at - static_cast<float>(out->low);
  return true;
}
int64_t Nearest(const Sample& s, int64_t size) {
  return std::min(static_cast<int64_t>(std::round(s.at)), size - 1);
}

Status GetMethod(OpKernelConstruction* ctx, bool* nearest) {
  std::string method;
  HR_RETURN_IF_ERROR(ctx->GetAttr("method", &method));
  if (method != "bilinear" && method != "nearest") {
    return errors::InvalidArgument(
        "method must be 'bilinear' or 'nearest', got '", method, "'");
  }
  *nearest = method == "nearest";
  return OkStatus();
}

template <typename T>
class CropAndResizeOp : public OpKernel {
 public:
  explicit CropAndResizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, GetMethod(ctx, &nearest_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("extrapolation_value", &outside_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& image = ctx->input(0);
    const Tensor& boxes = ctx->input(1);
    const Tensor& box_index = ctx->input(2);
    const Tensor& size = ctx->input(3);
    CropShape s;
    OP_REQUIRES_OK(ctx, CheckImage(image, &s));
    OP_REQUIRES_OK(ctx, CheckBoxes(boxes, box_index, s.batch, &s));
    OP_REQUIRES(
        ctx, size.dims() == 1 && size.dim_size(0) == 2,
        errors::InvalidArgument("crop_size must have two elements, got shape ",
                                size.shape().DebugString()));
    s.crop_h = size.data<int32_t>()[0];
    s.crop_w = size.data<int32_t>()[1];
    OP_REQUIRES(
        ctx, s.crop_h > 0 && s.crop_w > 0,
        errors::InvalidArgument("crop dimensions must be positive, got ",
                                s.crop_h, " x ", s.crop_w));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, {s.boxes, s.crop_h, s.crop_w, s.channels},
                                  &out));
    if (out->NumElements() == 0) return;
    const float* box = boxes.data<float>();
    const int32_t* index = box_index.data<int32_t>();
    const T* in = image.data<T>();
    float* o = out->data<float>();
    const int64_t row = s.crop_w * s.channels;
    ctx->ParallelFor(s.boxes * s.crop_h, 10.0 * s.crop_w + 4.0 * row,
                     [&](int64_t begin, int64_t end) {
                       for (int64_t r = begin; r < end; ++r) {
                         const int64_t b = r / s.crop_h;
                         Row(in + index[b] * s.height * s.width * s.channels,
                             box + 4 * b, r % s.crop_h, s, o + r * row);
                       }
                     });
  }

 private:
  void Row(const T* image, const float* box, int64_t i, const CropShape& s,
           float* out) const {
    Sample y, x;
    const bool inside = SampleAt(box[0], box[2], s.height, i, s.crop_h, &y);
    for (int64_t j = 0; j < s.crop_w; ++j, out += s.channels) {
      if (!inside || !SampleAt(box[1], box[3], s.width, j, s.crop_w, &x)) {
        std::fill(out, out + s.channels, outside_);
        continue;
      }
      auto pixel = [&](int64_t r, int64_t c) {
        return image + (r * s.width + c) * s.channels;
      };
      if (nearest_) {
        const T* p = pixel(Nearest(y, s.height), Nearest(x, s.width));
        for (int64_t c = 0; c < s.channels; ++c) {
          out[c] = static_cast<float>(p[c]);
        }
        continue;
      }
      const T *tl = pixel(y.low, x.low), *tr = pixel(y.low, x.high);
      const T *bl = pixel(y.high, x.low), *br = pixel(y.high, x.high);
      for (int64_t c = 0; c < s.channels; ++c) {
        const float l = static_cast<float>(tl[c]);
        const float m = static_cast<float>(bl[c]);
        const float top = l + (static_cast<float>(tr[c]) - l) * x.weight;
        const float bottom = m + (static_cast<float>(br[c]) - m) * x.weight;
        out[c] = top + (bottom - top) * y.weight;
      }
    }
  }

  bool nearest_ = false;
  float outside_ = 0;
};

// Boxes may overlap, so their shares are added one box after the other, in
// float (double for double).
template <typename T>
class CropAndResizeGradImageOp : public OpKernel {
 public:
  using A = std::conditional_t<kIsSmallFloat<T>, float, T>;

  explicit CropAndResizeGradImageOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, GetMethod(ctx, &nearest_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& grads = ctx->input(0);
    const Tensor& boxes = ctx->input(1);
    const Tensor& box_index = ctx->input(2);
    const Tensor& size = ctx->input(3);
    OP_REQUIRES(
        ctx, size.dims() == 1 && size.dim_size(0) == 4,
        errors::InvalidArgument("image_size must have 4 elements, got shape ",
                                size.shape().DebugString()));
    const int32_t* d = size.data<int32_t>();
    CropShape s{.batch = d[0],
                .height = d[1],
                .width = d[2],
                .channels = d[3],
                .boxes = 0,
                .crop_h = 0,
                .crop_w = 0};
    OP_REQUIRES(
        ctx, d[0] >= 0 && d[1] > 0 && d[2] > 0 && d[3] >= 0,
        errors::InvalidArgument("image dimensions must be positive, "
                                "got ",
                                d[0], ", ", d[1], ", ", d[2], ", ", d[3]));
    OP_REQUIRES_OK(ctx, CheckBoxes(boxes, box_index, s.batch, &s));
    OP_REQUIRES_OK(ctx, CheckGrads(grads, s.boxes, s.channels, &s));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {s.batch, s.height, s.width, s.channels}, &out));
    Tensor sums;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DataTypeToEnum<A>::value, out->shape(), &sums));
    A* sum = sums.data<A>();
    std::fill(sum, sum + sums.NumElements(), A(0));
    const int64_t image = s.height * s.width * s.channels;
    const float* from = grads.data<float>();
    for (int64_t b = 0; b < s.boxes; ++b) {
      AddBox(from + b * s.crop_h * s.crop_w * s.channels,
             boxes.data<float>() + 4 * b, s,
             sum + box_index.data<int32_t>()[b] * image);
    }
    T* o = out->data<T>();
    for (int64_t i = 0; i < out->NumElements(); ++i) {
      o[i] = static_cast<T>(sum[i]);
    }
  }

 private:
  void AddBox(const float* from, const float* box, const CropShape& s,
              A* image) const {
    Sample y, x;
    for (int64_t i = 0; i < s.crop_h; ++i) {
      const bool inside = SampleAt(box[0], box[2], s.height, i, s.crop_h, &y);
      for (int64_t j = 0; j < s.crop_w; ++j, from += s.channels) {
        if (!inside || !SampleAt(box[1], box[3], s.width, j, s.crop_w, &x)) {
          continue;
        }
        auto add = [&](int64_t r, int64_t c, float weight) {
          A* to = image + (r * s.width + c) * s.channels;
          for (int64_t k = 0; k < s.channels; ++k) {
            to[k] += static_cast<A>(from[k] * weight);
          }
        };
        if (nearest_) {
          add(Nearest(y, s.height), Nearest(x, s.width), 1);
          continue;
        }
        add(y.low, x.low, (1 - y.weight) * (1 - x.weight));
        add(y.low, x.high, (1 - y.weight) * x.weight);
        add(y.high, x.low, y.weight * (1 - x.weight));
        add(y.high, x.high, y.weight * x.weight);
      }
    }
  }

  bool nearest_ = false;
};

template <typename T>
class CropAndResizeGradBoxesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& grads = ctx->input(0);
    const Tensor& image = ctx->input(1);
    const Tensor& boxes = ctx->input(2);
    const Tensor& box_index = ctx->input(3);
    CropShape s;
    OP_REQUIRES_OK(ctx, CheckImage(image, &s));
    OP_REQUIRES_OK(ctx, CheckBoxes(boxes, box_index, s.batch, &s));
    OP_REQUIRES_OK(ctx, CheckGrads(grads, s.boxes, s.channels, &s));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {s.boxes, 4}, &out));
    if (s.boxes == 0) return;
    const float* box = boxes.data<float>();
    const int64_t size = s.crop_h * s.crop_w * s.channels;
    ctx->ParallelFor(s.boxes, 8.0 * size, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        Box(grads.data<float>() + b * size,
            image.data<T>() +
                box_index.data<int32_t>()[b] * s.height * s.width * s.channels,
            box + 4 * b, s, out->data<float>() + 4 * b);
      }
    });
  }

 private:
  // A sample moves by last * (1 - i / (n - 1)) for each unit of the box's first
  // edge and by the rest for the second.
  static void Box(const float* g, const T* image, const float* box,
                  const CropShape& s, float* out) {
    std::fill(out, out + 4, 0.0f);
    Sample y, x;
    for (int64_t i = 0; i < s.crop_h; ++i) {
      const bool inside = SampleAt(box[0], box[2], s.height, i, s.crop_h, &y);
      const float part_y = s.crop_h > 1 ? static_cast<float>(i) /
                                              static_cast<float>(s.crop_h - 1)
                                        : 0.5f;
      for (int64_t j = 0; j < s.crop_w; ++j, g += s.channels) {
        if (!inside || !SampleAt(box[1], box[3], s.width, j, s.crop_w, &x)) {
          continue;
        }
        const float part_x = s.crop_w > 1 ? static_cast<float>(j) /
                                                static_cast<float>(s.crop_w - 1)
                                          : 0.5f;
        auto pixel = [&](int64_t r, int64_t c) {
          return image + (r * s.width + c) * s.channels;
        };
        const T *tl = pixel(y.low, x.low), *tr = pixel(y.low, x.high);
        const T *bl = pixel(y.high, x.low), *br = pixel(y.high, x.high);
        float dy = 0, dx = 0;
        for (int64_t c = 0; c < s.channels; ++c) {
          const auto a = static_cast<float>(tl[c]);
          const auto b = static_cast<float>(tr[c]);
          const auto d = static_cast<float>(bl[c]);
          const auto e = static_cast<float>(br[c]);
          dy += g[c] * ((1 - x.weight) * (d - a) + x.weight * (e - b));
          dx += g[c] * ((1 - y.weight) * (b - a) + y.weight * (e - d));
        }
        dy *= static_cast<float>(s.height - 1);
        dx *= static_cast<float>(s.width - 1);
        out[0] += dy * (1 - part_y);
        out[1] += dx * (1 - part_x);
        out[2] += dy * part_y;
        out[3] += dx * part_x;
      }
    }
  }
};

#define REGISTER_ONE(OP, T, ...)                                              \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          __VA_ARGS__)
#define REGISTER(T)                                     \
  REGISTER_ONE("CropAndResize", T, CropAndResizeOp<T>); \
  REGISTER_ONE("CropAndResizeGradBoxes", T, CropAndResizeGradBoxesOp<T>);
REGISTER(half)
REGISTER(float)
REGISTER(double)
REGISTER(uint8_t)
REGISTER(uint16_t)
HR_CALL_SIGNED_INT_TYPES(REGISTER)
REGISTER_ONE("CropAndResizeGradImage", half, CropAndResizeGradImageOp<half>);
REGISTER_ONE("CropAndResizeGradImage", float, CropAndResizeGradImageOp<float>);
REGISTER_ONE("CropAndResizeGradImage", double,
             CropAndResizeGradImageOp<double>);
#undef REGISTER_ONE
#undef REGISTER

}  // namespace
}  // namespace headrace
