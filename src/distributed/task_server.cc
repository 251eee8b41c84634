#include "distributed/task_server.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/wait_hook.h"
#include "distributed/cluster_spec.h"
#include "distributed/freed_memory.h"
#include "distributed/job_watch.h"
#include "distributed/near_worker.h"
#include "distributed/network_options.h"
#include "distributed/served_here.h"
#include "distributed/services.h"

namespace headrace {
namespace {

// By target. Never destroyed.
ServedHere<Master>* LocalMasters() {
  static auto* const masters = new ServedHere<Master>;
  return masters;
}

// Lets calls through once it is open. Those that come before wait.
class Gate {
 public:
  RpcHandler Behind(RpcHandler handler) {
    return [this, handler = std::move(handler)](std::shared_ptr<RpcCall> call) {
      {
        MutexLock lock(&mu_);
        if (!open_) {
          waiting_.push_back([handler, call = std::move(call)]() mutable {
            handler(std::move(call));
          });
          return;
        }
      }
      handler(std::move(call));
    };
  }
  void Open() {
    std::vector<std::function<void()>> waiting;
    {
      MutexLock lock(&mu_);
      open_ = true;
      waiting.swap(waiting_);
    }
    for (auto& call : waiting) call();
  }

 private:
  Mutex mu_;
  bool open_ GUARDED_BY(mu_) = false;
  std::vector<std::function<void()>> waiting_ GUARDED_BY(mu_);
};

class TaskServer : public Server {
 public:
  ~TaskServer() override {
    watch_.reset();
    Stop().IgnoreError();
  }

  Status Init(const pb::ServerDef& def) {
    def_ = def;
    HR_ASSIGN_OR_RETURN(ClusterSpec cluster,
                        ClusterSpec::FromProto(def.cluster()));
    const std::string name = TaskName(def.job_name(), def.task_index());
    const ClusterSpec::Task* const self = cluster.Find(name);
    if (self == nullptr) {
      return errors::InvalidArgument("ServerDef: the cluster has no ", name);
    }
    std::string host;
    int port = 0;
    HR_RETURN_IF_ERROR(SplitAddress(self->address, &host, &port));
    if (def.port() != 0) port = def.port();
    const std::string at = host.find(':') == std::string::npos
                               ? StrCat(host, ":")
                               : StrCat("[", host, "]:");
    // The port must be known before the other tasks are, so calls come before
    // there is anybody to serve them.
    RpcHandlers handlers;
    std::unique_ptr<Worker> worker;
    HR_ASSIGN_OR_RETURN(const NetworkOptions network,
                        NetworkOptions::FromEnvironment());
    HR_RETURN_IF_ERROR(CheckListenAddress(network, StrCat(at, port)));
    HR_ASSIGN_OR_RETURN(const ServerLimits limits,
                        ServerLimits::FromEnvironment());
    HR_ASSIGN_OR_RETURN(LoadPolicy policy,
                        LoadPolicy::FromEnvironment(IsLoopback(host)));
    HR_RETURN_IF_ERROR(MoveTo(
        Worker::Create(name, cluster, def.default_session_config()), &worker));
    worker->SetLimits(std::move(policy), limits);
    worker_ = std::move(worker);
    KeepFreedMemory();
    master_ = std::make_shared<Master>(worker_, def.default_session_config());
    AddWorkerService(worker_, &handlers);
    AddMasterService(master_, &handlers);
    for (auto& [method, handler] : handlers) {
      handler = gate_.Behind(std::move(handler));
    }
    HR_RETURN_IF_ERROR(
        MoveTo(RpcServer::Start(StrCat(at, port), std::move(handlers)), &rpc_));
    for (pb::JobDef& job : *def_.mutable_cluster()->mutable_job()) {
      if (job.name() == def.job_name()) {
        (*job.mutable_tasks())[def.task_index()] = StrCat(at, rpc_->port());
      }
    }
    target_ = StrCat("grpc://", at, rpc_->port());
    if (const char* const until = std::getenv(kJoinUntil)) {
      HR_RETURN_IF_ERROR(
          MoveTo(JobWatch::Start(until, def.job_name(), worker_->workers(),
                                 [this] {
                                   MutexLock lock(&mu_);
                                   job_ended_ = true;
                                   changed_.SignalAll();
                                 }),
                 &watch_));
    }
    LocalMasters()->Add(target_, master_);
    return OkStatus();
  }

  Status Start() override {
    {
      MutexLock lock(&mu_);
      if (stopped_) {
        return errors::FailedPrecondition("the server at ", target_,
                                          " was stopped");
      }
    }
    gate_.Open();
    NearWorkers()->Add(AddressOf(target_), worker_);
    return OkStatus();
  }

  Status Stop() override {
    {
      MutexLock lock(&mu_);
      if (stopping_) {
        while (!stopped_) changed_.Wait(&mu_);
        return OkStatus();
      }
      stopping_ = true;
    }
    if (!target_.empty()) {
      NearWorkers()->Remove(AddressOf(target_));
      LocalMasters()->Remove(target_);
    }
    gate_.Open();
    if (master_ != nullptr) master_->Shutdown();
    if (worker_ != nullptr) worker_->Shutdown();
    if (rpc_ != nullptr) rpc_->Shutdown();
    MutexLock lock(&mu_);
    stopped_ = true;
    changed_.SignalAll();
    return OkStatus();
  }

  Status Join(WaitHook* hook,
              const CancellationManager* cancellation) override {
    MutexLock lock(&mu_);
    while (!stopped_ && !job_ended_) {
      if (hook == nullptr && cancellation == nullptr) {
        changed_.Wait(&mu_);
        continue;
      }
      if (cancellation != nullptr && cancellation->IsCancelled()) {
        return errors::Cancelled("the wait for the server at ", target_,
                                 " was cancelled");
      }
      changed_.WaitWithTimeout(&mu_, absl::Milliseconds(WaitHook::kPeriodMs));
      if (hook == nullptr) continue;
      mu_.Unlock();
      hook->Poll();
      mu_.Lock();
    }
    return OkStatus();
  }

  const std::string& target() const override { return target_; }
  const pb::ServerDef& server_def() const override { return def_; }

 private:
  pb::ServerDef def_;
  std::string target_;
  Gate gate_;
  std::shared_ptr<Worker> worker_;
  std::shared_ptr<Master> master_;
  std::unique_ptr<RpcServer> rpc_;
  Mutex mu_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mu_) = false, stopped_ GUARDED_BY(mu_) = false;
  bool job_ended_ GUARDED_BY(mu_) = false;  // the one of kJoinUntil
  std::unique_ptr<JobWatch> watch_;         // last: its thread uses the others
};

}  // namespace

StatusOr<std::unique_ptr<Server>> NewTaskServer(const pb::ServerDef& def) {
  auto server = std::make_unique<TaskServer>();
  HR_RETURN_IF_ERROR(server->Init(def));
  return std::unique_ptr<Server>(std::move(server));
}

std::shared_ptr<Master> FindLocalMaster(const std::string& target) {
  return LocalMasters()->Find(target);
}

}  // namespace headrace
