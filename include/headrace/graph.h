// Graph: nodes and edges. Clients build graphs and passes rewrite them. AddNode
// checks every node: the op is known, the attrs are valid, the input types fit,
// and shape inference succeeds. A node keeps its id for ever. The id of a
// removed node is not used again.
//
// The graph owns its nodes and edges. Pointers to them stay valid until they
// are removed.
//
// Thread-compatible. A graph that a client shares with sessions has its own
// mutex, mu(). Hold it to add nodes. A session holds it while it copies the
// nodes that it needs.
#ifndef HEADRACE_GRAPH_H_
#define HEADRACE_GRAPH_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "headrace/mutex.h"
#include "headrace/node_def.h"
#include "headrace/op.h"
#include "headrace/resource_handle.h"
#include "headrace/version.h"

namespace headrace {

class Edge;
class Graph;
class FunctionLibrary;  // graph/function_library.h

constexpr int kControlSlot = -1;

class Node {
 public:
  int id() const { return id_; }
  const std::string& name() const { return def_->name; }
  const std::string& type_string() const { return def_->op; }
  // The def's `inputs` are empty: the edges hold them.
  const NodeDef& def() const { return *def_; }
  const std::shared_ptr<const NodeDef>& shared_def() const { return def_; }
  const AttrMap& attrs() const { return def_->attrs; }
  const OpDef& op_def() const { return *op_def_; }

  int num_inputs() const { return static_cast<int>(input_types_.size()); }
  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType input_type(int i) const { return input_types_[i]; }
  DataType output_type(int i) const { return output_types_[i]; }
  const DataTypeVector& input_types() const { return input_types_; }
  const DataTypeVector& output_types() const { return output_types_; }

  // Data edges by input index. While a graph is rewritten or imported, an input
  // may be unconnected; its entry is then null.
  const Edge* input_edge(int i) const { return inputs_[i]; }
  absl::Span<const Edge* const> data_inputs() const { return inputs_; }
  const absl::InlinedVector<const Edge*, 2>& control_inputs() const {
    return control_inputs_;
  }
  const absl::InlinedVector<const Edge*, 4>& out_edges() const {
    return out_edges_;
  }

  // The static shape of output i, as far as shape inference knows it.
  const PartialTensorShape& output_shape(int i) const { return shapes_[i]; }
  // What the resource handle at output i refers to. Empty if output i is no
  // resource or if nothing is known.
  const std::vector<DtypeAndShape>& output_handle(int i) const;

  // The device that the client asked for (may be empty), and the device that
  // the placer chose.
  const std::string& requested_device() const { return def_->device; }
  const std::string& assigned_device() const { return assigned_device_; }
  void set_assigned_device(std::string d) { assigned_device_ = std::move(d); }
  // Why the placer chose the device: text for people.
  const std::string& placement_reason() const { return placement_reason_; }
  void set_placement_reason(std::string r) { placement_reason_ = std::move(r); }

  // What the op's schema states beyond signature and shapes.
  const OpTraits& traits() const { return *op_def_->traits; }
  Effect effects() const { return EffectsOf(*op_def_); }
  using Class = OpClass;
  Class node_class() const { return class_; }
  bool IsSwitch() const { return class_ == Class::kSwitch; }
  bool IsMerge() const { return class_ == Class::kMerge; }
  bool IsEnter() const { return class_ == Class::kEnter; }
  bool IsExit() const { return class_ == Class::kExit; }
  bool IsNextIteration() const { return class_ == Class::kNextIteration; }
  bool IsLoopCond() const { return class_ == Class::kLoopCond; }
  bool IsConstant() const { return class_ == Class::kConstant; }
  bool IsSend() const { return class_ == Class::kSend; }
  bool IsRecv() const { return class_ == Class::kRecv; }
  bool IsArg() const { return class_ == Class::kArg; }
  bool IsRetval() const { return class_ == Class::kRetval; }
  bool IsIdentity() const { return class_ == Class::kIdentity; }
  bool IsNoOp() const { return class_ == Class::kNoOp; }
  bool IsPlaceholder() const { return class_ == Class::kPlaceholder; }
  bool IsControlFlow() const {
    return class_ >= Class::kSwitch && class_ <= Class::kControlTrigger;
  }

