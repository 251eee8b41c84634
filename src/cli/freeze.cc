#include "cli/freeze.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "cli/suggest.h"
#include "framework/op/tensor_proto.h"
#include "graph/function_library.h"
#include "headrace/importer.h"
#include "runtime/passes/graph_pass.h"

namespace headrace::cli {
namespace {

// Stands for the outputs of a call while it is replaced by its function's body.
constexpr char kOutputsSuffix[] = "__outputs";

// Null for a function.
const OpDef* OpOf(const pb::NodeDef& n) {
  return OpRegistry::Global()->Find(n.op());
}

bool IsVariable(const pb::NodeDef& n) {
  const OpDef* const op = OpOf(n);
  return op != nullptr && op->traits->variable_use == VariableUse::kHolds &&
         n.attr().contains("dtype");
}

bool IsControl(const std::string& input) { return input[0] == '^'; }

// The node that an input of a NodeDef is of.
std::string NodeOf(absl::string_view input) {
  absl::ConsumePrefix(&input, "^");
  return std::string(input.substr(0, input.find(':')));
}

// Drops the attrs that the import added: they have their defaults, and older
// versions of TensorFlow do not know all of them.
void KeepAttrsOf(const pb::GraphDef& original, pb::GraphDef* def) {
  absl::flat_hash_map<std::string, const pb::NodeDef*> nodes;
  for (const pb::NodeDef& n : original.node()) nodes[n.name()] = &n;
  for (pb::NodeDef& n : *def->mutable_node()) {
    const auto at = nodes.find(n.name());
    if (at == nodes.end() || at->second->op() != n.op()) continue;
    const OpDef* const op = OpRegistry::Global()->Find(n.op());
    if (op == nullptr) continue;
    for (const OpDef::Attr& attr : op->attrs) {
      if (attr.default_value && !at->second->attr().contains(attr.name)) {
        n.mutable_attr()->erase(attr.name);
      }
    }
  }
}

// Leaves what `outputs` need, with calls replaced by the bodies of functions.
Status CutAndInline(const pb::GraphDef& graph_def,
                    const std::vector<std::string>& outputs, pb::GraphDef* cut,
                    FreezeReport* report) {
  Graph graph;
  HR_RETURN_IF_ERROR(ImportGraphDef(ImportOptions(), graph_def, &graph));
  report->nodes_before = graph.num_nodes();
  GraphPassContext context;
  std::vector<std::string> calls;
  for (const std::string& name : outputs) {
    Node* const n = graph.FindNode(name);
    if (n == nullptr) {
      std::vector<std::string> names;
      graph.ForEachNode([&](Node* other) { names.push_back(other->name()); });
      return errors::NotFound("the model has no node '", name, "'",
                              DidYouMean(name, names));
    }
    if (n->node_class() != OpClass::kFunctionCall || n->num_outputs() == 0) {
      context.targets.insert(name);
      continue;
    }
    NodeDef def;
    def.name = name + kOutputsSuffix;
    def.op = "IdentityN";
    std::vector<Endpoint> ends;
    for (int i = 0; i < n->num_outputs(); ++i) ends.push_back({n, i});
    HR_RETURN_IF_ERROR(graph.AddNode(std::move(def), ends).status());
    context.targets.insert(name + kOutputsSuffix);
    calls.push_back(name);
  }
  int changes = 0;
  HR_RETURN_IF_ERROR(PruneUnneeded(context, &graph, &report->unneeded));
  HR_RETURN_IF_ERROR(InlineFunctions(context, &graph, &report->calls));
  HR_RETURN_IF_ERROR(PruneUnneeded(context, &graph, &changes));
  GraphToGraphDef(graph, cut);
  KeepAttrsOf(graph_def, cut);
  for (const std::string& name : calls) {
    // A call that is still there has its own name.
    const bool stays = graph.FindNode(name) != nullptr;
    for (int i = 0; i < cut->node_size(); ++i) {
      if (cut->node(i).name() != name + kOutputsSuffix) continue;
      if (stays) {
        cut->mutable_node()->DeleteSubrange(i, 1);
      } else {
        cut->mutable_node(i)->set_name(name);
      }
      break;
    }
  }
  return OkStatus();
}

// The nodes of a cut graph, in which variables become constants.
class Freezer {
 public:
  explicit Freezer(pb::GraphDef* graph_def) : def_(graph_def) {}

