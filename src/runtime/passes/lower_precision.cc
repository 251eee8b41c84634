#include "headrace/op_traits.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {

Status LowerPrecision(const GraphPassContext&, Graph* graph, int* changes) {
  graph->ForEachNode([&](Node* n) {
    const LayerKind kind = n->traits().layer.kind;
    if ((kind != LayerKind::kConv2D && kind != LayerKind::kMatMul) ||
        n->output_type(0) != DT_FLOAT) {
      return;
    }
    graph->SetNodeAttr(n, kPrecisionAttr, "bfloat16");
    ++*changes;
  });
  return OkStatus();
}

}  // namespace headrace
