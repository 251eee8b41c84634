// The op grammar, and the checks of a node's attrs against its op.
//
// An attr spec is `name: type [>= minimum] [= default]`, where type is a plain
// one (int), a list (list(int)), a set of allowed values ({float, int32},
// {'SAME', 'VALID'}, also inside list()), or a named set (numbertype). An arg
// spec is `name: [Ref(] [number_attr *] type [)]`, where type is a dtype, an
// attr of type `type` or an attr of type `list(type)`.
#include "framework/op_def.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "framework/tensor_proto.h"

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
constexpr int kFirstListType = static_cast<int>(AttrType::kListString);

AttrType ElementType(AttrType t) {
  return AttrTypeIsList(t)
             ? static_cast<AttrType>(static_cast<int>(t) - kFirstListType)
             : t;
}
AttrType ListOf(AttrType t) {
  return static_cast<AttrType>(static_cast<int>(t) + kFirstListType);
}

// The named sets of types, in TensorFlow's order.
const std::vector<DataType>* TypeSet(absl::string_view name) {
  static const auto* const kNumber = new std::vector<DataType>{
      DT_FLOAT,      DT_DOUBLE,    DT_INT32,  DT_UINT8,   DT_INT16,
      DT_INT8,       DT_COMPLEX64, DT_INT64,  DT_QINT8,   DT_QUINT8,
      DT_QINT32,     DT_BFLOAT16,  DT_QINT16, DT_QUINT16, DT_UINT16,
      DT_COMPLEX128, DT_HALF,      DT_UINT32, DT_UINT64};
  static const auto* const kReal = new std::vector<DataType>{
      DT_FLOAT, DT_DOUBLE,   DT_INT32,  DT_UINT8, DT_INT16,  DT_INT8,
      DT_INT64, DT_BFLOAT16, DT_UINT16, DT_HALF,  DT_UINT32, DT_UINT64};
  static const auto* const kQuantized = new std::vector<DataType>{
      DT_QINT8, DT_QUINT8, DT_QINT32, DT_QINT16, DT_QUINT16};
  if (name == "numbertype" || name == "numerictype") return kNumber;
  if (name == "realnumbertype" || name == "realnumerictype") return kReal;
  if (name == "quantizedtype") return kQuantized;
  return nullptr;
}

// Reads a spec from left to right; white space is skipped before each item.
class SpecReader {
 public:
  explicit SpecReader(absl::string_view text) : text_(text), rest_(text) {}

  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }
  bool Peek(char c) {
    SkipSpace();
    return !rest_.empty() && rest_[0] == c;
  }
  bool Consume(absl::string_view literal) {
    SkipSpace();
    if (rest_.substr(0, literal.size()) != literal) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  bool Identifier(absl::string_view* out) {
    SkipSpace();
    return TakeWhile([](char c) { return absl::ascii_isalnum(c) || c == '_'; },
                     out) &&
           !absl::ascii_isdigit((*out)[0]);
  }
  bool Integer(int64_t* out) {
    absl::string_view s;
    SkipSpace();
    return TakeWhile([](char c) { return absl::ascii_isdigit(c) || c == '-'; },
                     &s) &&
           absl::SimpleAtoi(s, out);
  }
  bool Float(float* out) {
    absl::string_view s;
    SkipSpace();
    return TakeWhile(
               [](char c) {
                 return absl::ascii_isalnum(c) || c == '-' || c == '+' ||
                        c == '.';
               },
               &s) &&
           absl::SimpleAtof(s, out);
  }
  // 'x' or "x" with C escapes.
  bool Quoted(std::string* out) {
    absl::string_view s;
    if (!QuotedRaw(&s)) return false;
    return absl::CUnescape(s.substr(1, s.size() - 2), out);
  }
  // What stands between matching braces.
  bool Braced(absl::string_view* out) {
    SkipSpace();
    if (rest_.empty() || rest_[0] != '{') return false;
    const absl::string_view whole = rest_;
    rest_.remove_prefix(1);
    int depth = 1;
    while (!rest_.empty()) {
      const char c = rest_[0];
      if (c == '\'' || c == '"') {
        absl::string_view ignored;
        if (!QuotedRaw(&ignored)) return false;
        continue;
      }
      rest_.remove_prefix(1);
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) {
        *out = whole.substr(1, whole.size() - rest_.size() - 2);
        return true;
      }
    }
    return false;
  }
  Status Error(absl::string_view wanted) const {
    return errors::InvalidArgument("bad spec '", text_, "': wanted ", wanted,
                                   " at '", rest_, "'");
  }

 private:
  void SkipSpace() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  template <typename F>
  bool TakeWhile(F f, absl::string_view* out) {
    size_t n = 0;
    while (n < rest_.size() && f(rest_[n])) ++n;
    *out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return n > 0;
  }
  bool QuotedRaw(absl::string_view* out) {
    SkipSpace();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return false;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '\\') {
        ++i;
      } else if (rest_[i] == rest_[0]) {
        *out = rest_.substr(0, i + 1);
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  const absl::string_view text_;
  absl::string_view rest_;
};

