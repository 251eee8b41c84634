// How one op runs: its kernel gets what a step gives to a kernel, on the thread
// of the caller.
#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/exceptions.h"
#include "base/flush_denormals.h"
#include "base/log.h"
#include "base/require_memory.h"
#include "base/task_group.h"
#include "eager/context.h"
#include "eager/trace.h"
#include "framework/kernel/kernel_counts.h"
#include "runtime/help.h"
#include "runtime/kernel_call.h"
#include "session/live_sessions.h"

namespace headrace {
namespace {

// What an asynchronous kernel calls when it is done. All copies of the callback
// share one. If the last copy goes and none was called, the kernel found no
// memory to call back.
class AsyncEnd {
 public:
  explicit AsyncEnd(TaskGroup* group, std::atomic<bool>* dropped)
      : group_(group), dropped_(dropped) {}
  AsyncEnd(const AsyncEnd&) = delete;
  AsyncEnd& operator=(const AsyncEnd&) = delete;
  ~AsyncEnd() {
    if (called_.exchange(true)) return;
    dropped_->store(true, std::memory_order_relaxed);
    group_->Finish();
  }
  void Call() {
    if (!called_.exchange(true)) group_->Finish();
  }

 private:
  // Both belong to the caller of the op, who waits for one of the two calls.
  TaskGroup* const group_;
  std::atomic<bool>* const dropped_;
  std::atomic<bool> called_{false};
};

// Lets the client's token cancel a call while this lives.
class CancelWith {
 public:
  CancelWith(CancellationManager* client, CancellationManager* call)
      : client_(client) {
    if (client_ == nullptr) return;
    token_ = client_->NextToken();
    const auto cancel = [client, call] {
      call->StartCancel(client->status().ok() ? errors::Cancelled("")
                                              : client->status());
    };
    if (!client_->RegisterCallback(token_, cancel)) cancel();
  }
  ~CancelWith() {
    if (client_ != nullptr) client_->DeregisterCallback(token_);
  }
  CancelWith(const CancelWith&) = delete;
  CancelWith& operator=(const CancelWith&) = delete;

