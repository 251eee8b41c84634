// AttrValue, NodeDef and OpDef from their messages and back.
#include "framework/op/tensor_proto.h"

namespace headrace {
namespace {

template <typename T, typename Field, typename F>
Status ListFrom(const Field& field, AttrValue* out, F convert) {
  std::vector<T> list;
  list.reserve(field.size());
  for (const auto& element : field) {
    T v{};
    HR_RETURN_IF_ERROR(convert(element, &v));
    list.push_back(std::move(v));
  }
  *out = std::move(list);
  return OkStatus();
}

Status FuncFromProto(const pb::NameAttrList& proto, NameAttrList* out) {
  out->name = proto.name();
  if (proto.attr().empty()) return OkStatus();
  auto attrs = std::make_shared<AttrMap>();
  for (const auto& [name, value] : proto.attr()) {
    AttrValue v;
    HR_RETURN_IF_ERROR(AttrValueFromProto(value, &v));
    attrs->Set(name, std::move(v));
  }
  out->attrs = std::move(attrs);
  return OkStatus();
}
void FuncToProto(const NameAttrList& f, pb::NameAttrList* proto) {
  proto->set_name(f.name);
  if (f.attrs == nullptr) return;
  for (const auto& [name, value] : *f.attrs) {
    AttrValueToProto(value, &(*proto->mutable_attr())[name]);
  }
}

Status ListFromProto(const pb::AttrValue::ListValue& l, AttrValue* out) {
  const int kinds = (l.s_size() > 0) + (l.i_size() > 0) + (l.f_size() > 0) +
                    (l.b_size() > 0) + (l.type_size() > 0) +
                    (l.shape_size() > 0) + (l.tensor_size() > 0) +
                    (l.func_size() > 0);
  if (kinds > 1) {
    return errors::InvalidArgument(
        "AttrValue had a list with values of more than one type");
  }
  const auto same = [](const auto& from, auto* to) {
    *to = from;
    return OkStatus();
  };
  if (l.s_size() > 0) return ListFrom<std::string>(l.s(), out, same);
  if (l.i_size() > 0) return ListFrom<int64_t>(l.i(), out, same);
  if (l.f_size() > 0) return ListFrom<float>(l.f(), out, same);
  if (l.b_size() > 0) return ListFrom<bool>(l.b(), out, same);
  if (l.type_size() > 0) {
    return ListFrom<DataType>(l.type(), out, [](int from, DataType* to) {
      *to = static_cast<DataType>(from);
      return OkStatus();
    });
  }
  if (l.shape_size() > 0) {
    return ListFrom<PartialTensorShape>(l.shape(), out, ShapeFromProto);
  }
  if (l.tensor_size() > 0) {
    return ListFrom<Tensor>(l.tensor(), out, TensorFromProto);
  }
  if (l.func_size() > 0) {
    return ListFrom<NameAttrList>(l.func(), out, FuncFromProto);
  }
  *out = AttrValue::EmptyList();
  return OkStatus();
}

struct AttrWriter {
  pb::AttrValue* proto;

