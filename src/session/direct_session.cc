#include "session/direct_session.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/thread_pool.h"
#include "base/waiting_threads.h"
#include "device/cpu/cpu_device.h"
#include "framework/algorithm_tuner.h"
#include "framework/session_tensors.h"
#include "graph/algorithm.h"
#include "graph/client_graph.h"
#include "graph/importer.h"
#include "graph/partition.h"
#include "runtime/cost_graph.h"
#include "runtime/deadline_timer.h"
#include "runtime/executor.h"
#include "runtime/function_runtime.h"
#include "runtime/graph_pass.h"
#include "runtime/pending_calls.h"
#include "runtime/placer.h"
#include "runtime/running_kernels.h"
#include "session/inter_op_pools.h"
#include "session/partial_run.h"
#include "session/prepared_step.h"
#include "session/session_options.h"
#include "session/uninitialized.h"

namespace headrace {

namespace {

// Memory plans that a step keeps, by shapes.
constexpr size_t kMaxPlans = 64;
constexpr char kPrefix[] = "/job:localhost/replica:0/task:0";

// Feeds in, fetches out.
class StepFrame : public CallFrame {
 public:
  explicit StepFrame(size_t num_fetches) : values(num_fetches) {}
  const Tensor* GetArg(int i) const override {
    return i >= 0 && i < static_cast<int>(args.size()) ? args[i] : nullptr;
  }
  Status SetRetval(int i, const Tensor& value) override {
    if (i < 0 || i >= static_cast<int>(values.size())) {
      return errors::InvalidArgument("Retval index ", i, " of ", values.size());
    }
    values[i] = value;
    return OkStatus();
  }

  absl::InlinedVector<const Tensor*, 4> args;
  std::vector<Tensor> values;
};

// A step in progress, in the session's list while it runs.
struct RunningStep {
  // `why` and what the step is waiting for.
  Status Explain(const Status& why) {
    return Annotate(why, pending.Describe());
  }

  CancellationManager cancellation;
  PendingCalls pending;
  std::string report;  // goes into the message of a failure
  int pins = 0;        // by who cancels it without the session's lock
  RunningStep* previous = nullptr;
  RunningStep* next = nullptr;
};

// One run of a prepared step.
struct StepRun {
  explicit StepRun(size_t num_fetches) : frame(num_fetches) {}

  StepFrame frame;
  RunningStep running;
  ResourceMgr resources;
  RefPtr<Rendezvous> rendezvous;
  StepArgs args;
  std::optional<StepFunctions> functions;
  std::unique_ptr<StepStatsCollector> stats;  // null: not wanted
  bool traced = false, costs = false;
  bool complete = false;
};

// One that its caller may leave to the thread on which it runs.
struct LeavableRun : StepRun {
  using StepRun::StepRun;

  // What may refer to the session goes before the run leaves its list.
  void Clear() {
    functions.reset();
    resources.Clear();
    frame.args.clear();
    frame.values.clear();
    feeds.clear();
  }

  std::shared_ptr<const PreparedStep> step;
  std::vector<Tensor> feeds;
  RunningKernels kernels;
  // Set by the end of the run and by who leaves it: whoever is second sees to
  // the rest.
  std::atomic<bool> first_is_through{false};
  Notification done;   // and not left
  Notification event;  // done, or cancelled
};

class DirectSession;

// All sessions of the process, for ResetDirectSessions.
struct LiveSessions {
  Mutex mu;
  CondVar unpinned;
  std::map<DirectSession*, int> pins GUARDED_BY(mu);  // by who resets them
  static LiveSessions* Get() {
    static LiveSessions* const live = new LiveSessions;
    return live;
  }
};

class DirectSession : public Session {
 public:
  // `tuner` may be null.
  DirectSession(SessionOptions options, std::unique_ptr<InterOpPools> pools,
                RefPtr<AlgorithmTuner> tuner, std::shared_ptr<Graph> graph)
      : Session(std::move(graph)),
        options_(std::move(options)),
        tuner_(std::move(tuner)) {
    if (options_.intra_op_threads > 0) {
      resources_->intra = std::make_unique<ThreadPool>(
          options_.intra_op_threads, "headrace_intra");
    }
    resources_->inter = std::move(pools);
    inter_ = resources_->inter->first();
    resources_->devices = NewCpuDevices(
        options_.num_cpu_devices, kPrefix,
        resources_->intra ? resources_->intra.get() : ThreadPool::Global());
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
    functions_ = std::make_shared<SessionFunctions>(device_list_, inter_,
                                                    options_.disabled_passes);
    running_.next = running_.previous = &running_;
    LiveSessions* live = LiveSessions::Get();
    MutexLock lock(&live->mu);
    live->pins[this] = 0;
  }

