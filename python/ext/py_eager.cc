#include "py_eager.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "attr_convert.h"
#include "gil.h"
#include "message.h"
#include "numpy_convert.h"
#include "py_support.h"

namespace headrace::python {
namespace {

// The context of the process. It is made by the first op, and lives for ever:
// tensors may outlive the interpreter's modules.
std::shared_ptr<EagerContext>* context = nullptr;
EagerContext::Options* options = nullptr;
int64_t next_id = 0;
PyObject* callback = nullptr;  // of each op; owned, may be null

EagerContext::Options& Options() {
  if (options == nullptr) options = new EagerContext::Options;
  return *options;
}

EagerContext* Context() {
  if (context == nullptr) {
    StatusOr<std::shared_ptr<EagerContext>> made = [] {
      const GilRelease unlocked;
      return EagerContext::Create(Options());
    }();
    if (!made.ok()) RaiseStatus(made.status(), nb::none());
    context = new std::shared_ptr<EagerContext>(*std::move(made));
    // As in TensorFlow, a device that is not there is a wish.
    (*context)->SetSoftPlacement(true);
  }
  return context->get();
}

bool CarriesGradient(DataType t) {
  return DataTypeIsFloating(t) || DataTypeIsComplex(t) || t == DT_RESOURCE ||
         t == DT_VARIANT;
}

// An op that was executed, or outputs with a function for their gradients.
struct PyRecord {
  std::shared_ptr<const EagerCall> call;  // null if there is a function
  std::vector<nb::object> inputs, outputs;
  nb::object backward;  // invalid for an op

  int Traverse(visitproc visit, void* arg) {
    for (const nb::object& o : inputs) Py_VISIT(o.ptr());
    for (const nb::object& o : outputs) Py_VISIT(o.ptr());
    Py_VISIT(backward.ptr());
    return 0;
  }
};

// Integers that are few enough to be constants of a gradient function.
constexpr int64_t kSmall = 8;
bool IsSmall(const TensorHandle& h) {
  return (h.dtype() == DT_INT32 || h.dtype() == DT_INT64) &&
         h.in_host_memory() && h.tensor().NumElements() <= kSmall;
}

void AppendValue(const nb::object& o, bool with_values, std::string* key) {
  const TensorHandle& h = *nb::inst_ptr<PyEagerTensor>(o)->handle;
  const TensorShape& shape = h.tensor().shape();
  key->push_back(static_cast<char>(shape.dims()));
  for (int64_t d : shape.dim_sizes()) {
    key->append(reinterpret_cast<const char*>(&d), sizeof(d));
  }
  if (!with_values || !IsSmall(h)) return;
  const absl::string_view data = h.tensor().tensor_data();
  key->append(data.data(), data.size());
}

// What decides how the gradients of the op are built: op, attrs, types, shapes,
// and the values of small integers.
void AppendKey(const PyRecord& r, bool with_values, std::string* key) {
  if (r.call != nullptr && !AppendKernelKey(*r.call, key)) {
    const void* const address = r.call.get();
    key->append(reinterpret_cast<const char*>(&address), sizeof(address));
  }
  for (const nb::object& o : r.inputs) AppendValue(o, with_values, key);
  key->push_back('>');
  for (const nb::object& o : r.outputs) AppendValue(o, with_values, key);
}

int64_t IdOf(nb::handle o) {
  PyEagerTensor* t = AsEager(o);
  if (t == nullptr) RaiseTypeError("expected an EagerTensor");
  return t->id;
}

// (key, tensors): the tensors of the records in the order of their first use,
// and what decides how the gradients by `sources` from those of `targets` are
// built; without the values of small integers if these are to be arguments.
nb::tuple SegmentKey(nb::list records, nb::list targets, nb::list sources,
                     bool with_values) {
  absl::flat_hash_map<int64_t, int> index;
  nb::list tensors;
  std::string key;
  const auto append = [&](nb::handle o) {
    const auto [it, is_new] =
        index.emplace(IdOf(o), static_cast<int>(index.size()));
    if (is_new) tensors.append(o);
    key.append(reinterpret_cast<const char*>(&it->second), sizeof(int));
  };
  for (nb::handle o : records) {
    const auto& r = nb::cast<const PyRecord&>(o);
    AppendKey(r, with_values, &key);
    for (const nb::object& t : r.inputs) append(t);
    for (const nb::object& t : r.outputs) append(t);
  }
  key.push_back('|');
  for (nb::handle t : targets) append(t);
  key.push_back('|');
  for (nb::handle t : sources) append(t);
  return nb::make_tuple(nb::bytes(key.data(), key.size()), tensors);
}

// Adds the op as a node; its outputs.
nb::list AddTo(const PyRecord& r, nb::handle graph, nb::list inputs) {
  if (!nb::isinstance<PyGraph>(graph) || r.call == nullptr) {
    RaiseTypeError("expected a tf.Graph, and a record of an op");
  }
  PyGraph* core = nb::inst_ptr<PyGraph>(graph);
  NodeDef def;
  def.op = r.call->name;
  def.attrs = r.call->attrs;
  def.name = core->NodeName(def.op);
  std::vector<Endpoint> endpoints;
  for (nb::handle o : inputs) {
    PyTensor* t = AsTensor(o);
    if (t == nullptr) RaiseTypeError("expected a tensor of the graph");
    endpoints.push_back(t->endpoint());
  }
  Node* n = AddNode(graph, core, std::move(def), endpoints, r.call->arg_sizes);
  nb::object op = OperationObject(graph, core, n);
  nb::list out;
  for (int i = 0; i < n->num_outputs(); ++i) out.append(TensorObject(op, i));
  return out;
}

struct PyTape {
  explicit PyTape(bool watch_accessed) : watches_accessed(watch_accessed) {}

