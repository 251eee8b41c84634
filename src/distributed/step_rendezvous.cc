#include "distributed/step_rendezvous.h"

#include <utility>

#include "absl/strings/match.h"

namespace headrace {
namespace {

// Ids of ended steps that are remembered.
constexpr size_t kMaxEnded = 10000;

}  // namespace

void StepRendezvous::SetWorkers(std::shared_ptr<WorkerCache> workers) {
  MutexLock lock(&mu_);
  workers_ = std::move(workers);
}

void StepRendezvous::SetLog(std::shared_ptr<EdgeLog> log) {
  MutexLock lock(&mu_);
  log_ = std::move(log);
}

void StepRendezvous::RecvAsync(absl::string_view key,
                               CancellationManager* cancellation,
                               DoneCallback done) {
  ParsedKey parsed;
  std::string task;
  Status s = ParseKey(key, &parsed);
  if (s.ok()) s = TaskOfDevice(parsed.src_device, &task);
  std::shared_ptr<WorkerCache> workers;
  std::shared_ptr<EdgeLog> log;
  Status aborted;
  {
    MutexLock lock(&mu_);
    workers = workers_;
    log = log_;
    aborted = aborted_;
  }
  // The session's name of this task, not the task's own.
  if (s.ok() && task == (workers == nullptr ? task_ : workers->local_name())) {
    local_->RecvAsync(key, cancellation, std::move(done));
    return;
  }
  s.Update(aborted);
  WorkerInterface* from = nullptr;
  if (s.ok() && workers == nullptr) {
    s = errors::Internal("step ", step_id_, " knows no other tasks");
  }
  if (s.ok()) s = MoveTo(workers->Find(task), &from);
  if (!s.ok()) return done(s, Tensor(), false);
  if (log != nullptr) {
    EdgeLog::Edge edge;
    edge.name = std::string(parsed.edge_name);
    edge.from = std::string(parsed.src_device);
    edge.to = std::string(parsed.dst_device);
    edge.asked = Now();
    done = [log, edge = std::move(edge), done = std::move(done)](
               const Status& received, const Tensor& value,
               bool is_dead) mutable {
      edge.got = Now();
      edge.bytes = is_dead || !received.ok()
                       ? 0
                       : static_cast<int64_t>(value.TotalBytes());
      if (received.ok()) log->Add(std::move(edge));
      done(received, value, is_dead);
    };
  }
  CallOptions options;
  options.cancellation = &remote_calls_;
  from->RecvTensor(options, step_id_, key, NewRequestId(),
                   [self = RefPtr<StepRendezvous>::NewRef(this), workers,
                    done = std::move(done)](const Status& status,
                                            const Tensor& value, bool is_dead) {
                     Status why = status;
                     if (!status.ok()) {
                       MutexLock lock(&self->mu_);
                       if (!self->aborted_.ok()) why = self->aborted_;
                     }
                     done(why, value, is_dead);
                   });
}

void StepRendezvous::StartAbort(const Status& status) {
  {
    MutexLock lock(&mu_);
    if (!aborted_.ok()) return;
    aborted_ = status.ok() ? errors::Aborted("the step has ended") : status;
  }
  local_->StartAbort(status);
  remote_calls_.StartCancel(status);
}

StatusOr<StepTable::Step*> StepTable::Find(int64_t step_id) {
  HR_RETURN_IF_ERROR(closed_);
  if (ended_.contains(step_id)) {
    return Derived(errors::Aborted("step ", step_id, " has ended at ", task_));
  }
  Step& step = steps_[step_id];
  if (step.rendezvous == nullptr) {
    step.rendezvous = MakeRef<StepRendezvous>(step_id, task_);
  }
  step.used = Now();
  return &step;
}

StatusOr<RefPtr<StepRendezvous>> StepTable::FindOrBegin(int64_t step_id) {
  MutexLock lock(&mu_);
  HR_ASSIGN_OR_RETURN(Step * step, Find(step_id));
  step->runs = true;
  return step->rendezvous;
}

StatusOr<RefPtr<StepRendezvous>> StepTable::BeginRecv(int64_t step_id) {
  MutexLock lock(&mu_);
  HR_ASSIGN_OR_RETURN(Step * step, Find(step_id));
  ++step->receives;
  return step->rendezvous;
}

void StepTable::EndRecv(int64_t step_id) {
  RefPtr<StepRendezvous> gone;
  MutexLock lock(&mu_);
  const auto it = steps_.find(step_id);
  if (it == steps_.end()) return;
  Step& step = it->second;
  if (step.receives > 0) --step.receives;
  if (step.runs || step.receives > 0) return;
  gone = std::move(step.rendezvous);
  steps_.erase(it);
}

void StepTable::Cleanup(int64_t step_id) {
  RefPtr<StepRendezvous> gone;
  {
    MutexLock lock(&mu_);
    const auto it = steps_.find(step_id);
    if (it != steps_.end()) {
      gone = std::move(it->second.rendezvous);
      steps_.erase(it);
    }
    if (ended_.insert(step_id).second) ended_order_.push_back(step_id);
    if (ended_order_.size() > kMaxEnded) {
      ended_.erase(ended_order_.front());
      ended_order_.pop_front();
    }
  }
  if (gone != nullptr) {
    gone->StartAbort(
        Derived(errors::Aborted("step ", step_id, " has ended at ", task_)));
  }
}

std::vector<int64_t> StepTable::FindIdle(absl::Time before) {
  std::vector<int64_t> idle;
  MutexLock lock(&mu_);
  for (const auto& [id, step] : steps_) {
    if (step.runs && step.receives == 0 && step.used < before) {
      idle.push_back(id);
    }
  }
  return idle;
}

void StepTable::Clear(const Status& why) {
  decltype(steps_) gone;
  {
    MutexLock lock(&mu_);
    closed_ = why;
    gone.swap(steps_);
  }
  for (auto& [id, step] : gone) step.rendezvous->StartAbort(why);
}

}  // namespace headrace
