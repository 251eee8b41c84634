#include "cli/needed_ops.h"

#include <utility>

#include "headrace/config.pb.h"
#include "headrace/importer.h"

namespace headrace::cli {
namespace {

void AddOps(const pb::GraphDef& def, std::set<std::string>* ops) {
  for (const pb::NodeDef& n : def.node()) ops->insert(n.op());
  for (const pb::FunctionDef& f : def.library().function()) {
    for (const pb::NodeDef& n : f.node_def()) ops->insert(n.op());
  }
}

// What passes make of an op, if not in every run: which fused op they take
// depends on the shapes that are fed, and the product of a filter and a scale
// is a node until it is folded.
constexpr std::pair<const char*, const char*> kMadeOf[] = {
    {"Conv2D", "_FusedConv2D"},
    {"Conv2D", "_FusedConvChain"},
    {"Conv2D", "Mul"},
    {"Conv2D", "BiasAdd"},
    {"DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative"},
    {"DepthwiseConv2dNative", "_FusedConvChain"},
    {"DepthwiseConv2dNative", "Mul"},
    {"DepthwiseConv2dNative", "BiasAdd"},
    {"MatMul", "_FusedMatMul"},
    {"MatMul", "Mul"},
    {"MatMul", "BiasAdd"}};

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
  for (const auto& [op, made] : kMadeOf) {
    if (found.count(op) > 0) found.insert(made);
  }
  ops->merge(found);
  return OkStatus();
}

}  // namespace headrace::cli