 private:
  CancellationManager* const client_;
  CancellationManager::Token token_ = 0;
};

void ComputeAsync(AsyncOpKernel* kernel, TaskGroup* group, ThreadPool* pool,
                  OpKernelContext* ctx) {
  std::atomic<bool> dropped{false};
  const Status s = CatchExceptions([&] {
    auto end = std::make_shared<AsyncEnd>(group, &dropped);
    try {
      kernel->ComputeAsync(ctx, [end] { end->Call(); });
    } catch (const std::exception& e) {
      ctx->CtxFailure(StatusOf(e));
    }
    return OkStatus();
  });
  if (!s.ok()) return ctx->CtxFailure(s);  // nothing was started
  if (!group->finished()) {
    HelpUntilFinished(group, pool, ctx->device()->thread_pool(), CallersHelp(),
                      nullptr);
  }
  if (dropped.load(std::memory_order_relaxed)) {
    ctx->CtxFailure(errors::ResourceExhausted(
        "the kernel ended without a result: there was no memory to call back"));
  }
  if (KernelCounts* const counts = KernelCounts::OfProcess()) [[unlikely]] {
    if (ctx->status().ok()) counts->Add(*kernel, *ctx);
  }
}

int64_t NowNanos() { return Env::Default()->NowNanos(); }

// The device that an op with a resource runs on: that of the resource.
const std::string* DeviceOfResource(const TensorHandle& h) {
  if (h.dtype() != DT_RESOURCE || h.tensor().NumElements() == 0) return nullptr;
  const std::string& name = h.tensor().data<ResourceHandle>()[0].device;
  return name.empty() ? nullptr : &name;
}

// The name by which TensorFlow's clients ask for a resource that nobody else
// has: each execution makes another one.
constexpr char kAnonymousName[] = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

// The key of the call that is being executed on this thread.
std::string* KeyBuffer() {
  thread_local std::string key;
  key.clear();
  return &key;
}

}  // namespace

Status EagerContext::Execute(const EagerCall& call, const DeviceName& device,
                             absl::Span<const RefPtr<TensorHandle>> inputs,
                             CancellationManager* cancellation, int max_outputs,
                             std::vector<RefPtr<TensorHandle>>* outputs,
                             Device** used) {
  const InsideSession inside(gate_.get());
  HR_RETURN_IF_ERROR(inside.status());
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  return CatchExceptions([&]() -> Status {
    const AttrValue* const shared = call.attrs.Find("shared_name");
    if (shared == nullptr || *shared != AttrValue(kAnonymousName)) {
      return ExecuteInside(call, device, inputs, cancellation, max_outputs,
                           outputs, used);
    }
    EagerCall named = call;
    named.attrs.Set("shared_name",
                    absl::StrCat("_Anonymous", next_name_.fetch_add(1)));
    return ExecuteInside(named, device, inputs, cancellation, max_outputs,
                         outputs, used, /*is_unique=*/true);
  });
}

Status EagerContext::ExecuteInside(
    const EagerCall& call, const DeviceName& device,
    absl::Span<const RefPtr<TensorHandle>> inputs,
    CancellationManager* cancellation, int max_outputs,
    std::vector<RefPtr<TensorHandle>>* outputs, Device** used, bool is_unique) {
  RefPtr<EagerKernel> kernel;
  HR_RETURN_IF_ERROR(FindKernel(call, device, inputs, is_unique, &kernel));
  const int num_outputs = kernel->kernel->num_outputs();
  if (num_outputs > max_outputs) {
    return errors::InvalidArgument("Expecting ", num_outputs,
                                   " outputs, but *num_retvals is ",
                                   max_outputs, " for op ", call.name);
  }
  *used = kernel->device;
  if (log_placement_) [[unlikely]] {
    HR_LOG(INFO) << "Executing op " << call.name << " in device "
                 << kernel->device->name();
  }
  return Run(kernel, inputs, cancellation, outputs);
}

Status EagerContext::FindKernel(const EagerCall& call, const DeviceName& device,
                                absl::Span<const RefPtr<TensorHandle>> inputs,
                                bool is_unique, RefPtr<EagerKernel>* out) {
  DeviceName wanted = device;
  if (devices_.size() > 1) [[unlikely]] {
    for (const RefPtr<TensorHandle>& h : inputs) {
      const std::string* const name = DeviceOfResource(*h);
      if (name == nullptr) continue;
      HR_RETURN_IF_ERROR(DeviceName::Parse(*name, &wanted));
      break;
    }
  }
  std::string* const key = KeyBuffer();
  const bool is_cached = !is_unique && AppendKernelKey(call, key);
  if (is_cached) {
    if (!wanted.Empty()) absl::StrAppend(key, "@", wanted.ToString());
    *out = kernels_->Find(*key);
    if (*out != nullptr) return OkStatus();
  }
  // Making a kernel may execute ops on this thread.
  const std::string own_key = *key;
  Device* place;
  HR_RETURN_IF_ERROR(Place(call, wanted, &place));
  HR_RETURN_IF_ERROR(MakeEagerKernel(call, place, library(), out));
  if (is_cached) *out = kernels_->Insert(own_key, std::move(*out));
  return OkStatus();
}

Status EagerContext::PrepareInput(const EagerKernel& k, int i,
                                  const TensorHandle& handle,
                                  Tensor* out) const {
  const bool wants_host =
      k.device->IsHostMemory() || k.kernel->input_memory_type(i) == HOST_MEMORY;
  Device* const from =
      handle.device() == nullptr ? devices_.front() : handle.device();
  if (k.device == from && (handle.in_host_memory() == wants_host)) [[likely]] {
    *out = handle.tensor();
    return OkStatus();
  }
  if (handle.dtype() == DT_RESOURCE ||
      (handle.in_host_memory() && wants_host && !k.device->IsHostMemory())) {
    *out = handle.tensor();  // a name of a resource; or what is where it is due
    return OkStatus();
  }
  const PlacementPolicy policy = ThreadPolicy();
  if (policy == PlacementPolicy::kExplicit ||
      (policy == PlacementPolicy::kSilentForInt32 &&
       handle.dtype() != DT_INT32)) {
    return errors::InvalidArgument(
        "Tensors on conflicting devices: cannot compute ",
        k.kernel->type_string(), " as input #", i, " was expected to be on ",
        k.device->name(), " but is actually on ", handle.DeviceName(),
        ". Copy the tensor explicitly, or choose another "
        "device placement policy");
  }
  if (policy == PlacementPolicy::kWarn) {
    HR_LOG(WARNING) << "before computing " << k.kernel->type_string()
                    << " input #" << i << " is copied from "
                    << handle.DeviceName() << " to " << k.device->name();
  }
  return CopyBetweenDevices(handle.tensor(),
                            handle.in_host_memory() ? nullptr : from,
                            wants_host ? nullptr : k.device, out);
}

Status EagerContext::Run(const RefPtr<EagerKernel>& k,
                         absl::Span<const RefPtr<TensorHandle>> inputs,
                         CancellationManager* cancellation,
                         std::vector<RefPtr<TensorHandle>>* outputs) {
  OpKernel* const kernel = k->kernel.get();
  // Copies, so that no kernel takes a buffer that a handle still has.
  absl::InlinedVector<Tensor, 4> values(inputs.size());
  KernelCall call;
  call.input_storage.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    HR_RETURN_IF_ERROR(
        PrepareInput(*k, static_cast<int>(i), *inputs[i], &values[i]));
    call.input_storage[i] = {&values[i], nullptr};
  }
  const std::shared_ptr<ResourceMgr> step_resources = StepResources();
  CancellationManager own_cancellation;
  const CancelWith cancel_with(cancellation, &own_cancellation);
  TaskGroup group;
  StepArgs args;
  args.step_id = next_step_.fetch_add(1, std::memory_order_relaxed);
  args.cancellation = &own_cancellation;
  args.step_resources = step_resources.get();
  args.pool = resources_->inter->first();
  args.group = &group;
  StepFunctions functions(functions_.get(), &args);
  args.functions = &functions;
  RefPtr<Rendezvous> rendezvous;
  if (k->transfers) {
    args.rendezvous = rendezvous_.get();
  } else if (k->calls_functions) {
    rendezvous = NewLocalRendezvous();
    args.rendezvous = rendezvous.get();
  }
  std::shared_ptr<Trace> trace;
  if (traces_.load(std::memory_order_relaxed)) [[unlikely]] {
    MutexLock lock(&mu_);
    trace = trace_;
  }

