// TF_NewWhile, TF_FinishWhile, TF_AbortWhile: loops built in place. The client
// describes the condition and the body in two small graphs, which are copied
// between the Enters, Merges, Switches, NextIterations and Exits of a loop.
#include <algorithm>

#include "absl/strings/match.h"
#include "base/exceptions.h"
#include "c_api/internal.h"
#include "c_api/live_objects.h"
#include "graph/algorithm.h"

using headrace::Endpoint;
using headrace::Graph;
using headrace::kControlSlot;
using headrace::MutexLock;
using headrace::Node;
using headrace::NodeDef;
using headrace::OkStatus;
using headrace::PartialTensorShape;
using headrace::Status;
using headrace::StatusOr;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

Endpoint ToEndpoint(const TF_Output& o) { return {ToNode(o.oper), o.index}; }

bool SameOutput(const TF_Output& a, const TF_Output& b) {
  return a.oper == b.oper && a.index == b.index;
}

// The dimensions in which two shapes agree.
PartialTensorShape Common(const PartialTensorShape& a,
                          const PartialTensorShape& b) {
  if (a.unknown_rank() || b.unknown_rank() || a.dims() != b.dims()) return {};
  std::vector<int64_t> dims;
  for (int i = 0; i < a.dims(); ++i) {
    dims.push_back(a.dim_size(i) == b.dim_size(i) ? a.dim_size(i) : -1);
  }
  PartialTensorShape common;
  return MakeShape(dims.data(), a.dims(), &common).ok() ? common
                                                        : PartialTensorShape();
}

class LoopBuilder {
 public:
  LoopBuilder(const TF_WhileParams& params, Graph* graph)
      : params_(params), graph_(graph), first_id_(graph->num_node_ids()) {}

  // Adds all nodes, or none on error.
  Status Build(TF_Output* outputs) {
    const Status s = BuildNodes(outputs);
    if (s.ok()) return s;
    for (int id = graph_->num_node_ids() - 1; id >= first_id_; --id) {
      if (Node* const n = graph_->node(id)) graph_->RemoveNode(n);
    }
    return s;
  }

 private:
  StatusOr<Node*> Add(const char* op, absl::Span<const Endpoint> inputs,
                      headrace::AttrMap attrs = {}) {
    NodeDef def;
    def.op = op;
    def.name = graph_->UniqueName(absl::StrCat(scope_, "/", op));
    def.attrs = std::move(attrs);
    return graph_->AddNode(std::move(def), inputs);
  }

  // Names begin with the loop's, or that and a number if it is taken.
  void ChooseScope() {
    const auto taken = [this] {
      bool found = false;
      graph_->ForEachNode([&](const Node* n) {
        found = found || n->name() == scope_ ||
                absl::StartsWith(n->name(), absl::StrCat(scope_, "/"));
      });
      return found;
    };
    scope_ = params_.name;
    for (int i = 1; taken(); ++i) scope_ = absl::StrCat(params_.name, "_", i);
  }

  // Copies a graph of the client, with `values` in place of its inputs, and
  // returns `results` in the copy. What has no inputs waits for `pivot`.
  Status Copy(const TF_Graph& from, const char* scope, const TF_Output* inputs,
              const std::vector<Endpoint>& values, Node* pivot,
              absl::Span<const TF_Output> results,
              std::vector<Endpoint>* copies) {
    headrace::ImportOptions options;
    options.prefix = absl::StrCat(scope_, "/", scope);
    options.skip_mapped_nodes = true;
    options.control_dependencies = {pivot};
    for (int i = 0; i < params_.ninputs; ++i) {
      const std::string& name = ToNode(inputs[i].oper)->name();
      options.input_map.emplace_back(absl::StrCat(name, ":0"), values[i]);
      options.input_map.emplace_back(absl::StrCat("^", name),
                                     Endpoint{pivot, kControlSlot});
    }
    for (const TF_Output& r : results) {
      if (InputIndex(inputs, r) < 0) {
        options.return_tensors.push_back(headrace::EndpointName(ToEndpoint(r)));
      }
    }
    pb::GraphDef def;
    headrace::GraphToGraphDef(*from.graph, &def);
    headrace::ImportResults imported;
    HR_RETURN_IF_ERROR(
        headrace::ImportGraphDef(options, def, graph_, &imported));
    size_t next = 0;
    for (const TF_Output& r : results) {
      const int i = InputIndex(inputs, r);
      copies->push_back(i >= 0 ? values[i] : imported.return_tensors[next++]);
    }
    return OkStatus();
  }
  int InputIndex(const TF_Output* inputs, const TF_Output& o) const {
    for (int i = 0; i < params_.ninputs; ++i) {
      if (SameOutput(inputs[i], o)) return i;
    }
    return -1;
  }

