// Adds matrix products while they are multiplied: the gradient of weights that
// several layers or steps share is a sum of products over rows,
//
//   AddN(a1' b1, a2' b2, ...) = [a1; a2; ...]' [b1; b2; ...]
//
// and one product of all rows needs neither the memory of its parts nor passes
// over them. Sums are in another order.
#include <vector>

#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "runtime/passes/expression.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

// Fewer are not worth two concatenations.
constexpr int kFewest = 3;

class Sums {
 public:
  Sums(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    std::vector<Node*> sums;
    graph_->ForEachNode([&](Node* n) {
      if (n->type_string() == "AddN" && n->num_inputs() >= kFewest) {
        sums.push_back(n);
      }
    });
    for (Node* n : sums) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      HR_RETURN_IF_ERROR(Merge(n, changes));
    }
    return OkStatus();
  }

 private:
  // Row by row: transpose_a alone.
  bool IsPart(const Node& n, const Node& sum) {
    bool a = false, b = true;
    return n.type_string() == "MatMul" &&
           (n.output_type(0) == DT_FLOAT || n.output_type(0) == DT_DOUBLE) &&
           n.attrs().Get("transpose_a", &a).ok() && a &&
           n.attrs().Get("transpose_b", &b).ok() && !b &&
           Rewriter::SamePlace(n, sum) && rewriter_.OnlyReader(n) != nullptr;
  }

  StatusOr<Node*> Concat(const Node& like, absl::string_view name,
                         const std::vector<Endpoint>& parts, Node* axis) {
    NodeDef def;
    def.name = graph_->UniqueName(name);
    def.op = "ConcatV2";
    def.device = like.requested_device();
    def.source = like.def().source;
    def.attrs.Set("N", static_cast<int64_t>(parts.size()));
    def.attrs.Set("T", like.output_type(0));
    def.attrs.Set("Tidx", DT_INT32);
    std::vector<Endpoint> inputs = parts;
    inputs.push_back({axis, 0});
    return graph_->AddNode(std::move(def), inputs);
  }

  static int64_t WidthOf(const Endpoint& e) {
    const PartialTensorShape& shape = e.node->output_shape(e.index);
    return shape.dims() == 2 ? shape.dim_size(1) : -1;
  }
  // -1 if it is not known.
  static int64_t RowsOf(const Endpoint& e) {
    const PartialTensorShape& shape = e.node->output_shape(e.index);
    return shape.dims() == 2 ? shape.dim_size(0) : -1;
  }

  Status Merge(Node* sum, int* changes) {
    std::vector<Node*> nodes;
    std::vector<Endpoint> a, b;
    for (const Edge* e : sum->data_inputs()) {
      Node* const n = e->src();
      if (!IsPart(*n, *sum)) return OkStatus();
      nodes.push_back(n);
      for (const int i : {0, 1}) {
        // Of known and equal widths, since a sum of other sizes is an error
        // that the merged node would not see.
        const Endpoint from = InputOf(*n, i);
        std::vector<Endpoint>& side = i == 0 ? a : b;
        if (WidthOf(from) < 0 ||
            WidthOf(from) != WidthOf(side.empty() ? from : side.front())) {
          return OkStatus();
        }
        side.push_back(from);
      }
    }
    // Rows that do not fit each other, likewise.
    for (size_t i = 0; i < a.size(); ++i) {
      if (RowsOf(a[i]) < 0 || RowsOf(a[i]) != RowsOf(b[i])) return OkStatus();
    }
    const int merged = static_cast<int>(nodes.size());
    nodes.push_back(sum);
    HR_ASSIGN_OR_RETURN(Node * axis,
                        rewriter_.AddConst(*sum, sum->name() + "/axis",
                                           Tensor::Scalar<int32_t>(0)));
    HR_ASSIGN_OR_RETURN(Node * left,
                        Concat(*sum, sum->name() + "/rows_a", a, axis));
    HR_ASSIGN_OR_RETURN(Node * right,
                        Concat(*sum, sum->name() + "/rows_b", b, axis));
    NodeDef def;
    def.op = "MatMul";
    def.attrs.Set("T", sum->output_type(0));
    def.attrs.Set("transpose_a", true);
    def.attrs.Set("transpose_b", false);
    const Rewriter::Output result = {{sum, 0}, 0};
    const Endpoint inputs[] = {{left, 0}, {right, 0}};
    HR_ASSIGN_OR_RETURN(Node * done, rewriter_.Replace(nodes, {&result, 1},
                                                       std::move(def), inputs));
    if (done == nullptr) {
      graph_->RemoveNode(left);
      graph_->RemoveNode(right);
      graph_->RemoveNode(axis);
      return OkStatus();
    }
    *changes += merged;
    return OkStatus();
  }

  Graph* const graph_;
  Rewriter rewriter_;
};

}  // namespace

Status SumProducts(const GraphPassContext& context, Graph* graph,
                   int* changes) {
  return Sums(context, graph).Run(changes);
}

}  // namespace headrace
