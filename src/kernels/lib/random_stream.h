// Streams of random numbers from an op's seeds, from a key and a counter, or
// from a variable with a generator's state.
#ifndef HEADRACE_KERNELS_LIB_RANDOM_STREAM_H_
#define HEADRACE_KERNELS_LIB_RANDOM_STREAM_H_

#include <cstdint>

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Uses the attrs "seed" and "seed2".
Status InitFromSeedAttrs(OpKernelConstruction* ctx, GuardedPhilox* stream);

// The values of the inputs "alg" and "algorithm". Only Philox has kernels.
enum RngAlgorithm { kPhilox = 1, kThreeFry = 2, kAutoSelect = 3 };
Status CheckRngAlgorithm(int64_t alg);
// Checks an input, which must be an int32 or int64 scalar.
Status CheckRngAlgorithm(const Tensor& alg);

// Makes a stream from two integers. One Philox block turns them into the key
// and the upper half of the counter.
Status StreamFromSeed(const Tensor& seed, Philox* out);

Status StreamFromKey(const Tensor& key, const Tensor& counter,
                     const Tensor& alg, Philox* out);

// Takes the stream that starts at the state in the variable of input 0, and
// advances that state by `blocks` blocks (modulo 2^64; the carry is lost). The
// state is an int64 vector: `before` elements for other uses, the two halves of
// the counter (lower half first), and the key. On failure the variable is
// unchanged.
Status ReserveFromVariable(OpKernelContext* ctx, int64_t before,
                           uint64_t blocks, Philox* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_RANDOM_STREAM_H_
