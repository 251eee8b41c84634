#include "cli/needed_ops.h"

#include <vector>

#include "headrace/config.pb.h"
#include "headrace/importer.h"
#include "headrace/op.h"

namespace headrace::cli {
namespace {

void AddOps(const pb::GraphDef& def, std::set<std::string>* ops) {
  for (const pb::NodeDef& n : def.node()) ops->insert(n.op());
  for (const pb::FunctionDef& f : def.library().function()) {
    for (const pb::NodeDef& n : f.node_def()) ops->insert(n.op());
  }
}

// What passes make of layers, if not in every run: which fused op they take
// depends on the shapes that are fed, and the product of a filter and a scale
// is a node until it is folded.
void AddMadeOfLayers(std::set<std::string>* ops) {
  const std::vector<std::string> found(ops->begin(), ops->end());
  for (const std::string& name : found) {
    const OpDef* const op = OpRegistry::Global()->Find(name);
    if (op == nullptr || !op->traits->layer.is_plain()) continue;
    ops->insert({op->traits->layer.fused_op, "Mul", "BiasAdd"});
    if (op->traits->layer.convolves()) ops->insert("_FusedConvChain");
  }
}

constexpr const char* kAlways[] = {"Const",       "Identity", "NoOp",  "_Arg",
                                   "Placeholder", "_Retval",  "_Recv", "_Send"};

}  // namespace

Status AddNeededOps(TrialArgs args, std::set<std::string>* ops) {
  args.quiet = true;
  Trial trial;
  HR_RETURN_IF_ERROR(PrepareTrial(args, pb::ConfigProto(), &trial));
  pb::GraphDef def;
  GraphToGraphDef(*trial.model.graph, &def);
  std::set<std::string> found(std::begin(kAlways), std::end(kAlways));
  AddOps(def, &found);
  pb::RunOptions options;
  options.set_output_partition_graphs(true);
  pb::RunMetadata metadata;
  HR_RETURN_IF_ERROR(
      ExplainNoValues(trial.session->Run(options, trial.feeds, trial.fetches,
                                         {}, nullptr, &metadata),
                      trial.model));
  for (const pb::GraphDef& part : metadata.partition_graphs()) {
    AddOps(part, &found);
  }
  AddMadeOfLayers(&found);
  ops->merge(found);
  return OkStatus();
}

}  // namespace headrace::cli
