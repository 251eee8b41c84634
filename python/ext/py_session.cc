// Session for Python: what is fetched and fed is read off the Python values,
// the run goes on without the GIL, and results take the fetches' structure.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "attr_convert.h"
#include "fetches.h"
#include "gil.h"
#include "headrace/device.h"
#include "headrace/session.h"
#include "interrupt.h"
#include "message.h"
#include "numpy_convert.h"
#include "py_func.h"
#include "py_graph.h"
#include "py_support.h"
#include "runtime/memory_plan.h"
#include "session/explain.h"

namespace headrace::python {
namespace {

struct Feeds {
  absl::InlinedVector<Endpoint, 4> endpoints;
  absl::InlinedVector<nb::object, 4> originals;  // as arrays, when fetched too
  std::vector<Session::Feed> values;
};

// A token with which any thread stops the runs that use it.
class PyCancellation {
 public:
  void StartCancel() {
    const GilRelease unlocked;
    // A run that is cancelled may release the last reference to this object.
    const std::shared_ptr<CancellationManager> manager = manager_;
    manager->StartCancel(errors::Cancelled("Run was cancelled."));
  }
  bool is_cancelled() const { return manager_->IsCancelled(); }
  const std::shared_ptr<CancellationManager>& manager() const {
    return manager_;
  }

 private:
  const std::shared_ptr<CancellationManager> manager_ =
      std::make_shared<CancellationManager>();
};

class PySession {
 public:
  PySession(nb::object graph, const std::string& target, nb::handle config)
      : graph_(std::move(graph)) {
    if (!nb::isinstance<PyGraph>(graph_) || !nb::inst_ready(graph_)) {
      RaiseTypeError("expected a tf.Graph");
    }
    core_ = nb::inst_ptr<PyGraph>(graph_);
    const pb::ConfigProto& proto =
        config.is_none() ? pb::ConfigProto::default_instance()
                         : MessageAs<pb::ConfigProto>(config, "config");
    std::unique_ptr<Session> session;
    Status s;
    {
      const GilRelease unlocked;
      s = MoveTo(NewSession(proto, target, core_->graph), &session);
    }
    if (!s.ok()) RaiseStatus(s, nb::none());
    session_ = std::move(session);
    NoteSession(session_);
  }
  ~PySession() {
    const GilRelease unlocked;
    DestroySession(std::move(session_));
  }

  nb::object PlanMemory(nb::handle fetches, nb::handle feed_shapes);
  std::string Explain(nb::handle fetches, nb::handle feed_dict);
  nb::object Run(nb::handle fetches, nb::handle feed_dict, nb::handle options,
                 nb::handle metadata, nb::handle cancellation);
  nb::object MakeCallable(nb::handle fetches, nb::handle feed_list,
                          bool accept_options);
  std::string PartialRunSetup(nb::handle fetches, nb::handle feeds);
  nb::object PartialRun(const std::string& handle, nb::handle fetches,
                        nb::handle feed_dict, nb::handle options,
                        nb::handle cancellation);
  void PartialRunClose(const std::string& handle) {
    const GilRelease unlocked;
    session_->PRunClose(handle);
  }
  void Close() {
    Status s;
    {
      const GilRelease unlocked;
      s = session_->Close();
    }
    if (!s.ok()) RaiseStatus(s, graph_);
  }
  nb::list ListDevices() {
    nb::list out;
    std::vector<Device*> devices;
    {
      const GilRelease unlocked;
      devices = session_->ListDevices();
    }
    for (Device* d : devices) {
      const DeviceAttributes& a = d->attributes();
      out.append(
          nb::make_tuple(a.name, a.device_type, a.memory_limit, a.incarnation));
    }
    return out;
  }
  nb::object graph() const { return graph_; }

  int Traverse(visitproc visit, void* arg) {
    Py_VISIT(graph_.ptr());
    return 0;
  }

 private:
  friend class Callable;

  // No node if `key` is neither a tensor nor a name.
  Endpoint FeedTarget(nb::handle key);
  // `dict` may be None.
  void ReadFeeds(nb::handle dict, const Fetches& fetches, Sharing sharing,
                 Feeds* out);
  Tensor FeedValue(const Endpoint& e, nb::handle value,
                   Sharing sharing = Sharing::kMayShare);
  TensorShape PlannedShape(const Endpoint& e, nb::handle value);
  std::vector<Endpoint> FeedTargets(nb::handle feed_list);
  // Runs `call(metadata, token)` without the GIL and raises its error.
  // `cancellation` is a PyCancellation or None.
  template <typename F>
  void RunUnlocked(F call, nb::handle metadata, nb::handle cancellation);