  Status BuildNodes(TF_Output* outputs) {
    ChooseScope();
    const int n = params_.ninputs;
    std::vector<Endpoint> merged, inside;
    for (int i = 0; i < n; ++i) {
      const TF_Output& initial = params_.cond_graph->parent_inputs[i];
      HR_RETURN_IF_ERROR(CheckOwned(*graph_, ToNode(initial.oper)));
      HR_ASSIGN_OR_RETURN(Node* const enter, Add("Enter", {ToEndpoint(initial)},
                                                 {{"frame_name", scope_}}));
      enters_.push_back(enter);
    }
    for (Node* enter : enters_) {
      HR_ASSIGN_OR_RETURN(Node* const merge,
                          Add("Merge", {{enter, 0}, {enter, 0}}));
      merged.push_back({merge, 0});
    }
    for (int i = 0; i < n; ++i) {
      const Endpoint next = ToEndpoint(params_.body_outputs[i]);
      graph_->SetOutputShape(merged[i].node, 0,
                             Common(enters_[i]->output_shape(0),
                                    next.node->output_shape(next.index)));
    }
    std::vector<Endpoint> cond, next;
    HR_RETURN_IF_ERROR(Copy(*params_.cond_graph, "cond", params_.cond_inputs,
                            merged, merged[0].node, {params_.cond_output},
                            &cond));
    HR_ASSIGN_OR_RETURN(Node* const loop_cond, Add("LoopCond", {cond[0]}));
    std::vector<Node*> branches;
    for (const Endpoint& m : merged) {
      HR_ASSIGN_OR_RETURN(Node* const branch,
                          Add("Switch", {m, {loop_cond, 0}}));
      branches.push_back(branch);
      inside.push_back({branch, 1});
    }
    // A Switch is alive after the last iteration, too; its output is not.
    HR_ASSIGN_OR_RETURN(Node* const pivot, Add("Identity", {inside[0]}));
    HR_RETURN_IF_ERROR(
        Copy(*params_.body_graph, "body", params_.body_inputs, inside, pivot,
             absl::MakeConstSpan(params_.body_outputs, n), &next));
    HR_RETURN_IF_ERROR(CheckShapes(merged, next));
    for (int i = 0; i < n; ++i) {
      HR_ASSIGN_OR_RETURN(Node* const iteration,
                          Add("NextIteration", {next[i]}));
      HR_RETURN_IF_ERROR(
          graph_->ReplaceInput(merged[i].node, 1, {iteration, 0}));
    }
    for (int i = 0; i < n; ++i) {
      HR_ASSIGN_OR_RETURN(Node* const exit, Add("Exit", {{branches[i], 0}}));
      outputs[i] = {ToOperation(exit), 0};
    }
    return OkStatus();
  }

  // If what the body computes does not have the shapes that it was given, no
  // shape in the loop is known.
  Status CheckShapes(const std::vector<Endpoint>& merged,
                     const std::vector<Endpoint>& next) {
    bool same = true;
    for (size_t i = 0; i < merged.size(); ++i) {
      const PartialTensorShape& wanted = merged[i].node->output_shape(0);
      const PartialTensorShape& got = next[i].node->output_shape(next[i].index);
      same = same && Common(wanted, got) == wanted;
    }
    if (same) return OkStatus();
    for (const Endpoint& m : merged) graph_->SetOutputShape(m.node, 0, {});
    std::vector<Node*> order, nodes;
    for (int id = first_id_; id < graph_->num_node_ids(); ++id) {
      Node* const n = graph_->node(id);
      const bool fixed = n == nullptr || n->IsEnter() ||
                         std::find(merged.begin(), merged.end(),
                                   Endpoint{n, 0}) != merged.end();
      if (!fixed) nodes.push_back(n);
    }
    HR_RETURN_IF_ERROR(headrace::TopologicalOrder(nodes, &order));
    for (Node* n : order) HR_RETURN_IF_ERROR(graph_->InferShapes(n));
    return OkStatus();
  }

