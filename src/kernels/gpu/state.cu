// Device code of update_functors.h and random_functors.h.
#include "kernels/gpu/random_functors.h"
#include "kernels/gpu/update_functors.h"

namespace headrace::gpu {

#define HR_OPTIMIZER(RULE)                                      \
  HR_GPU_FUNCTOR(OptimizerStep<optimizer_rules::RULE, float>);  \
  HR_GPU_FUNCTOR(OptimizerStep<optimizer_rules::RULE, double>); \
  HR_GPU_FUNCTOR(OptimizerStep<optimizer_rules::RULE, Half>);   \
  HR_GPU_FUNCTOR(OptimizerStep<optimizer_rules::RULE, Bfloat16>);
HR_GPU_OPTIMIZERS(HR_OPTIMIZER)

#define HR_TYPED(T)                \
  HR_GPU_FUNCTOR(AddTo<T, false>); \
  HR_GPU_FUNCTOR(AddTo<T, true>);
HR_TYPED(float)
HR_TYPED(double)
HR_TYPED(Half)
HR_TYPED(Bfloat16)
HR_TYPED(int64_t)

#define HR_RANDOM(T)                                      \
  HR_GPU_FUNCTOR(RandomGroup<T, Distribution::kUniform>); \
  HR_GPU_FUNCTOR(RandomGroup<T, Distribution::kNormal>);  \
  HR_GPU_FUNCTOR(RandomGroup<T, Distribution::kTruncatedNormal>);
HR_RANDOM(float)
HR_RANDOM(double)
HR_RANDOM(Half)
HR_RANDOM(Bfloat16)
HR_GPU_FUNCTOR(RandomIntegers<uint32_t>);
HR_GPU_FUNCTOR(RandomIntegers<uint64_t>);

}  // namespace headrace::gpu
