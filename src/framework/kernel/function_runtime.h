// FunctionRuntime: how a kernel calls functions of the graph. The one that a
// kernel finds in its context knows the step: what it calls runs with the
// step's cancellation, rendezvous, resources and trace, and a failure in it
// fails the step.
//
// Thread-safe. A FunctionRuntime lives as long as the kernel's call; the
// functions that it hands out live as long as the session, so that a kernel may
// keep them.
#ifndef HEADRACE_FRAMEWORK_KERNEL_FUNCTION_RUNTIME_H_
#define HEADRACE_FRAMEWORK_KERNEL_FUNCTION_RUNTIME_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "headrace/attr_value.h"
#include "headrace/op_kernel.h"
#include "headrace/tensor.h"

namespace headrace {

class DetachedFunctions;

// True if a value of that type is in the host's memory where functions get and
// give it, on every device: what kernels of DEVICE_DEFAULT have there.
inline bool StaysOnHostInCalls(DataType type) {
  return !DataTypeCanUseMemcpy(type) || type == DT_INT32;
}

// Calls that have state of their own: the kernels with state of the functions
// called, their random streams for one, belong to the scope and begin anew in
// the next. Calls in no scope share theirs as long as the session lives. An
// iterator is a scope: what it gives does not depend on those before it.
class FunctionScope {
 public:
  virtual ~FunctionScope() = default;
};

class FunctionRuntime {
 public:
  // A function with its attrs, ready to run on one device.
  class Function {
   public:
    virtual ~Function() = default;
    const std::string& name() const { return name_; }
    const DataTypeVector& arg_types() const { return arg_types_; }
    const DataTypeVector& ret_types() const { return ret_types_; }
    // The one that it runs on. Arguments and results are in its memory, except
    // those of types that stay on the host (StaysOnHostInCalls).
    Device* device() const { return device_; }

   protected:
    Device* device_ = nullptr;
    std::string name_;
    DataTypeVector arg_types_, ret_types_;
  };

  // `results` are those of the function, as many and of the types that it
  // declares, if the status is OK.
  using DoneCallback =
      std::function<void(const Status&, std::vector<Tensor> results)>;

  virtual ~FunctionRuntime() = default;

  // Compiles the function for `device` (a full name, or a part of one that
  // fits) when it is asked for the first time. NotFound if there is no such
  // function; InvalidArgument, naming it, if its body is not valid or no device
  // fits.
  virtual Status Instantiate(const NameAttrList& function,
                             const std::string& device,
                             const Function** out) = 0;

  // Runs on the calling thread as far as it can and calls `done` exactly once,
  // perhaps before this returns. `caller` is named in messages. Arguments that
  // only `args` holds may be overwritten. ResourceExhausted if the chain of
  // calls has become too long.
  virtual void Call(const Function& function, const OpKernel& caller,
                    std::vector<Tensor> args, DoneCallback done) = 0;

  // The function that computes the gradients of `function`, of all arguments
  // and from those of all results: the one that the library names, or one that
  // is made now. An error if it has no gradient.
  virtual StatusOr<NameAttrList> Gradient(const NameAttrList& function) = 0;

  // The same functions for what outlives the step. Never null.
  virtual std::shared_ptr<DetachedFunctions> Detach() = 0;
};

// Calls functions apart from any step, for datasets and iterators. A failure in
// a call is its caller's alone. Each call has resources of its own.
//
// Thread-safe. May outlive the session, whose end cancels the calls in progress
// and waits for them; whatever is asked later is Cancelled.
class DetachedFunctions {
 public:
  using Function = FunctionRuntime::Function;

  virtual ~DetachedFunctions() = default;

  // As FunctionRuntime::Instantiate.
  virtual Status Instantiate(const NameAttrList& function,
                             const std::string& device,
                             const Function** out) = 0;

  // FailedPrecondition "X is stateful." if the function, or one that it calls,
  // has an op X whose state is not in the place of an iterator that calls it.
  virtual Status CheckSavable(const std::string& function) = 0;

  // Runs `fn` on the session's pool, soon. False, and `fn` is dropped, if the
  // session has ended or there is no memory. `fn` must not wait or throw.
  [[nodiscard]] virtual bool Schedule(absl::AnyInvocable<void()> fn) = 0;

  virtual std::shared_ptr<FunctionScope> NewScope() = 0;

  // As FunctionRuntime::Call. `scope`, of this session, may be null and lives
  // until `done`. `cancellation` ends the call, and lives until `done`, which
  // does not run inside a callback of it.
  virtual void Call(const Function& function, FunctionScope* scope,
                    std::shared_ptr<const NodeDef> caller,
                    std::vector<Tensor> args, CancellationManager* cancellation,
                    FunctionRuntime::DoneCallback done) = 0;
  // Call, and waits for its end. The thread works for the call meanwhile.
  virtual Status CallAndWait(const Function& function, FunctionScope* scope,
                             std::shared_ptr<const NodeDef> caller,
                             std::vector<Tensor> args,
                             CancellationManager* cancellation,
                             std::vector<Tensor>* results) = 0;
};

// A kernel that calls functions; see KernelTraits::calls_functions.
class FunctionCallKernel : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    traits->calls_functions = true;
  }
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_FUNCTION_RUNTIME_H_
