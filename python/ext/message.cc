#include "message.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "headrace/config.pb.h"
#include "numpy_convert.h"
#include "py_support.h"

namespace headrace::python {
namespace {

using google::protobuf::Arena;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::Reflection;

constexpr char kPackage[] = "headrace.pb.";

std::string ScalarKey(nb::handle key) {
  if (PyUnicode_Check(key.ptr()) || PyBytes_Check(key.ptr())) {
    return ToString(key, "a map key");
  }
  return nb::str(key).c_str();
}

std::string EntryKey(const Message& entry) {
  const FieldDescriptor* f = entry.GetDescriptor()->FindFieldByNumber(1);
  const Reflection* r = entry.GetReflection();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return r->GetString(entry, f);
    case FieldDescriptor::CPPTYPE_INT32:
      return StrCat(r->GetInt32(entry, f));
    case FieldDescriptor::CPPTYPE_INT64:
      return StrCat(r->GetInt64(entry, f));
    case FieldDescriptor::CPPTYPE_UINT32:
      return StrCat(r->GetUInt32(entry, f));
    case FieldDescriptor::CPPTYPE_UINT64:
      return StrCat(r->GetUInt64(entry, f));
    default:
      return r->GetBool(entry, f) ? "True" : "False";
  }
}

[[noreturn]] void RaiseParseError(const Descriptor* type) {
  RaiseStatus(errors::DataLoss("Error parsing message of type ", type->name()),
              nb::none());
}

// Where a message is: by itself, a field of a parent that may not be set yet,
// or the value under a key of a parent's map.
class Core : public std::enable_shared_from_this<Core> {
 public:
  static std::shared_ptr<Core> Root(const Descriptor* type) {
    auto c = std::make_shared<Core>();
    c->arena_ = std::make_shared<Arena>();
    c->prototype_ = Prototype(type);
    c->message_ = c->prototype_->New(c->arena_.get());
    c->is_root_ = true;
    return c;
  }
  std::shared_ptr<Core> At(Message* element) {  // of a repeated field
    auto c = std::make_shared<Core>();
    c->arena_ = arena_;
    c->prototype_ = Prototype(element->GetDescriptor());
    c->message_ = element;
    return c;
  }
  std::shared_ptr<Core> Field(const FieldDescriptor* field) {
    auto c = std::make_shared<Core>();
    c->arena_ = arena_;
    c->prototype_ = Prototype(field->message_type());
    c->parent_ = shared_from_this();
    c->field_ = field;
    return c;
  }
  std::shared_ptr<Core> MapValue(const FieldDescriptor* map, std::string key) {
    auto c = Field(map);
    c->prototype_ =
        Prototype(map->message_type()->FindFieldByNumber(2)->message_type());
    c->key_ = std::move(key);
    c->in_map_ = true;
    return c;
  }

  const Descriptor* type() const { return prototype_->GetDescriptor(); }
  bool is_root() const { return is_root_; }

  // A GraphDef that has not been made a message yet.
  struct Unread {
    nb::bytes bytes;
    GraphDefParts parts;
  };
  // Of a root: instead of what is there.
  void SetUnread(std::unique_ptr<Unread> unread) {
    message_->Clear();
    unread_ = std::move(unread);
  }
  const Unread* unread() const { return unread_.get(); }

  const Message& get() const {
    if (unread_ != nullptr) Read();
    if (message_ != nullptr) return *message_;
    const Message& parent = parent_->get();
    const Reflection* r = parent.GetReflection();
    if (in_map_) {
      for (int i = 0; i < r->FieldSize(parent, field_); ++i) {
        const Message& entry = r->GetRepeatedMessage(parent, field_, i);
        if (EntryKey(entry) == key_) {
          return entry.GetReflection()->GetMessage(
              entry, entry.GetDescriptor()->FindFieldByNumber(2));
        }
      }
      return *prototype_;
    }
    return r->HasField(parent, field_) ? r->GetMessage(parent, field_)
                                       : *prototype_;
  }

