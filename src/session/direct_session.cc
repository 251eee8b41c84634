#include "session/direct_session.h"

#include <algorithm>
#include <utility>

#include "base/exceptions.h"
#include "base/interrupt.h"
#include "base/require_memory.h"
#include "base/thread_pool.h"
#include "headrace/clock.h"
#include "headrace/device_factory.h"
#include "runtime/local_collectives.h"
#include "session/device_resources.h"
#include "session/direct_session_impl.h"

namespace headrace {
namespace {

// A compilation may go on for so long beyond the deadline of the run that asked
// for it; the next run then finds the step. Otherwise a client whose deadlines
// are short would never get it.
constexpr int64_t kMinCompileMs = 100;

constexpr char kPrefix[] = "/job:localhost/replica:0/task:0";

std::vector<Device*> Pointers(
    const std::vector<std::unique_ptr<Device>>& devices) {
  std::vector<Device*> pointers;
  for (const auto& d : devices) pointers.push_back(d.get());
  return pointers;
}

// Keys of the cache. A node's address is its own for the graph's life, and no
// node of another graph gets past Compile into the cache.
void AppendToKey(size_t n, StepCache::Key* key) { key->push_back(n); }
void AppendToKey(const Endpoint& e, StepCache::Key* key) {
  key->push_back(reinterpret_cast<uintptr_t>(e.node));
  key->push_back(static_cast<uint32_t>(e.index));
}

const Endpoint& FedEndpoint(const Endpoint& e) { return e; }
template <typename Value>
const Endpoint& FedEndpoint(const std::pair<Endpoint, Value>& f) {
  return f.first;
}

bool Fits(const CompiledStep& step, absl::Span<const Tensor* const> feeds) {
  for (size_t i = 0; i < step.feeds.size(); ++i) {
    if (!step.FitsFeed(i, *feeds[i])) [[unlikely]]
      return false;
  }
  return true;
}

}  // namespace

DirectSession::DirectSession(SessionOptions options,
                             std::shared_ptr<Resources> resources,
                             RefPtr<AlgorithmTuner> tuner,
                             std::shared_ptr<Graph> graph)
    : Session(std::move(graph)),
      options_(std::move(options)),
      resources_(std::move(resources)),
      tuner_(std::move(tuner)),
      inter_(resources_->inter->first()),
      device_list_(Pointers(resources_->devices)) {
  const RefPtr<CollectiveExecutor> collectives = MakeRef<LocalCollectives>();
  for (Device* d : device_list_) {
    ShareWith(d, collectives);
    ShareWith(d, session_tensors_);
    ShareWith(d, tuner_);
  }
  functions_ = std::make_shared<SessionFunctions>(
      device_list_, inter_, options_.disabled_passes, gate_);
  compiler_ = std::make_unique<StepCompiler>(this, &options_, device_list_,
                                             resources_, functions_.get());
  LiveSessions::Get()->Add(this);
}

DirectSession::~DirectSession() {
  const bool abandoned = gate_->IsAbandoned() || calls_.IsAbandoned();
  LiveSessions::Get()->Remove(this);
  if (abandoned) {
    Leak();
    return;
  }
  Close().IgnoreError();
  partial_runs_->Clear();
  running_.WaitUntilNone();
  // A call may be on its way out of a run, or into one that will be refused.
  WaitUntilEmpty(calls_);
  // Iterators call functions until they are gone, and may call one to end.
  steps_->Clear();
  compiler_->DropKernels();
  for (Device* d : device_list_) d->resource_manager()->Clear();
  functions_->Shutdown();
}

void DirectSession::Leak() {
  new auto(resources_);
  new auto(session_tensors_);
  new auto(tuner_);
  new auto(functions_);
  (void)owned_running_.release();
  (void)compiler_.release();
  (void)steps_.release();
  (void)partial_runs_.release();
}

Status DirectSession::Run(const pb::RunOptions& options,
                          absl::Span<const Feed> feeds,
                          absl::Span<const Endpoint> fetches,
                          absl::Span<Node* const> targets,
                          std::vector<Tensor>* outputs,
                          pb::RunMetadata* metadata, RunToken token) {
  const InsideSession inside(gate_.get(), &calls_);
  HR_RETURN_IF_ERROR(inside.status());
  HR_RETURN_IF_ERROR(running_.CheckOpen());
  return CatchExceptions([&]() -> Status {
    RunTime time(TimeoutOf(options), token.manager);
    StepPtr step;
    HR_RETURN_IF_ERROR(FindOrCompile(feeds, fetches, targets,
                                     FedShapes::kStatic, &time, &step));
    FeedPointers args;
    for (const Feed& f : feeds) args.push_back(&f.second);
    if (!Fits(*step, args)) [[unlikely]] {
      HR_RETURN_IF_ERROR(FindOrCompile(feeds, fetches, targets, FedShapes::kAny,
                                       &time, &step));
    }
    return Execute(*step, options, time, args, outputs, metadata, token);
  });
}

StatusOr<std::shared_ptr<const Session::Prepared>> DirectSession::Prepare(
    absl::Span<const Endpoint> feeds, absl::Span<const Endpoint> fetches,
    absl::Span<Node* const> targets) {
  const InsideSession inside(gate_.get(), &calls_);
  HR_RETURN_IF_ERROR(inside.status());
  HR_RETURN_IF_ERROR(running_.CheckOpen());
  RunTime time(options_.operation_timeout_ms);
  StepPtr step;
  HR_RETURN_IF_ERROR(CatchExceptions([&] {
    return Compile({.feeds = feeds, .fetches = fetches, .targets = targets},
                   &time, &step);
  }));
  return std::shared_ptr<const Prepared>(std::move(step));
}

Status DirectSession::RunPrepared(const Prepared& prepared,
                                  const pb::RunOptions& options,
                                  absl::Span<const Tensor> feeds,
                                  std::vector<Tensor>* outputs,
                                  pb::RunMetadata* metadata, RunToken token) {
  const InsideSession inside(gate_.get(), &calls_);
  HR_RETURN_IF_ERROR(inside.status());
  HR_RETURN_IF_ERROR(running_.CheckOpen());
  const auto& step = static_cast<const CompiledStep&>(prepared);
  if (step.session != this) {
    return errors::InvalidArgument(
        "the callable was prepared by another session");
  }
  if (feeds.size() != step.feeds.size()) {
    return errors::InvalidArgument("Expected ", step.feeds.size(),
                                   " feed tensors, but got ", feeds.size());
  }
  return CatchExceptions([&]() -> Status {
    RunTime time(TimeoutOf(options), token.manager);
    FeedPointers args;
    for (const Tensor& t : feeds) args.push_back(&t);
    if (!Fits(step, args)) [[unlikely]] {
      StepPtr any;
      HR_RETURN_IF_ERROR(FindOrCompile(absl::MakeConstSpan(step.feed_endpoints),
                                       step.fetch_endpoints, step.targets,
                                       FedShapes::kAny, &time, &any));
      return Execute(*any, options, time, args, outputs, metadata, token);
    }
    return Execute(step, options, time, args, outputs, metadata, token);
  });
}

StatusOr<MemoryPlan> DirectSession::PlanMemory(
    absl::Span<const std::pair<Endpoint, TensorShape>> feeds,
    absl::Span<const Endpoint> fetches, absl::Span<Node* const> targets) {
  const InsideSession inside(gate_.get(), &calls_);
  HR_RETURN_IF_ERROR(inside.status());
  HR_RETURN_IF_ERROR(running_.CheckOpen());
  RunTime time(options_.operation_timeout_ms);
  StepPtr step;
  HR_RETURN_IF_ERROR(
      FindOrCompile(feeds, fetches, targets, FedShapes::kStatic, &time, &step));
  std::vector<TensorShape> shapes;
  for (size_t i = 0; i < feeds.size(); ++i) {
    shapes.push_back(feeds[i].second);
    if (!step->feeds[i].shape.IsCompatibleWith(shapes[i])) {
      return errors::InvalidArgument("a plan with shape ",
                                     shapes[i].DebugString(), " for '",
                                     step->feeds[i].name, "', which has shape ",
                                     step->feeds[i].shape.DebugString());
    }
  }
  MemoryPlan plan;
  HR_RETURN_IF_ERROR(step->PlanMemory(shapes, &plan));
  return plan;
}

Status DirectSession::Close() {
  // Nothing runs in a child of fork() that may not come in.
  const InsideSession inside(gate_.get(), &calls_);
  if (!inside.status().ok()) return OkStatus();
  running_.Close();
  if (tuner_ != nullptr) tuner_->Stop();
  return OkStatus();
}

// Steps in progress keep what they hold of the containers.
void DirectSession::Reset(const std::vector<std::string>& containers) {
  const InsideSession inside(gate_.get(), &calls_);
  if (!inside.status().ok()) return;
  Close().IgnoreError();
  for (Device* d : device_list_) {
    ResourceMgr* mgr = d->resource_manager();
    if (containers.empty()) mgr->Cleanup(mgr->default_container());
    for (const std::string& c : containers) mgr->Cleanup(c);
  }
}

template <typename Fed>
Status DirectSession::FindOrCompile(absl::Span<const Fed> feeds,
                                    absl::Span<const Endpoint> fetches,
                                    absl::Span<Node* const> targets,
                                    FedShapes shapes, RunTime* time,
                                    StepPtr* step) {
  StepCache::Key key;
  AppendToKey(2 * feeds.size() + static_cast<size_t>(shapes), &key);
  for (const Fed& f : feeds) AppendToKey(FedEndpoint(f), &key);
  AppendToKey(fetches.size(), &key);
  for (const Endpoint& f : fetches) AppendToKey(f, &key);
  for (const Node* t : targets) AppendToKey({const_cast<Node*>(t), 0}, &key);
  *step = steps_->Find(key);
  if (*step != nullptr) return OkStatus();
  std::vector<Endpoint> feed_list;
  for (const Fed& f : feeds) feed_list.push_back(FedEndpoint(f));
  HR_RETURN_IF_ERROR(Compile({.feeds = feed_list,
                              .fetches = fetches,
                              .targets = targets,
                              .shapes = shapes},
                             time, step));
  // Another thread may have been first; its kernels are as good.
  *step = steps_->Insert(std::move(key), std::move(*step));
  return OkStatus();
}

Status DirectSession::Compile(const StepCompiler::Request& request,
                              RunTime* time, StepPtr* step) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  const absl::Time begun = Now();
  const auto spent = [&] {
    return time->spent + absl::ToInt64Milliseconds(Now() - begun);
  };
  const Interrupt interrupt([&]() -> Status {
    HR_RETURN_IF_ERROR(running_.CheckOpen());
    if (time->token != nullptr && time->token->IsCancelled()) {
      return errors::Cancelled("Run was cancelled.");
    }
    if (time->timeout <= 0 ||
        spent() < std::max(time->timeout, kMinCompileMs)) {
      return OkStatus();
    }
    return errors::DeadlineExceeded(
        "Timed out waiting for notification: the step was not compiled "
        "after ",
        time->timeout, " ms");
  });
  HR_RETURN_IF_ERROR(compiler_->Compile(request, step));
  time->spent = spent();
  return OkStatus();
}

