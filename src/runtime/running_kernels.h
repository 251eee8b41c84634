// RunningKernels: the expensive synchronous kernels that the threads of one run
// are in. Nothing can interrupt a sort or a Python function; by this list the
// caller of a cancelled run knows whether it may return without waiting for it.
//
// Thread-safe.
#ifndef HEADRACE_RUNTIME_RUNNING_KERNELS_H_
#define HEADRACE_RUNTIME_RUNNING_KERNELS_H_

#include <string>

#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {

class RunningKernels {
 public:
  // A kernel call, from construction to destruction. If `may_run` is false, the
  // caller has left the run and the kernel must not be called.
  class Call {
   public:
    Call(RunningKernels* step, const OpKernel* kernel);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    bool may_run() const { return listed_; }

   private:
    friend class RunningKernels;
    RunningKernels* const step_;  // null: nobody keeps a list
    const OpKernel* const kernel_;
    Call* previous_ = nullptr;
    Call* next_ = nullptr;
    bool listed_ = true;
  };

  // True if a kernel is running, and all that are may outlast the run
  // (KernelTraits::may_outlast_run): then no further one begins, and `which`
  // names those that run. Else false, and `which` names those that have to be
  // waited for.
  bool Leave(std::string* which);

 private:
  Mutex mu_;
  Call* first_ GUARDED_BY(mu_) = nullptr;
  bool left_ GUARDED_BY(mu_) = false;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_RUNNING_KERNELS_H_
