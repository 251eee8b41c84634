// The Python side of a graph: Graph, Operation and Tensor objects over
// headrace::Graph. An Operation keeps its graph alive, and a Tensor keeps its
// operation alive. The references in the other direction are weak, so unused
// objects are freed at once. At any time a node has at most one Operation and
// an output at most one Tensor.
//
// Call everything here with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_PY_GRAPH_H_
#define HEADRACE_PYTHON_EXT_PY_GRAPH_H_

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "headrace/graph.h"

namespace headrace::python {

namespace nb = nanobind;

struct PyOperation;
struct PyTensor;

// One `with control_dependencies(...)`: the nodes that new nodes wait for, and
// the nodes created inside it. A consumer of the latter already waits.
struct ControlFrame {
  std::vector<Node*> nodes;
  absl::flat_hash_set<const Node*> made_inside;
};

// The base class of headrace.Graph, which adds the public methods.
struct PyGraph {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  bool finalized = false;

  // Scopes. As in TensorFlow, names that differ only in case collide.
  // "a/b", or "". Each thread has its own.
  std::string& name_scope() {
    const std::thread::id self = std::this_thread::get_id();
    return self == maker ? name_scope_of_maker : name_scopes[self];
  }
  const std::thread::id maker = std::this_thread::get_id();
  std::string name_scope_of_maker;
  std::unordered_map<std::thread::id, std::string> name_scopes;
  absl::flat_hash_map<std::string, int> names_in_use;
  std::vector<ControlFrame> control_frames;
  // All string device scopes, merged; inner scopes win. Device functions, if
  // there are any, see each operation after it is created.
  std::string device;
  bool has_device_functions = false;
  std::vector<std::string> colocation;  // "loc:@name"
  // The device of the nodes that new nodes are colocated with. If set, it
  // overrides every other device.
  std::string colocated_device;
  std::vector<PyObject*> operations;  // by node id; borrowed, may be null
  std::vector<std::pair<std::string, AttrValue>> extra_attrs;  // of all nodes
  // Attr -> op -> the attr's value for new nodes of that op:
  // "_gradient_op_type", the op whose gradient they have instead, and
  // "_kernel", the label of their kernel.
  std::map<std::string, absl::flat_hash_map<std::string, std::string>>
      attrs_by_op;
  // The innermost branch or loop that new nodes belong to. It converts their
  // inputs (headrace.control_flow). None outside branches and loops.
  nb::object flow_context;
  // True for the body of a function that is being traced. Inputs from other
  // graphs become arguments (headrace.func_graph).
  bool captures = false;
  // While this is the default graph, ops are executed, and no node is added
  // (py_eager.h).
  bool eager = false;
  // Ids of nodes in branches and loops. Runs can neither feed nor fetch them.
  absl::flat_hash_set<int> internal;
  // Ids of nodes whose outputs belong to a loop. Only nodes in that loop, or in
  // loops and branches inside it, may use them.
  absl::flat_hash_set<int> in_loop;
  // Outputs (node id, index) that runs may not feed.
  absl::flat_hash_set<std::pair<int, int>> unfeedable;
  std::string container;  // default container for new stateful nodes

  // `name` in the current scope; with a number if that name is taken.
  std::string UniqueName(const std::string& name, bool mark_as_used = true);
  // The name of a new node: unique, or taken literally if it ends in "/".
  std::string NodeName(const std::string& name);
};

struct PyOperation {
  nb::object graph;  // a headrace.Graph
  PyGraph* core = nullptr;
  Node* node = nullptr;
  // The Tensors of the outputs. Borrowed; null until first used.
  absl::InlinedVector<PyObject*, 2> outputs;

  ~PyOperation();
};

struct PyTensor {
  nb::object operation;
  PyOperation* op = nullptr;
  int index = 0;

  Endpoint endpoint() const { return {op->node, index}; }
  DataType dtype() const { return op->node->output_type(index); }
  ~PyTensor();
};

// "loc:@name" for each node that `n` is colocated with. If there is none, the
// name of `n`.
std::vector<std::string> ColocationGroups(const Node& n);

nb::object OperationObject(nb::handle graph, PyGraph* core, Node* node);
nb::object TensorObject(nb::handle operation, int index);
nb::object TensorObject(nb::handle graph, PyGraph* core, const Endpoint& e);

// Null if `o` is no such object. Never raises.
PyTensor* AsTensor(nb::handle o);
PyOperation* AsOperation(nb::handle o);

// Adds a node under the graph's scopes: with control inputs, device, colocation
// and the user's source line. Raises ValueError if the graph refuses the node.
Node* AddNode(nb::handle graph, PyGraph* core, NodeDef def,
              absl::Span<const Endpoint> inputs,
              absl::Span<const int> arg_sizes = {});
// Adds a Const node. `name` as for NodeName.
nb::object AddConstant(nb::handle graph, PyGraph* core, Tensor value,
                       const std::string& name);

// The graph for new nodes: the innermost as_default() of this thread, else the
// global default graph. In a program that executes eagerly, else the thread's
// eager graph.
nb::object DefaultGraph();
void PushDefaultGraph(nb::handle graph);  // borrowed until it is popped
void PopDefaultGraph();

void RegisterGraph(nb::module_& m);
void RegisterOpFunction(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_GRAPH_H_
