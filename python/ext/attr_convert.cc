#include "attr_convert.h"

#include "absl/strings/str_join.h"
#include "framework/op/tensor_proto.h"
#include "message.h"
#include "numpy_convert.h"
#include "py_graph.h"
#include "py_support.h"

namespace headrace::python {
namespace {

// How a value of the wrong kind is refused.
struct Context {
  const OpDef& op;
  const OpDef::Attr& attr;

  [[noreturn]] void Refuse(nb::handle value, const char* wanted) const {
    RaiseTypeError(StrCat("Expected ", wanted, " for argument '", attr.name,
                          "' of op ", op.name, " not ", nb::repr(value).c_str(),
                          "."));
  }
};

int64_t ToInt(nb::handle v, const Context& c) {
  if (PyLong_CheckExact(v.ptr())) {
    const int64_t i = PyLong_AsLongLong(v.ptr());
    if (i == -1 && PyErr_Occurred()) throw nb::python_error();
    return i;
  }
  if (PyFloat_Check(v.ptr())) c.Refuse(v, "int");
  nb::object index = nb::steal(PyNumber_Index(v.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    index = nb::steal(PyNumber_Long(v.ptr()));  // Dimension and the like
    if (!index.is_valid() || PyUnicode_Check(v.ptr())) {
      PyErr_Clear();
      c.Refuse(v, "int");
    }
  }
  const int64_t i = PyLong_AsLongLong(index.ptr());
  if (i == -1 && PyErr_Occurred()) throw nb::python_error();
  return i;
}

float ToFloat(nb::handle v, const Context& c) {
  const double d = PyUnicode_Check(v.ptr()) ? -1 : PyFloat_AsDouble(v.ptr());
  if (PyUnicode_Check(v.ptr()) || (d == -1.0 && PyErr_Occurred())) {
    PyErr_Clear();
    c.Refuse(v, "float");
  }
  return static_cast<float>(d);
}

bool ToBool(nb::handle v, const Context& c) {
  if (v.ptr() == Py_True) return true;
  if (v.ptr() == Py_False) return false;
  const int truth = PyNumber_Check(v.ptr()) ? PyObject_IsTrue(v.ptr()) : -1;
  if (truth < 0) {
    PyErr_Clear();
    c.Refuse(v, "bool");
  }
  return truth != 0;
}

std::string ToStr(nb::handle v, const Context& c) {
  if (!PyUnicode_Check(v.ptr()) && !PyBytes_Check(v.ptr())) {
    c.Refuse(v, "string");
  }
  return ToString(v, "an attr");
}

Tensor ToTensorValue(nb::handle v) {
  if (const google::protobuf::Message* m = AsMessage(v)) {
    pb::TensorProto proto;
    proto.ParseFromString(m->SerializeAsString());
    Tensor t;
    Check(TensorFromProto(proto, &t));
    return t;
  }
  return ToTensor(v, DT_INVALID, Sharing::kCopy);
}

NameAttrList ToFunction(nb::handle v, const Context& c) {
  if (const google::protobuf::Message* m = AsMessage(v)) {
    pb::AttrValue proto;
    proto.mutable_func()->ParseFromString(m->SerializeAsString());
    AttrValue value;
    Check(AttrValueFromProto(proto, &value));
    if (const auto* f = value.Get<NameAttrList>()) return *f;
  }
  if (nb::hasattr(v, "name")) {
    // A Defun: its definition comes along.
    if (nb::hasattr(v, "add_to_graph")) v.attr("add_to_graph")(DefaultGraph());
    return {ToStr(nb::object(v.attr("name")), c), nullptr};
  }
  return {ToStr(v, c), nullptr};
}

template <typename T, typename F>
std::vector<T> ToList(nb::handle value, const Context& c, F f) {
  nb::object list = nb::steal(PySequence_Fast(value.ptr(), ""));
  if (!list.is_valid() || PyUnicode_Check(value.ptr()) ||
      PyBytes_Check(value.ptr())) {
    PyErr_Clear();
    c.Refuse(value, "a list of values");
  }
  std::vector<T> out;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list.ptr());
  for (Py_ssize_t i = 0; i < n; ++i) {
    out.push_back(f(nb::handle(PySequence_Fast_GET_ITEM(list.ptr(), i))));
  }
  return out;
}

AttrValue Convert(const Context& c, nb::handle v) {
  switch (c.attr.type) {
    case AttrType::kString:
      return ToStr(v, c);
    case AttrType::kInt:
      return ToInt(v, c);
    case AttrType::kFloat:
      return ToFloat(v, c);
    case AttrType::kBool:
      return ToBool(v, c);
    case AttrType::kType:
      return BaseType(ToDataType(v));
    case AttrType::kShape:
      return ToPartialShape(v);
    case AttrType::kTensor:
      return ToTensorValue(v);
    case AttrType::kFunc:
      return ToFunction(v, c);
    case AttrType::kListString:
      return ToList<std::string>(v, c,
                                 [&](nb::handle h) { return ToStr(h, c); });
    case AttrType::kListInt:
      return ToList<int64_t>(v, c, [&](nb::handle h) { return ToInt(h, c); });
    case AttrType::kListFloat:
      return ToList<float>(v, c, [&](nb::handle h) { return ToFloat(h, c); });
    case AttrType::kListBool:
      return ToList<bool>(v, c, [&](nb::handle h) { return ToBool(h, c); });
    case AttrType::kListType:
      return ToList<DataType>(
          v, c, [](nb::handle h) { return BaseType(ToDataType(h)); });
    case AttrType::kListShape:
      return ToList<PartialTensorShape>(v, c, ToPartialShape);
    case AttrType::kListTensor:
      return ToList<Tensor>(v, c, ToTensorValue);
    case AttrType::kListFunc:
      return ToList<NameAttrList>(
          v, c, [&](nb::handle h) { return ToFunction(h, c); });
  }
  c.Refuse(v, "a value");
}

nb::object Str(const std::string& s) {
  return nb::steal(
      PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}

template <typename T>
constexpr bool kIsVector = false;
template <typename T>
constexpr bool kIsVector<std::vector<T>> = true;

template <typename T>
nb::object One(const T& v) {
  if constexpr (std::is_same_v<T, std::string>) {
    return Str(v);
  } else if constexpr (std::is_same_v<T, DataType>) {
    return DTypeObject(v);
  } else if constexpr (std::is_same_v<T, PartialTensorShape>) {
    return FromPartialShape(v);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return ToNumpy(v);
  } else if constexpr (std::is_same_v<T, NameAttrList>) {
    return nb::str(v.name.c_str());
  } else {
    return nb::cast(v);
  }
}

// A value that `attr` does not allow, in the words of TensorFlow's Python.
std::string Refusal(const OpDef& op, const OpDef::Attr& attr,
                    const AttrValue& v, const Status& s) {
  const std::string begin =
      StrCat("Attr '", attr.name, "' of '", op.name, "' Op passed ");
  if (const auto* text = v.Get<std::string>();
      text != nullptr && !attr.allowed_strings.empty()) {
    return StrCat(begin, "string '", *text, "' not in: \"",
                  absl::StrJoin(attr.allowed_strings, "\", \""), "\".");
  }
  if (const auto* n = v.Get<int64_t>(); n != nullptr && attr.has_minimum) {
    return StrCat(begin, *n, " less than minimum ", attr.minimum, ".");
  }
  return StrCat("op ", op.name, ": ", s.message());
}

}  // namespace

AttrValue ToAttrValue(const OpDef& op, const OpDef::Attr& attr,
                      nb::handle value) {
  AttrValue v = Convert({op, attr}, value);
  if (Status s = ValidateAttrValue(attr, v); !s.ok()) {
    if (attr.type == AttrType::kType || attr.type == AttrType::kListType) {
      RaiseTypeError(StrCat("op ", op.name, ": ", s.message()));
    }
    RaiseValueError(Refusal(op, attr, v, s));
  }
  return v;
}

nb::object FromAttrValue(const AttrValue& v) {
  return std::visit(
      [](const auto& x) -> nb::object {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<T, AttrValue::EmptyList>) {
          return nb::list();
        } else if constexpr (std::is_same_v<T, AttrValue::Placeholder>) {
          return nb::str(x.name.c_str());
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          nb::list list;
          for (bool b : x) list.append(nb::bool_(b));
          return list;
        } else if constexpr (kIsVector<T>) {
          nb::list list;
          for (const auto& e : x) list.append(One(e));
          return list;
        } else {
          return One(x);
        }
      },
      v.storage());
}

PartialTensorShape ToPartialShape(nb::handle o) {
  nb::object list = hooks().as_shape_list(o);
  if (list.is_none()) return PartialTensorShape();
  DimVector dims;
  for (nb::handle d : nb::cast<nb::list>(list)) {
    dims.push_back(d.is_none() ? -1 : PyLong_AsLongLong(d.ptr()));
    if (PyErr_Occurred()) throw nb::python_error();
  }
  PartialTensorShape shape;
  if (Status s = PartialTensorShape::Build(dims, &shape); !s.ok()) {
    RaiseValueError(std::string(s.message()));
  }
  return shape;
}

nb::object FromPartialShape(const PartialTensorShape& s) {
  if (s.unknown_rank()) return nb::none();
  nb::list list;
  for (int64_t d : s.dim_sizes()) {
    if (d < 0) {
      list.append(nb::none());
    } else {
      list.append(nb::int_(d));
    }
  }
  return list;
}

}  // namespace headrace::python
