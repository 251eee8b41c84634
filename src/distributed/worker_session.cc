#include "distributed/worker_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/strip.h"
#include "base/exceptions.h"
#include "base/thread_pool.h"
#include "distributed/task_collectives.h"
#include "graph/function_library.h"
#include "graph/partition.h"
#include "headrace/importer.h"
#include "runtime/cost_graph.h"
#include "runtime/help.h"
#include "runtime/memory_types.h"
#include "runtime/passes/graph_pass.h"
#include "session/session_options.h"

namespace headrace {
namespace {

// The master has pruned the graph: all of it is to run. What nothing reads is
// what passes have to keep.
GraphPassContext KeepSinks(const Graph& graph) {
  GraphPassContext context;
  graph.ForEachNode([&](const Node* n) {
    if (n->out_edges().empty()) context.targets.insert(n->name());
  });
  return context;
}

// Each as a node RecvTensor of the receiving device, as TensorFlow does.
void AddEdges(const std::vector<EdgeLog::Edge>& edges, pb::StepStats* stats) {
  for (const EdgeLog::Edge& e : edges) {
    pb::DeviceStepStats* device = nullptr;
    for (pb::DeviceStepStats& d : *stats->mutable_dev_stats()) {
      if (d.device() == e.to) device = &d;
    }
    if (device == nullptr) {
      device = stats->add_dev_stats();
      device->set_device(e.to);
    }
    pb::NodeExecStats* const n = device->add_node_stats();
    const int64_t asked = absl::ToUnixMicros(e.asked);
    const int64_t took = absl::ToInt64Microseconds(e.got - e.asked);
    n->set_node_name("RecvTensor");
    n->set_all_start_micros(asked);
    n->set_scheduled_micros(asked);
    n->set_op_end_rel_micros(took);
    n->set_all_end_rel_micros(took);
    n->set_timeline_label(
        StrCat("[", e.bytes, "B] ", e.name, " from ", e.from, " to ", e.to));
    pb::AllocationDescription* const bytes =
        n->add_output()
            ->mutable_tensor_description()
            ->mutable_allocation_description();
    bytes->set_requested_bytes(e.bytes);
    bytes->set_allocated_bytes(e.bytes);
    bytes->set_allocator_name("cpu");
  }
}

// Of graphs for which passes run before nodes have devices.
absl::flat_hash_set<std::string> DisabledPasses(
    const pb::ConfigProto::Headrace& settings,
    const std::vector<Device*>& devices) {
  pb::ConfigProto config;
  *config.mutable_headrace() = settings;
  SessionOptions options;
  SessionOptions::FromConfig(config, &options).IgnoreError();  // they are valid
  for (const Device* d : devices) {
    DisableHostPasses(*d, &options.disabled_passes);
  }
  return std::move(options.disabled_passes);
}

// Gives a value that is there, or passes it on.
bool HandsOut(const Node& n) {
  const OpTraits& traits = n.traits();
  return n.IsRecv() || n.IsSend() || n.IsConstant() || n.IsIdentity() ||
         n.IsNoOp() || traits.variable_use == VariableUse::kHolds ||
         (traits.output_buffer == OutputBuffer::kStored &&
          !HasAny(n.effects(), ~Effect::kReadsState));
}

bool OnlyHandsOut(const Graph& graph) {
  constexpr int kFew = 1000;
  bool only = graph.num_nodes() <= kFew;
  graph.ForEachNode([&](const Node* n) { only &= HandsOut(*n); });
  return only;
}

// The smaller one of two limits, of which 0 is none.
int64_t Smaller(int64_t a, int64_t b) {
  return a == 0 || b == 0 ? a + b : std::min(a, b);
}

}  // namespace

WorkerSession::WorkerSession(std::string handle,
                             std::shared_ptr<WorkerCache> workers,
                             std::shared_ptr<const void> resources,
                             std::vector<Device*> devices,
                             std::vector<std::unique_ptr<Device>> owned,
                             ThreadPool* pool, bool combines_frame_ids,
                             const pb::ConfigProto::Headrace& settings,
                             RefPtr<TaskCollectives> collectives)
    : handle_(std::move(handle)),
      workers_(std::move(workers)),
      resources_(std::move(resources)),
      owned_(std::move(owned)),
      devices_(std::move(devices)),
      pool_(pool),
      combines_frame_ids_(combines_frame_ids),
      settings_(settings),
      collectives_(std::move(collectives)),
      library_(Graph().shared_functions()) {
  functions_ = std::make_shared<SessionFunctions>(
      devices_, pool_, DisabledPasses(settings_, devices_),
      std::make_shared<ForkGate>());
}

WorkerSession::~WorkerSession() {
  kernels_.Clear();
  // Iterators call functions until they are gone, and may call one to end.
  for (const auto& d : owned_) d->resource_manager()->Clear();
  functions_->Shutdown();
  if (collectives_ != nullptr) collectives_->Shutdown();
}

Device* WorkerSession::FindDevice(const std::string& name) const {
  DeviceName wanted;
  if (name.empty() || !DeviceName::Parse(name, &wanted).ok()) return nullptr;
  for (Device* d : devices_) {
    if (wanted.Matches(d->parsed_name())) return d;
  }
  return nullptr;
}

Status WorkerSession::Register(const std::string& handle,
                               const pb::RegisterGraphRequest& request,
                               int64_t step_bytes) {
  if (request.debug_options().debug_tensor_watch_opts_size() > 0) {
    return errors::Unimplemented(
        "RegisterGraph: debug_options: watching tensors is not supported");
  }
  pb::ConfigProto config;
  *config.mutable_graph_options() = request.graph_options();
  *config.mutable_headrace() = settings_;
  SessionOptions options;
  HR_RETURN_IF_ERROR(SessionOptions::FromConfig(config, &options));

  auto graph = std::make_unique<Graph>();
  graph->set_functions(library_);
  ImportOptions import;
  import.extends = true;  // colocations may name nodes of other parts
  HR_RETURN_IF_ERROR(ImportGraphDef(import, request.graph_def(), graph.get()));
  if (graph->num_nodes() == 0) {
    return errors::InvalidArgument("RegisterGraph: the graph has no nodes");
  }
  bool control_flow = request.has_control_flow();
  Status s;
  graph->ForEachNode([&](Node* n) {
    control_flow |= n->IsControlFlow();
    Device* const d = FindDevice(n->requested_device());
    if (d == nullptr) {
      s.Update(errors::InvalidArgument(
          "RegisterGraph: node '", n->name(), "' is for device '",
          n->requested_device(), "', which ", workers_->local_name(),
          " does not have"));
      return;
    }
    n->set_assigned_device(d->name());
  });
  HR_RETURN_IF_ERROR(s);
  functions_->SetLibrary(*graph);

  PartitionOptions partition;
  partition.incarnation = [this](const std::string& name) {
    const Device* d = FindDevice(name);
    return d == nullptr ? 0 : d->attributes().incarnation;
  };
  partition.memory_of = MemoryOfNodes(devices_);
  std::map<std::string, std::unique_ptr<Graph>> parts;
  HR_RETURN_IF_ERROR(PartitionGraph(partition, std::move(graph), &parts));

  auto made = std::make_shared<RegisteredGraph>();
  made->session = shared_from_this();
  made->handle = handle;
  made->step_bytes = step_bytes;
  made->memory_budget = options.memory_budget;
  for (auto& [name, part_graph] : parts) {
    RegisteredGraph::Part part;
    part.device = FindDevice(name);
    part.graph = std::move(part_graph);
    GraphPassContext context = KeepSinks(*part.graph);
    context.devices = {part.device};
    absl::flat_hash_set<std::string> disabled = options.disabled_passes;
    DisableHostPasses(*part.device, &disabled);
    HR_RETURN_IF_ERROR(
        RunGraphPasses(context, disabled, part.graph.get(), &made->passes));
    HR_RETURN_IF_ERROR(Executor::Create(
        part.device, *part.graph,
        {.control_flow = control_flow,
         .combines_frame_ids = combines_frame_ids_},
        [&](const Node& n, std::shared_ptr<OpKernel>* kernel) {
          return kernels_.FindOrCreate(part.device, n, kernel);
        },
        &part.executor));
    made->only_hands_out &= OnlyHandsOut(*part.graph);
    made->parts.push_back(std::move(part));
  }
  MutexLock lock(&mu_);
  graphs_[handle] = std::move(made);
  return OkStatus();
}

Status WorkerSession::Deregister(const std::string& handle) {
  std::shared_ptr<RegisteredGraph> gone;
  MutexLock lock(&mu_);
  auto it = graphs_.find(handle);
  if (it == graphs_.end()) {
    return errors::Aborted("Graph handle is not found: ", handle, ". Possibly ",
                           workers_->local_name(), " just restarted.");
  }
  gone = std::move(it->second);
  graphs_.erase(it);
  return OkStatus();
}

Status WorkerSession::Find(const std::string& handle,
                           std::shared_ptr<RegisteredGraph>* out) const {
  MutexLock lock(&mu_);
  auto it = graphs_.find(handle);
  if (it == graphs_.end()) {
    return errors::Aborted("Graph handle is not found: ", handle, ". Possibly ",
                           workers_->local_name(), " just restarted.");
  }
  *out = it->second;
  (*out)->used.Touch();
  return OkStatus();
}

void WorkerSession::ClearIdle(absl::Time before) {
  std::vector<std::shared_ptr<RegisteredGraph>> gone;
  MutexLock lock(&mu_);
  for (auto it = graphs_.begin(); it != graphs_.end();) {
    if (it->second.use_count() == 1 && it->second->used.time() < before) {
      gone.push_back(std::move(it->second));
      it = graphs_.erase(it);
    } else {
      ++it;
    }
  }
}

void WorkerSession::Clear() {
  decltype(graphs_) gone;
  MutexLock lock(&mu_);
  gone.swap(graphs_);
}

GraphRun::GraphRun(std::shared_ptr<RegisteredGraph> graph, int64_t step_id,
                   RefPtr<StepRendezvous> rendezvous,
                   const pb::ExecutorOpts& options)
    : graph_(std::move(graph)),
      options_(options),
      rendezvous_(std::move(rendezvous)) {
  if (options.record_timeline() || options.record_costs()) {
    stats_ = std::make_unique<StepStatsCollector>();
    edges_ = std::make_shared<EdgeLog>();
    rendezvous_->SetLog(edges_);
  }
  args_.step_id = step_id;
  args_.cancellation = &cancellation_;
  args_.rendezvous = rendezvous_.get();
  args_.step_resources = &resources_;
  args_.session_handle = &graph_->session->handle();
  args_.stats = stats_.get();
  args_.pool = graph_->session->pool();
  args_.pending = &pending_;
  const int64_t asked = options_.headrace_memory_budget_bytes();
  const int64_t bytes =
      Smaller(graph_->step_bytes, asked > 0 ? asked : graph_->memory_budget);
  if (bytes > 0) {
    budget_ = MakeRef<StepBudget>(bytes);
    args_.budget = budget_.get();
  }
  functions_.emplace(graph_->session->functions(), &args_);
  args_.functions = &*functions_;
}

GraphRun::~GraphRun() {
  for (const auto& then : End()) then();  // if it was never started
}

std::vector<std::function<void()>> GraphRun::End() {
  std::vector<std::function<void()>> waiting;
  MutexLock lock(&mu_);
  ended_ = true;
  waiting.swap(when_ended_);
  return waiting;
}

void GraphRun::WhenEnded(std::function<void()> then) {
  {
    MutexLock lock(&mu_);
    if (!ended_) {
      when_ended_.push_back(std::move(then));
      return;
    }
  }
  then();
}

bool GraphRun::may_run_long() const {
  return std::any_of(
      graph_->parts.begin(), graph_->parts.end(),
      [](const auto& part) { return part.executor->may_run_long(); });
}

void GraphRun::StartAndHelp(std::function<void(const Status&)> done) {
  const auto self = shared_from_this();
  Start(&own_group_, [self, done = std::move(done)](const Status& s) {
    done(s);
    self->own_group_.Finish();
  });
  HelpUntilFinished(&own_group_, args_.pool, device()->thread_pool(),
                    CallersHelp(), nullptr);
}

void GraphRun::Start(TaskGroup* group,
                     std::function<void(const Status&)> done) {
  done_ = std::move(done);
  args_.group = group;
  // Other tasks that wait for tensors of this step learn that it has failed.
  const auto abort = [c = &cancellation_, r = rendezvous_] {
    r->StartAbort(Derived(c->status()));
  };
  if (!cancellation_.RegisterCallback(cancellation_.NextToken(), abort)) {
    abort();
  }
  parts_left_ = graph_->parts.size();
  const auto self = shared_from_this();
  const auto run = [self](Executor* e) {
    e->RunAsync(self->args_, [self](bool c) { self->PartEnded(c); });
  };
  for (size_t i = 1; i < graph_->parts.size(); ++i) {
    Executor* const e = graph_->parts[i].executor.get();
    graph_->session->pool()->Schedule([run, e] { run(e); }, group);
  }
  run(graph_->parts[0].executor.get());
}

void GraphRun::PartEnded(bool complete) {
  if (!complete) complete_ = false;
  if (parts_left_.fetch_sub(1) != 1) return;
  const auto waiting = End();
  const auto done = std::move(done_);
  done(complete_ ? OkStatus() : cancellation_.status());
  for (const auto& then : waiting) then();
}

void GraphRun::Abort(const Status& why) {
  cancellation_.StartCancel(Annotate(why, pending_.Describe()));
}

std::string GraphRun::DescribeWaits() {
  return std::string(
      absl::StripPrefix(pending_.Describe(), "; still waiting: "));
}

void GraphRun::Report(pb::RunGraphResponse* response) {
  pb::StepStats stats;
  pb::RunCounters counters;
  if (stats_ != nullptr) stats_->Finish(&stats, &counters);
  for (const RegisteredGraph::Part& p : graph_->parts) {
    if (options_.record_costs()) {
      AddCosts(*p.graph, p.device->name(), stats,
               response->mutable_cost_graph());
    }
    if (options_.record_partition_graphs()) {
      GraphToGraphDef(*p.graph, response->add_partition_graph());
    }
  }
  if (options_.record_timeline() || options_.record_partition_graphs()) {
    ReportPasses(graph_->passes, response->mutable_headrace_passes());
  }
  if (options_.record_timeline()) {
    *response->mutable_headrace_counters() = counters;
    AddEdges(edges_->Take(), &stats);
    *response->mutable_step_stats() = std::move(stats);
  }
}

}  // namespace headrace