  const TF_WhileParams& params_;
  Graph* const graph_;
  const int first_id_;
  std::string scope_;
  std::vector<Node*> enters_;
};

TF_WhileParams Empty() {
  return {0,       nullptr, nullptr, {nullptr, 0},
          nullptr, nullptr, nullptr, nullptr};
}

void Free(const TF_WhileParams& p) {
  TF_DeleteGraph(p.cond_graph);
  TF_DeleteGraph(p.body_graph);
  delete[] p.cond_inputs;
  delete[] p.body_inputs;
  delete[] p.body_outputs;
}

// Parameters that TF_NewWhile made.
bool IsOurs(const TF_WhileParams* p) {
  // Graphs that are gone: the parameters were used up before.
  return p != nullptr && LiveObjects<TF_Graph>::Contains(p->cond_graph) &&
         LiveObjects<TF_Graph>::Contains(p->body_graph) &&
         p->cond_graph->parent != nullptr &&
         p->cond_graph->parent == p->body_graph->parent &&
         LiveObjects<TF_Graph>::Contains(p->cond_graph->parent) &&
         p->ninputs > 0 &&
         static_cast<size_t>(p->ninputs) ==
             p->cond_graph->parent_inputs.size() &&
         p->cond_inputs != nullptr && p->body_inputs != nullptr &&
         p->body_outputs != nullptr;
}

// InvalidArgument unless `o` is an output of a node of `graph`.
Status CheckSet(const char* what, int i, const TF_Output& o,
                const TF_Graph* graph) {
  const std::string field =
      i < 0 ? std::string(what) : absl::StrCat(what, "[", i, "]");
  if (o.oper == nullptr) {
    return errors::InvalidArgument("TF_WhileParams `", field,
                                   "` field isn't set");
  }
  HR_RETURN_IF_ERROR(
      headrace::Annotate(CheckOwned(*graph->graph, ToNode(o.oper)),
                         absl::StrCat(" (TF_WhileParams `", field, "`)")));
  if (!IsOutput(o)) {
    return errors::InvalidArgument("TF_WhileParams `", field, "`: node '",
                                   ToNode(o.oper)->name(), "' has no output ",
                                   o.index);
  }
  return OkStatus();
}

Status Check(const TF_WhileParams& p) {
  HR_RETURN_IF_ERROR(CheckSet("cond_output", -1, p.cond_output, p.cond_graph));
  for (int i = 0; i < p.ninputs; ++i) {
    HR_RETURN_IF_ERROR(
        CheckSet("body_outputs", i, p.body_outputs[i], p.body_graph));
  }
  if (p.name == nullptr) {
    return errors::InvalidArgument("TF_WhileParams `name` field is null");
  }
  const auto type_of = [](const TF_Output& o) {
    return headrace::BaseType(ToNode(o.oper)->output_type(o.index));
  };
  if (type_of(p.cond_output) != headrace::DT_BOOL) {
    return errors::InvalidArgument(
        "TF_FinishWhile: `cond_output` has type ",
        headrace::DataTypeString(type_of(p.cond_output)), ", wanted bool");
  }
  for (int i = 0; i < p.ninputs; ++i) {
    const auto got = type_of(p.body_outputs[i]);
    const auto wanted = type_of(p.body_inputs[i]);
    if (got == wanted) continue;
    return errors::InvalidArgument(
        "TF_FinishWhile: `body_outputs[", i, "]` has type ",
        headrace::DataTypeString(got), ", wanted that of the variable, ",
        headrace::DataTypeString(wanted));
  }
  return OkStatus();
}

