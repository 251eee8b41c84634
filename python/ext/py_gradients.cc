// Gradients for Python. New nodes are added as the graph's own functions add
// them, so that names, devices, control inputs and source lines are right.
// Gradient functions that are written in Python are called with the node and
// the gradients of its outputs.
#include "py_gradients.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
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

// One call of AddGradients. Its nodes go where they belong: those that the walk
// adds into the context in which the gradient is taken; those of loops on the
// way into no context, with `place_of` to say where they come out.
class Adder {
 public:
  Adder(nb::handle graph, PyGraph* core, bool colocate, nb::handle place_of)
      : graph_(graph),
        core_(core),
        colocate_(colocate),
        place_of_(place_of),
        here_(core->flow_context),
        frames_(core->control_frames) {}

  StatusOr<Node*> Add(NodeDef def, absl::Span<const Endpoint> inputs,
                      absl::Span<Node* const> control, const Node* forward,
                      const GradientPlace& place);

  // Calls a gradient function for a node in the body of a loop, whose new nodes
  // belong to the backward loop. `call_in_loop` calls it with the functions
  // that new nodes go through.
  nb::object CallInLoop(GradientContext& context, nb::handle call_in_loop,
                        nb::handle function, nb::handle op, nb::handle grads,
                        const std::string& scope);

  // A headrace.Graph of the body of a function, with all its nodes. The same
  // object as long as the Adder lives.
  nb::object BodyGraph(const std::shared_ptr<Graph>& body);

 private:
  struct Body {
    nb::object graph;
    int named = 0;  // nodes below this id have their names in `graph`
  };

  // Until the result is destroyed, new nodes are in this context and wait for
  // these.
  auto Within(nb::object context, std::vector<ControlFrame> frames) {
    std::swap(core_->flow_context, context);
    core_->control_frames.swap(frames);
    return absl::MakeCleanup([core = core_, context = std::move(context),
                              frames = std::move(frames)]() mutable {
      core->flow_context = std::move(context);
      core->control_frames.swap(frames);
    });
  }

  const nb::handle graph_;
  PyGraph* const core_;
  const bool colocate_;
  const nb::handle place_of_;
  const nb::object here_;  // the context; invalid outside all
  const std::vector<ControlFrame> frames_;
  absl::flat_hash_map<const Graph*, Body> bodies_;
};

// Takes the name scope, and for colocation the other scopes, of the graph for
// the nodes of one gradient.
StatusOr<Node*> Adder::Add(NodeDef def, absl::Span<const Endpoint> inputs,
                           absl::Span<Node* const> control, const Node* forward,
                           const GradientPlace& place) {
  PyGraph* const core = core_;
  std::string scope;
  scope.swap(core->name_scope());
  std::vector<std::string> colocation = core->colocation;
  std::string device = core->colocated_device;
  const auto restore = absl::MakeCleanup([&] {
    core->name_scope().swap(scope);
    core->colocation.swap(colocation);
    core->colocated_device.swap(device);
  });
  if (colocate_ && forward != nullptr) {
    core->colocation = ColocationGroups(*forward);
    core->colocated_device = forward->requested_device();
  }
  def.name = core->UniqueName(def.name);
  // Gradients of loops have nodes in loops, which no context knows.
  absl::flat_hash_set<int> in_loop;
  in_loop.swap(core->in_loop);
  const auto restore_loop =
      absl::MakeCleanup([&] { core->in_loop.swap(in_loop); });
  const bool leaves = def.op == "Exit" && !place.in_loop;
  const bool raw = place.in_loop || leaves;
  nb::object context = raw ? nb::object() : here_;
  nb::object places;  // where an Exit comes out
  if (!place.in_loop && (place.beside != nullptr || here_.is_valid())) {
    const nb::object enter =
        place.beside == nullptr
            ? nb::none()
            : OperationObject(graph_, core, const_cast<Node*>(place.beside));
    places = CallPython([&] {
      return place_of_(here_.is_valid() ? here_ : nb::none(), enter);
    });
    if (!leaves) context = places.is_none() ? nb::object() : places;
  }
  // A node in a loop cannot wait for what is outside: the loop's Enters do.
  // Nor do nodes beside a loop wait for what the gradient waits for.
  const auto restore_context = Within(context, raw || place.beside != nullptr
                                                   ? std::vector<ControlFrame>()
                                                   : frames_);
  Node* const n = AddNode(graph_, core, std::move(def), inputs);
  in_loop.insert(core->in_loop.begin(), core->in_loop.end());
  if (leaves && places.is_valid() && !places.is_none()) {
    const nb::object op = OperationObject(graph_, core, n);
    CallPython([&] { return places.attr("_adopt_exit")(op); });
    in_loop.insert(core->in_loop.begin(), core->in_loop.end());
  } else if ((raw || n->IsEnter()) && !leaves) {
    in_loop.insert(n->id());
    core->internal.insert(n->id());
  }
  MutexLock lock(&core->graph->mu());
  for (Node* c : control) core->graph->AddControlEdge(c, n);
  return n;
}