  Message* mutable_message() {
    if (unread_ != nullptr) Read();
    if (message_ != nullptr) return message_;
    Message* parent = parent_->mutable_message();
    const Reflection* r = parent->GetReflection();
    if (!in_map_) return r->MutableMessage(parent, field_);
    Message* entry = nullptr;
    for (int i = 0; i < r->FieldSize(*parent, field_); ++i) {
      Message* e = r->MutableRepeatedMessage(parent, field_, i);
      if (EntryKey(*e) == key_) entry = e;
    }
    if (entry == nullptr) {
      entry = r->AddMessage(parent, field_);
      SetEntryKey(entry);
    }
    return entry->GetReflection()->MutableMessage(
        entry, entry->GetDescriptor()->FindFieldByNumber(2));
  }

 private:
  static const Message* Prototype(const Descriptor* type) {
    return MessageFactory::generated_factory()->GetPrototype(type);
  }
  void Read() const {
    const std::unique_ptr<Unread> unread = std::move(unread_);
    if (!message_->ParseFromArray(unread->bytes.c_str(),
                                  static_cast<int>(unread->bytes.size()))) {
      RaiseParseError(message_->GetDescriptor());
    }
  }
  void SetEntryKey(Message* entry) const {
    const FieldDescriptor* f = entry->GetDescriptor()->FindFieldByNumber(1);
    const Reflection* r = entry->GetReflection();
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return r->SetString(entry, f, key_);
      case FieldDescriptor::CPPTYPE_INT32:
        return r->SetInt32(entry, f, static_cast<int32_t>(std::stoll(key_)));
      case FieldDescriptor::CPPTYPE_INT64:
        return r->SetInt64(entry, f, std::stoll(key_));
      case FieldDescriptor::CPPTYPE_UINT32:
        return r->SetUInt32(entry, f, static_cast<uint32_t>(std::stoull(key_)));
      case FieldDescriptor::CPPTYPE_UINT64:
        return r->SetUInt64(entry, f, std::stoull(key_));
      default:
        return r->SetBool(entry, f, key_ == "True");
    }
  }

  std::shared_ptr<Arena> arena_;
  const Message* prototype_ = nullptr;
  Message* message_ = nullptr;  // null: found through the parent each time
  std::shared_ptr<Core> parent_;
  const FieldDescriptor* field_ = nullptr;
  bool in_map_ = false;
  std::string key_;
  bool is_root_ = false;
  mutable std::unique_ptr<Unread> unread_;  // what message_ is to be read from
};

struct PyMessage {
  std::shared_ptr<Core> core;
};
struct PyRepeated {
  std::shared_ptr<Core> core;
  const FieldDescriptor* field;
  int size() const {
    const Message& m = core->get();
    return m.GetReflection()->FieldSize(m, field);
  }
};
struct PyMap {
  std::shared_ptr<Core> core;
  const FieldDescriptor* field;
  const FieldDescriptor* key() const {
    return field->message_type()->FindFieldByNumber(1);
  }
  const FieldDescriptor* value() const {
    return field->message_type()->FindFieldByNumber(2);
  }
};

// The Python class of a message type; made once, kept for ever.
nb::object ClassOf(const Descriptor* type);

nb::object Wrap(std::shared_ptr<Core> core) {
  nb::object o = nb::inst_alloc(ClassOf(core->type()));
  new (nb::inst_ptr<PyMessage>(o)) PyMessage{std::move(core)};
  nb::inst_mark_ready(o);
  return o;
}

