// Attr and shape inference for one node. Most nodes of a graph have one of a
// few shape functions whose result is plain to see; these skip the general
// context, which costs a dozen allocations.
#include "graph/infer.h"

#include <optional>

#include "framework/shape_fns/common_shape_fns.h"
#include "graph/constant_eval.h"
#include "graph/shape_value.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

const PartialTensorShape& ShapeOf(const Endpoint& e) {
  static const auto* const kUnknown = new PartialTensorShape();
  return e.node == nullptr ? *kUnknown : e.node->output_shape(e.index);
}

bool HasResource(absl::Span<const Endpoint> inputs) {
  for (const Endpoint& e : inputs) {
    if (e.node != nullptr &&
        BaseType(e.node->output_type(e.index)) == DT_RESOURCE) {
      return true;
    }
  }
  return false;
}

// True if `fn` is one whose result is written down here.
bool InferPlainly(ShapeFn fn, absl::Span<const Endpoint> inputs,
                  InferredShapes* out) {
  if (fn == nullptr || fn == shape_inference::UnknownShape ||
      fn == shape_inference::NoOutputs) {
    return true;
  }
  if (out->shapes.size() != 1) return false;
  if (fn == shape_inference::UnchangedShape) {
    if (inputs.empty() || HasResource(inputs)) return false;
    out->shapes[0] = ShapeOf(inputs[0]);
    return true;
  }
  if (fn == shape_inference::BroadcastBinaryOp) {
    if (inputs.size() != 2) return false;
    const PartialTensorShape& a = ShapeOf(inputs[0]);
    const PartialTensorShape& b = ShapeOf(inputs[1]);
    if (a.dims() == 0) {
      out->shapes[0] = b;
    } else if (b.dims() == 0 || (a == b && a.IsFullyDefined())) {
      out->shapes[0] = a;
    } else {
      return false;
    }
    return true;
  }
  return false;
}

std::string InputShapes(absl::Span<const Endpoint> inputs) {
  std::string s;
  for (size_t i = 0; i < inputs.size() && i < 32; ++i) {
    StrAppend(&s, i == 0 ? "" : ", ", ShapeOf(inputs[i]).DebugString());
  }
  return s;
}

// Values of inputs for one shape function: what was found so far.
class InputValues {
 public:
  explicit InputValues(absl::Span<const Endpoint> inputs)
      : inputs_(inputs),
        storage_(inputs.size()),
        tried_(inputs.size()),
        values_(inputs.size()),
        as_shapes_(inputs.size()) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].node != nullptr && inputs[i].node->IsConstant()) {
        values_[i] = ConstantValue(*inputs[i].node);
      }
    }
  }

  const std::vector<const Tensor*>& values() const { return values_; }
  const std::vector<PartialTensorShape>& as_shapes() const {
    return as_shapes_;
  }

  // Looks for the values that `c` requested but did not have. True if it found
  // one.
  bool Supply(const InferenceContext& c) {
    bool found = false;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (values_[i] != nullptr || tried_[i] != 0 ||
          inputs_[i].node == nullptr) {
        continue;
      }
      if (!c.requested_input_tensor(i) && !c.requested_input_as_shape(i)) {
        continue;
      }
      tried_[i] = 1;
      const Endpoint from = SourceOfInvariant(inputs_[i]);
      if (EvaluateConstant(from, &storage_[i]) ||
          EvaluateShapeValue(from, &storage_[i])) {
        values_[i] = &storage_[i];
        found = true;
      } else if (EvaluateAsShape(from, &as_shapes_[i])) {
        found = true;
      }
    }
    return found;
  }

 private:
  absl::Span<const Endpoint> inputs_;
  std::vector<Tensor> storage_;
  std::vector<char> tried_;
  std::vector<const Tensor*> values_;
  std::vector<PartialTensorShape> as_shapes_;
};

Status InferGenerally(const OpDef& op_def, const NodeDef& def,
                      absl::Span<const Endpoint> inputs, int num_outputs,
                      InferredShapes* out) {
  InputValues values(inputs);
  std::vector<PartialTensorShape> shapes;
  shapes.reserve(inputs.size());
  for (const Endpoint& e : inputs) shapes.push_back(ShapeOf(e));
  std::vector<std::vector<DtypeAndShape>> handles;
  if (HasResource(inputs)) {
    for (const Endpoint& e : inputs) {
      handles.push_back(e.node == nullptr ? std::vector<DtypeAndShape>()
                                          : e.node->output_handle(e.index));
    }
  }
  // Each round but the last finds the value of another input.
  while (true) {
    InferenceContext c(&op_def, &def.attrs, shapes, values.values(),
                       values.as_shapes(), handles, num_outputs);
    HR_RETURN_IF_ERROR(c.Run(op_def.shape_fn));
    if (values.Supply(c)) continue;
    for (int i = 0; i < num_outputs; ++i) out->shapes[i] = c.output(i);
    for (const auto& h : c.output_handles()) {
      if (!h.empty()) {
        out->handles = c.output_handles();
        break;
      }
    }
    return OkStatus();
  }
}

// "2 inputs (x: float, y: N * T)".
std::string DescribeInputs(const OpDef& def,
                           absl::Span<const DataType> wanted) {
  std::string s = StrCat(wanted.size(), " inputs (");
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    StrAppend(&s, i == 0 ? "" : ", ", def.inputs[i].name);
  }
  return s + ")";
}

}  // namespace

