#include "py_graph.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "attr_convert.h"
#include "framework/op/tensor_proto.h"
#include "graph/graph_def_reader.h"
#include "headrace/device_name.h"
#include "headrace/importer.h"
#include "headrace/op.h"
#include "message.h"
#include "numpy_convert.h"
#include "py_eager.h"
#include "py_support.h"

namespace headrace::python {
namespace {

// Graphs of as_default() on this thread, borrowed: the `with` keeps them.
thread_local std::vector<PyObject*> default_graphs;
bool is_eager_by_default = false;

// The eager graph of this thread; the package keeps it.
nb::object EagerGraph() {
  thread_local PyObject* graph = nullptr;
  if (graph == nullptr) graph = hooks().eager_graph().ptr();
  return nb::borrow(graph);
}

template <typename T>
bool IsInstance(nb::handle o) {
  static PyTypeObject* const type =
      reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr());
  return Py_TYPE(o.ptr()) == type;
}

// Raises TypeError for what is no graph, or one whose __init__ was not called.
PyGraph* CoreOf(nb::handle graph) {
  if (!nb::isinstance<PyGraph>(graph)) RaiseTypeError("expected a tf.Graph");
  if (!nb::inst_ready(graph)) {
    RaiseTypeError(StrCat("the __init__ of ", Py_TYPE(graph.ptr())->tp_name,
                          " did not call that of tf.Graph"));
  }
  return nb::inst_ptr<PyGraph>(graph);
}

// Raises TypeError for what is none.
PyTensor& TensorOf(nb::handle o) {
  PyTensor* t = AsTensor(o);
  if (t == nullptr) RaiseTypeError("expected a tf.Tensor");
  return *t;
}
PyOperation& OperationOf(nb::handle o) {
  PyOperation* op = AsOperation(o);
  if (op == nullptr) RaiseTypeError("expected a tf.Operation");
  return *op;
}

// The control inputs of a new node: the operations of each `with`, except its
// own inputs. A `with` is skipped if one of the inputs was created inside it,
// because that input already waits.
std::vector<Node*> ControlInputs(const PyGraph& core,
                                 absl::Span<const Endpoint> inputs) {
  std::vector<Node*> control;
  for (const ControlFrame& frame : core.control_frames) {
    bool waits_already = false;
    for (const Endpoint& e : inputs) {
      waits_already |= frame.made_inside.contains(e.node);
    }
    if (waits_already) continue;
    for (Node* n : frame.nodes) {
      bool is_input = false;
      for (const Endpoint& e : inputs) is_input |= e.node == n;
      if (!is_input) control.push_back(n);
    }
  }
  return control;
}

nb::object ShapeList(PyTensor& t) {
  return FromPartialShape(t.op->node->output_shape(t.index));
}

void SetShape(PyTensor& t, nb::handle shape) {
  const PartialTensorShape given = ToPartialShape(shape);
  Node* n = t.op->node;
  PartialTensorShape merged;
  if (!n->output_shape(t.index).MergeWith(given, &merged).ok()) {
    RaiseValueError(StrCat("Shapes must be compatible: tensor ",
                           EndpointName(t.endpoint()), " has shape ",
                           n->output_shape(t.index).DebugString(), ", got ",
                           given.DebugString()));
  }
  MutexLock lock(&t.op->core->graph->mu());
  t.op->core->graph->SetOutputShape(n, t.index, std::move(merged));
}

nb::list Inputs(PyOperation& op) {
  nb::list out;
  for (const Edge* e : op.node->data_inputs()) {
    if (e == nullptr) continue;
    out.append(TensorObject(op.graph, op.core, {e->src(), e->src_output()}));
  }
  return out;
}

nb::list ControlInputObjects(PyOperation& op) {
  nb::list out;
  for (const Edge* e : op.node->control_inputs()) {
    out.append(OperationObject(op.graph, op.core, e->src()));
  }
  return out;
}

nb::list Outputs(nb::handle self) {
  nb::list out;
  const int n = OperationOf(self).node->num_outputs();
  for (int i = 0; i < n; ++i) out.append(TensorObject(self, i));
  return out;
}

nb::list ConsumersOf(PyTensor& t) {
  nb::list out;
  for (const Edge* e : t.op->node->out_edges()) {
    if (e->src_output() != t.index) continue;
    out.append(OperationObject(t.op->graph, t.op->core, e->dst()));
  }
  return out;
}

nb::object NodeDefMessage(PyOperation& op) {
  NodeDef def = op.node->def();
  def.inputs.clear();
  for (const Edge* e : op.node->data_inputs()) {
    if (e == nullptr) continue;
    def.inputs.push_back(e->src_output() == 0
                             ? e->src()->name()
                             : EndpointName({e->src(), e->src_output()}));
  }
  for (const Edge* e : op.node->control_inputs()) {
    def.inputs.push_back(StrCat("^", e->src()->name()));
  }
  pb::NodeDef* message = nullptr;
  nb::object o = NewMessage(&message);
  NodeDefToProto(def, message);
  return o;
}

nb::object GetAttr(PyOperation& op, const std::string& name) {
  const AttrValue* v = op.node->attrs().Find(name);
  if (v == nullptr) {
    RaiseValueError(StrCat("Operation '", op.node->name(),
                           "' has no attr named '", name, "'."));
  }
  return FromAttrValue(*v);
}

// As the C API's TF_UpdateEdge says it.
Status CheckNewInput(const Node* node, int i, const Endpoint& from) {
  if (i < 0 || i >= node->num_inputs()) {
    return errors::OutOfRange("Cannot update edge. Input index [", i,
                              "] is greater than the number of total inputs [",
                              node->num_inputs(), "].");
  }
  const Edge* const old = node->input_edge(i);
  if (old != nullptr) {
    const PartialTensorShape& is = from.node->output_shape(from.index);
    const PartialTensorShape& was = old->src()->output_shape(old->src_output());
    if (!is.IsCompatibleWith(was)) {
      return errors::InvalidArgument(
          "Cannot update edge, incompatible shapes: ", is.DebugString(),
          " and ", was.DebugString(), ".");
    }
  }
  return OkStatus();
}

void SetAttr(PyOperation& op, const std::string& name, nb::handle value) {
  AttrValue v;
  const int i = op.node->op_def().FindAttr(name);
  if (const google::protobuf::Message* m = AsMessage(value)) {
    const auto& proto = MessageAs<pb::AttrValue>(value, "the attr");
    static_cast<void>(m);
    Check(AttrValueFromProto(proto, &v));
  } else if (i >= 0) {
    v = ToAttrValue(op.node->op_def(), op.node->op_def().attrs[i], value);
  } else if (nb::isinstance<nb::list>(value)) {
    std::vector<std::string> strings;
    for (nb::handle s : value) strings.push_back(ToString(s, "an attr"));
    v = std::move(strings);
  } else {
    v = ToString(value, "an attr");
  }
  MutexLock lock(&op.core->graph->mu());
  op.core->graph->SetNodeAttr(op.node, name, std::move(v));
}

// "" means no device. Raises ValueError if `name` is malformed.
std::string MergeDevices(const std::string& inner, const std::string& outer) {
  DeviceName result, base;
  if (Status s = DeviceName::Parse(inner, &result); !s.ok()) {
    RaiseValueError(std::string(s.message()));
  }
  if (Status s = DeviceName::Parse(outer, &base); !s.ok()) {
    RaiseValueError(std::string(s.message()));
  }
  if (!result.has_job && base.has_job) {
    result.has_job = true;
    result.job = base.job;
  }
  if (!result.has_replica && base.has_replica) {
    result.has_replica = true;
    result.replica = base.replica;
  }
  if (!result.has_task && base.has_task) {
    result.has_task = true;
    result.task = base.task;
  }
  if (!result.has_type && base.has_type) {
    result.has_type = true;
    result.type = base.type;
  }
  if (!result.has_id && base.has_id) {
    result.has_id = true;
    result.id = base.id;
  }
  return result.ToString();
}

nb::object ImportGraph(
    nb::handle graph, nb::handle message, const std::string& prefix,
    const std::vector<std::pair<std::string, Endpoint>>& input_map,
    const std::vector<std::string>& returns) {
  PyGraph* core = CoreOf(graph);
  if (core->eager) {
    PyErr_SetString(PyExc_RuntimeError,
                    "a GraphDef cannot be imported while ops are executed "
                    "eagerly: do it inside of tf.Graph().as_default()");
    throw nb::python_error();
  }
  ImportOptions options;
  options.prefix = prefix;
  options.uniquify_names = true;
  options.input_map = input_map;
  options.default_device = core->device;
  options.control_dependencies = ControlInputs(*core, {});
  std::vector<bool> is_tensor;
  for (const std::string& r : returns) {
    is_tensor.push_back(absl::StrContains(r, ':'));
    (is_tensor.back() ? options.return_tensors : options.return_nodes)
        .push_back(r);
  }
  ImportResults results;
  Status status;
  Graph* to = core->graph.get();
  if (PyUnicode_Check(message.ptr())) {
    const std::string path = nb::cast<std::string>(message);
    MutexLock lock(&to->mu());
    status = ImportGraphDefFile(options, path, to, &results);
  } else if (PyBytes_Check(message.ptr())) {
    const RefPtr<TensorBuffer> bytes = BufferOverBytes(message);
    MutexLock lock(&to->mu());
    status = ImportGraphDefBytes(options, bytes, to, &results);
  } else if (const GraphDefParts* parts = UnreadGraphDef(message)) {
    MutexLock lock(&to->mu());
    status = ImportGraphDefParts(options, *parts, to, &results);
  } else {
    const auto& def = MessageAs<pb::GraphDef>(message, "graph_def");
    MutexLock lock(&to->mu());
    status = ImportGraphDef(options, def, to, &results);
  }
  if (!status.ok()) RaiseBuildError(status);
  core->operations.resize(core->graph->num_node_ids());
  for (Node* n : results.nodes) {
    core->names_in_use.emplace(absl::AsciiStrToLower(n->name()), 1);
    for (ControlFrame& f : core->control_frames) f.made_inside.insert(n);
  }
  if (!results.missing_unused_input_map_keys.empty()) {
    RaiseValueError(StrCat(
        "Attempted to map inputs that were not found in graph_def: [",
        absl::StrJoin(results.missing_unused_input_map_keys, ", "), "]"));
  }
  nb::list out;
  size_t t = 0, o = 0;
  for (bool tensor : is_tensor) {
    if (tensor) {
      out.append(TensorObject(graph, core, results.return_tensors[t++]));
    } else {
      out.append(OperationObject(graph, core, results.return_nodes[o++]));
    }
  }
  return out;
}

// Replaces `inputs` and `control` of a new node in a branch or loop. The
// context brings outside values in through nodes of its own. Their names are
// scoped under the new node's name.
void TakeIntoContext(nb::handle graph, PyGraph* core, const NodeDef& def,
                     std::vector<Endpoint>* inputs,
                     std::vector<Node*>* control) {
  nb::list in, waits;
  for (const Endpoint& e : *inputs) in.append(TensorObject(graph, core, e));
  for (Node* n : *control) waits.append(OperationObject(graph, core, n));
  const std::string scope = core->name_scope();
  core->name_scope() = def.name;
  PushDefaultGraph(graph);
  const auto restore = absl::MakeCleanup([&] {
    core->name_scope() = scope;
    PopDefaultGraph();
  });
  nb::object context = core->flow_context;
  nb::object taken = CallPython(
      [&] { return context.attr("_before_add")(def.op, in, waits); });
  inputs->clear();
  control->clear();
  for (nb::handle t : nb::object(taken[0])) {
    inputs->push_back(TensorOf(t).endpoint());
  }
  for (nb::handle o : nb::object(taken[1])) {
    control->push_back(OperationOf(o).node);
  }
}

// A value inside a loop is one of many, so nothing outside may take it. Nodes
// made inside of a context are checked there (_src/control/contexts.py).
void RefuseLoopValues(const PyGraph& core, const NodeDef& def,
                      absl::Span<const Endpoint> inputs) {
  if (def.op == "Enter" || def.op == "RefEnter" || def.op == "Switch" ||
      def.op == "RefSwitch") {
    return;
  }
  for (const Endpoint& e : inputs) {
    if (!core.in_loop.contains(e.node->id())) continue;
    RaiseValueError(StrCat("Cannot use '", e.node->name(), "' as input to '",
                           def.name, "' because '", e.node->name(),
                           "' is in a while loop."));
  }
}

// Where the inputs of a node were made that cannot be: those that were not made
// in the line that is at work, the first few.
std::string InputLines(absl::Span<const Endpoint> inputs) {
  constexpr size_t kMost = 4;
  const std::string here = UserSourceLine();
  std::string lines;
  size_t listed = 0;
  for (size_t i = 0; i < inputs.size() && listed < kMost; ++i) {
    const std::string& source = inputs[i].node->def().source;
    if (source.empty() || source == here) continue;
    StrAppend(&lines, "\n\t input ", i, ": '", EndpointName(inputs[i]),
              "' made at ", source);
    ++listed;
  }
  return lines;
}

// Gives a node that keeps state the container of the scope.
void SetContainer(const std::string& container, NodeDef* def) {
  const OpDef* op = nullptr;
  if (!OpRegistry::Global()->LookUp(def->op, &op).ok() || !op->is_stateful) {
    return;
  }
  const int i = op->FindAttr("container");
  if (i < 0 || op->attrs[i].type != AttrType::kString) return;
  const AttrValue* given = def->attrs.Find("container");
  const std::string* name =
      given == nullptr ? nullptr : given->Get<std::string>();
  if (name == nullptr || name->empty()) def->attrs.Set("container", container);
}

// Cyclic garbage: a graph's collections reach tensors, which reach the graph.
// Clearing its __dict__ breaks every such cycle, so nothing is cleared here.
int TraverseTensor(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PyTensor>(self)->operation.ptr());
  return 0;
}
int TraverseOperation(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PyOperation>(self)->graph.ptr());
  return 0;
}
PyType_Slot kTensorSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(TraverseTensor)}, {0, nullptr}};
PyType_Slot kOperationSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(TraverseOperation)}, {0, nullptr}};

}  // namespace