// A placeholder of the type and shape of `like`.
Status AddInput(const Endpoint& like, TF_Graph* graph, const std::string& name,
                TF_Output* out) {
  NodeDef def;
  def.op = "Placeholder";
  def.name = name;
  def.attrs.Set("dtype",
                headrace::BaseType(like.node->output_type(like.index)));
  HR_ASSIGN_OR_RETURN(Node* const n, graph->graph->AddNode(std::move(def), {}));
  graph->graph->SetOutputShape(n, 0, like.node->output_shape(like.index));
  *out = {ToOperation(n), 0};
  return OkStatus();
}

Status NewWhile(TF_Graph* g, const TF_Output* inputs, int ninputs,
                const TF_WhileParams& p) {
  EndpointList initial;
  HR_RETURN_IF_ERROR(
      ReadEndpoints("TF_NewWhile: inputs", inputs, ninputs, &initial));
  MutexLock lock(&g->graph->mu());
  for (int i = 0; i < ninputs; ++i) {
    HR_RETURN_IF_ERROR(CheckOwned(*g->graph, initial[i].node));
    p.body_outputs[i] = {nullptr, -1};
    HR_RETURN_IF_ERROR(AddInput(initial[i], p.cond_graph,
                                absl::StrCat("cond_input", i),
                                const_cast<TF_Output*>(&p.cond_inputs[i])));
    HR_RETURN_IF_ERROR(AddInput(initial[i], p.body_graph,
                                absl::StrCat("body_input", i),
                                const_cast<TF_Output*>(&p.body_inputs[i])));
  }
  for (TF_Graph* part : {p.cond_graph, p.body_graph}) {
    part->parent = g;
    part->parent_inputs.assign(inputs, inputs + ninputs);
    part->graph->versions() = g->graph->versions();
    // The parts may call the functions of the graph.
    if (g->graph->functions() == nullptr) {
      g->graph->set_functions(std::make_shared<headrace::FunctionLibrary>());
    }
    part->graph->set_functions(g->graph->shared_functions());
  }
  return OkStatus();
}

}  // namespace

TF_WhileParams TF_NewWhile(TF_Graph* g, TF_Output* inputs, int ninputs,
                           TF_Status* status) {
  if (g == nullptr || ninputs <= 0) {
    Set(status,
        errors::InvalidArgument(
            g == nullptr ? "TF_NewWhile: the graph is NULL"
                         : "TF_NewWhile() must be passed at least one input"));
    return Empty();
  }
  TF_Graph *cond = nullptr, *body = nullptr;
  TF_Output *cond_inputs = nullptr, *body_inputs = nullptr,
            *body_outputs = nullptr;
  Status s = headrace::CatchExceptions([&] {
    cond = TF_NewGraph();
    body = TF_NewGraph();
    cond_inputs = new TF_Output[ninputs];
    body_inputs = new TF_Output[ninputs];
    body_outputs = new TF_Output[ninputs];
    return OkStatus();
  });
  const TF_WhileParams params = {ninputs,       cond,   cond_inputs,
                                 {nullptr, -1}, body,   body_inputs,
                                 body_outputs,  nullptr};
  if (s.ok()) {
    s = headrace::CatchExceptions(
        [&] { return NewWhile(g, inputs, ninputs, params); });
  }
  Set(status, s);
  if (s.ok()) return params;
  Free(params);
  return Empty();
}

void TF_FinishWhile(const TF_WhileParams* params, TF_Status* status,
                    TF_Output* outputs) {
  if (!IsOurs(params) || outputs == nullptr) {
    return Set(status, errors::InvalidArgument(
                           outputs == nullptr
                               ? "TF_FinishWhile: outputs is NULL"
                               : "TF_WhileParams must be created by successful "
                                 "TF_NewWhile() call"));
  }
  Set(status, headrace::CatchExceptions([&] {
        HR_RETURN_IF_ERROR(Check(*params));
        Graph* const graph = params->cond_graph->parent->graph.get();
        MutexLock lock(&graph->mu());
        std::vector<TF_Output> exits(params->ninputs);
        HR_RETURN_IF_ERROR(LoopBuilder(*params, graph).Build(exits.data()));
        std::copy(exits.begin(), exits.end(), outputs);
        return OkStatus();
      }));
  Free(*params);
}

void TF_AbortWhile(const TF_WhileParams* params) {
  if (IsOurs(params)) Free(*params);
}
