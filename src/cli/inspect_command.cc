// headrace inspect: a model's inputs, outputs, ops, and whether each op can
// run.
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/command.h"
#include "cli/model.h"
#include "graph/function_library.h"
#include "graph/graph_def_reader.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"

namespace headrace::cli {
namespace {

constexpr char kInspectHelp[] =
    "usage: headrace inspect MODEL [--nodes]\n\n"
    "Shows what a model takes and gives, how large its constants are, and "
    "which ops it\nuses; ops without a CPU kernel are marked. A model is a "
    "GraphDef, binary or text, or\nthe folder of a SavedModel; - is a GraphDef "
    "from standard input.\n\n"
    "  --nodes   also list every node with its inputs and shapes\n";

struct OpUse {
  int count = 0;
  bool known = true;
  bool runs = true;
};

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

// Says in words what an op lacks to run on the CPU; "" if nothing.
const char* Lack(bool is_known, bool has_kernel) {
  if (!is_known) return "  (op not known here)";
  return has_kernel ? "" : "  (no CPU kernel)";
}

void PrintOps(const char* title, const std::map<std::string, OpUse>& ops) {
  std::printf("%s:\n", title);
  for (const auto& [op, use] : ops) {
    std::printf("  %6d  %s%s\n", use.count, op.c_str(),
                Lack(use.known, use.runs));
  }
}

// The ops that have a CPU kernel for some types.
std::set<std::string> OpsWithKernel() {
  std::set<std::string> ops;
  for (const KernelRegistry::Info& k : KernelRegistry::Global()->All()) {
    if (k.device == DEVICE_CPU) ops.insert(k.op);
  }
  return ops;
}

// The ops in the bodies of the graph's functions. A body has no types before it
// is called, so a kernel for some types counts.
std::map<std::string, OpUse> OpsOfFunctions(const Graph& graph) {
  std::map<std::string, OpUse> ops;
  const std::set<std::string> with_kernel = OpsWithKernel();
  const FunctionLibrary* const library = graph.functions();
  if (library == nullptr) return ops;
  for (const std::string& name : library->Names()) {
    const auto function = library->Find(name);
    if (function == nullptr) continue;
    for (const pb::NodeDef& n : function->node_def()) {
      OpUse& use = ops[n.op()];
      if (use.count++ > 0) continue;
      const bool calls = library->Find(n.op()) != nullptr;
      use.known = calls || OpRegistry::Global()->Find(n.op()) != nullptr;
      use.runs = calls || with_kernel.contains(n.op());
    }
  }
  return ops;
}

// "  x:0  float [?,2]" from the attrs of a node that is in no graph.
void PrintPlaceholder(const NodeDef& def) {
  DataType type = DT_INVALID;
  PartialTensorShape shape = PartialTensorShape::UnknownRank();
  def.attrs.Get("dtype", &type).IgnoreError();
  def.attrs.Get("shape", &shape).IgnoreError();
  std::printf("  %s:0  %s %s\n", def.name.c_str(), DataTypeString(type).c_str(),
              shape.DebugString().c_str());
}

// Prints what is known of a model with unknown ops. False if there are none.
bool PrintUnknown(const std::string& path, const GraphDefParts& parts) {
  std::set<absl::string_view> functions;
  for (const pb::FunctionDef& f : parts.rest.library().function()) {
    functions.insert(f.signature().name());
  }
  const std::set<std::string> with_kernel = OpsWithKernel();
  std::map<std::string, OpUse> ops;
  int unknown = 0;
  for (const GraphDefParts::Node& n : parts.nodes) {
    OpUse& use = ops[n.def.op];
    if (use.count++ > 0) continue;
    const bool is_function = functions.contains(n.def.op);
    use.known = is_function || OpRegistry::Global()->Find(n.def.op) != nullptr;
    use.runs = is_function || with_kernel.contains(n.def.op);
    unknown += use.known ? 0 : 1;
  }
  if (unknown == 0) return false;
  std::printf("%s: %zu nodes, producer %d\ninputs:\n", path.c_str(),
              parts.nodes.size(), parts.rest.versions().producer());
  for (const GraphDefParts::Node& n : parts.nodes) {
    if (absl::StartsWith(n.def.op, "Placeholder")) PrintPlaceholder(n.def);
  }
  PrintOps("ops", ops);
  std::printf(
      "%d op%s not known here, so that the model cannot run: see the marks "
      "above\n",
      unknown, unknown == 1 ? " is" : "s are");
  return true;
}

}  // namespace

int InspectCommand(const Args& args) {
  ArgReader reader(args);
  std::string path;
  bool nodes = false;
  while (!reader.done()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kInspectHelp, stdout);
      return 0;
    }
    if (reader.Flag("--nodes")) {
      nodes = true;
    } else {
      reader.TakeOnly("model", &path);
    }
  }
  if (!reader.status().ok()) {
    return UsageError("inspect", std::string(reader.status().message()));
  }
  if (path.empty()) return UsageError("inspect", "which model?");

  ModelParts parts;
  Model model;
  Status loaded = ReadModel(path, &parts);
  if (loaded.ok() && PrintUnknown(path, parts.graph_def)) return 1;
  if (loaded.ok()) loaded = MakeModel(path, std::move(parts), &model);
  if (!loaded.ok()) return Fail(loaded);
  const Graph* const graph = model.graph.get();

  std::map<std::string, OpUse> ops;
  int64_t constant_bytes = 0;
  graph->ForEachNode([&](Node* n) {
    OpUse& u = ops[n->type_string()];
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
    std::printf("  %s%s\n", Describe(e).c_str(),
                e.node->out_edges().empty() ? "  (nothing reads it)" : "");
  }
  std::printf("outputs:\n");
  for (const Endpoint& e : model.outputs) {
    std::printf("  %s\n", Describe(e).c_str());
  }
  PrintOps("ops", ops);
  const std::map<std::string, OpUse> in_functions = OpsOfFunctions(*graph);
  if (!in_functions.empty()) PrintOps("ops of functions", in_functions);
  bool all = true;
  for (const auto& [op, use] : ops) all &= use.runs;
  for (const auto& [op, use] : in_functions) all &= use.known && use.runs;
  if (nodes) {
    std::printf("nodes:\n");
    graph->ForEachNode([](Node* n) { PrintNode(*n); });
  }
  std::printf(all ? "every op can run here\n"
                  : "some ops cannot run here: see the marks above\n");
  return 0;
}

}  // namespace headrace::cli