std::vector<std::string> ColocationGroups(const Node& n) {
  std::vector<std::string> groups;
  if (const AttrValue* v = n.attrs().Find("_class")) {
    if (const auto* list = v->GetList<std::string>()) groups = *list;
  }
  if (groups.empty()) groups.push_back(StrCat("loc:@", n.name()));
  return groups;
}

PyOperation::~PyOperation() {
  if (core == nullptr || node == nullptr) return;
  const auto id = static_cast<size_t>(node->id());
  if (id < core->operations.size() && core->operations[id] != nullptr &&
      nb::inst_ptr<PyOperation>(core->operations[id]) == this) {
    core->operations[id] = nullptr;
  }
}

PyTensor::~PyTensor() {
  if (op == nullptr) return;
  PyObject*& slot = op->outputs[index];
  if (slot != nullptr && nb::inst_ptr<PyTensor>(slot) == this) slot = nullptr;
}

PyTensor* AsTensor(nb::handle o) {
  return IsInstance<PyTensor>(o) && nb::inst_ready(o)
             ? nb::inst_ptr<PyTensor>(o)
             : nullptr;
}
PyOperation* AsOperation(nb::handle o) {
  return IsInstance<PyOperation>(o) && nb::inst_ready(o)
             ? nb::inst_ptr<PyOperation>(o)
             : nullptr;
}

