// Fuses a fake quantisation of a convolution's result into the convolution: its
// range has to be constant, and one for all channels. Runs after fuse_conv,
// which has put bias and activation into the convolution.
#include <cmath>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "headrace/op_traits.h"
#include "runtime/passes/quantization.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

// The attr of the range; false if `n` is no quantisation that can be fused.
bool StepsOf(const Node& n, std::vector<float>* steps) {
  Quantization q;
  if (!ReadQuantization(n, &q) || q.low.size() != 1 ||
      !std::isfinite(q.high[0] - q.low[0]) || !(q.low[0] < q.high[0])) {
    return false;
  }
  *steps = {q.low_level, q.high_level, q.low[0], q.high[0]};
  // A per-channel range of one channel checks its input's channels.
  return n.type_string() != "FakeQuantWithMinMaxVarsPerChannel";
}

// Of a convolution, alone or fused: what the fused node does so far. False if
// it rounds already.
bool ReadOps(const Node& n, std::vector<std::string>* ops) {
  if (n.traits().layer.is_plain()) return true;
  return n.attrs().Get("fused_ops", ops).ok() &&
         n.attrs().Find(kResultStepsAttr) == nullptr;
}

Status Fuse(Rewriter* rewriter, Node* n, int* changes) {
  const LayerTraits& layer = n->traits().layer;
  const Edge* const e = rewriter->OnlyReader(*n);
  std::vector<float> steps;
  std::vector<std::string> ops;
  if (e == nullptr || e->IsControlEdge() || e->dst_input() != 0 ||
      !Rewriter::SamePlace(*n, *e->dst()) || !StepsOf(*e->dst(), &steps) ||
      !ReadOps(*n, &ops)) {
    return OkStatus();
  }
  NodeDef def;
  def.op = layer.is_plain() ? layer.fused_op : n->type_string();
  const OpDef* op = nullptr;
  if (!OpRegistry::Global()->LookUp(def.op, &op).ok()) return OkStatus();
  for (const auto& [name, value] : n->attrs()) {
    if (HasAttr(*op, name) || name[0] == '_') {
      def.attrs.Set(name, value);
    } else if (!IsDefault(n->op_def(), name, value)) {
      return OkStatus();  // something that the fused op cannot do
    }
  }
  ops.push_back("FakeQuantWithMinMaxArgs");
  def.attrs.Set("fused_ops", ops);
  def.attrs.Set(kResultStepsAttr, steps);
  if (layer.is_plain()) {
    def.attrs.Set("num_args", int64_t{0});
    if (HasAttr(*op, "TArgs")) def.attrs.Set("TArgs", std::vector<DataType>());
  }
  std::vector<Endpoint> inputs;
  for (const Edge* in : n->data_inputs()) {
    inputs.push_back({in->src(), in->src_output()});
  }
  Node* const chain[] = {n, e->dst()};
  HR_ASSIGN_OR_RETURN(Node * done,
                      rewriter->Merge(chain, std::move(def), inputs));
  if (done != nullptr) ++*changes;
  return OkStatus();
}

}  // namespace

Status FuseFakeQuant(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  std::vector<Node*> layers;
  graph->ForEachNode([&](Node* n) {
    if (n->traits().layer.convolves() && n->output_type(0) == DT_FLOAT) {
      layers.push_back(n);
    }
  });
  Rewriter rewriter(context, graph);
  for (Node* n : layers) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    HR_RETURN_IF_ERROR(Fuse(&rewriter, n, changes));
  }
  return OkStatus();
}

}  // namespace headrace
