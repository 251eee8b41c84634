// EagerContext: executes ops one at a time, without a graph. It has devices,
// threads and functions as a session has them, and the kernels of the ops that
// were executed.
//
// An op runs on the thread that executes it; when Execute returns it has ended.
// So there is nothing to wait for, and a failure is reported where it happens.
#ifndef HEADRACE_EAGER_CONTEXT_H_
#define HEADRACE_EAGER_CONTEXT_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/fork.h"
#include "eager/kernel_cache.h"
#include "eager/tensor_handle.h"
#include "framework/kernel/rendezvous.h"
#include "framework/tuning/algorithm_tuner.h"
#include "headrace/config.pb.h"
#include "headrace/device_name.h"
#include "runtime/function_runtime.h"
#include "runtime/step_stats.h"
#include "session/inter_op_pools.h"
#include "session/session_options.h"

namespace headrace {

// What happens to an input that is not on the device of its op.
enum class PlacementPolicy {
  kExplicit = 0,  // the op fails
  kWarn = 1,      // it is copied, and a line is logged
  kSilent = 2,
  kSilentForInt32 = 3,  // int32 is copied; for other types the op fails
};

// Thread-safe.
class EagerContext : public std::enable_shared_from_this<EagerContext> {
 public:
  struct Options {
    pb::ConfigProto config;
    PlacementPolicy policy = PlacementPolicy::kSilent;
    // Accepted for clients that ask for it. Ops run when they are executed.
    bool is_async = false;
  };

  // What kernels refer to. Handles share it, for they may outlive the context.
  struct Resources {
    std::unique_ptr<ThreadPool> intra;  // null: the process-wide pool
    std::unique_ptr<InterOpPools> inter;
    std::vector<std::unique_ptr<Device>> devices;  // not empty
  };

  // InvalidArgument if the config makes no sense; else what a device factory
  // says.
  static StatusOr<std::shared_ptr<EagerContext>> Create(const Options& options);
  // Nothing is being executed any more.
  ~EagerContext();

  const std::vector<Device*>& devices() const { return devices_; }
  const std::shared_ptr<Resources>& resources() const { return resources_; }
  // Accepts full names and parts of names; "" is the first CPU. InvalidArgument
  // if there is no such device.
  Status FindDevice(absl::string_view name, Device** out) const;

  // Functions are counted: of a function that was added twice, the first Remove
  // leaves it there. InvalidArgument if the name has another definition, or is
  // an op's.
  Status AddFunction(const pb::FunctionDef& def);
  // InvalidArgument if there is no such function. Calls in progress, and
  // functions that were compiled with this one in them, keep it.
  Status RemoveFunction(const std::string& name);
  std::shared_ptr<const pb::FunctionDef> FindFunction(
      absl::string_view name) const;
  // The signature of an op or a function. NotFound if there is neither.
  Status FindOpDef(const std::string& name,
                   std::shared_ptr<const OpDef>* out) const;

  // Drops the kernels, with the state of those that have some.
  void ClearCaches() { kernels_->Clear(); }
  size_t num_kernels() const { return kernels_->size(); }

  // Per-step resources (TensorArrays, stacks) that are made between StartStep
  // and its EndStep are dropped by the latter. Without a step they live as long
  // as the context. Pairs may nest.
  void StartStep();
  void EndStep();

  // Between the two, executed ops are recorded.
  void EnableRunMetadata();
  void DisableRunMetadata();
  // Moves what was recorded to `out`.
  void ExportRunMetadata(pb::RunMetadata* out);

  // For the calling thread; until it is set the context's.
  void SetThreadPolicy(PlacementPolicy policy);
  PlacementPolicy ThreadPolicy() const;
  void SetSoftPlacement(bool soft) { soft_placement_ = soft; }
  void SetLogPlacement(bool log) { log_placement_ = log; }

  // Whether a thread's ops are said to be asynchronous.
  void SetThreadAsync(bool is_async);
  bool ThreadAsync() const;

