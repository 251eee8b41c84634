#include "headrace/cc/op_call.h"

#include <algorithm>
#include <utility>

#include "cc/scope_data.h"
#include "headrace/op.h"

namespace headrace {

AttrList::AttrList() = default;
AttrList::AttrList(const AttrList& list) = default;
AttrList& AttrList::operator=(const AttrList& list) = default;
AttrList::~AttrList() = default;

void AttrList::SetAttr(const char* name, AttrValue value) {
  attrs_.Set(name, std::move(value));
}

OpCall::OpCall(const Scope& scope, const char* op, std::string name)
    : scope_(scope), op_(op), name_(std::move(name)) {}
OpCall::~OpCall() = default;

OpCall& OpCall::Add(const Input& input) {
  args_.push_back({{input}, false});
  return *this;
}

OpCall& OpCall::Add(const InputList& list) {
  args_.push_back({list.inputs(), true});
  return *this;
}

OpCall& OpCall::Set(const char* attr, AttrValue value) {
  attrs_.Set(attr, std::move(value));
  return *this;
}

OpCall& OpCall::Set(const AttrList& attrs) {
  for (const auto& [name, value] : attrs.attrs()) attrs_.Set(name, value);
  return *this;
}

namespace {

bool IsList(const OpDef::Arg& arg) {
  return arg.number_attr >= 0 || arg.type_list_attr >= 0;
}

bool Allows(const OpDef::Attr& attr, DataType dtype) {
  const auto& types = attr.allowed_types;
  return types.empty() ||
         std::find(types.begin(), types.end(), dtype) != types.end();
}

// The type that numbers have which alone say what attr is.
DataType TypeOfLiterals(const OpDef::Attr& attr,
                        const std::vector<const Tensor*>& literals) {
  DataType dtype = DT_INVALID;
  for (const Tensor* t : literals) {
    // A double among whole numbers makes them doubles.
    if (dtype == DT_INVALID || DataTypeIsFloating(t->dtype())) {
      dtype = t->dtype();
    }
  }
  if (Allows(attr, dtype) || !attr.default_value) return dtype;
  const DataType* const by_default = attr.default_value->Get<DataType>();
  return by_default == nullptr ? dtype : *by_default;
}

}  // namespace

Status OpCall::Build(Node** node) {
  const internal::ScopeData& data = *scope_.data();
  Graph* const graph = data.shared->graph.get();
  const OpDef* def = nullptr;
  HR_RETURN_IF_ERROR(OpRegistry::Global()->LookUp(op_, &def));
  std::string name = name_.empty() ? scope_.GetUniqueNameForOp(op_)
                                   : data.shared->Unique(name_);
  const auto error = [&](const auto&... what) {
    return errors::InvalidArgument(op_, " '", name, "': ", what...);
  };
  if (args_.size() != def->inputs.size()) {
    return error("got ", args_.size(), " arguments, wanted ",
                 def->inputs.size());
  }

  // What the type attrs are, by tensors and by what was set; then by numbers.
  std::vector<DataType> types(def->attrs.size(), DT_INVALID);
  std::vector<std::vector<const Tensor*>> literals(def->attrs.size());
  for (size_t i = 0; i < def->attrs.size(); ++i) {
    const AttrValue* const set = attrs_.Find(def->attrs[i].name);
    const DataType* const dtype =
        set == nullptr ? nullptr : set->Get<DataType>();
    if (dtype != nullptr) types[i] = *dtype;
  }
  for (size_t i = 0; i < args_.size(); ++i) {
    const OpDef::Arg& arg = def->inputs[i];
    if (args_[i].is_list != IsList(arg)) {
      return error("argument '", arg.name, "' is ",
                   IsList(arg) ? "a list" : "one tensor", ", got ",
                   IsList(arg) ? "one tensor" : "a list");
    }
    for (const Input& input : args_[i].inputs) {
      if (input.is_value()) {
        HR_RETURN_IF_ERROR(Annotate(
            input.value().status,
            StrCat(" (argument '", arg.name, "' of ", op_, " '", name, "')")));
        if (arg.type_attr >= 0) {
          const Tensor& value = input.value().tensor;
          if (input.value().is_literal) {
            literals[arg.type_attr].push_back(&value);
          } else if (types[arg.type_attr] == DT_INVALID) {
            types[arg.type_attr] = value.dtype();
          }
        }
        continue;
      }
      const Output& output = input.output();
      if (output.empty()) {
        return error("argument '", arg.name, "' is an empty Output");
      }
      if (output.op().scope_data()->shared->graph.get() != graph) {
        return error("argument '", arg.name, "' is ", output.name(),
                     " of another graph");
      }
      if (output.index() < 0 ||
          output.index() >= output.node()->num_outputs()) {
        return error("argument '", arg.name, "': '", output.node()->name(),
                     "' has ", output.node()->num_outputs(),
                     " outputs, got output ", output.index());
      }
      if (arg.type_attr >= 0 && types[arg.type_attr] == DT_INVALID) {
        types[arg.type_attr] = output.type();
      }
    }
  }

  std::vector<Endpoint> inputs;
  std::vector<int> sizes;
  MutexLock lock(&graph->mu());
  for (size_t i = 0; i < args_.size(); ++i) {
    const OpDef::Arg& arg = def->inputs[i];
    int number = 0;
    for (const Input& input : args_[i].inputs) {
      if (!input.is_value()) {
        inputs.push_back(input.output().endpoint());
        continue;
      }
      Tensor value = input.value().tensor;
      DataType wanted = arg.type;
      if (arg.type_attr >= 0) {
        DataType& type = types[arg.type_attr];
        if (type == DT_INVALID) {
          type = TypeOfLiterals(def->attrs[arg.type_attr],
                                literals[arg.type_attr]);
        }
        wanted = type;
      }
      if (arg.is_ref) {
        return error("argument '", arg.name, "' is a variable, got a value");
      }
      if (input.value().is_literal && wanted != DT_INVALID) {
        HR_RETURN_IF_ERROR(Annotate(
            internal::ConvertLiteral(input.value().tensor, wanted, &value),
            StrCat(" (argument '", arg.name, "' of ", op_, " '", name, "')")));
      }
      NodeDef constant;
      constant.name = StrCat(name, "/", arg.name);
      if (number++ > 0) StrAppend(&constant.name, "_", number - 1);
      constant.name = graph->UniqueName(constant.name);
      constant.op = "Const";
      constant.device = data.device;
      constant.attrs.Set("dtype", value.dtype());
      constant.attrs.Set("value", std::move(value));
      HR_ASSIGN_OR_RETURN(Node* const n,
                          graph->AddNode(std::move(constant), {}));
      inputs.push_back({n, 0});
    }
    sizes.push_back(static_cast<int>(args_[i].inputs.size()));
  }

  NodeDef node_def;
  node_def.name = std::move(name);
  node_def.op = op_;
  node_def.device = data.device;
  node_def.attrs = std::move(attrs_);
  if (!data.colocation.empty()) {
    node_def.attrs.Set("_class", std::vector<std::string>{data.colocation});
  }
  return MoveTo(
      graph->AddNode(std::move(node_def), inputs, data.controls, sizes), node);
}

Operation OpCall::Finish() {
  if (!scope_.ok()) return Operation();
  Node* node = nullptr;
  const Status s = Build(&node);
  if (!s.ok()) {
    scope_.UpdateStatus(s);
    return Operation();
  }
  return Operation(node, scope_.data());
}

Output OpCall::Finish(int index) {
  const Operation op = Finish();
  return op.empty() ? Output() : Output(op, index);
}

OutputList OutputsOfArg(const Operation& op, int arg) {
  OutputList outputs;
  if (op.empty()) return outputs;
  std::vector<ArgRange> ranges;
  const OpDef& def = op.node()->op_def();
  if (!ArgRanges(def.outputs, def, op.node()->attrs(), &ranges).ok() ||
      arg < 0 || arg >= static_cast<int>(ranges.size())) {
    return outputs;
  }
  for (int i = ranges[arg].begin; i < ranges[arg].end; ++i) {
    outputs.emplace_back(op, i);
  }
  return outputs;
}

Output OutputOfArg(const Operation& op, int arg) {
  const OutputList outputs = OutputsOfArg(op, arg);
  return outputs.size() == 1 ? outputs[0] : Output();
}

}  // namespace headrace
