// What the kernels that call functions share.
#ifndef HEADRACE_KERNELS_FLOW_FUNCTION_CALL_H_
#define HEADRACE_KERNELS_FLOW_FUNCTION_CALL_H_

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "framework/kernel/function_runtime.h"
#include "headrace/op_kernel.h"

namespace headrace {

// A function named by an attr, compiled when it is first called and then kept.
// Thread-safe.
class FunctionAttr {
 public:
  FunctionAttr() = default;
  explicit FunctionAttr(NameAttrList f) : name_(std::move(f)) {}
  FunctionAttr(FunctionAttr&& f) : name_(std::move(f.name_)) {}

  Status Init(OpKernelConstruction* ctx, const char* attr) {
    return ctx->GetAttr(attr, &name_);
  }
  const NameAttrList& name() const { return name_; }

  // FailedPrecondition where there are no functions: outside of a session.
  Status Get(OpKernelContext* ctx, const FunctionRuntime::Function** out);

 private:
  NameAttrList name_;
  std::atomic<const FunctionRuntime::Function*> function_{nullptr};
};

// Inputs [begin, end), sharing their buffers.
std::vector<Tensor> CopyInputs(OpKernelContext* ctx, int begin);

// Checks that the function gives what the kernel puts out.
Status CheckResults(const OpKernelContext& ctx,
                    const FunctionRuntime::Function& f);

// Calls `f` and makes its results the outputs of the kernel.
void CallForOutputs(OpKernelContext* ctx, const FunctionRuntime::Function& f,
                    std::vector<Tensor> args, AsyncOpKernel::DoneCallback done);

// What a tensor says as a condition: a scalar is true unless it is zero, false
// or the empty string; any other tensor is true if it has elements.
Status TensorAsBool(const Tensor& t, bool* out);

// Functions called one after the other, each with what the one before gave. A
// call that ends before it returns is followed by the next in a loop, not by
// recursion: the stack does not grow with the number of calls.
//
// Owns itself: deleted when the sequence has ended.
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

  OpKernelContext* const ctx_;
  // Of the call that ended last.
  Status status_;
  std::vector<Tensor> results_;

 private:
  AsyncOpKernel::DoneCallback done_;
  // Set by the return of a call and by its callback: the second goes on.
  std::atomic<bool> first_is_through_{false};
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_FUNCTION_CALL_H_
