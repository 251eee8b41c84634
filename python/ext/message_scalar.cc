#include "message_scalar.h"

#include <nanobind/stl/string.h>

#include "py_support.h"

namespace headrace::python {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

nb::object Text(const std::string& s) {
  return nb::steal(PyUnicode_DecodeUTF8(
      s.data(), static_cast<Py_ssize_t>(s.size()), "surrogateescape"));
}

void RefuseValue(const FieldDescriptor* f, nb::handle v) {
  RaiseTypeError(StrCat(nb::repr(v).c_str(), " has type ",
                        Py_TYPE(v.ptr())->tp_name, ", but field ",
                        f->full_name(), " is a ", f->type_name()));
}

namespace {

nb::object StringObject(const FieldDescriptor* f, const std::string& s) {
  if (f->type() == FieldDescriptor::TYPE_BYTES) {
    return nb::steal(
        PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
  }
  return Text(s);
}

int64_t ToInteger(const FieldDescriptor* f, nb::handle v) {
  nb::object i = nb::steal(PyNumber_Index(v.ptr()));
  if (!i.is_valid()) {
    PyErr_Clear();
    RefuseValue(f, v);
  }
  if (f->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    const uint64_t u = PyLong_AsUnsignedLongLong(i.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    return static_cast<int64_t>(u);
  }
  const int64_t n = PyLong_AsLongLong(i.ptr());
  if (n == -1 && PyErr_Occurred()) throw nb::python_error();
  const bool is_32 = f->cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
                     f->cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
  if ((is_32 && n != static_cast<int32_t>(n)) ||
      (f->cpp_type() == FieldDescriptor::CPPTYPE_UINT32 &&
       n != static_cast<uint32_t>(n))) {
    RaiseValueError(StrCat("Value out of range for ", f->full_name(), ": ", n));
  }
  return n;
}

double ToDouble(const FieldDescriptor* f, nb::handle v) {
  const double d = PyUnicode_Check(v.ptr()) ? -1 : PyFloat_AsDouble(v.ptr());
  if (PyUnicode_Check(v.ptr()) || (d == -1 && PyErr_Occurred())) {
    PyErr_Clear();
    RefuseValue(f, v);
  }
  return d;
}

// Text for fields of bytes is refused, as protobuf does.
std::string ToStringOf(const FieldDescriptor* f, nb::handle v) {
  const bool is_bytes = f->type() == FieldDescriptor::TYPE_BYTES;
  if (is_bytes && !PyBytes_Check(v.ptr())) {
    RaiseTypeError(
        StrCat(nb::repr(v).c_str(), " has type ", Py_TYPE(v.ptr())->tp_name,
               ", but expected one of: bytes (field ", f->full_name(), ")"));
  }
  return ToString(v, f->full_name().c_str());
}

int ToEnum(const FieldDescriptor* f, nb::handle v) {
  if (PyUnicode_Check(v.ptr())) {
    const auto* value = f->enum_type()->FindValueByName(ToString(v, "an enum"));
    if (value == nullptr) {
      RaiseValueError(StrCat("unknown value ", nb::repr(v).c_str(), " of enum ",
                             f->enum_type()->full_name()));
    }
    return value->number();
  }
  return static_cast<int>(ToInteger(f, v));
}

}  // namespace

// One case a C++ type, for the plain kinds of field.
#define HR_FOR_SCALARS(M)                \
  M(INT32, Int32, int32_t, ToInteger)    \
  M(INT64, Int64, int64_t, ToInteger)    \
  M(UINT32, UInt32, uint32_t, ToInteger) \
  M(UINT64, UInt64, uint64_t, ToInteger) \
  M(FLOAT, Float, float, ToDouble)       \
  M(DOUBLE, Double, double, ToDouble)    \
  M(BOOL, Bool, bool, ToInteger)

nb::object GetScalar(const Message& m, const FieldDescriptor* f) {
  const Reflection* r = m.GetReflection();
  switch (f->cpp_type()) {
#define HR_CASE(KIND, Name, type, to)   \
  case FieldDescriptor::CPPTYPE_##KIND: \
    return nb::cast(r->Get##Name(m, f));
    HR_FOR_SCALARS(HR_CASE)
#undef HR_CASE
    case FieldDescriptor::CPPTYPE_ENUM:
      return nb::int_(r->GetEnumValue(m, f));
    default: {
      std::string scratch;
      return StringObject(f, r->GetStringReference(m, f, &scratch));
    }
  }
}

nb::object GetScalarAt(const Message& m, const FieldDescriptor* f, int i) {
  const Reflection* r = m.GetReflection();
  switch (f->cpp_type()) {
#define HR_CASE(KIND, Name, type, to)   \
  case FieldDescriptor::CPPTYPE_##KIND: \
    return nb::cast(r->GetRepeated##Name(m, f, i));
    HR_FOR_SCALARS(HR_CASE)
#undef HR_CASE
    case FieldDescriptor::CPPTYPE_ENUM:
      return nb::int_(r->GetRepeatedEnumValue(m, f, i));
    default: {
      std::string scratch;
      return StringObject(f, r->GetRepeatedStringReference(m, f, i, &scratch));
    }
  }
}

void SetScalar(Message* m, const FieldDescriptor* f, nb::handle v) {
  const Reflection* r = m->GetReflection();
  switch (f->cpp_type()) {
#define HR_CASE(KIND, Name, type, to)   \
  case FieldDescriptor::CPPTYPE_##KIND: \
    return r->Set##Name(m, f, static_cast<type>(to(f, v)));
    HR_FOR_SCALARS(HR_CASE)
#undef HR_CASE
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->SetEnumValue(m, f, ToEnum(f, v));
    default:
      return r->SetString(m, f, ToStringOf(f, v));
  }
}

void SetScalarAt(Message* m, const FieldDescriptor* f, int i, nb::handle v) {
  const Reflection* r = m->GetReflection();
  switch (f->cpp_type()) {
#define HR_CASE(KIND, Name, type, to)   \
  case FieldDescriptor::CPPTYPE_##KIND: \
    return r->SetRepeated##Name(m, f, i, static_cast<type>(to(f, v)));
    HR_FOR_SCALARS(HR_CASE)
#undef HR_CASE
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->SetRepeatedEnumValue(m, f, i, ToEnum(f, v));
    default:
      return r->SetRepeatedString(m, f, i, ToStringOf(f, v));
  }
}

void AddScalar(Message* m, const FieldDescriptor* f, nb::handle v) {
  const Reflection* r = m->GetReflection();
  switch (f->cpp_type()) {
#define HR_CASE(KIND, Name, type, to)   \
  case FieldDescriptor::CPPTYPE_##KIND: \
    return r->Add##Name(m, f, static_cast<type>(to(f, v)));
    HR_FOR_SCALARS(HR_CASE)
#undef HR_CASE
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->AddEnumValue(m, f, ToEnum(f, v));
    default:
      return r->AddString(m, f, ToStringOf(f, v));
  }
}
#undef HR_FOR_SCALARS

}  // namespace headrace::python
