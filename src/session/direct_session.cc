#include "session/direct_session.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/fork.h"
#include "base/interrupt.h"
#include "base/memory_reserve.h"
#include "base/mutex.h"
#include "base/thread_pool.h"
#include "framework/algorithm_tuner.h"
#include "framework/device_factory.h"
#include "framework/session_tensors.h"
#include "graph/client_graph.h"
#include "graph/partition.h"
#include "runtime/function_runtime.h"
#include "runtime/graph_pass.h"
#include "runtime/placer.h"
#include "session/inter_op_pools.h"
#include "session/partial_runs.h"
#include "session/session_options.h"
#include "session/step_cache.h"
#include "session/step_run.h"
#include "session/uninitialized.h"

namespace headrace {

namespace {

// So long a compilation goes on beyond the deadline of the run that asked for
// it: the next one then finds the step. Otherwise a client whose deadlines are
// short would never get it.
constexpr int64_t kMinCompileMs = 100;
// So long a run then has at least, to come to what its error will name.
constexpr int64_t kMinRunMs = 10;

constexpr char kPrefix[] = "/job:localhost/replica:0/task:0";

class DirectSession;

// All sessions of the process, for ResetDirectSessions.
struct LiveSessions {
  Mutex mu;
  CondVar unpinned;
  std::map<DirectSession*, int> pins GUARDED_BY(mu);  // by who resets them
  uint32_t generation GUARDED_BY(mu) = ForkGeneration();

  // Those who reset sessions in the parent process are not in its child.
  void ForgetParent() REQUIRES(mu) {
    if (generation == ForkGeneration()) return;
    generation = ForkGeneration();
    for (auto& [session, count] : pins) count = 0;
  }
  static LiveSessions* Get() {
    static LiveSessions* const live = [] {
      auto* made = new LiveSessions;
      HoldDuringFork(&made->mu);
      return made;
    }();
    return live;
  }
};

class DirectSession : public Session {
 public:
  // What kernels refer to.
  struct Resources {
    std::unique_ptr<ThreadPool> intra;  // null: the process-wide pool
    std::unique_ptr<InterOpPools> inter;
    std::vector<std::unique_ptr<Device>> devices;
  };

  // `tuner` may be null.
  DirectSession(SessionOptions options, std::shared_ptr<Resources> resources,
                RefPtr<AlgorithmTuner> tuner, std::shared_ptr<Graph> graph)
      : Session(std::move(graph)),
        options_(std::move(options)),
        resources_(std::move(resources)),
        tuner_(std::move(tuner)) {
    inter_ = resources_->inter->first();
    for (const auto& d : resources_->devices) {
      device_list_.push_back(d.get());
      d->resource_manager()
          ->Create<SessionTensors>(SessionTensors::kContainer,
                                   SessionTensors::kName, session_tensors_)
          .IgnoreError();  // new devices are empty
      if (tuner_ == nullptr) continue;
      d->resource_manager()
          ->Create<AlgorithmTuner>(AlgorithmTuner::kContainer,
                                   AlgorithmTuner::kName, tuner_)
          .IgnoreError();
    }
    functions_ = std::make_shared<SessionFunctions>(
        device_list_, inter_, options_.disabled_passes, gate_);
    // A child of fork() may make a session of its own of the same graph.
    HoldDuringFork(&this->graph()->mu());
    LiveSessions* live = LiveSessions::Get();
    MutexLock lock(&live->mu);
    live->pins[this] = 0;
  }

  ~DirectSession() override {
    ReleaseFromFork(&graph()->mu());
    const bool abandoned = gate_->IsAbandoned();
    {
      LiveSessions* live = LiveSessions::Get();
      MutexLock lock(&live->mu);
      live->ForgetParent();
      while (live->pins[this] > 0) live->unpinned.Wait(&live->mu);
      live->pins.erase(this);
    }
    if (abandoned) {
      Leak();
      return;
    }
    Close().IgnoreError();
    partial_runs_->Clear();
    running_.WaitUntilNone();
    // Iterators call functions until they are gone, and may call one to end.
    steps_->Clear();
    stateful_kernels_.clear();
    for (Device* d : device_list_) d->resource_manager()->Clear();
    functions_->Shutdown();
  }

