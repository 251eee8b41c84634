// Device code of layout_functors.h and pool_functors.h.
#include "kernels/gpu/layout_functors.h"
#include "kernels/gpu/pool_functors.h"

namespace headrace::gpu {

#define HR_WIDE(BYTES)                        \
  HR_GPU_FUNCTOR(BoxMove<BYTES>);             \
  HR_GPU_FUNCTOR(PadMove<BYTES>);             \
  HR_GPU_FUNCTOR(GatherMove<BYTES, int32_t>); \
  HR_GPU_FUNCTOR(GatherMove<BYTES, int64_t>); \
  HR_GPU_FUNCTOR(OneHotMove<BYTES, int32_t>); \
  HR_GPU_FUNCTOR(OneHotMove<BYTES, int64_t>); \
  HR_GPU_FUNCTOR(OneHotMove<BYTES, uint8_t>); \
  HR_GPU_BLOCK_FUNCTOR(TileTranspose<BYTES>);
HR_GPU_WIDTHS(HR_WIDE)

#define HR_TYPED(T)                       \
  HR_GPU_FUNCTOR(SegmentSum<T, int32_t>); \
  HR_GPU_FUNCTOR(SegmentSum<T, int64_t>); \
  HR_GPU_FUNCTOR(MaxPoolMap<T>);          \
  HR_GPU_FUNCTOR(AvgPoolMap<T>);          \
  HR_GPU_FUNCTOR(MaxPoolGradMap<T>);      \
  HR_GPU_FUNCTOR(AvgPoolGradMap<T>);
HR_TYPED(float)
HR_GPU_FUNCTOR(SegmentSum<double, int32_t>);
HR_GPU_FUNCTOR(SegmentSum<double, int64_t>);
HR_TYPED(Half)
HR_TYPED(Bfloat16)

}  // namespace headrace::gpu
