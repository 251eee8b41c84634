#include "distributed/worker.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/exceptions.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "base/waiting_threads.h"
#include "distributed/cluster_devices.h"
#include "framework/op/tensor_proto.h"
#include "google/protobuf/unknown_field_set.h"
#include "headrace/clock.h"
#include "headrace/device_factory.h"
#include "session/device_resources.h"
#include "session/session_handles.h"
#include "session/session_options.h"

namespace headrace {
namespace {

// A task that does not say meanwhile what it waits for is left out.
constexpr absl::Duration kDescribeTimeout = absl::Seconds(2);

// True if a task of the session's cluster is TensorFlow 2: only its masters say
// who they are, in fields that our message does not have, and only its devices
// have a global id.
bool HasTensorFlow2(const pb::CreateWorkerSessionRequest& request) {
  constexpr int kMasterTask = 5;
  const google::protobuf::UnknownFieldSet& fields =
      request.GetReflection()->GetUnknownFields(request);
  for (int i = 0; i < fields.field_count(); ++i) {
    if (fields.field(i).number() == kMasterTask) return true;
  }
  for (const pb::DeviceAttributes& a : request.cluster_device_attributes()) {
    if (a.xla_global_id() != 0) return true;
  }
  return false;
}

// As kCollectives says.
Status SetTransport(const std::string& task, TaskCollectives* collectives) {
  const char* const name = std::getenv(kCollectives);
  if (name == nullptr || *name == 0 || name == absl::string_view("grpc")) {
    return OkStatus();
  }
  if (name == absl::string_view("nccl")) {
    return errors::Unimplemented(
        kCollectives,
        "=nccl: collective ops over NCCL are not supported; they "
        "go over gRPC, or over MPI (",
        kCollectives, "=mpi)");
  }
  if (name != absl::string_view("mpi")) {
    return errors::InvalidArgument(kCollectives, " is '", name,
                                   "'; wanted 'grpc' or 'mpi'");
  }
  // The transport ends before `collectives`, at Shutdown.
  HR_ASSIGN_OR_RETURN(
      std::shared_ptr<CollectiveTransport> transport,
      NewCollectiveTransport(
          name, task,
          [collectives](int64_t step_id, const std::string& key, int64_t wanted,
                        CancellationManager* cancellation,
                        CollectiveTransport::GiveCallback give) {
            collectives->Take(step_id, key, wanted, cancellation,
                              std::move(give));
          }));
  collectives->SetTransport(std::move(transport));
  return OkStatus();
}

// The task that knows the groups of collective ops.
StatusOr<std::string> GroupLeader(const std::string& task,
                                  const ClusterSpec& cluster,
                                  const pb::ConfigProto& config) {
  const std::string& name = config.experimental().collective_group_leader();
  if (!name.empty()) {
    DeviceName leader;
    HR_RETURN_IF_ERROR(
        Annotate(DeviceName::Parse(name, &leader),
                 " (ConfigProto.experimental.collective_group_leader)"));
    const std::string full = TaskName(leader.job, leader.task);
    if (cluster.Find(full) == nullptr) {
      return errors::InvalidArgument(
          "ConfigProto.experimental.collective_group_leader is '", name,
          "', and the cluster has no such task");
    }
    return full;
  }
  const ClusterSpec::Task* const self = cluster.Find(task);
  std::string first = task;
  int index = self == nullptr ? 0 : self->index;
  for (const ClusterSpec::Task& t : cluster.tasks()) {
    if (self == nullptr || t.job != self->job || t.index > index) continue;
    index = t.index;
    first = t.name;
  }
  return first;
}

// A pool has one thread less than its work may take: that of who waits. Where
// that is a thread of the pool or of gRPC, or waits for a part of the step
// only, another one stands in for it if there are kernels that take long.
void StartOnAWaitingThread(const std::shared_ptr<GraphRun>& run,
                           std::function<void(const Status&)> end) {
  if (run->may_run_long() &&
      StartWaitingThread([run, end] { run->StartAndHelp(end); })) {
    return;
  }
  run->Start(nullptr, std::move(end));
}

// Receives `keys` from a rendezvous. Calls `done` when all are there and its
// maker has released it.
struct Collector {
  Mutex mu;
  Status status GUARDED_BY(mu);
  size_t left GUARDED_BY(mu) = 0;
  NamedTensors values GUARDED_BY(mu);
  std::function<void(const Status&, NamedTensors)> done;

  void Add(size_t i, const Status& s, const Tensor& value, bool is_dead) {
    {
      MutexLock lock(&mu);
      if (!s.ok()) {
        if (status.ok() || IsDerived(status)) status = s;
      } else if (is_dead) {
        status = errors::InvalidArgument("The tensor returned for ",
                                         values[i].first, " was not valid.");
      } else {
        values[i].second = value;
      }
    }
    Release();
  }