  OpKernelContext::Params& p = call.params;
  p.step_id = args.step_id;
  p.kernel = kernel;
  p.device = k->device;
  p.inputs = call.input_storage;
  p.step_resources = args.step_resources;
  p.rendezvous = args.rendezvous;
  p.cancellation = args.cancellation;
  p.functions = args.functions;
  int64_t start_ns = 0;
  if (trace != nullptr || KernelCounts::OfProcess() != nullptr) [[unlikely]] {
    p.trace = &call.trace;
  }
  if (trace != nullptr) [[unlikely]] {
    trace->Keep(k);
    args.stats = &trace->collector;
    start_ns = NowNanos();
    call.memory.emplace();
  }
  OpKernelContext ctx(&p);
  {
    const FlushDenormals flush;
    const TaskGroup::Scope scope(&group);
    if (k->async == nullptr) [[likely]] {
      k->device->Compute(kernel, &ctx);
    } else if (own_cancellation.IsCancelled()) {
      ctx.CtxFailure(own_cancellation.status());
    } else {
      ComputeAsync(k->async, &group, args.pool, &ctx);
    }
  }
  if (trace != nullptr) [[unlikely]] {
    PlanNode node;
    node.kernel = kernel;
    trace->collector.Add(
        k->device,
        RecordOf(node, {start_ns, start_ns, NowNanos()}, &call, &ctx));
  }
  if (!ctx.status().ok()) [[unlikely]] {
    return Annotate(ctx.status(), absl::StrCat(" [Op:", kernel->name(), "]"));
  }
  return TakeOutputs(*k, &ctx, outputs);
}

Status EagerContext::TakeOutputs(
    const EagerKernel& k, OpKernelContext* ctx,
    std::vector<RefPtr<TensorHandle>>* outputs) const {
  const OpKernel& kernel = *k.kernel;
  outputs->clear();
  outputs->reserve(ctx->num_outputs());
  for (int i = 0; i < ctx->num_outputs(); ++i) {
    OutputSlot& slot = ctx->output_slot(i);
    Tensor value;
    if (slot.ref != nullptr) {
      MutexLock lock(slot.ref_mutex);
      value = *slot.ref;
    } else if (slot.is_set) {
      value = std::move(slot.value);
    } else if (k.may_leave_unset) {
      value = Tensor(BaseType(kernel.output_type(i)));
    }
    const DataType wanted = BaseType(kernel.output_type(i));
    if (!value.IsInitialized() && slot.ref != nullptr) {
      return errors::FailedPrecondition(
          "Attempting to use uninitialized value ", kernel.name());
    }
    if (value.dtype() != wanted) {
      return errors::Internal("output ", i, " of op ", kernel.name(), " is ",
                              value.IsInitialized()
                                  ? DataTypeString(value.dtype())
                                  : std::string("not set"),
                              ", wanted ", DataTypeString(wanted));
    }
    outputs->push_back(MakeRef<TensorHandle>(
        std::move(value), k.device, kernel.output_memory_type(i) == HOST_MEMORY,
        resources_));
  }
  return OkStatus();
}

}  // namespace headrace