  // Finds or makes the kernel of a call and runs it. `device` is what the
  // client asked for. `used` is where it ran; set if a kernel was found.
  // `cancellation` may be null. Errors: those of CompleteAttrs;
  // InvalidArgument if no device fits, or if there are more than `max_outputs`
  // outputs; else the kernel's, which name the op.
  Status Execute(const EagerCall& call, const DeviceName& device,
                 absl::Span<const RefPtr<TensorHandle>> inputs,
                 CancellationManager* cancellation, int max_outputs,
                 std::vector<RefPtr<TensorHandle>>* outputs, Device** used);

 private:
  struct Trace;

  Status ExecuteInside(const EagerCall& call, const DeviceName& device,
                       absl::Span<const RefPtr<TensorHandle>> inputs,
                       CancellationManager* cancellation, int max_outputs,
                       std::vector<RefPtr<TensorHandle>>* outputs,
                       Device** used, bool is_unique = false);

  EagerContext(const Options& options, SessionOptions session_options,
               std::shared_ptr<Resources> resources,
               RefPtr<AlgorithmTuner> tuner);

  Status FindKernel(const EagerCall& call, const DeviceName& device,
                    absl::Span<const RefPtr<TensorHandle>> inputs,
                    bool is_unique, RefPtr<EagerKernel>* out);
  // The device of a call whose kernel is not known yet.
  Status Place(const EagerCall& call, const DeviceName& wanted,
               Device** out) const;
  // The input as the kernel needs it, copied to its device if that is not where
  // it is.
  Status PrepareInput(const EagerKernel& k, int i, const TensorHandle& handle,
                      Tensor* out) const;
  Status Run(const RefPtr<EagerKernel>& k,
             absl::Span<const RefPtr<TensorHandle>> inputs,
             CancellationManager* cancellation,
             std::vector<RefPtr<TensorHandle>>* outputs);
  Status TakeOutputs(const EagerKernel& k, OpKernelContext* ctx,
                     std::vector<RefPtr<TensorHandle>>* outputs) const;
  std::shared_ptr<FunctionLibrary> library() const;
  void SetLibrary(std::shared_ptr<FunctionLibrary> library)
      REQUIRES(functions_mu_);
  std::shared_ptr<ResourceMgr> StepResources();

  const SessionOptions options_;
  const PlacementPolicy policy_;
  const bool is_async_;
  const std::shared_ptr<Resources> resources_;
  const RefPtr<AlgorithmTuner> tuner_;
  const std::vector<Device*> devices_;
  const std::shared_ptr<ForkGate> gate_ = std::make_shared<ForkGate>();
  const std::shared_ptr<SessionFunctions> functions_;
  // Of _Send and _Recv that are executed as ops.
  const RefPtr<Rendezvous> rendezvous_ = NewLocalRendezvous();
  std::atomic<int64_t> next_step_{1};
  std::atomic<int64_t> next_name_{0};  // of resources without a name
  std::atomic<bool> soft_placement_, log_placement_{false};
  // By a pointer, so that a child of fork() can let go of it.
  std::unique_ptr<KernelCache> kernels_ = std::make_unique<KernelCache>();

  mutable Mutex functions_mu_;
  // Replaced, not changed, when a function goes: others may still use it.
  std::shared_ptr<FunctionLibrary> library_ GUARDED_BY(functions_mu_);
  absl::flat_hash_map<std::string, int> function_counts_
      GUARDED_BY(functions_mu_);

  mutable Mutex mu_;
  int active_steps_ GUARDED_BY(mu_) = 0;
  std::shared_ptr<ResourceMgr> step_resources_ GUARDED_BY(mu_);
  std::shared_ptr<ResourceMgr> lasting_resources_ GUARDED_BY(mu_);
  std::map<std::thread::id, PlacementPolicy> thread_policies_ GUARDED_BY(mu_);
  std::map<std::thread::id, bool> thread_async_ GUARDED_BY(mu_);
  std::shared_ptr<Trace> trace_ GUARDED_BY(mu_);  // null: nobody records
  std::atomic<bool> traces_{false};               // trace_ is there
  std::atomic<bool> in_step_{false};              // active_steps_ > 0
};

}  // namespace headrace

#endif  // HEADRACE_EAGER_CONTEXT_H_
