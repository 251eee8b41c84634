// SeededOp: the base of kernels that take numbers from a stream of their own.
// The attrs seed and seed2 make the stream; each run goes on where the last one
// stopped, as long as the session lives. Runs may come from several threads.
#ifndef HEADRACE_KERNELS_RANDOM_SEEDED_OP_H_
#define HEADRACE_KERNELS_RANDOM_SEEDED_OP_H_

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/random_stream.h"

namespace headrace {

class SeededOp : public OpKernel {
 public:
  explicit SeededOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, InitFromSeedAttrs(ctx, &stream_));
  }

 protected:
  GuardedPhilox stream_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_RANDOM_SEEDED_OP_H_
