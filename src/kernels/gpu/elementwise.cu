// Device code of elementwise_functors.h.
#include "kernels/gpu/elementwise_functors.h"

namespace headrace::gpu {

#define HR_FLOATS(M, ...) \
  M(float, __VA_ARGS__);  \
  M(double, __VA_ARGS__); \
  M(Half, __VA_ARGS__);   \
  M(Bfloat16, __VA_ARGS__)

#define HR_UNARY(T, OP) HR_GPU_FUNCTOR(UnaryMap<Fn::k##OP, T>)
#define HR_UNARY_OP(OP) HR_FLOATS(HR_UNARY, OP);
HR_GPU_UNARY_OPS(HR_UNARY_OP)
#define HR_BINARY(T, OP) HR_GPU_FUNCTOR(BinaryMap<Fn::k##OP, T>)
#define HR_BINARY_OP(OP) HR_FLOATS(HR_BINARY, OP);
HR_GPU_BINARY_OPS(HR_BINARY_OP)
HR_GPU_GRAD_OPS(HR_BINARY_OP)
#define HR_BINARY_INT64(OP) HR_BINARY(int64_t, OP);
HR_GPU_INT_BINARY_OPS(HR_BINARY_INT64)
#define HR_COMPARE(T, OP) HR_GPU_FUNCTOR(CompareMap<Fn::k##OP, T>)
#define HR_COMPARE_OP(OP)    \
  HR_FLOATS(HR_COMPARE, OP); \
  HR_COMPARE(int64_t, OP);
HR_GPU_COMPARE_OPS(HR_COMPARE_OP)

#define HR_TEST(T, OP) HR_GPU_FUNCTOR(TestMap<Fn::k##OP, T>)
#define HR_TEST_OP(OP) HR_FLOATS(HR_TEST, OP);
HR_GPU_TEST_OPS(HR_TEST_OP)

#define HR_TYPED(T, FUNCTOR) HR_GPU_FUNCTOR(FUNCTOR<T>)
HR_FLOATS(HR_TYPED, LeakyRelu);
HR_FLOATS(HR_TYPED, LeakyReluGrad);
HR_FLOATS(HR_TYPED, BiasTail);
HR_FLOATS(HR_TYPED, FoldBatchNorm);
HR_FLOATS(HR_TYPED, AddNMap);
HR_FLOATS(HR_TYPED, SetMap);
HR_GPU_FUNCTOR(Chain<float>);
HR_GPU_FUNCTOR(LogicalMap<0>);
HR_GPU_FUNCTOR(LogicalMap<1>);
HR_GPU_FUNCTOR(LogicalNotMap);
HR_GPU_FUNCTOR(RangeMap<float>);
HR_GPU_FUNCTOR(RangeMap<double>);
HR_GPU_FUNCTOR(RangeMap<int64_t>);

#define HR_CAST(FROM, TO) HR_GPU_FUNCTOR(CastMap<FROM, TO>);
HR_GPU_CASTS(HR_CAST)

#define HR_WIDE(BYTES)                       \
  HR_GPU_FUNCTOR(SelectMap<Element<BYTES>>); \
  HR_GPU_FUNCTOR(FillMap<Element<BYTES>>);
HR_GPU_WIDTHS(HR_WIDE)

}  // namespace headrace::gpu
