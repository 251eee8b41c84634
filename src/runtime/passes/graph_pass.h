// Graph passes: rewrites of a client graph before it is placed, by name. Each
// can be switched off.
#ifndef HEADRACE_RUNTIME_PASSES_GRAPH_PASS_H_
#define HEADRACE_RUNTIME_PASSES_GRAPH_PASS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "headrace/config.pb.h"
#include "headrace/graph.h"

namespace headrace {

class Device;

inline constexpr char kLowerPrecisionPass[] = "lower_precision";
inline constexpr char kPrecisionAttr[] = "_precision";
inline constexpr char kFakeQuantAttr[] = "_fake_quant";
inline constexpr char kResultStepsAttr[] = "_result_steps";

struct GraphPassContext {
  // Names of nodes that must be run, whatever reads them: the step's targets.
  absl::flat_hash_set<std::string> targets;
  // The devices on which the graph's nodes may be placed. Empty: not known, but
  // their memory is the host's.
  std::vector<const Device*> devices;
};

struct GraphPass {
  const char* name;
  const char* what;  // for people
  // `changes` counts nodes removed or replaced.
  Status (*run)(const GraphPassContext& context, Graph* graph, int* changes);
  // Makes ops whose kernels are the CPU's. Passes run before nodes have
  // devices, so it is off in a session with a device of another memory.
  bool for_host = false;
};

// In the order in which they run: "inline_functions", "remove_noops",
// "quantize_conv", "constant_folding", "cse", "remove_controls",
// "sum_products", "fold_transpose", "fold_tensordot", "fold_dilation",
// "fold_pad", "group_conv", "fold_batch_norm", "fuse_layer_norm",
// "fuse_activation", "fuse_softmax", "fuse_attention", "fuse_conv",
// "fuse_conv_chain", "fuse_fake_quant", "lower_precision", "fuse_lstm",
// "fuse_matmul", "group_elementwise", "fuse_elementwise", "prune",
// "order_gradients".
const std::vector<GraphPass>& GraphPasses();

// Switches off the passes that make ops for the host's memory if the device has
// another.
void DisableHostPasses(const Device& device,
                       absl::flat_hash_set<std::string>* disabled);

struct GraphPassReport {
  const char* name;
  bool off;
  int changes;
};

// Adds them to a message's.
void ReportPasses(const std::vector<GraphPassReport>& reports,
                  google::protobuf::RepeatedPtrField<pb::GraphPassReport>* out);

// Runs those not named in `disabled`. Adds to `report` (may be null) an element
// a pass.
Status RunGraphPasses(const GraphPassContext& context,
                      const absl::flat_hash_set<std::string>& disabled,
                      Graph* graph, std::vector<GraphPassReport>* report);

// The passes themselves, one file each.
Status InlineFunctions(const GraphPassContext& context, Graph* graph,
                       int* changes);
Status RemoveNoOps(const GraphPassContext& context, Graph* graph, int* changes);
Status QuantizeConv(const GraphPassContext& context, Graph* graph,
                    int* changes);
Status FoldConstants(const GraphPassContext& context, Graph* graph,
                     int* changes);
Status MergeCommonSubexpressions(const GraphPassContext& context, Graph* graph,
                                 int* changes);
Status RemoveControls(const GraphPassContext& context, Graph* graph,
                      int* changes);
Status SumProducts(const GraphPassContext& context, Graph* graph, int* changes);
Status FoldTranspose(const GraphPassContext& context, Graph* graph,
                     int* changes);
Status FoldTensordot(const GraphPassContext& context, Graph* graph,
                     int* changes);
Status FoldDilation(const GraphPassContext& context, Graph* graph,
                    int* changes);
Status FoldPad(const GraphPassContext& context, Graph* graph, int* changes);
Status GroupConv(const GraphPassContext& context, Graph* graph, int* changes);
Status FoldBatchNorm(const GraphPassContext& context, Graph* graph,
                     int* changes);
Status FuseLayerNorm(const GraphPassContext& context, Graph* graph,
                     int* changes);
Status FuseActivation(const GraphPassContext& context, Graph* graph,
                      int* changes);
Status FuseSoftmax(const GraphPassContext& context, Graph* graph, int* changes);
Status FuseAttention(const GraphPassContext& context, Graph* graph,
                     int* changes);
// Marks convolutions and matrix products of floats, whose kernels then may
// round their factors to bfloat16: attr kPrecisionAttr is "bfloat16". Chains of
// convolutions that run as one stay float: they are faster so. A session
// switches the pass off unless its precision is bfloat16.
Status LowerPrecision(const GraphPassContext& context, Graph* graph,
                      int* changes);
Status FuseConv(const GraphPassContext& context, Graph* graph, int* changes);
Status FuseConvChain(const GraphPassContext& context, Graph* graph,
                     int* changes);
Status FuseFakeQuant(const GraphPassContext& context, Graph* graph,
                     int* changes);
Status FuseLstm(const GraphPassContext& context, Graph* graph, int* changes);
Status FuseMatMul(const GraphPassContext& context, Graph* graph, int* changes);
Status GroupElementwise(const GraphPassContext& context, Graph* graph,
                        int* changes);
Status FuseElementwise(const GraphPassContext& context, Graph* graph,
                       int* changes);
// Removes what neither a _Retval nor a target needs.
Status PruneUnneeded(const GraphPassContext& context, Graph* graph,
                     int* changes);
Status OrderGradients(const GraphPassContext& context, Graph* graph,
                      int* changes);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PASSES_GRAPH_PASS_H_
