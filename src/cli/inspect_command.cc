// headrace inspect: a model's inputs, outputs, ops, and whether each op can
// run.
#include <cstdio>
#include <map>

#include "absl/strings/str_cat.h"
#include "cli/command.h"
#include "cli/model.h"
#include "framework/op_kernel.h"

namespace headrace::cli {
namespace {

constexpr char kHelp[] =
    "usage: headrace inspect MODEL [--nodes]\n\n"
    "Shows what a model takes and gives, how large its constants are, and "
    "which ops it\nuses; ops without a CPU kernel are marked. A model is a "
    "GraphDef, binary or text, or\nthe folder of a SavedModel.\n\n"
    "  --nodes   also list every node with its inputs and shapes\n";

void PrintNode(const Node& n) {
  std::printf("  %s = %s(", n.name().c_str(), n.type_string().c_str());
  bool first = true;
  for (const Edge* e : n.data_inputs()) {
    std::printf("%s%s", first ? "" : ", ",
                EndpointName({e->src(), e->src_output()}).c_str());
    first = false;
  }
  for (const Edge* e : n.control_inputs()) {
    std::printf("%s^%s", first ? "" : ", ", e->src()->name().c_str());
    first = false;
  }
  std::printf(")");
  for (int i = 0; i < n.num_outputs(); ++i) {
    std::printf("%s %s %s", i ? "," : " ->",
                DataTypeString(n.output_type(i)).c_str(),
                n.output_shape(i).DebugString().c_str());
  }
  std::printf("\n");
}

}  // namespace

int InspectCommand(const Args& args) {
  ArgReader reader(args);
  std::string path;
  bool nodes = false;
  while (!reader.done()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (reader.Flag("--nodes")) {
      nodes = true;
    } else {
      path = reader.Positional();
    }
  }
  if (!reader.status().ok()) {
    return UsageError("inspect", std::string(reader.status().message()));
  }
  if (path.empty()) return UsageError("inspect", "which model?");

  Model model;
  const Status loaded = LoadModel(path, &model);
  if (!loaded.ok()) return Fail(loaded);
  const Graph* const graph = model.graph.get();

  struct Use {
    int count = 0;
    bool runs = true;
  };
  std::map<std::string, Use> ops;
  int64_t constant_bytes = 0;
  graph->ForEachNode([&](Node* n) {
    Use& u = ops[n->type_string()];
    ++u.count;
    u.runs &= KernelRegistry::Global()->HasKernel(DEVICE_CPU, n->def());
    if (n->IsConstant()) {
      const AttrValue* v = n->attrs().Find("value");
      const Tensor* t = v == nullptr ? nullptr : v->Get<Tensor>();
      if (t != nullptr) constant_bytes += static_cast<int64_t>(t->TotalBytes());
    }
  });
  std::printf("%s: %d nodes, producer %d, %.2f MB of constants\n", path.c_str(),
              graph->num_nodes(), graph->versions().producer,
              static_cast<double>(constant_bytes) / 1e6);
  std::printf("inputs:\n");
  for (const Endpoint& e : model.inputs) {
    std::printf("  %s\n", Describe(e).c_str());
  }
  std::printf("outputs:\n");
  for (const Endpoint& e : model.outputs) {
    std::printf("  %s\n", Describe(e).c_str());
  }
  std::printf("ops:\n");
  bool all = true;
  for (const auto& [op, use] : ops) {
    std::printf("  %6d  %s%s\n", use.count, op.c_str(),
                use.runs ? "" : "  (no CPU kernel)");
    all &= use.runs;
  }
  if (nodes) {
    std::printf("nodes:\n");
    graph->ForEachNode([](Node* n) { PrintNode(*n); });
  }
  std::printf(all ? "every op can run here\n"
                  : "some ops cannot run here: see the marks above\n");
  return 0;
}

}  // namespace headrace::cli
