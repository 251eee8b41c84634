#include "runtime/function_call.h"

#include "base/exceptions.h"
#include "base/thread_pool.h"

namespace headrace {
namespace {

// A call runs on its caller's stack; every so many calls the stack would grow
// too deep, and the call goes on in a thread of the pool.
constexpr int kCallsOnOneStack = 32;

}  // namespace

FunctionCall::FunctionCall(SessionFunctions* session,
                           const FunctionInstance& function,
                           const StepArgs& step, const CallSite& site,
                           std::vector<Tensor> args,
                           FunctionRuntime::DoneCallback done)
    : function_(function),
      args_(std::move(args)),
      rets_(function.ret_types().size()),
      site_(site),
      parts_running_(function.parts.size()),
      step_(step),
      functions_(session, &step_, &site_),
      done_(std::move(done)) {
  step_.call_frame = this;
  step_.functions = &functions_;
  step_.call_site = &site_;
  if (function.crosses) {
    rendezvous_ = NewLocalRendezvous();
    step_.rendezvous = rendezvous_.get();
  }
}

bool FunctionCall::TakeArg(int i, Tensor* out) {
  if (i < 0 || i >= static_cast<int>(args_.size())) return false;
  *out = std::move(args_[i]);
  return true;
}

Status FunctionCall::SetRetval(int i, const Tensor& value) {
  if (i < 0 || i >= static_cast<int>(rets_.size())) {
    return errors::InvalidArgument("Retval index ", i, " of ", rets_.size());
  }
  rets_[i] = value;
  return OkStatus();
}

void FunctionCall::Start() {
  if (site_.depth % kCallsOnOneStack != 0 || step_.pool == nullptr) {
    return Run();
  }
  try {
    step_.pool->Schedule([this] { Run(); }, step_.group);
  } catch (const std::exception& e) {
    End(StatusOf(e));
  }
}

void FunctionCall::Run() {
  const auto& parts = function_.parts;
  if (parts.size() == 1) {
    parts.front()->RunAsync(step_, [this](bool c) { Finish(c); });
    return;
  }
  // The call may end while the last part is started.
  for (size_t i = 0, n = parts.size(); i < n; ++i) {
    parts[i]->RunAsync(step_, [this](bool c) { EndPart(c); });
  }
}

void FunctionCall::EndPart(bool complete) {
  if (!complete) complete_.store(false, std::memory_order_relaxed);
  if (parts_running_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Finish(complete_.load(std::memory_order_relaxed));
  }
}

void FunctionCall::Finish(bool complete) {
  Status s;
  if (!complete) [[unlikely]]
    s = step_.cancellation->status();
  for (size_t i = 0; i < rets_.size() && s.ok(); ++i) {
    if (!rets_[i].IsInitialized()) [[unlikely]] {
      s = errors::InvalidArgument("Retval[", i,
                                  "] does not have value: a "
                                  "result of function '",
                                  function_.name(), "'");
    }
  }
  End(s);
}

void FunctionCall::End(const Status& s) {
  const FunctionRuntime::DoneCallback done = std::move(done_);
  std::vector<Tensor> rets = std::move(rets_);
  delete this;
  done(s, std::move(rets));
}

Status CheckCall(const FunctionRuntime::Function& function, int depth,
                 const std::vector<Tensor>& args) {
  if (depth > kMaxCallDepth) {
    return errors::ResourceExhausted(
        "function '", function.name(), "' is called at depth ", depth,
        ", the limit is ", kMaxCallDepth, ": does its recursion end?");
  }
  if (args.size() != function.arg_types().size()) {
    return errors::InvalidArgument("function '", function.name(), "' has ",
                                   function.arg_types().size(),
                                   " arguments, was called with ", args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].dtype() != function.arg_types()[i]) {
      return errors::InvalidArgument(
          "argument ", i, " of function '", function.name(), "' is ",
          DataTypeString(function.arg_types()[i]), ", was called with ",
          DataTypeString(args[i].dtype()));
    }
  }
  return OkStatus();
}

}  // namespace headrace