// A message in braces, in protobuf's text format.
template <typename Proto>
Status ReadMessage(SpecReader* in, const char* what, Proto* proto) {
  absl::string_view body;
  if (!in->Braced(&body)) return in->Error(what);
  if (!google::protobuf::TextFormat::ParseFromString(std::string(body),
                                                     proto)) {
    return in->Error(what);
  }
  return OkStatus();
}

// One value of a plain type.
Status ReadValue(SpecReader* in, AttrType type, AttrValue* out) {
  switch (type) {
    case AttrType::kString: {
      std::string s;
      if (!in->Quoted(&s)) return in->Error("a quoted string");
      *out = std::move(s);
      return OkStatus();
    }
    case AttrType::kInt: {
      int64_t i;
      if (!in->Integer(&i)) return in->Error("an integer");
      *out = i;
      return OkStatus();
    }
    case AttrType::kFloat: {
      float f;
      if (!in->Float(&f)) return in->Error("a number");
      *out = f;
      return OkStatus();
    }
    case AttrType::kBool: {
      if (in->Consume("true")) {
        *out = true;
      } else if (in->Consume("false")) {
        *out = false;
      } else {
        return in->Error("true or false");
      }
      return OkStatus();
    }
    case AttrType::kType: {
      absl::string_view name;
      DataType t;
      if (!in->Identifier(&name) || !DataTypeFromString(name, &t)) {
        return in->Error("a type");
      }
      *out = t;
      return OkStatus();
    }
    case AttrType::kShape: {
      pb::TensorShapeProto proto;
      PartialTensorShape shape;
      HR_RETURN_IF_ERROR(ReadMessage(in, "a shape", &proto));
      HR_RETURN_IF_ERROR(ShapeFromProto(proto, &shape));
      *out = std::move(shape);
      return OkStatus();
    }
    case AttrType::kTensor: {
      pb::TensorProto proto;
      Tensor tensor;
      in->Consume("tensor");
      HR_RETURN_IF_ERROR(ReadMessage(in, "a tensor", &proto));
      HR_RETURN_IF_ERROR(TensorFromProto(proto, &tensor));
      *out = std::move(tensor);
      return OkStatus();
    }
    case AttrType::kFunc: {
      pb::AttrValue proto;
      HR_RETURN_IF_ERROR(ReadMessage(in, "a function", proto.mutable_func()));
      return AttrValueFromProto(proto, out);
    }
    default:
      return in->Error("a value");
  }
}

template <typename T>
Status ReadListOf(SpecReader* in, AttrType element, AttrValue* out) {
  std::vector<T> list;
  if (!in->Consume("[")) return in->Error("a list in []");
  if (!in->Consume("]")) {
    while (true) {
      AttrValue v;
      HR_RETURN_IF_ERROR(ReadValue(in, element, &v));
      list.push_back(*v.Get<T>());
      if (in->Consume("]")) break;
      if (!in->Consume(",")) return in->Error("',' or ']'");
    }
  }
  *out = std::move(list);
  return OkStatus();
}

