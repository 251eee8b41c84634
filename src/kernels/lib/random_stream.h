// Streams of random numbers from an op's attrs or inputs: from seeds, from a
// key and a counter, or from a variable that holds a generator's state.
#ifndef HEADRACE_KERNELS_LIB_RANDOM_STREAM_H_
#define HEADRACE_KERNELS_LIB_RANDOM_STREAM_H_

#include <cstdint>

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"

namespace headrace {

// From the attrs "seed" and "seed2".
Status InitFromSeedAttrs(OpKernelConstruction* ctx, GuardedPhilox* stream);

// The numbering of the inputs "alg" and "algorithm". Philox alone has kernels.
enum RngAlgorithm { kPhilox = 1, kThreeFry = 2, kAutoSelect = 3 };
Status CheckRngAlgorithm(int64_t alg);
// Of an input that must be a scalar, int32 or int64.
Status CheckRngAlgorithm(const Tensor& alg);

// From two integers, scrambled by one Philox block into a key and the upper
// half of a counter.
Status StreamFromSeed(const Tensor& seed, Philox* out);

Status StreamFromKey(const Tensor& key, const Tensor& counter,
                     const Tensor& alg, Philox* out);

// Takes the stream that starts at the state of the variable in input 0, and
// moves the state `blocks` blocks on (modulo 2^64: the carry beyond is lost).
// The state is an int64 vector: `before` elements of other use, the two halves
// of the counter, the lower first, and the key. The variable is not changed if
// this fails.
Status ReserveFromVariable(OpKernelContext* ctx, int64_t before,
                           uint64_t blocks, Philox* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_RANDOM_STREAM_H_