nb::object Text(const std::string& s) {
  return nb::steal(PyUnicode_DecodeUTF8(
      s.data(), static_cast<Py_ssize_t>(s.size()), "surrogateescape"));
}
nb::object StringObject(const FieldDescriptor* f, const std::string& s) {
  if (f->type() == FieldDescriptor::TYPE_BYTES) {
    return nb::steal(
        PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
  }
  return Text(s);
}

void Parse(PyMessage& self, nb::handle data, bool merge);

[[noreturn]] void RefuseValue(const FieldDescriptor* f, nb::handle v) {
  RaiseTypeError(StrCat(nb::repr(v).c_str(), " has type ",
                        Py_TYPE(v.ptr())->tp_name, ", but field ",
                        f->full_name(), " is a ", f->type_name()));
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

nb::object GetElement(PyRepeated& list, int i) {
  const FieldDescriptor* f = list.field;
  if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    Message* m = list.core->mutable_message();
    return Wrap(
        list.core->At(m->GetReflection()->MutableRepeatedMessage(m, f, i)));
  }
  const Message& m = list.core->get();
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
      return r->SetString(m, f, ToString(v, f->full_name().c_str()));
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
      return r->AddString(m, f, ToString(v, f->full_name().c_str()));
  }
}

void SetElement(Message* m, const FieldDescriptor* f, int i, nb::handle v) {
  const Reflection* r = m->GetReflection();
  switch (f->cpp_type()) {
#define HR_CASE(KIND, Name, type, to)   \
  case FieldDescriptor::CPPTYPE_##KIND: \
    return r->SetRepeated##Name(m, f, i, static_cast<type>(to(f, v)));
    HR_FOR_SCALARS(HR_CASE)
#undef HR_CASE
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->SetRepeatedEnumValue(m, f, i, ToEnum(f, v));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      RaiseTypeError("elements that are messages cannot be assigned");
    default:
      return r->SetRepeatedString(m, f, i, ToString(v, f->full_name().c_str()));
  }
}
#undef HR_FOR_SCALARS

const FieldDescriptor* FindField(const Descriptor* type,
                                 const std::string& name) {
  const FieldDescriptor* f = type->FindFieldByName(name);
  if (f == nullptr) {
    PyErr_SetString(PyExc_AttributeError,
                    StrCat(type->name(), " has no field '", name, "'").c_str());
    throw nb::python_error();
  }
  return f;
}

nb::object GetField(PyMessage& self, const FieldDescriptor* f) {
  if (f->is_map()) return nb::cast(PyMap{self.core, f});
  if (f->is_repeated()) return nb::cast(PyRepeated{self.core, f});
  if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return Wrap(self.core->Field(f));
  }
  return GetScalar(self.core->get(), f);
}

// Keyword values of a message: {field: value}; what constructors and add()
// take.
void AssignAll(const std::shared_ptr<Core>& core, nb::handle dict);

void CopyInto(const std::shared_ptr<Core>& core, nb::handle value,
              const FieldDescriptor* f) {
  if (PyDict_Check(value.ptr())) {
    core->mutable_message();
    AssignAll(core, value);
    return;
  }
  const Message* from = AsMessage(value);
  if (from == nullptr || from->GetDescriptor() != core->type()) {
    RefuseValue(f, value);
  }
  Message* to = core->mutable_message();
  if (to != from) to->CopyFrom(*from);
}

void Extend(PyRepeated& list, nb::handle values) {
  for (nb::handle v : nb::iter(values)) {
    Message* m = list.core->mutable_message();
    if (list.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      CopyInto(list.core->At(m->GetReflection()->AddMessage(m, list.field)), v,
               list.field);
    } else {
      AddScalar(m, list.field, v);
    }
  }
}

int FindEntry(const PyMap& map, const std::string& key) {
  const Message& m = map.core->get();
  const Reflection* r = m.GetReflection();
  for (int i = 0; i < r->FieldSize(m, map.field); ++i) {
    if (EntryKey(r->GetRepeatedMessage(m, map.field, i)) == key) return i;
  }
  return -1;
}

void SetMapItem(PyMap& map, nb::handle key, nb::handle value) {
  const std::string k = ScalarKey(key);
  if (map.value()->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    CopyInto(map.core->MapValue(map.field, k), value, map.value());
    return;
  }
  const int at = FindEntry(map, k);
  Message* m = map.core->mutable_message();
  const Reflection* r = m->GetReflection();
  Message* entry = at >= 0 ? r->MutableRepeatedMessage(m, map.field, at)
                           : r->AddMessage(m, map.field);
  if (at < 0) SetScalar(entry, map.key(), key);
  SetScalar(entry, map.value(), value);
}

