// RunWaiting: the end of an asynchronous kernel that iterates a dataset.
#ifndef HEADRACE_KERNELS_DATA_RUN_WAITING_H_
#define HEADRACE_KERNELS_DATA_RUN_WAITING_H_

#include <memory>
#include <utility>

#include "base/exceptions.h"
#include "base/waiting_threads.h"
#include "framework/kernel/function_runtime.h"
#include "kernels/data/dataset.h"

namespace headrace {

// Runs work() and calls `done`. work() returns a Status; an error goes to
// `ctx`. If `dataset` may wait, so may work(), and it runs on a thread that may
// wait.
template <typename F>
void RunWaiting(OpKernelContext* ctx, const Dataset& dataset,
                AsyncOpKernel::DoneCallback done, F work) {
  if (!dataset.may_wait()) {
    OP_REQUIRES_OK_ASYNC(ctx, work(), done);
    done();
    return;
  }
  if (!StartWaitingThread([ctx, done, work = std::move(work)]() mutable {
        {
          F w = std::move(work);
          const Status s = CatchExceptions([&w] { return w(); });
          if (!s.ok()) ctx->CtxFailure(s);
        }
        done();
      })) {
    ctx->CtxFailure(errors::ResourceExhausted("no thread to iterate on"));
    done();
  }
}

// Creates the scope of a new iteration. Null if the kernel runs outside a
// session.
inline std::shared_ptr<FunctionScope> NewFunctionScope(OpKernelContext* ctx) {
  return ctx->functions() == nullptr ? nullptr
                                     : ctx->functions()->Detach()->NewScope();
}

// The context for a kernel's calls of iterators in `scope`, which may be null.
class KernelIteration {
 public:
  KernelIteration(OpKernelContext* ctx, std::shared_ptr<FunctionScope> scope)
      : scope_(std::move(scope)),
        context_{ctx->cancellation_manager() != nullptr
                     ? ctx->cancellation_manager()
                     : &none_,
                 0, scope_.get()} {}
  // For an iteration that belongs to the kernel.
  explicit KernelIteration(OpKernelContext* ctx)
      : KernelIteration(ctx, NewFunctionScope(ctx)) {}
  const IteratorContext& context() const { return context_; }

 private:
  CancellationManager none_;
  const std::shared_ptr<FunctionScope> scope_;
  IteratorContext context_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_RUN_WAITING_H_
