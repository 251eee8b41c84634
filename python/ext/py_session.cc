// Session for Python: what is fetched and fed is read off the Python values,
// the run goes on without the GIL, and results take the fetches' structure.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "attr_convert.h"
#include "framework/device.h"
#include "interrupt.h"
#include "message.h"
#include "numpy_convert.h"
#include "py_graph.h"
#include "py_support.h"
#include "runtime/memory_plan.h"
#include "session/session.h"

namespace headrace::python {
namespace {

// What a fetched structure is made of, flattened in order of visit: each step
// takes one value, or builds a container from the values since its start.
struct Fetches {
  enum Kind : uint8_t {
    kTensor,
    kNothing,
    kList,
    kTuple,
    kNamed,
    kDict,
    kCall
  };
  struct Step {
    Kind kind;
    int n;           // index into `endpoints`, or the number of parts
    nb::object how;  // a type, the keys of a dict, or a function
  };
  absl::InlinedVector<Step, 4> steps;
  absl::InlinedVector<Endpoint, 4> endpoints;  // each once
  absl::InlinedVector<Node*, 2> targets;

  int Add(const Endpoint& e) {
    for (size_t i = 0; i < endpoints.size(); ++i) {
      if (endpoints[i] == e) return static_cast<int>(i);
    }
    endpoints.push_back(e);
    return static_cast<int>(endpoints.size()) - 1;
  }
  void AddTarget(Node* n) {
    for (Node* t : targets) {
      if (t == n) return;
    }
    targets.push_back(n);
  }
};

struct Feeds {
  absl::InlinedVector<Endpoint, 4> endpoints;
  absl::InlinedVector<nb::object, 4> originals;  // as arrays, when fetched too
  std::vector<Session::Feed> values;
};

// By which any thread stops the runs that were given it.
class PyCancellation {
 public:
  void StartCancel() {
    nb::gil_scoped_release unlocked;
    // Whoever runs may drop this object when it has been told.
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
      nb::gil_scoped_release unlocked;
      s = NewSession(proto, target, core_->graph, &session);
    }
    if (!s.ok()) RaiseStatus(s, nb::none());
    session_ = std::move(session);
  }
  ~PySession() {
    nb::gil_scoped_release unlocked;
    session_.reset();
  }

