// Nodes of a function body name their inputs differently from nodes of a
// GraphDef. "x" and "x:i" mean argument x, or element i of a list argument.
// "n:y" and "n:y:i" mean the output y of node n, where y is the output's name
// in n's op. The name of a whole list means all its elements.
#include "graph/function_body.h"

#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "framework/op/tensor_proto.h"
#include "graph/algorithm.h"

namespace headrace {
namespace {

class BodyBuilder {
 public:
  BodyBuilder(const std::shared_ptr<FunctionLibrary>& library,
              const pb::FunctionDef& def, const OpDef& signature,
              const GraphVersions& versions)
      : def_(def), signature_(signature) {
    body_.graph = std::make_unique<Graph>();
    body_.graph->versions() = versions;
    body_.graph->set_functions(library);
  }

  StatusOr<FunctionBody> Build(const AttrMap& attrs) {
    for (const auto& [name, value] : attrs) {
      if (!absl::StartsWith(name, "_")) attrs_.Set(name, value);
    }
    AddDefaultAttrs(signature_, &attrs_);
    HR_RETURN_IF_ERROR(
        InOutTypes(signature_, attrs_, &body_.arg_types, &body_.ret_types));
    HR_RETURN_IF_ERROR(AddArgs());
    for (const pb::NodeDef& n : def_.node_def()) {
      HR_RETURN_IF_ERROR(AddNode(n));
    }
    for (int i = 0; i < def_.node_def_size(); ++i) {
      HR_RETURN_IF_ERROR(Connect(def_.node_def(i), nodes_[i]));
    }
    HR_RETURN_IF_ERROR(AddRets());
    HR_RETURN_IF_ERROR(CollectEffects());
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(*body_.graph, &order));
    for (Node* n : order) {
      if (!n->IsArg()) HR_RETURN_IF_ERROR(body_.graph->InferShapes(n));
    }
    return std::move(body_);
  }

 private:
  using Values = std::vector<Endpoint>;

  Status AddArgs() {
    std::vector<ArgRange> ranges;
    HR_RETURN_IF_ERROR(
        ArgRanges(signature_.inputs, signature_, attrs_, &ranges));
    for (size_t a = 0; a < ranges.size(); ++a) {
      const OpDef::Arg& arg = signature_.inputs[a];
      const bool is_list = arg.number_attr >= 0 || arg.type_list_attr >= 0;
      Values values;
      for (int i = ranges[a].begin; i < ranges[a].end; ++i) {
        NodeDef def;
        def.name =
            is_list ? StrCat(arg.name, "_", i - ranges[a].begin) : arg.name;
        def.op = "_Arg";
        def.attrs.Set("T", BaseType(body_.arg_types[i]));
        def.attrs.Set("index", i);
        HR_ASSIGN_OR_RETURN(Node * n,
                            body_.graph->AddUnconnectedNode(std::move(def)));
        body_.args.push_back(n);
        values.push_back({n, 0});
      }
      if (!values.empty()) control_names_[arg.name] = values[0].node;
      values_[arg.name] = std::move(values);
    }
    return OkStatus();
  }

  Status AddNode(const pb::NodeDef& proto) {
    NodeDef def;
    HR_RETURN_IF_ERROR(NodeDefFromProto(proto, &def));
    def.inputs.clear();
    AttrMap attrs;
    for (const auto& [name, value] : def.attrs) {
      AttrValue v;
      HR_RETURN_IF_ERROR(
          Annotate(Substitute(value, &v),
                   StrCat(" in attr '", name, "' of node '", def.name, "'")));
      // A shape asserted for one call need not hold for another.
      if (name != "_output_shapes") attrs.Set(name, std::move(v));
    }
    def.attrs = std::move(attrs);
    HR_ASSIGN_OR_RETURN(Node * n,
                        body_.graph->AddUnconnectedNode(std::move(def)));
    // A call gives and takes each value once.
    if (n->IsArg() || n->IsRetval()) {
      return errors::InvalidArgument(
          "Node '", n->name(), "' of the body has op ", n->type_string(),
          "; a function names its arguments in 'signature' and its results in "
          "'ret'");
    }
    nodes_.push_back(n);
    control_names_[n->name()] = n;
    std::vector<ArgRange> ranges;
    HR_RETURN_IF_ERROR(
        ArgRanges(n->op_def().outputs, n->op_def(), n->attrs(), &ranges));
    for (size_t o = 0; o < ranges.size(); ++o) {
      Values values;
      for (int i = ranges[o].begin; i < ranges[o].end; ++i) {
        values.push_back({n, i});
      }
      values_[StrCat(n->name(), ":", n->op_def().outputs[o].name)] =
          std::move(values);
    }
    return OkStatus();
  }

