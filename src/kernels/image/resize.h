// Shared by ops that resize images: the kernels' checks and allocations, and
// the map from output to input coordinates. Images are [batch, height, width,
// channels]. Sizes and coordinates are in pixels. Coordinates are float32, as
// in TensorFlow; double would move samples.
//
// All functions are thread-safe.
#ifndef HEADRACE_KERNELS_IMAGE_RESIZE_H_
#define HEADRACE_KERNELS_IMAGE_RESIZE_H_

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {

// The attrs. half_pixel_centers is false for ops without it.
struct ResizeAttrs {
  bool align_corners = false;
  bool half_pixel_centers = false;
  Status Init(OpKernelConstruction* ctx);
};

// Input pixels per output pixel. With a single pixel there are no corners to
// align.
inline float ResizeScale(int64_t in, int64_t out, bool align_corners) {
  return align_corners && out > 1 && in > 1
             ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
             : static_cast<float>(in) / static_cast<float>(out);
}

// The input coordinate of output pixel i. Nearest neighbour has its own map.
inline float ResizeSource(int64_t i, float scale, bool half_pixel_centers) {
  return half_pixel_centers ? (static_cast<float>(i) + 0.5f) * scale - 0.5f
                            : static_cast<float>(i) * scale;
}

struct ResizeShape {
  int64_t batch, in_h, in_w, out_h, out_w, channels;
  float scale_h, scale_w;
};

// Reads an int32 input with two positive numbers.
Status ImageSize(const Tensor& size, int64_t* height, int64_t* width);

// Checks images [b,h,w,c] and the size.
Status ResizeForward(const Tensor& images, const Tensor& size,
                     bool align_corners, ResizeShape* out);

// The shape for a gradient: `grads` is [b,out_h,out_w,c], the image is in_h x
// in_w.
Status ResizeBackward(const Tensor& grads, int64_t in_h, int64_t in_w,
                      bool align_corners, ResizeShape* out);
// The same for gradient ops with the original image as an input. Checks its
// rank.
Status ResizeBackwardTo(const Tensor& grads, const Tensor& original_image,
                        bool align_corners, ResizeShape* shape);

// The kernel of a resize op. Input 0 has the images, input 1 the new size.
class ResizeOp : public OpKernel {
 public:
  explicit ResizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Init(ctx));
  }
  void Compute(OpKernelContext* ctx) final;

 protected:
  const ResizeAttrs& attrs() const { return attrs_; }

 private:
  // Fills `out` [batch, out_h, out_w, channels], which is not empty.
  virtual void Resize(OpKernelContext* ctx, const Tensor& images,
                      const ResizeShape& s, Tensor* out) = 0;

  ResizeAttrs attrs_;
};

// The kernel of a resize gradient. Input 0 is the gradient of the resized
// images, input 1 the original images.
class ResizeGradOp : public OpKernel {
 public:
  explicit ResizeGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Init(ctx));
  }
  void Compute(OpKernelContext* ctx) final;

 protected:
  const ResizeAttrs& attrs() const { return attrs_; }

 private:
  // Reads the shapes of the inputs and checks them.
  virtual Status ReadShape(const OpKernelContext& ctx, ResizeShape* s) const {
    return ResizeBackwardTo(ctx.input(0), ctx.input(1), attrs_.align_corners,
                            s);
  }
  // Fills `out` [batch, in_h, in_w, channels], which is not empty.
  virtual void SumGradients(OpKernelContext* ctx, const Tensor& grads,
                            const ResizeShape& s, Tensor* out) = 0;

  ResizeAttrs attrs_;
};

// Sums the gradients of each image by itself and in order, so that the sums do
// not depend on threads. `add` gets an image's gradients, of type G, and its
// sums, of type A, which are 0 at first; it is called by several threads.
// `cost` is that of one call (see ParallelFor). `out` has the type T.
template <typename G, typename A, typename T, typename F>
void SumPerImage(OpKernelContext* ctx, const ResizeShape& s, double cost,
                 const Tensor& grads, Tensor* out, const F& add) {
  const G* const g = grads.data<G>();
  T* const o = out->data<T>();
  const int64_t in_size = s.in_h * s.in_w * s.channels;
  const int64_t out_size = s.out_h * s.out_w * s.channels;
  ctx->ParallelFor(s.batch, cost + in_size, [&](int64_t begin, int64_t end) {
    std::vector<A> sums;
    for (int64_t b = begin; b < end; ++b) {
      T* const to = o + b * in_size;
      if constexpr (std::is_same_v<A, T>) {
        std::fill_n(to, in_size, T(0));
        add(g + b * out_size, to);
      } else {
        sums.assign(in_size, A(0));
        add(g + b * out_size, sums.data());
        for (int64_t i = 0; i < in_size; ++i) to[i] = static_cast<T>(sums[i]);
      }
    }
  });
}

// The two taps of linear interpolation along one axis.
struct LinearTap {
  int64_t low, high;
  float weight;  // of high
};
std::vector<LinearTap> LinearTaps(int64_t in, int64_t out, float scale,
                                  bool half_pixel_centers);

// The input index of each output index for nearest neighbour.
std::vector<int64_t> NearestTaps(int64_t in, int64_t out, float scale,
                                 const ResizeAttrs& attrs);

// The four taps of cubic interpolation along one axis.
struct CubicTap {
  int64_t index[4];
  float weight[4];
};
std::vector<CubicTap> CubicTaps(int64_t in, int64_t out, float scale,
                                bool half_pixel_centers);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IMAGE_RESIZE_H_
