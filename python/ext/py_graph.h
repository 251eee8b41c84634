// What Python holds of a graph: Graph, Operation and Tensor objects over
// headrace::Graph. An Operation keeps its graph alive and a Tensor its
// operation; the way back is weak, so that objects nobody uses go at once, and
// a node has one Operation and an output one Tensor at any time.
//
// Everything here is called with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_PY_GRAPH_H_
#define HEADRACE_PYTHON_EXT_PY_GRAPH_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "headrace/graph.h"

namespace headrace::python {

namespace nb = nanobind;

struct PyOperation;
struct PyTensor;

// One `with control_dependencies(...)`: what new nodes wait for, and the nodes
// made inside, whose consumers wait already.
struct ControlFrame {
  std::vector<Node*> nodes;
  absl::flat_hash_set<const Node*> made_inside;
};

// The base class of headrace.Graph, which adds what users see.
struct PyGraph {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  bool finalized = false;

  // Scopes. Names are told apart without regard to case, as TensorFlow does.
  std::string name_scope;  // "a/b", or ""
  absl::flat_hash_map<std::string, int> names_in_use;
  std::vector<ControlFrame> control_frames;
  // Every string scope merged, inner parts first. Device functions of Python,
  // if there are any, see each operation once it is made.
  std::string device;
  bool has_device_functions = false;
  std::vector<std::string> colocation;  // "loc:@name"
  // Of what new nodes are colocated with; if there is one, it goes before
  // every other device.
  std::string colocated_device;
  std::vector<PyObject*> operations;  // by node id; borrowed, may be null
  std::vector<std::pair<std::string, AttrValue>> extra_attrs;  // of all nodes
  // The innermost branch or loop that nodes are made in, which turns their
  // inputs into its own (headrace.control_flow); null outside of any.
  nb::object flow_context;
  // The body of a function being traced: what its nodes take from other graphs
  // becomes arguments (headrace.func_graph).
  bool captures = false;
  // Ids of nodes in branches and loops: runs can neither feed nor fetch them.
  absl::flat_hash_set<int> internal;
  // Ids of nodes whose outputs belong to a loop: only nodes in it, or in what
  // lies inside it, may take them.
  absl::flat_hash_set<int> in_loop;
  // Outputs, by node id and index, that runs may not feed.
  absl::flat_hash_set<std::pair<int, int>> unfeedable;
  std::string container;  // of new nodes that keep state, unless they name one

  // `name` under the current scope, with a number if that is taken.
  std::string UniqueName(const std::string& name, bool mark_as_used = true);
  // The name of a new node: unique, or exact where it ends in "/".
  std::string NodeName(const std::string& name);
};

struct PyOperation {
  nb::object graph;  // a headrace.Graph
  PyGraph* core = nullptr;
  Node* node = nullptr;
  // The Tensors of the outputs, borrowed; null until asked for.
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

// "loc:@name" for each node that `n` is colocated with: itself, if no other.
std::vector<std::string> ColocationGroups(const Node& n);

nb::object OperationObject(nb::handle graph, PyGraph* core, Node* node);
nb::object TensorObject(nb::handle operation, int index);
nb::object TensorObject(nb::handle graph, PyGraph* core, const Endpoint& e);

// Null if `o` is none; never raises.
PyTensor* AsTensor(nb::handle o);
PyOperation* AsOperation(nb::handle o);

// Adds a node under the scopes of the graph: control inputs, device,
// colocation and the user's source line. Raises ValueError for what the graph
// refuses.
Node* AddNode(nb::handle graph, PyGraph* core, NodeDef def,
              absl::Span<const Endpoint> inputs,
              absl::Span<const int> arg_sizes = {});
// A Const node, `name` as for NodeName.
nb::object AddConstant(nb::handle graph, PyGraph* core, Tensor value,
                       const std::string& name);

// The graph that new nodes go to: that of the innermost as_default() of this
// thread, or the global one.
nb::object DefaultGraph();
void PushDefaultGraph(nb::handle graph);  // borrowed until it is popped
void PopDefaultGraph();

void RegisterGraph(nb::module_& m);
void RegisterOpFunction(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_PY_GRAPH_H_