  // Puts the function's attrs where `v` has placeholders, and into functions
  // that it names.
  Status Substitute(const AttrValue& v, AttrValue* out) const {
    if (const auto* p = v.Get<AttrValue::Placeholder>()) {
      const AttrValue* given = attrs_.Find(p->name);
      if (given == nullptr) {
        return errors::InvalidArgument("no value for placeholder $", p->name);
      }
      *out = *given;
      return OkStatus();
    }
    if (const auto* f = v.Get<NameAttrList>()) {
      NameAttrList g;
      HR_RETURN_IF_ERROR(Substitute(*f, &g));
      *out = std::move(g);
      return OkStatus();
    }
    if (const auto* list = v.Get<std::vector<NameAttrList>>()) {
      std::vector<NameAttrList> functions(list->size());
      for (size_t i = 0; i < list->size(); ++i) {
        HR_RETURN_IF_ERROR(Substitute((*list)[i], &functions[i]));
      }
      *out = std::move(functions);
      return OkStatus();
    }
    *out = v;
    return OkStatus();
  }
  Status Substitute(const NameAttrList& f, NameAttrList* out) const {
    out->name = f.name;
    if (f.attrs == nullptr) return OkStatus();
    auto attrs = std::make_shared<AttrMap>();
    for (const auto& [name, value] : *f.attrs) {
      AttrValue v;
      HR_RETURN_IF_ERROR(Substitute(value, &v));
      attrs->Set(name, std::move(v));
    }
    out->attrs = std::move(attrs);
    return OkStatus();
  }

  // Appends the values that `name` refers to.
  Status Resolve(const std::string& name, Values* out) const {
    auto it = values_.find(name);
    if (it != values_.end()) {
      out->insert(out->end(), it->second.begin(), it->second.end());
      return OkStatus();
    }
    const size_t colon = name.rfind(':');
    int index;
    if (colon != std::string::npos &&
        absl::SimpleAtoi(name.substr(colon + 1), &index)) {
      it = values_.find(name.substr(0, colon));
      if (it != values_.end() && index >= 0 &&
          index < static_cast<int>(it->second.size())) {
        out->push_back(it->second[index]);
        return OkStatus();
      }
    }
    return errors::InvalidArgument(
        "'", name,
        "' names neither an argument nor an output of a node of the body");
  }

  Status Connect(const pb::NodeDef& proto, Node* n) {
    Values inputs;
    bool control_seen = false;
    for (const std::string& input : proto.input()) {
      if (absl::StartsWith(input, "^")) {
        control_seen = true;
        const auto it = control_names_.find(input.substr(1));
        if (it == control_names_.end()) {
          return errors::InvalidArgument(
              "Node '", n->name(), "': unknown control input '", input, "'");
        }
        body_.graph->AddControlEdge(it->second, n);
        continue;
      }
      if (control_seen) {
        return errors::InvalidArgument(
            "Node '", n->name(),
            "': Control dependencies must come after regular dependencies");
      }
      HR_RETURN_IF_ERROR(Annotate(Resolve(input, &inputs),
                                  StrCat(" (an input of '", n->name(), "')")));
    }
    if (static_cast<int>(inputs.size()) != n->num_inputs()) {
      return errors::InvalidArgument("Node '", n->name(), "' of op ",
                                     n->type_string(), " has ", inputs.size(),
                                     " inputs, wanted ", n->num_inputs());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      HR_RETURN_IF_ERROR(
          body_.graph->AddEdge(inputs[i], n, static_cast<int>(i)));
    }
    return OkStatus();
  }

