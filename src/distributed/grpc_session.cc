// GrpcSession: a session on a master, of another process or of a server here.
// It sends the client's graph when it first runs something, and what was added
// to the graph before later runs.
#include "distributed/grpc_session.h"

#include <atomic>
#include <utility>

#include "base/wait_hook.h"
#include "distributed/master.h"
#include "distributed/remote_device.h"
#include "distributed/rpc.h"
#include "distributed/strip_defaults.h"
#include "distributed/task_server.h"
#include "distributed/worker_interface.h"
#include "headrace/importer.h"
#include "session/compiled_step.h"

namespace headrace {
namespace {

// The master's own message about a deadline comes before the call's.
constexpr absl::Duration kAfterDeadline = absl::Seconds(5);
// A master gives each task a minute.
constexpr absl::Duration kResetTimeout = absl::Seconds(90);

std::string FullName(const Endpoint& e) {
  return StrCat(e.node->name(), ":", e.index);
}

Status CheckEndpoint(const char* what, const Endpoint& e, const Graph& graph) {
  if (e.node != nullptr && e.node->id() < graph.num_node_ids() &&
      graph.node(e.node->id()) == e.node && e.index >= 0 &&
      e.index < e.node->num_outputs()) {
    return OkStatus();
  }
  return errors::InvalidArgument(what, " is no output of the session's graph");
}

// True if a run that ignores them could differ.
bool HasSettings(pb::ConfigProto::Headrace settings) {
  using Headrace = pb::ConfigProto::Headrace;
  if (settings.conv_tuning() == Headrace::OFF) settings.clear_conv_tuning();
  if (settings.precision() == "float32") settings.clear_precision();
  settings.clear_conv_tuning_seconds();
  return settings.ByteSizeLong() > 0;
}

// What a callable needs of a session that may be gone.
struct Connection {
  std::shared_ptr<MasterInterface> master;
  std::string handle;
};

class RemoteCallable : public Session::Prepared {
 public:
  ~RemoteCallable() override {
    pb::ReleaseCallableRequest request;
    request.set_session_handle(connection->handle);
    request.set_handle(handle);
    CallOptions options;
    options.timeout = kCloseTimeout;
    connection->master->ReleaseCallable(options, request).IgnoreError();
  }

  std::shared_ptr<const Connection> connection;
  const Session* session = nullptr;
  int64_t handle = 0;
  std::vector<Endpoint> feeds, fetches;
  std::vector<Node*> targets;
};

// Of a target.
struct FoundMaster {
  std::shared_ptr<MasterInterface> master;
  std::shared_ptr<RpcChannel> channel;  // null: it is of this process
};

class GrpcSession : public Session {
 public:
  GrpcSession(const pb::ConfigProto& config, std::string target,
              FoundMaster found, std::shared_ptr<Graph> graph)
      : Session(std::move(graph)),
        config_(config),
        target_(std::move(target)),
        master_(std::move(found.master)),
        channel_(std::move(found.channel)) {}

  ~GrpcSession() override { Close().IgnoreError(); }

  Status Run(const pb::RunOptions& options, absl::Span<const Feed> feeds,
             absl::Span<const Endpoint> fetches,
             absl::Span<Node* const> targets, std::vector<Tensor>* outputs,
             pb::RunMetadata* metadata, RunToken token) override {
    if (fetches.empty() && targets.empty()) {
      return errors::InvalidArgument(
          "Must specify at least one target to fetch or execute.");
    }
    const RunCancellation cancellation(&closing_, token.manager);
    const CallOptions call_options = OptionsOf(options, &cancellation, token);
    HR_RETURN_IF_ERROR(SendGraph(call_options));
    if (options.headrace().ByteSizeLong() > 0) {
      HR_RETURN_IF_ERROR(CheckMasterTakes(call_options, "RunOptions.headrace"));
    }
    RunStepCall call;
    HR_RETURN_IF_ERROR(FillCall(options, feeds, fetches, targets, &call));
    RunStepResult result;
    HR_RETURN_IF_ERROR(
        Explain(master_->RunStep(call_options, std::move(call), &result)));
    HR_RETURN_IF_ERROR(TakeFetches(fetches, &result, outputs));
    if (metadata != nullptr) {
      *metadata = std::move(*result.header.mutable_metadata());
    }
    return OkStatus();
  }