nb::object GetMapItem(PyMap& map, nb::handle key) {
  const std::string k = ScalarKey(key);
  if (map.value()->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    auto core = map.core->MapValue(map.field, k);
    core->mutable_message();  // as protobuf does, looking makes an entry
    return Wrap(std::move(core));
  }
  const int at = FindEntry(map, k);
  if (at < 0) {
    PyErr_SetObject(PyExc_KeyError, key.ptr());
    throw nb::python_error();
  }
  const Message& m = map.core->get();
  return GetScalar(m.GetReflection()->GetRepeatedMessage(m, map.field, at),
                   map.value());
}

nb::list MapKeys(const PyMap& map) {
  nb::list keys;
  const Message& m = map.core->get();
  const Reflection* r = m.GetReflection();
  for (int i = 0; i < r->FieldSize(m, map.field); ++i) {
    keys.append(GetScalar(r->GetRepeatedMessage(m, map.field, i), map.key()));
  }
  return keys;
}

void SetField(const std::shared_ptr<Core>& core, const FieldDescriptor* f,
              nb::handle value) {
  if (f->is_map()) {
    PyMap map{core, f};
    for (nb::handle key : nb::list(nb::object(value.attr("keys")()))) {
      SetMapItem(map, key, nb::object(value[key]));
    }
  } else if (f->is_repeated()) {
    PyRepeated list{core, f};
    Extend(list, value);
  } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    CopyInto(core->Field(f), value, f);
  } else {
    SetScalar(core->mutable_message(), f, value);
  }
}

void AssignAll(const std::shared_ptr<Core>& core, nb::handle dict) {
  for (auto [name, value] : nb::borrow<nb::dict>(dict)) {
    if (value.is_none()) continue;
    const std::string n = nb::cast<std::string>(name);
    const FieldDescriptor* f = core->type()->FindFieldByName(n);
    if (f == nullptr) {
      RaiseValueError(StrCat("Protocol message ", core->type()->name(),
                             " has no \"", n, "\" field."));
    }
    SetField(core, f, value);
  }
}

nb::object ClassOf(const Descriptor* type) {
  static auto* const classes =
      new absl::flat_hash_map<const Descriptor*, PyObject*>;
  const auto it = classes->find(type);
  if (it != classes->end()) return nb::borrow(it->second);

  nb::object base = nb::borrow(nb::type<PyMessage>());
  nb::dict members;
  members["_type_name"] = nb::str(type->full_name().c_str());
  members["__module__"] = nb::str("headrace");
  members["__slots__"] = nb::tuple();
  for (int i = 0; i < type->enum_type_count(); ++i) {
    const auto* e = type->enum_type(i);
    for (int v = 0; v < e->value_count(); ++v) {
      members[e->value(v)->name().c_str()] = nb::int_(e->value(v)->number());
    }
  }
  for (int i = 0; i < type->field_count(); ++i) {
    std::string constant = type->field(i)->name();
    for (char& c : constant) c = absl::ascii_toupper(c);
    members[(constant + "_FIELD_NUMBER").c_str()] =
        nb::int_(type->field(i)->number());
  }
  for (int i = 0; i < type->nested_type_count(); ++i) {
    const Descriptor* nested = type->nested_type(i);
    if (nested->options().map_entry()) continue;
    members[nested->name().c_str()] = ClassOf(nested);
  }
  members["FromString"] = nb::cpp_function([type](nb::handle data) {
    PyMessage message{Core::Root(type)};
    Parse(message, data, /*merge=*/false);
    return Wrap(message.core);
  });
  nb::object metaclass =
      nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(base.ptr())));
  nb::object made =
      metaclass(nb::str(type->name().c_str()), nb::make_tuple(base), members);
  classes->emplace(type, nb::object(made).release().ptr());
  return made;
}

