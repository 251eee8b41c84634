// Inlining: a call node is replaced by the body of its function, so that the
// other passes see through it and nothing is left to do at run time.
//
// A call means more than its body: it starts when all its inputs are there,
// runs what has side effects whether or not a result is used, and whoever waits
// for it waits for all of that. So nodes of the body that wait for nothing else
// of the body get the call's control inputs; if the body has effects, results
// and control outputs of the call wait for them. Where values can be dead even
// that would not be enough: graphs and bodies with control flow are left alone,
// and so are bodies whose kernels keep state or name a resource by their node,
// which all calls of the function share.
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "graph/function_body.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {
namespace {

// A graph does not grow by more than this, nor calls out of calls deeper.
constexpr int kMaxInlinedNodes = 50'000;
constexpr int kMaxDepth = 64;

// Calls that came out of calls, innermost first.
struct Origin {
  std::string function;
  std::shared_ptr<const Origin> outer;
  int depth = 1;
};

struct Call {
  Node* node;
  std::shared_ptr<const Origin> origin;  // null: the graph's own
};

// What a call node calls; false if it is none, or asks not to be inlined.
bool Callee(const Node& n, NameAttrList* f) {
  if (n.attrs().Find("_noinline") != nullptr) return false;
  if (IsFunctionCall(n)) {
    f->name = n.type_string();
    f->attrs = std::make_shared<AttrMap>(n.attrs());
    return true;
  }
  return n.node_class() == OpClass::kFunctionCall && n.attrs().Get("f", f).ok();
}

bool MayBeCopied(const FunctionBody& body) {
  bool ok = true;
  body.graph->ForEachNode([&](const Node* n) {
    if (n->IsControlFlow() || n->IsSend() || n->IsRecv()) ok = false;
    if (!n->op_def().is_stateful) return;
    std::string name;
    if (n->attrs().Find("seed") != nullptr ||
        (n->attrs().Get("shared_name", &name).ok() && name.empty())) {
      ok = false;
    }
  });
  return ok;
}

class Inliner {
 public:
  Inliner(const GraphPassContext& context, Graph* graph)
      : context_(context), graph_(graph) {}

