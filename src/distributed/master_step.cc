#include "distributed/master_step.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "distributed/rpc.h"
#include "distributed/strip_defaults.h"
#include "distributed/task_calls.h"
#include "graph/algorithm.h"
#include "graph/client_graph.h"
#include "graph/partition.h"
#include "headrace/importer.h"
#include "headrace/types.h"
#include "runtime/placer.h"

namespace headrace {
namespace {

std::string FullName(const Endpoint& e) {
  return StrCat(e.node->name(), ":", e.index);
}

Status FindEndpoint(const Graph& graph, const std::string& name,
                    const char* what, Endpoint* out) {
  std::string node;
  int index = 0;
  HR_RETURN_IF_ERROR(ParseEndpointName(name, &node, &index));
  out->node = graph.FindNode(node);
  if (out->node == nullptr) {
    return errors::NotFound(what, " node ", name, ": not found");
  }
  if (index < 0 || index >= out->node->num_outputs()) {
    return errors::InvalidArgument(what, " ", name, ": node has ",
                                   out->node->num_outputs(), " outputs");
  }
  out->index = index;
  return OkStatus();
}

// What a feed or fetch is called in the rendezvous of its step.
std::string ClientKey(const Device& client, const std::string& name) {
  return Rendezvous::CreateKey(client.name(), client.attributes().incarnation,
                               client.name(), name);
}

// Puts a node that the client terminates in the place of an _Arg or _Retval:
// `op` is _Recv or _Send.
StatusOr<Node*> AddTerminal(const char* op, const Node& old,
                            const std::string& name, DataType dtype,
                            const Device& client, Graph* graph) {
  NodeDef def;
  const bool recv = op[1] == 'R';
  std::string stem = StrCat(recv ? "_recv_" : "_send_", name);
  std::replace(stem.begin(), stem.end(), ':', '_');
  def.name = graph->UniqueName(stem);
  def.op = op;
  def.device = client.name();
  def.source = old.def().source;
  def.attrs = {
      {"tensor_name", name},
      {"send_device", client.name()},
      {"send_device_incarnation",
       static_cast<int64_t>(client.attributes().incarnation)},
      {"recv_device", client.name()},
      {"client_terminated", true},
  };
  def.attrs.Set(recv ? "tensor_type" : "T", dtype);
  HR_ASSIGN_OR_RETURN(Node * made, graph->AddUnconnectedNode(std::move(def)));
  made->set_assigned_device(client.name());
  made->set_placement_reason(recv ? "fed by the client"
                                  : "fetched by the client");
  return made;
}

// Of a graph with collective ops: the same in all graphs with the same
// instances. 0 if it has none.
int64_t GraphKey(const Graph& graph) {
  std::set<int64_t> instances;
  bool has_any = false;
  graph.ForEachNode([&](const Node* n) {
    if (!absl::StartsWith(n->type_string(), "Collective")) return;
    has_any = true;
    int32_t instance = 0;
    if (n->def().attrs.Get("instance_key", &instance).ok()) {
      instances.insert(instance);
    }
  });
  if (!has_any) return 0;
  uint64_t hash = 14695981039346656037u;  // FNV
  for (const int64_t i : instances) {
    hash = (hash ^ static_cast<uint64_t>(i)) * 1099511628211u;
  }
  return static_cast<int64_t>(hash >> 1) | 1;
}

// Finds what the client names, and fills feeds and fetches of the step.
StatusOr<std::unique_ptr<Graph>> Prune(Graph* whole,
                                       const MasterStep::Request& request,
                                       const Device& client, MasterStep* step) {
  ReaderMutexLock lock(&whole->mu());
  std::vector<Endpoint> feeds(request.feeds.size()),
      fetches(request.fetches.size());
  std::vector<Node*> targets;
  for (size_t i = 0; i < feeds.size(); ++i) {
    HR_RETURN_IF_ERROR(
        FindEndpoint(*whole, request.feeds[i], "FeedInputs", &feeds[i]));
    step->feeds.push_back(
        {request.feeds[i], ClientKey(client, FullName(feeds[i])),
         BaseType(feeds[i].node->output_type(feeds[i].index))});
  }
  for (size_t i = 0; i < fetches.size(); ++i) {
    HR_RETURN_IF_ERROR(
        FindEndpoint(*whole, request.fetches[i], "FetchOutputs", &fetches[i]));
    step->fetches.push_back(
        {request.fetches[i], ClientKey(client, FullName(fetches[i])), {}});
  }
  for (const std::string& name : request.targets) {
    std::string node;
    int index = 0;
    HR_RETURN_IF_ERROR(ParseEndpointName(name, &node, &index));
    targets.push_back(whole->FindNode(node));
    if (targets.back() == nullptr) {
      return errors::NotFound("TargetNodes node ", name, ": not found");
    }
  }
  return BuildClientGraph(*whole, feeds, fetches, targets, client.name());
}

// Which feeds each fetch needs.
void FindNeeds(const Graph& graph, const std::vector<Node*>& args,
               const std::vector<Node*>& retvals, MasterStep* step) {
  for (size_t r = 0; r < retvals.size(); ++r) {
    const std::vector<bool> needed = ReachableBackwards(graph, {retvals[r]});
    for (size_t a = 0; a < args.size(); ++a) {
      if (needed[args[a]->id()]) {
        step->fetches[r].needs.push_back(static_cast<int>(a));
      }
    }
  }
}

// Puts nodes that the client terminates in the place of _Args and _Retvals.
Status AddTerminals(const std::vector<Node*>& args,
                    const std::vector<Node*>& retvals, const Device& client,
                    const MasterStep& step, Graph* graph) {
  const auto name_of = [](const std::string& key) {
    Rendezvous::ParsedKey parsed;
    Rendezvous::ParseKey(key, &parsed).IgnoreError();  // made above
    return std::string(parsed.edge_name);
  };
  for (size_t i = 0; i < retvals.size(); ++i) {
    Node* const r = retvals[i];
    const Edge* const e = r->input_edge(0);
    const Endpoint from{e->src(), e->src_output()};
    HR_ASSIGN_OR_RETURN(
        Node * send, AddTerminal("_Send", *r, name_of(step.fetches[i].key),
                                 BaseType(from.node->output_type(from.index)),
                                 client, graph));
    graph->RemoveNode(r);
    HR_RETURN_IF_ERROR(graph->AddEdge(from, send, 0));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    Node* const a = args[i];
    HR_ASSIGN_OR_RETURN(Node * recv,
                        AddTerminal("_Recv", *a, name_of(step.feeds[i].key),
                                    a->output_type(0), client, graph));
    const std::vector<const Edge*> edges(a->out_edges().begin(),
                                         a->out_edges().end());
    for (const Edge* e : edges) {
      Node* const dst = e->dst();
      if (e->IsControlEdge()) {
        graph->AddControlEdge(recv, dst);
      } else {
        HR_RETURN_IF_ERROR(graph->ReplaceInput(dst, e->dst_input(), {recv, 0}));
      }
    }
    graph->RemoveNode(a);
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<Graph>> BuildStepGraph(
    Graph* graph, const MasterStep::Request& request, const Device& client,
    MasterStep* step) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<Graph> part,
                      Prune(graph, request, client, step));
  step->graph_key = GraphKey(*part);
  std::vector<Node*> args, retvals;
  HR_RETURN_IF_ERROR(FindArgsAndRetvals(*part, step->feeds.size(),
                                        step->fetches.size(), &args, &retvals));
  FindNeeds(*part, args, retvals, step);
  HR_RETURN_IF_ERROR(AddTerminals(args, retvals, client, *step, part.get()));
  return part;
}

PlacerOptions PlacerOptionsOf(const pb::ConfigProto& config) {
  return {.allow_soft_placement = config.allow_soft_placement(),
          .log_placement = config.log_device_placement()};
}

Status PlaceAndSplit(const pb::ConfigProto& config,
                     const std::vector<Device*>& devices,
                     const StatePlaces& state, std::unique_ptr<Graph> graph,
                     std::map<std::string, std::unique_ptr<Graph>>* parts) {
  HR_RETURN_IF_ERROR(
      PlaceGraph(PlacerOptionsOf(config), devices, state, graph.get()));

  PartitionOptions partition;
  absl::flat_hash_map<absl::string_view, uint64_t> incarnations;
  for (const Device* d : devices) {
    incarnations[d->name()] = d->attributes().incarnation;
  }
  partition.incarnation = [&](const std::string& name) -> uint64_t {
    const auto it = incarnations.find(name);
    return it == incarnations.end() ? 0 : it->second;
  };
  partition.part_of = [](const std::string& device) {
    std::string task;
    TaskOfDevice(device, &task).IgnoreError();  // checked in Start
    return task;
  };
  return PartitionGraph(partition, std::move(graph), parts);
}

Status RegisterParts(const CallOptions& options, const pb::ConfigProto& config,
                     bool from_network, bool control_flow,
                     std::map<std::string, std::unique_ptr<Graph>> graphs,
                     MasterStep* step) {
  struct Registrations : TaskCalls {
    std::map<std::string, pb::RegisterGraphResponse> responses;
  };
  auto calls = std::make_shared<Registrations>();
  const std::string& self = step->session.workers->local_name();
  WorkerCache* const workers = step->session.workers.get();
  std::vector<std::string> tasks;
  for (const auto& [task, graph] : graphs) {
    tasks.push_back(task);
    calls->responses[task];
  }
  for (auto& [task, graph] : graphs) {
    HR_ASSIGN_OR_RETURN(WorkerInterface * worker, workers->Find(task));
    pb::RegisterGraphRequest request;
    request.set_session_handle(step->session.handle);
    request.set_create_worker_session_called(true);
    request.set_has_control_flow(control_flow);
    *request.mutable_graph_options() = config.graph_options();
    GraphToGraphDef(*graph, request.mutable_graph_def());
    if (task != self) StripNewDefaultAttrs(request.mutable_graph_def());
    step->parts.push_back({task, worker, "", task == self});
    CallOptions call;
    call.cancellation = calls->cancellation();
    call.timeout = options.timeout;
    call.from_network = from_network;  // of use to this process's worker
    worker->RegisterGraph(
        call, std::move(request), &calls->responses[task],
        [calls, task = task](const Status& s) { calls->End(task, s); });
    graph.reset();
  }
  const Status s = calls->Wait("RegisterGraph", options,
                               absl::InfiniteDuration(), tasks, *workers);
  for (MasterStep::Part& p : step->parts) {
    if (!calls->Succeeded(p.task)) continue;
    p.graph_handle = calls->responses[p.task].graph_handle();
  }
  return s;
}

// Tasks may forget the step's graphs. After the session's end they have.
MasterStep::~MasterStep() {
  if (session.open == nullptr || !*session.open) return;
  for (const Part& p : parts) {
    if (p.graph_handle.empty()) continue;
    pb::DeregisterGraphRequest request;
    request.set_session_handle(session.handle);
    request.set_create_worker_session_called(true);
    request.set_graph_handle(p.graph_handle);
    CallOptions options;
    options.timeout = kCloseTimeout;
    p.worker->DeregisterGraph(options, request, [](const Status&) {});
  }
}

}  // namespace headrace
