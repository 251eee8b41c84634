#include "message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "framework/op/message_util.h"
#include "graph/graph_def_reader.h"
#include "headrace/config.pb.h"
#include "message_fields.h"
#include "message_place.h"
#include "message_scalar.h"
#include "numpy_convert.h"
#include "py_support.h"

namespace headrace::python {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

namespace {

constexpr char kPackage[] = "headrace.pb.";

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    // The names that users know the messages by.
    text = StrCat(line + 1, ":", column + 1, ": ",
                  absl::StrReplaceAll(message, {{kPackage, "tensorflow."}}));
  }
  std::string text;
};

void ParseText(Message* m, const std::string& text) {
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parser.MergeFromString(text, m)) RaiseValueError(error.text);
}

// Floats have a point or an exponent, as Python prints them.
class NumberPrinter
    : public google::protobuf::TextFormat::FastFieldValuePrinter {
 public:
  using Generator = google::protobuf::TextFormat::BaseTextGenerator;
  void PrintFloat(float v, Generator* to) const override {
    Print(google::protobuf::TextFormat::FieldValuePrinter().PrintFloat(v), to);
  }
  void PrintDouble(double v, Generator* to) const override {
    Print(google::protobuf::TextFormat::FieldValuePrinter().PrintDouble(v), to);
  }

 private:
  static void Print(std::string text, Generator* to) {
    // "inf" and "nan" have an n.
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    to->PrintString(text);
  }
};

std::string TextOf(const Message& m) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetDefaultFieldValuePrinter(new NumberPrinter);  // which owns it
  printer.SetExpandAny(true);
  std::string text;
  printer.PrintToString(m, &text);
  return text;
}

std::string Bytes(nb::handle data) {
  if (PyBytes_Check(data.ptr())) return ToString(data, "a message");
  nb::object bytes = nb::steal(PyBytes_FromObject(data.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  return ToString(bytes, "a message");
}

// Null if `data` is no large GraphDef or is malformed. Errors of the format are
// reported now, and not at the first read of the contents.
std::unique_ptr<MessagePlace::Unread> ReadLargeGraphDef(const Descriptor* type,
                                                        nb::handle data) {
  constexpr Py_ssize_t kLarge = 1 << 20;
  if (type != pb::GraphDef::descriptor() || !PyBytes_Check(data.ptr()) ||
      PyBytes_GET_SIZE(data.ptr()) < kLarge) {
    return nullptr;
  }
  auto unread = std::make_unique<MessagePlace::Unread>();
  unread->bytes = nb::borrow<nb::bytes>(data);
  if (!ReadGraphDefParts(BufferOverBytes(data), &unread->parts).ok()) {
    return nullptr;
  }
  return unread;
}

void Parse(PyMessage& self, nb::handle data, bool merge) {
  MessagePlace& place = *self.place;
  if (!merge && place.is_root()) {
    if (auto unread = ReadLargeGraphDef(place.type(), data)) {
      return place.SetUnread(std::move(unread));
    }
  }
  Message* m = place.mutable_message();
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
  if (!parsed) RaiseParseError(place.type());
}

nb::object Serialize(const PyMessage& self) {
  if (self.place->unread() != nullptr) return self.place->unread()->bytes;
  const std::string s = self.place->get().SerializeAsString();
  return nb::steal(
      PyBytes_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size())));
}

// The name that users know a type by.
std::string UserName(absl::string_view full_name) {
  return absl::ConsumePrefix(&full_name, kPackage)
             ? StrCat("tensorflow.", full_name)
             : std::string(full_name);
}

// What a program may ask of a type and its fields.
struct PyDescriptor {
  const Descriptor* type;
};
struct PyFieldDescriptor {
  const FieldDescriptor* field;
};