  void Release() {
    Status s;
    NamedTensors all;
    {
      MutexLock lock(&mu);
      if (--left > 0) return;
      s = status;
      all = std::move(values);
    }
    done(s, std::move(all));
  }
};

std::shared_ptr<Collector> Collect(
    StepRendezvous* from, CancellationManager* cancellation,
    const std::vector<std::string>& keys,
    std::function<void(const Status&, NamedTensors)> done) {
  auto c = std::make_shared<Collector>();
  c->done = std::move(done);
  {
    MutexLock lock(&c->mu);
    for (const std::string& key : keys) c->values.emplace_back(key, Tensor());
    c->left = keys.size() + 1;
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    from->RecvLocal(keys[i], cancellation,
                    [c, i](const Status& s, const Tensor& value, bool dead) {
                      c->Add(i, s, value, dead);
                    });
  }
  return c;
}

}  // namespace

// A step that is fed and fetched in several calls.
struct Worker::PartialStep {
  std::shared_ptr<GraphRun> run;
  LastUse used;
  std::atomic<int64_t> calls{0};
  Mutex mu;
  bool ended GUARDED_BY(mu) = false;
  Status status GUARDED_BY(mu);
  // More than one only if a master sends the last part of a run twice.
  std::vector<std::function<void()>> when_ended GUARDED_BY(mu);
};

// The last to let go may be a thread of a pool, which cannot join itself.
void Worker::Resources::Delete(Resources* resources) {
  const bool in_worker =
      (resources->pools != nullptr && resources->pools->first()->InWorker()) ||
      (resources->intra != nullptr && resources->intra->InWorker());
  if (in_worker && StartWaitingThread([resources] { delete resources; })) {
    return;
  }
  if (!in_worker) delete resources;  // otherwise it stays
}

Worker::Worker(std::string task) : task_(std::move(task)), steps_(task_) {}

StatusOr<std::unique_ptr<Worker>> Worker::Create(
    const std::string& task, const ClusterSpec& cluster,
    const pb::ConfigProto& config) {
  SessionOptions options;
  HR_RETURN_IF_ERROR(SessionOptions::FromConfig(config, &options));
  std::unique_ptr<Worker> w(new Worker(task));
  w->config_ = config;
  HR_RETURN_IF_ERROR(InterOpPools::Make(options, &w->resources_->pools));
  if (options.intra_op_threads > 0) {
    w->resources_->intra = std::make_unique<ThreadPool>(
        options.intra_op_threads, "headrace_intra");
  }
  if (options.wants_tuner) {
    HR_ASSIGN_OR_RETURN(w->tuner_, AlgorithmTuner::Create(options.tuning));
  }
  HR_ASSIGN_OR_RETURN(std::string leader, GroupLeader(task, cluster, config));
  w->collectives_ = MakeRef<TaskCollectives>(task, std::move(leader));
  HR_RETURN_IF_ERROR(
      w->MakeDevices(task, w->collectives_, &w->resources_->devices));
  std::map<std::string, uint64_t> incarnations;
  for (const auto& d : w->resources_->devices) {
    w->devices_.push_back(d.get());
    incarnations[d->name()] = d->attributes().incarnation;
  }
  w->workers_ = std::make_shared<WorkerCache>(cluster, task, w.get());
  w->collectives_->SetTasks(w->workers_, std::move(incarnations));
  HR_RETURN_IF_ERROR(SetTransport(task, w->collectives_.get()));
  MutexLock lock(&w->mu_);
  w->legacy_session_ = std::make_shared<WorkerSession>(
      "", w->workers_, w->resources_, w->devices_,
      std::vector<std::unique_ptr<Device>>(), w->pool(), false);
  return w;
}

void Worker::SetLimits(LoadPolicy policy, const ServerLimits& limits) {
  policy_ = std::move(policy);
  limits_ = limits;
  if (limits.session_ttl > absl::ZeroDuration()) {
    watch_ =
        std::make_unique<IdleWatch>(limits.session_ttl, [this] { EndIdle(); });
  }
}

std::set<int64_t> Worker::TouchRunning() {
  std::set<int64_t> ids;
  std::vector<std::shared_ptr<GraphRun>> runs;  // end without the lock
  MutexLock lock(&mu_);
  for (const auto& [raw, weak] : runs_) {
    std::shared_ptr<GraphRun> run = weak.lock();
    if (run == nullptr) continue;
    const auto partial = partial_steps_.find(run->step_id());
    const bool between_calls = partial != partial_steps_.end() &&
                               partial->second->run == run &&
                               partial->second->calls == 0;
    if (!run->has_ended() && !between_calls) {
      run->session()->used()->Touch();
    }
    if (!run->has_ended() || between_calls) ids.insert(run->step_id());
    runs.push_back(std::move(run));
  }
  return ids;
}

std::vector<int64_t> Worker::FindIdlePartialSteps(
    absl::Time before,
    const std::vector<std::shared_ptr<WorkerSession>>& ended) {
  std::vector<int64_t> ids;
  MutexLock lock(&mu_);
  for (const auto& [id, step] : partial_steps_) {
    const WorkerSession* const session = step->run->session();
    const bool without_session = session == legacy_session_.get() &&
                                 step->calls == 0 && step->used.time() < before;
    const bool of_ended =
        std::any_of(ended.begin(), ended.end(),
                    [&](const auto& s) { return s.get() == session; });
    if (without_session || of_ended) ids.push_back(id);
  }
  return ids;
}

void Worker::EndIdle() {
  const std::set<int64_t> running = TouchRunning();
  const absl::Duration ttl = limits_.session_ttl * 2;
  const absl::Time before = Now() - ttl;
  std::vector<std::shared_ptr<WorkerSession>> idle;
  std::shared_ptr<WorkerSession> legacy;
  {
    MutexLock lock(&mu_);
    legacy = legacy_session_;
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      const bool ends = it->second->used()->time() < before;
      if (ends) idle.push_back(std::move(it->second));
      it = ends ? sessions_.erase(it) : std::next(it);
    }
  }
  std::vector<int64_t> steps = FindIdlePartialSteps(before, idle);
  for (const int64_t id : steps_.FindIdle(before)) {
    if (!running.contains(id)) steps.push_back(id);
  }
  for (const int64_t id : steps) {
    CleanupGraph(CallOptions(), id, [](const Status&) {});
  }
  for (const auto& session : idle) {
    HR_LOG(WARNING) << task_ << ": no master has named session "
                    << session->handle() << " for " << absl::FormatDuration(ttl)
                    << " (twice " << kSessionTtl << "), and it ends";
    session->Clear();
  }
  if (legacy != nullptr) legacy->ClearIdle(before);
}