void ResetDirectSessions(const std::vector<std::string>& containers) {
  LiveSessions::Get()->ResetAll(containers);
}

Status NewDirectSession(const pb::ConfigProto& config,
                        std::shared_ptr<Graph> graph,
                        std::unique_ptr<Session>* out) {
  SessionOptions options;
  HR_RETURN_IF_ERROR(SessionOptions::FromConfig(config, &options));
  auto resources = std::make_shared<DirectSession::Resources>();
  HR_RETURN_IF_ERROR(InterOpPools::Make(options, &resources->inter));
  RefPtr<AlgorithmTuner> tuner;
  if (options.wants_tuner) {
    HR_ASSIGN_OR_RETURN(tuner, AlgorithmTuner::Create(options.tuning));
  }
  if (options.intra_op_threads > 0) {
    resources->intra = std::make_unique<ThreadPool>(options.intra_op_threads,
                                                    "headrace_intra");
  }
  DeviceOptions devices;
  devices.counts = options.device_counts;
  devices.gpu = options.gpu;
  devices.name_prefix = kPrefix;
  devices.pool =
      resources->intra ? resources->intra.get() : ThreadPool::Global();
  HR_RETURN_IF_ERROR(
      DeviceFactories::CreateDevices(devices, &resources->devices));
  options.AdaptTo(resources->devices);
  *out =
      std::make_unique<DirectSession>(std::move(options), std::move(resources),
                                      std::move(tuner), std::move(graph));
  return OkStatus();
}

}  // namespace headrace