nb::object OperationObject(nb::handle graph, PyGraph* core, Node* node) {
  static PyObject* const type = nb::type<PyOperation>().ptr();
  const auto id = static_cast<size_t>(node->id());
  if (core->operations.size() <= id) core->operations.resize(id + 1);
  PyObject*& slot = core->operations[id];
  if (slot != nullptr && Py_REFCNT(slot) > 0) return nb::borrow(slot);
  nb::object o = nb::inst_alloc(type);
  auto* op = new (nb::inst_ptr<PyOperation>(o)) PyOperation;
  op->graph = nb::borrow(graph);
  op->core = core;
  op->node = node;
  op->outputs.resize(node->num_outputs());
  nb::inst_mark_ready(o);
  slot = o.ptr();
  return o;
}

nb::object TensorObject(nb::handle operation, int index) {
  static PyObject* const type = nb::type<PyTensor>().ptr();
  auto* op = nb::inst_ptr<PyOperation>(operation);
  PyObject*& slot = op->outputs[index];
  if (slot != nullptr && Py_REFCNT(slot) > 0) return nb::borrow(slot);
  nb::object o = nb::inst_alloc(type);
  auto* t = new (nb::inst_ptr<PyTensor>(o)) PyTensor;
  t->operation = nb::borrow(operation);
  t->op = op;
  t->index = index;
  nb::inst_mark_ready(o);
  slot = o.ptr();
  return o;
}

