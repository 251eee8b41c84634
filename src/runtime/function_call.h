// A call of a function that is in progress, and the compiled function that it
// runs.
#ifndef HEADRACE_RUNTIME_FUNCTION_CALL_H_
#define HEADRACE_RUNTIME_FUNCTION_CALL_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/kernel/function_runtime.h"
#include "framework/kernel/rendezvous.h"
#include "runtime/call_site.h"
#include "runtime/executor.h"
#include "runtime/function_runtime.h"

namespace headrace {

// A function with its attrs, compiled for one device. Immutable once compiled.
// A device with a memory of its own may lack kernels for some nodes of the
// body. These run on the host's device, and so there are two parts; values
// cross between parts, and between the memories of one, by the call's own
// rendezvous.
class FunctionInstance : public FunctionRuntime::Function {
 public:
  FunctionInstance(std::string name, AttrMap attrs, Device* device)
      : attrs(std::move(attrs)) {
    name_ = std::move(name);
    device_ = device;
  }
  void SetTypes(DataTypeVector args, DataTypeVector rets) {
    arg_types_ = std::move(args);
    ret_types_ = std::move(rets);
  }

  // True if a call needs the rendezvous of its step.
  bool needs_rendezvous() const {
    return !crosses && parts.front()->needs_rendezvous();
  }

  const AttrMap attrs;
  std::vector<std::unique_ptr<Executor>> parts;  // at least one
  bool crosses = false;    // values cross between parts or memories
  bool has_state = false;  // in a kernel
};

// Owns itself: Start is called once, and the call is deleted when it has ended.
class FunctionCall final : public CallFrame {
 public:
  // `session` and `function` live until `done` is called. `step` is that of the
  // caller; the call has a copy with itself as the call frame.
  FunctionCall(SessionFunctions* session, const FunctionInstance& function,
               const StepArgs& step, const CallSite& site,
               std::vector<Tensor> args, FunctionRuntime::DoneCallback done);

  const Tensor* GetArg(int i) const override {
    return i >= 0 && i < static_cast<int>(args_.size()) ? &args_[i] : nullptr;
  }
  // A body has one node for each argument, and it runs once.
  bool TakeArg(int i, Tensor* out) override;
  // Parts set different results, perhaps at the same time.
  Status SetRetval(int i, const Tensor& value) override;

  // Runs on the calling thread as far as it can, unless the chain of calls on
  // that thread's stack is long.
  void Start();

 private:
  void Run();
  void EndPart(bool complete);
  void Finish(bool complete);
  void End(const Status& s);

  const FunctionInstance& function_;
  std::vector<Tensor> args_, rets_;
  const CallSite site_;
  RefPtr<Rendezvous> rendezvous_;  // null unless values cross
  std::atomic<size_t> parts_running_;
  std::atomic<bool> complete_{true};
  StepArgs step_;
  StepFunctions functions_;
  FunctionRuntime::DoneCallback done_;
};

// InvalidArgument if `args` are not what the function takes; ResourceExhausted
// if the call would be deeper than kMaxCallDepth.
Status CheckCall(const FunctionRuntime::Function& function, int depth,
                 const std::vector<Tensor>& args);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_FUNCTION_CALL_H_
