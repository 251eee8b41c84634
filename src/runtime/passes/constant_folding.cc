// Constant folding: a pure node whose inputs are all constants is computed
// once, here, and its outputs become constants. Bounded: outputs must have a
// known size of at most kMaxFoldedBytes, so that a folded graph does not grow
// beyond what its author wrote; views of a constant may be larger. A node that
// fails is left to fail at run time.
//
// In loops, invariants that are constants outside count as constants, too: so
// the weights that a cell of a recurrent network cuts into pieces are cut once.
// A constant of a loop or a branch waits for a node there, its anchor, so that
// it is dead where that is; what is computed of it has the same anchors. What
// is computed of invariants alone enters the loop as they do.
#include <map>
#include <vector>

#include "absl/algorithm/container.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "graph/constant_eval.h"
#include "headrace/op_kernel.h"
#include "runtime/passes/graph_pass.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr int64_t kMaxFoldedBytes = 10 << 20;

// What a node's data inputs hold, if all are constants.
struct Inputs {
  std::vector<const Tensor*> values;
  std::vector<Node*> anchors;
  // An input that enters a loop.
  const Node* enter = nullptr;
};

bool FindInputs(const Node& n, Inputs* in) {
  for (const Edge* e : n.data_inputs()) {
    if (e == nullptr) return false;
    const Node* source = e->src();
    if (source->IsEnter()) {
      source = SourceOfInvariant({e->src(), e->src_output()}).node;
      for (const Node* at = e->src(); at != source;
           at = at->input_edge(0)->src()) {
        if (!at->control_inputs().empty()) return false;
      }
      if (FreeConstant(*source) == nullptr) return false;
      in->enter = e->src();
    }
    const Tensor* const value = ConstantValue(*source);
    if (value == nullptr) return false;
    in->values.push_back(value);
    for (const Edge* control : source->control_inputs()) {
      if (!absl::c_linear_search(in->anchors, control->src())) {
        in->anchors.push_back(control->src());
      }
    }
  }
  return true;
}

// The bytes of constant input 0 in another known shape: of any size, since both
// share them.
bool IsView(const Node& n) {
  return n.traits().output_buffer == OutputBuffer::kView &&
         n.num_outputs() == 1 && n.input_type(0) == n.output_type(0) &&
         n.output_shape(0).IsFullyDefined();
}

bool Foldable(const GraphPassContext& context, const Node& n) {
  if (n.IsConstant() || !IsPure(n) || !n.control_inputs().empty() ||
      n.out_edges().empty() || context.targets.contains(n.name()) ||
      !KernelRegistry::Global()->HasKernel(DEVICE_CPU, n.def())) {
    return false;
  }
  if (IsView(n)) return true;
  for (int i = 0; i < n.num_outputs(); ++i) {
    const int64_t elements = n.output_shape(i).num_elements();
    const int64_t bytes =
        MultiplyWithoutOverflow(elements, DataTypeObjectSize(n.output_type(i)));
    if (bytes < 0 || bytes > kMaxFoldedBytes) return false;
  }
  return true;
}

bool Evaluate(const Node& n, const Inputs& in, std::vector<Tensor>* outputs) {
  if (IsView(n)) {
    TensorShape shape;
    return n.output_shape(0).AsTensorShape(&shape) &&
           outputs->emplace_back().CopyFrom(*in.values[0], shape);
  }
  std::vector<Tensor> inputs;
  for (const Tensor* value : in.values) inputs.push_back(*value);
  return EvaluateNode(n, inputs, outputs).ok();
}

// A node that enters the loops that `enter` enters, with the value of `c`.
StatusOr<Node*> EnterAs(Graph* graph, const Node& enter, Node* c) {
  std::vector<const Node*> loops;  // from the innermost on
  for (const Node* n = &enter; n->IsEnter(); n = n->input_edge(0)->src()) {
    loops.push_back(n);
  }
  const std::string name = StrCat(c->name(), "/enter");
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    NodeDef def = (*loop)->def();
    def.name = graph->UniqueName(name);
    def.device = c->requested_device();
    def.source = c->def().source;
    def.attrs.Set("T", c->output_type(0));
    HR_ASSIGN_OR_RETURN(c, graph->AddNode(std::move(def), {{c, 0}}));
  }
  return c;
}

// Output `i` of `n` as a constant.
StatusOr<Node*> AddFolded(Graph* graph, const Node& n, const Inputs& in, int i,
                          const Tensor& value) {
  NodeDef def;
  def.name = graph->UniqueName(StrCat(n.name(), "/folded_", i));
  def.op = "Const";
  def.device = n.requested_device();
  def.source = n.def().source;
  def.attrs.Set("dtype", value.dtype());
  def.attrs.Set("value", value);
  HR_ASSIGN_OR_RETURN(Node * c, graph->AddNode(std::move(def), {}));
  for (Node* anchor : in.anchors) graph->AddControlEdge(anchor, c);
  if (in.anchors.empty() && in.enter != nullptr) {
    return EnterAs(graph, *in.enter, c);
  }
  return c;
}

}  // namespace

Status FoldConstants(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(*graph, &order));
  for (Node* n : order) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    std::vector<Tensor> values;
    Inputs in;
    if (n->num_inputs() == 0 || !FindInputs(*n, &in) ||
        !Foldable(context, *n) || !Evaluate(*n, in, &values)) {
      continue;
    }
    // What waits for the node waits for its anchors; if there is none, for
    // nothing.
    std::map<int, Node*> made;  // by output
    const std::vector<const Edge*> out(n->out_edges().begin(),
                                       n->out_edges().end());
    for (const Edge* e : out) {
      if (e->IsControlEdge()) {
        Node* const waits = e->dst();
        graph->RemoveEdge(e);
        for (Node* anchor : in.anchors) graph->AddControlEdge(anchor, waits);
        continue;
      }
      Node*& c = made[e->src_output()];
      if (c == nullptr) {
        HR_ASSIGN_OR_RETURN(c, AddFolded(graph, *n, in, e->src_output(),
                                         values[e->src_output()]));
      }
      HR_RETURN_IF_ERROR(graph->ReplaceInput(e->dst(), e->dst_input(), {c, 0}));
    }
    graph->RemoveNode(n);
    ++*changes;
  }
  return OkStatus();
}

}  // namespace headrace