 private:
  friend class Graph;
  int id_ = 0;
  Class class_ = Class::kOther;
  std::shared_ptr<const NodeDef> def_;
  const OpDef* op_def_ = nullptr;
  DataTypeVector input_types_, output_types_;
  absl::InlinedVector<const Edge*, 4> inputs_;
  absl::InlinedVector<const Edge*, 2> control_inputs_;
  absl::InlinedVector<const Edge*, 4> out_edges_;
  absl::InlinedVector<PartialTensorShape, 1> shapes_;
  std::vector<std::vector<DtypeAndShape>> handles_;  // empty: no resource
  std::string assigned_device_, placement_reason_;
};

class Edge {
 public:
  Node* src() const { return src_; }
  Node* dst() const { return dst_; }
  int src_output() const { return src_output_; }  // kControlSlot: control edge
  int dst_input() const { return dst_input_; }
  bool IsControlEdge() const { return src_output_ == kControlSlot; }

 private:
  friend class Graph;
  Node* src_ = nullptr;
  Node* dst_ = nullptr;
  int src_output_ = 0;
  int dst_input_ = 0;
  // This edge's index in src_->out_edges_ and, for a control edge, its index in
  // dst_->control_inputs_.
  uint32_t out_at_ = 0;
  uint32_t control_at_ = 0;
};

// An output of a node.
struct Endpoint {
  Node* node = nullptr;
  int index = 0;
  friend bool operator==(const Endpoint& a, const Endpoint& b) {
    return a.node == b.node && a.index == b.index;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Endpoint& e) {
    return H::combine(std::move(h), e.node, e.index);
  }
};

struct GraphVersions {
  int producer = 0;
  int min_consumer = 0;
  std::vector<int> bad_consumers;
};

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Mutex& mu() const { return mu_; }

  // Adds a node. `inputs` is flat: lists are expanded. Attrs that follow from
  // the inputs (type, N, type list) may be missing; they are inferred. Missing
  // attrs with defaults get them.
  //
  // NotFound if the op is unknown. InvalidArgument, with node and argument, in
  // these cases: the name is taken or malformed; an attr is missing, unknown or
  // does not fit; the number or type of the inputs is wrong; shape inference
  // fails. One message names all problems of attrs and inputs. On error nothing
  // is added.
  //
  // `arg_sizes`, if given, holds the number of inputs of each argument of the
  // op. It is needed only if the total is ambiguous: two list arguments whose
  // attrs are both missing.
  StatusOr<Node*> AddNode(NodeDef def, absl::Span<const Endpoint> inputs,
                          absl::Span<Node* const> control_inputs = {},
                          absl::Span<const int> arg_sizes = {});

  // After this call AddNode accepts malformed names. TensorFlow's C API refuses
  // such a name only when a session runs the graph; CheckNames does so here.
  // It also accepts attrs that are placeholders, for bodies of functions; a run
  // that needs such a node is refused.
  void TakeAnyName() { takes_any_name_ = true; }
  // InvalidArgument for the first malformed name that AddNode accepted.
  Status CheckNames() const;

