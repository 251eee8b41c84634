// Device code of row_functors.h, resize_functors.h and conv3d_functors.h.
#include "kernels/gpu/conv3d_functors.h"
#include "kernels/gpu/resize_functors.h"
#include "kernels/gpu/row_functors.h"
#include "kernels/gpu/update_functors.h"

namespace headrace::gpu {

#define HR_SPARSE(RULE, T) \
  HR_GPU_FUNCTOR(UpdateRows<OptimizerStep<optimizer_rules::RULE, T>>);
#define HR_OPTIMIZER(RULE) \
  HR_SPARSE(RULE, float)   \
  HR_SPARSE(RULE, double)  \
  HR_SPARSE(RULE, Half)    \
  HR_SPARSE(RULE, Bfloat16)
HR_GPU_SPARSE_OPTIMIZERS(HR_OPTIMIZER)

#define HR_TYPED(T)                           \
  HR_GPU_FUNCTOR(UpdateRows<CombineRows<T>>); \
  HR_GPU_FUNCTOR(TopElements<T>);
HR_TYPED(float)
HR_TYPED(double)
HR_TYPED(Half)
HR_TYPED(Bfloat16)
HR_TYPED(int64_t)

#define HR_IMAGES(T)                        \
  HR_GPU_FUNCTOR(ResizeBilinearMap<T>);     \
  HR_GPU_FUNCTOR(ResizeBilinearGradMap<T>); \
  HR_GPU_FUNCTOR(ResizeNearestGradMap<T>);  \
  HR_GPU_FUNCTOR(Conv3DMap<T>);             \
  HR_GPU_FUNCTOR(Conv3DInputMap<T>);        \
  HR_GPU_FUNCTOR(Conv3DFilterMap<T>);
HR_IMAGES(float)
HR_IMAGES(Half)
HR_IMAGES(Bfloat16)

#define HR_WIDE(BYTES)               \
  HR_GPU_FUNCTOR(GatherRows<BYTES>); \
  HR_GPU_FUNCTOR(ResizeNearestMap<BYTES>);
HR_GPU_WIDTHS(HR_WIDE)

}  // namespace headrace::gpu