  bool watches_accessed;
  absl::flat_hash_set<int64_t> watched;  // ids of tensors
  std::vector<nb::object> handles;       // of variables, as they were used
  std::vector<nb::object> records;

  void Watch(PyEagerTensor* t, nb::handle o) {
    if (!watched.insert(t->id).second) return;
    if (t->handle->dtype() == DT_RESOURCE) handles.push_back(nb::borrow(o));
  }
  bool Wants(const std::vector<nb::object>& inputs) {
    bool wanted = false;
    for (const nb::object& o : inputs) {
      auto* t = nb::inst_ptr<PyEagerTensor>(o);
      if (!CarriesGradient(t->handle->dtype())) continue;
      if (t->is_trainable && watches_accessed) Watch(t, o);
      wanted |= watched.contains(t->id);
    }
    return wanted;
  }
  void Add(nb::object record, const std::vector<nb::object>& outputs) {
    for (const nb::object& o : outputs) {
      watched.insert(nb::inst_ptr<PyEagerTensor>(o)->id);
    }
    records.push_back(std::move(record));
  }
  // The records, in their order, on the ways from sources to targets.
  nb::list Select(nb::list targets, nb::list sources) const {
    absl::flat_hash_set<int64_t> from, to;
    for (nb::handle o : sources) from.insert(IdOf(o));
    for (nb::handle o : targets) to.insert(IdOf(o));
    std::vector<nb::handle> depend;
    for (const nb::object& o : records) {
      const PyRecord* r = nb::inst_ptr<PyRecord>(o);
      bool found = false;
      for (const nb::object& t : r->inputs) {
        auto* e = nb::inst_ptr<PyEagerTensor>(t);
        found |= from.contains(e->id) && CarriesGradient(e->handle->dtype());
      }
      if (!found) continue;
      depend.push_back(o);
      for (const nb::object& t : r->outputs) {
        from.insert(nb::inst_ptr<PyEagerTensor>(t)->id);
      }
    }
    std::vector<nb::handle> selected;
    for (size_t i = depend.size(); i-- > 0;) {
      const PyRecord* r = nb::inst_ptr<PyRecord>(depend[i]);
      bool found = false;
      for (const nb::object& t : r->outputs) {
        auto* e = nb::inst_ptr<PyEagerTensor>(t);
        found |= to.contains(e->id) && CarriesGradient(e->handle->dtype());
      }
      if (!found) continue;
      selected.push_back(depend[i]);
      for (const nb::object& t : r->inputs) {
        to.insert(nb::inst_ptr<PyEagerTensor>(t)->id);
      }
    }
    nb::list out;
    for (size_t i = selected.size(); i-- > 0;) out.append(selected[i]);
    return out;
  }
  int Traverse(visitproc visit, void* arg) {
    for (const nb::object& o : handles) Py_VISIT(o.ptr());
    for (const nb::object& o : records) Py_VISIT(o.ptr());
    return 0;
  }
};

// The tapes that record on this thread, borrowed: the tape's `with` keeps them.
thread_local std::vector<PyTape*> tapes;
thread_local int tapes_suspended = 0;

// Tells the tapes of outputs that were computed from inputs.
void Record(std::shared_ptr<const EagerCall> call,
            const std::vector<nb::object>& inputs,
            const std::vector<nb::object>& outputs, nb::object backward) {
  if (tapes_suspended > 0) return;
  nb::object record;
  for (PyTape* tape : tapes) {
    if (!tape->Wants(inputs) || outputs.empty()) continue;
    if (!record.is_valid()) {
      record = nb::cast(PyRecord{call, inputs, outputs, backward});
    }
    tape->Add(record, outputs);
  }
}

int TraverseRecord(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<PyRecord>(self)->Traverse(visit, arg);
}
int TraverseTape(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<PyTape>(self)->Traverse(visit, arg);
}
int ClearRecord(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  PyRecord* r = nb::inst_ptr<PyRecord>(self);
  const std::vector<nb::object> inputs = std::move(r->inputs);
  const std::vector<nb::object> outputs = std::move(r->outputs);
  const nb::object backward = std::move(r->backward);
  return 0;
}
int ClearTape(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  PyTape* t = nb::inst_ptr<PyTape>(self);
  const std::vector<nb::object> handles = std::move(t->handles);
  const std::vector<nb::object> records = std::move(t->records);
  return 0;
}
PyType_Slot kRecordSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(TraverseRecord)},
    {Py_tp_clear, reinterpret_cast<void*>(ClearRecord)},
    {0, nullptr}};
