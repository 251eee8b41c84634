// Shared by the kernels that call functions.
#ifndef HEADRACE_KERNELS_FLOW_FUNCTION_CALL_H_
#define HEADRACE_KERNELS_FLOW_FUNCTION_CALL_H_

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "framework/kernel/function_runtime.h"
#include "headrace/op_kernel.h"

namespace headrace {

// The function of an attr. Compiled at the first call, then kept. Thread-safe.
class FunctionAttr {
 public:
  FunctionAttr() = default;
  explicit FunctionAttr(NameAttrList f) : name_(std::move(f)) {}
  FunctionAttr(FunctionAttr&& f) : name_(std::move(f.name_)) {}

  Status Init(OpKernelConstruction* ctx, const char* attr) {
    return ctx->GetAttr(attr, &name_);
  }
  const NameAttrList& name() const { return name_; }

  // FailedPrecondition outside of a session, where there are no functions.
  Status Get(OpKernelContext* ctx, const FunctionRuntime::Function** out);

 private:
  NameAttrList name_;
  std::atomic<const FunctionRuntime::Function*> function_{nullptr};
};

// Inputs [begin, end). They share their buffers.
std::vector<Tensor> CopyInputs(OpKernelContext* ctx, int begin);

// InvalidArgument unless the function's results fit the kernel's outputs.
Status CheckResults(const OpKernelContext& ctx,
                    const FunctionRuntime::Function& f);

// Ends a kernel that called a function: sets its outputs to the results, or its
// failure.
void EndCallKernel(OpKernelContext* ctx, const Status& s,
                   std::vector<Tensor> results,
                   const AsyncOpKernel::DoneCallback& done);

// Calls `f` and sets the kernel's outputs to its results.
void CallForOutputs(OpKernelContext* ctx, const FunctionRuntime::Function& f,
                    std::vector<Tensor> args, AsyncOpKernel::DoneCallback done);

// Brings values of a call from the memory of `from` to that of `to`; those of
// types that stay on the host are left as they are. Copies that a device makes
// are waited for, `done` is called on whatever thread.
void CopyBetween(Device* from, Device* to, std::vector<Tensor> values,
                 std::function<void(const Status&, std::vector<Tensor>)> done);

// A tensor of the host as a condition. A scalar is false if it is zero, false
// or the empty string. Any other tensor is true if it has elements.
Status TensorAsBool(const Tensor& t, bool* out);

// Calls functions one after the other; each gets the results of the previous
// one. If a call ends before it returns, the next call follows in a loop and
// not by recursion, so the stack does not grow with the number of calls.
//
// Owns itself: it is deleted when the sequence ends.
class CallSequence {
 public:
  CallSequence(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done)
      : ctx_(ctx), done_(std::move(done)) {}
  virtual ~CallSequence() = default;

  void Run();

 protected:
  // Starts the next call by Call(), or returns false at the end, with outputs
  // or a failure set.
  virtual bool Next() = 0;
  void Call(const FunctionRuntime::Function& f, std::vector<Tensor> args);
  // The same for a condition: its first result is brought to the host's memory.
  void CallCondition(const FunctionRuntime::Function& f,
                     std::vector<Tensor> args);

  OpKernelContext* const ctx_;
  // The results of the last call that ended.
  Status status_;
  std::vector<Tensor> results_;

 private:
  void EndCall(const Status& s, std::vector<Tensor> results);

  AsyncOpKernel::DoneCallback done_;
  // Set by the return of a call and by its callback: the second goes on.
  std::atomic<bool> first_is_through_{false};
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_FUNCTION_CALL_H_
