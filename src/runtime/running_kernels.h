// RunningKernels: the dear synchronous kernels that the threads of one step are
// in, so that whoever waits for a cancelled step can leave it to itself: a sort
// or a Python function cannot be interrupted, but nobody needs to wait for it.
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
  // A kernel call, from construction to destruction. It may not begin where
  // `may_run` is false: the step was left.
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

  // Leaves the step, of which no further kernel begins, if some kernel is
  // running and all that are may go on by themselves: they write nothing but
  // their outputs, or are Python functions. `which` then names them, else those
  // that have to be waited for.
  bool Leave(std::string* which);

 private:
  Mutex mu_;
  Call* first_ GUARDED_BY(mu_) = nullptr;
  bool left_ GUARDED_BY(mu_) = false;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_RUNNING_KERNELS_H_