  // What has a variable in place of a value: variables, and what hands one on.
  // {node: type of the value}
  Status FindVariables(std::vector<std::string>* names) {
    for (pb::NodeDef& n : *def_->mutable_node()) {
      nodes_[n.name()] = &n;
      if (!IsVariable(n)) continue;
      names->push_back(n.name());
      holders_[n.name()] = n.attr().at("dtype").type();
    }
    // A loop hands on what comes later in the order of nodes.
    for (bool found = true; found;) {
      found = false;
      for (pb::NodeDef& n : *def_->mutable_node()) {
        if (HandsOn(n) && !holders_.contains(n.name()) && n.input_size() > 0 &&
            Holds(n.input(0))) {
          holders_[n.name()] = holders_.at(NodeOf(n.input(0)));
          found = true;
        }
      }
    }
    return OkStatus();
  }

  // Makes constants of the variables, and lets their readers take them.
  Status Replace(const std::map<std::string, Tensor>& values,
                 FreezeReport* report) {
    std::vector<pb::NodeDef> more;
    for (pb::NodeDef& n : *def_->mutable_node()) {
      n.mutable_attr()->erase("_class");  // may name what is gone
      if (IsVariable(n)) {
        HR_RETURN_IF_ERROR(MakeConstant(values, &n, report));
      } else if (ReadsVariable(n)) {
        HR_RETURN_IF_ERROR(MakeReader(&n, &more));
      }
    }
    for (pb::NodeDef& n : more) *def_->add_node() = std::move(n);
    return OkStatus();
  }

 private:
  static bool HandsOn(const pb::NodeDef& n) {
    const OpDef* const op = OpOf(n);
    if (op == nullptr) return false;
    const OpClass c = op->traits->op_class;
    return c == OpClass::kIdentity || c == OpClass::kEnter ||
           c == OpClass::kSwitch || n.op() == "RefIdentity";  // has no class
  }
  bool Holds(const std::string& input) const {
    return !IsControl(input) && holders_.contains(NodeOf(input));
  }
  bool ReadsVariable(const pb::NodeDef& n) const {
    for (const std::string& input : n.input()) {
      if (Holds(input)) return true;
    }
    return false;
  }

  Status MakeConstant(const std::map<std::string, Tensor>& values,
                      pb::NodeDef* n, FreezeReport* report) {
    const auto at = values.find(n->name());
    if (at == values.end()) {
      return errors::NotFound("variable '", n->name(), "' has no value");
    }
    const DataType wanted = static_cast<DataType>(n->attr().at("dtype").type());
    if (at->second.dtype() != wanted) {
      return errors::InvalidArgument(
          "variable '", n->name(), "' is of type ", DataTypeString(wanted),
          ", its value of type ", DataTypeString(at->second.dtype()));
    }
    n->set_op("Const");
    n->clear_attr();
    auto& attrs = *n->mutable_attr();
    attrs["dtype"].set_type(static_cast<pb::DataType>(wanted));
    TensorToAttrProto(at->second, attrs["value"].mutable_tensor());
    ++report->constants;
    report->constant_bytes += static_cast<int64_t>(at->second.TotalBytes());
    return OkStatus();
  }