Status ReadDefault(SpecReader* in, AttrType type, AttrValue* out) {
  const AttrType element = ElementType(type);
  switch (type) {
    case AttrType::kListString:
      return ReadListOf<std::string>(in, element, out);
    case AttrType::kListInt:
      return ReadListOf<int64_t>(in, element, out);
    case AttrType::kListFloat:
      return ReadListOf<float>(in, element, out);
    case AttrType::kListBool:
      return ReadListOf<bool>(in, element, out);
    case AttrType::kListType:
      return ReadListOf<DataType>(in, element, out);
    case AttrType::kListShape:
      return ReadListOf<PartialTensorShape>(in, element, out);
    case AttrType::kListTensor:
      return ReadListOf<Tensor>(in, element, out);
    case AttrType::kListFunc:
      return ReadListOf<NameAttrList>(in, element, out);
    default:
      return ReadValue(in, type, out);
  }
}

// "{float, numbertype}" or "{'a', 'b'}"; sets the attr's type too.
Status ReadAllowed(SpecReader* in, OpDef::Attr* out) {
  if (!in->Consume("{")) return in->Error("'{'");
  out->type =
      in->Peek('\'') || in->Peek('"') ? AttrType::kString : AttrType::kType;
  while (true) {
    if (out->type == AttrType::kString) {
      std::string s;
      if (!in->Quoted(&s)) return in->Error("a quoted string");
      out->allowed_strings.push_back(std::move(s));
    } else {
      absl::string_view name;
      if (!in->Identifier(&name)) return in->Error("a type");
      DataType t;
      if (const auto* set = TypeSet(name)) {
        out->allowed_types.insert(out->allowed_types.end(), set->begin(),
                                  set->end());
      } else if (DataTypeFromString(name, &t)) {
        out->allowed_types.push_back(t);
      } else {
        return in->Error("a type");
      }
    }
    if (in->Consume("}")) return OkStatus();
    if (!in->Consume(",")) return in->Error("',' or '}'");
    if (in->Consume("}")) return OkStatus();
  }
}

// What stands for the type of an attr, but for list().
Status ReadPlainType(SpecReader* in, OpDef::Attr* out) {
  if (in->Peek('{')) return ReadAllowed(in, out);
  absl::string_view name;
  if (!in->Identifier(&name)) return in->Error("an attr type");
  if (const auto* set = TypeSet(name)) {
    out->type = AttrType::kType;
    out->allowed_types = *set;
    return OkStatus();
  }
  for (int i = 0; i < kFirstListType; ++i) {
    if (name == kAttrTypeNames[i]) {
      out->type = static_cast<AttrType>(i);
      return OkStatus();
    }
  }
  return errors::InvalidArgument("unknown attr type '", name, "'");
}

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

Status MissingAttr(const OpDef& def, int attr) {
  return errors::InvalidArgument("NodeDef missing attr '", def.attrs[attr].name,
                                 "' from ", def.DebugString());
}

