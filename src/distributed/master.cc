#include "distributed/master.h"

#include <utility>

#include "base/exceptions.h"
#include "base/log.h"
#include "distributed/cluster_devices.h"
#include "distributed/master_session.h"
#include "headrace/clock.h"

namespace headrace {

Master::Master(std::shared_ptr<Worker> worker, pb::ConfigProto config)
    : worker_(std::move(worker)), config_(std::move(config)) {
  const absl::Duration ttl = worker_->limits().session_ttl;
  if (ttl > absl::ZeroDuration()) {
    watch_ = std::make_unique<IdleWatch>(ttl, [this] { EndIdle(); });
  }
}

Master::~Master() { Shutdown(); }

void Master::Shutdown() {
  watch_.reset();
  decltype(sessions_) gone;
  {
    MutexLock lock(&mu_);
    shut_down_ = true;
    gone.swap(sessions_);
  }
  for (auto& [handle, session] : gone) session->Close();
}

Status Master::Find(const std::string& handle,
                    std::shared_ptr<MasterSession>* out) {
  MutexLock lock(&mu_);
  const auto it = sessions_.find(handle);
  if (it == sessions_.end()) {
    return errors::Aborted("Session ", handle,
                           " is not found. Possibly this master (\"",
                           worker_->task(), "\") has restarted",
                           worker_->limits().IdleText(1), ".");
  }
  *out = MasterSession::InUse(it->second);
  return OkStatus();
}

Status Master::CountSession(const CallOptions& options) {
  if (!options.from_network) return OkStatus();
  const int64_t limit = worker_->limits().sessions_of_client;
  MutexLock lock(&mu_);
  int64_t& count = sessions_of_[options.peer];
  if (count >= limit) {
    return errors::ResourceExhausted(
        "CreateSession: ", options.peer, " has ", count, " sessions at ",
        worker_->task(),
        ", which is the limit of a client (HEADRACE_MAX_SESSIONS_OF_CLIENT); "
        "close some");
  }
  ++count;
  return OkStatus();
}

void Master::UncountSession(const std::string& peer) {
  MutexLock lock(&mu_);
  const auto it = sessions_of_.find(peer);
  if (it != sessions_of_.end() && --it->second == 0) sessions_of_.erase(it);
}

void Master::EndIdle() {
  const absl::Duration ttl = worker_->limits().session_ttl;
  const absl::Time before = Now() - ttl;
  std::vector<std::shared_ptr<MasterSession>> idle, used;
  {
    MutexLock lock(&mu_);
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      // A client of this process ends its sessions itself, or with them all.
      const bool ends =
          it->second->from_network() && it->second->IdleSince() < before;
      (ends ? idle : used).push_back(it->second);
      it = ends ? sessions_.erase(it) : std::next(it);
    }
  }
  for (const auto& session : idle) {
    HR_LOG(WARNING) << "session " << session->handle() << " of "
                    << session->peer() << " was not used for "
                    << absl::FormatDuration(ttl) << " (" << kSessionTtl
                    << ") and ends";
    UncountSession(session->peer());
    session->Close();
  }
  for (const auto& session : used) {
    session->ForgetSteps(before);
    session->KeepWorkerSessions(ttl / 2);
  }
}

Status Master::CreateSession(const CallOptions& options,
                             const pb::CreateSessionRequest& request,
                             pb::CreateSessionResponse* response) {
  HR_RETURN_IF_ERROR(CountSession(options));
  StatusOr<std::shared_ptr<MasterSession>> made =
      MasterSession::Create(options, worker_, request, config_);
  if (!made.ok()) {
    UncountSession(options.peer);
    return made.status();
  }
  std::shared_ptr<MasterSession> session = *std::move(made);
  response->set_session_handle(session->handle());
  {
    MutexLock lock(&mu_);
    if (!shut_down_) {
      sessions_[session->handle()] = std::move(session);
      return OkStatus();
    }
  }
  UncountSession(options.peer);
  session->Close();
  return errors::Unavailable(worker_->task(), " is shut down");
}

Status Master::ExtendSession(const CallOptions&,
                             const pb::ExtendSessionRequest& request,
                             pb::ExtendSessionResponse* response) {
  std::shared_ptr<MasterSession> session;
  HR_RETURN_IF_ERROR(Find(request.session_handle(), &session));
  return session->Extend(request, response);
}

Status Master::PartialRunSetup(const CallOptions& options,
                               const pb::PartialRunSetupRequest& request,
                               pb::PartialRunSetupResponse* response) {
  HR_RETURN_IF_ERROR(
      request_ids_.Check("PartialRunSetup", request.request_id()));
  std::shared_ptr<MasterSession> session;
  HR_RETURN_IF_ERROR(Find(request.session_handle(), &session));
  return session->PartialRunSetup(options, request, response);
}