Worker::~Worker() {
  Shutdown();
  {
    MutexLock lock(&mu_);
    while (running_ > 0) changed_.Wait(&mu_);
  }
  for (Device* d : devices_) d->resource_manager()->Clear();
}

void Worker::Shutdown() {
  watch_.reset();  // its thread may not be the last to know this
  decltype(sessions_) sessions;
  decltype(partial_steps_) partial;
  std::shared_ptr<WorkerSession> legacy;
  std::vector<std::shared_ptr<GraphRun>> runs;
  {
    MutexLock lock(&mu_);
    sessions.swap(sessions_);
    partial.swap(partial_steps_);
    legacy.swap(legacy_session_);
    for (const auto& [raw, weak] : runs_) {
      if (auto run = weak.lock()) runs.push_back(std::move(run));
    }
  }
  // Masters of this process have no connection whose end would tell them.
  for (const auto& run : runs) {
    run->Abort(errors::Unavailable(task_, " is shut down"));
  }
  runs.clear();
  const Status why = errors::Cancelled(task_, " is shut down");
  steps_.Clear(why);
  if (collectives_ != nullptr) collectives_->Shutdown();
  if (tuner_ != nullptr) tuner_->Stop();
  for (auto& [handle, session] : sessions) session->Clear();
  if (legacy != nullptr) legacy->Clear();
}

Status Worker::MakeDevices(const std::string& task,
                           const RefPtr<TaskCollectives>& collectives,
                           std::vector<std::unique_ptr<Device>>* out) const {
  SessionOptions options;
  HR_RETURN_IF_ERROR(SessionOptions::FromConfig(config_, &options));
  DeviceOptions devices;
  devices.counts = options.device_counts;
  devices.gpu = options.gpu;
  devices.name_prefix = task;
  devices.pool =
      resources_->intra ? resources_->intra.get() : ThreadPool::Global();
  HR_RETURN_IF_ERROR(DeviceFactories::CreateDevices(devices, out));
  for (const auto& d : *out) {
    ShareWith(d.get(), session_tensors_);
    if (collectives != nullptr) {
      ShareWith<CollectiveExecutor>(d.get(), collectives);
    }
    ShareWith(d.get(), tuner_);
  }
  return OkStatus();
}

void Worker::GetStatus(const CallOptions&, pb::GetStatusResponse* response,
                       StatusCallback done) {
  for (const Device* d : devices_) {
    const DeviceAttributes& a = d->attributes();
    pb::DeviceAttributes* const out = response->add_device_attributes();
    out->set_name(a.name);
    out->set_device_type(a.device_type);
    out->set_memory_limit(a.memory_limit);
    out->mutable_locality();
    out->set_incarnation(a.incarnation);
    out->set_physical_device_desc(a.physical_device_desc);
  }
  done(OkStatus());
}

StatusOr<RefPtr<TaskCollectives>> Worker::MakeCollectives(
    const pb::CreateWorkerSessionRequest& request,
    const std::shared_ptr<WorkerCache>& workers) const {
  const pb::ConfigProto& config = request.server_def().default_session_config();
  if (workers == workers_ ||
      config.experimental().collective_group_leader().empty()) {
    return RefPtr<TaskCollectives>();
  }
  const std::string& name = workers->local_name();
  HR_ASSIGN_OR_RETURN(std::string leader,
                      GroupLeader(name, workers->spec(), config));
  auto made = MakeRef<TaskCollectives>(name, std::move(leader),
                                       request.session_handle());
  std::map<std::string, uint64_t> incarnations;
  for (const Device* d : devices_) {
    HR_ASSIGN_OR_RETURN(std::string device, DeviceOfTask(d->name(), name));
    incarnations[std::move(device)] = d->attributes().incarnation;
  }
  made->SetTasks(workers, std::move(incarnations));
  return made;
}