  Status Run(const pb::RunOptions& options, absl::Span<const Feed> feeds,
             absl::Span<const Endpoint> fetches,
             absl::Span<Node* const> targets, std::vector<Tensor>* outputs,
             pb::RunMetadata* metadata, RunToken token) override {
    const Inside inside(gate_.get());
    HR_RETURN_IF_ERROR(inside.status());
    HR_RETURN_IF_ERROR(running_.CheckOpen());
    return CatchExceptions([&]() -> Status {
      RunTime time(TimeoutOf(options), token.manager);
      std::shared_ptr<PreparedStep> step;
      HR_RETURN_IF_ERROR(FindOrCompile(feeds, fetches, targets,
                                       FedShapes::kStatic, &time, &step));
      FeedPointers args;
      for (const Feed& f : feeds) args.push_back(&f.second);
      if (!Fits(*step, args)) [[unlikely]] {
        HR_RETURN_IF_ERROR(FindOrCompile(feeds, fetches, targets,
                                         FedShapes::kAny, &time, &step));
      }
      return Execute(*step, options, time, args, outputs, metadata, token);
    });
  }

  StatusOr<std::shared_ptr<Prepared>> Prepare(
      absl::Span<const Endpoint> feeds, absl::Span<const Endpoint> fetches,
      absl::Span<Node* const> targets) override {
    const Inside inside(gate_.get());
    HR_RETURN_IF_ERROR(inside.status());
    HR_RETURN_IF_ERROR(running_.CheckOpen());
    RunTime time(options_.operation_timeout_ms);
    std::shared_ptr<PreparedStep> step;
    HR_RETURN_IF_ERROR(CatchExceptions([&] {
      return Compile(feeds, fetches, targets, /*partial=*/false,
                     FedShapes::kStatic, &time, &step);
    }));
    return std::shared_ptr<Prepared>(std::move(step));
  }