  Status AddRets() {
    std::vector<ArgRange> ranges;
    HR_RETURN_IF_ERROR(
        ArgRanges(signature_.outputs, signature_, attrs_, &ranges));
    for (size_t o = 0; o < ranges.size(); ++o) {
      const std::string& name = signature_.outputs[o].name;
      const auto it = def_.ret().find(name);
      if (it == def_.ret().end()) {
        return errors::InvalidArgument("result '", name, "' is not in 'ret'");
      }
      Values values;
      HR_RETURN_IF_ERROR(Annotate(Resolve(it->second, &values),
                                  StrCat(" (result '", name, "')")));
      if (static_cast<int>(values.size()) != ranges[o].end - ranges[o].begin) {
        return errors::InvalidArgument(
            "result '", name, "' has ", ranges[o].end - ranges[o].begin,
            " tensors, but '", it->second, "' has ", values.size());
      }
      for (int i = ranges[o].begin; i < ranges[o].end; ++i) {
        NodeDef def;
        def.name = body_.graph->UniqueName(StrCat(name, "_RetVal"));
        def.op = "_Retval";
        def.attrs.Set("T", BaseType(body_.ret_types[i]));
        def.attrs.Set("index", i);
        HR_ASSIGN_OR_RETURN(Node * n,
                            body_.graph->AddUnconnectedNode(std::move(def)));
        HR_RETURN_IF_ERROR(
            body_.graph->AddEdge(values[i - ranges[o].begin], n, 0));
        body_.rets.push_back(n);
      }
    }
    return OkStatus();
  }

  Status CollectEffects() {
    absl::flat_hash_set<const Node*> named;
    for (const auto& [name, node] : std::map<std::string, std::string>(
             def_.control_ret().begin(), def_.control_ret().end())) {
      const auto it = control_names_.find(node);
      if (it == control_names_.end()) {
        return errors::InvalidArgument("control result '", name,
                                       "' names unknown node '", node, "'");
      }
      named.insert(it->second);
    }
    for (Node* n : nodes_) {
      if (named.contains(n) || HasSideEffect(*n)) body_.effects.push_back(n);
    }
    return OkStatus();
  }

  const pb::FunctionDef& def_;
  const OpDef& signature_;
  AttrMap attrs_;
  FunctionBody body_;
  std::vector<Node*> nodes_;  // as def_.node_def()
  absl::flat_hash_map<std::string, Values> values_;
  absl::flat_hash_map<std::string, Node*> control_names_;
};

}  // namespace

StatusOr<FunctionBody> BuildFunctionBody(
    const std::shared_ptr<FunctionLibrary>& library, const std::string& name,
    const AttrMap& attrs, const GraphVersions& versions) {
  const auto def = library == nullptr ? nullptr : library->Find(name);
  const OpDef* signature = def == nullptr ? nullptr : library->FindOpDef(name);
  if (signature == nullptr) {
    return errors::NotFound("Function ", name, " is not defined.");
  }
  StatusOr<FunctionBody> body =
      BodyBuilder(library, *def, *signature, versions).Build(attrs);
  if (body.ok()) return body;
  return Annotate(body.status(), StrCat(", in function '", name, "'"));
}

bool HasSideEffect(const Node& n) {
  return n.op_def().is_stateful && !n.IsArg() && !n.IsRetval() &&
         HasAny(n.effects(), ~Effect::kReadsState);
}

bool IsFunctionCall(const Node& n) {
  return OpRegistry::Global()->Find(n.type_string()) != &n.op_def();
}

}  // namespace headrace
