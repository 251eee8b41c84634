#include "eager/context.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/thread_pool.h"
#include "eager/trace.h"
#include "framework/kernel/session_tensors.h"
#include "headrace/device_factory.h"
#include "headrace/version.h"
#include "session/device_resources.h"

namespace headrace {
namespace {

constexpr char kEagerPrefix[] = "/job:localhost/replica:0/task:0";

std::vector<Device*> DevicesOf(const EagerContext::Resources& resources) {
  std::vector<Device*> devices;
  for (const auto& d : resources.devices) devices.push_back(d.get());
  return devices;
}

std::string DeviceNames(const std::vector<Device*>& devices) {
  return absl::StrJoin(devices, ", ", [](std::string* out, const Device* d) {
    out->append(d->name());
  });
}

}  // namespace

StatusOr<std::shared_ptr<EagerContext>> EagerContext::Create(
    const Options& options) {
  SessionOptions session_options;
  HR_RETURN_IF_ERROR(
      SessionOptions::FromConfig(options.config, &session_options));
  auto resources = std::make_shared<Resources>();
  HR_RETURN_IF_ERROR(InterOpPools::Make(session_options, &resources->inter));
  RefPtr<AlgorithmTuner> tuner;
  if (session_options.wants_tuner) {
    HR_ASSIGN_OR_RETURN(tuner, AlgorithmTuner::Create(session_options.tuning));
  }
  if (session_options.intra_op_threads > 0) {
    resources->intra = std::make_unique<ThreadPool>(
        session_options.intra_op_threads, "headrace_intra");
  }
  DeviceOptions devices;
  devices.counts = session_options.device_counts;
  devices.gpu = session_options.gpu;
  devices.name_prefix = kEagerPrefix;
  devices.pool =
      resources->intra ? resources->intra.get() : ThreadPool::Global();
  HR_RETURN_IF_ERROR(
      DeviceFactories::CreateDevices(devices, &resources->devices));
  session_options.AdaptTo(resources->devices);
  return std::shared_ptr<EagerContext>(
      new EagerContext(options, std::move(session_options),
                       std::move(resources), std::move(tuner)));
}

EagerContext::EagerContext(const Options& options,
                           SessionOptions session_options,
                           std::shared_ptr<Resources> resources,
                           RefPtr<AlgorithmTuner> tuner)
    : options_(std::move(session_options)),
      policy_(options.policy),
      is_async_(options.is_async),
      resources_(std::move(resources)),
      tuner_(std::move(tuner)),
      devices_(DevicesOf(*resources_)),
      functions_(std::make_shared<SessionFunctions>(
          devices_, resources_->inter->first(), options_.disabled_passes,
          gate_)),
      soft_placement_(options_.allow_soft_placement),
      log_placement_(options_.log_device_placement) {
  const auto tensors = MakeRef<SessionTensors>();
  for (Device* d : devices_) {
    ShareWith(d, tensors);
    ShareWith(d, tuner_);
  }
  MutexLock lock(&functions_mu_);
  SetLibrary(std::make_shared<FunctionLibrary>());
}

EagerContext::~EagerContext() {
  if (gate_->IsAbandoned()) {
    // What kernels refer to may be locked and half done: nobody destroys it.
    new auto(resources_);
    new auto(functions_);
    new auto(tuner_);
    new auto(rendezvous_);
    (void)kernels_.release();
    return;
  }
  if (tuner_ != nullptr) tuner_->Stop();
  // Iterators call functions until they are gone, and may call one to end.
  kernels_->Clear();
  {
    MutexLock lock(&mu_);
    step_resources_.reset();
    lasting_resources_.reset();
    trace_.reset();
  }
  for (Device* d : devices_) d->resource_manager()->Clear();
  functions_->Shutdown();
}

Status EagerContext::FindDevice(absl::string_view name, Device** out) const {
  *out = devices_.front();
  if (name.empty()) return OkStatus();
  DeviceName wanted;
  if (DeviceName::Parse(name, &wanted).ok()) {
    for (Device* d : devices_) {
      if (!wanted.Matches(d->parsed_name())) continue;
      *out = d;
      return OkStatus();
    }
  }
  return errors::InvalidArgument(name, " unknown device. Devices are ",
                                 DeviceNames(devices_));
}

std::shared_ptr<FunctionLibrary> EagerContext::library() const {
  MutexLock lock(&functions_mu_);
  return library_;
}

void EagerContext::SetLibrary(std::shared_ptr<FunctionLibrary> library) {
  library_ = std::move(library);
  Graph graph;
  graph.versions().producer = kGraphDefProducer;
  graph.set_functions(library_);
  functions_->SetLibrary(graph);
}

Status EagerContext::AddFunction(const pb::FunctionDef& def) {
  MutexLock lock(&functions_mu_);
  HR_RETURN_IF_ERROR(library_->Add(def));
  ++function_counts_[def.signature().name()];
  return OkStatus();
}

Status EagerContext::RemoveFunction(const std::string& name) {
  {
    MutexLock lock(&functions_mu_);
    const auto it = function_counts_.find(name);
    if (it == function_counts_.end()) {
      return errors::InvalidArgument("Tried to remove non-existent function '",
                                     name, "'.");
    }
    if (--it->second > 0) return OkStatus();
    function_counts_.erase(it);
    auto rest = std::make_shared<FunctionLibrary>();
    pb::FunctionDefLibrary all;
    library_->ToProto(&all);
    for (const pb::FunctionDef& f : all.function()) {
      if (f.signature().name() != name) HR_RETURN_IF_ERROR(rest->Add(f));
    }
    SetLibrary(std::move(rest));
  }
  functions_->Forget(name);
  // Kernels of other ops may have looked it up by its name.
  kernels_->DropFunctionUsers();
  return OkStatus();
}

std::shared_ptr<const pb::FunctionDef> EagerContext::FindFunction(
    absl::string_view name) const {
  return library()->Find(name);
}

Status EagerContext::FindOpDef(const std::string& name,
                               std::shared_ptr<const OpDef>* out) const {
  if (const OpDef* def = OpRegistry::Global()->Find(name)) {
    *out = std::shared_ptr<const OpDef>(std::shared_ptr<const void>(), def);
    return OkStatus();
  }
  std::shared_ptr<FunctionLibrary> functions = library();
  if (const OpDef* def = functions->FindOpDef(name)) {
    *out = std::shared_ptr<const OpDef>(std::move(functions), def);
    return OkStatus();
  }
  return errors::NotFound(
      "'", name,
      "' is neither a type of a primitive operation nor a name of a function "
      "registered in this context");
}

void EagerContext::StartStep() {
  MutexLock lock(&mu_);
  if (++active_steps_ == 1) step_resources_ = std::make_shared<ResourceMgr>();
  in_step_ = true;
}

void EagerContext::EndStep() {
  std::shared_ptr<ResourceMgr> dropped;  // destroyed after the lock
  MutexLock lock(&mu_);
  if (active_steps_ == 0 || --active_steps_ > 0) return;
  dropped.swap(step_resources_);
  in_step_ = false;
}

std::shared_ptr<ResourceMgr> EagerContext::StepResources() {
  MutexLock lock(&mu_);
  if (step_resources_ != nullptr) return step_resources_;
  if (lasting_resources_ == nullptr) {
    lasting_resources_ = std::make_shared<ResourceMgr>();
  }
  return lasting_resources_;
}

void EagerContext::EnableRunMetadata() {
  MutexLock lock(&mu_);
  if (trace_ == nullptr) trace_ = std::make_shared<Trace>();
  traces_ = true;
}

void EagerContext::DisableRunMetadata() {
  MutexLock lock(&mu_);
  traces_ = false;
}

void EagerContext::ExportRunMetadata(pb::RunMetadata* out) {
  std::shared_ptr<Trace> recorded;
  {
    MutexLock lock(&mu_);
    recorded = std::move(trace_);
    trace_ = traces_ ? std::make_shared<Trace>() : nullptr;
  }
  if (recorded == nullptr) return;
  recorded->collector.Finish(out->mutable_step_stats(),
                             out->mutable_headrace_counters());
}

void EagerContext::SetThreadPolicy(PlacementPolicy policy) {
  MutexLock lock(&mu_);
  thread_policies_[std::this_thread::get_id()] = policy;
}

PlacementPolicy EagerContext::ThreadPolicy() const {
  MutexLock lock(&mu_);
  const auto it = thread_policies_.find(std::this_thread::get_id());
  return it == thread_policies_.end() ? policy_ : it->second;
}

void EagerContext::SetThreadAsync(bool is_async) {
  MutexLock lock(&mu_);
  thread_async_[std::this_thread::get_id()] = is_async;
}

bool EagerContext::ThreadAsync() const {
  MutexLock lock(&mu_);
  const auto it = thread_async_.find(std::this_thread::get_id());
  return it == thread_async_.end() ? is_async_ : it->second;
}

Status EagerContext::Place(const EagerCall& call, const DeviceName& wanted,
                           Device** out) const {
  *out = devices_.front();
  if (devices_.size() == 1 && wanted.Empty()) return OkStatus();
  NodeDef node;
  node.op = call.name;
  const bool is_function = OpRegistry::Global()->Find(call.name) == nullptr;
  if (!is_function) HR_RETURN_IF_ERROR(CompleteAttrs(call, &node.attrs));
  std::vector<std::string> types;
  for (const Device* d : devices_) {
    const std::string& type = d->device_type();
    if (std::find(types.begin(), types.end(), type) == types.end() &&
        (is_function || KernelRegistry::Global()->HasKernel(type, node))) {
      types.push_back(type);
    }
  }
  // Without any kernel the first device will do: making the kernel then fails
  // with what is registered.
  if (types.empty()) return OkStatus();
  const auto best = [&](const DeviceName& name) {
    Device* found = nullptr;
    int priority = 0;
    for (Device* d : devices_) {
      const int p = DeviceFactories::PriorityOf(d->device_type());
      if (!name.Matches(d->parsed_name()) ||
          std::find(types.begin(), types.end(), d->device_type()) ==
              types.end() ||
          (found != nullptr && p <= priority)) {
        continue;
      }
      found = d;
      priority = p;
    }
    return found;
  };
  Device* found = best(wanted);
  if (found == nullptr && soft_placement_) found = best(DeviceName());
  if (found == nullptr) {
    return errors::InvalidArgument(
        "Could not satisfy device specification '", wanted.ToString(),
        "' for op ", call.name,
        ". enable_soft_placement=", soft_placement_ ? 1 : 0,
        ". Supported device types [", absl::StrJoin(types, ", "),
        "]. All available devices [", DeviceNames(devices_), "].");
  }
  *out = found;
  return OkStatus();
}

}  // namespace headrace
