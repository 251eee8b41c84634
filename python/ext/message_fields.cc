#include "message_fields.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "message.h"
#include "message_scalar.h"
#include "py_support.h"

namespace headrace::python {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

struct PyRepeated {
  std::shared_ptr<MessagePlace> place;
  const FieldDescriptor* field;
  int size() const {
    const Message& m = place->get();
    return m.GetReflection()->FieldSize(m, field);
  }
};
struct PyMap {
  std::shared_ptr<MessagePlace> place;
  const FieldDescriptor* field;
  const FieldDescriptor* key() const {
    return field->message_type()->FindFieldByNumber(1);
  }
  const FieldDescriptor* value() const {
    return field->message_type()->FindFieldByNumber(2);
  }
};

void CopyInto(const std::shared_ptr<MessagePlace>& place, nb::handle value,
              const FieldDescriptor* f) {
  if (PyDict_Check(value.ptr())) {
    place->mutable_message();
    AssignAll(place, value);
    return;
  }
  const Message* from = AsMessage(value);
  if (from == nullptr || from->GetDescriptor() != place->type()) {
    RefuseValue(f, value);
  }
  Message* to = place->mutable_message();
  if (to != from) to->CopyFrom(*from);
}

nb::object GetElement(PyRepeated& list, int i) {
  const FieldDescriptor* f = list.field;
  if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    return GetScalarAt(list.place->get(), f, i);
  }
  Message* m = list.place->mutable_message();
  return Wrap(
      list.place->At(m->GetReflection()->MutableRepeatedMessage(m, f, i)));
}

void Extend(PyRepeated& list, nb::handle values) {
  for (nb::handle v : nb::iter(values)) {
    Message* m = list.place->mutable_message();
    if (list.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      CopyInto(list.place->At(m->GetReflection()->AddMessage(m, list.field)), v,
               list.field);
    } else {
      AddScalar(m, list.field, v);
    }
  }
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
  Message* m = list.place->mutable_message();
  const Reflection* r = m->GetReflection();
  const int n = list.size();
  for (int i = end; i < n; ++i) r->SwapElements(m, list.field, begin++, i);
  while (begin++ < n) r->RemoveLast(m, list.field);
}

// Element i becomes what element order[i] was.
void Reorder(PyRepeated& list, std::vector<int> order) {
  Message* m = list.place->mutable_message();
  const Reflection* r = m->GetReflection();
  for (size_t i = 0; i < order.size(); ++i) {
    const int at = static_cast<int>(i);
    // An earlier exchange may have taken it away, to where `order` says.
    int from = order[i];
    while (from < at) from = order[static_cast<size_t>(from)];
    if (from != at) r->SwapElements(m, list.field, at, from);
    order[i] = from;
  }
}