Status AppendTypes(const OpDef& def, const std::vector<OpDef::Arg>& args,
                   const AttrMap& attrs, DataTypeVector* out) {
  for (const OpDef::Arg& arg : args) {
    const int64_t n = ArgCount(def, arg, attrs);
    if (n < 0) {
      return MissingAttr(
          def, arg.number_attr >= 0 ? arg.number_attr : arg.type_list_attr);
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
        if (given == nullptr) return MissingAttr(def, arg.type_attr);
        t = *given;
      }
      out->insert(out->end(), n, t);
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

bool AttrTypeIsList(AttrType t) {
  return static_cast<int>(t) >= kFirstListType;
}

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

Status ParseArgSpec(absl::string_view spec, OpDef* def, OpDef::Arg* out) {
  SpecReader in(spec);
  absl::string_view name;
  if (!in.Identifier(&name)) return in.Error("a name");
  out->name = std::string(name);
  if (!in.Consume(":")) return in.Error("':'");
  if (in.Consume("Ref")) {
    if (!in.Consume("(")) return in.Error("'('");
    out->is_ref = true;
  }
  absl::string_view type;
  if (!in.Identifier(&type)) return in.Error("a type or the name of an attr");
  if (in.Consume("*")) {
    out->number_attr = def->FindAttr(type);
    if (out->number_attr < 0 ||
        def->attrs[out->number_attr].type != AttrType::kInt) {
      return errors::InvalidArgument("bad spec '", spec, "': '", type,
                                     "' is not an attr of type int");
    }
    OpDef::Attr& number = def->attrs[out->number_attr];
    if (!number.has_minimum) {
      number.has_minimum = true;
      number.minimum = 1;
    }
    if (!in.Identifier(&type)) return in.Error("a type or the name of an attr");
  }
  const int attr = def->FindAttr(type);
  if (DataTypeFromString(type, &out->type)) {
  } else if (attr >= 0 && def->attrs[attr].type == AttrType::kType) {
    out->type_attr = attr;
  } else if (attr >= 0 && def->attrs[attr].type == AttrType::kListType &&
             out->number_attr < 0) {
    out->type_list_attr = attr;
    OpDef::Attr& list = def->attrs[attr];
    if (!list.has_minimum) {
      list.has_minimum = true;
      list.minimum = 1;
    }
  } else {
    return errors::InvalidArgument(
        "bad spec '", spec, "': '", type,
        "' is neither a type nor an attr of type type or list(type)");
  }
  if (out->is_ref && !in.Consume(")")) return in.Error("')'");
  return in.AtEnd() ? OkStatus() : in.Error("the end");
}

Status ParseAttrSpec(absl::string_view spec, OpDef::Attr* out) {
  SpecReader in(spec);
  absl::string_view name;
  if (!in.Identifier(&name)) return in.Error("a name");
  out->name = std::string(name);
  if (!in.Consume(":")) return in.Error("':'");
  if (in.Consume("list")) {
    if (!in.Consume("(")) return in.Error("'('");
    HR_RETURN_IF_ERROR(ReadPlainType(&in, out));
    if (!in.Consume(")")) return in.Error("')'");
    out->type = ListOf(out->type);
  } else {
    HR_RETURN_IF_ERROR(ReadPlainType(&in, out));
  }
  if (in.Consume(">=")) {
    if (out->type != AttrType::kInt && !AttrTypeIsList(out->type)) {
      return in.Error("no minimum: only int and lists have one");
    }
    out->has_minimum = true;
    if (!in.Integer(&out->minimum)) return in.Error("an integer");
  }
  if (in.Consume("=")) {
    AttrValue v;
    HR_RETURN_IF_ERROR(ReadDefault(&in, out->type, &v));
    HR_RETURN_IF_ERROR(ValidateAttrValue(*out, v));
    out->default_value = std::move(v);
  }
  return in.AtEnd() ? OkStatus() : in.Error("the end");
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

Status ValidateAttrs(const OpDef& def, const AttrMap& attrs) {
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
    if (Status s = ValidateAttrValue(a, *v); !s.ok()) add(s.message(), "; ");
  }
  if (known != attrs.size()) {
    for (const AttrMap::Item& item : attrs) {
      if (!item.first.empty() && item.first[0] == '_') continue;
      if (def.FindAttr(item.first) < 0) {
        add(StrCat("NodeDef mentions attr '", item.first, "'"), " not in ");
      }
    }
  }
  if (problems.empty()) return OkStatus();
  return errors::InvalidArgument(problems, link, def.DebugString());
}

Status InOutTypes(const OpDef& def, const AttrMap& attrs,
                  DataTypeVector* inputs, DataTypeVector* outputs) {
  inputs->clear();
  outputs->clear();
  HR_RETURN_IF_ERROR(ValidateAttrs(def, attrs));
  HR_RETURN_IF_ERROR(AppendTypes(def, def.inputs, attrs, inputs));
  return AppendTypes(def, def.outputs, attrs, outputs);
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
          def, arg.number_attr >= 0 ? arg.number_attr : arg.type_list_attr);
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