nb::object TensorObject(nb::handle graph, PyGraph* core, const Endpoint& e) {
  return TensorObject(OperationObject(graph, core, e.node), e.index);
}

std::string PyGraph::UniqueName(const std::string& name, bool mark_as_used) {
  const std::string& scope = name_scope();
  std::string full = scope.empty() ? name : StrCat(scope, "/", name);
  std::string key = absl::AsciiStrToLower(full);
  const auto it = names_in_use.find(key);
  int i = it == names_in_use.end() ? 0 : it->second;
  if (mark_as_used) names_in_use[key] = i + 1;
  if (i == 0) return full;
  std::string numbered = key;
  while (names_in_use.contains(numbered)) {
    numbered = StrCat(key, "_", i++);
  }
  if (mark_as_used) {
    names_in_use[numbered] = 1;
    // The next one starts looking where this one ended.
    int& count = names_in_use[key];
    if (count < i) count = i;
  }
  return StrCat(full, "_", i - 1);
}

std::string PyGraph::NodeName(const std::string& name) {
  if (!name.empty() && name.back() == '/') {
    return name.substr(0, name.size() - 1);
  }
  return UniqueName(name);
}

[[noreturn]] static void RefuseNode(const NodeDef& def) {
  PyErr_SetString(
      PyExc_RuntimeError,
      StrCat("op ", def.op, " (name '", def.name,
             "') is not supported when eager execution is enabled: it makes a "
             "node of a graph. Call it in a tf.function, or inside of "
             "tf.Graph().as_default().")
          .c_str());
  throw nb::python_error();
}