  nb::object graph_;
  PyGraph* core_ = nullptr;
  std::shared_ptr<Session> session_;
};

// One combination of feeds and fetches, prepared.
class Callable {
 public:
  Callable(nb::object owner, PySession* session, Fetches fetches,
           std::vector<Endpoint> feeds, bool accept_options);
  nb::object Call(nb::args args, nb::kwargs kwargs);

 private:
  nb::object owner_;
  PySession* session_;
  Fetches fetches_;
  std::vector<Endpoint> feeds_;
  // For each fetch the feed that is the same tensor, or -1: a run does not see
  // such fetches, their values are handed back.
  std::vector<int> fed_;
  const bool accept_options_;
  std::shared_ptr<const Session::Prepared> prepared_;
};

[[noreturn]] void RefuseFeed(nb::handle key) {
  RaiseTypeError(StrCat(
      "Cannot interpret feed_dict key as Tensor: Can not "
      "convert a ",
      nb::cast<std::string>(key.type().attr("__name__")), " into a Tensor."));
}

Endpoint PySession::FeedTarget(nb::handle key) {
  const std::string cannot = "Cannot interpret feed_dict key as Tensor: ";
  if (PyTensor* t = AsTensor(key)) {
    if (t->op->core != core_) {
      RaiseTypeError(StrCat(cannot, "Tensor ", EndpointName(t->endpoint()),
                            " is not an element of this graph.", kOtherGraph));
    }
    return t->endpoint();
  }
  if (!PyUnicode_Check(key.ptr()) && !PyBytes_Check(key.ptr())) return {};
  const std::string name = ToString(key, "a feed");
  std::string node;
  int index = 0;
  if (name.find(':') == std::string::npos) {
    if (core_->graph->FindNode(name) != nullptr) {
      RaiseTypeError(StrCat(cannot, "The name '", name,
                            "' refers to an Operation, not a Tensor; \"", name,
                            ":0\" is its first output."));
    }
    RaiseTypeError(StrCat(cannot, "The name '", name,
                          "' is not the name of a tensor, as \"x:0\" is."));
  }
  Node* n = nullptr;
  if (ParseEndpointName(name, &node, &index).ok()) {
    n = core_->graph->FindNode(node);
  }
  if (n == nullptr) {
    RaiseTypeError(StrCat(cannot, "The name '", name,
                          "' refers to a Tensor which does not exist. The "
                          "operation, '",
                          node, "', does not exist in the graph."));
  }
  if (index < 0 || index >= n->num_outputs()) {
    RaiseTypeError(StrCat(cannot, "The name '", name,
                          "' refers to a Tensor which does not exist. The "
                          "operation, '",
                          node, "', exists but only has ", n->num_outputs(),
                          " outputs."));
  }
  return {n, index};
}

// "(?, 3)", "(2,)": a shape of known rank as Python shows it.
std::string TupleString(const PartialTensorShape& shape) {
  std::string s = "(";
  for (int i = 0; i < shape.dims(); ++i) {
    const int64_t d = shape.dim_size(i);
    StrAppend(&s, i == 0 ? "" : ", ", d < 0 ? "?" : StrCat(d));
  }
  return s + (shape.dims() == 1 ? ",)" : ")");
}

Tensor PySession::FeedValue(const Endpoint& e, nb::handle value,
                            Sharing sharing) {
  if (core_->unfeedable.contains({e.node->id(), e.index})) {
    RaiseValueError(StrCat("Tensor ", EndpointName(e), " may not be fed."));
  }
  const DataType type = BaseType(e.node->output_type(e.index));
  if (AsTensor(value) != nullptr) {
    RaiseTypeError(
        "The value of a feed cannot be a tf.Tensor object. Acceptable feed "
        "values include Python scalars, strings, lists and numpy ndarrays.");
  }
  Tensor t;
  try {
    t = ToTensor(value, type, sharing);
  } catch (nb::python_error& error) {
    // Names what was fed.
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) {
      throw;
    }
    const std::string message =
        StrCat("Cannot feed Tensor '", EndpointName(e), "' of type ",
               DataTypeString(type), ": ", nb::str(error.value()).c_str());
    if (error.matches(PyExc_ValueError)) RaiseValueError(message);
    RaiseTypeError(message);
  }
  const PartialTensorShape& shape = e.node->output_shape(e.index);
  if (!shape.IsCompatibleWith(t.shape())) {
    std::string made_at = e.node->def().source;
    if (!made_at.empty()) made_at = StrCat(", made at ", made_at);
    RaiseValueError(StrCat("Cannot feed value of shape ",
                           TupleString(t.shape()), " for Tensor '",
                           EndpointName(e), "', which has shape '",
                           TupleString(shape), "'", made_at));
  }
  return t;
}

void PySession::ReadFeeds(nb::handle dict, const Fetches& fetches,
                          Sharing sharing, Feeds* out) {
  if (dict.is_none()) return;
  if (!PyDict_Check(dict.ptr()))
    RaiseTypeError("feed_dict must be a dictionary");
  const auto add = [&](const Endpoint& e, nb::handle value) {
    for (const Endpoint& old : out->endpoints) {
      if (old == e) {
        RaiseValueError(StrCat("Tensor ", EndpointName(e), " is fed twice."));
      }
    }
    Tensor t = FeedValue(e, value, sharing);
    for (const Endpoint& f : fetches.endpoints) {
      if (f == e) {
        out->originals.resize(out->endpoints.size() + 1);
        // Strings stay text or bytes, as they were given.
        out->originals.back() =
            t.dtype() == DT_STRING
                ? nb::object(nb::module_::import_("numpy").attr("asarray")(
                      value, nb::arg("dtype") = "object"))
                : ToNumpyArray(t);
      }
    }
    out->endpoints.push_back(e);
    out->values.emplace_back(e, std::move(t));
  };
  const auto add_one = [&](nb::handle key, nb::handle value) {
    const Endpoint e = FeedTarget(key);
    if (e.node != nullptr) add(e, value);
    return e.node != nullptr;
  };
  // A copy of the pairs: asking an object for its tensors may change the dict.
  const nb::list items = nb::steal<nb::list>(PyDict_Items(dict.ptr()));
  for (nb::handle item : items) {
    const nb::handle key = PyTuple_GET_ITEM(item.ptr(), 0),
                     value = PyTuple_GET_ITEM(item.ptr(), 1);
    if (add_one(key, value)) continue;
    // Variables and the like: [(tensor, value)].
    const nb::object pairs = hooks().expand_feed(key, value);
    if (!pairs.is_none()) {
      for (nb::handle pair : nb::cast<nb::list>(pairs)) {
        const nb::object to = pair[0], what = pair[1];
        if (!add_one(to, what)) RefuseFeed(to);
      }
      continue;
    }
    RefuseFeed(key);
  }
}

template <typename F>
void PySession::RunUnlocked(F call, nb::handle metadata,
                            nb::handle cancellation) {
  std::shared_ptr<CancellationManager> caller;
  if (cancellation.ptr() != nullptr && !cancellation.is_none()) {
    if (!nb::isinstance<PyCancellation>(cancellation)) {
      RaiseTypeError(
          StrCat("cancellation must be a tf.CancellationManager, "
                 "but got ",
                 Py_TYPE(cancellation.ptr())->tp_name));
    }
    caller = nb::cast<const PyCancellation&>(cancellation).manager();
  }
  pb::RunMetadata* m =
      metadata.ptr() == nullptr || metadata.is_none()
          ? nullptr
          : MutableMessageAs<pb::RunMetadata>(metadata, "run_metadata");
  Status status;
  {
    const NestedRun nested;
    InterruptScope interrupt(caller.get());
    RunToken token = interrupt.manager();
    token.leaves_kernels = caller != nullptr;
    token.waits = interrupt.hook();
    {
      const GilRelease unlocked;
      const RunEntry entry;
      status = call(m, token);
    }
    interrupt.Rethrow();
  }
  DropReleasedArrays();
  if (status.ok()) [[likely]]
    return;
  // The signal's own exception says more than the error of the cancelled run.
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  RaiseStatus(status, graph_);
}

const pb::RunOptions& OptionsOf(nb::handle options) {
  return options.is_none() ? pb::RunOptions::default_instance()
                           : MessageAs<pb::RunOptions>(options, "options");
}

nb::object PySession::Run(nb::handle fetches, nb::handle feed_dict,
                          nb::handle options, nb::handle metadata,
                          nb::handle cancellation) {
  DropReleasedArrays();
  Fetches f = ReadFetches(*core_, fetches);
  Feeds feeds;
  ReadFeeds(feed_dict, f, Sharing::kMayShare, &feeds);
  const pb::RunOptions& run_options = OptionsOf(options);

  // A tensor that is both fed and fetched returns the fed value.
  std::vector<nb::object> values(f.endpoints.size());
  absl::InlinedVector<Endpoint, 4> wanted;
  absl::InlinedVector<int, 4> wanted_at;
  for (size_t i = 0; i < f.endpoints.size(); ++i) {
    for (size_t k = 0; k < feeds.originals.size(); ++k) {
      if (feeds.endpoints[k] == f.endpoints[i]) {
        values[i] = feeds.originals[k];
      }
    }
    if (values[i].is_valid()) continue;
    wanted.push_back(f.endpoints[i]);
    wanted_at.push_back(static_cast<int>(i));
  }
  if (!wanted.empty() || !f.targets.empty()) {
    std::vector<Tensor> outputs;
    std::shared_ptr<Session> session = session_;
    RunUnlocked(
        [&](pb::RunMetadata* m, RunToken token) {
          Status s = session->Run(run_options, feeds.values, wanted, f.targets,
                                  &outputs, m, token);
          return s;
        },
        metadata, cancellation);
    feeds.values.clear();
    for (size_t i = 0; i < wanted.size(); ++i) {
      values[wanted_at[i]] = ToNumpy(std::move(outputs[i]));
    }
  }
  return Assemble(f, values);
}

// The shape of what will be fed to `e`; raises TypeError, or InvalidArgument
// for what is not known entirely.
TensorShape PySession::PlannedShape(const Endpoint& e, nb::handle value) {
  const std::string wrong = StrCat("feed_shapes: the shape of Tensor '",
                                   EndpointName(e), "' is "),
                    wanted = "; wanted integers, as [8, 224, 224, 3]";
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) {
    RaiseTypeError(StrCat(wrong, nb::repr(value).c_str(), wanted));
  }
  PartialTensorShape partial;
  try {
    partial = ToPartialShape(value);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError) &&
        !error.matches(PyExc_OverflowError)) {
      throw;
    }
    RaiseTypeError(StrCat(wrong, nb::repr(value).c_str(), wanted, ": ",
                          nb::str(error.value()).c_str()));
  }
  TensorShape shape;
  if (!partial.AsTensorShape(&shape)) {
    RaiseStatus(errors::InvalidArgument(wrong, partial.DebugString(),
                                        ", not known entirely", wanted),
                graph_);
  }
  return shape;
}