nb::object Adder::CallInLoop(GradientContext& context, nb::handle call_in_loop,
                             nb::handle function, nb::handle op,
                             nb::handle grads, const std::string& scope) {
  const nb::object take = nb::cpp_function([&](nb::handle inputs) {
    const auto restore = Within(here_, {});
    std::vector<Endpoint> mapped;
    std::vector<Node*> control;
    const Status s = context.IntoLoop(
        ToEndpoints(inputs, core_, "a gradient function"), &mapped, &control);
    if (!s.ok()) RaiseBuildError(s);
    nb::list tensors, wait;
    for (const Endpoint& e : mapped) {
      tensors.append(TensorObject(graph_, core_, e));
    }
    for (Node* n : control) wait.append(OperationObject(graph_, core_, n));
    return nb::make_tuple(tensors, wait);
  });
  const nb::object adopt = nb::cpp_function([&](nb::handle made) {
    const Node* const n = AsOperation(made)->node;
    context.Adopt(n);
    core_->in_loop.insert(n->id());
    core_->internal.insert(n->id());
  });
  return CallPython(
      [&] { return call_in_loop(function, op, grads, scope, take, adopt); });
}

nb::object Adder::BodyGraph(const std::shared_ptr<Graph>& body) {
  Body& known = bodies_[body.get()];
  if (!known.graph.is_valid()) {
    known.graph = CallPython(
        [] { return nb::module_::import_("headrace").attr("Graph")(); });
    nb::inst_ptr<PyGraph>(known.graph)->graph = body;
  }
  PyGraph* const core = nb::inst_ptr<PyGraph>(known.graph);
  for (; known.named < body->num_node_ids(); ++known.named) {
    const Node* const n = body->node(known.named);
    if (n == nullptr) continue;
    core->names_in_use.emplace(absl::AsciiStrToLower(n->name()), 1);
  }
  return known.graph;
}

nb::list AddGradients(nb::handle graph, nb::handle ys, nb::handle xs,
                      nb::handle grad_ys, nb::handle stop_gradients,
                      const std::string& scope, bool colocate, bool gate,
                      bool zero, bool add_in_turn, nb::dict functions,
                      nb::handle call, nb::handle call_in_loop,
                      nb::handle call_in_function, nb::handle place_of) {
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
  Adder adder(graph, core, colocate, place_of);
  options.add_node = [&](NodeDef def, absl::Span<const Endpoint> inputs,
                         absl::Span<Node* const> control, const Node* forward,
                         const GradientPlace& place) {
    return adder.Add(std::move(def), inputs, control, forward, place);
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
    // The graph of the node: that of the call, or of a function's body.
    nb::object of = nb::borrow(graph);
    if (const auto& body = context.options().function_body; body != nullptr) {
      if (context.in_loop()) {
        return errors::Unimplemented(
            "The gradient of '", *op, "' is a Python function, and node '",
            node->name(),
            "' is in a while_loop in the body of a function: this is not "
            "supported yet");
      }
      of = adder.BodyGraph(body);
    }
    PyGraph* const of_core = nb::inst_ptr<PyGraph>(of);
    nb::list grads;
    for (const Gradient& g : dys) grads.append(FromGradient(of, of_core, g));
    const nb::object function = functions[key];
    const nb::object op_object = OperationObject(of, of_core, node);
    nb::object results;
    if (of_core != core) {
      results = CallPython([&] {
        return call_in_function(of, function, op_object, grads, node_scope);
      });
    } else if (context.in_loop()) {
      results = adder.CallInLoop(context, call_in_loop, function, op_object,
                                 grads, node_scope);
    } else {
      results = CallPython(
          [&] { return call(function, op_object, grads, node_scope); });
    }
    dxs->clear();
    for (nb::handle r : results) {
      dxs->push_back(
          ToGradient(r, of_core, "the result of a gradient function"));
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
