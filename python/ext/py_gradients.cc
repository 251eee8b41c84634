// Gradients for Python. New nodes are added as the graph's own functions add
// them, so that names, devices, control inputs and source lines are right.
// Gradient functions that are written in Python are called with the node and
// the gradients of its outputs.
#include "py_gradients.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "headrace/gradients.h"
#include "py_graph.h"
#include "py_support.h"

namespace headrace::python {
namespace {

Endpoint ToEndpoint(nb::handle tensor, const PyGraph* core, const char* what) {
  PyTensor* const t = AsTensor(tensor);
  if (t == nullptr || t->op->core != core) {
    RaiseValueError(StrCat("gradients: ", nb::repr(tensor).c_str(), " in ",
                           what, " is no tensor of the graph"));
  }
  return t->endpoint();
}

std::vector<Endpoint> ToEndpoints(nb::handle list, const PyGraph* core,
                                  const char* what) {
  std::vector<Endpoint> endpoints;
  for (nb::handle t : list) endpoints.push_back(ToEndpoint(t, core, what));
  return endpoints;
}

// None, a tensor, or (values, indices, dense_shape or None).
Gradient ToGradient(nb::handle o, const PyGraph* core, const char* what) {
  if (o.is_none()) return {};
  if (!nb::isinstance<nb::tuple>(o)) {
    return {.dense = ToEndpoint(o, core, what)};
  }
  Gradient g{.values = ToEndpoint(o[0], core, what),
             .indices = ToEndpoint(o[1], core, what)};
  if (const nb::object shape = o[2]; !shape.is_none()) {
    g.dense_shape = ToEndpoint(shape, core, what);
  }
  return g;
}

nb::object FromGradient(nb::handle graph, PyGraph* core, const Gradient& g) {
  if (g.IsNone()) return nb::none();
  if (!g.IsSparse()) return TensorObject(graph, core, g.dense);
  return nb::make_tuple(
      TensorObject(graph, core, g.values), TensorObject(graph, core, g.indices),
      g.dense_shape.node == nullptr ? nb::none()
                                    : TensorObject(graph, core, g.dense_shape));
}

// As TensorFlow: an op without a gradient is a LookupError, and second
// derivatives of loops are a TypeError.
void CheckBuilt(const Status& s) {
  if (errors::IsNotFound(s)) {
    PyErr_SetString(PyExc_LookupError, std::string(s.message()).c_str());
    throw nb::python_error();
  }
  if (errors::IsUnimplemented(s)) {
    const std::string message(s.message());
    PyErr_SetString(absl::StartsWith(message, "Second-order")
                        ? PyExc_TypeError
                        : PyExc_NotImplementedError,
                    message.c_str());
    throw nb::python_error();
  }
  if (!s.ok()) RaiseBuildError(s);
}

// Takes the name scope, and for colocation the other scopes, of the graph for
// the nodes of one gradient.
StatusOr<Node*> Add(nb::handle graph, PyGraph* core, bool colocate, NodeDef def,
                    absl::Span<const Endpoint> inputs,
                    absl::Span<Node* const> control, const Node* forward) {
  std::string scope;
  scope.swap(core->name_scope);
  std::vector<std::string> colocation = core->colocation;
  std::string device = core->colocated_device;
  const auto restore = absl::MakeCleanup([&] {
    core->name_scope.swap(scope);
    core->colocation.swap(colocation);
    core->colocated_device.swap(device);
  });
  if (colocate && forward != nullptr) {
    core->colocation = ColocationGroups(*forward);
    core->colocated_device = forward->requested_device();
  }
  def.name = core->UniqueName(def.name);
  // Gradients of loops have nodes in loops, which no context knows.
  absl::flat_hash_set<int> in_loop;
  in_loop.swap(core->in_loop);
  const auto restore_loop =
      absl::MakeCleanup([&] { core->in_loop.swap(in_loop); });
  bool inside = false;
  for (const Endpoint& e : inputs) {
    inside = inside || in_loop.contains(e.node->id());
  }
  for (const Node* c : control) inside = inside || in_loop.contains(c->id());
  // A node in a loop cannot wait for what is outside: the loop's Enters do.
  std::vector<ControlFrame> frames;
  if (inside) frames.swap(core->control_frames);
  const auto restore_frames = absl::MakeCleanup([&] {
    if (inside) core->control_frames.swap(frames);
  });
  Node* const n = AddNode(graph, core, std::move(def), inputs);
  in_loop.insert(core->in_loop.begin(), core->in_loop.end());
  if ((inside || n->IsEnter()) && !n->IsExit()) {
    in_loop.insert(n->id());
    core->internal.insert(n->id());
  }
  MutexLock lock(&core->graph->mu());
  for (Node* c : control) core->graph->AddControlEdge(c, n);
  return n;
}

// Calls a gradient function for a node in the body of a loop, whose new nodes
// belong to the backward loop. `call_in_loop` calls it with the functions that
// new nodes go through.
nb::object CallInLoop(nb::handle graph, PyGraph* core, GradientContext& context,
                      nb::handle call_in_loop, nb::handle function,
                      nb::handle op, nb::handle grads,
                      const std::string& scope) {
  // Nodes of the loop itself are in no context, and wait for nothing else.
  const auto outside = [core] {
    auto flow = std::make_shared<nb::object>(std::move(core->flow_context));
    core->flow_context = nb::object();
    auto frames = std::make_shared<std::vector<ControlFrame>>();
    frames->swap(core->control_frames);
    return absl::MakeCleanup([core, flow, frames] {
      core->flow_context = std::move(*flow);
      core->control_frames.swap(*frames);
    });
  };
  const nb::object take = nb::cpp_function([&](nb::handle inputs) {
    const auto restore = outside();
    std::vector<Endpoint> mapped;
    std::vector<Node*> control;
    const Status s = context.IntoLoop(
        ToEndpoints(inputs, core, "a gradient function"), &mapped, &control);
    if (!s.ok()) RaiseBuildError(s);
    nb::list tensors, wait;
    for (const Endpoint& e : mapped) {
      tensors.append(TensorObject(graph, core, e));
    }
    for (Node* n : control) wait.append(OperationObject(graph, core, n));
    return nb::make_tuple(tensors, wait);
  });
  const nb::object adopt = nb::cpp_function([&](nb::handle made) {
    const Node* const n = AsOperation(made)->node;
    context.Adopt(n);
    core->in_loop.insert(n->id());
    core->internal.insert(n->id());
  });
  return CallPython(
      [&] { return call_in_loop(function, op, grads, scope, take, adopt); });
}

nb::list AddGradients(nb::handle graph, nb::handle ys, nb::handle xs,
                      nb::handle grad_ys, nb::handle stop_gradients,
                      const std::string& scope, bool colocate, bool gate,
                      bool zero, bool add_in_turn, nb::dict functions,
                      nb::handle call, nb::handle call_in_loop) {
  nb::object alive = nb::borrow(graph);
  if (!nb::isinstance<PyGraph>(graph)) RaiseTypeError("expected a tf.Graph");
  PyGraph* const core = nb::inst_ptr<PyGraph>(graph);
  GradientOptions options;
  for (nb::handle g : grad_ys) {
    options.grad_ys.push_back(ToGradient(g, core, "grad_ys"));
  }
  options.stop_gradients = ToEndpoints(stop_gradients, core, "stop_gradients");
  options.scope = scope;
  options.colocate = colocate;
  options.gate = gate;
  options.zero_if_unconnected = zero;
  options.add_in_turn = add_in_turn;
  options.add_node = [&](NodeDef def, absl::Span<const Endpoint> inputs,
                         absl::Span<Node* const> control, const Node* forward) {
    return Add(graph, core, colocate, std::move(def), inputs, control, forward);
  };
  options.custom = [&](GradientContext& context, Node* node,
                       const std::string& node_scope,
                       absl::Span<const Gradient> dys,
                       std::vector<Gradient>* dxs, bool* handled) {
    const std::string* op = &node->type_string();
    const AttrValue* const other = node->attrs().Find("_gradient_op_type");
    if (other != nullptr && other->Get<std::string>() != nullptr) {
      op = other->Get<std::string>();
    }
    const nb::str key(op->c_str());
    *handled = functions.contains(key);
    if (!*handled) return OkStatus();
    nb::list grads;
    for (const Gradient& g : dys) grads.append(FromGradient(graph, core, g));
    const nb::object function = functions[key];
    const nb::object op_object = OperationObject(graph, core, node);
    const nb::object results =
        context.in_loop()
            ? CallInLoop(graph, core, context, call_in_loop, function,
                         op_object, grads, node_scope)
            : CallPython(
                  [&] { return call(function, op_object, grads, node_scope); });
    dxs->clear();
    for (nb::handle r : results) {
      dxs->push_back(ToGradient(r, core, "the result of a gradient function"));
    }
    return OkStatus();
  };
  std::vector<Gradient> gradients;
  CheckBuilt(
      AddSymbolicGradients(core->graph.get(), ToEndpoints(ys, core, "ys"),
                           ToEndpoints(xs, core, "xs"), options, &gradients));
  nb::list out;
  for (const Gradient& g : gradients) {
    out.append(FromGradient(graph, core, g));
  }
  return out;
}

}  // namespace

void RegisterGradients(nb::module_& m) {
  m.def("add_gradients", &AddGradients);
  // (has a function, the reason why it has none), or None.
  m.def("gradient_entry", [](const std::string& op) -> nb::object {
    const GradientEntry* const e = GradientRegistry::Find(op);
    if (e == nullptr) return nb::none();
    return nb::make_tuple(e->fn != nullptr, e->reason);
  });
  m.def("gradient_ops", &GradientRegistry::All);
}

}  // namespace headrace::python