PyType_Slot kTapeSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(TraverseTape)},
    {Py_tp_clear, reinterpret_cast<void*>(ClearTape)},
    {0, nullptr}};

std::vector<nb::object> EagerTensors(nb::handle list) {
  std::vector<nb::object> out;
  for (nb::handle o : list) {
    if (AsEager(o) == nullptr) RaiseTypeError("expected EagerTensors");
    out.push_back(nb::borrow(o));
  }
  return out;
}

nb::list ToList(const std::vector<nb::object>& objects) {
  nb::list out;
  for (const nb::object& o : objects) out.append(o);
  return out;
}

PyEagerTensor& EagerOf(nb::handle o) {
  PyEagerTensor* t = AsEager(o);
  if (t == nullptr) RaiseTypeError("expected an EagerTensor");
  return *t;
}

// Frees the resource of a handle. It may be gone already.
void DestroyResource(const RefPtr<TensorHandle>& handle) {
  EagerCall call;
  call.name = "DestroyResourceOp";
  call.op_def = std::shared_ptr<const OpDef>(
      std::shared_ptr<const void>(), OpRegistry::Global()->Find(call.name));
  call.attrs.Set("ignore_lookup_error", true);
  call.input_types.push_back(handle->dtype());
  call.arg_sizes.push_back(1);
  std::vector<RefPtr<TensorHandle>> outputs;
  Device* used = nullptr;
  EagerContext* const eager = Context();
  const GilRelease unlocked;
  (void)eager->Execute(call, DeviceName(), {&handle, 1}, nullptr, 0, &outputs,
                       &used);
}

void NoteDataset(const std::shared_ptr<EagerCall>& call,
                 const std::vector<nb::object>& inputs, nb::handle output) {
  PyEagerTensor* t = nb::inst_ptr<PyEagerTensor>(output);
  if (t->handle->dtype() != DT_VARIANT ||
      !absl::StrContains(call->name, "Dataset")) {
    return;
  }
  t->made_by = call;
  t->made_from = inputs;
}

Tensor HostValue(const PyEagerTensor& t) {
  Tensor value;
  Check(t.handle->ToHost(&value));
  return value;
}

}  // namespace

PyEagerTensor::~PyEagerTensor() {
  if (owns_resource && Py_IsInitialized()) DestroyResource(handle);
}