  nb::object PlanMemory(nb::handle fetches, nb::handle feed_shapes);
  nb::object Run(nb::handle fetches, nb::handle feed_dict, nb::handle options,
                 nb::handle metadata, nb::handle cancellation);
  nb::object MakeCallable(nb::handle fetches, nb::handle feed_list,
                          bool accept_options);
  std::string PartialRunSetup(nb::handle fetches, nb::handle feeds);
  nb::object PartialRun(const std::string& handle, nb::handle fetches,
                        nb::handle feed_dict, nb::handle options,
                        nb::handle cancellation);
  void PartialRunClose(const std::string& handle) {
    nb::gil_scoped_release unlocked;
    session_->PRunClose(handle);
  }
  void Close() {
    Status s;
    {
      nb::gil_scoped_release unlocked;
      s = session_->Close();
    }
    if (!s.ok()) RaiseStatus(s, graph_);
  }
  nb::list ListDevices() {
    nb::list out;
    for (Device* d : session_->ListDevices()) {
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

  void ReadFetch(nb::handle f, Fetches* out);
  void ReadName(nb::handle name, Fetches* out);
  Endpoint FeedTarget(nb::handle key);
  // `dict` may be None.
  void ReadFeeds(nb::handle dict, const Fetches& fetches, Feeds* out);
  Tensor FeedValue(const Endpoint& e, nb::handle value);
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
  std::shared_ptr<Session::Prepared> prepared_;
};

[[noreturn]] void RefuseFetch(nb::handle f, const char* why) {
  RaiseTypeError(StrCat("Fetch argument ", nb::repr(f).c_str(),
                        " has invalid type ", Py_TYPE(f.ptr())->tp_name, ", ",
                        why));
}

void RefuseInternal(const PyGraph& graph, const Node& n, const char* what) {
  if (graph.internal.empty() || !graph.internal.contains(n.id())) return;
  RaiseValueError(StrCat("Operation '", n.name(), "' has been marked as not ",
                         what, ": it is inside a branch or a loop."));
}

void PySession::ReadName(nb::handle f, Fetches* out) {
  const std::string name = ToString(f, "a fetch");
  std::string node;
  int index = 0;
  const bool is_tensor = name.find(':') != std::string::npos;
  Node* n = nullptr;
  if (ParseEndpointName(name, &node, &index).ok() && index != kControlSlot) {
    n = core_->graph->FindNode(node);
  }
  if (n == nullptr) {
    RaiseValueError(StrCat("Fetch argument ", nb::repr(f).c_str(),
                           " cannot be interpreted as a Tensor. (The name '",
                           name, "' refers to ",
                           is_tensor ? "a Tensor" : "an Operation",
                           " which does not exist in the graph.)"));
  }
  RefuseInternal(*core_, *n, "fetchable");
  if (!is_tensor) {
    out->AddTarget(n);
    out->steps.push_back({Fetches::kNothing, 0, {}});
    return;
  }
  if (index >= n->num_outputs()) {
    RaiseValueError(StrCat("Fetch argument ", nb::repr(f).c_str(),
                           " cannot be interpreted as a Tensor. (The "
                           "operation '",
                           node, "' exists but only has ", n->num_outputs(),
                           " outputs.)"));
  }
  out->steps.push_back({Fetches::kTensor, out->Add({n, index}), {}});
}

void PySession::ReadFetch(nb::handle f, Fetches* out) {
  if (PyTensor* t = AsTensor(f)) {
    if (t->op->core != core_) {
      RaiseValueError(StrCat("Fetch argument ", nb::repr(f).c_str(),
                             " cannot be interpreted as a Tensor. (Tensor ",
                             EndpointName(t->endpoint()),
                             " is not an element of this graph.)"));
    }
    RefuseInternal(*core_, *t->op->node, "fetchable");
    out->steps.push_back({Fetches::kTensor, out->Add(t->endpoint()), {}});
    return;
  }
  if (PyOperation* o = AsOperation(f)) {
    if (o->core != core_) {
      RaiseValueError(StrCat("Fetch argument ", nb::repr(f).c_str(),
                             " cannot be interpreted as a Tensor. (Operation ",
                             o->node->name(),
                             " is not an element of this graph.)"));
    }
    RefuseInternal(*core_, *o->node, "fetchable");
    out->AddTarget(o->node);
    out->steps.push_back({Fetches::kNothing, 0, {}});
    return;
  }
  PyObject* p = f.ptr();
  if (PyUnicode_Check(p) || PyBytes_Check(p)) return ReadName(f, out);
  if (f.is_none()) RefuseFetch(f, "must be a Tensor, an Operation or a name");
  const bool is_list = PyList_Check(p);
  if (is_list || PyTuple_Check(p)) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(p);
    for (Py_ssize_t i = 0; i < n; ++i) {
      ReadFetch(PySequence_Fast_GET_ITEM(p, i), out);
    }
    Fetches::Step step{
        is_list ? Fetches::kList : Fetches::kTuple, static_cast<int>(n), {}};
    if (!is_list && !PyTuple_CheckExact(p) && nb::hasattr(f, "_fields")) {
      step.kind = Fetches::kNamed;
      step.how = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(p)));
    }
    out->steps.push_back(std::move(step));
    return;
  }
  if (PyDict_Check(p)) {
    nb::dict d = nb::borrow<nb::dict>(f);
    for (auto [key, value] : d) ReadFetch(value, out);
    nb::object type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(p)));
    out->steps.push_back({Fetches::kDict, static_cast<int>(d.size()),
                          nb::make_tuple(d.keys(), type)});
    return;
  }
  // Variables and the like: (fetches, function of their values).
  nb::object expanded = hooks().expand_fetch(f);
  if (expanded.is_none()) {
    RefuseFetch(f,
                "must be a string or Tensor. (Can not convert it into a "
                "Tensor or Operation.)");
  }
  ReadFetch(nb::object(expanded[0]), out);
  nb::object function = expanded[1];
  if (!function.is_none()) {
    out->steps.push_back({Fetches::kCall, 1, std::move(function)});
  }
}

// The structure again, with `values` at its leaves.
nb::object Assemble(const Fetches& f, const std::vector<nb::object>& values) {
  if (f.steps.size() == 1 && f.steps[0].kind == Fetches::kTensor) {
    return values[f.steps[0].n];
  }
  absl::InlinedVector<nb::object, 8> stack;
  for (const Fetches::Step& s : f.steps) {
    if (s.kind == Fetches::kTensor) {
      stack.push_back(values[s.n]);
      continue;
    }
    if (s.kind == Fetches::kNothing) {
      stack.push_back(nb::none());
      continue;
    }
    nb::list parts;
    const size_t first = stack.size() - s.n;
    for (size_t i = first; i < stack.size(); ++i) parts.append(stack[i]);
    stack.resize(first);
    switch (s.kind) {
      case Fetches::kList:
        stack.push_back(parts);
        break;
      case Fetches::kTuple:
        stack.push_back(nb::tuple(parts));
        break;
      case Fetches::kNamed:
        stack.push_back(s.how(*parts));
        break;
      case Fetches::kCall:
        stack.push_back(s.how(parts[0]));
        break;
      default: {
        nb::list keys = nb::cast<nb::list>(nb::object(s.how[0]));
        nb::object d = nb::object(s.how[1])();
        for (size_t i = 0; i < keys.size(); ++i) {
          d[nb::object(keys[i])] = nb::object(parts[i]);
        }
        stack.push_back(std::move(d));
      }
    }
  }
  return stack.back();
}