  StatusOr<std::shared_ptr<const Prepared>> Prepare(
      absl::Span<const Endpoint> feeds, absl::Span<const Endpoint> fetches,
      absl::Span<Node* const> targets) override {
    const RunCancellation cancellation(&closing_, nullptr);
    const CallOptions call_options =
        OptionsOf(pb::RunOptions(), &cancellation, {});
    HR_RETURN_IF_ERROR(SendGraph(call_options));
    pb::MakeCallableRequest request;
    for (const Endpoint& e : feeds) {
      HR_RETURN_IF_ERROR(CheckEndpoint("a feed", e, *graph()));
      request.mutable_options()->add_feed(FullName(e));
    }
    for (const Endpoint& e : fetches) {
      HR_RETURN_IF_ERROR(CheckEndpoint("a fetch", e, *graph()));
      request.mutable_options()->add_fetch(FullName(e));
    }
    for (const Node* n : targets) {
      if (n == nullptr) return errors::InvalidArgument("a target is null");
      request.mutable_options()->add_target(n->name());
    }
    auto connection = std::make_shared<Connection>();
    connection->master = master_;
    {
      MutexLock lock(&mu_);
      connection->handle = handle_;
    }
    request.set_session_handle(connection->handle);
    request.set_request_id(NewRequestId());
    pb::MakeCallableResponse response;
    HR_RETURN_IF_ERROR(master_->MakeCallable(call_options, request, &response));
    auto made = std::make_shared<RemoteCallable>();
    made->connection = std::move(connection);
    made->session = this;
    made->handle = response.handle();
    made->feeds.assign(feeds.begin(), feeds.end());
    made->fetches.assign(fetches.begin(), fetches.end());
    made->targets.assign(targets.begin(), targets.end());
    return std::shared_ptr<const Prepared>(std::move(made));
  }

  Status RunPrepared(const Prepared& prepared, const pb::RunOptions& options,
                     absl::Span<const Tensor> feeds,
                     std::vector<Tensor>* outputs, pb::RunMetadata* metadata,
                     RunToken token) override {
    const auto* const callable = dynamic_cast<const RemoteCallable*>(&prepared);
    if (callable == nullptr || callable->session != this) {
      return errors::InvalidArgument(
          "the callable was prepared by another session");
    }
    if (feeds.size() != callable->feeds.size()) {
      return errors::InvalidArgument("Expected ", callable->feeds.size(),
                                     " feed tensors, but got ", feeds.size());
    }
    // The message for a callable's run has no options.
    if (metadata != nullptr || options.ByteSizeLong() > 0) {
      std::vector<Feed> fed;
      for (size_t i = 0; i < feeds.size(); ++i) {
        fed.emplace_back(callable->feeds[i], feeds[i]);
      }
      return Run(options, fed, callable->fetches, callable->targets, outputs,
                 metadata, token);
    }
    const RunCancellation cancellation(&closing_, token.manager);
    RunCallableCall call;
    call.header.set_session_handle(callable->connection->handle);
    call.header.set_handle(callable->handle);
    call.header.set_request_id(NewRequestId());
    call.feeds.assign(feeds.begin(), feeds.end());
    RunCallableResult result;
    HR_RETURN_IF_ERROR(Explain(master_->RunCallable(
        OptionsOf(options, &cancellation, token), std::move(call), &result)));
    if (result.fetches.size() != callable->fetches.size()) {
      return errors::Internal("the master at ", target_, " gave ",
                              result.fetches.size(), " tensors for ",
                              callable->fetches.size(), " fetches");
    }
    if (outputs != nullptr) *outputs = std::move(result.fetches);
    return OkStatus();
  }