  ~DirectSession() override {
    {
      LiveSessions* live = LiveSessions::Get();
      MutexLock lock(&live->mu);
      while (live->pins[this] > 0) live->unpinned.Wait(&live->mu);
      live->pins.erase(this);
    }
    Close().IgnoreError();
    {
      MutexLock lock(&mu_);
      partial_runs_.clear();
    }
    {
      MutexLock lock(&mu_);
      while (running_.next != &running_) idle_.Wait(&mu_);
    }
    // Iterators call functions until they are gone, and may call one to end.
    steps_.clear();
    stateful_kernels_.clear();
    for (Device* d : device_list_) d->resource_manager()->Clear();
    functions_->Shutdown();
  }

  Status Run(const pb::RunOptions& options, absl::Span<const Feed> feeds,
             absl::Span<const Endpoint> fetches,
             absl::Span<Node* const> targets, std::vector<Tensor>* outputs,
             pb::RunMetadata* metadata,
             CancellationManager* cancellation) override {
    HR_RETURN_IF_ERROR(CheckOpen());
    std::shared_ptr<PreparedStep> step;
    HR_RETURN_IF_ERROR(FindOrCompile(feeds, fetches, targets, &step));
    absl::InlinedVector<const Tensor*, 4> args;
    for (const Feed& f : feeds) args.push_back(&f.second);
    return Execute(*step, options, args, outputs, metadata, cancellation);
  }

  StatusOr<std::shared_ptr<Prepared>> Prepare(
      absl::Span<const Endpoint> feeds, absl::Span<const Endpoint> fetches,
      absl::Span<Node* const> targets) override {
    HR_RETURN_IF_ERROR(CheckOpen());
    std::shared_ptr<PreparedStep> step;
    HR_RETURN_IF_ERROR(
        Compile(feeds, fetches, targets, /*partial=*/false, &step));
    return std::shared_ptr<Prepared>(std::move(step));
  }

  Status RunPrepared(const Prepared& prepared, const pb::RunOptions& options,
                     absl::Span<const Tensor> feeds,
                     std::vector<Tensor>* outputs, pb::RunMetadata* metadata,
                     CancellationManager* cancellation) override {
    HR_RETURN_IF_ERROR(CheckOpen());
    const auto& step = static_cast<const PreparedStep&>(prepared);
    if (step.session != this) {
      return errors::InvalidArgument(
          "the callable was prepared by another session");
    }
    if (feeds.size() != step.feeds.size()) {
      return errors::InvalidArgument("Expected ", step.feeds.size(),
                                     " feed tensors, but got ", feeds.size());
    }
    absl::InlinedVector<const Tensor*, 4> args;
    for (const Tensor& t : feeds) args.push_back(&t);
    return Execute(step, options, args, outputs, metadata, cancellation);
  }

  Status PlanMemory(absl::Span<const std::pair<Endpoint, TensorShape>> feeds,
                    absl::Span<const Endpoint> fetches,
                    absl::Span<Node* const> targets,
                    MemoryPlan* plan) override {
    HR_RETURN_IF_ERROR(CheckOpen());
    std::shared_ptr<PreparedStep> step;
    HR_RETURN_IF_ERROR(FindOrCompile(feeds, fetches, targets, &step));
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
    return PlanStep(*step, shapes, plan);
  }

  Status Close() override {
    std::vector<RunningStep*> steps;
    {
      MutexLock lock(&mu_);
      closed_.store(true, std::memory_order_release);
      for (RunningStep* s = running_.next; s != &running_; s = s->next) {
        ++s->pins;
        steps.push_back(s);
      }
    }
    // What a cancelled step calls may come back to this session.
    for (RunningStep* s : steps) {
      s->cancellation.StartCancel(
          s->Explain(errors::Cancelled("Session has been closed.")));
    }
    {
      MutexLock lock(&mu_);
      for (RunningStep* s : steps) --s->pins;
      idle_.SignalAll();
    }
    if (tuner_ != nullptr) tuner_->Stop();
    return OkStatus();
  }