Status Worker::MakeSession(const pb::CreateWorkerSessionRequest& request) {
  if (request.session_handle().empty()) {
    return errors::InvalidArgument("CreateWorkerSession: no session_handle");
  }
  pb::ConfigProto settings;
  *settings.mutable_headrace() = request.headrace();
  SessionOptions checked;
  HR_RETURN_IF_ERROR(SessionOptions::FromConfig(settings, &checked));
  std::shared_ptr<WorkerCache> workers = workers_;
  if (request.server_def().cluster().job_size() > 0) {
    const pb::ServerDef& def = request.server_def();
    HR_ASSIGN_OR_RETURN(ClusterSpec spec,
                        ClusterSpec::FromProto(def.cluster()));
    std::string name = TaskName(def.job_name(), def.task_index());
    if (spec.Find(name) == nullptr) {
      return errors::InvalidArgument(
          "CreateWorkerSession: server_def: the cluster has no ", name);
    }
    if (name != task_ && !request.isolate_session_state()) {
      return errors::Unimplemented(
          "CreateWorkerSession: ", task_,
          " keeps its state under this name, "
          "and cannot share it with a session that calls it ",
          name,
          " (ConfigProto.cluster_def with experimental."
          "share_session_state_in_clusterspec_propagation)");
    }
    workers =
        std::make_shared<WorkerCache>(std::move(spec), std::move(name), this);
  }
  std::vector<std::unique_ptr<Device>> owned;
  std::vector<Device*> devices = devices_;
  RefPtr<TaskCollectives> collectives;
  if (request.isolate_session_state()) {
    const std::string& name = workers->local_name();
    HR_ASSIGN_OR_RETURN(collectives, MakeCollectives(request, workers));
    RefPtr<TaskCollectives> on_devices = collectives;
    // The server's groups are of tasks as its cluster names them.
    if (on_devices == nullptr && name == task_) on_devices = collectives_;
    HR_RETURN_IF_ERROR(MakeDevices(name, on_devices, &owned));
    devices.clear();
    for (const auto& d : owned) devices.push_back(d.get());
  }
  auto session = std::make_shared<WorkerSession>(
      request.session_handle(), std::move(workers), resources_,
      std::move(devices), std::move(owned), pool(), HasTensorFlow2(request),
      request.headrace(), std::move(collectives));
  MutexLock lock(&mu_);
  if (legacy_session_ == nullptr) {
    return errors::Unavailable(task_, " is shut down");
  }
  if (static_cast<int64_t>(sessions_.size()) >= limits_.sessions) {
    return errors::ResourceExhausted(
        "CreateWorkerSession: ", task_, " has ", sessions_.size(),
        " sessions, which is its limit (HEADRACE_MAX_SESSIONS)");
  }
  if (!sessions_.emplace(request.session_handle(), std::move(session)).second) {
    return errors::AlreadyExists("CreateWorkerSession: session '",
                                 request.session_handle(), "' is there");
  }
  return OkStatus();
}

void Worker::CreateWorkerSession(const CallOptions&,
                                 const pb::CreateWorkerSessionRequest& request,
                                 StatusCallback done) {
  done(MakeSession(request));
}

void Worker::DeleteWorkerSession(const CallOptions&,
                                 const pb::DeleteWorkerSessionRequest& request,
                                 StatusCallback done) {
  std::shared_ptr<WorkerSession> gone;
  {
    MutexLock lock(&mu_);
    auto it = sessions_.find(request.session_handle());
    if (it != sessions_.end()) {
      gone = std::move(it->second);
      sessions_.erase(it);
    }
  }
  // It ends with its last step.
  if (gone != nullptr) gone->Clear();
  done(OkStatus());
}

Status Worker::FindSession(const std::string& handle, bool created,
                           std::shared_ptr<WorkerSession>* out) {
  MutexLock lock(&mu_);
  if (legacy_session_ == nullptr) {
    return errors::Unavailable(task_, " is shut down");
  }
  auto it = sessions_.find(handle);
  if (it != sessions_.end()) {
    *out = it->second;
    it->second->used()->Touch();
  } else if (created) {
    return errors::Aborted("Session handle is not found: ", handle,
                           ". Possibly this worker (\"", task_,
                           "\") just restarted", limits_.IdleText(2), ".");
  } else {
    *out = legacy_session_;
  }
  return OkStatus();
}

StatusOr<RefPtr<TaskCollectives>> Worker::FindCollectives(
    const std::string& session) {
  if (session.empty()) return collectives_;
  std::shared_ptr<WorkerSession> found;
  HR_RETURN_IF_ERROR(FindSession(session, true, &found));
  if (found->collectives() != nullptr) return found->collectives();
  return errors::FailedPrecondition("collective ops: session ", session,
                                    " has no groups of its own at ", task_);
}

