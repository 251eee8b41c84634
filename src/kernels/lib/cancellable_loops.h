// CancellableLoops: for its lifetime, cancelling the step ends the kernel's
// parallel loops between two blocks, and the kernel fails with Cancelled. Use
// it only around loops that fill outputs or scratch memory. Never use it around
// a loop that writes a variable or state that the kernel keeps for later calls.
#ifndef HEADRACE_KERNELS_LIB_CANCELLABLE_LOOPS_H_
#define HEADRACE_KERNELS_LIB_CANCELLABLE_LOOPS_H_

#include "base/stoppable_loops.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Used by the thread that runs the kernel.
class CancellableLoops {
 public:
  explicit CancellableLoops(OpKernelContext* ctx)
      : ctx_(ctx),
        loops_(
            [](const void* manager) {
              return manager != nullptr &&
                     static_cast<const CancellationManager*>(manager)
                         ->IsCancelled();
            },
            ctx->cancellation_manager()) {}
  ~CancellableLoops() {
    if (loops_.cut()) {
      ctx_->CtxFailure(errors::Cancelled("the step was cancelled"));
    }
  }

 private:
  OpKernelContext* const ctx_;
  const StoppableLoops loops_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_CANCELLABLE_LOOPS_H_
