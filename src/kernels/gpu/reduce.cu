// Device code of reduce_functors.h.
#include "kernels/gpu/reduce_functors.h"

namespace headrace::gpu {

#define HR_BOTH(...)                            \
  HR_GPU_BLOCK_FUNCTOR(RowReduce<__VA_ARGS__>); \
  HR_GPU_BLOCK_FUNCTOR(ColumnReduce<__VA_ARGS__>);
// In one pass; or into parts, which are of type C, and from these.
#define HR_REDUCE(T, C, OP)         \
  HR_BOTH(LoadElement<T>, OP<C>, T) \
  HR_BOTH(LoadElement<T>, OP<C>, C) \
  HR_BOTH(LoadElement<C>, OP<C>, T)
#define HR_REDUCE_SAME(T, OP) HR_BOTH(LoadElement<T>, OP<T>, T)
#define HR_OP(OP)                \
  HR_REDUCE_SAME(float, OP)      \
  HR_REDUCE_SAME(double, OP)     \
  HR_REDUCE(Half, float, OP)     \
  HR_REDUCE(Bfloat16, float, OP) \
  HR_REDUCE_SAME(int64_t, OP)
HR_OP(SumOp)
HR_OP(ProdOp)
HR_OP(MaxOp)
HR_OP(MinOp)
HR_BOTH(LoadElement<bool>, AllOp, bool)
HR_BOTH(LoadElement<bool>, AnyOp, bool)

#define HR_SQUARES(T)                            \
  HR_BOTH(LoadSquare<T>, SumOp<float>, T)        \
  HR_BOTH(LoadDeviation<T>, SumOp<float>, float) \
  HR_BOTH(LoadProduct<T>, SumOp<float>, float)   \
  HR_GPU_BLOCK_FUNCTOR(RowReduce<LoadDifference<T>, MaxOp<float>, float>);
HR_SQUARES(float)
HR_BOTH(LoadSquare<double>, SumOp<double>, double)
HR_SQUARES(Half)
HR_SQUARES(Bfloat16)
HR_BOTH(LoadSquare<Half>, SumOp<float>, float)
HR_BOTH(LoadSquare<Bfloat16>, SumOp<float>, float)

#define HR_ROWS(T)                                 \
  HR_GPU_BLOCK_FUNCTOR(SoftmaxRow<T, false>);      \
  HR_GPU_BLOCK_FUNCTOR(SoftmaxRow<T, true>);       \
  HR_GPU_BLOCK_FUNCTOR(XentRow<T>);                \
  HR_GPU_BLOCK_FUNCTOR(SparseXentRow<T, int32_t>); \
  HR_GPU_BLOCK_FUNCTOR(SparseXentRow<T, int64_t>); \
  HR_GPU_FUNCTOR(ArgExtreme<T, int32_t, true>);    \
  HR_GPU_FUNCTOR(ArgExtreme<T, int64_t, true>);    \
  HR_GPU_FUNCTOR(ArgExtreme<T, int32_t, false>);   \
  HR_GPU_FUNCTOR(ArgExtreme<T, int64_t, false>);
HR_ROWS(float)
HR_ROWS(double)
HR_ROWS(Half)
HR_ROWS(Bfloat16)
#define HR_NORMS(T)                      \
  HR_GPU_BLOCK_FUNCTOR(LayerNormRow<T>); \
  HR_GPU_FUNCTOR(BatchNormApply<T>);     \
  HR_GPU_FUNCTOR(BatchNormGradInput<T>);
HR_NORMS(float)
HR_NORMS(Half)
HR_NORMS(Bfloat16)
HR_GPU_FUNCTOR(BatchNormStats);
HR_GPU_FUNCTOR(BatchNormGradScale);

}  // namespace headrace::gpu