void Worker::RegisterGraph(const CallOptions& options,
                           pb::RegisterGraphRequest request,
                           pb::RegisterGraphResponse* response,
                           StatusCallback done) {
  done(CatchExceptions([&]() -> Status {
    std::shared_ptr<WorkerSession> session;
    HR_RETURN_IF_ERROR(FindSession(request.session_handle(),
                                   request.create_worker_session_called(),
                                   &session));
    const std::string handle =
        absl::StrFormat("%016x", next_graph_.fetch_add(1));
    if (options.from_network) {
      if (request.graph_def().node_size() > limits_.graph_nodes) {
        return errors::ResourceExhausted(
            "RegisterGraph: the graph has ", request.graph_def().node_size(),
            " nodes; ", task_, " takes ", limits_.graph_nodes,
            " (HEADRACE_MAX_GRAPH_NODES)");
      }
      HR_RETURN_IF_ERROR(Annotate(policy_.Apply(request.mutable_graph_def()),
                                  StrCat(" (at ", task_, ")")));
    }
    HR_RETURN_IF_ERROR(session->Register(
        handle, request, options.from_network ? limits_.step_bytes : 0));
    response->set_graph_handle(handle);
    return OkStatus();
  }));
}

void Worker::DeregisterGraph(const CallOptions&,
                             const pb::DeregisterGraphRequest& request,
                             StatusCallback done) {
  std::shared_ptr<WorkerSession> session;
  Status s = FindSession(request.session_handle(),
                         request.create_worker_session_called(), &session);
  if (s.ok()) s = session->Deregister(request.graph_handle());
  done(s);
}

// Finds the graph and gives the step its feeds.
Status Worker::BeginRun(const CallOptions&, const RunGraphCall& call,
                        std::shared_ptr<GraphRun>* run) {
  const pb::RunGraphRequest& header = call.header;
  std::shared_ptr<WorkerSession> session;
  HR_RETURN_IF_ERROR(FindSession(header.session_handle(),
                                 header.create_worker_session_called(),
                                 &session));
  std::shared_ptr<RegisteredGraph> graph;
  HR_RETURN_IF_ERROR(session->Find(header.graph_handle(), &graph));
  HR_ASSIGN_OR_RETURN(RefPtr<StepRendezvous> rendezvous,
                      steps_.FindOrBegin(header.step_id()));
  rendezvous->SetWorkers(session->workers());
  *run = std::make_shared<GraphRun>(std::move(graph), header.step_id(),
                                    std::move(rendezvous), header.exec_opts());
  MutexLock lock(&mu_);
  if (legacy_session_ == nullptr) {
    return errors::Unavailable(task_, " is shut down");
  }
  std::erase_if(runs_, [](const auto& r) { return r.second.expired(); });
  runs_[run->get()] = *run;
  return OkStatus();
}

bool Worker::OnlyHandsOut(const pb::RunGraphRequest& request) {
  std::shared_ptr<WorkerSession> session;
  std::shared_ptr<RegisteredGraph> graph;
  return FindSession(request.session_handle(),
                     request.create_worker_session_called(), &session)
             .ok() &&
         session->Find(request.graph_handle(), &graph).ok() &&
         graph->only_hands_out;
}

void Worker::RunGraph(const CallOptions& options, RunGraphCall call,
                      RunGraphResult* result, StatusCallback done) {
  Status s = request_ids_.Check("RunGraph", call.header.request_id());
  if (!s.ok()) return done(s);
  {
    MutexLock lock(&mu_);
    ++running_;
  }
  done = [this, done = std::move(done)](const Status& status) {
    done(status);
    MutexLock lock(&mu_);
    if (--running_ == 0) changed_.SignalAll();
  };
  if (call.header.is_partial()) {
    return RunPartial(options, std::move(call), result, std::move(done));
  }
  std::shared_ptr<GraphRun> run;
  s = CatchExceptions([&] { return BeginRun(options, call, &run); });
  for (auto& [key, value] : call.send) {
    if (s.ok()) s = run->rendezvous()->Send(key, std::move(value), false);
  }
  if (!s.ok()) return done(s);
  RunWhole(options, std::move(run), std::move(call.recv_keys), result,
           std::move(done));
}

void Worker::RunWhole(const CallOptions& options, std::shared_ptr<GraphRun> run,
                      std::vector<std::string> recv_keys,
                      RunGraphResult* result, StatusCallback done) {
  CancellationManager* const caller = options.cancellation;
  CancellationManager::Token token = 0;
  if (caller != nullptr) {
    token = caller->NextToken();
    if (!caller->RegisterCallback(token, [run] {
          run->Abort(errors::Cancelled("RunGraph was cancelled."));
        })) {
      return done(errors::Cancelled("RunGraph was cancelled."));
    }
  }
  std::function<void(const Status&)> end =
      [this, run, caller, token, recv_keys = std::move(recv_keys), result,
       done = std::move(done)](const Status& ended) {
        if (caller != nullptr) caller->TryDeregisterCallback(token);
        run->Report(&result->header);
        if (!ended.ok()) return done(ended);
        auto collector = Collect(
            run->rendezvous(), nullptr, recv_keys,
            [this, run, result, done](const Status& s, NamedTensors values) {
              RefPtr<SessionTensors> kept;
              if (s.ok() &&
                  run->resources()
                      ->Lookup<SessionTensors>(SessionTensors::kContainer,
                                               SessionTensors::kName, &kept)
                      .ok()) {
                for (const auto& [key, value] : values) {
                  if ((value.dtype() == DT_STRING ||
                       value.dtype() == DT_RESOURCE) &&
                      value.NumElements() == 1) {
                    KeepSessionTensor(value, run->resources(),
                                      session_tensors_.get());
                  }
                }
              }
              result->recv = std::move(values);
              done(s);
            });
        // Every node has run. What has not been sent never will be.
        bool missing;
        {
          MutexLock lock(&collector->mu);
          missing = collector->left > 1;
        }
        if (missing) {
          run->rendezvous()->StartAbort(errors::InvalidArgument(
              "RunGraph: a recv_key is sent by no node of the graph"));
        }
        collector->Release();
      };
  if (options.group != nullptr)
    return run->Start(options.group, std::move(end));
  StartOnAWaitingThread(run, std::move(end));
}