void RegisterDescriptors(nb::module_& m) {
  nb::class_<PyFieldDescriptor>(m, "FieldDescriptor")
      .def_prop_ro("name", [](PyFieldDescriptor& f) { return f.field->name(); })
      .def_prop_ro(
          "full_name",
          [](PyFieldDescriptor& f) { return UserName(f.field->full_name()); })
      .def_prop_ro("number",
                   [](PyFieldDescriptor& f) { return f.field->number(); })
      .def_prop_ro("type",
                   [](PyFieldDescriptor& f) {
                     return static_cast<int>(f.field->type());
                   })
      .def_prop_ro("cpp_type",
                   [](PyFieldDescriptor& f) {
                     return static_cast<int>(f.field->cpp_type());
                   })
      .def_prop_ro("label",
                   [](PyFieldDescriptor& f) {
                     return static_cast<int>(f.field->label());
                   })
      .def_prop_ro("message_type",
                   [](PyFieldDescriptor& f) -> nb::object {
                     const Descriptor* const d = f.field->message_type();
                     return d == nullptr ? nb::none()
                                         : nb::cast(PyDescriptor{d});
                   })
      .def_prop_ro("json_name",
                   [](PyFieldDescriptor& f) { return f.field->json_name(); })
      .def_prop_ro("_is_map",
                   [](PyFieldDescriptor& f) { return f.field->is_map(); })
      // The name of a value of an enum field; None if it has none.
      .def("_enum_name",
           [](PyFieldDescriptor& f, int number) -> nb::object {
             const auto* type = f.field->enum_type();
             const auto* value =
                 type == nullptr ? nullptr : type->FindValueByNumber(number);
             return value == nullptr
                        ? nb::none()
                        : nb::object(nb::str(value->name().c_str()));
           })
      .def("__repr__", [](PyFieldDescriptor& f) {
        return StrCat("<field ", UserName(f.field->full_name()), ">");
      });
  nb::class_<PyDescriptor>(m, "Descriptor")
      .def_prop_ro("name", [](PyDescriptor& d) { return d.type->name(); })
      .def_prop_ro(
          "full_name",
          [](PyDescriptor& d) { return UserName(d.type->full_name()); })
      .def_prop_ro("fields",
                   [](PyDescriptor& d) {
                     nb::list fields;
                     for (int i = 0; i < d.type->field_count(); ++i) {
                       fields.append(PyFieldDescriptor{d.type->field(i)});
                     }
                     return fields;
                   })
      .def_prop_ro("fields_by_name",
                   [](PyDescriptor& d) {
                     nb::dict fields;
                     for (int i = 0; i < d.type->field_count(); ++i) {
                       fields[d.type->field(i)->name().c_str()] =
                           PyFieldDescriptor{d.type->field(i)};
                     }
                     return fields;
                   })
      .def(
          "__eq__",
          [](PyDescriptor& d, nb::handle other) {
            return nb::isinstance<PyDescriptor>(other) &&
                   nb::cast<PyDescriptor&>(other).type == d.type;
          },
          nb::arg("other").none())
      .def("__hash__",
           [](PyDescriptor& d) {
             return reinterpret_cast<Py_ssize_t>(d.type) >> 4;
           })
      .def("__repr__", [](PyDescriptor& d) {
        return StrCat("<message type ", UserName(d.type->full_name()), ">");
      });
}

// google.protobuf.Any holds a message with the name of its type.
constexpr char kAnyPrefix[] = "type.googleapis.com/";

const FieldDescriptor* AnyField(const Message& any, int number) {
  return any.GetDescriptor()->FindFieldByNumber(number);
}

std::string AnyString(const PyMessage& self, int number) {
  const Message& any = self.place->get();
  return any.GetReflection()->GetString(any, AnyField(any, number));
}

std::string TypeInAny(const PyMessage& self) {
  const std::string url = AnyString(self, 1);
  return url.substr(url.rfind('/') + 1);
}

const Message& NeedMessage(nb::handle o) {
  const Message* const m = AsMessage(o);
  if (m == nullptr) RaiseTypeError("wanted a message");
  return *m;
}

