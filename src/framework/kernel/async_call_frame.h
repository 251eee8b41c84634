// A CallFrame whose arguments arrive while the step runs.
#ifndef HEADRACE_FRAMEWORK_KERNEL_ASYNC_CALL_FRAME_H_
#define HEADRACE_FRAMEWORK_KERNEL_ASYNC_CALL_FRAME_H_

#include <functional>

#include "headrace/op_kernel.h"

namespace headrace {

// Thread-safe.
class AsyncCallFrame : public CallFrame {
 public:
  using ArgCallback = std::function<void(const Status&, const Tensor&)>;

  AsyncCallFrame* AsAsync() final { return this; }

  // Calls `done` exactly once: with the argument as soon as it is there, or
  // with Cancelled when `cancellation` fires first.
  virtual void WaitArg(int index, CancellationManager* cancellation,
                       ArgCallback done) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_ASYNC_CALL_FRAME_H_