void Worker::RunPartial(const CallOptions& options, RunGraphCall call,
                        RunGraphResult* result, StatusCallback done) {
  const int64_t id = call.header.step_id();
  std::shared_ptr<PartialStep> step;
  bool begins = false;
  {
    MutexLock lock(&mu_);
    auto it = partial_steps_.find(id);
    if (it != partial_steps_.end()) step = it->second;
  }
  if (step == nullptr) {
    step = std::make_shared<PartialStep>();
    const Status s =
        CatchExceptions([&] { return BeginRun(options, call, &step->run); });
    if (!s.ok()) return done(s);
    MutexLock lock(&mu_);
    const auto [it, is_new] = partial_steps_.emplace(id, step);
    step = it->second;
    begins = is_new;
  }
  const std::shared_ptr<GraphRun> run = step->run;
  ++step->calls;
  run->session()->used()->Touch();
  done = [step, done = std::move(done)](const Status& s) {
    step->used.Touch();
    --step->calls;
    done(s);
  };
  for (auto& [key, value] : call.send) {
    const Status s = run->rendezvous()->Send(key, std::move(value), false);
    if (s.ok()) continue;
    if (begins) {
      // Nothing has run, and nothing will.
      MutexLock lock(&mu_);
      partial_steps_.erase(id);
    }
    return done(s);
  }
  if (begins) {
    StartOnAWaitingThread(run, [step](const Status& s) {
      std::vector<std::function<void()>> next;
      {
        MutexLock lock(&step->mu);
        step->ended = true;
        step->status = s;
        next.swap(step->when_ended);
      }
      for (const auto& call : next) call();
    });
  }
  CancellationManager* const caller = options.cancellation;
  CancellationManager::Token token = 0;
  if (caller != nullptr) {
    token = caller->NextToken();
    const auto cancel = [run] {
      run->Abort(errors::Cancelled("RunGraph was cancelled."));
    };
    if (!caller->RegisterCallback(token, cancel)) cancel();
  }
  const bool last = call.header.is_last_partial_run();
  auto collector =
      Collect(run->rendezvous(), run->cancellation(), call.recv_keys,
              [this, run, step, id, last, caller, token, result, done](
                  const Status& s, NamedTensors values) {
                result->recv = std::move(values);
                auto end = [run, step, caller, token, done](Status status) {
                  if (caller != nullptr) caller->TryDeregisterCallback(token);
                  // The step's own failure is the cause of the others.
                  if (!status.ok() && run->cancellation()->IsCancelled()) {
                    status = run->cancellation()->status();
                  }
                  done(status);
                };
                if (!last) return end(s);
                {
                  MutexLock lock(&mu_);
                  partial_steps_.erase(id);
                }
                {
                  MutexLock lock(&step->mu);
                  if (!step->ended) {
                    step->when_ended.emplace_back([step, s, end] {
                      Status why;
                      {
                        MutexLock lock(&step->mu);
                        why = step->status;
                      }
                      end(s.ok() ? why : s);
                    });
                    return;
                  }
                }
                end(s);
              });
  collector->Release();
}

void Worker::CleanupGraph(const CallOptions&, int64_t step_id,
                          StatusCallback done) {
  std::shared_ptr<PartialStep> partial;
  {
    MutexLock lock(&mu_);
    auto it = partial_steps_.find(step_id);
    if (it != partial_steps_.end()) {
      partial = std::move(it->second);
      partial_steps_.erase(it);
    }
  }
  if (partial != nullptr) {
    partial->run->Abort(errors::Cancelled("The partial run was ended."));
  }
  steps_.Cleanup(step_id);
  responses_.EndStep(step_id);
  pieces_.EndStep(step_id);
  // A cancelled call may be known here only now. What it runs must not take
  // from a queue what a later step puts there.
  std::vector<std::shared_ptr<GraphRun>> runs;
  {
    MutexLock lock(&mu_);
    for (const auto& [raw, weak] : runs_) {
      auto run = weak.lock();
      if (run != nullptr && run->step_id() == step_id) {
        runs.push_back(std::move(run));
      }
    }
  }
  struct Waiting {
    std::atomic<size_t> left;
    StatusCallback done;
  };
  auto waiting = std::make_shared<Waiting>();
  waiting->left = runs.size() + 1;
  waiting->done = std::move(done);
  const auto release = [waiting] {
    if (--waiting->left == 0) waiting->done(OkStatus());
  };
  for (std::shared_ptr<GraphRun>& run : runs) {
    run->Abort(
        Derived(errors::Aborted("step ", step_id, " has ended at ", task_)));
    run->WhenEnded(release);
    run.reset();
  }
  release();
}