void AddAnyMethods(nb::dict members) {
  members["Pack"] = nb::cpp_function(
      [](PyMessage& self, nb::handle message, const std::string& prefix) {
        const Message& m = NeedMessage(message);
        Message* const any = self.place->mutable_message();
        const std::string separator =
            prefix.empty() || prefix.back() != '/' ? "/" : "";
        any->GetReflection()->SetString(
            any, AnyField(*any, 1),
            StrCat(prefix, separator, UserName(m.GetTypeName())));
        any->GetReflection()->SetString(any, AnyField(*any, 2),
                                        m.SerializeAsString());
      },
      nb::is_method(), nb::arg("msg"), nb::arg("type_url_prefix") = kAnyPrefix);
  members["Unpack"] = nb::cpp_function(
      [](PyMessage& self, nb::handle message) {
        const Message& m = NeedMessage(message);
        if (TypeInAny(self) != UserName(m.GetTypeName())) return false;
        message.attr("ParseFromString")(
            nb::bytes(AnyString(self, 2).data(), AnyString(self, 2).size()));
        return true;
      },
      nb::is_method(), nb::arg("msg"));
  members["TypeName"] = nb::cpp_function(
      [](PyMessage& self) { return TypeInAny(self); }, nb::is_method());
  members["Is"] = nb::cpp_function(
      [](PyMessage& self, PyDescriptor& type) {
        return TypeInAny(self) == UserName(type.type->full_name());
      },
      nb::is_method(), nb::arg("descriptor"));
}

// The Python class of a message type; made once, kept for ever.
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
  members["DESCRIPTOR"] = PyDescriptor{type};
  if (type->full_name() == "google.protobuf.Any") AddAnyMethods(members);
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
    PyMessage message{MessagePlace::Root(type)};
    Parse(message, data, /*merge=*/false);
    return Wrap(message.place);
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

}  // namespace

nb::object Wrap(std::shared_ptr<MessagePlace> place) {
  nb::object o = nb::inst_alloc(ClassOf(place->type()));
  new (nb::inst_ptr<PyMessage>(o)) PyMessage{std::move(place)};
  nb::inst_mark_ready(o);
  return o;
}

const Message* AsMessage(nb::handle o) {
  PyMessage* m = nullptr;
  return nb::try_cast<PyMessage*>(o, m) && m != nullptr ? &m->place->get()
                                                        : nullptr;
}

Message* AsMutableMessage(nb::handle o) {
  PyMessage* m = nullptr;
  return nb::try_cast<PyMessage*>(o, m) && m != nullptr
             ? m->place->mutable_message()
             : nullptr;
}

const GraphDefParts* UnreadGraphDef(nb::handle o) {
  PyMessage* m = nullptr;
  return nb::try_cast<PyMessage*>(o, m) && m != nullptr &&
                 m->place->unread() != nullptr
             ? &m->place->unread()->parts
             : nullptr;
}

void CheckMessageType(const Message* m, const Descriptor* wanted, nb::handle o,
                      const char* what) {
  if (m != nullptr && m->GetDescriptor() == wanted) return;
  RaiseTypeError(StrCat(what, " must be a ", wanted->name(), ", but got ",
                        Py_TYPE(o.ptr())->tp_name));
}

nb::object NewMessage(const Descriptor* type, Message** message) {
  auto place = MessagePlace::Root(type);
  *message = place->mutable_message();
  return Wrap(std::move(place));
}

