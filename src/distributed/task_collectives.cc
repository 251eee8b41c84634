#include "distributed/task_collectives.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <utility>

#include "base/wait_hook.h"
#include "distributed/step_ids.h"

namespace headrace {
namespace {

// TensorFlow's number of the kind of a collective op.
constexpr int kBroadcast = 1;
// Larger transfers are several messages.
constexpr size_t kMessageBytes = size_t{16} << 20;
constexpr size_t kMaxSequences = 100000;

// Calls `done` with the first failure when all parts have ended.
class Countdown {
 public:
  Countdown(size_t parts, CollectiveExecutor::DoneCallback done)
      : left_(parts), done_(std::move(done)) {}
  void End(const Status& s) {
    Status all;
    {
      MutexLock lock(&mu_);
      status_.Update(s);
      if (--left_ > 0) return;
      all = status_;
    }
    done_(all);
  }

 private:
  Mutex mu_;
  size_t left_ GUARDED_BY(mu_);
  Status status_ GUARDED_BY(mu_);
  const CollectiveExecutor::DoneCallback done_;
};

size_t Messages(size_t bytes) {
  return std::max<size_t>(1, (bytes + kMessageBytes - 1) / kMessageBytes);
}

}  // namespace

void TaskCollectives::SetTasks(std::shared_ptr<WorkerCache> workers,
                               std::map<std::string, uint64_t> incarnations) {
  MutexLock lock(&mu_);
  workers_ = std::move(workers);
  local_ = std::move(incarnations);
}

void TaskCollectives::SetTransport(
    std::shared_ptr<CollectiveTransport> transport) {
  MutexLock lock(&mu_);
  transport_ = std::move(transport);
}

void TaskCollectives::Shutdown() {
  std::shared_ptr<WorkerCache> gone;
  std::shared_ptr<CollectiveTransport> transport;
  MutexLock lock(&mu_);
  gone.swap(workers_);
  transport.swap(transport_);
}

StatusOr<WorkerInterface*> TaskCollectives::FindTask(const std::string& task) {
  std::shared_ptr<WorkerCache> workers;
  {
    MutexLock lock(&mu_);
    workers = workers_;
  }
  if (workers == nullptr) {
    return errors::Unavailable(task_, " is shut down");
  }
  return workers->Find(task);
}

Status TaskCollectives::CheckLeads(const char* method) const {
  if (leads()) return OkStatus();
  return errors::FailedPrecondition(method, ": ", task_,
                                    " does not lead collective groups, ",
                                    leader_, " does");
}

void TaskCollectives::KeepGroup(int32_t key,
                                const pb::CompleteGroupResponse& response) {
  MutexLock lock(&mu_);
  known_groups_[key] = {response.device_name().begin(),
                        response.device_name().end()};
  const int n =
      std::min(response.device_name_size(), response.incarnation_size());
  for (int i = 0; i < n; ++i) {
    told_[response.device_name(i)] = response.incarnation(i);
  }
}

void TaskCollectives::FindGroup(const CollectiveMember& member,
                                CancellationManager* cancellation,
                                GroupCallback done) {
  std::vector<std::string> known;
  pb::CompleteGroupRequest request;
  {
    MutexLock lock(&mu_);
    const auto it = known_groups_.find(member.group_key);
    if (it != known_groups_.end() &&
        it->second.size() == static_cast<size_t>(member.group_size) &&
        std::find(it->second.begin(), it->second.end(), member.device) !=
            it->second.end()) {
      known = it->second;
    }
    request.add_incarnation(local_[member.device]);
  }
  if (!known.empty()) return done(OkStatus(), known);
  request.set_group_key(member.group_key);
  request.set_group_size(member.group_size);
  request.set_device_type(member.device_type);
  request.add_device_name(member.device);
  request.set_headrace_session(session_);
  CallOptions options;
  options.cancellation = cancellation;
  options.wait_for_ready = true;
  auto response = std::make_shared<pb::CompleteGroupResponse>();
  auto answered = [self = RefPtr<TaskCollectives>::NewRef(this), response,
                   key = member.group_key,
                   done = std::move(done)](const Status& s) {
    if (!s.ok()) return done(s, {});
    self->KeepGroup(key, *response);
    done(s, {response->device_name().begin(), response->device_name().end()});
  };
  if (leads()) {
    return CompleteGroup(options, request, response.get(), std::move(answered));
  }
  WorkerInterface* leader = nullptr;
  const Status s = MoveTo(FindTask(leader_), &leader);
  if (!s.ok()) return answered(s);
  leader->CompleteGroup(options, request, response.get(), std::move(answered));
}

void TaskCollectives::CompleteGroup(const CallOptions& options,
                                    const pb::CompleteGroupRequest& request,
                                    pb::CompleteGroupResponse* response,
                                    WorkerInterface::StatusCallback done) {
  const Status leading = CheckLeads("CompleteGroup");
  if (!leading.ok()) return done(leading);
  if (request.device_name_size() != 1) {
    return done(
        errors::InvalidArgument("CompleteGroup: ", request.device_name_size(),
                                " names of devices, wanted 1"));
  }
  CollectiveMember member;
  member.group_key = request.group_key();
  member.group_size = request.group_size();
  member.device_type = request.device_type();
  member.device = request.device_name(0);
  std::string task;
  const Status named = TaskOfDevice(member.device, &task);
  if (!named.ok()) return done(Annotate(named, " (CompleteGroup)"));
  if (request.incarnation_size() == 1) {
    MutexLock lock(&mu_);
    if (incarnations_.size() < kMaxSequences) {
      incarnations_[member.device] = request.incarnation(0);
    }
  }
  LocalCollectives::FindGroup(
      member, options.cancellation,
      [self = RefPtr<TaskCollectives>::NewRef(this), member, response,
       done = std::move(done)](const Status& s,
                               const std::vector<std::string>& devices) {
        if (!s.ok()) return done(s);
        response->set_group_key(member.group_key);
        response->set_group_size(member.group_size);
        response->set_device_type(member.device_type);
        std::set<std::string> tasks;
        {
          MutexLock lock(&self->mu_);
          for (const std::string& d : devices) {
            std::string of;
            TaskOfDevice(d, &of).IgnoreError();  // checked when it joined
            response->add_device_name(d);
            response->add_task_name(of);
            response->add_incarnation(self->incarnations_[d]);
            tasks.insert(of);
          }
        }
        response->set_num_tasks(static_cast<int32_t>(tasks.size()));
        done(s);
      });
}

void TaskCollectives::FindSource(const CollectiveMember& member,
                                 int32_t instance_key, bool is_source,
                                 CancellationManager* cancellation,
                                 DeviceCallback done) {
  const std::pair<int32_t, int32_t> key{member.group_key, instance_key};
  std::string known;
  std::vector<std::string> devices;
  {
    MutexLock lock(&mu_);
    const auto it = known_sources_.find(key);
    if (it != known_sources_.end() &&
        is_source == (it->second == member.device)) {
      known = it->second;
    }
    const auto group = known_groups_.find(member.group_key);
    if (group != known_groups_.end()) devices = group->second;
  }
  if (!known.empty()) return done(OkStatus(), known);
  pb::CompleteInstanceRequest request;
  request.set_type(kBroadcast);
  request.set_group_key(member.group_key);
  request.set_group_size(member.group_size);
  request.set_instance_key(instance_key);
  request.set_device_type(member.device_type);
  request.set_device(member.device);
  request.set_is_source(is_source);
  request.set_headrace_session(session_);
  CallOptions options;
  options.cancellation = cancellation;
  auto response = std::make_shared<pb::CompleteInstanceResponse>();
  auto answered = [self = RefPtr<TaskCollectives>::NewRef(this), response, key,
                   devices, done = std::move(done)](const Status& s) {
    if (!s.ok()) return done(s, "");
    const int rank = response->source_rank();
    if (rank < 0 || static_cast<size_t>(rank) >= devices.size()) {
      return done(errors::Internal("CompleteInstance: rank ", rank,
                                   " of a "
                                   "group of ",
                                   devices.size()),
                  "");
    }
    {
      MutexLock lock(&self->mu_);
      self->known_sources_[key] = devices[rank];
    }
    done(s, devices[rank]);
  };
  if (leads()) {
    return CompleteInstance(options, request, response.get(),
                            std::move(answered));
  }
  WorkerInterface* leader = nullptr;
  const Status s = MoveTo(FindTask(leader_), &leader);
  if (!s.ok()) return answered(s);
  leader->CompleteInstance(options, request, response.get(),
                           std::move(answered));
}

void TaskCollectives::CompleteInstance(
    const CallOptions& options, const pb::CompleteInstanceRequest& request,
    pb::CompleteInstanceResponse* response,
    WorkerInterface::StatusCallback done) {
  CollectiveMember member;
  member.group_key = request.group_key();
  member.group_size = request.group_size();
  member.device_type = request.device_type();
  member.device = request.device();
  const int32_t instance = request.instance_key();
  response->set_instance_key(instance);
  response->set_source_rank(-1);
  const Status leading = CheckLeads("CompleteInstance");
  if (!leading.ok()) return done(leading);
  if (request.type() != kBroadcast) return done(OkStatus());
  const bool is_source = request.is_source();
  CancellationManager* const cancellation = options.cancellation;
  LocalCollectives::FindGroup(
      member, cancellation,
      [self = RefPtr<TaskCollectives>::NewRef(this), member, instance,
       is_source, cancellation, response, done = std::move(done)](
          const Status& s, const std::vector<std::string>& devices) {
        if (!s.ok()) return done(s);
        self->LocalCollectives::FindSource(
            member, instance, is_source, cancellation,
            [devices, response, done](const Status& found,
                                      const std::string& device) {
              if (!found.ok()) return done(found);
              const auto at = std::find(devices.begin(), devices.end(), device);
              response->set_source_rank(
                  at == devices.end()
                      ? -1
                      : static_cast<int32_t>(at - devices.begin()));
              done(found);
            });
      });
}

uint64_t TaskCollectives::IncarnationOf(const std::string& device) {
  MutexLock lock(&mu_);
  const auto it = told_.find(device);
  return it == told_.end() ? 0 : it->second;
}

void TaskCollectives::Send(int64_t step_id, const std::string& key,
                           absl::string_view bytes,
                           std::shared_ptr<const void> owner,
                           CancellationManager* cancellation,
                           DoneCallback taken) {
  const size_t n = Messages(bytes.size());
  auto all = std::make_shared<Countdown>(n, std::move(taken));
  std::shared_ptr<CollectiveTransport> transport;
  {
    MutexLock lock(&mu_);
    transport = transport_;
  }
  if (transport != nullptr) transport->Expect();
  for (size_t i = 0; i < n; ++i) {
    LocalCollectives::Send(step_id, n == 1 ? key : StrCat(key, "#", i),
                           bytes.substr(i * kMessageBytes, kMessageBytes),
                           owner, cancellation,
                           [all](const Status& s) { all->End(s); });
  }
}

void TaskCollectives::Recv(int64_t step_id, const std::string& key,
                           const std::string& from, void* to, size_t size,
                           CancellationManager* cancellation,
                           DoneCallback done) {
  std::string task;
  WorkerInterface* worker = nullptr;
  std::shared_ptr<CollectiveTransport> transport;
  Status s = TaskOfDevice(from, &task);
  if (s.ok() && task != task_) {
    {
      MutexLock lock(&mu_);
      transport = transport_;
    }
    if (transport != nullptr && !transport->Reaches(task)) transport = nullptr;
    if (transport == nullptr) s = MoveTo(FindTask(task), &worker);
  }
  if (!s.ok()) return done(s);
  const size_t n = Messages(size);
  auto all = std::make_shared<Countdown>(n, std::move(done));
  const uint64_t incarnation = worker == nullptr ? 0 : IncarnationOf(from);
  for (size_t i = 0; i < n; ++i) {
    const std::string part = n == 1 ? key : StrCat(key, "#", i);
    char* const at = static_cast<char*>(to) + i * kMessageBytes;
    const size_t bytes = std::min(size - i * kMessageBytes, kMessageBytes);
    auto ended = [all](const Status& s) { all->End(s); };
    if (transport != nullptr) {
      transport->Recv(task, step_id, part, at, bytes, cancellation,
                      std::move(ended));
      continue;
    }
    if (worker == nullptr) {
      LocalCollectives::Recv(step_id, part, from, at, bytes, cancellation,
                             std::move(ended));
      continue;
    }
    pb::RecvBufRequest request;
    request.set_step_id(step_id);
    request.set_buf_rendezvous_key(part);
    request.set_num_bytes(static_cast<int64_t>(bytes));
    request.set_src_device(from);
    request.set_src_incarnation(incarnation);
    request.set_request_id(NewRequestId());
    request.set_headrace_session(session_);
    CallOptions options;
    options.cancellation = cancellation;
    worker->RecvBuf(options, request, at, std::move(ended));
  }
}

void TaskCollectives::Forget(int32_t group_key) {
  MutexLock lock(&mu_);
  known_groups_.erase(group_key);
  known_sources_.erase(known_sources_.lower_bound({group_key, INT32_MIN}),
                       known_sources_.upper_bound({group_key, INT32_MAX}));
}

StatusOr<int64_t> TaskCollectives::NextStepId(const CallOptions& options,
                                              int64_t graph_key) {
  const auto take = [&](int64_t told) -> StatusOr<int64_t> {
    MutexLock lock(&mu_);
    if (!sequences_.contains(graph_key) && sequences_.size() >= kMaxSequences) {
      return errors::ResourceExhausted(
          "collective ops: too many graph keys were used");
    }
    Sequence& s = sequences_[graph_key];
    if (s.runs) {
      return errors::FailedPrecondition(
          "a step with collective ops runs at ", task_,
          " already; such a step runs alone, or has another "
          "RunOptions.experimental.collective_graph_key (this one has ",
          graph_key, ")");
    }
    if (s.next == 0) s.next = told;
    if (s.next == 0 && leads()) s.next = NewStepId();
    if (s.next != 0) s.runs = true;
    return s.next;
  };
  StatusOr<int64_t> id = take(0);
  if (!id.ok() || *id != 0) return id;
  HR_ASSIGN_OR_RETURN(WorkerInterface * leader, FindTask(leader_));
  // Callbacks may come after a wait that was given up.
  struct Answer {
    pb::GetStepSequenceResponse response;
    Status status;
    Notification done;
  };
  auto answer = std::make_shared<Answer>();
  pb::GetStepSequenceRequest request;
  request.add_graph_key(graph_key);
  CallOptions call = options;
  call.wait_for_ready = true;
  leader->GetStepSequence(call, request, &answer->response,
                          [answer](const Status& s) {
                            answer->status = s;
                            answer->done.Notify();
                          });
  WaitForNotification(answer->done, options.waits);
  HR_RETURN_IF_ERROR(answer->status);
  if (answer->response.step_sequence_size() != 1 ||
      answer->response.step_sequence(0).next_step_id() <= 0) {
    return errors::Internal("GetStepSequence: ", leader_, " gave no step id");
  }
  return take(answer->response.step_sequence(0).next_step_id());
}

void TaskCollectives::RetireStepId(int64_t graph_key, int64_t step_id,
                                   bool ok) {
  MutexLock lock(&mu_);
  Sequence& s = sequences_[graph_key];
  s.runs = false;
  if (s.next == step_id) {
    s.next = ok ? StepIdAfter(step_id) : 0;
  }
}

Status TaskCollectives::GetStepSequence(
    const pb::GetStepSequenceRequest& request,
    pb::GetStepSequenceResponse* response) {
  HR_RETURN_IF_ERROR(CheckLeads("GetStepSequence"));
  MutexLock lock(&mu_);
  for (const int64_t key : request.graph_key()) {
    if (!sequences_.contains(key) && sequences_.size() >= kMaxSequences) {
      return errors::ResourceExhausted(
          "GetStepSequence: too many graph keys were used");
    }
    Sequence& s = sequences_[key];
    if (s.next == 0) s.next = NewStepId();
    pb::StepSequence* const out = response->add_step_sequence();
    out->set_graph_key(key);
    out->set_next_step_id(s.next);
  }
  return OkStatus();
}

}  // namespace headrace
