// ResizeBilinear, ResizeNearestNeighbor and their gradients on a GPU. Checks
// and shapes are the CPU's (kernels/image/resize.h); sizes are in host memory.
#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/resize_functors.h"
#include "kernels/image/resize.h"

namespace headrace::gpu {
namespace {

ResizeSides SidesOf(const ResizeShape& s, const ResizeAttrs& a) {
  return {{s.in_h, s.out_h, s.scale_h, a.align_corners, a.half_pixel_centers},
          {s.in_w, s.out_w, s.scale_w, a.align_corners, a.half_pixel_centers},
          s.channels};
}

template <typename T>
class ResizeBilinearOp : public ResizeOp {
 public:
  using ResizeOp::ResizeOp;

 private:
  void Resize(OpKernelContext* ctx, const Tensor& images, const ResizeShape& s,
              Tensor* out) override {
    OP_REQUIRES_OK(
        ctx, ForEach(GpuStream(ctx), out->NumElements(),
                     ResizeBilinearMap<Dev<T>>{
                         SidesOf(s, attrs()), In<T>(images), Out<float>(out)}));
  }
};

template <typename T>
class ResizeBilinearGradOp : public ResizeGradOp {
 public:
  using ResizeGradOp::ResizeGradOp;

 private:
  void SumGradients(OpKernelContext* ctx, const Tensor& grads,
                    const ResizeShape& s, Tensor* out) override {
    OP_REQUIRES_OK(
        ctx, ForEach(GpuStream(ctx), out->NumElements(),
                     ResizeBilinearGradMap<Dev<T>>{
                         SidesOf(s, attrs()), In<float>(grads), Out<T>(out)}));
  }
};

class ResizeNearestNeighborOp : public ResizeOp {
 public:
  using ResizeOp::ResizeOp;

 private:
  void Resize(OpKernelContext* ctx, const Tensor& images, const ResizeShape& s,
              Tensor* out) override {
    OP_REQUIRES_OK(
        ctx, WithWidth(images.dtype(), [&](auto bytes) {
          using E = Element<bytes()>;
          return ForEach(
              GpuStream(ctx), out->NumElements(),
              ResizeNearestMap<bytes()>{
                  SidesOf(s, attrs()), static_cast<const E*>(images.raw_data()),
                  static_cast<E*>(out->raw_data())});
        }));
  }
};

// Input 1 is the original size, in host memory.
template <typename T>
class ResizeNearestNeighborGradOp : public ResizeGradOp {
 public:
  using ResizeGradOp::ResizeGradOp;

 private:
  Status ReadShape(const OpKernelContext& ctx, ResizeShape* s) const override {
    int64_t height = 0, width = 0;
    HR_RETURN_IF_ERROR(ImageSize(ctx.input(1), &height, &width));
    return ResizeBackward(ctx.input(0), height, width, attrs().align_corners,
                          s);
  }
  void SumGradients(OpKernelContext* ctx, const Tensor& grads,
                    const ResizeShape& s, Tensor* out) override {
    OP_REQUIRES_OK(
        ctx, ForEach(GpuStream(ctx), out->NumElements(),
                     ResizeNearestGradMap<Dev<T>>{SidesOf(s, attrs()),
                                                  In<T>(grads), Out<T>(out)}));
  }
};

#define HR_REGISTER(T)                                             \
  REGISTER_KERNEL_BUILDER(Name("ResizeBilinear")                   \
                              .Device(DEVICE_GPU)                  \
                              .TypeConstraint<T>("T")              \
                              .HostMemory("size"),                 \
                          ResizeBilinearOp<T>);                    \
  HR_GPU_KERNEL("ResizeBilinearGrad", T, ResizeBilinearGradOp<T>); \
  REGISTER_KERNEL_BUILDER(Name("ResizeNearestNeighbor")            \
                              .Device(DEVICE_GPU)                  \
                              .TypeConstraint<T>("T")              \
                              .HostMemory("size"),                 \
                          ResizeNearestNeighborOp);                \
  REGISTER_KERNEL_BUILDER(Name("ResizeNearestNeighborGrad")        \
                              .Device(DEVICE_GPU)                  \
                              .TypeConstraint<T>("T")              \
                              .HostMemory("size"),                 \
                          ResizeNearestNeighborGradOp<T>);
HR_GPU_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace::gpu