PyEagerTensor* AsEager(nb::handle o) {
  static PyTypeObject* const type =
      reinterpret_cast<PyTypeObject*>(nb::type<PyEagerTensor>().ptr());
  return Py_TYPE(o.ptr()) == type && nb::inst_ready(o)
             ? nb::inst_ptr<PyEagerTensor>(o)
             : nullptr;
}

nb::object EagerTensorObject(RefPtr<TensorHandle> handle) {
  static PyObject* const type = nb::type<PyEagerTensor>().ptr();
  nb::object o = nb::inst_alloc(type);
  auto* t = new (nb::inst_ptr<PyEagerTensor>(o)) PyEagerTensor;
  t->handle = std::move(handle);
  t->id = next_id++;
  nb::inst_mark_ready(o);
  return o;
}

nb::object EagerTensorObject(Tensor value) {
  return EagerTensorObject(MakeRef<TensorHandle>(std::move(value)));
}

void RefuseEagerTensor() {
  PyErr_SetString(PyExc_RuntimeError,
                  "Attempting to capture an EagerTensor without building a "
                  "function.");
  throw nb::python_error();
}

// The dataset made anew, if it or one that it is made of shuffles: as in
// TensorFlow each iterator has the random numbers from their beginning. What a
// cache has stays.
static nb::object FreshDataset(nb::object dataset) {
  PyEagerTensor* t = nb::inst_ptr<PyEagerTensor>(dataset);
  if (t->made_by == nullptr || absl::StartsWith(t->made_by->name, "Cache")) {
    return dataset;
  }
  bool is_other = absl::StrContains(t->made_by->name, "Shuffle");
  std::vector<nb::object> inputs;
  for (const nb::object& o : t->made_from) {
    inputs.push_back(FreshDataset(o));
    is_other |= !inputs.back().is(o);
  }
  if (!is_other) return dataset;
  auto call = std::make_shared<EagerCall>(*t->made_by);
  return ExecuteEagerly(call, "", "", inputs)[0];
}

std::vector<nb::object> ExecuteEagerly(const std::shared_ptr<EagerCall>& call,
                                       const std::string& device,
                                       const std::string& name,
                                       const std::vector<nb::object>& inputs) {
  DropReleasedArrays();
  EagerContext* const eager = Context();
  DeviceName wanted;
  if (!device.empty()) Check(DeviceName::Parse(device, &wanted));
  absl::InlinedVector<RefPtr<TensorHandle>, 4> handles;
  handles.reserve(inputs.size());
  for (const nb::object& o : inputs) {
    handles.push_back(nb::inst_ptr<PyEagerTensor>(o)->handle);
  }
  std::vector<RefPtr<TensorHandle>> outputs;
  Device* used = nullptr;
  Status s;
  {
    const GilRelease unlocked;
    s = eager->Execute(*call, wanted, handles, nullptr,
                       std::numeric_limits<int>::max(), &outputs, &used);
  }
  if (!s.ok()) [[unlikely]] {
    if (!absl::StrContains(s.message(), "[Op:")) {
      s = Annotate(s, StrCat(" [Op:", call->name, "]"));
    }
    if (!name.empty()) s = Annotate(s, StrCat(" name: ", name));
    RaiseStatus(s, nb::none());
  }
  std::vector<nb::object> objects;
  objects.reserve(outputs.size());
  for (RefPtr<TensorHandle>& h : outputs) {
    objects.push_back(EagerTensorObject(std::move(h)));
  }
  if (objects.size() == 1) NoteDataset(call, inputs, objects[0]);
  if (!tapes.empty()) Record(call, inputs, objects, nb::object());
  if (callback != nullptr) [[unlikely]] {
    CallPython([&] {
      return nb::handle(callback)(call->name, ToList(inputs), ToList(objects));
    });
  }
  return objects;
}