nb::object PySession::PlanMemory(nb::handle fetches, nb::handle feed_shapes) {
  Fetches f = ReadFetches(*core_, fetches);
  std::vector<std::pair<Endpoint, TensorShape>> feeds;
  for (auto [key, value] : nb::cast<nb::dict>(feed_shapes)) {
    const Endpoint e = FeedTarget(key);
    if (e.node == nullptr) {
      RaiseTypeError(StrCat("feed_shapes: ", nb::repr(key).c_str(),
                            " is no tensor and no name of one"));
    }
    feeds.emplace_back(e, PlannedShape(e, value));
  }
  MemoryPlan plan;
  std::shared_ptr<Session> session = session_;
  RunUnlocked(
      [&](pb::RunMetadata*, RunToken) {
        return MoveTo(session->PlanMemory(feeds, f.endpoints, f.targets),
                      &plan);
      },
      nb::none(), nb::none());
  nb::list blocks, unknown;
  for (const MemoryPlan::Block& b : plan.blocks) {
    blocks.append(nb::make_tuple(b.name, b.contents, b.bytes, b.offset));
  }
  for (const std::string& name : plan.unknown) unknown.append(name);
  return nb::make_tuple(plan.peak_bytes, plan.total_bytes, blocks, unknown);
}

std::string PySession::Explain(nb::handle fetches, nb::handle feed_dict) {
  DropReleasedArrays();
  Fetches f = ReadFetches(*core_, fetches);
  Feeds feeds;
  ReadFeeds(feed_dict, f, Sharing::kMayShare, &feeds);
  std::vector<Endpoint> wanted;
  for (const Endpoint& e : f.endpoints) {
    if (absl::c_linear_search(feeds.endpoints, e)) continue;
    wanted.push_back(e);
  }
  std::string text;
  std::shared_ptr<Session> session = session_;
  RunUnlocked(
      [&](pb::RunMetadata*, RunToken token) {
        return MoveTo(
            ExplainRun(session.get(), feeds.values, wanted, f.targets, token),
            &text);
      },
      nb::none(), nb::none());
  return text;
}

