// WaitingResource: shared state on which steps make attempts. An attempt that
// is not possible yet waits without a thread. After every successful attempt
// the waiting ones are tried again, in order of arrival. Cancelling its step
// ends the wait.
//
// Thread-safe. Callbacks run without locks, on the thread that made them
// possible.
#ifndef HEADRACE_KERNELS_LIB_WAITING_RESOURCE_H_
#define HEADRACE_KERNELS_LIB_WAITING_RESOURCE_H_

#include <functional>
#include <list>

#include "absl/functional/function_ref.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {

class WaitingResource : public ResourceBase {
 public:
  // Runs with mu_ held; a lambda says REQUIRES(mu_). True if the attempt is
  // over: it succeeded, or it put an error into its context. False, without
  // changing anything, to wait.
  using Attempt = std::function<bool()>;

  // Calls `done` once: after the attempt, or with Cancelled in `ctx`.
  void Run(OpKernelContext* ctx, Attempt attempt,
           AsyncOpKernel::DoneCallback done);

 protected:
  // Runs `change` with mu_ held: a change of the state other than an attempt.
  void Change(absl::FunctionRef<void()> change);

  mutable Mutex mu_;

 private:
  struct Waiting {
    int64_t id = 0;
    OpKernelContext* ctx = nullptr;
    Attempt attempt;
    AsyncOpKernel::DoneCallback done;
    CancellationManager::Token token = 0;
    bool registered = false;
  };
  using WaitingList = std::list<Waiting>;

  void Retry(WaitingList* ended) REQUIRES(mu_);
  void Cancel(int64_t id);
  static void Finish(WaitingList* ended);

  int64_t next_id_ GUARDED_BY(mu_) = 0;
  WaitingList waiting_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_WAITING_RESOURCE_H_