  StatusOr<std::string> PRunSetup(absl::Span<const Endpoint> feeds,
                                  absl::Span<const Endpoint> fetches,
                                  absl::Span<Node* const> targets) override {
    const RunCancellation cancellation(&closing_, nullptr);
    const CallOptions call_options =
        OptionsOf(pb::RunOptions(), &cancellation, {});
    HR_RETURN_IF_ERROR(SendGraph(call_options));
    pb::PartialRunSetupRequest request;
    {
      MutexLock lock(&mu_);
      request.set_session_handle(handle_);
    }
    for (const Endpoint& e : feeds) {
      HR_RETURN_IF_ERROR(CheckEndpoint("a feed", e, *graph()));
      request.add_feed(FullName(e));
    }
    for (const Endpoint& e : fetches) {
      HR_RETURN_IF_ERROR(CheckEndpoint("a fetch", e, *graph()));
      request.add_fetch(FullName(e));
    }
    for (const Node* n : targets) {
      if (n == nullptr) return errors::InvalidArgument("a target is null");
      request.add_target(n->name());
    }
    request.set_request_id(NewRequestId());
    pb::PartialRunSetupResponse response;
    HR_RETURN_IF_ERROR(
        master_->PartialRunSetup(call_options, request, &response));
    return response.partial_run_handle();
  }

  Status PRun(const std::string& handle, const pb::RunOptions& options,
              absl::Span<const Feed> feeds, absl::Span<const Endpoint> fetches,
              std::vector<Tensor>* outputs, RunToken token) override {
    const RunCancellation cancellation(&closing_, token.manager);
    RunStepCall call;
    HR_RETURN_IF_ERROR(FillCall(options, feeds, fetches, {}, &call));
    call.header.set_partial_run_handle(handle);
    RunStepResult result;
    HR_RETURN_IF_ERROR(Explain(master_->RunStep(
        OptionsOf(options, &cancellation, token), std::move(call), &result)));
    return TakeFetches(fetches, &result, outputs);
  }

  // The master ends it with the session.
  void PRunClose(const std::string&) override {}

  StatusOr<MemoryPlan> PlanMemory(
      absl::Span<const std::pair<Endpoint, TensorShape>>,
      absl::Span<const Endpoint>, absl::Span<Node* const>) override {
    return errors::Unimplemented("the session's steps run at ", target_,
                                 "; only those of this process can be planned");
  }

  Status Close() override {
    closing_.StartCancel(errors::Cancelled("Session has been closed."));
    std::string handle;
    {
      MutexLock lock(&mu_);
      closed_ = true;
      handle.swap(handle_);
    }
    if (handle.empty()) return OkStatus();
    pb::CloseSessionRequest request;
    request.set_session_handle(handle);
    CallOptions options;
    options.timeout = kCloseTimeout;
    const Status s = master_->CloseSession(options, request);
    // A master that is gone, or that has lost the session, has nothing to end.
    return errors::IsUnavailable(s) || errors::IsAborted(s) ? OkStatus() : s;
  }

  std::vector<Device*> ListDevices() override {
    const RunCancellation cancellation(&closing_, nullptr);
    const CallOptions options = OptionsOf(pb::RunOptions(), &cancellation, {});
    if (!SendGraph(options).ok()) return {};
    MutexLock lock(&mu_);
    if (devices_.empty()) {
      pb::ListDevicesRequest request;
      request.set_session_handle(handle_);
      pb::ListDevicesResponse response;
      if (!master_->ListDevices(options, request, &response).ok()) return {};
      for (const auto& a : response.local_device()) {
        devices_.push_back(std::make_unique<RemoteDevice>(a));
      }
      for (const auto& a : response.remote_device()) {
        devices_.push_back(std::make_unique<RemoteDevice>(a));
      }
    }
    std::vector<Device*> list;
    for (const auto& d : devices_) list.push_back(d.get());
    return list;
  }