std::vector<Endpoint> PySession::FeedTargets(nb::handle feed_list) {
  std::vector<Endpoint> feeds;
  if (feed_list.is_none()) return feeds;
  for (nb::handle key : nb::list(nb::borrow(feed_list))) {
    nb::object target = nb::borrow(key);
    if (AsTensor(key) == nullptr && nb::hasattr(key, "_as_graph_element")) {
      target = key.attr("_as_graph_element")();
    }
    const Endpoint e = FeedTarget(target);
    if (e.node == nullptr) {
      RaiseTypeError(StrCat("Cannot interpret feed_list key as Tensor: ",
                            nb::repr(key).c_str()));
    }
    feeds.push_back(e);
  }
  return feeds;
}

std::string PySession::PartialRunSetup(nb::handle fetches, nb::handle feeds) {
  Fetches f = ReadFetches(*core_, fetches);
  const std::vector<Endpoint> fed = FeedTargets(feeds);
  std::string handle;
  Status s;
  {
    const GilRelease unlocked;
    s = MoveTo(session_->PRunSetup(fed, f.endpoints, f.targets), &handle);
  }
  if (!s.ok()) RaiseStatus(s, graph_);
  return handle;
}

nb::object PySession::PartialRun(const std::string& handle, nb::handle fetches,
                                 nb::handle feed_dict, nb::handle options,
                                 nb::handle cancellation) {
  DropReleasedArrays();
  Fetches f = ReadFetches(*core_, fetches);
  Feeds feeds;
  // The step goes on with them when this call has returned.
  ReadFeeds(feed_dict, f, Sharing::kFeedCopy, &feeds);
  const pb::RunOptions& run_options = OptionsOf(options);
  std::vector<Tensor> outputs;
  std::shared_ptr<Session> session = session_;
  RunUnlocked(
      [&](pb::RunMetadata*, RunToken token) {
        return session->PRun(handle, run_options, feeds.values, f.endpoints,
                             &outputs, token);
      },
      nb::none(), cancellation);
  feeds.values.clear();
  std::vector<nb::object> values;
  for (Tensor& t : outputs) values.push_back(ToNumpy(std::move(t)));
  return Assemble(f, values);
}