  void operator()(std::monostate) const {}
  void operator()(const std::string& v) const { proto->set_s(v); }
  void operator()(int64_t v) const { proto->set_i(v); }
  void operator()(float v) const { proto->set_f(v); }
  void operator()(bool v) const { proto->set_b(v); }
  void operator()(DataType v) const {
    proto->set_type(static_cast<pb::DataType>(v));
  }
  void operator()(const PartialTensorShape& v) const {
    ShapeToProto(v, proto->mutable_shape());
  }
  void operator()(const Tensor& v) const {
    TensorToAttrProto(v, proto->mutable_tensor());
  }
  void operator()(const NameAttrList& v) const {
    FuncToProto(v, proto->mutable_func());
  }
  void operator()(const std::vector<std::string>& v) const {
    for (const auto& e : v) List()->add_s(e);
    List();
  }
  void operator()(const std::vector<int64_t>& v) const {
    List()->mutable_i()->Add(v.begin(), v.end());
  }
  void operator()(const std::vector<float>& v) const {
    List()->mutable_f()->Add(v.begin(), v.end());
  }
  void operator()(const std::vector<bool>& v) const {
    for (bool e : v) List()->add_b(e);
    List();
  }
  void operator()(const std::vector<DataType>& v) const {
    for (DataType e : v) List()->add_type(static_cast<pb::DataType>(e));
    List();
  }
  void operator()(const std::vector<PartialTensorShape>& v) const {
    for (const auto& e : v) ShapeToProto(e, List()->add_shape());
    List();
  }
  void operator()(const std::vector<Tensor>& v) const {
    for (const auto& e : v) TensorToAttrProto(e, List()->add_tensor());
    List();
  }
  void operator()(const std::vector<NameAttrList>& v) const {
    for (const auto& e : v) FuncToProto(e, List()->add_func());
    List();
  }
  void operator()(AttrValue::EmptyList) const { List(); }
  void operator()(const AttrValue::Placeholder& v) const {
    proto->set_placeholder(v.name);
  }
  pb::AttrValue::ListValue* List() const { return proto->mutable_list(); }
};

void ArgToProto(const OpDef& def, const OpDef::Arg& arg,
                pb::OpDef::ArgDef* proto) {
  proto->set_name(arg.name);
  proto->set_type(static_cast<pb::DataType>(arg.type));
  if (arg.type_attr >= 0) proto->set_type_attr(def.attrs[arg.type_attr].name);
  if (arg.number_attr >= 0) {
    proto->set_number_attr(def.attrs[arg.number_attr].name);
  }
  if (arg.type_list_attr >= 0) {
    proto->set_type_list_attr(def.attrs[arg.type_list_attr].name);
  }
  proto->set_is_ref(arg.is_ref);
}

Status ArgFromProto(const OpDef& def, const pb::OpDef::ArgDef& proto,
                    OpDef::Arg* out) {
  out->name = proto.name();
  out->type = static_cast<DataType>(proto.type());
  out->is_ref = proto.is_ref();
  if (IsRefType(out->type)) {
    out->type = RemoveRefType(out->type);
    out->is_ref = true;
  }
  const auto find = [&](const std::string& name, AttrType type, int* index) {
    if (name.empty()) return OkStatus();
    *index = def.FindAttr(name);
    if (*index >= 0 && def.attrs[*index].type == type) return OkStatus();
    return errors::InvalidArgument(
        "argument '", proto.name(), "' of op '", def.name, "' names attr '",
        name, "', which is no attr of type ", AttrTypeName(type));
  };
  HR_RETURN_IF_ERROR(find(proto.type_attr(), AttrType::kType, &out->type_attr));
  HR_RETURN_IF_ERROR(
      find(proto.number_attr(), AttrType::kInt, &out->number_attr));
  HR_RETURN_IF_ERROR(
      find(proto.type_list_attr(), AttrType::kListType, &out->type_list_attr));
  if (out->type_attr < 0 && out->type_list_attr < 0 &&
      (!IsValidDataType(out->type) || out->type == DT_INVALID)) {
    return errors::InvalidArgument("argument '", proto.name(), "' of op '",
                                   def.name, "' has no type");
  }
  return OkStatus();
}

Status AttrDefFromProto(const pb::OpDef::AttrDef& proto, OpDef::Attr* out) {
  // The grammar knows the names of types.
  HR_RETURN_IF_ERROR(ParseAttrSpec(StrCat("attr: ", proto.type()), out));
  out->name = proto.name();
  if (!out->allowed_types.empty() || !out->allowed_strings.empty()) {
    return errors::InvalidArgument(
        "attr '", proto.name(), "' has the unknown type '", proto.type(), "'");
  }
  out->has_minimum = proto.has_minimum();
  out->minimum = proto.minimum();
  for (int t : proto.allowed_values().list().type()) {
    out->allowed_types.push_back(static_cast<DataType>(t));
  }
  for (const std::string& s : proto.allowed_values().list().s()) {
    out->allowed_strings.push_back(s);
  }
  if (proto.has_default_value()) {
    AttrValue v;
    HR_RETURN_IF_ERROR(AttrValueFromProto(proto.default_value(), &v));
    out->default_value = std::move(v);
  }
  return OkStatus();
}

}  // namespace

Status AttrValueFromProto(const pb::AttrValue& proto, AttrValue* out) {
  switch (proto.value_case()) {
    case pb::AttrValue::kS:
      *out = proto.s();
      return OkStatus();
    case pb::AttrValue::kI:
      *out = proto.i();
      return OkStatus();
    case pb::AttrValue::kF:
      *out = proto.f();
      return OkStatus();
    case pb::AttrValue::kB:
      *out = proto.b();
      return OkStatus();
    case pb::AttrValue::kType:
      *out = static_cast<DataType>(proto.type());
      return OkStatus();
    case pb::AttrValue::kShape: {
      PartialTensorShape shape;
      HR_RETURN_IF_ERROR(ShapeFromProto(proto.shape(), &shape));
      *out = std::move(shape);
      return OkStatus();
    }
    case pb::AttrValue::kTensor: {
      Tensor t;
      HR_RETURN_IF_ERROR(TensorFromProto(proto.tensor(), &t));
      *out = std::move(t);
      return OkStatus();
    }
    case pb::AttrValue::kList:
      return ListFromProto(proto.list(), out);
    case pb::AttrValue::kFunc: {
      NameAttrList f;
      HR_RETURN_IF_ERROR(FuncFromProto(proto.func(), &f));
      *out = std::move(f);
      return OkStatus();
    }
    case pb::AttrValue::kPlaceholder:
      *out = AttrValue::Placeholder{proto.placeholder()};
      return OkStatus();
    case pb::AttrValue::VALUE_NOT_SET:
      break;
  }
  *out = AttrValue();
  return OkStatus();
}

void AttrValueToProto(const AttrValue& v, pb::AttrValue* proto) {
  proto->Clear();
  std::visit(AttrWriter{proto}, v.storage());
}

Status NodeDefFromProto(const pb::NodeDef& proto, NodeDef* out) {
  out->name = proto.name();
  out->op = proto.op();
  out->device = proto.device();
  out->inputs.assign(proto.input().begin(), proto.input().end());
  out->attrs = AttrMap();
  out->attrs.Reserve(proto.attr().size());
  for (const auto& [name, value] : proto.attr()) {
    AttrValue v;
    if (Status s = AttrValueFromProto(value, &v); !s.ok()) {
      return Annotate(s, StrCat(" (attr '", name, "' of node '", proto.name(),
                                "', op ", proto.op(), ")"));
    }
    out->attrs.Set(name, std::move(v));
  }
  return OkStatus();
}

void NodeDefToProto(const NodeDef& node, pb::NodeDef* proto) {
  proto->Clear();
  proto->set_name(node.name);
  proto->set_op(node.op);
  proto->set_device(node.device);
  for (const std::string& in : node.inputs) proto->add_input(in);
  for (const auto& [name, value] : node.attrs) {
    AttrValueToProto(value, &(*proto->mutable_attr())[name]);
  }
}

void OpDefToProto(const OpDef& def, pb::OpDef* proto) {
  proto->Clear();
  proto->set_name(def.name);
  for (const OpDef::Arg& a : def.inputs) {
    ArgToProto(def, a, proto->add_input_arg());
  }
  for (const OpDef::Arg& a : def.outputs) {
    ArgToProto(def, a, proto->add_output_arg());
  }
  for (const OpDef::Attr& a : def.attrs) {
    auto* attr = proto->add_attr();
    attr->set_name(a.name);
    attr->set_type(AttrTypeName(a.type));
    attr->set_has_minimum(a.has_minimum);
    attr->set_minimum(a.minimum);
    if (a.default_value) {
      AttrValueToProto(*a.default_value, attr->mutable_default_value());
    }
    for (DataType t : a.allowed_types) {
      attr->mutable_allowed_values()->mutable_list()->add_type(
          static_cast<pb::DataType>(t));
    }
    for (const std::string& s : a.allowed_strings) {
      attr->mutable_allowed_values()->mutable_list()->add_s(s);
    }
  }
  proto->set_is_commutative(def.is_commutative);
  proto->set_is_aggregate(def.is_aggregate);
  proto->set_is_stateful(def.is_stateful);
  proto->set_allows_uninitialized_input(def.allows_uninitialized_input);
  if (def.deprecated_at > 0) {
    proto->mutable_deprecation()->set_version(def.deprecated_at);
    proto->mutable_deprecation()->set_explanation(def.deprecation);
  }
}

Status OpDefFromProto(const pb::OpDef& proto, OpDef* out) {
  OpDef def;
  def.name = proto.name();
  for (const auto& a : proto.attr()) {
    OpDef::Attr attr;
    if (Status s = AttrDefFromProto(a, &attr); !s.ok()) {
      return Annotate(
          s, StrCat(" (attr '", a.name(), "' of op '", proto.name(), "')"));
    }
    def.attrs.push_back(std::move(attr));
  }
  for (const auto& a : proto.input_arg()) {
    HR_RETURN_IF_ERROR(ArgFromProto(def, a, &def.inputs.emplace_back()));
  }
  for (const auto& a : proto.output_arg()) {
    HR_RETURN_IF_ERROR(ArgFromProto(def, a, &def.outputs.emplace_back()));
  }
  def.is_commutative = proto.is_commutative();
  def.is_aggregate = proto.is_aggregate();
  def.is_stateful = proto.is_stateful();
  def.allows_uninitialized_input = proto.allows_uninitialized_input();
  def.deprecated_at = proto.deprecation().version();
  def.deprecation = proto.deprecation().explanation();
  *out = std::move(def);
  return OkStatus();
}

}  // namespace headrace