Node* AddNode(nb::handle graph, PyGraph* core, NodeDef def,
              absl::Span<const Endpoint> inputs,
              absl::Span<const int> arg_sizes) {
  if (core->eager) [[unlikely]]
    RefuseNode(def);
  if (core->finalized) {
    PyErr_SetString(PyExc_RuntimeError,
                    "Graph is finalized and cannot be modified.");
    throw nb::python_error();
  }
  if (!def.name.empty() && def.name[0] == '_') [[unlikely]] {
    RaiseValueError(StrCat("'", def.name,
                           "' is not a valid node name: it begins with an "
                           "underscore"));
  }
  def.device =
      core->colocated_device.empty() ? core->device : core->colocated_device;
  def.source = UserSourceLine();
  if (!core->colocation.empty()) def.attrs.Set("_class", core->colocation);
  for (const auto& [name, value] : core->extra_attrs) {
    if (def.attrs.Find(name) == nullptr) def.attrs.Set(name, value);
  }
  for (const auto& [attr, values] : core->attrs_by_op) {
    const auto it = values.find(def.op);
    if (it != values.end()) def.attrs.Set(attr, it->second);
  }
  if (!core->container.empty()) SetContainer(core->container, &def);
  std::vector<Node*> control;
  if (!core->control_frames.empty()) control = ControlInputs(*core, inputs);
  std::vector<Endpoint> inputs_in_context;
  const bool in_context = core->flow_context.is_valid();
  if (in_context) [[unlikely]] {
    inputs_in_context.assign(inputs.begin(), inputs.end());
    TakeIntoContext(graph, core, def, &inputs_in_context, &control);
    inputs = inputs_in_context;
  } else if (!core->in_loop.empty()) [[unlikely]] {
    RefuseLoopValues(*core, def, inputs);
  }
  StatusOr<Node*> node = nullptr;
  {
    MutexLock lock(&core->graph->mu());
    node = core->graph->AddNode(std::move(def), inputs, control, arg_sizes);
  }
  if (!node.ok()) [[unlikely]]
    RaiseBuildError(Annotate(node.status(), InputLines(inputs)));
  for (ControlFrame& f : core->control_frames) f.made_inside.insert(*node);
  if (in_context) [[unlikely]] {
    nb::object context = core->flow_context;
    const nb::object op = OperationObject(graph, core, *node);
    CallPython([&] { context.attr("_after_add")(op); });
  }
  if (core->has_device_functions && core->colocated_device.empty()) {
    const nb::object op = OperationObject(graph, core, *node);
    CallPython([&] { graph.attr("_apply_device_functions")(op); });
  }
  return *node;
}

nb::object AddConstant(nb::handle graph, PyGraph* core, Tensor value,
                       const std::string& name) {
  if (core->eager) return EagerTensorObject(std::move(value));
  NodeDef def;
  def.name = core->NodeName(name);
  def.op = "Const";
  def.attrs.Set("dtype", value.dtype());
  def.attrs.Set("value", std::move(value));
  Node* n = AddNode(graph, core, std::move(def), {});
  return TensorObject(graph, core, {n, 0});
}

nb::object DefaultGraph() {
  if (default_graphs.empty()) {
    return is_eager_by_default ? EagerGraph() : hooks().global_graph();
  }
  return nb::borrow(default_graphs.back());
}

void PushDefaultGraph(nb::handle graph) {
  CoreOf(graph);  // raises
  default_graphs.push_back(graph.ptr());
}
void PopDefaultGraph() {
  if (!default_graphs.empty()) default_graphs.pop_back();
}

// A node of exactly these inputs and attrs (AttrValue messages).
nb::object CreateOp(nb::handle graph, const std::string& op, nb::list inputs,
                    const std::string& name, nb::dict attrs) {
  PyGraph* core = CoreOf(graph);
  NodeDef def;
  def.op = op;
  for (auto [key, value] : attrs) {
    AttrValue v;
    Check(AttrValueFromProto(MessageAs<pb::AttrValue>(value, "an attr"), &v));
    def.attrs.Set(ToString(key, "an attr's name"), std::move(v));
  }
  std::vector<Endpoint> endpoints;
  for (nb::handle input : inputs) {
    PyTensor* t = AsTensor(input);
    if (t == nullptr || t->op->core != core) {
      RaiseValueError(StrCat("input ", nb::repr(input).c_str(), " of op ", op,
                             " is not a tensor of this graph"));
    }
    endpoints.push_back(t->endpoint());
  }
  def.name = core->NodeName(name);
  return OperationObject(graph, core,
                         AddNode(graph, core, std::move(def), endpoints));
}