Endpoint PySession::FeedTarget(nb::handle key) {
  if (PyTensor* t = AsTensor(key)) {
    if (t->op->core != core_) {
      RaiseTypeError(StrCat("Cannot interpret feed_dict key as Tensor: Tensor ",
                            EndpointName(t->endpoint()),
                            " is not an element of this graph."));
    }
    return t->endpoint();
  }
  if (PyUnicode_Check(key.ptr()) || PyBytes_Check(key.ptr())) {
    const std::string name = ToString(key, "a feed");
    std::string node;
    int index = 0;
    Node* n = nullptr;
    if (name.find(':') != std::string::npos &&
        ParseEndpointName(name, &node, &index).ok()) {
      n = core_->graph->FindNode(node);
    }
    if (n == nullptr || index < 0 || index >= n->num_outputs()) {
      RaiseTypeError(StrCat(
          "Cannot interpret feed_dict key as Tensor: The name '", name,
          "' refers to a Tensor which does not exist, or is not the name of a "
          "tensor, as \"x:0\" is."));
    }
    return {n, index};
  }
  return {};
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

Tensor PySession::FeedValue(const Endpoint& e, nb::handle value) {
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
    t = ToTensor(value, type, Sharing::kMayShare);
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

void PySession::ReadFeeds(nb::handle dict, const Fetches& fetches, Feeds* out) {
  if (dict.is_none()) return;
  if (!PyDict_Check(dict.ptr()))
    RaiseTypeError("feed_dict must be a dictionary");
  const auto add = [&](const Endpoint& e, nb::handle value) {
    for (const Endpoint& old : out->endpoints) {
      if (old == e) {
        RaiseValueError(StrCat("Tensor ", EndpointName(e), " is fed twice."));
      }
    }
    Tensor t = FeedValue(e, value);
    for (const Endpoint& f : fetches.endpoints) {
      if (f == e) {
        out->originals.resize(out->endpoints.size() + 1);
        out->originals.back() = ToNumpy(t);
      }
    }
    out->endpoints.push_back(e);
    out->values.emplace_back(e, std::move(t));
  };
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(dict.ptr(), &at, &key, &value)) {
    const Endpoint e = FeedTarget(key);
    if (e.node != nullptr) {
      add(e, value);
      continue;
    }
    // Variables and the like: [(tensor, value)].
    nb::object pairs = hooks().expand_feed(nb::handle(key), nb::handle(value));
    if (pairs.is_none()) {
      RaiseTypeError(
          StrCat("Cannot interpret feed_dict key as Tensor: Can "
                 "not convert a ",
                 Py_TYPE(key)->tp_name, " into a Tensor."));
    }
    for (nb::handle pair : nb::cast<nb::list>(pairs)) {
      nb::object to = pair[0], what = pair[1];
      add(FeedTarget(to), what);
    }
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
    InterruptScope interrupt(caller.get());
    RunToken token = interrupt.manager();
    token.leaves_kernels = caller != nullptr;
    PyThreadState* state = PyEval_SaveThread();
    status = call(m, token);
    PyEval_RestoreThread(state);
  }
  DropReleasedArrays();
  if (status.ok()) [[likely]]
    return;
  // The signal's own exception tells more than what it cancelled.
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
  Fetches f;
  ReadFetch(fetches, &f);
  Feeds feeds;
  ReadFeeds(feed_dict, f, &feeds);
  const pb::RunOptions& run_options = OptionsOf(options);

  // What is fed and fetched at once comes back as it was given.
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
  Fetches f;
  ReadFetch(fetches, &f);
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
        return session->PlanMemory(feeds, f.endpoints, f.targets, &plan);
      },
      nb::none(), nb::none());
  nb::list blocks, unknown;
  for (const MemoryPlan::Block& b : plan.blocks) {
    blocks.append(nb::make_tuple(b.name, b.contents, b.bytes, b.offset));
  }
  for (const std::string& name : plan.unknown) unknown.append(name);
  return nb::make_tuple(plan.peak_bytes, plan.total_bytes, blocks, unknown);
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
  Fetches f;
  ReadFetch(fetches, &f);
  const std::vector<Endpoint> fed = FeedTargets(feeds);
  std::string handle;
  Status s;
  {
    nb::gil_scoped_release unlocked;
    s = session_->PRunSetup(fed, f.endpoints, f.targets, &handle);
  }
  if (!s.ok()) RaiseStatus(s, graph_);
  return handle;
}

nb::object PySession::PartialRun(const std::string& handle, nb::handle fetches,
                                 nb::handle feed_dict, nb::handle options,
                                 nb::handle cancellation) {
  DropReleasedArrays();
  Fetches f;
  ReadFetch(fetches, &f);
  Feeds feeds;
  ReadFeeds(feed_dict, f, &feeds);
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
  Fetches f;
  ReadFetch(fetches, &f);
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
  StatusOr<std::shared_ptr<Session::Prepared>> prepared(nullptr);
  {
    nb::gil_scoped_release unlocked;
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
    values.push_back(
        ToNumpy(fed < 0 ? std::move(outputs[next++]) : inputs[fed]));
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
      nb::gil_scoped_release unlocked;
      s = ResetSessions(target, containers);
    }
    Check(s);
  });
}

}  // namespace headrace::python