nb::object PySession::MakeCallable(nb::handle fetches, nb::handle feed_list,
                                   bool accept_options) {
  Fetches f = ReadFetches(*core_, fetches);
  std::vector<Endpoint> feeds = FeedTargets(feed_list);
  return nb::cast(Callable(nb::find(this), this, std::move(f), std::move(feeds),
                           accept_options));
}

Callable::Callable(nb::object owner, PySession* session, Fetches fetches,
                   std::vector<Endpoint> feeds, bool accept_options)
    : owner_(std::move(owner)),
      session_(session),
      fetches_(std::move(fetches)),
      feeds_(std::move(feeds)),
      accept_options_(accept_options) {
  std::vector<Endpoint> computed;
  for (const Endpoint& e : fetches_.endpoints) {
    const auto fed = std::find(feeds_.begin(), feeds_.end(), e);
    fed_.push_back(
        fed == feeds_.end() ? -1 : static_cast<int>(fed - feeds_.begin()));
    if (fed == feeds_.end()) computed.push_back(e);
  }
  if (computed.empty() && fetches_.targets.empty()) return;
  StatusOr<std::shared_ptr<const Session::Prepared>> prepared(nullptr);
  {
    const GilRelease unlocked;
    prepared = session_->session_->Prepare(feeds_, computed, fetches_.targets);
  }
  if (!prepared.ok()) RaiseStatus(prepared.status(), session_->graph_);
  prepared_ = *std::move(prepared);
}