std::vector<int> Numbers(int n) {
  std::vector<int> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void Insert(PyRepeated& list, Py_ssize_t at, nb::handle value) {
  const int n = list.size();
  if (at < 0) at = std::max<Py_ssize_t>(at + n, 0);
  Extend(list, nb::make_tuple(value));
  std::vector<int> order = Numbers(n);
  order.insert(order.begin() + std::min<Py_ssize_t>(at, n), n);
  Reorder(list, std::move(order));
}

void Sort(PyRepeated& list, nb::object key, bool reverse) {
  const nb::list elements = Elements(list);
  const nb::object key_of = nb::cpp_function([&](nb::handle i) {
    const nb::object element = elements[nb::cast<size_t>(i)];
    return key.is_none() ? element : nb::object(key(element));
  });
  const nb::object builtins = nb::module_::import_("builtins");
  const nb::object sorted = builtins.attr("sorted")(
      builtins.attr("range")(list.size()), nb::arg("key") = key_of,
      nb::arg("reverse") = reverse);
  std::vector<int> order;
  for (nb::handle i : sorted) order.push_back(nb::cast<int>(i));
  if (static_cast<int>(order.size()) != list.size()) {
    RaiseValueError("the list was changed while it was sorted");
  }
  Reorder(list, std::move(order));
}

// As of a list; the new elements are those that it then has.
void SetSlice(PyRepeated& list, nb::handle slice, nb::handle values) {
  nb::list elements = Elements(list);
  elements.attr("__setitem__")(slice, nb::list(nb::borrow(values)));
  // Refused values leave the field as it is.
  const std::unique_ptr<Message> before(list.place->get().New());
  before->CopyFrom(list.place->get());
  Message* const m = list.place->mutable_message();
  m->GetReflection()->ClearField(m, list.field);
  try {
    Extend(list, elements);
  } catch (...) {
    list.place->mutable_message()->CopyFrom(*before);
    throw;
  }
}

std::string ScalarKey(nb::handle key) {
  if (PyUnicode_Check(key.ptr()) || PyBytes_Check(key.ptr())) {
    return ToString(key, "a map key");
  }
  return nb::str(key).c_str();
}

int FindEntry(const PyMap& map, const std::string& key) {
  return FindMapEntry(map.place->get(), map.field, key);
}

void SetMapItem(PyMap& map, nb::handle key, nb::handle value) {
  const std::string k = ScalarKey(key);
  if (map.value()->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    CopyInto(map.place->MapValue(map.field, k), value, map.value());
    return;
  }
  const int at = FindEntry(map, k);
  Message* m = map.place->mutable_message();
  const Reflection* r = m->GetReflection();
  Message* entry = at >= 0 ? r->MutableRepeatedMessage(m, map.field, at)
                           : r->AddMessage(m, map.field);
  if (at < 0) SetScalar(entry, map.key(), key);
  SetScalar(entry, map.value(), value);
}

nb::object GetMapItem(PyMap& map, nb::handle key) {
  const std::string k = ScalarKey(key);
  if (map.value()->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    auto place = map.place->MapValue(map.field, k);
    place->mutable_message();  // as protobuf does, looking makes an entry
    return Wrap(std::move(place));
  }
  const int at = FindEntry(map, k);
  if (at < 0) {
    PyErr_SetObject(PyExc_KeyError, key.ptr());
    throw nb::python_error();
  }
  const Message& m = map.place->get();
  return GetScalar(m.GetReflection()->GetRepeatedMessage(m, map.field, at),
                   map.value());
}

nb::list MapKeys(const PyMap& map) {
  nb::list keys;
  const Message& m = map.place->get();
  const Reflection* r = m.GetReflection();
  for (int i = 0; i < r->FieldSize(m, map.field); ++i) {
    keys.append(GetScalar(r->GetRepeatedMessage(m, map.field, i), map.key()));
  }
  return keys;
}

void SetField(const std::shared_ptr<MessagePlace>& place,
              const FieldDescriptor* f, nb::handle value) {
  if (f->is_map()) {
    PyMap map{place, f};
    for (nb::handle key : nb::list(nb::object(value.attr("keys")()))) {
      SetMapItem(map, key, nb::object(value[key]));
    }
  } else if (f->is_repeated()) {
    PyRepeated list{place, f};
    Extend(list, value);
  } else if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    CopyInto(place->Field(f), value, f);
  } else {
    SetScalar(place->mutable_message(), f, value);
  }
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
             const bool is_slice = PySlice_Check(key.ptr());
             const int i = is_slice ? 0 : Index(key, self.size());
             if (self.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
               RaiseTypeError("elements that are messages cannot be assigned");
             }
             if (is_slice) return SetSlice(self, key, value);
             SetScalarAt(self.place->mutable_message(), self.field, i, value);
           })
      .def("__delitem__",
           [](PyRepeated& self, nb::handle key) {
             Py_ssize_t begin, end, step;
             if (PySlice_Check(key.ptr())) {
               if (PySlice_Unpack(key.ptr(), &begin, &end, &step) < 0) {
                 throw nb::python_error();
               }
               const Py_ssize_t n =
                   PySlice_AdjustIndices(self.size(), &begin, &end, step);
               // Those that go come last.
               std::vector<bool> goes(static_cast<size_t>(self.size()));
               for (Py_ssize_t i = 0; i < n; ++i) {
                 goes[static_cast<size_t>(begin + i * step)] = true;
               }
               std::vector<int> order = Numbers(self.size());
               std::stable_partition(order.begin(), order.end(), [&](int i) {
                 return !goes[static_cast<size_t>(i)];
               });
               Reorder(self, std::move(order));
               end = self.size();
               begin = end - n;
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
      .def("insert", &Insert)
      .def("sort", &Sort, nb::kw_only(), nb::arg("key").none() = nb::none(),
           nb::arg("reverse") = false)
      .def("reverse",
           [](PyRepeated& self) {
             std::vector<int> order = Numbers(self.size());
             std::reverse(order.begin(), order.end());
             Reorder(self, std::move(order));
           })
      .def("__deepcopy__",
           [](PyRepeated& self, nb::handle memo) {
             return nb::module_::import_("copy").attr("deepcopy")(
                 Elements(self), memo);
           })
      .def("add",
           [](PyRepeated& self, nb::kwargs kw) {
             Message* m = self.place->mutable_message();
             auto place =
                 self.place->At(m->GetReflection()->AddMessage(m, self.field));
             AssignAll(place, kw);
             return Wrap(place);
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

nb::dict MapAsDict(PyMap& map) {
  nb::dict d;
  for (nb::handle k : MapKeys(map)) d[k] = GetMapItem(map, k);
  return d;
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
             PyRepeated entries{self.place, self.field};
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
      .def(
          "__eq__",
          [](PyMap& self, nb::handle other) {
            return MapAsDict(self).equal(
                nb::isinstance<PyMap>(other)
                    ? nb::object(MapAsDict(nb::cast<PyMap&>(other)))
                    : nb::borrow(other));
          },
          nb::arg("other").none())
      .def("__repr__", [](PyMap& self) { return nb::repr(MapAsDict(self)); });
}

}  // namespace

nb::object GetField(const std::shared_ptr<MessagePlace>& place,
                    const FieldDescriptor* f) {
  if (f->is_map()) return nb::cast(PyMap{place, f});
  if (f->is_repeated()) return nb::cast(PyRepeated{place, f});
  if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return Wrap(place->Field(f));
  }
  return GetScalar(place->get(), f);
}

void AssignAll(const std::shared_ptr<MessagePlace>& place, nb::handle dict) {
  for (auto [name, value] : nb::borrow<nb::dict>(dict)) {
    if (value.is_none()) continue;
    const std::string n = nb::cast<std::string>(name);
    const FieldDescriptor* f = place->type()->FindFieldByName(n);
    if (f == nullptr) {
      RaiseValueError(StrCat("Protocol message ", place->type()->name(),
                             " has no \"", n, "\" field."));
    }
    SetField(place, f, value);
  }
}

void RegisterMessageFields(nb::module_& m) {
  RegisterRepeated(m);
  RegisterMap(m);
}

}  // namespace headrace::python