  // Makes room for `n` more nodes.
  void Reserve(int n);
  // For importers and passes: adds a node without inputs. Connect them with
  // AddEdge, then call InferShapes. Attrs must be complete, except those that
  // have defaults.
  StatusOr<Node*> AddUnconnectedNode(NodeDef def);
  // Copies a node from another graph without its edges. Keeps shapes, device
  // and source line.
  Node* CopyNode(const Node& from);
  // Adds a data edge. InvalidArgument if the types do not fit, an index is out
  // of range, or the input is already connected.
  Status AddEdge(Endpoint src, Node* dst, int dst_input);
  // Does nothing if this control edge exists.
  void AddControlEdge(Node* src, Node* dst);
  // Constant time. In a long list of edges the last edge takes the place of
  // `e`; a short list keeps its order.
  void RemoveEdge(const Edge* e);
  void RemoveNode(Node* n);
  // Connects input `i` of `dst` to `src` instead. All other edges stay.
  Status ReplaceInput(Node* dst, int i, Endpoint src);
  // SetNodeAttr and SetRequestedDevice copy the node's def first if another
  // graph shares it.
  void SetNodeAttr(Node* n, absl::string_view name, AttrValue v);
  // Removes an attr. False if the node has none of that name.
  bool ClearNodeAttr(Node* n, absl::string_view name);
  void SetRequestedDevice(Node* n, std::string device);
  void SetOutputShape(Node* n, int i, PartialTensorShape s) {
    n->shapes_[i] = std::move(s);
  }
  // Sets what the resource handle at output `i` refers to.
  void SetOutputHandle(Node* n, int i, std::vector<DtypeAndShape> handle);
  // Runs the shape function of `n` on the present shapes of its inputs. An
  // unconnected input has an unknown shape. On error the shapes of `n` stay as
  // they were.
  Status InferShapes(Node* n);

  Node* FindNode(absl::string_view name) const;  // null if there is none
  // By id. Null if the node was removed.
  Node* node(int id) const { return nodes_[id]; }
  int num_node_ids() const { return static_cast<int>(nodes_.size()); }
  int num_nodes() const { return num_nodes_; }
  // Calls f(Node*) for every node, in order of id.
  template <typename F>
  void ForEachNode(F f) const {
    for (Node* n : nodes_) {
      if (n != nullptr) f(n);
    }
  }
  // Returns `prefix` if no node has that name, else the first free name of
  // prefix_1, prefix_2, ...
  std::string UniqueName(absl::string_view prefix);

  GraphVersions& versions() { return versions_; }
  const GraphVersions& versions() const { return versions_; }
  // The functions that nodes of this graph may call. Copies of the graph share
  // them.
  FunctionLibrary* functions() const { return functions_.get(); }
  void set_functions(std::shared_ptr<FunctionLibrary> f) {
    functions_ = std::move(f);
  }
  const std::shared_ptr<FunctionLibrary>& shared_functions() const {
    return functions_;
  }

 private:
  NodeDef* MutableDef(Node* n);
  Node* NewNode(std::shared_ptr<const NodeDef> def, const OpDef* op_def,
                DataTypeVector inputs, DataTypeVector outputs);
  Edge* NewEdge(Node* src, int src_output, Node* dst, int dst_input);
  void TakeOut(const Edge* e);
  Status CheckNewName(absl::string_view name, bool any) const;
  Status LookUpOp(absl::string_view op, const OpDef** def) const;

  mutable Mutex mu_;
  GraphVersions versions_;
  std::shared_ptr<FunctionLibrary> functions_;
  // A chunk never grows beyond its capacity, so nodes do not move in memory.
  std::vector<std::vector<Node>> node_chunks_;
  std::deque<Edge> edge_storage_;
  std::vector<Edge*> free_edges_;
  std::vector<Node*> nodes_;  // by id
  int num_nodes_ = 0;
  absl::flat_hash_map<absl::string_view, Node*> by_name_;
  absl::flat_hash_map<std::string, int> name_counters_;
  bool takes_any_name_ = false;
  const Node* malformed_ = nullptr;  // the first whose name is
};

// "a:1"; "^a" for a control slot.
std::string EndpointName(const Endpoint& e);
// Splits "a", "a:1" or "^a" (which gives the index kControlSlot).
// InvalidArgument if malformed.
Status ParseEndpointName(absl::string_view s, std::string* node, int* index);
// The same; `node` points into `s`.
Status ParseEndpointName(absl::string_view s, absl::string_view* node,
                         int* index);
// A valid name starts with a letter, digit or "." and goes on with letters,
// digits and "_.-/\\>". With `allow_internal` it may also start with "_".
bool IsValidNodeName(absl::string_view name, bool allow_internal = true);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_H_
