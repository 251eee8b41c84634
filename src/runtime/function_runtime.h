// The functions of a session, compiled once for each set of attrs and device,
// and the FunctionRuntime through which the kernels of a step call them.
//
// A function runs as a whole on the device of the node that calls it; what has
// no kernel there, on a device with a memory of its own, on the host's device.
// Its body goes through the graph passes and becomes one executor a device. It
// is compiled when it is called for the first time, not when its caller is: so
// a function may call itself. Kernels with state belong to the compiled
// function, and all calls share them, except those in a FunctionScope: it has
// compiled functions of its own in place of those with state.
#ifndef HEADRACE_RUNTIME_FUNCTION_RUNTIME_H_
#define HEADRACE_RUNTIME_FUNCTION_RUNTIME_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/fork.h"
#include "framework/kernel/function_runtime.h"
#include "graph/function_library.h"
#include "headrace/graph.h"
#include "headrace/mutex.h"
#include "runtime/call_site.h"
#include "runtime/executor.h"

namespace headrace {

class FunctionInstance;  // runtime/function_call.h

// How many calls may be in progress inside each other. Enough for recursion
// over real data; what goes beyond would seldom end.
constexpr int kMaxCallDepth = 1000;

// Thread-safe. The session's until Shutdown; DetachedFunctions may hold on to
// it for longer.
class SessionFunctions : public std::enable_shared_from_this<SessionFunctions> {
 public:
  // `pool`, like the devices, lives until Shutdown. Whoever has entered is
  // inside `gate`.
  SessionFunctions(std::vector<Device*> devices, ThreadPool* pool,
                   absl::flat_hash_set<std::string> disabled_passes,
                   std::shared_ptr<ForkGate> gate);
  ~SessionFunctions();

  // No step runs any more. Cancels the calls that no step waits for, waits for
  // them, and drops all functions.
  void Shutdown();

  // Functions are looked up in the library of the graph that is compiled; it
  // may be extended at any time. Caller holds graph.mu() if others write it.
  void SetLibrary(const Graph& graph);

  Status Instantiate(const NameAttrList& function, const std::string& device,
                     const FunctionInstance** out);
  // The library has no such function any more, or another one. What was
  // compiled of it lives on for those who have it, but is not handed out again.
  void Forget(const std::string& name);
  StatusOr<NameAttrList> Gradient(const NameAttrList& function) const;
  // DetachedFunctions::CheckSavable.
  Status CheckSavable(const std::string& function) const;

  std::shared_ptr<DetachedFunctions> Detach();
  std::shared_ptr<FunctionScope> NewScope();
  // `function`, or what stands for it in `scope` if that is not null. The
  // caller has entered the session, or runs in a step of it.
  Status InScope(FunctionScope* scope, const FunctionInstance& function,
                 const FunctionInstance** out);
  // A detached use begins, unless the session has ended; every Enter that is OK
  // is followed by a Leave.
  Status Enter();
  void Leave();
  CancellationManager* detached() { return &detached_; }
  ThreadPool* pool() const { return pool_; }
  int64_t NextDetachedCall() { return next_call_.fetch_add(1); }

 private:
  class Scope;
  Device* FindDevice(const std::string& name) const;
  // The device of `device`'s task whose memory is the host's; `device` if there
  // is none.
  Device* HostBeside(Device* device) const;
  Status MakeParts(Device* device, std::unique_ptr<Graph> body,
                   FunctionInstance* out) const;
  Status Compile(const NameAttrList& function, const AttrMap& attrs,
                 Device* device, std::unique_ptr<FunctionInstance>* out) const;
  const FunctionInstance* FindLocked(const std::string& name,
                                     const AttrMap& attrs,
                                     const Device* device) const REQUIRES(mu_);

  const std::vector<Device*> devices_;
  ThreadPool* const pool_;
  const absl::flat_hash_set<std::string> disabled_passes_;
  const std::shared_ptr<ForkGate> gate_;
  CancellationManager detached_;  // of all detached calls
  // Steps count up from 1; a detached call's id must not be a step's.
  std::atomic<int64_t> next_call_{int64_t{1} << 62};
  mutable Mutex mu_;  // not held while a function is compiled
  CondVar left_;
  int64_t entered_ GUARDED_BY(mu_) = 0;
  bool shut_down_ GUARDED_BY(mu_) = false;
  std::vector<std::weak_ptr<Scope>> scopes_ GUARDED_BY(mu_);
  std::shared_ptr<FunctionLibrary> library_ GUARDED_BY(mu_);
  GraphVersions versions_ GUARDED_BY(mu_);
  absl::flat_hash_map<std::string,
                      std::vector<std::unique_ptr<FunctionInstance>>>
      instances_ GUARDED_BY(mu_);  // by name; few for each
  std::vector<std::unique_ptr<FunctionInstance>> forgotten_ GUARDED_BY(mu_);
};

// What one step, or one call in it, sees. Cheap to make.
class StepFunctions final : public FunctionRuntime {
 public:
  // `args`, those of the executors that get this as args->functions, and
  // `site` outlive it.
  StepFunctions(SessionFunctions* session, const StepArgs* args,
                const CallSite* site = nullptr)
      : session_(session), args_(args), site_(site) {}

  Status Instantiate(const NameAttrList& function, const std::string& device,
                     const Function** out) override;
  void Call(const Function& function, const OpKernel& caller,
            std::vector<Tensor> args, DoneCallback done) override;
  StatusOr<NameAttrList> Gradient(const NameAttrList& function) override {
    return session_->Gradient(function);
  }
  std::shared_ptr<DetachedFunctions> Detach() override {
    return session_->Detach();
  }

 private:
  SessionFunctions* const session_;
  const StepArgs* const args_;
  const CallSite* const site_;
};

// Makes the kernel of a node. A node whose op is a function gets the kernel
// that calls it.
Status CreateNodeKernel(Device* device, const Node& node,
                        std::unique_ptr<OpKernel>* kernel);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_FUNCTION_RUNTIME_H_