  Status PRunSetup(absl::Span<const Endpoint> feeds,
                   absl::Span<const Endpoint> fetches,
                   absl::Span<Node* const> targets,
                   std::string* handle) override {
    HR_RETURN_IF_ERROR(CheckOpen());
    std::shared_ptr<PreparedStep> step;
    HR_RETURN_IF_ERROR(
        Compile(feeds, fetches, targets, /*partial=*/true, &step));
    auto p = std::make_shared<PartialStep>(std::move(step));
    HR_RETURN_IF_ERROR(Enter(&p->running));
    {
      MutexLock lock(&mu_);
      *handle = absl::StrCat(next_partial_run_++);
      partial_runs_.emplace(*handle, p);
    }
    StartPartial(p);
    return OkStatus();
  }

  Status PRun(const std::string& handle, const pb::RunOptions& options,
              absl::Span<const Feed> feeds, absl::Span<const Endpoint> fetches,
              std::vector<Tensor>* outputs,
              CancellationManager* cancellation) override {
    HR_RETURN_IF_ERROR(CheckOpen());
    ThreadPool* unused;  // the executors run already
    HR_RETURN_IF_ERROR(CheckRunOptions(options, &unused));
    std::shared_ptr<PartialStep> p;
    {
      MutexLock lock(&mu_);
      auto it = partial_runs_.find(handle);
      if (it == partial_runs_.end()) {
        return errors::InvalidArgument(
            "Must run 'setup' before performing partial runs! (handle '",
            handle, "')");
      }
      p = it->second;
    }
    std::vector<std::pair<std::string, Tensor>> feed_list;
    for (const Feed& f : feeds) {
      feed_list.emplace_back(EndpointName(f.first), f.second);
    }
    std::vector<std::string> fetch_list;
    for (const Endpoint& f : fetches) fetch_list.push_back(EndpointName(f));

    auto end = [&p](const Status& why) {
      const Status full = p->running.Explain(why);
      Abort(p->args, &p->running, full);
      return full;
    };
    CancellationManager::Token token = 0;
    if (cancellation != nullptr) {
      token = cancellation->NextToken();
      if (!cancellation->RegisterCallback(token, [&end] {
            end(errors::Cancelled("Run was cancelled.")).IgnoreError();
          })) {
        end(errors::Cancelled("Run was cancelled.")).IgnoreError();
      }
    }
    const int64_t timeout = TimeoutOf(options);
    bool complete = false;
    Status s = p->run.Call(feed_list, fetch_list, timeout, outputs, &complete);
    if (errors::IsDeadlineExceeded(s)) s = end(s);
    // The last call waits for the targets too.
    if (s.ok() && complete) {
      s = p->run.Wait(timeout);
      if (errors::IsDeadlineExceeded(s)) s = end(s);
    }
    for (size_t i = 0; s.ok() && i < fetches.size(); ++i) {
      if (IsSessionHandle(fetches[i])) {
        KeepSessionTensor((*outputs)[i], &p->step_resources);
      }
    }
    if (cancellation != nullptr) cancellation->DeregisterCallback(token);
    if (complete || p->running.cancellation.IsCancelled()) {
      MutexLock lock(&mu_);
      partial_runs_.erase(handle);
    }
    return s;
  }

  void PRunClose(const std::string& handle) override {
    std::shared_ptr<PartialStep> p;
    {
      MutexLock lock(&mu_);
      auto it = partial_runs_.find(handle);
      if (it == partial_runs_.end()) return;
      p = std::move(it->second);
      partial_runs_.erase(it);
    }
    Abort(p->args, &p->running,
          errors::Cancelled("The partial run was ended."));
  }

  std::vector<Device*> ListDevices() override { return device_list_; }

  // Steps in progress keep what they hold of the containers.
  void Reset(const std::vector<std::string>& containers) {
    Close().IgnoreError();
    for (Device* d : device_list_) {
      ResourceMgr* mgr = d->resource_manager();
      if (containers.empty()) mgr->Cleanup(mgr->default_container());
      for (const std::string& c : containers) mgr->Cleanup(c);
    }
  }

