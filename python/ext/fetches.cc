#include "fetches.h"

#include <string>
#include <utility>

#include "gil.h"
#include "py_support.h"

namespace headrace::python {
namespace {

// The maximum nesting of lists in fetches. A thread's stack allows many more.
constexpr int kMaxDepth = 400;

[[noreturn]] void RefuseFetch(nb::handle f) {
  PyTypeObject* const type = Py_TYPE(f.ptr());
  std::string text =
      StrCat("Fetch argument ", nb::repr(f).c_str(), " has invalid type ",
             nb::repr(nb::handle(reinterpret_cast<PyObject*>(type))).c_str());
  if (!f.is_none()) {
    StrAppend(&text, ", must be a string or Tensor. (Can not convert a ",
              type->tp_name, " into a Tensor or Operation.)");
  }
  RaiseTypeError(text);
}

void RefuseInternal(const PyGraph& graph, const Node& n, const char* what) {
  if (graph.internal.empty() || !graph.internal.contains(n.id())) return;
  RaiseValueError(StrCat("Operation '", n.name(), "' has been marked as not ",
                         what,
                         ": it is inside a branch or a loop, or "
                         "Graph.prevent_fetching marked it."));
}

class FetchReader {
 public:
  FetchReader(const PyGraph& graph, Fetches* out) : graph_(graph), out_(out) {}
  void Read(nb::handle f, int depth);

 private:
  void ReadName(nb::handle f);

  const PyGraph& graph_;
  Fetches* const out_;
};

void FetchReader::ReadName(nb::handle f) {
  const std::string name = ToString(f, "a fetch");
  std::string node;
  int index = 0;
  const bool is_tensor = name.find(':') != std::string::npos;
  Node* n = nullptr;
  if (ParseEndpointName(name, &node, &index).ok() && index != kControlSlot) {
    n = graph_.graph->FindNode(node);
  }
  if (n == nullptr) {
    RaiseValueError(StrCat("Fetch argument ", nb::repr(f).c_str(),
                           " cannot be interpreted as a Tensor. (The name '",
                           name, "' refers to ",
                           is_tensor ? "a Tensor" : "an Operation",
                           " which does not exist in the graph.)"));
  }
  RefuseInternal(graph_, *n, "fetchable");
  if (!is_tensor) {
    out_->AddTarget(n);
    out_->steps.push_back({Fetches::kNothing, 0, {}});
    return;
  }
  if (index >= n->num_outputs()) {
    RaiseValueError(StrCat("Fetch argument ", nb::repr(f).c_str(),
                           " cannot be interpreted as a Tensor. (The "
                           "operation '",
                           node, "' exists but only has ", n->num_outputs(),
                           " outputs.)"));
  }
  out_->steps.push_back({Fetches::kTensor, out_->Add({n, index}), {}});
}

void FetchReader::Read(nb::handle f, int depth) {
  if (PyTensor* t = AsTensor(f)) {
    if (t->op->core != &graph_) {
      RaiseValueError(StrCat("Fetch argument ", nb::repr(f).c_str(),
                             " cannot be interpreted as a Tensor. (Tensor ",
                             EndpointName(t->endpoint()),
                             " is not an element of this graph.)",
                             kOtherGraph));
    }
    RefuseInternal(graph_, *t->op->node, "fetchable");
    out_->steps.push_back({Fetches::kTensor, out_->Add(t->endpoint()), {}});
    return;
  }
  if (PyOperation* o = AsOperation(f)) {
    if (o->core != &graph_) {
      RaiseValueError(StrCat(
          "Fetch argument ", nb::repr(f).c_str(),
          " cannot be interpreted as a Tensor. (Operation ", o->node->name(),
          " is not an element of this graph.)", kOtherGraph));
    }
    RefuseInternal(graph_, *o->node, "fetchable");
    out_->AddTarget(o->node);
    out_->steps.push_back({Fetches::kNothing, 0, {}});
    return;
  }
  PyObject* p = f.ptr();
  if (PyUnicode_Check(p) || PyBytes_Check(p)) return ReadName(f);
  if (f.is_none()) RefuseFetch(f);
  if (++depth > kMaxDepth) {
    PyErr_Format(PyExc_RecursionError,
                 "fetches are nested more than %d deep, or contain themselves",
                 kMaxDepth);
    throw nb::python_error();
  }
  const bool is_list = PyList_Check(p);
  if (is_list || PyTuple_Check(p)) {
    // Asking an object for its fetches may change the list.
    Py_ssize_t n = 0;
    for (; n < PySequence_Fast_GET_SIZE(p); ++n) {
      const nb::object part = nb::borrow(PySequence_Fast_GET_ITEM(p, n));
      Read(part, depth);
    }
    Fetches::Step step{
        is_list ? Fetches::kList : Fetches::kTuple, static_cast<int>(n), {}};
    if (!is_list && !PyTuple_CheckExact(p) && nb::hasattr(f, "_fields")) {
      step.kind = Fetches::kNamed;
      step.how = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(p)));
    }
    out_->steps.push_back(std::move(step));
    return;
  }
  if (PyDict_Check(p)) {
    const nb::list keys = nb::steal<nb::list>(PyDict_Keys(p));
    const nb::list values = nb::steal<nb::list>(PyDict_Values(p));
    for (nb::handle value : values) Read(value, depth);
    nb::object type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(p)));
    out_->steps.push_back({Fetches::kDict, static_cast<int>(keys.size()),
                           nb::make_tuple(keys, type)});
    return;
  }
  // Variables and the like: (fetches, function of their values).
  nb::object expanded = hooks().expand_fetch(f);
  if (expanded.is_none()) {
    RefuseFetch(f);
  }
  Read(nb::object(expanded[0]), depth);
  nb::object function = expanded[1];
  if (!function.is_none()) {
    out_->steps.push_back({Fetches::kCall, 1, std::move(function)});
  }
}

}  // namespace

Fetches ReadFetches(const PyGraph& graph, nb::handle fetches) {
  Fetches f;
  FetchReader(graph, &f).Read(fetches, 0);
  return f;
}

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
        stack.push_back(CallPython([&] { return s.how(*parts); }));
        break;
      case Fetches::kCall:
        stack.push_back(CallPython([&] { return s.how(parts[0]); }));
        break;
      default: {
        nb::list keys = nb::cast<nb::list>(nb::object(s.how[0]));
        nb::object d = CallPython([&] {
          nb::object made = nb::object(s.how[1])();
          for (size_t i = 0; i < keys.size(); ++i) {
            made[nb::object(keys[i])] = nb::object(parts[i]);
          }
          return made;
        });
        stack.push_back(std::move(d));
      }
    }
  }
  return stack.back();
}

}  // namespace headrace::python