 private:
  // Cancelled by the session's end or the caller.
  class RunCancellation {
   public:
    RunCancellation(CancellationManager* session, CancellationManager* caller)
        : manager_(session), caller_(caller) {
      if (caller == nullptr) return;
      token_ = caller->NextToken();
      const auto cancel = [m = &manager_] {
        m->StartCancel(errors::Cancelled("Run was cancelled."));
      };
      if (!caller->RegisterCallback(token_, cancel)) cancel();
    }
    ~RunCancellation() {
      if (caller_ != nullptr) caller_->DeregisterCallback(token_);
    }
    RunCancellation(const RunCancellation&) = delete;
    RunCancellation& operator=(const RunCancellation&) = delete;
    CancellationManager* manager() const { return &manager_; }

   private:
    mutable CancellationManager manager_;
    CancellationManager* const caller_;
    CancellationManager::Token token_ = 0;
  };

  CallOptions OptionsOf(const pb::RunOptions& options,
                        const RunCancellation* cancellation,
                        RunToken token) const {
    CallOptions call;
    call.cancellation = cancellation->manager();
    call.waits = token.waits;
    const int64_t timeout = options.timeout_in_ms() > 0
                                ? options.timeout_in_ms()
                                : config_.operation_timeout_in_ms();
    if (timeout > 0)
      call.timeout = absl::Milliseconds(timeout) + kAfterDeadline;
    return call;
  }

  // What Close and the caller's token do reads as in a local session.
  Status Explain(const Status& s) const {
    if (!errors::IsCancelled(s) || !closing_.IsCancelled()) return s;
    return closing_.status();
  }

  // Unimplemented if the master is TensorFlow's, which would ignore `what`, a
  // setting of Headrace.
  Status CheckMasterTakes(const CallOptions& options, const char* what) {
    if (channel_ == nullptr || master_takes_settings_) return OkStatus();
    CallOptions call = options;
    call.wait_for_ready = true;
    WireBytes ignored;
    const Status s =
        channel_->Call(kDescribeWaitsMethod, ToWire(pb::DescribeWaitsRequest()),
                       call, &ignored);
    if (errors::IsUnimplemented(s)) {
      return errors::Unimplemented(what, ": the master at ", target_,
                                   " is no server of Headrace, and would "
                                   "ignore it");
    }
    HR_RETURN_IF_ERROR(Explain(s));
    master_takes_settings_ = true;
    return OkStatus();
  }

  // Creates the session if it is new; sends new nodes.
  Status SendGraph(const CallOptions& options) {
    MutexLock lock(&mu_);
    if (closed_) return errors::Cancelled("Session has been closed.");
    pb::GraphDef def;
    int nodes = 0;
    {
      ReaderMutexLock graph_lock(&graph()->mu());
      nodes = graph()->num_nodes();
      if (!handle_.empty() && nodes == sent_) return OkStatus();
      GraphToGraphDef(*graph(), &def);
    }
    StripDefaultAttrs(&def);
    if (handle_.empty()) {
      pb::CreateSessionRequest request;
      *request.mutable_graph_def() = std::move(def);
      *request.mutable_config() = config_;
      request.set_target(target_);
      pb::CreateSessionResponse response;
      CallOptions create = options;
      create.wait_for_ready = true;
      HR_RETURN_IF_ERROR(
          Explain(master_->CreateSession(create, request, &response)));
      if (HasSettings(config_.headrace())) {
        const Status s = CheckMasterTakes(options, "ConfigProto.headrace");
        if (!s.ok()) {
          pb::CloseSessionRequest close;
          close.set_session_handle(response.session_handle());
          CallOptions end;
          end.timeout = kCloseTimeout;
          master_->CloseSession(end, close).IgnoreError();
          return s;
        }
      }
      handle_ = response.session_handle();
      version_ = response.graph_version();
    } else {
      // Clients only add nodes.
      def.mutable_node()->DeleteSubrange(0, std::min(sent_, def.node_size()));
      pb::ExtendSessionRequest request;
      request.set_session_handle(handle_);
      *request.mutable_graph_def() = std::move(def);
      request.set_current_graph_version(version_);
      pb::ExtendSessionResponse response;
      HR_RETURN_IF_ERROR(
          Explain(master_->ExtendSession(options, request, &response)));
      version_ = response.new_graph_version();
    }
    sent_ = nodes;
    return OkStatus();
  }

