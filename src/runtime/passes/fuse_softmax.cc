// Makes one Softmax of one that the graph spells out over the last dim:
//
//   e = exp(x - max(x)),  e / sum(e)
//
// where max and sum keep their dim. Only with the maximum: without it large
// numbers overflow, which Softmax would hide. float and double only: narrower
// types round after each node.
#include <vector>

#include "runtime/passes/expression.h"

namespace headrace {
namespace {

// `n` reduces the last dim of its input alone, and keeps it.
bool ReducesLastDim(const Node& n, const char* op) {
  bool keeps = false;
  if (n.type_string() != op || !n.attrs().Get("keep_dims", &keeps).ok() ||
      !keeps) {
    return false;
  }
  const auto axes = IntegerInput(n, 1);
  if (!axes || axes->size() != 1) return false;
  const Endpoint x = InputOf(n, 0);
  const PartialTensorShape& shape = x.node->output_shape(x.index);
  return !shape.unknown_rank() && shape.dims() > 0 &&
         (axes->front() == -1 || axes->front() == shape.dims() - 1);
}

Node* OpAt(const Node& n, int i, const char* op) {
  const Edge* const e = n.input_edge(i);
  return e != nullptr && e->src_output() == 0 && e->src()->type_string() == op
             ? e->src()
             : nullptr;
}

class SoftmaxFinder {
 public:
  SoftmaxFinder(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    return ForEachRoot(
        *graph_,
        [](const Node& n) {
          return n.type_string() == "Exp" && (n.output_type(0) == DT_FLOAT ||
                                              n.output_type(0) == DT_DOUBLE);
        },
        [&](Node* n) { return Fuse(n, changes); });
  }

 private:
  Status Fuse(Node* exp, int* changes) {
    Node* const less = OpAt(*exp, 0, "Sub");
    Node* const max = less == nullptr ? nullptr : OpAt(*less, 1, "Max");
    if (max == nullptr || !ReducesLastDim(*max, "Max") ||
        InputOf(*max, 0) != InputOf(*less, 0)) {
      return OkStatus();
    }
    Node* share = nullptr;
    for (const Edge* e : exp->out_edges()) {
      if (!e->IsControlEdge() && e->dst_input() == 0 &&
          e->dst()->type_string() == "RealDiv") {
        share = e->dst();
      }
    }
    Node* const sum = share == nullptr ? nullptr : OpAt(*share, 1, "Sum");
    if (sum == nullptr || !ReducesLastDim(*sum, "Sum") ||
        InputOf(*sum, 0) != Endpoint{exp, 0}) {
      return OkStatus();
    }
    const std::vector<Node*> nodes = {max, less, exp, sum, share};
    if (!MayBecomeOne(&rewriter_, nodes, *share)) return OkStatus();
    NodeDef def;
    def.op = "Softmax";
    def.attrs.Set("T", exp->output_type(0));
    return rewriter_.ReplaceByOne(nodes, std::move(def), {InputOf(*less, 0)},
                                  changes);
  }

  Graph* const graph_;
  Rewriter rewriter_;
};

}  // namespace

Status FuseSoftmax(const GraphPassContext& context, Graph* graph,
                   int* changes) {
  if (OpRegistry::Global()->Find("Softmax") == nullptr) return OkStatus();
  return SoftmaxFinder(context, graph).Run(changes);
}

}  // namespace headrace