const Descriptor* DescriptorOf(nb::handle cls) {
  const std::string name = nb::cast<std::string>(cls.attr("_type_name"));
  const Descriptor* d =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
          name);
  if (d == nullptr) RaiseTypeError("no message type " + name);
  return d;
}

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    text = StrCat(line + 1, ":", column + 1, ": ", message);
  }
  std::string text;
};

void ParseText(Message* m, const std::string& text) {
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parser.MergeFromString(text, m)) RaiseValueError(error.text);
}

std::string Bytes(nb::handle data) {
  if (PyBytes_Check(data.ptr())) return ToString(data, "a message");
  nb::object bytes = nb::steal(PyBytes_FromObject(data.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  return ToString(bytes, "a message");
}

// Null if `data` is no large GraphDef, or a broken one: what protobuf would
// refuse is refused now, not when it is looked into.
std::unique_ptr<Core::Unread> ReadLargeGraphDef(const Descriptor* type,
                                                nb::handle data) {
  constexpr Py_ssize_t kLarge = 1 << 20;
  if (type != pb::GraphDef::descriptor() || !PyBytes_Check(data.ptr()) ||
      PyBytes_GET_SIZE(data.ptr()) < kLarge) {
    return nullptr;
  }
  auto unread = std::make_unique<Core::Unread>();
  unread->bytes = nb::borrow<nb::bytes>(data);
  if (!ReadGraphDefParts(BufferOverBytes(data), &unread->parts).ok()) {
    return nullptr;
  }
  return unread;
}

void Parse(PyMessage& self, nb::handle data, bool merge) {
  Core& core = *self.core;
  if (!merge && core.is_root()) {
    if (auto unread = ReadLargeGraphDef(core.type(), data)) {
      return core.SetUnread(std::move(unread));
    }
  }
  Message* m = core.mutable_message();
  if (!merge) m->Clear();
  bool parsed = false;
  if (PyBytes_Check(data.ptr())) {
    google::protobuf::io::CodedInputStream in(
        reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(data.ptr())),
        static_cast<int>(PyBytes_GET_SIZE(data.ptr())));
    parsed = PyBytes_GET_SIZE(data.ptr()) <= INT32_MAX &&
             m->MergeFromCodedStream(&in) && in.ConsumedEntireMessage();
  } else {
    parsed = m->MergeFromString(Bytes(data));
  }
  if (!parsed) RaiseParseError(core.type());
}

nb::object Serialize(const PyMessage& self) {
  if (self.core->unread() != nullptr) return self.core->unread()->bytes;
  const std::string s = self.core->get().SerializeAsString();
  return nb::steal(
      PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}

int Index(nb::handle key, int size) {
  Py_ssize_t i = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (i == -1 && PyErr_Occurred()) throw nb::python_error();
  if (i < 0) i += size;
  if (i < 0 || i >= size) throw nb::index_error("list index out of range");
  return static_cast<int>(i);
}

nb::list Elements(PyRepeated& list) {
  nb::list out;
  const int n = list.size();
  for (int i = 0; i < n; ++i) out.append(GetElement(list, i));
  return out;
}

void DeleteElements(PyRepeated& list, int begin, int end) {
  Message* m = list.core->mutable_message();
  const Reflection* r = m->GetReflection();
  const int n = list.size();
  for (int i = end; i < n; ++i) r->SwapElements(m, list.field, begin++, i);
  while (begin++ < n) r->RemoveLast(m, list.field);
}

void RegisterRepeated(nb::module_& m) {
  nb::class_<PyRepeated>(m, "RepeatedField")
      .def("__len__", &PyRepeated::size)
      .def("__getitem__",
           [](PyRepeated& self, nb::handle key) -> nb::object {
             if (PySlice_Check(key.ptr())) {
               return nb::object(nb::object(Elements(self))[key]);
             }
             return GetElement(self, Index(key, self.size()));
           })
      .def("__setitem__",
           [](PyRepeated& self, nb::handle key, nb::handle value) {
             SetElement(self.core->mutable_message(), self.field,
                        Index(key, self.size()), value);
           })
      .def("__delitem__",
           [](PyRepeated& self, nb::handle key) {
             Py_ssize_t begin, end, step;
             if (PySlice_Check(key.ptr())) {
               if (PySlice_Unpack(key.ptr(), &begin, &end, &step) < 0) {
                 throw nb::python_error();
               }
               PySlice_AdjustIndices(self.size(), &begin, &end, step);
               if (step != 1) RaiseValueError("the step must be 1");
               if (end < begin) end = begin;
             } else {
               begin = Index(key, self.size());
               end = begin + 1;
             }
             DeleteElements(self, static_cast<int>(begin),
                            static_cast<int>(end));
           })
      .def("__iter__",
           [](PyRepeated& self) { return nb::iter(Elements(self)); })
      .def(
          "__eq__",
          [](PyRepeated& self, nb::handle o) {
            return Elements(self).equal(nb::list(nb::borrow(o)));
          },
          nb::arg("other").none())
      .def("__repr__",
           [](PyRepeated& self) { return nb::repr(Elements(self)); })
      .def("append", [](PyRepeated& self,
                        nb::handle v) { Extend(self, nb::make_tuple(v)); })
      .def("extend", &Extend)
      .def("MergeFrom", &Extend)
      .def("add",
           [](PyRepeated& self, nb::kwargs kw) {
             Message* m = self.core->mutable_message();
             auto core =
                 self.core->At(m->GetReflection()->AddMessage(m, self.field));
             AssignAll(core, kw);
             return Wrap(core);
           })
      .def(
          "pop",
          [](PyRepeated& self, nb::handle at) {
            const int i = Index(at, self.size());
            nb::object last = GetElement(self, i);
            DeleteElements(self, i, i + 1);
            return last;
          },
          nb::arg("index") = -1)
      .def("remove", [](PyRepeated& self, nb::handle v) {
        for (int i = 0; i < self.size(); ++i) {
          if (!GetElement(self, i).equal(v)) continue;
          DeleteElements(self, i, i + 1);
          return;
        }
        RaiseValueError("the value is not in the list");
      });
}

void RegisterMap(nb::module_& m) {
  nb::class_<PyMap>(m, "MapField")
      .def("__len__", [](PyMap& self) { return MapKeys(self).size(); })
      .def("__getitem__", &GetMapItem)
      .def("__setitem__", &SetMapItem)
      .def("__contains__",
           [](PyMap& self, nb::handle key) {
             return FindEntry(self, ScalarKey(key)) >= 0;
           })
      .def("__delitem__",
           [](PyMap& self, nb::handle key) {
             const int at = FindEntry(self, ScalarKey(key));
             if (at < 0) {
               PyErr_SetObject(PyExc_KeyError, key.ptr());
               throw nb::python_error();
             }
             PyRepeated entries{self.core, self.field};
             DeleteElements(entries, at, at + 1);
           })
      .def("__iter__", [](PyMap& self) { return nb::iter(MapKeys(self)); })
      .def("keys", &MapKeys)
      .def("values",
           [](PyMap& self) {
             nb::list out;
             for (nb::handle k : MapKeys(self)) out.append(GetMapItem(self, k));
             return out;
           })
      .def("items",
           [](PyMap& self) {
             nb::list out;
             for (nb::handle k : MapKeys(self)) {
               out.append(nb::make_tuple(k, GetMapItem(self, k)));
             }
             return out;
           })
      .def(
          "get",
          [](PyMap& self, nb::handle key, nb::object otherwise) {
            return FindEntry(self, ScalarKey(key)) >= 0 ? GetMapItem(self, key)
                                                        : otherwise;
          },
          nb::arg("key"), nb::arg("default") = nb::none())
      .def("get_or_create", &GetMapItem)
      .def("__repr__", [](PyMap& self) {
        nb::dict d;
        for (nb::handle k : MapKeys(self)) d[k] = GetMapItem(self, k);
        return nb::repr(d);
      });
}

}  // namespace

const Message* AsMessage(nb::handle o) {
  PyMessage* m = nullptr;
  return nb::try_cast<PyMessage*>(o, m) && m != nullptr ? &m->core->get()
                                                        : nullptr;
}

Message* AsMutableMessage(nb::handle o) {
  PyMessage* m = nullptr;
  return nb::try_cast<PyMessage*>(o, m) && m != nullptr
             ? m->core->mutable_message()
             : nullptr;
}

const GraphDefParts* UnreadGraphDef(nb::handle o) {
  PyMessage* m = nullptr;
  return nb::try_cast<PyMessage*>(o, m) && m != nullptr &&
                 m->core->unread() != nullptr
             ? &m->core->unread()->parts
             : nullptr;
}

void CheckMessageType(const Message* m, const Descriptor* wanted, nb::handle o,
                      const char* what) {
  if (m != nullptr && m->GetDescriptor() == wanted) return;
  RaiseTypeError(StrCat(what, " must be a ", wanted->name(), ", but got ",
                        Py_TYPE(o.ptr())->tp_name));
}

nb::object NewMessage(const Descriptor* type, Message** message) {
  auto core = Core::Root(type);
  *message = core->mutable_message();
  return Wrap(std::move(core));
}

void RegisterMessages(nb::module_& m) {
  pb::ConfigProto::default_instance();  // links the generated types in
  nb::class_<PyMessage>(m, "Message")
      .def("__init__",
           [](nb::pointer_and_handle<PyMessage> self, nb::kwargs kw) {
             auto core = Core::Root(DescriptorOf(self.h.type()));
             AssignAll(core, kw);
             new (self.p) PyMessage{std::move(core)};
           })
      .def("__getattr__",
           [](PyMessage& self, const char* name) {
             return GetField(self, FindField(self.core->type(), name));
           })
      .def("__setattr__",
           [](PyMessage& self, const char* name, nb::handle value) {
             const FieldDescriptor* f = FindField(self.core->type(), name);
             if (f->is_repeated() ||
                 f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
               PyErr_SetString(
                   PyExc_AttributeError,
                   StrCat("Assignment not allowed to repeated or message "
                          "field \"",
                          name, "\" in protocol message object.")
                       .c_str());
               throw nb::python_error();
             }
             SetScalar(self.core->mutable_message(), f, value);
           })
      .def(
          "__eq__",
          [](PyMessage& self, nb::handle o) {
            const Message* other = AsMessage(o);
            return other != nullptr &&
                   other->GetDescriptor() == self.core->type() &&
                   google::protobuf::util::MessageDifferencer::Equals(
                       self.core->get(), *other);
          },
          nb::arg("other").none())
      .def("__hash__",
           [](nb::handle self) {
             RaiseTypeError("unhashable object: a message");
             return 0;
           })
      .def("__str__",
           [](PyMessage& self) { return Text(self.core->get().DebugString()); })
      .def("__repr__",
           [](PyMessage& self) { return Text(self.core->get().DebugString()); })
      .def("__dir__",
           [](PyMessage& self) {
             nb::list names;
             for (int i = 0; i < self.core->type()->field_count(); ++i) {
               names.append(self.core->type()->field(i)->name().c_str());
             }
             return names;
           })
      .def("__reduce__",
           [](nb::object self) {
             return nb::make_tuple(
                 self.type().attr("FromString"),
                 nb::make_tuple(self.attr("SerializeToString")()));
           })
      .def("__deepcopy__",
           [](PyMessage& self, nb::handle memo) {
             Message* copy = nullptr;
             nb::object o = NewMessage(self.core->type(), &copy);
             copy->CopyFrom(self.core->get());
             return o;
           })
      .def("SerializeToString", &Serialize)
      .def("SerializePartialToString", &Serialize)
      .def("ParseFromString",
           [](PyMessage& self, nb::handle data) {
             Parse(self, data, /*merge=*/false);
             return nb::len(data);
           })
      .def("MergeFromString",
           [](PyMessage& self, nb::handle data) {
             Parse(self, data, /*merge=*/true);
             return nb::len(data);
           })
      .def("MergeText",
           [](PyMessage& self, const std::string& text) {
             ParseText(self.core->mutable_message(), text);
           })
      .def("ByteSize",
           [](PyMessage& self) { return self.core->get().ByteSizeLong(); })
      .def("CopyFrom",
           [](PyMessage& self, nb::handle o) {
             const Message* from = AsMessage(o);
             CheckMessageType(from, self.core->type(), o,
                              "Parameter to CopyFrom()");
             Message* to = self.core->mutable_message();
             if (to != from) to->CopyFrom(*from);
           })
      .def("MergeFrom",
           [](PyMessage& self, nb::handle o) {
             const Message* from = AsMessage(o);
             CheckMessageType(from, self.core->type(), o,
                              "Parameter to MergeFrom()");
             Message* to = self.core->mutable_message();
             if (to != from) to->MergeFrom(*from);
           })
      .def("Clear",
           [](PyMessage& self) { self.core->mutable_message()->Clear(); })
      .def("SetInParent", [](PyMessage& self) { self.core->mutable_message(); })
      .def("IsInitialized", [](PyMessage&) { return true; })
      .def("HasField",
           [](PyMessage& self, const char* name) {
             const FieldDescriptor* f =
                 self.core->type()->FindFieldByName(name);
             const Message& m = self.core->get();
             if (f == nullptr) {
               const auto* oneof = self.core->type()->FindOneofByName(name);
               if (oneof != nullptr) {
                 return m.GetReflection()->HasOneof(m, oneof);
               }
             }
             if (f == nullptr || !f->has_presence()) {
               RaiseValueError(
                   StrCat("Protocol message ", self.core->type()->name(),
                          " has no non-repeated submessage field ", "\"", name,
                          "\" nor marker field for it"));
             }
             return m.GetReflection()->HasField(m, f);
           })
      .def("ClearField",
           [](PyMessage& self, const char* name) {
             const FieldDescriptor* f =
                 self.core->type()->FindFieldByName(name);
             if (f == nullptr) {
               RaiseValueError(
                   StrCat("Protocol message has no \"", name, "\" field."));
             }
             Message* m = self.core->mutable_message();
             m->GetReflection()->ClearField(m, f);
           })
      .def("WhichOneof",
           [](PyMessage& self, const char* name) -> nb::object {
             const auto* oneof = self.core->type()->FindOneofByName(name);
             if (oneof == nullptr) {
               RaiseValueError(StrCat("Protocol message has no oneof \"", name,
                                      "\" field."));
             }
             const Message& m = self.core->get();
             const FieldDescriptor* f =
                 m.GetReflection()->GetOneofFieldDescriptor(m, oneof);
             if (f == nullptr) return nb::none();
             return nb::str(f->name().c_str());
           })
      .def("ListFields", [](PyMessage& self) {
        std::vector<const FieldDescriptor*> fields;
        const Message& m = self.core->get();
        m.GetReflection()->ListFields(m, &fields);
        nb::list out;
        for (const FieldDescriptor* f : fields) {
          out.append(nb::make_tuple(f->name().c_str(), GetField(self, f)));
        }
        return out;
      });
  RegisterRepeated(m);
  RegisterMap(m);

  // The class of "ConfigProto"; None if there is no such message or enum
  // value.
  m.def("message_class", [](const std::string& name) -> nb::object {
    const Descriptor* d = google::protobuf::DescriptorPool::generated_pool()
                              ->FindMessageTypeByName(kPackage + name);
    return d == nullptr ? nb::none() : ClassOf(d);
  });
}

}  // namespace headrace::python
