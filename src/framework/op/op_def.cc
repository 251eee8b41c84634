// Attr types, the signature in words, and the checks of a node's attrs against
// its op. The grammar of REGISTER_OP is in op_spec.cc.
#include "headrace/op_def.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "framework/op/open_attrs.h"

namespace headrace {
namespace {

// More flat inputs or outputs than any real node has; keeps a hostile number
// attr from asking for gigabytes of types.
constexpr int64_t kMaxFlatArgs = 1 << 20;

constexpr const char* kAttrTypeNames[] = {
    "string",       "int",         "float",        "bool",
    "type",         "shape",       "tensor",       "func",
    "list(string)", "list(int)",   "list(float)",  "list(bool)",
    "list(type)",   "list(shape)", "list(tensor)", "list(func)",
};

std::string TypeEnumName(DataType t) {
  return absl::StrCat("DT_", absl::AsciiStrToUpper(DataTypeString(t)));
}

std::string ArgDebugString(const OpDef& def, const OpDef::Arg& arg) {
  std::string type;
  if (arg.number_attr >= 0) type = StrCat(def.attrs[arg.number_attr].name, "*");
  if (arg.type_list_attr >= 0) {
    type += def.attrs[arg.type_list_attr].name;
  } else if (arg.type_attr >= 0) {
    type += def.attrs[arg.type_attr].name;
  } else {
    type += DataTypeString(arg.type);
  }
  return arg.is_ref ? StrCat(arg.name, ":Ref(", type, ")")
                    : StrCat(arg.name, ":", type);
}

// How many tensors an arg stands for; -1 if the attr that tells is not there
// or unfit, which ValidateAttrs reports.
int64_t ArgCount(const OpDef& def, const OpDef::Arg& arg,
                 const AttrMap& attrs) {
  if (arg.number_attr >= 0) {
    const AttrValue* v = attrs.Find(def.attrs[arg.number_attr].name);
    const int64_t* n = v == nullptr ? nullptr : v->Get<int64_t>();
    return n == nullptr || *n < 0 ? -1 : *n;
  }
  if (arg.type_list_attr >= 0) {
    const AttrValue* v = attrs.Find(def.attrs[arg.type_list_attr].name);
    const auto* list = v == nullptr ? nullptr : v->GetList<DataType>();
    return list == nullptr ? -1 : static_cast<int64_t>(list->size());
  }
  return 1;
}

Status Unexpected(const OpDef& def, int attr) {
  return errors::InvalidArgument(
      "AttrValue had value with unexpected type 'placeholder' for attr '",
      def.attrs[attr].name, "' from ", def.DebugString());
}

bool IsPlaceholder(const OpDef& def, int attr, const AttrMap& attrs) {
  const AttrValue* v = attr < 0 ? nullptr : attrs.Find(def.attrs[attr].name);
  return v != nullptr && v->Is<AttrValue::Placeholder>();
}

Status MissingAttr(const OpDef& def, int attr, const AttrMap& attrs) {
  if (IsPlaceholder(def, attr, attrs)) return Unexpected(def, attr);
  return errors::InvalidArgument("NodeDef missing attr '", def.attrs[attr].name,
                                 "' from ", def.DebugString());
}

// `open`: a placeholder for a type is DT_INVALID.
Status AppendTypes(const OpDef& def, const std::vector<OpDef::Arg>& args,
                   const AttrMap& attrs, DataTypeVector* out,
                   bool open = false) {
  for (const OpDef::Arg& arg : args) {
    const int64_t n = ArgCount(def, arg, attrs);
    if (n < 0) {
      return MissingAttr(
          def, arg.number_attr >= 0 ? arg.number_attr : arg.type_list_attr,
          attrs);
    }
    if (n > kMaxFlatArgs - static_cast<int64_t>(out->size())) {
      return errors::InvalidArgument("argument '", arg.name, "' of op ",
                                     def.name, " has ", n, " tensors; at most ",
                                     kMaxFlatArgs, " are supported");
    }
    const size_t first = out->size();
    if (arg.type_list_attr >= 0) {
      const auto* list =
          attrs.Find(def.attrs[arg.type_list_attr].name)->GetList<DataType>();
      out->insert(out->end(), list->begin(), list->end());
    } else {
      DataType t = arg.type;
      if (arg.type_attr >= 0) {
        const AttrValue* v = attrs.Find(def.attrs[arg.type_attr].name);
        const DataType* given = v == nullptr ? nullptr : v->Get<DataType>();
        if (given != nullptr) {
          t = *given;
        } else if (open && IsPlaceholder(def, arg.type_attr, attrs)) {
          t = DT_INVALID;
        } else {
          return MissingAttr(def, arg.type_attr, attrs);
        }
      }
      if (n == 1) {
        out->push_back(t);
      } else {
        out->insert(out->end(), n, t);
      }
    }
    if (arg.is_ref) {
      for (size_t i = first; i < out->size(); ++i) {
        if (!IsRefType((*out)[i])) (*out)[i] = MakeRefType((*out)[i]);
      }
    }
  }
  return OkStatus();
}

Status CheckType(const OpDef::Attr& attr, DataType t) {
  if (!IsValidDataType(t) || t == DT_INVALID) {
    return errors::InvalidArgument(
        "Attr '", attr.name,
        "' has invalid DataType enum: ", static_cast<int>(t));
  }
  if (IsRefType(t)) {
    return errors::InvalidArgument(
        "AttrValue must not have reference type value of ", DataTypeString(t),
        " for attr '", attr.name, "'");
  }
  if (attr.allowed_types.empty() ||
      std::find(attr.allowed_types.begin(), attr.allowed_types.end(), t) !=
          attr.allowed_types.end()) {
    return OkStatus();
  }
  std::string allowed;
  for (DataType a : attr.allowed_types) {
    StrAppend(&allowed, allowed.empty() ? "" : ", ", DataTypeString(a));
  }
  return errors::InvalidArgument(
      "Value for attr '", attr.name, "' of ", DataTypeString(t),
      " is not in the list of allowed values: ", allowed);
}

Status CheckString(const OpDef::Attr& attr, const std::string& s) {
  if (attr.allowed_strings.empty() ||
      std::find(attr.allowed_strings.begin(), attr.allowed_strings.end(), s) !=
          attr.allowed_strings.end()) {
    return OkStatus();
  }
  std::string allowed;
  for (const std::string& a : attr.allowed_strings) {
    StrAppend(&allowed, allowed.empty() ? "\"" : ", \"", a, "\"");
  }
  return errors::InvalidArgument(
      "Value for attr '", attr.name, "' of \"", s,
      "\" is not in the list of allowed values: ", allowed);
}

// The length of a list that fits the attr's type, -1 if `value` does not fit.
int64_t FittingLength(AttrType type, const AttrValue& value) {
  const auto length = [](const auto* list) {
    return list == nullptr ? int64_t{-1} : static_cast<int64_t>(list->size());
  };
  switch (type) {
    case AttrType::kString:
      return value.Is<std::string>() ? 0 : -1;
    case AttrType::kInt:
      return value.Is<int64_t>() ? 0 : -1;
    case AttrType::kFloat:
      return value.Is<float>() ? 0 : -1;
    case AttrType::kBool:
      return value.Is<bool>() ? 0 : -1;
    case AttrType::kType:
      return value.Is<DataType>() ? 0 : -1;
    case AttrType::kShape:
      return value.Is<PartialTensorShape>() ? 0 : -1;
    case AttrType::kTensor:
      return value.Is<Tensor>() ? 0 : -1;
    case AttrType::kFunc:
      return value.Is<NameAttrList>() ? 0 : -1;
    case AttrType::kListString:
      return length(value.GetList<std::string>());
    case AttrType::kListInt:
      return length(value.GetList<int64_t>());
    case AttrType::kListFloat:
      return length(value.GetList<float>());
    case AttrType::kListBool:
      return length(value.GetList<bool>());
    case AttrType::kListType:
      return length(value.GetList<DataType>());
    case AttrType::kListShape:
      return length(value.GetList<PartialTensorShape>());
    case AttrType::kListTensor:
      return length(value.GetList<Tensor>());
    case AttrType::kListFunc:
      return length(value.GetList<NameAttrList>());
  }
  return -1;
}

template <typename T>
int FindNamed(const std::vector<T>& items, absl::string_view name) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

const char* AttrTypeName(AttrType t) {
  return kAttrTypeNames[static_cast<int>(t)];
}

bool AttrTypeIsList(AttrType t) { return t >= AttrType::kListString; }

int OpDef::FindAttr(absl::string_view n) const { return FindNamed(attrs, n); }
int OpDef::FindInput(absl::string_view n) const { return FindNamed(inputs, n); }
int OpDef::FindOutput(absl::string_view n) const {
  return FindNamed(outputs, n);
}

std::string OpDef::DebugString() const {
  std::string s = StrCat("Op<name=", name, "; signature=");
  for (size_t i = 0; i < inputs.size(); ++i) {
    StrAppend(&s, i == 0 ? "" : ", ", ArgDebugString(*this, inputs[i]));
  }
  StrAppend(&s, inputs.empty() ? "-> " : " -> ");
  for (size_t i = 0; i < outputs.size(); ++i) {
    StrAppend(&s, i == 0 ? "" : ", ", ArgDebugString(*this, outputs[i]));
  }
  for (const Attr& a : attrs) {
    StrAppend(&s, "; attr=", a.name, ":", AttrTypeName(a.type));
    if (a.default_value)
      StrAppend(&s, ",default=", a.default_value->DebugString());
    if (a.has_minimum) StrAppend(&s, ",min=", a.minimum);
    if (!a.allowed_types.empty()) {
      StrAppend(&s, ",allowed=[",
                absl::StrJoin(a.allowed_types, ", ",
                              [](std::string* out, DataType t) {
                                out->append(TypeEnumName(t));
                              }),
                "]");
    }
    if (!a.allowed_strings.empty()) {
      StrAppend(&s, ",allowed=[\"", absl::StrJoin(a.allowed_strings, "\", \""),
                "\"]");
    }
  }
  if (is_commutative) s += "; is_commutative=true";
  if (is_aggregate) s += "; is_aggregate=true";
  if (is_stateful) s += "; is_stateful=true";
  if (allows_uninitialized_input) s += "; allows_uninitialized_input=true";
  return s + ">";
}

Status ValidateAttrValue(const OpDef::Attr& attr, const AttrValue& value) {
  const int64_t length = FittingLength(attr.type, value);
  if (length < 0) {
    if (!value.IsSet()) {
      return errors::InvalidArgument(
          "AttrValue missing value with expected "
          "type '",
          AttrTypeName(attr.type), "' for attr '", attr.name, "'");
    }
    return errors::InvalidArgument(
        "AttrValue had value with type '", value.TypeName(), "' when '",
        AttrTypeName(attr.type), "' expected for attr '", attr.name, "'");
  }
  if (attr.has_minimum) {
    if (attr.type == AttrType::kInt) {
      if (const int64_t v = *value.Get<int64_t>(); v < attr.minimum) {
        return errors::InvalidArgument("Value for attr '", attr.name, "' of ",
                                       v, " must be at least minimum ",
                                       attr.minimum);
      }
    } else if (length < attr.minimum) {
      return errors::InvalidArgument("Length for attr '", attr.name, "' of ",
                                     length, " must be at least minimum ",
                                     attr.minimum);
    }
  }
  switch (attr.type) {
    case AttrType::kType:
      return CheckType(attr, *value.Get<DataType>());
    case AttrType::kListType:
      for (DataType t : *value.GetList<DataType>()) {
        HR_RETURN_IF_ERROR(CheckType(attr, t));
      }
      return OkStatus();
    case AttrType::kString:
      return CheckString(attr, *value.Get<std::string>());
    case AttrType::kListString:
      if (attr.allowed_strings.empty()) return OkStatus();
      for (const std::string& s : *value.GetList<std::string>()) {
        HR_RETURN_IF_ERROR(CheckString(attr, s));
      }
      return OkStatus();
    default:
      return OkStatus();
  }
}

void AddDefaultAttrs(const OpDef& def, AttrMap* attrs) {
  for (const OpDef::Attr& a : def.attrs) {
    if (a.default_value && attrs->Find(a.name) == nullptr) {
      attrs->Set(a.name, *a.default_value);
    }
  }
}

namespace {

Status ValidateAllAttrs(const OpDef& def, const AttrMap& attrs, bool open) {
  std::string problems;
  const char* link = "";  // between the last problem and the signature
  const auto add = [&](absl::string_view what, const char* then) {
    StrAppend(&problems, problems.empty() ? "" : "; ", what);
    link = then;
  };
  size_t known = 0;
  for (const OpDef::Attr& a : def.attrs) {
    const AttrValue* v = attrs.Find(a.name);
    if (v == nullptr) {
      add(StrCat("NodeDef missing attr '", a.name, "'"), " from ");
      continue;
    }
    ++known;
    if (open && v->Is<AttrValue::Placeholder>()) continue;
    if (Status s = ValidateAttrValue(a, *v); !s.ok()) add(s.message(), "; ");
  }
  if (known != attrs.size()) {
    for (const AttrMap::Item& item : attrs) {
      if (!item.first.empty() && item.first[0] == '_') continue;
      if (open && item.second.Is<AttrValue::Placeholder>()) continue;
      if (def.FindAttr(item.first) < 0) {
        add(StrCat("NodeDef mentions attr '", item.first, "'"), " not in ");
      }
    }
  }
  if (problems.empty()) return OkStatus();
  return errors::InvalidArgument(problems, link, def.DebugString());
}

}  // namespace

Status ValidateAttrs(const OpDef& def, const AttrMap& attrs) {
  return ValidateAllAttrs(def, attrs, /*open=*/false);
}

Status InOutTypes(const OpDef& def, const AttrMap& attrs,
                  DataTypeVector* inputs, DataTypeVector* outputs) {
  inputs->clear();
  outputs->clear();
  HR_RETURN_IF_ERROR(ValidateAttrs(def, attrs));
  HR_RETURN_IF_ERROR(AppendTypes(def, def.inputs, attrs, inputs));
  return AppendTypes(def, def.outputs, attrs, outputs);
}

bool HasPlaceholder(const AttrMap& attrs) {
  return std::any_of(attrs.begin(), attrs.end(), [](const auto& item) {
    return item.second.template Is<AttrValue::Placeholder>();
  });
}

Status InOutTypesWithPlaceholders(const OpDef& def, const AttrMap& attrs,
                                  DataTypeVector* inputs,
                                  DataTypeVector* outputs) {
  inputs->clear();
  outputs->clear();
  HR_RETURN_IF_ERROR(ValidateAllAttrs(def, attrs, /*open=*/true));
  HR_RETURN_IF_ERROR(AppendTypes(def, def.inputs, attrs, inputs));
  return AppendTypes(def, def.outputs, attrs, outputs, /*open=*/true);
}

Status CheckNoPlaceholder(const OpDef& def, const AttrMap& attrs) {
  for (size_t i = 0; i < def.attrs.size(); ++i) {
    const int attr = static_cast<int>(i);
    if (IsPlaceholder(def, attr, attrs)) return Unexpected(def, attr);
  }
  return OkStatus();
}

Status ArgRanges(const std::vector<OpDef::Arg>& args, const OpDef& def,
                 const AttrMap& attrs, std::vector<ArgRange>* ranges) {
  ranges->clear();
  ranges->reserve(args.size());
  int64_t at = 0;
  for (const OpDef::Arg& arg : args) {
    const int64_t n = ArgCount(def, arg, attrs);
    if (n < 0) {
      return MissingAttr(
          def, arg.number_attr >= 0 ? arg.number_attr : arg.type_list_attr,
          attrs);
    }
    if (n > kMaxFlatArgs - at) {
      return errors::InvalidArgument("argument '", arg.name, "' of op ",
                                     def.name, " has ", n, " tensors; at most ",
                                     kMaxFlatArgs, " are supported");
    }
    ranges->push_back({static_cast<int>(at), static_cast<int>(at + n)});
    at += n;
  }
  return OkStatus();
}

}  // namespace headrace