  Status FillCall(const pb::RunOptions& options, absl::Span<const Feed> feeds,
                  absl::Span<const Endpoint> fetches,
                  absl::Span<Node* const> targets, RunStepCall* call) {
    {
      MutexLock lock(&mu_);
      if (closed_) return errors::Cancelled("Session has been closed.");
      call->header.set_session_handle(handle_);
    }
    for (const auto& [e, value] : feeds) {
      HR_RETURN_IF_ERROR(CheckEndpoint("a feed", e, *graph()));
      call->feeds.emplace_back(FullName(e), value);
    }
    for (const Endpoint& e : fetches) {
      HR_RETURN_IF_ERROR(CheckEndpoint("a fetch", e, *graph()));
      call->header.add_fetch(FullName(e));
    }
    for (const Node* n : targets) {
      if (n == nullptr) return errors::InvalidArgument("a target is null");
      call->header.add_target(n->name());
    }
    *call->header.mutable_options() = options;
    call->header.set_store_errors_in_response_body(true);
    call->header.set_request_id(NewRequestId());
    return OkStatus();
  }

  // By name: a master may give each tensor once, and in any order.
  Status TakeFetches(absl::Span<const Endpoint> fetches, RunStepResult* result,
                     std::vector<Tensor>* outputs) const {
    std::vector<Tensor> values;
    for (const Endpoint& e : fetches) {
      const std::string name = FullName(e);
      bool found = false;
      for (const auto& [given, value] : result->fetches) {
        if (given != name) continue;
        values.push_back(value);
        found = true;
        break;
      }
      if (!found) {
        return errors::Internal("the master at ", target_,
                                " gave no value for ", name);
      }
    }
    if (outputs != nullptr) *outputs = std::move(values);
    return OkStatus();
  }

  const pb::ConfigProto config_;
  const std::string target_;
  const std::shared_ptr<MasterInterface> master_;
  const std::shared_ptr<RpcChannel> channel_;  // null: of this process
  CancellationManager closing_;
  std::atomic<bool> master_takes_settings_{false};  // it has said so
  Mutex mu_;  // held while the graph is sent
  bool closed_ GUARDED_BY(mu_) = false;
  std::string handle_ GUARDED_BY(mu_);  // empty: not created
  int64_t version_ GUARDED_BY(mu_) = 0;
  int sent_ GUARDED_BY(mu_) = 0;  // nodes
  std::vector<std::unique_ptr<Device>> devices_ GUARDED_BY(mu_);
};

StatusOr<FoundMaster> FindMaster(const std::string& target) {
  if (std::shared_ptr<Master> local = FindLocalMaster(target)) {
    return FoundMaster{std::move(local), nullptr};
  }
  const std::string address = AddressOf(target);
  HR_ASSIGN_OR_RETURN(std::shared_ptr<RpcChannel> channel,
                      NewRpcChannel(address));
  return FoundMaster{NewRemoteMaster(channel, address), std::move(channel)};
}

}  // namespace

StatusOr<std::unique_ptr<Session>> NewGrpcSession(
    const pb::ConfigProto& config, const std::string& target,
    std::shared_ptr<Graph> graph) {
  HR_ASSIGN_OR_RETURN(FoundMaster found, FindMaster(target));
  return std::unique_ptr<Session>(std::make_unique<GrpcSession>(
      config, target, std::move(found), std::move(graph)));
}

Status ResetGrpcSessions(const std::string& target,
                         const std::vector<std::string>& containers) {
  HR_ASSIGN_OR_RETURN(const FoundMaster found, FindMaster(target));
  pb::ResetRequest request;
  for (const std::string& c : containers) request.add_container(c);
  CallOptions options;
  options.timeout = kResetTimeout;
  return found.master->Reset(options, request);
}

}  // namespace headrace