void Worker::CleanupAll(const CallOptions&,
                        const pb::CleanupAllRequest& request,
                        StatusCallback done) {
  for (Device* d : devices_) {
    ResourceMgr* const mgr = d->resource_manager();
    if (request.container_size() == 0) mgr->Cleanup(mgr->default_container());
    for (const std::string& c : request.container()) mgr->Cleanup(c);
  }
  done(OkStatus());
}

Status Worker::CheckIncarnation(absl::string_view method,
                                absl::string_view device,
                                uint64_t incarnation) {
  const auto find = [&](const std::string& task) {
    return std::find_if(devices_.begin(), devices_.end(), [&](Device* d) {
      absl::string_view rest = device;
      return absl::ConsumePrefix(&rest, task) &&
             absl::EndsWith(d->name(), rest) &&
             d->name().size() == task_.size() + rest.size();
    });
  };
  auto found = find(task_);
  if (found == devices_.end()) {
    MutexLock lock(&mu_);
    for (const auto& [handle, session] : sessions_) {
      found = find(session->workers()->local_name());
      if (found != devices_.end()) break;
    }
  }
  if (found == devices_.end()) {
    return errors::InvalidArgument(method, ": ", task_, " has no device '",
                                   device, "'");
  }
  const uint64_t here = (*found)->attributes().incarnation;
  if (here == incarnation) return OkStatus();
  return errors::Aborted(
      method, " expects a different device incarnation: ", incarnation, " vs. ",
      here, ". Your worker job (\"", task_,
      "\") was probably restarted. Check your worker job for the reason why "
      "it was restarted.");
}

void Worker::RecvTensor(const CallOptions& options, int64_t step_id,
                        absl::string_view key, int64_t request_id,
                        TensorCallback done) {
  Rendezvous::ParsedKey parsed;
  Status s = Rendezvous::ParseKey(key, &parsed);
  if (s.ok()) {
    s = CheckIncarnation("RecvTensor", parsed.src_device,
                         parsed.src_incarnation);
  }
  if (!s.ok()) return done(s, Tensor(), false);
  // The call has not ended before `done`, and this outlives its calls.
  auto receive = [this, step_id, key = std::string(key),
                  cancellation = options.cancellation](TensorCallback got) {
    RefPtr<StepRendezvous> rendezvous;
    const Status begun = MoveTo(steps_.BeginRecv(step_id), &rendezvous);
    if (!begun.ok()) return got(begun, Tensor(), false);
    rendezvous->RecvLocal(
        key, cancellation,
        [this, step_id, got = std::move(got)](
            const Status& received, const Tensor& value, bool is_dead) {
          steps_.EndRecv(step_id);
          got(received, value, is_dead);
        });
  };
  if (request_id == 0) return receive(std::move(done));
  responses_.Get(step_id, request_id, std::move(receive), std::move(done));
}

bool Worker::KeepInPieces(int64_t step_id, const Tensor& value,
                          pb::TensorPiecesResponse* pieces) {
  // A piece is copied while the next ones are under way, and its memory is that
  // of an earlier one. Smaller tensors take less time in one message.
  constexpr size_t kWholeUpTo = size_t{8} << 20;
  constexpr int64_t kPiece = int64_t{2} << 20;
  const int64_t asked = config_.experimental().recv_buf_max_chunk();
  const size_t limit = asked > 0 ? static_cast<size_t>(asked) : kWholeUpTo;
  if (!DataTypeCanUseMemcpy(value.dtype()) || value.TotalBytes() <= limit) {
    return false;
  }
  pieces->set_id(pieces_.Add(step_id, value));
  pieces->set_dtype(static_cast<pb::DataType>(value.dtype()));
  ShapeToProto(PartialTensorShape(value.shape()),
               pieces->mutable_tensor_shape());
  pieces->set_piece_bytes(asked > 0 ? asked : kPiece);
  return true;
}

void Worker::TakeBuf(const CallOptions& options,
                     const pb::RecvBufRequest& request,
                     LocalCollectives::TakeCallback done) {
  const std::string& key = request.buf_rendezvous_key();
  absl::string_view bytes;
  std::shared_ptr<const void> owner;
  Status s;
  if (absl::StartsWith(key, kPieceKey)) {
    s = pieces_.Find(request.step_id(), key, request.num_bytes(), &bytes,
                     &owner);
    return done(s, bytes, owner);
  }
  if (request.num_bytes() < 0) {
    s = errors::InvalidArgument("RecvBuf: num_bytes is ", request.num_bytes());
  }
  s.Update(request_ids_.Check("RecvBuf", request.request_id()));
  if (request.src_incarnation() != 0) {
    s.Update(CheckIncarnation("RecvBuf", request.src_device(),
                              request.src_incarnation()));
  }
  RefPtr<TaskCollectives> collectives;
  s.Update(MoveTo(FindCollectives(request.headrace_session()), &collectives));
  if (!s.ok()) return done(s, bytes, owner);
  collectives->Take(request.step_id(), key, request.num_bytes(),
                    options.cancellation, std::move(done));
}

