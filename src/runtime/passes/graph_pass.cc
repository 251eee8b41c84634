#include "runtime/passes/graph_pass.h"

#include "base/interrupt.h"
#include "base/log.h"
#include "base/require_memory.h"
#include "graph/algorithm.h"
#include "headrace/device.h"

namespace headrace {

const std::vector<GraphPass>& GraphPasses() {
  static const std::vector<GraphPass>* const passes =
      new std::vector<GraphPass>{
          {"inline_functions", "puts functions in the place of their calls",
           InlineFunctions},
          {"remove_noops", "removes nodes that hand an input on as it is",
           RemoveNoOps},
          {"quantize_conv", "lets fake-quantised convolutions multiply bytes",
           QuantizeConv, true},
          {"constant_folding", "computes nodes whose inputs are all constant",
           FoldConstants},
          {"cse", "merges nodes that compute the same",
           MergeCommonSubexpressions},
          {"remove_controls", "removes control edges that order nothing",
           RemoveControls},
          {"sum_products", "adds matrix products while it multiplies",
           SumProducts, true},
          {"fold_transpose", "puts transposes into matrix products",
           FoldTranspose, true},
          {"fold_tensordot", "multiplies tensors without reshaping them",
           FoldTensordot, true},
          {"fold_dilation", "puts the cutting of images into dilations",
           FoldDilation, true},
          {"fold_pad", "puts padding with zeros into convolutions", FoldPad},
          {"group_conv", "runs convolutions of parts of an image as one",
           GroupConv, true},
          {"fold_batch_norm", "puts batch norm into the convolution before it",
           FoldBatchNorm},
          {"fuse_layer_norm",
           "runs layer normalizations that the graph spells out as one",
           FuseLayerNorm, true},
          {"fuse_activation",
           "runs activations that the graph spells out as one", FuseActivation,
           true},
          {"fuse_softmax", "runs a softmax that the graph spells out as one",
           FuseSoftmax},
          {"fuse_attention", "runs attention that the graph spells out as one",
           FuseAttention, true},
          {"fuse_conv", "puts bias, addition and activation into convolutions",
           FuseConv},
          {"fuse_conv_chain", "runs depthwise and 1x1 convolutions as one",
           FuseConvChain, true},
          {"fuse_fake_quant", "puts fake quantisation into convolutions",
           FuseFakeQuant, true},
          {kLowerPrecisionPass, "lets layers multiply in bfloat16",
           LowerPrecision, true},
          {"fuse_lstm", "runs LSTM cells, and layers of them, as one", FuseLstm,
           true},
          {"fuse_matmul", "puts bias and activation into matrix products",
           FuseMatMul},
          {"group_elementwise", "runs groups of element-wise nodes as one",
           GroupElementwise, true},
          {"fuse_elementwise", "runs chains of element-wise nodes as one",
           FuseElementwise, true},
          {"prune", "removes nodes that nothing needs", PruneUnneeded},
          {"order_gradients",
           "computes gradients of weights before those of earlier layers",
           OrderGradients, true},
      };
  return *passes;
}

void DisableHostPasses(const Device& device,
                       absl::flat_hash_set<std::string>* disabled) {
  if (device.IsHostMemory()) return;
  for (const GraphPass& pass : GraphPasses()) {
    if (pass.for_host) disabled->insert(pass.name);
  }
}

void ReportPasses(
    const std::vector<GraphPassReport>& reports,
    google::protobuf::RepeatedPtrField<pb::GraphPassReport>* out) {
  for (const GraphPassReport& report : reports) {
    pb::GraphPassReport* const pass = out->Add();
    pass->set_name(report.name);
    pass->set_off(report.off);
    pass->set_changes(report.changes);
  }
}

Status RunGraphPasses(const GraphPassContext& context,
                      const absl::flat_hash_set<std::string>& disabled,
                      Graph* graph, std::vector<GraphPassReport>* report) {
  for (const GraphPass& pass : GraphPasses()) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    HR_RETURN_IF_ERROR(RequireMemoryReserve());
    GraphPassReport done = {pass.name, disabled.contains(pass.name), 0};
    if (!done.off) {
      HR_RETURN_IF_ERROR(pass.run(context, graph, &done.changes));
      HR_VLOG(1) << "pass " << pass.name << ": " << done.changes << " changes, "
                 << graph->num_nodes() << " nodes left";
    }
    if (report != nullptr) report->push_back(done);
  }
  return OkStatus();
}

Status PruneUnneeded(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  std::vector<Node*> roots;
  graph->ForEachNode([&](Node* n) {
    if (n->IsRetval() || n->IsArg() || context.targets.contains(n->name())) {
      roots.push_back(n);
    }
  });
  const int before = graph->num_nodes();
  RemoveUnmarked(graph, ReachableBackwards(*graph, roots));
  *changes = before - graph->num_nodes();
  return OkStatus();
}

}  // namespace headrace