 private:
  // What kernels refer to.
  struct Resources {
    std::unique_ptr<ThreadPool> intra;  // null: the process-wide pool
    std::unique_ptr<InterOpPools> inter;
    std::vector<std::unique_ptr<Device>> devices;
  };

  // A partial run in progress. The executors' last callback holds a reference.
  struct PartialStep {
    explicit PartialStep(std::shared_ptr<PreparedStep> step)
        : run(std::move(step)), left(run.step().parts.size()) {}
    PartialRun run;
    RunningStep running;
    ResourceMgr step_resources;
    RefPtr<Rendezvous> rendezvous;
    StepArgs args;
    std::optional<StepFunctions> functions;
    std::atomic<size_t> left;
    std::atomic<bool> complete{true};
  };

  void StartPartial(const std::shared_ptr<PartialStep>& p) {
    p->args.step_id = next_step_.fetch_add(1, std::memory_order_relaxed);
    p->args.cancellation = &p->running.cancellation;
    p->args.call_frame = &p->run;
    p->args.pool = inter_;
    p->args.step_resources = &p->step_resources;
    p->args.pending = &p->running.pending;
    p->functions.emplace(functions_.get(), &p->args);
    p->args.functions = &*p->functions;
    if (p->run.step().needs_rendezvous) {
      p->rendezvous = NewLocalRendezvous();
      p->args.rendezvous = p->rendezvous.get();
    }
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
        Leave(&p->running);
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

  using Signature = absl::InlinedVector<uint64_t, 12>;

  Status CheckOpen() const {
    if (closed_.load(std::memory_order_acquire)) [[unlikely]] {
      return errors::Cancelled("Session has been closed.");
    }
    return OkStatus();
  }

  // The step for feeds (pairs that begin with an endpoint), fetches and
  // targets.
  template <typename Fed>
  Status FindOrCompile(absl::Span<const Fed> feeds,
                       absl::Span<const Endpoint> fetches,
                       absl::Span<Node* const> targets,
                       std::shared_ptr<PreparedStep>* step) {
    Signature key;
    AppendToKey(feeds.size(), &key);
    for (const Fed& f : feeds) AppendToKey(f.first, &key);
    AppendToKey(fetches.size(), &key);
    for (const Endpoint& f : fetches) AppendToKey(f, &key);
    for (const Node* t : targets) AppendToKey({const_cast<Node*>(t), 0}, &key);
    {
      ReaderMutexLock lock(&steps_mu_);
      auto it = steps_.find(key);
      if (it != steps_.end()) {
        *step = it->second;
        return OkStatus();
      }
    }
    std::vector<Endpoint> feed_list;
    for (const Fed& f : feeds) feed_list.push_back(f.first);
    HR_RETURN_IF_ERROR(
        Compile(feed_list, fetches, targets, /*partial=*/false, step));
    MutexLock lock(&steps_mu_);
    // Another thread may have been first; its kernels are as good.
    *step = steps_.emplace(std::move(key), std::move(*step)).first->second;
    return OkStatus();
  }

  // The parts run at the same time, each with tensors of its own.
  static Status PlanStep(const PreparedStep& step,
                         absl::Span<const TensorShape> shapes,
                         MemoryPlan* plan) {
    *plan = MemoryPlan();
    for (const PreparedStep::Part& part : step.parts) {
      MemoryPlan p;
      HR_RETURN_IF_ERROR(headrace::PlanMemory(*part.graph, shapes,
                                              part.executor->kernels(),
                                              part.device->thread_pool(), &p));
      for (MemoryPlan::Block& b : p.blocks) {
        b.offset += plan->peak_bytes;
        plan->blocks.push_back(std::move(b));
      }
      plan->peak_bytes += p.peak_bytes;
      plan->total_bytes += p.total_bytes;
      plan->unknown.insert(plan->unknown.end(), p.unknown.begin(),
                           p.unknown.end());
    }
    if (step.parts.size() > 1) {
      std::stable_sort(
          plan->blocks.begin(), plan->blocks.end(),
          [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    }
    return OkStatus();
  }

  // ResourceExhausted if the tensors of a run with these feeds do not fit.
  static Status CheckBudget(const PreparedStep& step,
                            absl::Span<const Tensor* const> feeds,
                            int64_t budget) {
    std::string key;
    std::vector<TensorShape> shapes;
    for (const Tensor* t : feeds) {
      shapes.push_back(t->shape());
      absl::StrAppend(&key, t->shape().DebugString());
    }
    std::shared_ptr<const MemoryPlan> plan;
    {
      MutexLock lock(&step.plans_mu);
      const auto it = step.plans.find(key);
      if (it != step.plans.end()) plan = it->second;
    }
    if (plan == nullptr) {
      auto made = std::make_shared<MemoryPlan>();
      HR_RETURN_IF_ERROR(Annotate(PlanStep(step, shapes, made.get()),
                                  " (for the memory budget)"));
      plan = std::move(made);
      MutexLock lock(&step.plans_mu);
      if (step.plans.size() >= kMaxPlans) step.plans.clear();
      step.plans.emplace(std::move(key), plan);
    }
    if (plan->peak_bytes <= budget) return OkStatus();
    return errors::ResourceExhausted(
        "the tensors of the run take up to ", plan->peak_bytes,
        " bytes at once, the memory budget is ", budget,
        ". The largest: ", plan->Largest(5));
  }

  // A node's address is its own for the graph's life, and no node of another
  // graph gets past Compile into steps_.
  static void AppendToKey(size_t n, Signature* key) { key->push_back(n); }
  static void AppendToKey(const Endpoint& e, Signature* key) {
    key->push_back(reinterpret_cast<uintptr_t>(e.node));
    key->push_back(static_cast<uint32_t>(e.index));
  }

  Status Compile(absl::Span<const Endpoint> feeds,
                 absl::Span<const Endpoint> fetches,
                 absl::Span<Node* const> targets, bool partial,
                 std::shared_ptr<PreparedStep>* out) {
    if (fetches.empty() && targets.empty()) {
      return errors::InvalidArgument(
          "Must specify at least one target to fetch or execute.");
    }
    auto step = std::make_shared<PreparedStep>();
    step->resources = resources_;
    step->session = this;
    GraphPassContext context;
    std::unique_ptr<Graph> client;
    {
      ReaderMutexLock lock(&graph()->mu());
      for (const Endpoint& f : feeds) {
        step->feeds.push_back({EndpointName(f),
                               BaseType(f.node->output_type(f.index)),
                               f.node->output_shape(f.index)});
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
    if (partial) MakePartial(client.get(), step.get());
    HR_RETURN_IF_ERROR(RunGraphPasses(context, options_.disabled_passes,
                                      client.get(), nullptr));
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
          p.device, *part, control_flow,
          [this, &p](const Node& n, std::shared_ptr<OpKernel>* kernel) {
            return MakeKernel(p.device, n, kernel);
          },
          &p.executor));
      step->needs_rendezvous |= p.executor->needs_rendezvous();
      step->may_run_long |= p.executor->may_run_long();
      p.graph = std::move(part);
      step->parts.push_back(std::move(p));
    }
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

  // Lets _Arg nodes wait for their values, and notes what each fetch needs.
  static void MakePartial(Graph* client, PreparedStep* step) {
    std::vector<Node*> args, retvals;
    client->ForEachNode([&](Node* n) {
      if (n->IsArg()) args.push_back(n);
      if (n->IsRetval()) retvals.push_back(n);
    });
    auto index = [](const Node& n) {
      int32_t i = 0;
      n.attrs().Get("index", &i).IgnoreError();  // BuildClientGraph set it
      return i;
    };
    step->fetch_needs.resize(step->fetches.size());
    for (Node* r : retvals) {
      const std::vector<bool> needed = ReachableBackwards(*client, {r});
      for (const Node* a : args) {
        if (needed[a->id()]) step->fetch_needs[index(*r)].push_back(index(*a));
      }
    }
    for (Node* a : args) {
      client->SetNodeAttr(a, "_kernel", "partial");
      client->SetNodeAttr(a, "_feed", step->feeds[index(*a)].name);
    }
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

  using FeedPointers = absl::InlinedVector<const Tensor*, 4>;

  Status Execute(const PreparedStep& step, const pb::RunOptions& options,
                 const FeedPointers& feeds, std::vector<Tensor>* outputs,
                 pb::RunMetadata* metadata, CancellationManager* cancellation) {
    ThreadPool* pool = inter_;
    if (&options != &pb::RunOptions::default_instance()) {
      HR_RETURN_IF_ERROR(CheckRunOptions(options, &pool));
    }
    for (size_t i = 0; i < step.feeds.size(); ++i) {
      HR_RETURN_IF_ERROR(step.CheckFeed(i, *feeds[i]));
    }
    const int64_t budget = options.headrace().memory_budget_bytes() != 0
                               ? options.headrace().memory_budget_bytes()
                               : options_.memory_budget;
    if (budget != 0) [[unlikely]] {
      HR_RETURN_IF_ERROR(CheckBudget(step, feeds, budget));
    }
    const int64_t timeout = TimeoutOf(options);
    if (timeout > 0 && step.may_run_long) {
      return ExecuteUntil(timeout, step, options, pool, feeds, outputs,
                          metadata, cancellation);
    }
    StepRun run(step.fetches.size());
    run.frame.args = feeds;
    HR_RETURN_IF_ERROR(Enter(&run.running));
    Begin(step, options, pool, metadata != nullptr, &run);
    {
      const Limits limits(timeout, cancellation, &run);
      run.complete = RunParts(step, &run);
    }
    Report(step, options, &run, metadata);
    Leave(&run.running);
    return Results(step, &run, outputs);
  }

  // With a deadline: on a thread of its own, so that this one can leave the run
  // if it is in a kernel that takes long.
  Status ExecuteUntil(int64_t timeout, const PreparedStep& step,
                      const pb::RunOptions& options, ThreadPool* pool,
                      const FeedPointers& feeds, std::vector<Tensor>* outputs,
                      pb::RunMetadata* metadata,
                      CancellationManager* cancellation) {
    const auto run = std::make_shared<LeavableRun>(step.fetches.size());
    run->step = step.shared_from_this();
    run->feeds.reserve(feeds.size());
    for (const Tensor* t : feeds) {
      run->feeds.push_back(*t);
      run->frame.args.push_back(&run->feeds.back());
    }
    HR_RETURN_IF_ERROR(Enter(&run->running));
    Begin(step, options, pool, metadata != nullptr, run.get());
    run->args.running = &run->kernels;
    CancellationManager* const cancelled = &run->running.cancellation;
    if (!cancelled->RegisterCallback(cancelled->NextToken(),
                                     [r = run.get()] { r->event.Notify(); })) {
      run->event.Notify();
    }
    const Limits limits(timeout, cancellation, run.get());
    if (!StartWaitingThread([this, run] { RunAlone(run.get()); })) {
      RunAlone(run.get());
    }
    run->event.WaitForNotification();
    std::string waited_for;
    for (int ms = 0;
         !run->done.WaitForNotificationWithTimeout(absl::Milliseconds(1));) {
      // What can be interrupted ends by itself in this time.
      if (++ms < kGraceMs || !EndedFromOutside(cancelled->status())) continue;
      std::string which;
      if (!run->kernels.Leave(&which)) {
        if (!which.empty()) waited_for = std::move(which);
      } else if (!run->first_is_through.exchange(true)) {
        return Annotate(
            cancelled->status(),
            absl::StrCat("; left running: ", which,
                         ", which cannot be interrupted; what becomes of it is "
                         "dropped"));
      }
    }
    Report(step, options, run.get(), metadata);
    const Status s = Results(step, run.get(), outputs);
    run->Clear();
    Leave(&run->running);
    if (waited_for.empty() || s.ok()) return s;
    return Annotate(s, absl::StrCat("; waited for the end of ", waited_for,
                                    ", which changes state"));
  }

  void RunAlone(LeavableRun* run) {
    run->complete = RunParts(*run->step, run);
    if (!run->first_is_through.exchange(true)) {
      run->done.Notify();
      run->event.Notify();
      return;
    }
    run->Clear();
    Leave(&run->running);
  }

  static bool EndedFromOutside(const Status& s) {
    return errors::IsDeadlineExceeded(s) || errors::IsCancelled(s);
  }

  // The deadline of a run and its caller's token, while this lives.
  class Limits {
   public:
    Limits(int64_t timeout, CancellationManager* caller, StepRun* run)
        : caller_(caller) {
      if (timeout > 0) {
        deadline_ = std::make_unique<Deadline>(timeout, [run, timeout] {
          Abort(run->args, &run->running,
                run->running.Explain(errors::DeadlineExceeded(
                    "Timed out waiting for notification: the run was not "
                    "finished after ",
                    timeout, " ms")));
        });
      }
      if (caller == nullptr) return;
      token_ = caller->NextToken();
      if (!caller->RegisterCallback(token_, [run] {
            Abort(
                run->args, &run->running,
                run->running.Explain(errors::Cancelled("Run was cancelled.")));
          })) {
        Abort(run->args, &run->running,
              errors::Cancelled("Run was cancelled."));
      }
    }
    ~Limits() {
      if (caller_ != nullptr) caller_->DeregisterCallback(token_);
    }
    Limits(const Limits&) = delete;
    Limits& operator=(const Limits&) = delete;

   private:
    CancellationManager* const caller_;
    CancellationManager::Token token_ = 0;
    std::unique_ptr<Deadline> deadline_;
  };

  void Begin(const PreparedStep& step, const pb::RunOptions& options,
             ThreadPool* pool, bool wants_metadata, StepRun* run) {
    StepArgs& args = run->args;
    args.step_id = next_step_.fetch_add(1, std::memory_order_relaxed);
    args.cancellation = &run->running.cancellation;
    args.call_frame = &run->frame;
    args.pool = pool;
    args.step_resources = &run->resources;
    args.pending = &run->running.pending;
    run->functions.emplace(functions_.get(), &args);
    args.functions = &*run->functions;
    if (step.needs_rendezvous) {
      run->rendezvous = NewLocalRendezvous();
      args.rendezvous = run->rendezvous.get();
    }
    run->traced =
        wants_metadata && options.trace_level() != pb::RunOptions::NO_TRACE;
    run->costs = wants_metadata && ReportsCosts(step);
    if (run->traced || run->costs ||
        options.report_tensor_allocations_upon_oom()) {
      run->stats = std::make_unique<StepStatsCollector>();
      args.stats = run->stats.get();
    }
  }

  // Whether all parts are complete.
  static bool RunParts(const PreparedStep& step, StepRun* run) {
    if (step.parts.size() == 1) [[likely]] {
      return step.parts[0].executor->Run(run->args);
    }
    std::atomic<size_t> left{step.parts.size()};
    std::atomic<bool> all{true};
    Notification done;
    auto finished = [&](bool c) {
      if (!c) all = false;
      if (left.fetch_sub(1) == 1) done.Notify();
    };
    for (size_t i = 1; i < step.parts.size(); ++i) {
      Executor* e = step.parts[i].executor.get();
      if (run->args.pool == nullptr) {
        e->RunAsync(run->args, finished);
        continue;
      }
      run->args.pool->Schedule(
          [run, &finished, e] { e->RunAsync(run->args, finished); });
    }
    step.parts[0].executor->RunAsync(run->args, finished);
    done.WaitForNotification();
    return all;
  }

  void Report(const PreparedStep& step, const pb::RunOptions& options,
              StepRun* run, pb::RunMetadata* metadata) {
    if (!run->complete && options.report_tensor_allocations_upon_oom()) {
      ReportAllocations(run->stats.get(), &run->running);
    }
    if (metadata != nullptr) {
      metadata->Clear();
      pb::StepStats step_stats;
      pb::RunCounters counters;
      if (run->stats != nullptr) run->stats->Finish(&step_stats, &counters);
      for (const PreparedStep::Part& p : step.parts) {
        if (run->costs) {
          AddCosts(*p.graph, p.device->name(), step_stats,
                   metadata->mutable_cost_graph());
        }
        if (options.output_partition_graphs()) {
          GraphToGraphDef(*p.graph, metadata->add_partition_graphs());
        }
      }
      if (run->traced) {
        *metadata->mutable_step_stats() = std::move(step_stats);
        *metadata->mutable_headrace_counters() = counters;
      }
    }
    for (int i : step.handle_fetches) {
      if (run->complete && run->frame.values[i].IsInitialized()) {
        KeepSessionTensor(run->frame.values[i], &run->resources);
      }
    }
  }

  Status Results(const PreparedStep& step, StepRun* run,
                 std::vector<Tensor>* outputs) {
    // One that was cancelled when all had been done is as good as any.
    if (!run->complete) [[unlikely]] {
      return Annotate(
          ListUninitialized(run->running.cancellation.status(), step, *graph()),
          run->running.report);
    }
    std::vector<Tensor>& values = run->frame.values;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].IsInitialized()) [[unlikely]] {
        return errors::InvalidArgument(
            "Retval[", i, "] does not have value: ", step.fetches[i]);
      }
    }
    if (outputs != nullptr) *outputs = std::move(values);
    return OkStatus();
  }

  bool ReportsCosts(const PreparedStep& step) const {
    if (options_.cost_graph_every <= 0) return false;
    const int64_t run = step.runs.fetch_add(1, std::memory_order_relaxed) -
                        options_.cost_graph_after;
    return run >= 0 && (run + 1) % options_.cost_graph_every == 0;
  }

  static void ReportAllocations(StepStatsCollector* stats,
                                RunningStep* running) {
    if (!errors::IsResourceExhausted(running->cancellation.status())) return;
    const std::string largest = stats->LargestOutputs();
    running->report =
        absl::StrCat("\n\t Largest tensors that the step had made: ",
                     largest.empty() ? "none" : largest);
  }

  static void Abort(const StepArgs& args, RunningStep* running,
                    const Status& why) {
    running->cancellation.StartCancel(why);
    if (args.rendezvous != nullptr) args.rendezvous->StartAbort(why);
  }

  Status Enter(RunningStep* s) {
    MutexLock lock(&mu_);
    HR_RETURN_IF_ERROR(CheckOpen());
    s->previous = running_.previous;
    s->next = &running_;
    running_.previous->next = s;
    running_.previous = s;
    return OkStatus();
  }
  void Leave(RunningStep* s) {
    MutexLock lock(&mu_);
    // Before it leaves the list: the session may go when the list is empty.
    while (s->pins > 0) idle_.Wait(&mu_);
    s->previous->next = s->next;
    s->next->previous = s->previous;
    if (running_.next == &running_) idle_.SignalAll();
  }

  // How long a cancelled run may take to end before it is left.
  static constexpr int kGraceMs = 3;

  const SessionOptions options_;
  const std::shared_ptr<Resources> resources_ = std::make_shared<Resources>();
  const RefPtr<SessionTensors> session_tensors_ = MakeRef<SessionTensors>();
  const RefPtr<AlgorithmTuner> tuner_;
  ThreadPool* inter_ = nullptr;
  std::vector<Device*> device_list_;
  std::shared_ptr<SessionFunctions> functions_;
  std::atomic<bool> closed_{false};
  std::atomic<int64_t> next_step_{1};

  // Lock order: the graph's mutex and steps_mu_ are never held with mu_.
  Mutex mu_;
  CondVar idle_;         // signalled when the last step leaves
  RunningStep running_;  // head of a ring; linked under mu_
  absl::flat_hash_map<std::string, std::shared_ptr<OpKernel>> stateful_kernels_
      GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<PartialStep>> partial_runs_
      GUARDED_BY(mu_);
  int64_t next_partial_run_ GUARDED_BY(mu_) = 0;
  Mutex steps_mu_;
  absl::flat_hash_map<Signature, std::shared_ptr<PreparedStep>> steps_
      GUARDED_BY(steps_mu_);
};

}  // namespace

void ResetDirectSessions(const std::vector<std::string>& containers) {
  LiveSessions* live = LiveSessions::Get();
  std::vector<DirectSession*> sessions;
  {
    MutexLock lock(&live->mu);
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
  std::unique_ptr<InterOpPools> pools;
  HR_RETURN_IF_ERROR(SessionOptions::FromConfig(config, &options));
  HR_RETURN_IF_ERROR(InterOpPools::Make(options, &pools));
  RefPtr<AlgorithmTuner> tuner;
  if (options.wants_tuner) {
    HR_ASSIGN_OR_RETURN(tuner, AlgorithmTuner::Create(options.tuning));
  }
  *out = std::make_unique<DirectSession>(std::move(options), std::move(pools),
                                         std::move(tuner), std::move(graph));
  return OkStatus();
}

}  // namespace headrace