void Worker::RecvBuf(const CallOptions& options,
                     const pb::RecvBufRequest& request, void* to,
                     StatusCallback done) {
  TakeBuf(options, request,
          [to, done = std::move(done)](const Status& s, absl::string_view bytes,
                                       const std::shared_ptr<const void>&) {
            if (s.ok() && !bytes.empty()) {
              std::memcpy(to, bytes.data(), bytes.size());
            }
            done(s);
          });
}

void Worker::CompleteGroup(const CallOptions& options,
                           const pb::CompleteGroupRequest& request,
                           pb::CompleteGroupResponse* response,
                           StatusCallback done) {
  RefPtr<TaskCollectives> collectives;
  const Status s =
      MoveTo(FindCollectives(request.headrace_session()), &collectives);
  if (!s.ok()) return done(s);
  collectives->CompleteGroup(options, request, response, std::move(done));
}

void Worker::CompleteInstance(const CallOptions& options,
                              const pb::CompleteInstanceRequest& request,
                              pb::CompleteInstanceResponse* response,
                              StatusCallback done) {
  RefPtr<TaskCollectives> collectives;
  const Status s =
      MoveTo(FindCollectives(request.headrace_session()), &collectives);
  if (!s.ok()) return done(s);
  collectives->CompleteInstance(options, request, response, std::move(done));
}

void Worker::GetStepSequence(const CallOptions&,
                             const pb::GetStepSequenceRequest& request,
                             pb::GetStepSequenceResponse* response,
                             StatusCallback done) {
  done(collectives_->GetStepSequence(request, response));
}

std::vector<std::shared_ptr<WorkerCache>> Worker::Clusters() {
  std::vector<std::shared_ptr<WorkerCache>> clusters{workers_};
  MutexLock lock(&mu_);
  for (const auto& [handle, session] : sessions_) {
    if (session->workers() != workers_) clusters.push_back(session->workers());
  }
  return clusters;
}

void Worker::DescribeRuns(pb::TaskWaitsResponse* out) {
  std::vector<std::shared_ptr<GraphRun>> runs;
  {
    MutexLock lock(&mu_);
    for (const auto& [raw, weak] : runs_) {
      if (auto run = weak.lock()) runs.push_back(std::move(run));
    }
  }
  out->set_task(task_);
  for (const auto& run : runs) {
    if (run->has_ended()) continue;
    pb::TaskWaitsResponse::Step* const step = out->add_step();
    step->set_step_id(run->step_id());
    step->set_age_micros(absl::ToInt64Microseconds(Now() - run->begin()));
    step->set_waits(run->DescribeWaits());
    step->set_task(run->session()->workers()->local_name());
  }
}

void Worker::DescribeWaits(const CallOptions&,
                           const pb::DescribeWaitsRequest& request,
                           pb::DescribeWaitsResponse* response,
                           StatusCallback done) {
  DescribeRuns(response->add_task());
  if (!request.whole_cluster()) return done(OkStatus());
  // One answer a task, in the order of the clusters.
  struct Answers {
    Mutex mu;
    size_t left GUARDED_BY(mu) = 0;
    std::deque<pb::DescribeWaitsResponse> responses;
    std::vector<std::string> tasks;
    std::vector<std::shared_ptr<WorkerCache>> clusters;  // of each
    pb::DescribeWaitsResponse* all = nullptr;
    StatusCallback done;

    void End(size_t i, const Status& s) {
      MutexLock lock(&mu);
      pb::TaskWaitsResponse* const out = all->add_task();
      if (s.ok() && responses[i].task_size() == 1) {
        *out = std::move(*responses[i].mutable_task(0));
      } else {
        out->set_error(errors::IsUnimplemented(s)
                           ? "it is no server of Headrace, and does not say"
                           : std::string(s.message()));
      }
      out->set_task(tasks[i]);
    }
    void Release() {
      {
        MutexLock lock(&mu);
        if (--left > 0) return;
      }
      done(OkStatus());
    }
  };
  auto answers = std::make_shared<Answers>();
  answers->all = response;
  answers->done = std::move(done);
  std::set<std::string> addresses;
  for (const std::shared_ptr<WorkerCache>& cluster : Clusters()) {
    for (const ClusterSpec::Task& t : cluster->spec().tasks()) {
      if (t.name == cluster->local_name()) continue;
      if (!addresses.insert(t.address).second) continue;
      answers->tasks.push_back(t.name);
      answers->clusters.push_back(cluster);
      answers->responses.emplace_back();
    }
  }
  {
    MutexLock lock(&answers->mu);
    answers->left = answers->tasks.size() + 1;
  }
  for (size_t i = 0; i < answers->tasks.size(); ++i) {
    WorkerInterface* worker = nullptr;
    const Status s =
        MoveTo(answers->clusters[i]->Find(answers->tasks[i]), &worker);
    if (!s.ok()) {
      answers->End(i, s);
      answers->Release();
      continue;
    }
    CallOptions call;
    call.timeout = kDescribeTimeout;
    worker->DescribeWaits(call, pb::DescribeWaitsRequest(),
                          &answers->responses[i],
                          [answers, i](const Status& ended) {
                            answers->End(i, ended);
                            answers->Release();
                          });
  }
  answers->Release();
}

}  // namespace headrace
