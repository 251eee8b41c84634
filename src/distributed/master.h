// Master: what clients talk to. Each server has one. It keeps the sessions of
// its clients, and for each their graph.
#ifndef HEADRACE_DISTRIBUTED_MASTER_H_
#define HEADRACE_DISTRIBUTED_MASTER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "distributed/idle_watch.h"
#include "distributed/request_ids.h"
#include "distributed/rpc.h"
#include "distributed/tensor_wire.h"
#include "distributed/worker.h"
#include "headrace/master.pb.h"
#include "headrace/mutex.h"

namespace headrace {

class MasterSession;  // distributed/master_session.h

// The tensors are apart from the messages: headers have none.
struct RunStepCall {
  pb::RunStepRequest header;
  NamedTensors feeds;
};
struct RunStepResult {
  pb::RunStepResponse header;
  NamedTensors fetches;
};
struct RunCallableCall {
  pb::RunCallableRequest header;
  std::vector<Tensor> feeds;
};
struct RunCallableResult {
  pb::RunCallableResponse header;
  std::vector<Tensor> fetches;
};

// A master in this process (Master) or behind a channel (NewRemoteMaster).
// Calls wait for the answer. Thread-safe.
class MasterInterface {
 public:
  virtual ~MasterInterface() = default;
  virtual Status CreateSession(const CallOptions& options,
                               const pb::CreateSessionRequest& request,
                               pb::CreateSessionResponse* response) = 0;
  virtual Status ExtendSession(const CallOptions& options,
                               const pb::ExtendSessionRequest& request,
                               pb::ExtendSessionResponse* response) = 0;
  virtual Status PartialRunSetup(const CallOptions& options,
                                 const pb::PartialRunSetupRequest& request,
                                 pb::PartialRunSetupResponse* response) = 0;
  virtual Status RunStep(const CallOptions& options, RunStepCall call,
                         RunStepResult* result) = 0;
  virtual Status CloseSession(const CallOptions& options,
                              const pb::CloseSessionRequest& request) = 0;
  virtual Status ListDevices(const CallOptions& options,
                             const pb::ListDevicesRequest& request,
                             pb::ListDevicesResponse* response) = 0;
  virtual Status Reset(const CallOptions& options,
                       const pb::ResetRequest& request) = 0;
  virtual Status MakeCallable(const CallOptions& options,
                              const pb::MakeCallableRequest& request,
                              pb::MakeCallableResponse* response) = 0;
  virtual Status RunCallable(const CallOptions& options, RunCallableCall call,
                             RunCallableResult* result) = 0;
  virtual Status ReleaseCallable(const CallOptions& options,
                                 const pb::ReleaseCallableRequest& request) = 0;
};

std::unique_ptr<MasterInterface> NewRemoteMaster(
    std::shared_ptr<RpcChannel> channel, std::string target);

class Master : public MasterInterface {
 public:
  // `worker` is the task that this master is in. `config` is the server's;
  // sessions inherit what they do not say.
  Master(std::shared_ptr<Worker> worker, pb::ConfigProto config);
  ~Master() override;
  // Closes all sessions.
  void Shutdown();

  Status CreateSession(const CallOptions& options,
                       const pb::CreateSessionRequest& request,
                       pb::CreateSessionResponse* response) override;
  Status ExtendSession(const CallOptions& options,
                       const pb::ExtendSessionRequest& request,
                       pb::ExtendSessionResponse* response) override;
  Status PartialRunSetup(const CallOptions& options,
                         const pb::PartialRunSetupRequest& request,
                         pb::PartialRunSetupResponse* response) override;
  Status RunStep(const CallOptions& options, RunStepCall call,
                 RunStepResult* result) override;
  // The step's last runs took less than a millisecond each.
  bool WasQuick(const RunStepCall& call);
  Status CloseSession(const CallOptions& options,
                      const pb::CloseSessionRequest& request) override;
  Status ListDevices(const CallOptions& options,
                     const pb::ListDevicesRequest& request,
                     pb::ListDevicesResponse* response) override;
  Status Reset(const CallOptions& options,
               const pb::ResetRequest& request) override;
  Status MakeCallable(const CallOptions& options,
                      const pb::MakeCallableRequest& request,
                      pb::MakeCallableResponse* response) override;
  Status RunCallable(const CallOptions& options, RunCallableCall call,
                     RunCallableResult* result) override;
  Status ReleaseCallable(const CallOptions& options,
                         const pb::ReleaseCallableRequest& request) override;

 private:
  // Aborted if there is none: the server may have been restarted. The session
  // counts as used until `out` goes.
  Status Find(const std::string& handle, std::shared_ptr<MasterSession>* out);

  // ResourceExhausted if the client's host has too many sessions.
  Status CountSession(const CallOptions& options);
  void UncountSession(const std::string& peer);
  // Ends what clients of other processes have not used for the limit's time,
  // and tells tasks about the rest.
  void EndIdle();

  const std::shared_ptr<Worker> worker_;
  const pb::ConfigProto config_;
  RequestIds request_ids_{10000};
  Mutex mu_;
  bool shut_down_ GUARDED_BY(mu_) = false;
  std::map<std::string, std::shared_ptr<MasterSession>> sessions_
      GUARDED_BY(mu_);
  // Of clients of other processes, by host; also those that are being created.
  std::map<std::string, int64_t> sessions_of_ GUARDED_BY(mu_);
  std::unique_ptr<IdleWatch> watch_;  // null: sessions stay
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_MASTER_H_
