// Fills tensors with random numbers, for the stateful and the stateless ops.
// Each function depends only on its stream. The stream must have at least the
// blocks that GuardedPhilox::ReserveOutputs reserves for n outputs.
#ifndef HEADRACE_KERNELS_RANDOM_RANDOM_FILL_H_
#define HEADRACE_KERNELS_RANDOM_RANDOM_FILL_H_

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"

namespace headrace {

enum class RandomDist { kUniform, kNormal, kTruncatedNormal };

// `out` is half, bfloat16, float or double.
Status FillRandom(OpKernelContext* ctx, RandomDist dist, const Philox& stream,
                  Tensor* out);

// Integers in [lo, hi) of out's type (32 or 64 bits). The bounds are scalars of
// that type. InvalidArgument unless lo < hi.
Status FillUniformInt(OpKernelContext* ctx, const Philox& stream,
                      const Tensor& lo, const Tensor& hi, Tensor* out);

// The checks of FillUniformInt for n results.
Status CheckUniformIntBounds(const Tensor& lo, const Tensor& hi, int64_t n);

// Draws from all values of a 32- or 64-bit integer type.
Status FillFullInt(OpKernelContext* ctx, const Philox& stream, Tensor* out);

// Samples classes from rows of unnormalised log-probabilities. `out` is
// [batch, num_samples] of int32 or int64.
Status FillMultinomial(OpKernelContext* ctx, const Philox& stream,
                       const Tensor& logits, Tensor* out);
// The shape of that output. Checks all inputs.
Status MultinomialShape(const Tensor& logits, const Tensor& num_samples,
                        TensorShape* out);

// Reads an int32 or int64 vector as a shape.
Status ShapeFromVector(const Tensor& t, TensorShape* out);

// InvalidArgument unless the last dims of `shape` equal `parameters`.
Status CheckShapeEndsWith(const TensorShape& shape,
                          const TensorShape& parameters);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_RANDOM_RANDOM_FILL_H_