  Status Run(int* changes) {
    bool control_flow = false;
    std::vector<Call> calls;
    NameAttrList f;
    graph_->ForEachNode([&](Node* n) {
      control_flow |= n->IsControlFlow();
      if (Callee(*n, &f)) calls.push_back({n, nullptr});
    });
    if (control_flow) return OkStatus();
    const int first_new = graph_->num_node_ids();
    while (!calls.empty()) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      const Call call = calls.back();
      calls.pop_back();
      bool done = false;
      HR_RETURN_IF_ERROR(TryInline(call, &calls, &done));
      if (done) ++*changes;
    }
    if (*changes == 0) return OkStatus();
    // Of the arguments more is known now than in the body alone.
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph_, &order));
    for (Node* n : order) {
      // What does not fit is left to fail when it is run.
      if (n->id() >= first_new) graph_->InferShapes(n).IgnoreError();
    }
    return OkStatus();
  }

 private:
  // Null if the body is not valid: the call then fails when it is run.
  const FunctionBody* FindBody(const NameAttrList& f) {
    const AttrMap none;
    const AttrMap& attrs = f.attrs == nullptr ? none : *f.attrs;
    for (const auto& [known, body] : bodies_[f.name]) {
      if (known == attrs) return body.get();
    }
    auto built = BuildFunctionBody(graph_->shared_functions(), f.name, attrs,
                                   graph_->versions());
    auto body = built.ok() && MayBeCopied(*built)
                    ? std::make_unique<FunctionBody>(*std::move(built))
                    : nullptr;
    return bodies_[f.name].emplace_back(attrs, std::move(body)).second.get();
  }

  Status TryInline(const Call& call, std::vector<Call>* calls, bool* done) {
    NameAttrList f;
    if (!Callee(*call.node, &f)) return OkStatus();
    for (const Origin* o = call.origin.get(); o; o = o->outer.get()) {
      if (o->function == f.name) return OkStatus();  // recursion
    }
    const int depth = call.origin == nullptr ? 0 : call.origin->depth;
    if (depth >= kMaxDepth) return OkStatus();
    const FunctionBody* body = FindBody(f);
    if (body == nullptr || !Fits(*call.node, *body) ||
        inlined_ + body->graph->num_nodes() > kMaxInlinedNodes) {
      return OkStatus();
    }
    inlined_ += body->graph->num_nodes();
    const auto origin =
        std::make_shared<const Origin>(Origin{f.name, call.origin, depth + 1});
    *done = true;
    return Inline(call.node, *body, origin, calls);
  }

  static bool Fits(const Node& call, const FunctionBody& body) {
    return DataTypeVector(call.input_types()) == body.arg_types &&
           DataTypeVector(call.output_types()) == body.ret_types;
  }

  StatusOr<Node*> AddNoOp(const std::string& name, const Node& call) {
    NodeDef def;
    def.name = graph_->UniqueName(name);
    def.op = "NoOp";
    def.device = call.requested_device();
    def.source = call.def().source;
    return graph_->AddNode(std::move(def), {});
  }

  // Copies the body's nodes, and connects them to each other and to what the
  // call was given.
  Status Copy(Node* call, const FunctionBody& body,
              const std::shared_ptr<const Origin>& origin,
              std::vector<Call>* calls, std::vector<Node*>* copies) {
    const std::string prefix = absl::StrCat(call->name(), "/");
    const std::string source =
        absl::StrCat("function '", origin->function, "', called by ",
                     NodeErrorSuffix(call->def()));
    std::vector<Node*> order;
    body.graph->ForEachNode([&](Node* n) { order.push_back(n); });
    copies->assign(body.graph->num_node_ids(), nullptr);
    NameAttrList f;
    for (const Node* n : order) {
      if (n->IsArg() || n->IsRetval()) continue;
      NodeDef def = n->def();
      def.name = graph_->UniqueName(absl::StrCat(prefix, n->name()));
      def.device = call->requested_device();
      def.source = source;
      MoveColocation(prefix, *body.graph, &def);
      HR_ASSIGN_OR_RETURN(Node * copy,
                          graph_->AddUnconnectedNode(std::move(def)));
      for (int i = 0; i < n->num_outputs(); ++i) {
        graph_->SetOutputShape(copy, i, n->output_shape(i));
      }
      (*copies)[n->id()] = copy;
      if (Callee(*copy, &f)) calls->push_back({copy, origin});
    }
    for (const Node* n : order) {
      Node* const copy = (*copies)[n->id()];
      if (copy == nullptr) continue;
      bool waits = false;
      for (const Edge* e : n->data_inputs()) {
        waits |= !e->src()->IsArg();
        HR_RETURN_IF_ERROR(
            graph_->AddEdge(Resolve(*call, *copies, e->src(), e->src_output()),
                            copy, e->dst_input()));
      }
      for (const Edge* e : n->control_inputs()) {
        if (e->src()->IsArg()) {
          graph_->AddControlEdge(Resolve(*call, *copies, e->src(), 0).node,
                                 copy);
        } else {
          waits = true;
          graph_->AddControlEdge((*copies)[e->src()->id()], copy);
        }
      }
      if (waits) continue;
      for (const Edge* e : call->control_inputs()) {
        graph_->AddControlEdge(e->src(), copy);
      }
    }
    return OkStatus();
  }

  // Colocation within the body stays; with other nodes it has no meaning.
  static void MoveColocation(const std::string& prefix, const Graph& body,
                             NodeDef* def) {
    std::vector<std::string> old, groups;
    if (!def->attrs.Get("_class", &old).ok()) return;
    for (const std::string& group : old) {
      absl::string_view name = group;
      if (absl::ConsumePrefix(&name, "loc:@") &&
          body.FindNode(name) != nullptr) {
        groups.push_back(absl::StrCat("loc:@", prefix, name));
      }
    }
    if (groups.empty()) {
      def->attrs.Erase("_class");
    } else {
      def->attrs.Set("_class", std::move(groups));
    }
  }

  // What stands for an output of a node of the body.
  static Endpoint Resolve(const Node& call, const std::vector<Node*>& copies,
                          const Node* n, int output) {
    if (!n->IsArg()) return {copies[n->id()], output};
    int64_t index = 0;
    n->attrs().Get("index", &index).IgnoreError();  // _Arg has it
    const Edge* e = call.input_edge(static_cast<int>(index));
    return {e->src(), e->src_output()};
  }

  Status Inline(Node* call, const FunctionBody& body,
                const std::shared_ptr<const Origin>& origin,
                std::vector<Call>* calls) {
    const bool is_target = context_.targets.contains(call->name());
    std::vector<Node*> copies;
    HR_RETURN_IF_ERROR(Copy(call, body, origin, calls, &copies));

    bool has_control_output = is_target;
    for (const Edge* e : call->out_edges()) {
      has_control_output |= e->IsControlEdge();
    }
    // Waits for what the call runs for its own sake and, if somebody waits for
    // the call as a whole, for its results.
    Node* end = nullptr;
    if (has_control_output || !body.effects.empty()) {
      HR_ASSIGN_OR_RETURN(
          end, AddNoOp(absl::StrCat(call->name(), "/output_control"), *call));
      for (const Node* n : body.effects) {
        graph_->AddControlEdge(
            n->IsArg() ? Resolve(*call, copies, n, 0).node : copies[n->id()],
            end);
      }
    }
    std::vector<Endpoint> results;
    for (const Node* ret : body.rets) {
      const Edge* e = ret->input_edge(0);
      results.push_back(Resolve(*call, copies, e->src(), e->src_output()));
    }
    if (has_control_output) {
      // If the body has effects, the results wait for them below. The call's
      // end is then another node: a result cannot wait for itself.
      for (const Endpoint& r : results) graph_->AddControlEdge(r.node, end);
      for (const Edge* e : call->control_inputs()) {
        graph_->AddControlEdge(e->src(), end);
      }
    }
    const std::vector<const Edge*> out(call->out_edges().begin(),
                                       call->out_edges().end());
    const bool through_identity =
        !body.effects.empty() || !call->control_inputs().empty();
    for (const Edge* e : out) {
      if (e->IsControlEdge()) {
        graph_->AddControlEdge(end, e->dst());
        continue;
      }
      Endpoint& r = results[e->src_output()];
      if (through_identity) {
        HR_ASSIGN_OR_RETURN(r, Delay(*call, e->src_output(), r, end));
      }
      HR_RETURN_IF_ERROR(graph_->ReplaceInput(e->dst(), e->dst_input(), r));
    }
    const std::string name = call->name();
    const std::string device = call->requested_device();
    graph_->RemoveNode(call);
    if (is_target) {
      // Somebody asked for a node of this name.
      NodeDef def;
      def.name = name;
      def.op = "NoOp";
      def.device = device;
      HR_RETURN_IF_ERROR(graph_->AddNode(std::move(def), {}, {end}).status());
    }
    delayed_.clear();
    return OkStatus();
  }

  // An Identity of `value` that waits for `end` or, without effects, for the
  // call's control inputs. One for each result.
  StatusOr<Endpoint> Delay(const Node& call, int output, Endpoint value,
                           Node* end) {
    Node*& n = delayed_[output];
    if (n == nullptr) {
      NodeDef def;
      def.name =
          graph_->UniqueName(absl::StrCat(call.name(), "/output_", output));
      def.op = "Identity";
      def.device = call.requested_device();
      def.source = call.def().source;
      std::vector<Node*> control;
      if (end != nullptr) control.push_back(end);
      for (const Edge* e : call.control_inputs()) control.push_back(e->src());
      HR_ASSIGN_OR_RETURN(n, graph_->AddNode(std::move(def), {value}, control));
    }
    return Endpoint{n, 0};
  }

  const GraphPassContext& context_;
  Graph* const graph_;
  int inlined_ = 0;
  absl::flat_hash_map<
      std::string,
      std::vector<std::pair<AttrMap, std::unique_ptr<FunctionBody>>>>
      bodies_;
  absl::flat_hash_map<int, Node*> delayed_;  // of the call at hand, by output
};

}  // namespace

Status InlineFunctions(const GraphPassContext& context, Graph* graph,
                       int* changes) {
  if (graph->functions() == nullptr) return OkStatus();
  return Inliner(context, graph).Run(changes);
}

}  // namespace headrace