Status Master::RunStep(const CallOptions& options, RunStepCall call,
                       RunStepResult* result) {
  HR_RETURN_IF_ERROR(request_ids_.Check("RunStep", call.header.request_id()));
  std::shared_ptr<MasterSession> session;
  HR_RETURN_IF_ERROR(Find(call.header.session_handle(), &session));
  return session->Run(options, std::move(call), result);
}

bool Master::WasQuick(const RunStepCall& call) {
  std::shared_ptr<MasterSession> session;
  return Find(call.header.session_handle(), &session).ok() &&
         session->WasQuick(call);
}

Status Master::CloseSession(const CallOptions&,
                            const pb::CloseSessionRequest& request) {
  std::shared_ptr<MasterSession> session;
  HR_RETURN_IF_ERROR(Find(request.session_handle(), &session));
  {
    MutexLock lock(&mu_);
    // Of two that close it one does.
    if (sessions_.erase(request.session_handle()) == 0) return OkStatus();
  }
  UncountSession(session->peer());
  session->Close();
  return OkStatus();
}

Status Master::ListDevices(const CallOptions& options,
                           const pb::ListDevicesRequest& request,
                           pb::ListDevicesResponse* response) {
  if (!request.session_handle().empty()) {
    std::shared_ptr<MasterSession> session;
    HR_RETURN_IF_ERROR(Find(request.session_handle(), &session));
    session->ListDevices(response);
    return OkStatus();
  }
  HR_ASSIGN_OR_RETURN(std::vector<std::string> tasks,
                      FilterTasks(*worker_->workers(), {}));
  std::map<std::string, pb::GetStatusResponse> answers;
  HR_RETURN_IF_ERROR(
      AskForDevices(options, worker_->workers().get(), tasks, &answers));
  for (const std::string& task : tasks) {
    for (const pb::DeviceAttributes& a : answers[task].device_attributes()) {
      *(task == worker_->task() ? response->add_local_device()
                                : response->add_remote_device()) = a;
    }
  }
  return OkStatus();
}

Status Master::Reset(const CallOptions& options,
                     const pb::ResetRequest& request) {
  decltype(sessions_) gone;
  {
    MutexLock lock(&mu_);
    gone.swap(sessions_);
  }
  for (auto& [handle, session] : gone) {
    UncountSession(session->peer());
    session->Close();
  }
  HR_ASSIGN_OR_RETURN(
      std::vector<std::string> tasks,
      FilterTasks(*worker_->workers(), request.device_filters()));
  pb::CleanupAllRequest cleanup;
  *cleanup.mutable_container() = request.container();
  struct Calls {
    Mutex mu;
    CondVar changed;
    size_t left GUARDED_BY(mu);
    Status status GUARDED_BY(mu);
  };
  auto calls = std::make_shared<Calls>();
  {
    MutexLock lock(&calls->mu);
    calls->left = tasks.size();
  }
  for (const std::string& task : tasks) {
    HR_ASSIGN_OR_RETURN(WorkerInterface * worker,
                        worker_->workers()->Find(task));
    CallOptions call;
    call.timeout = std::min<absl::Duration>(options.timeout, absl::Minutes(1));
    worker->CleanupAll(call, cleanup, [calls](const Status& s) {
      MutexLock lock(&calls->mu);
      calls->status.Update(s);
      --calls->left;
      calls->changed.SignalAll();
    });
  }
  MutexLock lock(&calls->mu);
  while (calls->left > 0) calls->changed.Wait(&calls->mu);
  return calls->status;
}

Status Master::MakeCallable(const CallOptions& options,
                            const pb::MakeCallableRequest& request,
                            pb::MakeCallableResponse* response) {
  HR_RETURN_IF_ERROR(request_ids_.Check("MakeCallable", request.request_id()));
  std::shared_ptr<MasterSession> session;
  HR_RETURN_IF_ERROR(Find(request.session_handle(), &session));
  return session->MakeCallable(options, request, response);
}

Status Master::RunCallable(const CallOptions& options, RunCallableCall call,
                           RunCallableResult* result) {
  HR_RETURN_IF_ERROR(
      request_ids_.Check("RunCallable", call.header.request_id()));
  std::shared_ptr<MasterSession> session;
  HR_RETURN_IF_ERROR(Find(call.header.session_handle(), &session));
  return session->RunCallable(options, std::move(call), result);
}

Status Master::ReleaseCallable(const CallOptions&,
                               const pb::ReleaseCallableRequest& request) {
  std::shared_ptr<MasterSession> session;
  HR_RETURN_IF_ERROR(Find(request.session_handle(), &session));
  return session->ReleaseCallable(request.handle());
}

}  // namespace headrace