void RegisterMessages(nb::module_& m) {
  RegisterDescriptors(m);
  pb::ConfigProto::default_instance();  // links the generated types in
  nb::class_<PyMessage>(m, "Message")
      .def("__init__",
           [](nb::pointer_and_handle<PyMessage> self, nb::kwargs kw) {
             auto place = MessagePlace::Root(DescriptorOf(self.h.type()));
             AssignAll(place, kw);
             new (self.p) PyMessage{std::move(place)};
           })
      .def("__getattr__",
           [](PyMessage& self, const char* name) {
             return GetField(self.place, FindField(self.place->type(), name));
           })
      .def("__setattr__",
           [](PyMessage& self, const char* name, nb::handle value) {
             const FieldDescriptor* f = FindField(self.place->type(), name);
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
             SetScalar(self.place->mutable_message(), f, value);
           })
      .def(
          "__eq__",
          [](PyMessage& self, nb::handle o) {
            const Message* other = AsMessage(o);
            return other != nullptr &&
                   other->GetDescriptor() == self.place->type() &&
                   MessagesEqual(self.place->get(), *other);
          },
          nb::arg("other").none())
      .def("__hash__",
           [](nb::handle self) {
             RaiseTypeError("unhashable object: a message");
             return 0;
           })
      .def("__str__",
           [](PyMessage& self) { return Text(TextOf(self.place->get())); })
      .def("__repr__",
           [](PyMessage& self) { return Text(TextOf(self.place->get())); })
      .def("__dir__",
           [](PyMessage& self) {
             nb::list names;
             for (int i = 0; i < self.place->type()->field_count(); ++i) {
               names.append(self.place->type()->field(i)->name().c_str());
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
             nb::object o = NewMessage(self.place->type(), &copy);
             copy->CopyFrom(self.place->get());
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
             ParseText(self.place->mutable_message(), text);
           })
      .def("ByteSize",
           [](PyMessage& self) { return self.place->get().ByteSizeLong(); })
      .def("CopyFrom",
           [](PyMessage& self, nb::handle o) {
             const Message* from = AsMessage(o);
             CheckMessageType(from, self.place->type(), o,
                              "Parameter to CopyFrom()");
             Message* to = self.place->mutable_message();
             if (to != from) to->CopyFrom(*from);
           })
      .def("MergeFrom",
           [](PyMessage& self, nb::handle o) {
             const Message* from = AsMessage(o);
             CheckMessageType(from, self.place->type(), o,
                              "Parameter to MergeFrom()");
             Message* to = self.place->mutable_message();
             if (to != from) to->MergeFrom(*from);
           })
      .def("Clear",
           [](PyMessage& self) { self.place->mutable_message()->Clear(); })
      .def("SetInParent",
           [](PyMessage& self) { self.place->mutable_message(); })
      .def("IsInitialized", [](PyMessage&) { return true; })
      .def("HasField",
           [](PyMessage& self, const char* name) {
             const FieldDescriptor* f =
                 self.place->type()->FindFieldByName(name);
             const Message& m = self.place->get();
             if (f == nullptr) {
               const auto* oneof = self.place->type()->FindOneofByName(name);
               if (oneof != nullptr) {
                 return m.GetReflection()->HasOneof(m, oneof);
               }
             }
             if (f == nullptr || !f->has_presence()) {
               RaiseValueError(
                   StrCat("Protocol message ", self.place->type()->name(),
                          " has no non-repeated submessage field ", "\"", name,
                          "\" nor marker field for it"));
             }
             return m.GetReflection()->HasField(m, f);
           })
      .def("ClearField",
           [](PyMessage& self, const char* name) {
             const FieldDescriptor* f =
                 self.place->type()->FindFieldByName(name);
             if (f == nullptr) {
               RaiseValueError(
                   StrCat("Protocol message has no \"", name, "\" field."));
             }
             Message* m = self.place->mutable_message();
             m->GetReflection()->ClearField(m, f);
           })
      .def("WhichOneof",
           [](PyMessage& self, const char* name) -> nb::object {
             const auto* oneof = self.place->type()->FindOneofByName(name);
             if (oneof == nullptr) {
               RaiseValueError(StrCat("Protocol message has no oneof \"", name,
                                      "\" field."));
             }
             const Message& m = self.place->get();
             const FieldDescriptor* f =
                 m.GetReflection()->GetOneofFieldDescriptor(m, oneof);
             if (f == nullptr) return nb::none();
             return nb::str(f->name().c_str());
           })
      .def("ListFields", [](PyMessage& self) {
        std::vector<const FieldDescriptor*> fields;
        const Message& m = self.place->get();
        m.GetReflection()->ListFields(m, &fields);
        nb::list out;
        for (const FieldDescriptor* f : fields) {
          out.append(
              nb::make_tuple(PyFieldDescriptor{f}, GetField(self.place, f)));
        }
        return out;
      });
  RegisterMessageFields(m);

  // The class of "ConfigProto"; None if there is no such message or enum
  // value.
  m.def("message_class", [](const std::string& name) -> nb::object {
    const Descriptor* d = google::protobuf::DescriptorPool::generated_pool()
                              ->FindMessageTypeByName(kPackage + name);
    return d == nullptr ? nb::none() : ClassOf(d);
  });
}

}  // namespace headrace::python
