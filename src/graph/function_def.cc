#include "graph/function_def.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "framework/op/tensor_proto.h"

namespace headrace {
namespace {

// `name` as the name of an argument: lower-case letters, digits and "_".
std::string ArgumentName(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (out.empty() && !absl::ascii_isalpha(c)) continue;
    out += absl::ascii_isalnum(c) ? absl::ascii_tolower(c) : '_';
  }
  return out.empty() ? "unknown" : out;
}

class Maker {
 public:
  Maker(const FunctionParts& parts, pb::FunctionDef* def)
      : parts_(parts), def_(def) {}

  Status Make() {
    def_->Clear();
    def_->mutable_signature()->set_name(parts_.name);
    HR_RETURN_IF_ERROR(NameResults());
    HR_RETURN_IF_ERROR(AddInputs());
    for (const Node* n : parts_.body) {
      if (names_.contains(n)) continue;  // listed twice
      names_[n] = Unique(n->name());
      if (n->op_def().is_stateful) {
        def_->mutable_signature()->set_is_stateful(true);
      }
    }
    absl::flat_hash_set<const Node*> done;
    for (const Node* n : parts_.body) {
      if (done.insert(n).second) HR_RETURN_IF_ERROR(AddNode(*n));
    }
    return AddResults();
  }

 private:
  std::string Unique(const std::string& name) {
    std::string unique = name;
    for (int i = 0; !used_.insert(unique).second; ++i) {
      unique = StrCat(name, "_", i);
    }
    return unique;
  }

  Status NameResults() {
    const bool given = !parts_.output_names.empty();
    for (size_t i = 0; i < parts_.outputs.size(); ++i) {
      const Node* const n = parts_.outputs[i].node;
      const std::string name =
          given ? parts_.output_names[i] : Unique(ArgumentName(n->name()));
      if (given && !used_.insert(name).second) {
        return errors::InvalidArgument(
            "Cannot have duplicate output names. Name '", name,
            "' appears more than once in 'output_names' array.");
      }
      result_names_.push_back(name);
    }
    return OkStatus();
  }

  static Status CheckType(const Endpoint& e) {
    const DataType dtype = e.node->output_type(e.index);
    if (BaseType(dtype) == dtype) return OkStatus();
    return errors::InvalidArgument("Output ", e.index, " of node '",
                                   e.node->name(), "' has a reference type ",
                                   DataTypeString(dtype));
  }

  Status AddInputs() {
    for (const Endpoint& e : parts_.inputs) {
      HR_RETURN_IF_ERROR(CheckType(e));
      const std::string name = Unique(ArgumentName(e.node->name()));
      if (!arguments_.emplace(e, name).second) {
        return errors::InvalidArgument("TF_Output ", e.node->name(), ":",
                                       e.index,
                                       " appears more than once in the input "
                                       "list");
      }
      argument_of_.emplace(e.node, name);
      auto* const arg = def_->mutable_signature()->add_input_arg();
      arg->set_name(name);
      arg->set_type(static_cast<pb::DataType>(e.node->output_type(e.index)));
    }
    return OkStatus();
  }

  // What `e` is called in the function; "" if it is not there.
  StatusOr<std::string> Reference(const Endpoint& e) {
    if (const auto it = arguments_.find(e); it != arguments_.end()) {
      return it->second;
    }
    const auto it = names_.find(e.node);
    if (it == names_.end()) return std::string();
    std::vector<ArgRange> ranges;
    const OpDef& op = e.node->op_def();
    HR_RETURN_IF_ERROR(ArgRanges(op.outputs, op, e.node->attrs(), &ranges));
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (e.index < ranges[i].begin || e.index >= ranges[i].end) continue;
      return StrCat(it->second, ":", op.outputs[i].name, ":",
                    e.index - ranges[i].begin);
    }
    return errors::Internal("node '", e.node->name(), "' has no output ",
                            e.index);
  }

