// The op grammar of REGISTER_OP.
//
// An attr spec is `name: type [>= minimum] [= default]`, where type is a plain
// one (int), a list (list(int)), a set of allowed values ({float, int32},
// {'SAME', 'VALID'}, also inside list()), or a named set (numbertype). An arg
// spec is `name: [Ref(] [number_attr *] type [)]`, where type is a dtype, an
// attr of type `type` or an attr of type `list(type)`.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "framework/op/message_util.h"
#include "framework/op/tensor_proto.h"
#include "headrace/op_def.h"

namespace headrace {
namespace {

constexpr AttrType kPlainTypes[] = {
    AttrType::kString, AttrType::kInt,   AttrType::kFloat,  AttrType::kBool,
    AttrType::kType,   AttrType::kShape, AttrType::kTensor, AttrType::kFunc,
};
// The list types follow the plain ones in the same order.
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

Status ReadBody(const SpecReader& in, absl::string_view body, const char* what,
                AnyMessage* proto) {
  const Status s = MessageFromText(body, proto);
  return s.ok() || !kHasMessageText ? s : in.Error(what);
}

// A message in braces, in protobuf's text format.
template <typename Proto>
Status ReadMessage(SpecReader* in, const char* what, Proto* proto) {
  absl::string_view body;
  if (!in->Braced(&body)) return in->Error(what);
  return ReadBody(*in, body, what, proto);
}

// A shape as nearly all specs write it, which a library of few ops must read
// too: ``, `unknown_rank: true` or `dim { size: 3 } ...`. False for any other
// text.
bool ReadPlainShape(absl::string_view text, pb::TensorShapeProto* proto) {
  const auto next = [&text](absl::string_view word) {
    text = absl::StripLeadingAsciiWhitespace(text);
    return absl::ConsumePrefix(&text, word);
  };
  if (next("unknown_rank")) {
    proto->set_unknown_rank(true);
    return next(":") && next("true") && next("") && text.empty();
  }
  while (next("dim")) {
    if (!next("{") || !next("size") || !next(":")) return false;
    text = absl::StripLeadingAsciiWhitespace(text);
    const size_t end = text.find_first_not_of("-0123456789");
    int64_t size;
    if (!absl::SimpleAtoi(text.substr(0, end), &size)) return false;
    proto->add_dim()->set_size(size);
    text.remove_prefix(std::min(end, text.size()));
    if (!next("}")) return false;
  }
  return next("") && text.empty();
}

Status ReadShape(SpecReader* in, pb::TensorShapeProto* proto) {
  absl::string_view body;
  if (!in->Braced(&body)) return in->Error("a shape");
  if (ReadPlainShape(body, proto)) return OkStatus();
  proto->Clear();
  return ReadBody(*in, body, "a shape", proto);
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
      HR_RETURN_IF_ERROR(ReadShape(in, &proto));
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

// What stands for the type of an attr, except list().
Status ReadPlainType(SpecReader* in, OpDef::Attr* out) {
  if (in->Peek('{')) return ReadAllowed(in, out);
  absl::string_view name;
  if (!in->Identifier(&name)) return in->Error("an attr type");
  if (const auto* set = TypeSet(name)) {
    out->type = AttrType::kType;
    out->allowed_types = *set;
    return OkStatus();
  }
  for (AttrType t : kPlainTypes) {
    if (name == AttrTypeName(t)) {
      out->type = t;
      return OkStatus();
    }
  }
  return errors::InvalidArgument("unknown attr type '", name, "'");
}

}  // namespace

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

}  // namespace headrace