Status InferAttrsFromInputs(const OpDef& def, absl::Span<const DataType> given,
                            absl::Span<const int> arg_sizes, AttrMap* attrs) {
  // The size of arg i if the attrs tell, else nothing.
  const auto size_attr = [&](const OpDef::Arg& arg) {
    return arg.number_attr >= 0 ? arg.number_attr : arg.type_list_attr;
  };
  const auto known_size = [&](size_t i) -> std::optional<int64_t> {
    const OpDef::Arg& arg = def.inputs[i];
    if (size_attr(arg) < 0) return 1;
    if (i < arg_sizes.size()) return arg_sizes[i];
    const AttrValue* v = attrs->Find(def.attrs[size_attr(arg)].name);
    if (v == nullptr) return std::nullopt;
    if (const int64_t* n = v->Get<int64_t>()) return *n;
    if (const auto* l = v->GetList<DataType>()) return l->size();
    return std::nullopt;
  };

  // One missing attr can be solved for; it may size several args.
  int missing = -1;
  int64_t missing_args = 0;
  int64_t known = 0;
  bool any_attr = false;
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    const OpDef::Arg& arg = def.inputs[i];
    any_attr |= arg.type_attr >= 0 || size_attr(arg) >= 0;
    if (const auto n = known_size(i)) {
      if (*n < 0 || *n > static_cast<int64_t>(given.size())) {
        return OkStatus();  // too few inputs: CheckInputTypes says so better
      }
      known += *n;
      continue;
    }
    if (missing >= 0 && missing != size_attr(arg)) {
      return errors::InvalidArgument(
          "attrs '", def.attrs[missing].name, "' and '",
          def.attrs[size_attr(arg)].name,
          "' are missing and the number of inputs does not tell both");
    }
    missing = size_attr(arg);
    ++missing_args;
  }
  if (!any_attr) return OkStatus();
  int64_t each = 0;
  if (missing >= 0) {
    const int64_t rest = static_cast<int64_t>(given.size()) - known;
    if (rest < 0 || rest % missing_args != 0) {
      return errors::InvalidArgument("cannot deal ", given.size(),
                                     " inputs out to ",
                                     DescribeInputs(def, given));
    }
    each = rest / missing_args;
  }

  size_t at = 0;
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    const OpDef::Arg& arg = def.inputs[i];
    const auto n = static_cast<size_t>(known_size(i).value_or(each));
    if (at + n > given.size()) return OkStatus();
    if (arg.number_attr >= 0) {
      const std::string& name = def.attrs[arg.number_attr].name;
      if (attrs->Find(name) == nullptr) {
        attrs->Set(name, static_cast<int64_t>(n));
      }
    }
    if (arg.type_list_attr >= 0) {
      const std::string& name = def.attrs[arg.type_list_attr].name;
      if (attrs->Find(name) == nullptr) {
        std::vector<DataType> types;
        for (size_t k = 0; k < n; ++k) types.push_back(BaseType(given[at + k]));
        attrs->Set(name, std::move(types));
      }
    }
    if (arg.type_attr >= 0 && n > 0) {
      const std::string& name = def.attrs[arg.type_attr].name;
      if (attrs->Find(name) == nullptr) {
        attrs->Set(name, BaseType(given[at]));
      }
    }
    at += n;
  }
  return OkStatus();
}

Status CheckInputTypes(const OpDef& def, const AttrMap& attrs,
                       absl::Span<const DataType> given,
                       absl::Span<const DataType> wanted) {
  if (given.size() != wanted.size()) {
    return errors::InvalidArgument("op ", def.name, " wants ",
                                   DescribeInputs(def, wanted), ", got ",
                                   given.size());
  }
  std::string problems;
  for (size_t i = 0; i < given.size(); ++i) {
    if (TypesCompatible(wanted[i], given[i])) continue;
    std::vector<ArgRange> ranges;
    std::string name;
    if (ArgRanges(def.inputs, def, attrs, &ranges).ok()) {
      for (size_t a = 0; a < ranges.size(); ++a) {
        if (static_cast<int>(i) >= ranges[a].begin &&
            static_cast<int>(i) < ranges[a].end) {
          name = def.inputs[a].name;
        }
      }
    }
    StrAppend(&problems, problems.empty() ? "" : "; ", "input ", i, " ('", name,
              "') of op ", def.name, " was passed ", DataTypeString(given[i]),
              " incompatible with expected ", DataTypeString(wanted[i]));
  }
  return problems.empty() ? OkStatus() : errors::InvalidArgument(problems);
}

Status InferNodeShapes(const OpDef& op_def, const NodeDef& def,
                       absl::Span<const Endpoint> inputs, int num_outputs,
                       InferredShapes* out) {
  out->shapes.resize(num_outputs);
  if (InferPlainly(op_def.shape_fn, inputs, out)) return OkStatus();
  Status s = InferGenerally(op_def, def, inputs, num_outputs, out);
  if (s.ok()) return s;
  return Annotate(
      s, StrCat(" for '", def.name, "' (op: '", def.op,
                "') with input shapes: ", InputShapes(inputs), ".",
                def.source.empty() ? "" : " Node made at ", def.source));
}

}  // namespace headrace