  // An attr of the function for each placeholder in an attr of `n`, with the
  // type that it has there.
  Status AddAttrs(const Node& n) {
    for (const auto& [name, value] : n.attrs()) {
      const auto* const p = value.Get<AttrValue::Placeholder>();
      if (p == nullptr || p->name.empty()) continue;
      const int attr = n.op_def().FindAttr(name);
      if (attr < 0) {
        return errors::Unimplemented(
            "Placeholder value is not supported for attributes not in OpDef. "
            "Attribute: ",
            name, ", OpDef: ", n.op_def().DebugString());
      }
      const char* const type = AttrTypeName(n.op_def().attrs[attr].type);
      const auto [it, is_new] = attrs_.emplace(p->name, type);
      if (is_new) {
        auto* const made = def_->mutable_signature()->add_attr();
        made->set_name(p->name);
        made->set_type(type);
      } else if (it->second != type) {
        return errors::InvalidArgument("attr '", p->name, "' of function '",
                                       parts_.name, "' would be a ", it->second,
                                       " and, for attr '", name, "' of node '",
                                       n.name(), "', a ", type);
      }
    }
    return OkStatus();
  }

  Status AddNode(const Node& n) {
    pb::NodeDef* const node = def_->add_node_def();
    NodeDefToProto(n.def(), node);
    HR_RETURN_IF_ERROR(AddAttrs(n));
    node->set_name(names_[&n]);
    node->clear_input();
    for (int i = 0; i < n.num_inputs(); ++i) {
      const Edge* const e = n.input_edge(i);
      const Endpoint from{e->src(), e->src_output()};
      HR_ASSIGN_OR_RETURN(const std::string name, Reference(from));
      if (name.empty()) {
        return errors::InvalidArgument(
            "Input ", i, ", '", e->src()->name(), ":", e->src_output(),
            "', of node '", n.name(), "' in function '", parts_.name,
            "' is not available. You might need to include it in inputs or "
            "include its source node in the body");
      }
      node->add_input(name);
    }
    for (const Edge* e : n.control_inputs()) {
      const auto inside = names_.find(e->src());
      const auto argument = argument_of_.find(e->src());
      if (inside == names_.end() && argument == argument_of_.end()) {
        return errors::InvalidArgument(
            "The source of control edge '", e->src()->name(), "' -> '",
            n.name(),
            "' is not in the body. Encountered while creating function '",
            parts_.name, "'");
      }
      node->add_input(StrCat(
          "^", inside != names_.end() ? inside->second : argument->second));
    }
    return OkStatus();
  }

  Status AddResults() {
    for (size_t i = 0; i < parts_.outputs.size(); ++i) {
      const Endpoint& e = parts_.outputs[i];
      HR_RETURN_IF_ERROR(CheckType(e));
      HR_ASSIGN_OR_RETURN(const std::string name, Reference(e));
      if (name.empty()) {
        return errors::InvalidArgument(
            "TF_Output ", e.node->name(), ":", e.index,
            " is neither in the function body nor among function inputs. "
            "Encountered while creating function '",
            parts_.name, "'");
      }
      auto* const arg = def_->mutable_signature()->add_output_arg();
      arg->set_name(result_names_[i]);
      arg->set_type(static_cast<pb::DataType>(e.node->output_type(e.index)));
      (*def_->mutable_ret())[result_names_[i]] = name;
    }
    for (const auto& [name, n] : parts_.control_outputs) {
      const auto it = names_.find(n);
      if (it == names_.end()) {
        return errors::InvalidArgument("control output '", n->name(),
                                       "' of function '", parts_.name,
                                       "' is not in the body");
      }
      const std::string as = name.empty() ? it->second : name;
      if (!def_->mutable_control_ret()->insert({as, it->second}).second) {
        return errors::InvalidArgument("function '", parts_.name,
                                       "' has two control outputs '", as, "'");
      }
      def_->mutable_signature()->add_control_output(as);
    }
    return OkStatus();
  }

  const FunctionParts& parts_;
  pb::FunctionDef* const def_;
  absl::flat_hash_set<std::string> used_;
  std::vector<std::string> result_names_;
  absl::flat_hash_map<Endpoint, std::string> arguments_;
  absl::flat_hash_map<const Node*, std::string> argument_of_;
  absl::flat_hash_map<const Node*, std::string> names_;  // of the body
  absl::flat_hash_map<std::string, std::string> attrs_;  // to their types
};

}  // namespace

Status MakeFunctionDef(const FunctionParts& parts, pb::FunctionDef* def) {
  if (!parts.output_names.empty() &&
      parts.output_names.size() != parts.outputs.size()) {
    return errors::InvalidArgument("function '", parts.name, "' has ",
                                   parts.outputs.size(), " results and ",
                                   parts.output_names.size(), " names");
  }
  return Maker(parts, def).Make();
}

}  // namespace headrace
