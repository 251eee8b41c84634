// Calls of functions that belong to no step: those of datasets and iterators.
#include <utility>

#include "base/exceptions.h"
#include "base/task_group.h"
#include "base/thread_pool.h"
#include "framework/kernel/rendezvous.h"
#include "runtime/function_call.h"
#include "runtime/function_runtime.h"
#include "runtime/help.h"

namespace headrace {
namespace {

// A detached call in progress: the step around a FunctionCall. Owns itself.
class DetachedCall {
 public:
  // The caller has entered the session.
  DetachedCall(std::shared_ptr<SessionFunctions> session, FunctionScope* scope,
               std::shared_ptr<const NodeDef> caller,
               CancellationManager* cancellation, TaskGroup* group)
      : session_(std::move(session)),
        caller_(std::move(caller)),
        cancellation_(cancellation) {
    CancellationManager* const all = session_->detached();
    token_ = all->NextToken();
    if (!all->RegisterCallback(token_, [this, all] {
          cancellation_.StartCancel(all->status());
        })) {
      cancellation_.StartCancel(all->status());
    }
    step_.step_id = session_->NextDetachedCall();
    step_.cancellation = &cancellation_;
    step_.step_resources = &resources_;
    step_.pool = session_->pool();
    step_.group = group;
    step_.function_scope = scope;
  }

  void Start(const FunctionInstance& function, std::vector<Tensor> args,
             FunctionRuntime::DoneCallback done) {
    done_ = std::move(done);
    FunctionCall* call = nullptr;
    const Status s = CatchExceptions([&] {
      if (function.needs_rendezvous()) {
        rendezvous_ = NewLocalRendezvous();
        step_.rendezvous = rendezvous_.get();
      }
      const CallSite site{&function.name(), caller_.get(), nullptr, 1};
      call = new FunctionCall(
          session_.get(), function, step_, site, std::move(args),
          [this](const Status& s, std::vector<Tensor> results) {
            Finish(s, std::move(results));
          });
      return OkStatus();
    });
    if (s.ok()) {
      call->Start();
    } else {
      End(s, {});
    }
  }

 private:
  void Finish(const Status& s, std::vector<Tensor> results) {
    if (!cancellation_.IsCancelled()) {
      End(s, std::move(results));
      return;
    }
    // This may be a callback of the cancellation, and End waits for those.
    step_.pool->Schedule(
        [this, s, results = std::move(results)]() mutable {
          End(s, std::move(results));
        },
        step_.group);
  }

  void End(const Status& s, std::vector<Tensor> results) {
    session_->detached()->DeregisterCallback(token_);
    const std::shared_ptr<SessionFunctions> session = std::move(session_);
    const FunctionRuntime::DoneCallback done = std::move(done_);
    delete this;
    done(s, std::move(results));
    session->Leave();
  }

  std::shared_ptr<SessionFunctions> session_;
  const std::shared_ptr<const NodeDef> caller_;
  CancellationManager cancellation_;
  CancellationManager::Token token_ = 0;
  ResourceMgr resources_;
  RefPtr<Rendezvous> rendezvous_;
  StepArgs step_;
  FunctionRuntime::DoneCallback done_;
};

class DetachedSessionFunctions : public DetachedFunctions {
 public:
  explicit DetachedSessionFunctions(std::shared_ptr<SessionFunctions> session)
      : session_(std::move(session)) {}

  Status Instantiate(const NameAttrList& function, const std::string& device,
                     const Function** out) override {
    HR_RETURN_IF_ERROR(session_->Enter());
    const FunctionInstance* instance = nullptr;
    // Whatever happens, who has entered leaves.
    const Status s = CatchExceptions(
        [&] { return session_->Instantiate(function, device, &instance); });
    *out = instance;
    session_->Leave();
    return s;
  }

  Status CheckSavable(const std::string& function) override {
    HR_RETURN_IF_ERROR(session_->Enter());
    const Status s =
        CatchExceptions([&] { return session_->CheckSavable(function); });
    session_->Leave();
    return s;
  }

  bool Schedule(absl::AnyInvocable<void()> fn) override {
    if (!session_->Enter().ok()) return false;
    try {
      session_->pool()->Schedule(
          [session = session_, fn = std::move(fn)]() mutable {
            fn();
            fn = nullptr;
            session->Leave();
          });
      return true;
    } catch (const std::bad_alloc&) {
      session_->Leave();
      return false;
    }
  }

  std::shared_ptr<FunctionScope> NewScope() override {
    return session_->NewScope();
  }

  void Call(const Function& function, FunctionScope* scope,
            std::shared_ptr<const NodeDef> caller, std::vector<Tensor> args,
            CancellationManager* cancellation,
            FunctionRuntime::DoneCallback done) override {
    Start(function, scope, std::move(caller), std::move(args), cancellation,
          nullptr, std::move(done));
  }

  Status CallAndWait(const Function& function, FunctionScope* scope,
                     std::shared_ptr<const NodeDef> caller,
                     std::vector<Tensor> args,
                     CancellationManager* cancellation,
                     std::vector<Tensor>* results) override {
    // The function and the pools live as long as this is inside.
    HR_RETURN_IF_ERROR(session_->Enter());
    TaskGroup group;
    Status status;
    ThreadPool* const kernels_pool = function.device()->thread_pool();
    Start(function, scope, std::move(caller), std::move(args), cancellation,
          &group, [&](const Status& s, std::vector<Tensor> values) {
            status = s;
            *results = std::move(values);
            group.Finish();
          });
    // The caller may hold locks, those of an iterator for one.
    HelpUntilFinished(&group, session_->pool(), kernels_pool,
                      ThreadPool::HelpWith::kGroup, nullptr);
    session_->Leave();
    return status;
  }

 private:
  void Start(const Function& function, FunctionScope* scope,
             std::shared_ptr<const NodeDef> caller, std::vector<Tensor> args,
             CancellationManager* cancellation, TaskGroup* group,
             FunctionRuntime::DoneCallback done) {
    Status s = session_->Enter();
    if (!s.ok()) {
      done(s, {});
      return;
    }
    const FunctionInstance* instance = nullptr;
    s = CatchExceptions([&]() -> Status {
      if (cancellation->IsCancelled()) return cancellation->status();
      HR_RETURN_IF_ERROR(CheckCall(function, 1, args));
      return session_->InScope(
          scope, static_cast<const FunctionInstance&>(function), &instance);
    });
    if (!s.ok()) {
      done(s, {});
      session_->Leave();
      return;
    }
    DetachedCall* call = nullptr;
    s = CatchExceptions([&] {
      call = new DetachedCall(session_, scope, std::move(caller), cancellation,
                              group);
      return OkStatus();
    });
    if (!s.ok()) {
      done(s, {});
      session_->Leave();
      return;
    }
    call->Start(*instance, std::move(args), std::move(done));
  }

  const std::shared_ptr<SessionFunctions> session_;
};

}  // namespace

std::shared_ptr<DetachedFunctions> SessionFunctions::Detach() {
  return std::make_shared<DetachedSessionFunctions>(shared_from_this());
}

}  // namespace headrace