  Status MakeReader(pb::NodeDef* n, std::vector<pb::NodeDef>* more) {
    auto& attrs = *n->mutable_attr();
    const std::string op = n->op();
    const pb::DataType dtype =
        Holds(n->input(0)) ? holders_.at(NodeOf(n->input(0))) : pb::DT_INVALID;
    if (op == "ReadVariableOp") {
      n->set_op("Identity");
      attrs.erase("dtype");
      attrs["T"].set_type(dtype);
      return OkStatus();
    }
    if (HandsOn(*n) && dtype != pb::DT_INVALID) {
      if (absl::StartsWith(op, "Ref")) n->set_op(op.substr(3));
      attrs["T"].set_type(dtype);
      return OkStatus();
    }
    if (op == "VariableShape") {
      n->set_op("Shape");
      attrs["T"].set_type(dtype);
      return OkStatus();
    }
    if (op == "ResourceGather" && attrs["batch_dims"].i() == 0) {
      pb::NodeDef axis;
      axis.set_name(n->name() + "/axis");
      axis.set_op("Const");
      axis.set_device(n->device());
      (*axis.mutable_attr())["dtype"].set_type(pb::DT_INT32);
      TensorToAttrProto(Tensor::Scalar<int32_t>(0),
                        (*axis.mutable_attr())["value"].mutable_tensor());
      if (nodes_.contains(axis.name())) {
        return errors::AlreadyExists("'", n->name(), "' needs the name '",
                                     axis.name(), "', which another node has");
      }
      const pb::NodeDef old = *n;
      n->set_op("GatherV2");
      n->clear_input();
      n->clear_attr();
      for (const std::string& input : old.input()) {
        if (IsControl(input) && n->input_size() == 2) {
          n->add_input(axis.name());
        }
        n->add_input(input);
      }
      if (n->input_size() == 2) n->add_input(axis.name());
      auto& now = *n->mutable_attr();
      now["Tparams"].set_type(dtype);
      now["Tindices"] = old.attr().at("Tindices");
      now["Taxis"].set_type(pb::DT_INT32);
      more->push_back(std::move(axis));
      return OkStatus();
    }
    if (op == "ResourceGatherNd") {
      n->set_op("GatherNd");
      attrs.erase("dtype");
      attrs["Tparams"].set_type(dtype);
      return OkStatus();
    }
    const OpDef* const def = OpRegistry::Global()->Find(op);
    bool plain = def != nullptr;
    if (plain) {
      for (const OpDef::Arg& arg : def->inputs) {
        plain &= !arg.is_ref && arg.type != DT_RESOURCE;
      }
    }
    // An op that takes values takes a reference's, too.
    for (const std::string& input : n->input()) {
      if (Holds(input) && nodes_.contains(NodeOf(input))) {
        plain &= !resources_.contains(NodeOf(input));
      }
    }
    if (plain) return OkStatus();
    for (const std::string& input : n->input()) {
      if (Holds(input)) {
        return errors::InvalidArgument(
            "'", n->name(), "' (", op, ") uses the variable '", NodeOf(input),
            "' itself, not its value; so the variable cannot become a "
            "constant. Choose outputs that do not need this node");
      }
    }
    return OkStatus();
  }

  pb::GraphDef* const def_;
  absl::flat_hash_map<std::string, pb::NodeDef*> nodes_;
  absl::flat_hash_map<std::string, pb::DataType> holders_;
  absl::flat_hash_set<std::string> resources_;