// Takes attrs that have their defaults out of nodes. `attrs`: for an op, the
// attrs in question.
void DropDefaults(google::protobuf::RepeatedPtrField<pb::NodeDef>* nodes,
                  nb::dict attrs) {
  for (pb::NodeDef& node : *nodes) {
    PyObject* names = PyDict_GetItemString(attrs.ptr(), node.op().c_str());
    const OpDef* def = OpRegistry::Global()->Find(node.op());
    if (names == nullptr || def == nullptr) continue;
    for (nb::handle name : nb::handle(names)) {
      const std::string key = nb::cast<std::string>(name);
      const auto found = node.attr().find(key);
      const int i = def->FindAttr(key);
      if (found == node.attr().end() || i < 0 || !def->attrs[i].default_value) {
        continue;
      }
      pb::AttrValue otherwise;
      AttrValueToProto(*def->attrs[i].default_value, &otherwise);
      if (found->second.SerializeAsString() == otherwise.SerializeAsString()) {
        node.mutable_attr()->erase(key);
      }
    }
  }
}

void RegisterGraph(nb::module_& m) {
  m.def("push_default_graph", &PushDefaultGraph);
  m.def("pop_default_graph", &PopDefaultGraph);
  m.def("default_graph_depth", [] { return default_graphs.size(); });
  m.def("get_default_graph", &DefaultGraph);
  m.def("set_eager_by_default",
        [](bool eager) { is_eager_by_default = eager; });
  m.def("executing_eagerly",
        [] { return nb::inst_ptr<PyGraph>(DefaultGraph())->eager; });
  m.def("merge_devices", &MergeDevices);
  m.def("user_source_line", &UserSourceLine);
  // The OpDef of a registered op; None if there is none of this name.
  m.def("op_def", [](const std::string& name) -> nb::object {
    const OpDef* def = OpRegistry::Global()->Find(name);
    if (def == nullptr) return nb::none();
    pb::OpDef* message = nullptr;
    nb::object out = NewMessage(&message);
    OpDefToProto(*def, message);
    return out;
  });

  // Of all nodes of a GraphDef, those of functions too.
  m.def("drop_default_attrs", [](nb::handle message, nb::dict attrs) {
    auto* def = MutableMessageAs<pb::GraphDef>(message, "graph_def");
    DropDefaults(def->mutable_node(), attrs);
    if (!def->has_library()) return;
    for (pb::FunctionDef& f : *def->mutable_library()->mutable_function()) {
      DropDefaults(f.mutable_node_def(), attrs);
    }
  });

  nb::class_<PyTensor>(m, "Tensor", nb::type_slots(kTensorSlots),
                       nb::is_weak_referenceable())
      .def_prop_ro("op", [](PyTensor& t) { return t.operation; })
      .def_prop_ro("graph", [](PyTensor& t) { return t.op->graph; })
      .def_prop_ro("value_index", [](PyTensor& t) { return t.index; })
      .def_prop_ro("name",
                   [](PyTensor& t) { return EndpointName(t.endpoint()); })
      .def_prop_ro("dtype", [](PyTensor& t) { return DTypeObject(t.dtype()); })
      .def_prop_ro("device",
                   [](PyTensor& t) { return t.op->node->requested_device(); })
      .def("consumers", &ConsumersOf)
      .def("_shape_list", &ShapeList)
      .def("_rank",
           [](PyTensor& t) -> nb::object {
             const int r = t.op->node->output_shape(t.index).dims();
             return r < 0 ? nb::none() : nb::object(nb::int_(r));
           })
      // What a resource is known to hold: a variable of this type and shape.
      .def(
          "_set_variable",
          [](PyTensor& t, nb::handle dtype, nb::handle shape) {
            if (t.op == nullptr) RaiseTypeError("expected a tensor of a graph");
            const DtypeAndShape held{ToDataType(dtype), ToPartialShape(shape)};
            MutexLock lock(&t.op->core->graph->mu());
            t.op->core->graph->SetOutputHandle(t.op->node, t.index, {held});
          },
          nb::arg("dtype"), nb::arg("shape").none())
      .def("_set_shape", &SetShape, nb::arg("shape").none());

  nb::class_<PyOperation>(m, "Operation", nb::type_slots(kOperationSlots),
                          nb::is_weak_referenceable())
      .def_prop_ro("name", [](PyOperation& o) { return o.node->name(); })
      .def_prop_ro("type", [](PyOperation& o) { return o.node->type_string(); })
      .def_prop_ro("graph", [](PyOperation& o) { return o.graph; })
      .def_prop_ro("device",
                   [](PyOperation& o) { return o.node->requested_device(); })
      .def_prop_ro("source",
                   [](PyOperation& o) { return o.node->def().source; })
      .def_prop_ro("_id", [](PyOperation& o) { return o.node->id(); })
      .def_prop_ro("inputs", &Inputs)
      .def_prop_ro("control_inputs", &ControlInputObjects)
      .def_prop_ro("outputs", &Outputs)
      .def("values", [](nb::handle self) { return nb::tuple(Outputs(self)); })
      .def_prop_ro("node_def", &NodeDefMessage)
      .def_prop_ro("op_def",
                   [](PyOperation& o) {
                     pb::OpDef* message = nullptr;
                     nb::object out = NewMessage(&message);
                     OpDefToProto(o.node->op_def(), message);
                     return out;
                   })
      .def("get_attr", &GetAttr, nb::arg("name"))
      .def("_set_attr", &SetAttr)
      .def("colocation_groups",
           [](PyOperation& o) {
             nb::list out;
             for (const std::string& g : ColocationGroups(*o.node)) {
               out.append(nb::bytes(g.data(), g.size()));
             }
             return out;
           })
      .def("_set_device",
           [](PyOperation& o, const std::string& device) {
             MutexLock lock(&o.core->graph->mu());
             o.core->graph->SetRequestedDevice(o.node, device);
           })
      .def("_update_input",
           [](PyOperation& o, int i, nb::handle input) {
             PyTensor* from = AsTensor(input);
             if (from == nullptr) RaiseTypeError("an input must be a tensor");
             if (from->op->core != o.core) {
               RaiseValueError(StrCat("Tensor ", EndpointName(from->endpoint()),
                                      " must be from the same graph as ",
                                      o.node->name(), "."));
             }
             Status s = CheckNewInput(o.node, i, from->endpoint());
             if (!s.ok()) RaiseStatus(s, nb::none());
             {
               MutexLock lock(&o.core->graph->mu());
               s = o.core->graph->ReplaceInput(o.node, i, from->endpoint());
             }
             if (!s.ok()) RaiseBuildError(s);
           })
      .def("_remove_all_control_inputs",
           [](PyOperation& o) {
             MutexLock lock(&o.core->graph->mu());
             while (!o.node->control_inputs().empty()) {
               o.core->graph->RemoveEdge(*o.node->control_inputs().begin());
             }
           })
      .def("_add_control_input", [](PyOperation& o, nb::handle input) {
        PyOperation* from = AsOperation(input);
        if (from == nullptr || from->core != o.core) {
          RaiseTypeError("a control input must be an operation of the graph");
        }
        MutexLock lock(&o.core->graph->mu());
        o.core->graph->AddControlEdge(from->node, o.node);
      });

  nb::class_<PyGraph>(m, "GraphCore", nb::is_weak_referenceable())
      .def(nb::init<>())
      .def_rw("_finalized", &PyGraph::finalized)
      .def_rw("_captures", &PyGraph::captures)
      .def_rw("_eager", &PyGraph::eager)
      .def_prop_rw(
          "_name_scope", [](PyGraph& g) { return g.name_scope(); },
          [](PyGraph& g, const std::string& s) { g.name_scope() = s; })
      .def_rw("_device", &PyGraph::device)
      .def_rw("_has_device_functions", &PyGraph::has_device_functions)
      .def_rw("_colocation", &PyGraph::colocation)
      .def_rw("_colocated_device", &PyGraph::colocated_device)
      .def_prop_rw(
          "_flow_context",
          [](PyGraph& g) {
            return g.flow_context.is_valid() ? g.flow_context : nb::none();
          },
          [](PyGraph& g, nb::handle context) {
            g.flow_context =
                context.is_none() ? nb::object() : nb::borrow(context);
          },
          nb::for_setter(nb::arg("context").none()))
      .def("_mark_internal", [](PyGraph& g, int id) { g.internal.insert(id); })
      .def("_mark_in_loop", [](PyGraph& g, int id) { g.in_loop.insert(id); })
      .def("_prevent_feeding",
           [](PyGraph& g, int id, int index) {
             g.unfeedable.emplace(id, index);
           })
      .def("_may_feed",
           [](PyGraph& g, int id, int index) {
             return !g.unfeedable.contains({id, index});
           })
      .def_rw("_container", &PyGraph::container)
      .def("_is_internal",
           [](PyGraph& g, int id) { return g.internal.contains(id); })
      // Consumers of the outputs of `op` already wait for these blocks.
      .def("_record_seen_by_control",
           [](PyGraph& g, nb::handle op) {
             Node* n = OperationOf(op).node;
             for (ControlFrame& f : g.control_frames) f.made_inside.insert(n);
           })
      // The control inputs of a node with these inputs, in the present scopes.
      .def("_control_dependencies_for_inputs",
           [](nb::handle self, nb::list inputs) {
             std::vector<Endpoint> endpoints;
             for (nb::handle t : inputs) {
               endpoints.push_back(TensorOf(t).endpoint());
             }
             PyGraph* g = CoreOf(self);
             nb::list out;
             for (Node* n : ControlInputs(*g, endpoints)) {
               out.append(OperationObject(self, g, n));
             }
             return out;
           })
      .def("unique_name", &PyGraph::UniqueName, nb::arg("name"),
           nb::arg("mark_as_used") = true)
      .def("_num_nodes", [](PyGraph& g) { return g.graph->num_nodes(); })
      // TensorFlow numbers nodes from 1.
      .def_prop_ro("_last_id",
                   [](PyGraph& g) { return g.graph->num_node_ids(); })
      .def("_push_control",
           [](PyGraph& g, nb::list operations) {
             ControlFrame frame;
             for (nb::handle o : operations) {
               PyOperation* op = AsOperation(o);
               if (op == nullptr || op->core != &g) {
                 RaiseValueError(
                     "a control input is not an operation of this graph");
               }
               frame.nodes.push_back(op->node);
             }
             g.control_frames.push_back(std::move(frame));
           })
      .def("_pop_control",
           [](PyGraph& g) {
             if (!g.control_frames.empty()) g.control_frames.pop_back();
           })
      // Takes all frames away, and puts them back.
      .def("_suspend_control",
           [](PyGraph& g) {
             auto* frames = new std::vector<ControlFrame>;
             frames->swap(g.control_frames);
             return nb::capsule(frames, [](void* p) noexcept {
               delete static_cast<std::vector<ControlFrame>*>(p);
             });
           })
      .def("_resume_control",
           [](PyGraph& g, nb::capsule c) {
             g.control_frames.swap(
                 *static_cast<std::vector<ControlFrame>*>(c.data()));
           })
      .def("_push_class",
           [](PyGraph& g, const std::vector<std::string>& groups) {
             g.extra_attrs.emplace_back("_class", groups);
           })
      .def("_pop_class",
           [](PyGraph& g) {
             if (!g.extra_attrs.empty()) g.extra_attrs.pop_back();
           })
      // The values as they were, by op.
      .def("_set_attrs_by_op",
           [](PyGraph& g, const std::string& attr, nb::dict values) {
             nb::dict old;
             for (const auto& [op, value] : g.attrs_by_op[attr]) {
               old[nb::str(op.c_str())] = nb::str(value.c_str());
             }
             g.attrs_by_op.erase(attr);
             for (auto [op, value] : values) {
               g.attrs_by_op[attr][ToString(op, "an op")] =
                   ToString(value, "a value");
             }
             return old;
           })
      .def("_operation",
           [](nb::handle self, const std::string& name) -> nb::object {
             PyGraph* g = CoreOf(self);
             Node* n = g->graph->FindNode(name);
             return n == nullptr ? nb::none() : OperationObject(self, g, n);
           })
      .def("_operation_by_id",
           [](nb::handle self, int id) -> nb::object {
             PyGraph* g = CoreOf(self);
             if (id < 0 || id >= g->graph->num_node_ids()) return nb::none();
             Node* n = g->graph->node(id);
             return n == nullptr ? nb::none() : OperationObject(self, g, n);
           })
      .def("get_operations",
           [](nb::handle self) {
             PyGraph* g = CoreOf(self);
             nb::list out;
             g->graph->ForEachNode(
                 [&](Node* n) { out.append(OperationObject(self, g, n)); });
             return out;
           })
      .def("_graph_def",
           [](PyGraph& g) {
             pb::GraphDef* message = nullptr;
             nb::object o = NewMessage(&message);
             GraphToGraphDef(*g.graph, message);
             return o;
           })
      .def("_create_op", &CreateOp)
      .def("_import_graph_def",
           [](nb::handle self, nb::handle message, const std::string& prefix,
              nb::list input_map, const std::vector<std::string>& returns) {
             std::vector<std::pair<std::string, Endpoint>> map;
             for (nb::handle item : input_map) {
               const auto name = nb::cast<std::string>(nb::object(item[0]));
               nb::object to = item[1];
               if (PyTensor* t = AsTensor(to)) {
                 map.emplace_back(name, t->endpoint());
               } else if (PyOperation* o = AsOperation(to)) {
                 map.emplace_back(name, Endpoint{o->node, kControlSlot});
               }
             }
             return ImportGraph(self, message, prefix, map, returns);
           })
      .def(
          "_constant",
          [](nb::handle self, nb::handle value, nb::handle dtype,
             const std::string& name) {
            const DataType t = dtype.is_none() ? DT_INVALID : ToDataType(dtype);
            return AddConstant(self, CoreOf(self),
                               ToTensor(value, t, Sharing::kCopy), name);
          },
          nb::arg("value").none(), nb::arg("dtype").none(), nb::arg("name"));
}

}  // namespace headrace::python