  Status RunPrepared(const Prepared& prepared, const pb::RunOptions& options,
                     absl::Span<const Tensor> feeds,
                     std::vector<Tensor>* outputs, pb::RunMetadata* metadata,
                     RunToken token) override {
    const Inside inside(gate_.get());
    HR_RETURN_IF_ERROR(inside.status());
    HR_RETURN_IF_ERROR(running_.CheckOpen());
    const auto& step = static_cast<const PreparedStep&>(prepared);
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
        std::shared_ptr<PreparedStep> any;
        HR_RETURN_IF_ERROR(FindOrCompile(
            absl::MakeConstSpan(step.feed_endpoints), step.fetch_endpoints,
            step.targets, FedShapes::kAny, &time, &any));
        return Execute(*any, options, time, args, outputs, metadata, token);
      }
      return Execute(step, options, time, args, outputs, metadata, token);
    });
  }

  Status PlanMemory(absl::Span<const std::pair<Endpoint, TensorShape>> feeds,
                    absl::Span<const Endpoint> fetches,
                    absl::Span<Node* const> targets,
                    MemoryPlan* plan) override {
    const Inside inside(gate_.get());
    HR_RETURN_IF_ERROR(inside.status());
    HR_RETURN_IF_ERROR(running_.CheckOpen());
    RunTime time(options_.operation_timeout_ms);
    std::shared_ptr<PreparedStep> step;
    HR_RETURN_IF_ERROR(FindOrCompile(feeds, fetches, targets,
                                     FedShapes::kStatic, &time, &step));
    std::vector<TensorShape> shapes;
    for (size_t i = 0; i < feeds.size(); ++i) {
      shapes.push_back(feeds[i].second);
      if (!step->feeds[i].shape.IsCompatibleWith(shapes[i])) {
        return errors::InvalidArgument(
            "a plan with shape ", shapes[i].DebugString(), " for '",
            step->feeds[i].name, "', which has shape ",
            step->feeds[i].shape.DebugString());
      }
    }
    return step->PlanMemory(shapes, plan);
  }

  Status Close() override {
    // Nothing runs in a child of fork() that may not come in.
    const Inside inside(gate_.get());
    if (!inside.status().ok()) return OkStatus();
    running_.Close();
    if (tuner_ != nullptr) tuner_->Stop();
    return OkStatus();
  }

  Status PRunSetup(absl::Span<const Endpoint> feeds,
                   absl::Span<const Endpoint> fetches,
                   absl::Span<Node* const> targets,
                   std::string* handle) override {
    const Inside inside(gate_.get());
    HR_RETURN_IF_ERROR(inside.status());
    HR_RETURN_IF_ERROR(running_.CheckOpen());
    RunTime time(options_.operation_timeout_ms);
    std::shared_ptr<PreparedStep> step;
    HR_RETURN_IF_ERROR(CatchExceptions([&] {
      return Compile(feeds, fetches, targets, /*partial=*/true, FedShapes::kAny,
                     &time, &step);
    }));
    auto p = std::make_shared<PartialStep>(std::move(step));
    HR_RETURN_IF_ERROR(running_.Enter(&p->running));
    if (!gate_->Enter()) return Inside(gate_.get()).status();  // cannot be
    std::shared_ptr<PartialStep> dropped;
    *handle = partial_runs_->Add(p, &dropped);
    if (dropped != nullptr) {
      dropped->Abort(errors::Cancelled(
          "The partial run was dropped: too many newer ones were begun."));
    }
    // Who waits for it does so no longer, whatever kernel it is in.
    CancellationManager* const cancelled = &p->running.cancellation;
    cancelled->RegisterCallback(cancelled->NextToken(), [r = p.get()] {
      const Status why = r->running.cancellation.status();
      if (EndedFromOutside(why)) r->run.Finish(why);
    });
    StartPartial(p);
    return OkStatus();
  }

  Status PRun(const std::string& handle, const pb::RunOptions& options,
              absl::Span<const Feed> feeds, absl::Span<const Endpoint> fetches,
              std::vector<Tensor>* outputs, RunToken token) override {
    const Inside inside(gate_.get());
    HR_RETURN_IF_ERROR(inside.status());
    HR_RETURN_IF_ERROR(running_.CheckOpen());
    ThreadPool* unused;  // the executors run already
    HR_RETURN_IF_ERROR(CheckRunOptions(options, &unused));
    if (options.headrace().memory_budget_bytes() != 0) {
      return errors::InvalidArgument(
          "RunOptions: memory_budget_bytes in a call of a partial run, which "
          "goes on already; it has the session's");
    }
    std::shared_ptr<PartialStep> p;
    HR_RETURN_IF_ERROR(partial_runs_->BeginCall(handle, &p));
    std::vector<std::pair<std::string, Tensor>> feed_list;
    for (const Feed& f : feeds) {
      feed_list.emplace_back(EndpointName(f.first), f.second);
    }
    std::vector<std::string> fetch_list;
    for (const Endpoint& f : fetches) fetch_list.push_back(EndpointName(f));

    auto end = [&p](const Status& why) {
      const Status full = p->running.Explain(why);
      p->Abort(full);
      return full;
    };
    CancellationManager* const caller = token.manager;
    CancellationManager::Token key = 0;
    if (caller != nullptr) {
      key = caller->NextToken();
      if (!caller->RegisterCallback(key, [&end] {
            end(errors::Cancelled("Run was cancelled.")).IgnoreError();
          })) {
        end(errors::Cancelled("Run was cancelled.")).IgnoreError();
      }
    }
    const int64_t timeout = TimeoutOf(options);
    bool complete = false;
    Status s = p->run.Call(feed_list, fetch_list, timeout, token.waits, outputs,
                           &complete);
    if (errors::IsDeadlineExceeded(s)) s = end(s);
    // The last call waits for the targets too.
    if (s.ok() && complete) {
      s = p->run.Wait(timeout, token.waits);
      if (errors::IsDeadlineExceeded(s)) s = end(s);
    }
    for (size_t i = 0; s.ok() && i < fetches.size(); ++i) {
      if (IsSessionHandle(fetches[i])) {
        KeepSessionTensor((*outputs)[i], &p->resources);
      }
    }
    if (caller != nullptr) caller->DeregisterCallback(key);
    partial_runs_->EndCall(handle, p.get(),
                           complete || p->running.cancellation.IsCancelled());
    return s;
  }

  void PRunClose(const std::string& handle) override {
    const Inside inside(gate_.get());
    if (!inside.status().ok()) return;
    const std::shared_ptr<PartialStep> p = partial_runs_->Take(handle);
    if (p == nullptr) return;
    p->Abort(errors::Cancelled("The partial run was ended."));
  }

  std::vector<Device*> ListDevices() override { return device_list_; }

  // Steps in progress keep what they hold of the containers.
  void Reset(const std::vector<std::string>& containers) {
    const Inside inside(gate_.get());
    if (!inside.status().ok()) return;
    Close().IgnoreError();
    for (Device* d : device_list_) {
      ResourceMgr* mgr = d->resource_manager();
      if (containers.empty()) mgr->Cleanup(mgr->default_container());
      for (const std::string& c : containers) mgr->Cleanup(c);
    }
  }

 private:
  // A caller of this session, while it lives.
  class Inside {
   public:
    explicit Inside(ForkGate* gate) : gate_(gate->Enter() ? gate : nullptr) {}
    ~Inside() {
      if (gate_ != nullptr) gate_->Leave();
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    // FailedPrecondition in a child of fork() that may not come in.
    Status status() const {
      if (gate_ != nullptr) [[likely]]
        return OkStatus();
      return errors::FailedPrecondition(
          "The session was running when its process forked, and the threads "
          "that ran it are not in this child: make a new session after fork()");
    }

   private:
    ForkGate* const gate_;
  };

  // How much time a run has (in ms; 0: no end), what of it went into compiling
  // its step, and the token that ends it, which may be null.
  struct RunTime {
    explicit RunTime(int64_t timeout,
                     const CancellationManager* token = nullptr)
        : timeout(timeout), token(token) {}
    int64_t Left() const {
      return timeout > 0
                 ? std::max(timeout - spent, std::min(timeout, kMinRunMs))
                 : 0;
    }
    const int64_t timeout;
    const CancellationManager* const token;
    int64_t spent = 0;
  };

  // What kernels refer to may be locked and half done; nobody destroys it.
  void Leak() {
    new auto(resources_);
    new auto(session_tensors_);
    new auto(tuner_);
    new auto(functions_);
    {
      // Nobody else is here, whatever the mutex says.
      [this]() NO_THREAD_SAFETY_ANALYSIS {
        new auto(std::move(stateful_kernels_));
      }();
    }
    (void)owned_running_.release();
    (void)steps_.release();
    (void)partial_runs_.release();
  }

  void StartPartial(const std::shared_ptr<PartialStep>& p) {
    p->Begin(NextStepId(), p->run.step(), &p->run, inter_, functions_.get());
    // With the shapes of some feeds alone nothing is planned.
    if (options_.memory_budget != 0) p->LimitMemory(options_.memory_budget);
    auto finished = [this, p](bool complete) {
      if (!complete) p->complete = false;
      if (p->left.fetch_sub(1) != 1) return;
      // Not from here: this may be a callback of a cancellation that Leave
      // would wait for.
      inter_->Schedule([this, p] {
        Status s;
        if (!p->complete) {
          s = ListUninitialized(p->running.cancellation.status(), p->run.step(),
                                *graph());
        }
        p->run.Finish(s);
        const std::shared_ptr<ForkGate> gate = gate_;
        running_.Leave(&p->running);  // the session may go
        gate->Leave();
      });
    };
    for (const PreparedStep::Part& part : p->run.step().parts) {
      inter_->Schedule([p, finished, e = part.executor.get()] {
        e->RunAsync(p->args, finished);
      });
    }
  }

  int64_t TimeoutOf(const pb::RunOptions& options) const {
    return options.timeout_in_ms() > 0 ? options.timeout_in_ms()
                                       : options_.operation_timeout_ms;
  }

  // In bytes; 0: none.
  int64_t BudgetOf(const pb::RunOptions& options) const {
    return options.headrace().memory_budget_bytes() != 0
               ? options.headrace().memory_budget_bytes()
               : options_.memory_budget;
  }

  using FeedPointers = absl::InlinedVector<const Tensor*, 4>;

  // Whether a step relies on the static shapes of what is fed. As in
  // TensorFlow, a client may feed another shape; then the step is compiled once
  // more, for any.
  enum class FedShapes : size_t { kStatic, kAny };

  static bool Fits(const PreparedStep& step, const FeedPointers& feeds) {
    for (size_t i = 0; i < step.feeds.size(); ++i) {
      if (!step.FitsFeed(i, *feeds[i])) [[unlikely]]
        return false;
    }
    return true;
  }

  static const Endpoint& FedEndpoint(const Endpoint& e) { return e; }
  template <typename Value>
  static const Endpoint& FedEndpoint(const std::pair<Endpoint, Value>& f) {
    return f.first;
  }

  // The step for feeds (endpoints, or pairs that begin with one), fetches and
  // targets.
  template <typename Fed>
  Status FindOrCompile(absl::Span<const Fed> feeds,
                       absl::Span<const Endpoint> fetches,
                       absl::Span<Node* const> targets, FedShapes shapes,
                       RunTime* time, std::shared_ptr<PreparedStep>* step) {
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
    HR_RETURN_IF_ERROR(Compile(feed_list, fetches, targets, /*partial=*/false,
                               shapes, time, step));
    // Another thread may have been first; its kernels are as good.
    *step = steps_->Insert(std::move(key), std::move(*step));
    return OkStatus();
  }

  // A node's address is its own for the graph's life, and no node of another
  // graph gets past Compile into steps_.
  static void AppendToKey(size_t n, StepCache::Key* key) { key->push_back(n); }
  static void AppendToKey(const Endpoint& e, StepCache::Key* key) {
    key->push_back(reinterpret_cast<uintptr_t>(e.node));
    key->push_back(static_cast<uint32_t>(e.index));
  }

  // Within the time of the run, and as long as nobody cancels it (`token` may
  // be null) or closes the session.
  Status Compile(absl::Span<const Endpoint> feeds,
                 absl::Span<const Endpoint> fetches,
                 absl::Span<Node* const> targets, bool partial,
                 FedShapes shapes, RunTime* time,
                 std::shared_ptr<PreparedStep>* out) {
    const absl::Time begun = absl::Now();
    const auto spent = [&] {
      return time->spent + absl::ToInt64Milliseconds(absl::Now() - begun);
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
    HR_RETURN_IF_ERROR(
        CompileStep(feeds, fetches, targets, partial, shapes, out));
    time->spent = spent();
    return OkStatus();
  }

  Status CompileStep(absl::Span<const Endpoint> feeds,
                     absl::Span<const Endpoint> fetches,
                     absl::Span<Node* const> targets, bool partial,
                     FedShapes shapes, std::shared_ptr<PreparedStep>* out) {
    if (fetches.empty() && targets.empty()) {
      return errors::InvalidArgument(
          "Must specify at least one target to fetch or execute.");
    }
    auto step = std::make_shared<PreparedStep>();
    step->resources = resources_;
    step->session = this;
    step->feed_endpoints.assign(feeds.begin(), feeds.end());
    step->fetch_endpoints.assign(fetches.begin(), fetches.end());
    step->targets.assign(targets.begin(), targets.end());
    GraphPassContext context;
    std::unique_ptr<Graph> client;
    {
      ReaderMutexLock lock(&graph()->mu());
      for (const Endpoint& f : feeds) {
        step->feeds.push_back(
            {EndpointName(f), BaseType(f.node->output_type(f.index)),
             shapes == FedShapes::kStatic ? f.node->output_shape(f.index)
                                          : PartialTensorShape::UnknownRank()});
      }
      for (const Endpoint& f : fetches) {
        if (IsSessionHandle(f)) {
          step->handle_fetches.push_back(
              static_cast<int>(step->fetches.size()));
        }
        step->fetches.push_back(EndpointName(f));
      }
      for (const Node* t : targets) context.targets.insert(t->name());
      HR_ASSIGN_OR_RETURN(client,
                          BuildClientGraph(*graph(), feeds, fetches, targets,
                                           device_list_.front()->name()));
      functions_->SetLibrary(*graph());
    }
    if (shapes == FedShapes::kAny) {
      HR_RETURN_IF_ERROR(ForgetFedShapes(client.get()));
    }
    if (partial) PartialRun::Adapt(client.get(), step.get());
    HR_RETURN_IF_ERROR(RunGraphPasses(context, options_.disabled_passes,
                                      client.get(), &step->passes));
    PlacerOptions placer;
    placer.allow_soft_placement = options_.allow_soft_placement;
    placer.log_placement = options_.log_device_placement;
    HR_RETURN_IF_ERROR(PlaceGraph(placer, device_list_, client.get()));

    std::map<std::string, std::unique_ptr<Graph>> graphs;
    PartitionOptions partition;
    partition.incarnation = [this](const std::string& name) {
      const Device* d = FindDevice(name);
      return d == nullptr ? 0 : d->attributes().incarnation;
    };
    bool control_flow = false;
    client->ForEachNode(
        [&](const Node* n) { control_flow |= n->IsControlFlow(); });
    HR_RETURN_IF_ERROR(PartitionGraph(partition, std::move(client), &graphs));
    for (auto& [name, part] : graphs) {
      PreparedStep::Part p;
      p.device = FindDevice(name);
      if (p.device == nullptr) {
        return errors::Internal("a partition is for unknown device ", name);
      }
      HR_RETURN_IF_ERROR(Executor::Create(
          p.device, *part,
          {.control_flow = control_flow, .args_are_kept = true},
          [this, &p](const Node& n, std::shared_ptr<OpKernel>* kernel) {
            return MakeKernel(p.device, n, kernel);
          },
          &p.executor));
      step->needs_rendezvous |= p.executor->needs_rendezvous();
      step->may_run_long |= p.executor->may_run_long();
      p.graph = std::move(part);
      step->parts.push_back(std::move(p));
    }
    step->LookForArena();
    *out = std::move(step);
    return OkStatus();
  }

  static bool IsSessionHandle(const Endpoint& e) {
    return e.node->type_string() == "GetSessionHandle" ||
           e.node->type_string() == "GetSessionHandleV2";
  }

  // Takes what a fetched handle stands for over from the step.
  void KeepSessionTensor(const Tensor& fetched, ResourceMgr* step) {
    const std::string handle = fetched.dtype() == DT_RESOURCE
                                   ? fetched.scalar<ResourceHandle>().name
                                   : std::string(fetched.scalar<tstring>());
    RefPtr<SessionTensors> from;
    Tensor value;
    if (step->Lookup<SessionTensors>(SessionTensors::kContainer,
                                     SessionTensors::kName, &from)
            .ok() &&
        from->Get(handle, &value).ok()) {
      session_tensors_->Put(handle, std::move(value));
    }
  }

  Device* FindDevice(const std::string& name) const {
    for (Device* d : device_list_) {
      if (d->name() == name) return d;
    }
    return nullptr;
  }

  // Kernels with state live as long as the session, one for each node, so that
  // all steps that contain the node share it.
  Status MakeKernel(Device* device, const Node& n,
                    std::shared_ptr<OpKernel>* kernel) {
    const bool shared = n.op_def().is_stateful && !n.IsArg() && !n.IsRetval() &&
                        !n.IsSend() && !n.IsRecv();
    const std::string key =
        shared ? absl::StrCat(device->name(), ";", n.name()) : "";
    if (shared) {
      MutexLock lock(&mu_);
      auto it = stateful_kernels_.find(key);
      if (it != stateful_kernels_.end()) {
        *kernel = it->second;
        return OkStatus();
      }
    }
    std::unique_ptr<OpKernel> made;
    HR_RETURN_IF_ERROR(CreateNodeKernel(device, n, &made));
    *kernel = std::move(made);
    if (shared) {
      MutexLock lock(&mu_);
      *kernel = stateful_kernels_.emplace(key, *kernel).first->second;
    }
    return OkStatus();
  }

  Status CheckRunOptions(const pb::RunOptions& options,
                         ThreadPool** pool) const {
    if (options.debug_options().debug_tensor_watch_opts_size() > 0) {
      return errors::Unimplemented(
          "RunOptions.debug_options: watching tensors is not supported");
    }
    if (options.headrace().memory_budget_bytes() < 0) {
      return errors::InvalidArgument("RunOptions: memory_budget_bytes is ",
                                     options.headrace().memory_budget_bytes(),
                                     ", wanted 0 or more");
    }
    return resources_->inter->Find(options.inter_op_thread_pool(), pool);
  }

  Status Execute(const PreparedStep& step, const pb::RunOptions& options,
                 const RunTime& time, const FeedPointers& feeds,
                 std::vector<Tensor>* outputs, pb::RunMetadata* metadata,
                 RunToken token) {
    RefillMemoryReserve();
    ThreadPool* pool = inter_;
    if (&options != &pb::RunOptions::default_instance()) {
      HR_RETURN_IF_ERROR(CheckRunOptions(options, &pool));
    }
    for (size_t i = 0; i < step.feeds.size(); ++i) {
      HR_RETURN_IF_ERROR(step.CheckFeed(i, *feeds[i]));
    }
    int64_t elements = 0;
    absl::Time start;
    if (step.may_run_long) {
      const bool may_be_cut = time.timeout > 0 || (token.manager != nullptr &&
                                                   token.leaves_kernels);
      for (const Tensor* t : feeds) elements += t->NumElements();
      start = absl::Now();
      if (may_be_cut || step.MayRunLong(elements)) {
        const Status s = ExecuteUntil(time, step, options, pool, feeds, outputs,
                                      metadata, token);
        if (s.ok()) step.Ran(elements, absl::Now() - start);
        return s;
      }
    }
    WholeRun run(step.fetches.size());
    run.frame.args = feeds;
    HR_RETURN_IF_ERROR(Begin(step, options, pool, metadata != nullptr, &run));
    // Whatever happens the run leaves the list of those in progress.
    const Status s = CatchExceptions([&] {
      {
        const RunLimits limits(time.timeout, time.Left(), token.manager, &run);
        run.RunParts(step, token.waits);
      }
      if (step.may_run_long && run.complete) {
        step.Ran(elements, absl::Now() - start);
      }
      return End(step, options, &run, outputs, metadata);
    });
    running_.Leave(&run.running);
    return s;
  }

  // On a thread of its own, so that this one can leave the run if it is in a
  // kernel that takes long when the run is cancelled or the session closed.
  Status ExecuteUntil(const RunTime& time, const PreparedStep& step,
                      const pb::RunOptions& options, ThreadPool* pool,
                      const FeedPointers& feeds, std::vector<Tensor>* outputs,
                      pb::RunMetadata* metadata, RunToken token) {
    const auto run =
        std::make_shared<LeavableRun>(step.shared_from_this(), feeds);
    HR_RETURN_IF_ERROR(
        Begin(step, options, pool, metadata != nullptr, run.get()));
    // What may refer to the session goes before the session may go.
    const auto left = [this, r = run.get(), gate = gate_] {
      r->Clear();
      running_.Leave(&r->running);
      gate->Leave();
    };
    if (!gate_->Enter()) return Inside(gate_.get()).status();  // cannot be
    std::string why;
    bool through = true;
    const Status s = CatchExceptions([&] {
      const RunLimits limits(time.timeout, time.Left(), token.manager,
                             run.get());
      through = LeavableRun::RunAndWait(run, token.waits, left, &why);
      return through ? End(step, options, run.get(), outputs, metadata)
                     : run->running.cancellation.status();
    });
    if (through) left();
    return Annotate(s, why);
  }

  int64_t NextStepId() {
    return next_step_.fetch_add(1, std::memory_order_relaxed);
  }

  Status Begin(const PreparedStep& step, const pb::RunOptions& options,
               ThreadPool* pool, bool wants_metadata, WholeRun* run) {
    const int64_t budget = BudgetOf(options);
    bool all_known = true;
    if (budget != 0) [[unlikely]] {
      HR_RETURN_IF_ERROR(step.CheckBudget(run->frame.args, budget, &all_known));
    }
    HR_RETURN_IF_ERROR(running_.Enter(&run->running));
    const Status s = CatchExceptions([&] {
      run->Begin(NextStepId(), step, &run->frame, pool, functions_.get());
      // Beside an arena there may be memory for what did not come as planned.
      if (budget == 0) run->TakeArena(step);
      if (!all_known) run->LimitMemory(budget);
      run->Trace(options, wants_metadata, wants_metadata && ReportsCosts(step));
      return OkStatus();
    });
    if (!s.ok()) running_.Leave(&run->running);
    return s;
  }

  Status End(const PreparedStep& step, const pb::RunOptions& options,
             WholeRun* run, std::vector<Tensor>* outputs,
             pb::RunMetadata* metadata) {
    run->Report(step, options, metadata);
    if (run->notes != nullptr && run->complete) [[unlikely]] {
      step.PlanArena(run->frame.args, *run->notes);
    }
    for (int i : step.handle_fetches) {
      if (run->complete && run->frame.values[i].IsInitialized()) {
        KeepSessionTensor(run->frame.values[i], &run->resources);
      }
    }
    return run->Results(step, *graph(), outputs);
  }

  bool ReportsCosts(const PreparedStep& step) const {
    if (options_.cost_graph_every <= 0) return false;
    const int64_t run = step.runs.fetch_add(1, std::memory_order_relaxed) -
                        options_.cost_graph_after;
    return run >= 0 && (run + 1) % options_.cost_graph_every == 0;
  }

  const SessionOptions options_;
  const std::shared_ptr<Resources> resources_;
  const RefPtr<SessionTensors> session_tensors_ = MakeRef<SessionTensors>();
  const RefPtr<AlgorithmTuner> tuner_;
  ThreadPool* inter_ = nullptr;
  std::vector<Device*> device_list_;
  std::shared_ptr<SessionFunctions> functions_;
  std::atomic<int64_t> next_step_{1};
  // Owned by a pointer, so that Leak can let go of it.
  std::unique_ptr<RunningSteps> owned_running_ =
      std::make_unique<RunningSteps>();
  RunningSteps& running_ = *owned_running_;
  // Callers are inside, and work that goes on when they have left: partial
  // runs, runs that were left, calls of functions that no step waits for.
  const std::shared_ptr<ForkGate> gate_ = std::make_shared<ForkGate>();

  // The graph's mutex is never held with mu_.
  Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<OpKernel>> stateful_kernels_
      GUARDED_BY(mu_);
  // The same.
  std::unique_ptr<PartialRuns> partial_runs_ = std::make_unique<PartialRuns>();
  std::unique_ptr<StepCache> steps_ = std::make_unique<StepCache>();
};

}  // namespace

void ResetDirectSessions(const std::vector<std::string>& containers) {
  LiveSessions* live = LiveSessions::Get();
  std::vector<DirectSession*> sessions;
  {
    MutexLock lock(&live->mu);
    live->ForgetParent();
    for (auto& [session, pins] : live->pins) {
      ++pins;
      sessions.push_back(session);
    }
  }
  // What a cancelled step calls may make or delete sessions.
  for (DirectSession* s : sessions) s->Reset(containers);
  MutexLock lock(&live->mu);
  for (DirectSession* s : sessions) --live->pins[s];
  live->unpinned.SignalAll();
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
  devices.name_prefix = kPrefix;
  devices.pool =
      resources->intra ? resources->intra.get() : ThreadPool::Global();
  HR_RETURN_IF_ERROR(
      DeviceFactories::CreateDevices(devices, &resources->devices));
  *out = std::make_unique<DirectSession>(std::move(options),
                                         std::move(resources), std::move(tuner),
                                         std::move(graph));
  return OkStatus();
}

}  // namespace headrace
