// DrawBoundingBoxes(V2): copies the images and draws the outline of each box,
// one pixel wide, box b in colour b of a cycle. Box corners are fractions of
// the image; a side beyond the image is not drawn.
#include <algorithm>
#include <cmath>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

using Colour = std::array<float, 4>;

const std::vector<Colour>& DefaultColours() {
  static const auto* const kColours = new std::vector<Colour>{
      {1, 1, 0, 1},     {0, 0, 1, 1},     {1, 0, 0, 1},   {0, 1, 0, 1},
      {0.5, 0, 0.5, 1}, {0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1},
      {0, 1, 1, 1},     {1, 0, 1, 1}};
  return *kColours;
}

// A row or column from a fraction of size - 1; what is not a number, or far
// outside, is outside.
int64_t ToPixel(float fraction, int64_t size) {
  const float at = fraction * static_cast<float>(size - 1);
  if (std::isnan(at)) return -1;
  constexpr float kFar = 1e15f;
  return static_cast<int64_t>(std::clamp(at, -kFar, kFar));
}

template <typename T>
class DrawBoundingBoxesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& images = ctx->input(0);
    const Tensor& boxes = ctx->input(1);
    OP_REQUIRES(ctx, images.dims() == 4,
                errors::InvalidArgument("The rank of the images should be 4, "
                                        "got ",
                                        images.shape().DebugString()));
    const int64_t batch = images.dim_size(0), height = images.dim_size(1);
    const int64_t width = images.dim_size(2), depth = images.dim_size(3);
    OP_REQUIRES(ctx, depth == 1 || depth == 3 || depth == 4,
                errors::InvalidArgument("Channel depth should be either 1 "
                                        "(GRY), 3 (RGB), or 4 (RGBA), got ",
                                        depth));
    OP_REQUIRES(ctx,
                boxes.dims() == 3 && boxes.dim_size(0) == batch &&
                    boxes.dim_size(2) == 4,
                errors::InvalidArgument("boxes must be [", batch,
                                        ", number of boxes, 4], got ",
                                        boxes.shape().DebugString()));
    std::vector<Colour> colours;
    OP_REQUIRES_OK(ctx, Colours(ctx, depth, &colours));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, images.shape(), &out));
    if (out->NumElements() == 0) return;
    std::memcpy(out->raw_data(), images.raw_data(), images.TotalBytes());
    const int64_t n = boxes.dim_size(1);
    for (int64_t b = 0; b < batch; ++b) {
      T* image = out->data<T>() + b * height * width * depth;
      const float* box = boxes.data<float>() + b * n * 4;
      for (int64_t i = 0; i < n; ++i, box += 4) {
        Draw(box, colours[i % colours.size()], height, width, depth, image);
      }
    }
  }

 private:
  static Status Colours(OpKernelContext* ctx, int64_t depth,
                        std::vector<Colour>* out) {
    *out = DefaultColours();
    if (depth == 1) {
      for (Colour& c : *out) c[0] = 1;
    }
    if (ctx->num_inputs() < 3 || ctx->input(2).NumElements() == 0) {
      return OkStatus();
    }
    const Tensor& given = ctx->input(2);
    if (given.dims() != 2 || given.dim_size(1) < depth) {
      return errors::InvalidArgument("colors must be a matrix of at least ",
                                     depth, " columns, got ",
                                     given.shape().DebugString());
    }
    out->assign(given.dim_size(0), Colour{});
    for (int64_t i = 0; i < given.dim_size(0); ++i) {
      for (int64_t c = 0; c < depth; ++c) {
        (*out)[i][c] = given.data<float>()[i * given.dim_size(1) + c];
      }
    }
    return OkStatus();
  }

  static void Draw(const float* box, const Colour& colour, int64_t height,
                   int64_t width, int64_t depth, T* image) {
    const int64_t top = ToPixel(box[0], height), left = ToPixel(box[1], width);
    const int64_t bottom = ToPixel(box[2], height);
    const int64_t right = ToPixel(box[3], width);
    if (top > bottom || left > right || top >= height || bottom < 0 ||
        left >= width || right < 0) {
      return;
    }
    auto dot = [&](int64_t y, int64_t x) {
      T* pixel = image + (y * width + x) * depth;
      for (int64_t c = 0; c < depth; ++c) pixel[c] = static_cast<T>(colour[c]);
    };
    const int64_t x0 = std::max<int64_t>(left, 0);
    const int64_t x1 = std::min(right, width - 1);
    const int64_t y0 = std::max<int64_t>(top, 0);
    const int64_t y1 = std::min(bottom, height - 1);
    for (int64_t x = x0; x <= x1; ++x) {
      if (top >= 0) dot(top, x);
      if (bottom < height) dot(bottom, x);
    }
    for (int64_t y = y0; y <= y1; ++y) {
      if (left >= 0) dot(y, left);
      if (right < width) dot(y, right);
    }
  }
};
#define REGISTER(OP, T)                                                       \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          DrawBoundingBoxesOp<T>)
REGISTER("DrawBoundingBoxes", float);
REGISTER("DrawBoundingBoxes", half);
REGISTER("DrawBoundingBoxesV2", float);
REGISTER("DrawBoundingBoxesV2", half);
#undef REGISTER

}  // namespace
}  // namespace headrace