void RegisterEager(nb::module_& m) {
  nb::class_<PyEagerTensor, PyTensor>(m, "EagerTensor", nb::dynamic_attr())
      .def_prop_ro(
          "dtype",
          [](PyEagerTensor& t) { return DTypeObject(t.handle->dtype()); })
      .def_prop_ro("device",
                   [](PyEagerTensor& t) { return t.handle->DeviceName(); })
      .def_prop_ro(
          "backing_device",
          [](PyEagerTensor& t) { return t.handle->BackingDeviceName(); })
      .def_prop_ro("_id", [](PyEagerTensor& t) { return t.id; })
      .def_prop_rw(
          "_is_trainable", [](PyEagerTensor& t) { return t.is_trainable; },
          [](PyEagerTensor& t, bool value) { t.is_trainable = value; })
      .def_prop_ro("_is_small_int",
                   [](PyEagerTensor& t) { return IsSmall(*t.handle); })
      // A NumPy scalar, bytes, or an array of its own.
      .def("_numpy", [](PyEagerTensor& t) { return ToNumpy(HostValue(t)); })
      .def("_array",
           [](PyEagerTensor& t) { return ToNumpyArray(HostValue(t)); })
      .def("_shape_list",
           [](PyEagerTensor& t) {
             nb::list out;
             for (int64_t d : t.handle->tensor().shape().dim_sizes()) {
               out.append(d);
             }
             return out;
           })
      .def("_rank", [](PyEagerTensor& t) { return t.handle->tensor().dims(); })
      .def("_num_elements",
           [](PyEagerTensor& t) { return t.handle->tensor().NumElements(); })
      // Another tensor of the same value.
      .def("_copy",
           [](PyEagerTensor& t) { return EagerTensorObject(t.handle); })
      .def("_copy_to_device", [](PyEagerTensor& t, const std::string& name) {
        EagerContext* const eager = Context();
        Device* device;
        Check(eager->FindDevice(name, &device));
        Tensor value;
        Status s;
        {
          const GilRelease unlocked;
          s = CopyBetweenDevices(
              t.handle->tensor(),
              t.handle->in_host_memory() ? nullptr : t.handle->device(),
              device->IsHostMemory() ? nullptr : device, &value);
        }
        Check(s);
        return EagerTensorObject(MakeRef<TensorHandle>(
            std::move(value), device, false, eager->resources()));
      });

  nb::class_<PyRecord>(m, "TapeRecord", nb::type_slots(kRecordSlots))
      .def_prop_ro("op",
                   [](PyRecord& r) {
                     return r.call == nullptr ? std::string() : r.call->name;
                   })
      .def_prop_ro("inputs", [](PyRecord& r) { return ToList(r.inputs); })
      .def_prop_ro("outputs", [](PyRecord& r) { return ToList(r.outputs); })
      .def_prop_ro("backward",
                   [](PyRecord& r) {
                     return r.backward.is_valid() ? r.backward : nb::none();
                   })
      // The names of the functions in its attrs.
      .def_prop_ro("functions",
                   [](PyRecord& r) {
                     nb::list out;
                     if (r.call == nullptr) return out;
                     for (const auto& [key, value] : r.call->attrs) {
                       if (const auto* f = value.Get<NameAttrList>()) {
                         out.append(f->name.c_str());
                       } else if (const auto* list =
                                      value.Get<std::vector<NameAttrList>>()) {
                         for (const NameAttrList& g : *list) {
                           out.append(g.name.c_str());
                         }
                       }
                     }
                     return out;
                   })
      .def("add_to", &AddTo);

  nb::class_<PyTape>(m, "TapeCore", nb::type_slots(kTapeSlots))
      .def(nb::init<bool>(), nb::arg("watch_accessed"))
      .def_prop_ro("records", [](PyTape& t) { return ToList(t.records); })
      .def_prop_ro("handles", [](PyTape& t) { return ToList(t.handles); })
      .def("watch", [](PyTape& t, nb::handle o) { t.Watch(&EagerOf(o), o); })
      .def("select", &PyTape::Select)
      .def("is_watched",
           [](PyTape& t, nb::handle o) {
             return t.watched.contains(EagerOf(o).id);
           })
      .def("clear",
           [](PyTape& t) {
             t.watched.clear();
             const auto handles = std::move(t.handles);
             const auto records = std::move(t.records);
             t.handles = {};
             t.records = {};
           })
      .def("push", [](PyTape& t) { tapes.push_back(&t); })
      .def("pop", [](PyTape& t) {
        for (size_t i = tapes.size(); i-- > 0;) {
          if (tapes[i] != &t) continue;
          tapes.erase(tapes.begin() + static_cast<std::ptrdiff_t>(i));
          return true;
        }
        return false;
      });
  m.def("segment_key", &SegmentKey, nb::arg("records"), nb::arg("targets"),
        nb::arg("sources"), nb::arg("with_values"));
  m.def("suspend_tapes", [](int change) { tapes_suspended += change; });
  // Whether a tape records on this thread and depends on one of the tensors.
  m.def("tapes_want", [](nb::handle inputs) {
    if (tapes.empty() || tapes_suspended > 0) return false;
    const std::vector<nb::object> tensors = EagerTensors(inputs);
    bool wanted = false;
    for (PyTape* tape : tapes) wanted |= tape->Wants(tensors);
    return wanted;
  });
  m.def("num_tapes", [] {
    return tapes_suspended > 0 ? 0 : static_cast<int>(tapes.size());
  });
  m.def("record_gradient",
        [](nb::handle inputs, nb::handle outputs, nb::handle backward) {
          Record(nullptr, EagerTensors(inputs), EagerTensors(outputs),
                 nb::borrow(backward));
        });
  m.def("mark_all_used", [](nb::handle inputs) {
    for (const nb::object& o : EagerTensors(inputs)) {
      for (PyTape* tape : tapes) tape->Wants({o});
    }
  });

  m.def(
      "eager_options",
      [](nb::handle config, int policy, bool is_async) {
        if (context != nullptr) return false;
        EagerContext::Options& o = Options();
        if (!config.is_none()) {
          o.config = MessageAs<pb::ConfigProto>(config, "config");
        }
        o.policy = static_cast<PlacementPolicy>(policy);
        o.is_async = is_async;
        return true;
      },
      nb::arg("config").none(), nb::arg("policy"), nb::arg("is_async"));
  m.def("fresh_dataset", [](nb::handle o) {
    EagerOf(o);
    return FreshDataset(nb::borrow(o));
  });
  m.def("eager_destroy",
        [](nb::handle handle) { DestroyResource(EagerOf(handle).handle); });
  m.def("eager_devices", [] {
    nb::list out;
    for (Device* d : Context()->devices()) {
      const DeviceAttributes& a = d->attributes();
      out.append(
          nb::make_tuple(a.name, a.device_type, a.memory_limit, a.incarnation));
    }
    return out;
  });
  m.def("eager_clear_kernels", [] { Context()->ClearCaches(); });
  m.def("eager_set_policy", [](int policy) {
    Context()->SetThreadPolicy(static_cast<PlacementPolicy>(policy));
  });
  m.def("eager_policy",
        [] { return static_cast<int>(Context()->ThreadPolicy()); });
  // Each FunctionDef of a GraphDef's library that is not there yet.
  m.def("eager_add_functions", [](nb::handle message) {
    const auto& def = MessageAs<pb::GraphDef>(message, "graph_def");
    EagerContext* const eager = Context();
    for (const pb::FunctionDef& f : def.library().function()) {
      if (eager->FindFunction(f.signature().name()) != nullptr) continue;
      Check(eager->AddFunction(f));
    }
  });
  m.def("eager_remove_function", [](const std::string& name) {
    EagerContext* const eager = Context();
    Status s;
    {
      const GilRelease unlocked;
      s = eager->RemoveFunction(name);
    }
    return s.ok();
  });
  m.def("eager_has_function", [](const std::string& name) {
    return Context()->FindFunction(name) != nullptr;
  });
  m.def(
      "eager_constant",
      [](nb::handle value, nb::handle dtype) {
        return EagerTensorObject(
            ToTensor(value, dtype.is_none() ? DT_INVALID : ToDataType(dtype),
                     Sharing::kCopy));
      },
      nb::arg("value").none(), nb::arg("dtype").none());
  m.def(
      "set_eager_callback",
      [](nb::handle function) {
        Py_XDECREF(callback);
        callback = function.is_none() ? nullptr : function.inc_ref().ptr();
      },
      nb::arg("function").none());
  m.def("next_eager_id", [] { return next_id; });
  m.def("eager_metadata", [](bool enable) {
    enable ? Context()->EnableRunMetadata() : Context()->DisableRunMetadata();
  });
}

}  // namespace headrace::python
