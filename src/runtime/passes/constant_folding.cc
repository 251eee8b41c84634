// Constant folding: a pure node whose inputs are all constants is computed
// once, here, and its outputs become constants. Bounded: outputs must have a
// known size of at most kMaxFoldedBytes, so that a folded graph does not grow
// beyond what its author wrote; views of a constant may be larger. A node that
// fails is left to fail at run time.
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "graph/constant_eval.h"
#include "headrace/op_kernel.h"
#include "runtime/passes/graph_pass.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr int64_t kMaxFoldedBytes = 10 << 20;

// The bytes of constant input 0 in another known shape: of any size, since both
// share them.
bool IsView(const Node& n) {
  return n.traits().output_buffer == OutputBuffer::kView &&
         n.num_outputs() == 1 && n.input_type(0) == n.output_type(0) &&
         n.output_shape(0).IsFullyDefined();
}

bool Foldable(const GraphPassContext& context, const Node& n) {
  if (n.num_inputs() == 0) return false;
  for (const Edge* e : n.data_inputs()) {
    if (e == nullptr || FreeConstant(*e->src()) == nullptr) return false;
  }
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

bool Evaluate(const Node& n, std::vector<Tensor>* outputs) {
  if (IsView(n)) {
    TensorShape shape;
    return n.output_shape(0).AsTensorShape(&shape) &&
           outputs->emplace_back().CopyFrom(
               *FreeConstant(*n.input_edge(0)->src()), shape);
  }
  std::vector<Tensor> inputs;
  for (const Edge* e : n.data_inputs()) {
    inputs.push_back(*FreeConstant(*e->src()));
  }
  return EvaluateNode(n, inputs, outputs).ok();
}

}  // namespace

Status FoldConstants(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(*graph, &order));
  for (Node* n : order) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    std::vector<Tensor> values;
    if (!Foldable(context, *n) || !Evaluate(*n, &values)) continue;
    std::map<int, Node*> made;  // by output
    const std::vector<const Edge*> out(n->out_edges().begin(),
                                       n->out_edges().end());
    for (const Edge* e : out) {
      // A control edge from a constant orders nothing.
      if (e->IsControlEdge()) {
        graph->RemoveEdge(e);
        continue;
      }
      Node*& c = made[e->src_output()];
      if (c == nullptr) {
        NodeDef def;
        def.name = graph->UniqueName(
            absl::StrCat(n->name(), "/folded_", e->src_output()));
        def.op = "Const";
        def.device = n->requested_device();
        def.source = n->def().source;
        def.attrs.Set("dtype", values[e->src_output()].dtype());
        def.attrs.Set("value", values[e->src_output()]);
        HR_ASSIGN_OR_RETURN(c, graph->AddNode(std::move(def), {}));
      }
      HR_RETURN_IF_ERROR(graph->ReplaceInput(e->dst(), e->dst_input(), {c, 0}));
    }
    graph->RemoveNode(n);
    ++*changes;
  }
  return OkStatus();
}

}  // namespace headrace
