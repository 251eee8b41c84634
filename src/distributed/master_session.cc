#include "distributed/master_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/exceptions.h"
#include "base/random.h"
#include "distributed/clock_offset.h"
#include "distributed/cluster_devices.h"
#include "distributed/remote_device.h"
#include "distributed/rpc.h"
#include "distributed/running_parts.h"
#include "distributed/step_ids.h"
#include "distributed/task_calls.h"
#include "headrace/device_factory.h"
#include "headrace/importer.h"
#include "headrace/types.h"
#include "runtime/deadline_timer.h"
#include "session/session_options.h"

namespace headrace {
namespace {

// What a failed step runs may take so long to end.
constexpr absl::Duration kEndTimeout = absl::Seconds(2);
// See Master::WasQuick.
constexpr absl::Duration kQuickRun = absl::Milliseconds(1);
constexpr int kQuickRuns = 3;
// Of one session. TensorFlow keeps any number.
constexpr size_t kMaxSteps = 10000;

// Two lists have one text only if they are equal, whatever characters a client
// puts into a name.
std::string TextOf(const std::vector<std::string>& names) {
  std::string text = StrCat(names.size(), ";");
  for (const std::string& n : names) StrAppend(&text, n.size(), ":", n);
  return text;
}

std::string KeyOf(const MasterStep::Request& request) {
  return StrCat(TextOf(request.feeds), TextOf(request.fetches),
                TextOf(request.targets));
}

// The order, and how often something is fetched, do not matter to the step.
MasterStep::Request RequestOf(const RunStepCall& call) {
  MasterStep::Request request;
  for (const auto& [name, value] : call.feeds) request.feeds.push_back(name);
  std::sort(request.feeds.begin(), request.feeds.end());
  const std::set<std::string> fetches(call.header.fetch().begin(),
                                      call.header.fetch().end());
  request.fetches.assign(fetches.begin(), fetches.end());
  const std::set<std::string> targets(call.header.target().begin(),
                                      call.header.target().end());
  request.targets.assign(targets.begin(), targets.end());
  return request;
}

// What a task's devices have, not a session.
Status CheckConfig(const pb::ConfigProto& asked, const pb::ConfigProto& server,
                   const pb::ConfigProto& merged) {
  using Headrace = pb::ConfigProto::Headrace;
  const Headrace &a = asked.headrace(), &s = server.headrace();
  const bool measures = a.conv_tuning() != Headrace::UNSET &&
                        a.conv_tuning() != Headrace::OFF &&
                        a.conv_tuning() != s.conv_tuning();
  const bool has_cache =
      !a.conv_cache().empty() && a.conv_cache() != s.conv_cache();
  if (measures || has_cache) {
    return errors::Unimplemented(
        "ConfigProto.headrace.", measures ? "conv_tuning" : "conv_cache",
        ": convolutions of a server's sessions are chosen as the server says: "
        "set it in its config, or HEADRACE_CONV_TUNING and HEADRACE_CONV_CACHE "
        "in its environment");
  }
  pb::ConfigProto checked;
  *checked.mutable_graph_options() = merged.graph_options();
  *checked.mutable_headrace() = merged.headrace();
  *checked.mutable_experimental() = merged.experimental();
  SessionOptions options;
  return SessionOptions::FromConfig(checked, &options);
}

// What tasks can do for a session.
pb::ConfigProto::Headrace SettingsOf(const pb::ConfigProto& config) {
  pb::ConfigProto::Headrace settings;
  settings.set_memory_budget_bytes(config.headrace().memory_budget_bytes());
  *settings.mutable_disabled_passes() = config.headrace().disabled_passes();
  const std::string& precision = config.headrace().precision();
  if (precision != "float32") settings.set_precision(precision);
  return settings;
}

void AddCounters(const pb::RunCounters& part, pb::RunCounters* sums) {
  sums->set_nodes(sums->nodes() + part.nodes());
  sums->set_allocations(sums->allocations() + part.allocations());
  sums->set_allocated_bytes(sums->allocated_bytes() + part.allocated_bytes());
  sums->set_copies(sums->copies() + part.copies());
  sums->set_copied_bytes(sums->copied_bytes() + part.copied_bytes());
}

// Sums over the tasks, by name.
void AddPasses(const pb::RunGraphResponse& part, pb::RunMetadata* metadata) {
  for (const pb::GraphPassReport& p : part.headrace_passes()) {
    auto* const all = metadata->mutable_headrace_passes();
    const auto found =
        std::find_if(all->begin(), all->end(),
                     [&](const auto& q) { return q.name() == p.name(); });
    if (found == all->end()) {
      *all->Add() = p;
      continue;
    }
    found->set_off(found->off() && p.off());
    found->set_changes(found->changes() + p.changes());
  }
}

// What one task tells of its part.
void MoveReport(pb::RunGraphResponse* part, pb::RunMetadata* metadata) {
  for (pb::DeviceStepStats& d :
       *part->mutable_step_stats()->mutable_dev_stats()) {
    *metadata->mutable_step_stats()->add_dev_stats() = std::move(d);
  }
  for (pb::CostGraphDef::Node& n :
       *part->mutable_cost_graph()->mutable_node()) {
    *metadata->mutable_cost_graph()->add_node() = std::move(n);
  }
  for (pb::GraphDef& g : *part->mutable_partition_graph()) {
    *metadata->add_partition_graphs() = std::move(g);
  }
  AddPasses(*part, metadata);
  if (part->has_headrace_counters()) {
    AddCounters(part->headrace_counters(),
                metadata->mutable_headrace_counters());
  }
}

}  // namespace

MasterSession::MasterSession(std::shared_ptr<Worker> worker,
                             pb::ConfigProto config, std::string handle,
                             const CallOptions& options)
    : worker_(std::move(worker)),
      config_(std::move(config)),
      handle_(std::move(handle)),
      from_network_(options.from_network),
      peer_(options.peer),
      workers_(worker_->workers()),
      graph_(std::make_shared<Graph>()) {}

MasterSession::~MasterSession() = default;

std::shared_ptr<MasterSession> MasterSession::InUse(
    std::shared_ptr<MasterSession> session) {
  MasterSession* const raw = session.get();
  ++raw->users_;
  return {raw, [session = std::move(session)](MasterSession* used) {
            used->used_.Touch();
            --used->users_;
          }};
}

absl::Time MasterSession::IdleSince() const {
  return users_ > 0 ? absl::InfiniteFuture() : used_.time();
}

void MasterSession::ForgetSteps(absl::Time before) {
  std::vector<StepPtr> gone;  // deregistered without the lock
  MutexLock lock(&mu_);
  for (auto it = steps_.begin(); it != steps_.end();) {
    if (it->second->used.time() < before) {
      gone.push_back(std::move(it->second));
      it = steps_.erase(it);
    } else {
      ++it;
    }
  }
}

// TensorFlow's workers have no such limit, and no method that does nothing but
// name a session. One that deregisters what is not there comes nearest.
void MasterSession::KeepWorkerSessions(absl::Duration period) {
  if (Now() - kept_ < period) return;
  kept_ = Now();
  pb::DeregisterGraphRequest request;
  request.set_session_handle(handle_);
  request.set_create_worker_session_called(true);
  const std::shared_ptr<const void> keep = Workers();
  for (const std::string& task : tasks_) {
    StatusOr<WorkerInterface*> worker = workers_->Find(task);
    if (!worker.ok()) continue;
    CallOptions options;
    options.timeout = kCloseTimeout;
    (*worker)->DeregisterGraph(options, request, [keep](const Status&) {});
  }
}

StatusOr<std::shared_ptr<MasterSession>> MasterSession::Create(
    const CallOptions& options, std::shared_ptr<Worker> worker,
    const pb::CreateSessionRequest& request, const pb::ConfigProto& config) {
  pb::ConfigProto merged = config;
  merged.clear_device_filters();
  merged.MergeFrom(request.config());
  HR_RETURN_IF_ERROR(CheckConfig(request.config(), config, merged));
  std::shared_ptr<MasterSession> session(new MasterSession(
      std::move(worker), std::move(merged),
      StrCat(absl::Hex(RandomSeed64(), absl::kZeroPad16)), options));
  const Status s = session->Start(options, request);
  if (!s.ok()) {
    session->Close();
    return s;
  }
  return session;
}

Status MasterSession::Start(const CallOptions& options,
                            const pb::CreateSessionRequest& request) {
  if (propagates()) {
    HR_ASSIGN_OR_RETURN(ClusterSpec spec,
                        ClusterSpec::FromProto(config_.cluster_def()));
    HR_ASSIGN_OR_RETURN(std::string self,
                        TaskAtTarget(spec, request.target(), worker_->task()));
    workers_ = std::make_shared<WorkerCache>(std::move(spec), std::move(self),
                                             worker_.get());
  }
  HR_ASSIGN_OR_RETURN(tasks_, FilterTasks(*workers_, config_.device_filters()));
  HR_RETURN_IF_ERROR(FindGroupLeader(request.config()));
  CallOptions wait = options;
  if (config_.operation_timeout_in_ms() > 0) {
    wait.timeout = std::min(
        wait.timeout, absl::Milliseconds(config_.operation_timeout_in_ms()));
  }
  std::map<std::string, pb::GetStatusResponse> answers;
  HR_RETURN_IF_ERROR(AskForDevices(wait, workers_.get(), tasks_, &answers));
  const std::vector<std::string> types = DeviceFactories::Types();
  for (const std::string& task : tasks_) {
    for (pb::DeviceAttributes a : answers[task].device_attributes()) {
      StatusOr<std::string> name = DeviceOfTask(a.name(), task);
      if (!name.ok()) {
        return Annotate(name.status(), StrCat(" (GetStatus of ", task, ")"));
      }
      if (propagates()) a.set_name(*std::move(name));
      attributes_.push_back(a);
      // For a type that this process does not know there are no kernels to
      // choose from.
      if (std::find(types.begin(), types.end(), a.device_type()) ==
          types.end()) {
        continue;
      }
      devices_.push_back(std::make_unique<RemoteDevice>(a));
      device_list_.push_back(devices_.back().get());
    }
  }
  if (device_list_.empty()) {
    return errors::Internal("no task of the cluster has a device");
  }
  if (SettingsOf(config_).ByteSizeLong() > 0) {
    HR_RETURN_IF_ERROR(CheckTasksTake(wait, "ConfigProto.headrace"));
  }
  HR_RETURN_IF_ERROR(CreateWorkerSessions(wait));
  return Import(request.graph_def());
}

// The master's task, unless the client names another one that has the session.
Status MasterSession::FindGroupLeader(const pb::ConfigProto& asked) {
  if (!propagates() || workers_->spec() == worker_->workers()->spec()) {
    return OkStatus();
  }
  group_leader_ = workers_->local_name();
  const std::string& name = asked.experimental().collective_group_leader();
  if (name.empty()) return OkStatus();
  DeviceName leader;
  HR_RETURN_IF_ERROR(
      Annotate(DeviceName::Parse(name, &leader),
               " (ConfigProto.experimental.collective_group_leader)"));
  group_leader_ = TaskName(leader.job, leader.task);
  if (std::find(tasks_.begin(), tasks_.end(), group_leader_) != tasks_.end()) {
    return OkStatus();
  }
  return errors::InvalidArgument(
      "ConfigProto.experimental.collective_group_leader is '", name,
      "', and the session has no such task; it has ",
      absl::StrJoin(tasks_, ", "));
}

Status MasterSession::CreateWorkerSessions(const CallOptions& options) {
  const pb::ConfigProto::Headrace settings = SettingsOf(config_);
  auto calls = std::make_shared<TaskCalls>();
  for (const std::string& task : tasks_) {
    pb::CreateWorkerSessionRequest request;
    request.set_session_handle(handle_);
    request.set_isolate_session_state(isolates());
    if (settings.ByteSizeLong() > 0) *request.mutable_headrace() = settings;
    for (const pb::DeviceAttributes& a : attributes_) {
      *request.add_cluster_device_attributes() = a;
    }
    if (propagates()) {
      pb::ServerDef* const def = request.mutable_server_def();
      *def->mutable_cluster() = config_.cluster_def();
      def->set_protocol("grpc");
      if (has_own_groups()) {
        def->mutable_default_session_config()
            ->mutable_experimental()
            ->set_collective_group_leader(group_leader_);
      }
      if (const ClusterSpec::Task* t = workers_->spec().Find(task)) {
        def->set_job_name(t->job);
        def->set_task_index(t->index);
      }
    }
    HR_ASSIGN_OR_RETURN(WorkerInterface * worker, workers_->Find(task));
    CallOptions call;
    call.timeout = std::min<absl::Duration>(options.timeout, absl::Minutes(1));
    worker->CreateWorkerSession(
        call, request, [calls, task](const Status& s) { calls->End(task, s); });
  }
  return calls->WaitForAll(tasks_.size());
}

Status MasterSession::CheckTasksTake(const CallOptions& options,
                                     const char* what) {
  if (tasks_take_settings_) return OkStatus();
  struct Asked : TaskCalls {
    std::map<std::string, pb::DescribeWaitsResponse> responses;
  };
  auto asked = std::make_shared<Asked>();
  for (const std::string& task : tasks_) asked->responses[task];
  for (const std::string& task : tasks_) {
    HR_ASSIGN_OR_RETURN(WorkerInterface * worker, workers_->Find(task));
    CallOptions call;
    call.timeout = std::min<absl::Duration>(options.timeout, absl::Minutes(1));
    worker->DescribeWaits(
        call, pb::DescribeWaitsRequest(), &asked->responses[task],
        [asked, task, what](const Status& s) {
          asked->End(task, !errors::IsUnimplemented(s)
                               ? s
                               : errors::Unimplemented(
                                     what, ": ", task,
                                     " is no server of Headrace, and would "
                                     "ignore it"));
        });
  }
  HR_RETURN_IF_ERROR(asked->WaitForAll(tasks_.size()));
  tasks_take_settings_ = true;
  return OkStatus();
}

std::shared_ptr<const void> MasterSession::Workers() const {
  return std::make_shared<
      std::pair<std::shared_ptr<WorkerCache>, std::shared_ptr<Worker>>>(
      workers_, worker_);
}

bool MasterSession::ReportsCosts(const MasterStep& step) const {
  const pb::GraphOptions& g = config_.graph_options();
  if (g.build_cost_model() <= 0) return false;
  const int64_t run = step.runs++ - g.build_cost_model_after();
  return run >= 0 && (run + 1) % g.build_cost_model() == 0;
}

Status MasterSession::Import(const pb::GraphDef& def) {
  MutexLock lock(&graph_->mu());
  if (from_network_) {
    HR_RETURN_IF_ERROR(worker_->policy().CheckImport(def));
    const int64_t nodes = int64_t{graph_->num_nodes()} + def.node_size();
    if (nodes > worker_->limits().graph_nodes) {
      return errors::ResourceExhausted("the session's graph would have ", nodes,
                                       " nodes; ", worker_->task(), " takes ",
                                       worker_->limits().graph_nodes,
                                       " (HEADRACE_MAX_GRAPH_NODES)");
    }
  }
  ImportOptions options;
  options.extends = true;
  return ImportGraphDef(options, def, graph_.get());
}

Status MasterSession::Extend(const pb::ExtendSessionRequest& request,
                             pb::ExtendSessionResponse* response) {
  MutexLock build(&build_mu_);
  {
    MutexLock lock(&mu_);
    if (closed_) return errors::FailedPrecondition("Session is closed.");
    if (request.current_graph_version() != version_) {
      return errors::Aborted("Current version is ", version_,
                             " but caller expected ",
                             request.current_graph_version(), ".");
    }
  }
  HR_RETURN_IF_ERROR(Import(request.graph_def()));
  MutexLock lock(&mu_);
  response->set_new_graph_version(++version_);
  return OkStatus();
}

void MasterSession::ListDevices(pb::ListDevicesResponse* response) const {
  for (const pb::DeviceAttributes& a : attributes_) {
    std::string task;
    TaskOfDevice(a.name(), &task).IgnoreError();  // checked in Start
    *(task == workers_->local_name() ? response->add_local_device()
                                     : response->add_remote_device()) = a;
  }
}

// Of too many steps, the half that was not used for longest.
void MasterSession::ForgetBeyondLimit() {
  std::vector<absl::Time> used;
  {
    MutexLock lock(&mu_);
    if (steps_.size() < kMaxSteps) return;
    for (const auto& [key, step] : steps_) used.push_back(step->used.time());
  }
  const auto middle = used.begin() + static_cast<int64_t>(used.size() / 2);
  std::nth_element(used.begin(), middle, used.end());
  ForgetSteps(*middle + absl::Nanoseconds(1));
}

MasterSession::StepPtr MasterSession::FindStep(const std::string& key) {
  MutexLock lock(&mu_);
  const auto it = steps_.find(key);
  if (it == steps_.end()) return nullptr;
  it->second->used.Touch();
  return it->second;
}

bool MasterSession::WasQuick(const RunStepCall& call) {
  if (!call.header.partial_run_handle().empty()) return false;
  const StepPtr step = FindStep(KeyOf(RequestOf(call)));
  return step != nullptr && step->quick_runs >= kQuickRuns;
}

Status MasterSession::FindOrBuild(const CallOptions& options,
                                  const Request& request, StepPtr* step) {
  const std::string key = KeyOf(request);
  *step = FindStep(key);
  if (*step != nullptr) return OkStatus();
  MutexLock build(&build_mu_);
  *step = FindStep(key);
  if (*step != nullptr) return OkStatus();
  HR_RETURN_IF_ERROR(CatchExceptions([&] {
    build_mu_.AssertHeld();
    return Build(options, request, step);
  }));
  ForgetBeyondLimit();
  MutexLock lock(&mu_);
  (*step)->used.Touch();
  steps_.emplace(key, *step);
  return OkStatus();
}

Status MasterSession::Build(const CallOptions& options, const Request& request,
                            StepPtr* out) {
  auto step = std::make_shared<MasterStep>();
  step->session = {handle_, open_, worker_, workers_};
  HR_ASSIGN_OR_RETURN(
      std::unique_ptr<Graph> graph,
      BuildStepGraph(graph_.get(), request, *device_list_.front(), step.get()));
  if (step->graph_key != 0 && has_own_groups() && !isolates()) {
    return errors::Unimplemented(
        "ConfigProto.cluster_def is not the cluster of ", worker_->task(),
        ", and the step has collective ops: with experimental."
        "share_session_state_in_clusterspec_propagation their groups are "
        "those of the servers' cluster. Start the servers with the cluster: "
        "tf.train.Server(cluster, job_name=..., task_index=...)");
  }
  bool control_flow = false;
  graph->ForEachNode([&](Node* n) { control_flow |= n->IsControlFlow(); });
  {
    ReaderMutexLock lock(&graph_->mu());
    HR_RETURN_IF_ERROR(
        places_.Extend(PlacerOptionsOf(config_), device_list_, *graph_));
  }
  std::map<std::string, std::unique_ptr<Graph>> parts;
  HR_RETURN_IF_ERROR(
      PlaceAndSplit(config_, device_list_, places_, std::move(graph), &parts));
  HR_RETURN_IF_ERROR(RegisterParts(options, config_, from_network_,
                                   control_flow, std::move(parts), step.get()));
  *out = std::move(step);
  return OkStatus();
}

Status MasterSession::Execute(const CallOptions& options, const StepPtr& step,
                              Execution execution, NamedTensors* fetched,
                              pb::RunMetadata* metadata) {
  HR_RETURN_IF_ERROR(CheckMemoryBudget(*execution.options));
  const int64_t budget = execution.options->headrace().memory_budget_bytes();
  if (budget > 0) {
    HR_RETURN_IF_ERROR(CheckTasksTake(options, "RunOptions.headrace"));
  }
  std::deque<RunningParts::Part> parts;
  const bool costs = metadata != nullptr && ReportsCosts(*step);
  const bool traced = metadata != nullptr && execution.options->trace_level() !=
                                                 pb::RunOptions::NO_TRACE;
  for (const MasterStep::Part& p : step->parts) {
    RunningParts::Part& part = parts.emplace_back();
    part.task = p.task;
    part.where = workers_->Describe(p.task);
    part.worker = p.worker;
    part.is_local = p.is_client;
    part.step_id = execution.id;
    pb::RunGraphRequest& header = part.call.header;
    header.set_session_handle(handle_);
    header.set_create_worker_session_called(true);
    header.set_graph_handle(p.graph_handle);
    header.set_step_id(execution.id);
    header.set_request_id(NewRequestId());
    header.set_is_partial(execution.partial);
    header.set_is_last_partial_run(execution.last_partial);
    header.set_store_errors_in_response_body(true);
    pb::ExecutorOpts* const opts = header.mutable_exec_opts();
    opts->set_record_timeline(traced);
    opts->set_record_costs(costs);
    if (budget > 0) opts->set_headrace_memory_budget_bytes(budget);
    opts->set_record_partition_graphs(
        execution.options->output_partition_graphs());
    opts->set_report_tensor_allocations_upon_oom(
        execution.options->report_tensor_allocations_upon_oom());
    if (p.is_client) {
      part.call.send = std::move(execution.feeds);
      part.call.recv_keys = std::move(execution.fetches);
    }
  }
  const RunningParts::Pools pools = {worker_->pool(),
                                     worker_->devices()[0]->thread_pool()};
  auto run = std::make_shared<RunningParts>(std::move(parts), pools, Workers());
  {
    MutexLock lock(&mu_);
    if (closed_) return errors::Cancelled("Session has been closed.");
    running_.insert(run);
  }
  {
    const int64_t timeout = TimeoutOf(*execution.options);
    const Deadline deadline(timeout, [&run, timeout] {
      run->FailAfterAsking(
          errors::DeadlineExceeded("Timed out waiting for notification: the "
                                   "step was not finished after ",
                                   timeout, " ms", run->WhoIsMissing()));
    });
    CancellationManager* const caller = options.cancellation;
    CancellationManager::Token token = 0;
    const auto cancel = [run] {
      run->Fail(errors::Cancelled("RunStep was cancelled."));
    };
    if (caller != nullptr) {
      token = caller->NextToken();
      if (!caller->RegisterCallback(token, cancel)) cancel();
    }
    run->Run(options.waits);
    if (caller != nullptr) caller->TryDeregisterCallback(token);
  }
  {
    MutexLock lock(&mu_);
    running_.erase(run);
  }
  HR_RETURN_IF_ERROR(run->status());
  for (RunningParts::Part& p : run->parts()) {
    if (p.is_local) *fetched = std::move(p.result.recv);
    if (metadata == nullptr) continue;
    pb::RunGraphResponse& header = p.result.header;
    if (!p.is_local) MoveClock(p.begin, p.end, header.mutable_step_stats());
    MoveReport(&header, metadata);
  }
  return OkStatus();
}

Status MasterSession::ExecuteWhole(const CallOptions& options,
                                   const StepPtr& step, Execution execution,
                                   NamedTensors* fetched,
                                   pb::RunMetadata* metadata) {
  const int64_t asked =
      execution.options->experimental().collective_graph_key();
  const int64_t key =
      step->graph_key != 0 && asked != 0 ? asked : step->graph_key;
  const bool meets_others = key != 0 && !has_own_groups();
  if (!meets_others) {
    execution.id = NewStepId();
  } else {
    const int64_t timeout = TimeoutOf(*execution.options);
    CallOptions call = options;
    if (timeout > 0) call.timeout = absl::Milliseconds(timeout);
    HR_ASSIGN_OR_RETURN(execution.id,
                        worker_->collectives()->NextStepId(call, key));
  }
  const int64_t id = execution.id;
  const absl::Time begin = Now();
  const Status s =
      Execute(options, step, std::move(execution), fetched, metadata);
  if (!s.ok() || Now() - begin > kQuickRun) {
    step->quick_runs = 0;
  } else if (step->quick_runs < kQuickRuns) {
    ++step->quick_runs;
  }
  Cleanup(*step, id, !s.ok());
  if (meets_others) worker_->collectives()->RetireStepId(key, id, s.ok());
  return s;
}

void MasterSession::Cleanup(const MasterStep& step, int64_t id, bool failed) {
  auto calls = std::make_shared<TaskCalls>();
  for (const MasterStep::Part& p : step.parts) {
    CallOptions options;
    options.timeout = kCloseTimeout;
    p.worker->CleanupGraph(
        options, id,
        [calls, task = p.task](const Status& s) { calls->End(task, s); });
  }
  if (failed) calls->WaitForAll(step.parts.size(), kEndTimeout);
}

Status MasterSession::Run(const CallOptions& options, RunStepCall call,
                          RunStepResult* result) {
  if (!call.header.partial_run_handle().empty()) {
    return RunPartial(options, std::move(call), result);
  }
  const pb::RunOptions& run_options = call.header.options();
  HR_RETURN_IF_ERROR(CheckDebugOptions(run_options));
  std::map<std::string, const Tensor*> by_name;
  for (const auto& [name, value] : call.feeds) {
    if (!by_name.emplace(name, &value).second) {
      return errors::InvalidArgument("Endpoint \"", name,
                                     "\" fed more than once.");
    }
  }
  StepPtr step;
  HR_RETURN_IF_ERROR(FindOrBuild(options, RequestOf(call), &step));

  Execution execution;
  execution.options = &run_options;
  std::map<std::string, size_t> at;  // of a fetch, by name
  for (const MasterStep::Fed& f : step->feeds) {
    const Tensor& value = *by_name[f.name];
    if (value.dtype() != f.dtype) {
      return errors::InvalidArgument("feed '", f.name, "' has type ",
                                     DataTypeString(value.dtype()), ", wanted ",
                                     DataTypeString(f.dtype));
    }
    execution.feeds.emplace_back(f.key, value);
  }
  for (const MasterStep::Fetched& f : step->fetches) {
    at.emplace(f.name, at.size());
    execution.fetches.push_back(f.key);
  }
  NamedTensors fetched;
  HR_RETURN_IF_ERROR(ExecuteWhole(options, step, std::move(execution), &fetched,
                                  result->header.mutable_metadata()));
  for (const std::string& name : call.header.fetch()) {
    const size_t i = at[name];
    if (i >= fetched.size()) {
      return errors::Internal("no value came back for ", name);
    }
    result->fetches.emplace_back(name, fetched[i].second);
  }
  return OkStatus();
}

Status MasterSession::PartialRunSetup(const CallOptions& options,
                                      const pb::PartialRunSetupRequest& request,
                                      pb::PartialRunSetupResponse* response) {
  Request wanted;
  wanted.feeds.assign(request.feed().begin(), request.feed().end());
  // Each is fetched once: a run with one twice would never end.
  const std::set<std::string> fetches(request.fetch().begin(),
                                      request.fetch().end());
  wanted.fetches.assign(fetches.begin(), fetches.end());
  wanted.targets.assign(request.target().begin(), request.target().end());
  auto run = std::make_shared<PartialRun>();
  HR_RETURN_IF_ERROR(FindOrBuild(options, wanted, &run->step));
  run->id = NewStepId();
  MutexLock lock(&mu_);
  const int64_t limit = worker_->limits().partial_runs;
  if (from_network_ && static_cast<int64_t>(partial_runs_.size()) >= limit) {
    return errors::ResourceExhausted(
        "PartialRunSetup: the session has ", limit,
        " partial runs that have not ended, which is the limit "
        "(HEADRACE_MAX_PARTIAL_RUNS)");
  }
  const std::string handle = StrCat(next_partial_++);
  partial_runs_[handle] = std::move(run);
  response->set_partial_run_handle(handle);
  return OkStatus();
}

Status MasterSession::RunPartial(const CallOptions& options, RunStepCall call,
                                 RunStepResult* result) {
  HR_RETURN_IF_ERROR(CheckDebugOptions(call.header.options()));
  if (call.header.options().headrace().memory_budget_bytes() != 0) {
    return errors::InvalidArgument(
        "RunOptions: memory_budget_bytes in a call of a partial run, which "
        "goes on already; it has the session's");
  }
  const std::string& handle = call.header.partial_run_handle();
  std::shared_ptr<PartialRun> run;
  Execution execution;
  {
    MutexLock lock(&mu_);
    const auto it = partial_runs_.find(handle);
    if (it == partial_runs_.end()) {
      return errors::InvalidArgument(
          "Must run PartialRunSetup before performing partial runs");
    }
    run = it->second;
    std::set<std::string> fed = run->fed, fetched = run->fetched;
    const MasterStep& step = *run->step;
    for (auto& [name, value] : call.feeds) {
      const auto at =
          std::find_if(step.feeds.begin(), step.feeds.end(),
                       [&n = name](const auto& f) { return f.name == n; });
      if (at == step.feeds.end()) {
        return errors::InvalidArgument(
            "The feed ", name, " was not specified in partial_run_setup.");
      }
      if (!fed.insert(name).second) {
        return errors::InvalidArgument("The feed ", name,
                                       " has already been fed.");
      }
      if (value.dtype() != at->dtype) {
        return errors::InvalidArgument("feed '", name, "' has type ",
                                       DataTypeString(value.dtype()),
                                       ", wanted ", DataTypeString(at->dtype));
      }
      execution.feeds.emplace_back(at->key, std::move(value));
    }
    for (const std::string& name : call.header.fetch()) {
      const auto at =
          std::find_if(step.fetches.begin(), step.fetches.end(),
                       [&](const auto& f) { return f.name == name; });
      if (at == step.fetches.end()) {
        return errors::InvalidArgument(
            "The fetch ", name, " was not specified in partial_run_setup.");
      }
      if (!fetched.insert(name).second) {
        return errors::InvalidArgument("The fetch ", name,
                                       " has already been fetched.");
      }
      for (int f : at->needs) {
        if (!fed.contains(step.feeds[f].name)) {
          return errors::InvalidArgument(
              "Fetch ", name,
              " can't be computed from the feeds that have been fed so far. ",
              "It needs ", step.feeds[f].name, ".");
        }
      }
      execution.fetches.push_back(at->key);
    }
    run->fed = std::move(fed);
    run->fetched = std::move(fetched);
    execution.last_partial = run->fed.size() == step.feeds.size() &&
                             run->fetched.size() == step.fetches.size();
    if (execution.last_partial) partial_runs_.erase(it);
  }
  execution.id = run->id;
  execution.partial = true;
  execution.options = &call.header.options();
  const bool last = execution.last_partial;
  NamedTensors fetched;
  const Status s =
      Execute(options, run->step, std::move(execution), &fetched, nullptr);
  if (last || !s.ok()) {
    Cleanup(*run->step, run->id, !s.ok());
    MutexLock lock(&mu_);
    partial_runs_.erase(handle);
  }
  HR_RETURN_IF_ERROR(s);
  for (int i = 0; i < call.header.fetch_size(); ++i) {
    if (i >= static_cast<int>(fetched.size())) {
      return errors::Internal("no value came back for ", call.header.fetch(i));
    }
    result->fetches.emplace_back(call.header.fetch(i), fetched[i].second);
  }
  return OkStatus();
}

Status MasterSession::MakeCallable(const CallOptions& options,
                                   const pb::MakeCallableRequest& request,
                                   pb::MakeCallableResponse* response) {
  const pb::CallableOptions& o = request.options();
  if (o.tensor_connection_size() > 0) {
    return errors::Unimplemented(
        "CallableOptions.tensor_connection is not supported");
  }
  HR_RETURN_IF_ERROR(CheckDebugOptions(o.run_options()));
  Request wanted;
  wanted.feeds.assign(o.feed().begin(), o.feed().end());
  wanted.fetches.assign(o.fetch().begin(), o.fetch().end());
  wanted.targets.assign(o.target().begin(), o.target().end());
  auto callable = std::make_shared<Callable>();
  HR_RETURN_IF_ERROR(FindOrBuild(options, wanted, &callable->step));
  callable->options = o.run_options();
  MutexLock lock(&mu_);
  const int64_t limit = worker_->limits().callables;
  if (from_network_ && static_cast<int64_t>(callables_.size()) >= limit) {
    return errors::ResourceExhausted(
        "MakeCallable: the session has ", limit,
        " callables, which is the limit (HEADRACE_MAX_CALLABLES); release "
        "some");
  }
  response->set_handle(next_callable_);
  callables_[next_callable_++] = std::move(callable);
  return OkStatus();
}

Status MasterSession::RunCallable(const CallOptions& options,
                                  RunCallableCall call,
                                  RunCallableResult* result) {
  std::shared_ptr<const Callable> callable;
  {
    MutexLock lock(&mu_);
    const auto it = callables_.find(call.header.handle());
    if (it == callables_.end()) {
      return errors::InvalidArgument("No such callable handle: ",
                                     call.header.handle());
    }
    callable = it->second;
  }
  const StepPtr& step = callable->step;
  if (call.feeds.size() != step->feeds.size()) {
    return errors::InvalidArgument("Expected ", step->feeds.size(),
                                   " feed tensors, but got ",
                                   call.feeds.size());
  }
  Execution execution;
  execution.options = &callable->options;
  for (size_t i = 0; i < call.feeds.size(); ++i) {
    const MasterStep::Fed& f = step->feeds[i];
    if (call.feeds[i].dtype() != f.dtype) {
      return errors::InvalidArgument("feed '", f.name, "' has type ",
                                     DataTypeString(call.feeds[i].dtype()),
                                     ", wanted ", DataTypeString(f.dtype));
    }
    execution.feeds.emplace_back(f.key, std::move(call.feeds[i]));
  }
  std::map<std::string, size_t> at;  // of a key, among those asked for
  for (const MasterStep::Fetched& f : step->fetches) {
    if (at.emplace(f.key, at.size()).second) {
      execution.fetches.push_back(f.key);
    }
  }
  NamedTensors fetched;
  HR_RETURN_IF_ERROR(ExecuteWhole(options, step, std::move(execution), &fetched,
                                  result->header.mutable_metadata()));
  for (const MasterStep::Fetched& f : step->fetches) {
    const size_t i = at[f.key];
    if (i >= fetched.size()) {
      return errors::Internal("no value came back for ", f.name);
    }
    result->fetches.push_back(fetched[i].second);
  }
  return OkStatus();
}

Status MasterSession::ReleaseCallable(int64_t handle) {
  std::shared_ptr<const Callable> gone;
  MutexLock lock(&mu_);
  const auto it = callables_.find(handle);
  if (it == callables_.end()) {
    return errors::InvalidArgument("No such callable handle: ", handle);
  }
  gone = std::move(it->second);
  callables_.erase(it);
  return OkStatus();
}

void MasterSession::Close() {
  std::set<std::shared_ptr<RunningParts>> running;
  std::map<std::string, std::shared_ptr<PartialRun>> partial;
  decltype(callables_) callables;
  {
    MutexLock lock(&mu_);
    if (closed_) return;
    closed_ = true;
    *open_ = false;
    running = running_;
    partial.swap(partial_runs_);
    callables.swap(callables_);
  }
  for (const auto& run : running) {
    run->Fail(errors::Cancelled("Session has been closed."));
  }
  for (const auto& [handle, run] : partial) {
    Cleanup(*run->step, run->id, false);
  }
  pb::DeleteWorkerSessionRequest request;
  request.set_session_handle(handle_);
  auto calls = std::make_shared<TaskCalls>();
  size_t asked = 0;
  for (const std::string& task : tasks_) {
    StatusOr<WorkerInterface*> worker = workers_->Find(task);
    if (!worker.ok()) continue;
    ++asked;
    CallOptions options;
    options.timeout = kCloseTimeout;
    (*worker)->DeleteWorkerSession(
        options, request,
        [calls, task](const Status& s) { calls->End(task, s); });
  }
  calls->WaitForAll(asked).IgnoreError();  // those that are gone have ended it
}

}  // namespace headrace