nb::object Callable::Call(nb::args args, nb::kwargs kwargs) {
  nb::object options = nb::none(), metadata = nb::none(),
             cancellation = nb::none();
  for (auto [key, value] : kwargs) {
    const std::string name = nb::cast<std::string>(key);
    if (accept_options_ && name == "options") {
      options = nb::borrow(value);
    } else if (accept_options_ && name == "run_metadata") {
      metadata = nb::borrow(value);
    } else if (name == "cancellation") {
      cancellation = nb::borrow(value);
    } else {
      RaiseTypeError(StrCat("unexpected keyword argument '", name, "'"));
    }
  }
  if (args.size() != feeds_.size()) {
    RaiseTypeError(
        StrCat("Expected ", feeds_.size(), " feeds, got ", args.size()));
  }
  DropReleasedArrays();
  const pb::RunOptions& run_options = OptionsOf(options);
  std::vector<Tensor> inputs, outputs;
  inputs.reserve(feeds_.size());
  for (size_t i = 0; i < feeds_.size(); ++i) {
    inputs.push_back(session_->FeedValue(feeds_[i], args[i]));
  }
  if (prepared_ != nullptr) {
    std::shared_ptr<Session> session = session_->session_;
    session_->RunUnlocked(
        [&](pb::RunMetadata* m, RunToken token) {
          return session->RunPrepared(*prepared_, run_options, inputs, &outputs,
                                      m, token);
        },
        metadata, cancellation);
  }
  std::vector<nb::object> values;
  size_t next = 0;
  for (int fed : fed_) {
    values.push_back(fed < 0 ? ToNumpy(std::move(outputs[next++]))
                             : ToNumpyArray(inputs[fed]));
  }
  return Assemble(fetches_, values);
}

int TraverseSession(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<PySession>(self)->Traverse(visit, arg);
}
PyType_Slot kSessionSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(TraverseSession)}, {0, nullptr}};

}  // namespace

void RegisterSession(nb::module_& m) {
  nb::class_<PySession>(m, "SessionCore", nb::type_slots(kSessionSlots))
      .def(nb::init<nb::object, const std::string&, nb::handle>(),
           nb::arg("graph"), nb::arg("target"), nb::arg("config").none())
      .def("run", &PySession::Run, nb::arg("fetches").none(),
           nb::arg("feed_dict") = nb::none(), nb::arg("options") = nb::none(),
           nb::arg("run_metadata") = nb::none(),
           nb::arg("cancellation") = nb::none())
      .def("make_callable", &PySession::MakeCallable, nb::arg("fetches").none(),
           nb::arg("feed_list") = nb::none(), nb::arg("accept_options") = false)
      .def("partial_run_setup", &PySession::PartialRunSetup,
           nb::arg("fetches").none(), nb::arg("feeds").none())
      .def("partial_run", &PySession::PartialRun, nb::arg("handle"),
           nb::arg("fetches").none(), nb::arg("feed_dict").none(),
           nb::arg("options").none(), nb::arg("cancellation").none())
      .def("partial_run_close", &PySession::PartialRunClose)
      .def("plan_memory", &PySession::PlanMemory, nb::arg("fetches"),
           nb::arg("feed_shapes"))
      .def("explain", &PySession::Explain, nb::arg("fetches"),
           nb::arg("feed_dict").none())
      .def("close", &PySession::Close)
      .def("list_devices", &PySession::ListDevices)
      .def_prop_ro("graph", &PySession::graph);
  nb::class_<PyCancellation>(m, "CancellationManager",
                             R"(A token by which any thread stops runs.

Give it to Session.run, to a callable or to partial_run as `cancellation`, any
number of times. Thread-safe; cancelled once, it stays so.)")
      .def(nb::init<>())
      .def("start_cancel", &PyCancellation::StartCancel,
           R"(Ends the runs that have this token with tf.errors.CancelledError.

Later ones end so at once. A run returns within milliseconds, even from a kernel
that nothing can interrupt: unless that changes state, it is left to itself.)")
      .def_prop_ro("is_cancelled", &PyCancellation::is_cancelled);
  nb::class_<Callable>(m, "Callable").def("__call__", &Callable::Call);
  m.def("reset_sessions", [](const std::string& target,
                             const std::vector<std::string>& containers) {
    Status s;
    {
      const GilRelease unlocked;
      s = ResetSessions(target, containers);
    }
    Check(s);
  });
}

}  // namespace headrace::python