 public:
  // The holders whose value is a handle.
  void NoteResources() {
    for (const auto& [name, dtype] : holders_) {
      const pb::NodeDef& n = *nodes_.at(name);
      const auto t = n.attr().find("T");
      if (OpOf(n)->outputs[0].type == DT_RESOURCE ||
          (t != n.attr().end() && t->second.type() == pb::DT_RESOURCE)) {
        resources_.insert(name);
      }
    }
  }
};

// Removes control edges from nodes that have no effect, nor have those before
// them; and the nodes that no output needs then. A graph with control flow
// stays as it is: an edge there also says whether a node runs.
void RemoveIdleControl(const std::vector<std::string>& outputs,
                       pb::GraphDef* def) {
  absl::flat_hash_map<std::string, const pb::NodeDef*> nodes;
  for (const pb::NodeDef& n : def->node()) {
    nodes[n.name()] = &n;
    const OpDef* const op = OpRegistry::Global()->Find(n.op());
    if (op != nullptr && op->traits->op_class >= OpClass::kSwitch &&
        op->traits->op_class <= OpClass::kControlTrigger) {
      return;
    }
  }
  // Nodes with effects, and all after them.
  absl::flat_hash_set<std::string> effects;
  for (bool found = true; found;) {
    found = false;
    for (const pb::NodeDef& n : def->node()) {
      if (effects.contains(n.name())) continue;
      const OpDef* const op = OpRegistry::Global()->Find(n.op());
      bool has = op == nullptr || op->is_stateful;
      for (const std::string& input : n.input()) {
        has = has || effects.contains(NodeOf(input));
      }
      if (has) found = effects.insert(n.name()).second;
    }
  }
  std::vector<std::string> todo = outputs;
  absl::flat_hash_set<std::string> needed;
  while (!todo.empty()) {
    const std::string name = std::move(todo.back());
    todo.pop_back();
    const auto at = nodes.find(name);
    if (at == nodes.end() || !needed.insert(name).second) continue;
    for (const std::string& input : at->second->input()) {
      if (!IsControl(input) || effects.contains(NodeOf(input))) {
        todo.push_back(NodeOf(input));
      }
    }
  }
  pb::GraphDef out;
  for (pb::NodeDef& n : *def->mutable_node()) {
    if (!needed.contains(n.name())) continue;
    auto* const inputs = n.mutable_input();
    for (int i = n.input_size() - 1; i >= 0; --i) {
      if (IsControl(n.input(i)) && !effects.contains(NodeOf(n.input(i)))) {
        inputs->DeleteSubrange(i, 1);
      }
    }
    *out.add_node() = std::move(n);
  }
  def->mutable_node()->Swap(out.mutable_node());
}

// The output is the one input, and a model that is only run does not need the
// node: it does nothing else, or may stop the step.
bool OnlyHandsOn(const OpDef& op) {
  if (op.inputs.size() != 1 || op.outputs.size() != 1 ||
      op.inputs[0].number_attr >= 0 || op.inputs[0].type_list_attr >= 0) {
    return false;
  }
  const Effect effects = EffectsOf(op);
  return effects == Effect::kNone
             ? op.traits->no_op_when == NoOpWhen::kAlways
             : effects == Effect::kStops && op.traits->keeps_shape;
}

// Removes nodes that only hand a value on, or check or stop something while
// training.
void RemoveTrainingNodes(const std::vector<std::string>& outputs,
                         pb::GraphDef* def, int* removed) {
  absl::flat_hash_set<std::string> kept(outputs.begin(), outputs.end());
  for (const pb::NodeDef& n : def->node()) {
    for (const std::string& input : n.input()) {
      if (!IsControl(input)) continue;
      kept.insert(n.name());
      kept.insert(NodeOf(input));
    }
  }
  absl::flat_hash_map<std::string, std::string> instead;
  for (const pb::NodeDef& n : def->node()) {
    const OpDef* const op = OpOf(n);
    if (op != nullptr && OnlyHandsOn(*op) && !kept.contains(n.name()) &&
        n.input_size() > 0) {
      instead[n.name()] = n.input(0);
    }
  }
  pb::GraphDef out;
  out.mutable_node()->Reserve(def->node_size());
  for (pb::NodeDef& n : *def->mutable_node()) {
    if (instead.contains(n.name())) continue;
    for (std::string& input : *n.mutable_input()) {
      for (auto at = instead.find(NodeOf(input)); at != instead.end();
           at = instead.find(NodeOf(input))) {
        input = at->second;
      }
    }
    *out.add_node() = std::move(n);
  }
  def->mutable_node()->Swap(out.mutable_node());
  *removed = static_cast<int>(instead.size());
}

bool CallsFunctions(const pb::GraphDef& def) {
  absl::flat_hash_set<std::string> functions;
  for (const pb::FunctionDef& f : def.library().function()) {
    functions.insert(f.signature().name());
  }
  for (const pb::NodeDef& n : def.node()) {
    if (functions.contains(n.op())) return true;
    for (const auto& [name, value] : n.attr()) {
      if (value.has_func() || value.list().func_size() > 0) return true;
    }
  }
  return false;
}

}  // namespace

Status Freeze(const pb::GraphDef& graph_def,
              const std::vector<std::string>& outputs,
              const ReadVariables& read, pb::GraphDef* frozen,
              FreezeReport* report) {
  HR_RETURN_IF_ERROR(CutAndInline(graph_def, outputs, frozen, report));
  Freezer freezer(frozen);
  std::vector<std::string> names;
  HR_RETURN_IF_ERROR(freezer.FindVariables(&names));
  freezer.NoteResources();
  std::map<std::string, Tensor> values;
  if (!names.empty()) HR_RETURN_IF_ERROR(read(names, &values));
  HR_RETURN_IF_ERROR(freezer.Replace(values, report));
  RemoveIdleControl(outputs, frozen);
  RemoveTrainingNodes(outputs, frozen, &report->removed);
  if (!CallsFunctions(*frozen)) frozen->clear_library();
  for (const pb::NodeDef& n : frozen->node()) {
    if (absl::StrContains(n.op(), "Table") ||
        absl::StrContains(n.op(), "Queue") ||
        absl::StrContains(n.op(), "Iterator")) {
      const OpDef* const def = OpRegistry::Global()->Find(n.op());
      if (def != nullptr && def->inputs.empty()) {
        report->stateful.push_back(StrCat("'", n.name(), "' (", n.op(), ")"));
      }
    }
  }
  // What was made must be a graph.
  Graph check;
  return Annotate(ImportGraphDef(ImportOptions(), *frozen, &check),
                  " (in the frozen graph)");
}

}  // namespace headrace::cli
