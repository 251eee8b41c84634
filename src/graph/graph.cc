// Graph: adding a node checks it completely before anything is changed, so that
// an error leaves the graph as it was. The common ops never reach the general
// shape inference: see graph/infer.cc.
#include "headrace/graph.h"

#include <algorithm>
#include <new>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "base/fork.h"
#include "base/require_memory.h"
#include "framework/op/open_attrs.h"
#include "graph/function_library.h"
#include "graph/infer.h"

namespace headrace {
namespace {

// Removes the edge that stands at `at`; `place` is where each edge notes that.
template <typename Edges>
void EraseEdge(Edges* edges, uint32_t at, uint32_t Edge::*place) {
  constexpr size_t kFew = 16;
  const auto put = [&](size_t to, const Edge* e) {
    (*edges)[to] = e;
    const_cast<Edge*>(e)->*place = static_cast<uint32_t>(to);
  };
  if (edges->size() > kFew) {
    put(at, edges->back());
  } else {
    for (size_t i = at; i + 1 < edges->size(); ++i) put(i, (*edges)[i + 1]);
  }
  edges->pop_back();
}

}  // namespace

const std::vector<DtypeAndShape>& Node::output_handle(int i) const {
  static const auto* const kNone = new std::vector<DtypeAndShape>();
  return static_cast<size_t>(i) < handles_.size() ? handles_[i] : *kNone;
}

Graph::Graph() {
  versions_.producer = kGraphDefProducer;
  // So that a child of fork() can add nodes and create its own session.
  HoldDuringFork(&mu_);
}
Graph::~Graph() { ReleaseFromFork(&mu_); }

Status Graph::CheckNewName(absl::string_view name, bool any) const {
  if (!any && !IsValidNodeName(name)) {
    return errors::InvalidArgument(
        "Node name '", name,
        "' is not valid: wanted letters, digits and _.-/ after a letter, a "
        "digit or a dot");
  }
  if (by_name_.contains(name)) {
    return errors::InvalidArgument("Duplicate node name in graph: '", name,
                                   "': node '", name, "' is not unique");
  }
  return OkStatus();
}

Status Graph::CheckNames() const {
  if (malformed_ == nullptr) return OkStatus();
  return errors::InvalidArgument("Node '", malformed_->name(),
                                 "': Node name contains invalid characters");
}

Status Graph::LookUpOp(absl::string_view op, const OpDef** def) const {
  // A function of the graph goes before an op: its body is what was meant.
  if (functions_ != nullptr) {
    *def = functions_->FindOpDef(op);
    if (*def != nullptr) return OkStatus();
  }
  HR_RETURN_IF_ERROR(OpRegistry::Global()->LookUp(op, def));
  if ((*def)->deprecated_at > 0 &&
      versions_.producer >= (*def)->deprecated_at) {
    return errors::Unimplemented(
        "Op ", op, " is not available in GraphDef version ", versions_.producer,
        ". It has been removed in version ", (*def)->deprecated_at, ". ",
        (*def)->deprecation, ".");
  }
  return OkStatus();
}

void Graph::Reserve(int n) {
  nodes_.reserve(nodes_.size() + n);
  by_name_.reserve(by_name_.size() + n);
}

Node* Graph::NewNode(std::shared_ptr<const NodeDef> def, const OpDef* op_def,
                     DataTypeVector inputs, DataTypeVector outputs) {
  if (node_chunks_.empty() ||
      node_chunks_.back().size() == node_chunks_.back().capacity()) {
    node_chunks_.emplace_back().reserve(
        std::clamp<size_t>(nodes_.size(), 8, 128));
  }
  Node* const n = &node_chunks_.back().emplace_back();
  n->id_ = static_cast<int>(nodes_.size());
  n->def_ = std::move(def);
  n->op_def_ = op_def;
  n->class_ = op_def->traits->op_class;
  n->input_types_ = std::move(inputs);
  n->output_types_ = std::move(outputs);
  n->inputs_.resize(n->input_types_.size());
  n->shapes_.resize(n->output_types_.size());
  nodes_.push_back(n);
  try {
    by_name_.emplace(n->def_->name, n);
  } catch (const std::bad_alloc&) {
    nodes_.pop_back();  // as if it had not been made
    throw;
  }
  ++num_nodes_;
  return n;
}

Edge* Graph::NewEdge(Node* src, int src_output, Node* dst, int dst_input) {
  Edge* e;
  if (free_edges_.empty()) {
    e = &edge_storage_.emplace_back();
  } else {
    e = free_edges_.back();
    free_edges_.pop_back();
  }
  e->src_ = src;
  e->dst_ = dst;
  e->src_output_ = src_output;
  e->dst_input_ = dst_input;
  e->out_at_ = static_cast<uint32_t>(src->out_edges_.size());
  src->out_edges_.push_back(e);
  if (dst_input == kControlSlot) {
    e->control_at_ = static_cast<uint32_t>(dst->control_inputs_.size());
    try {
      dst->control_inputs_.push_back(e);
    } catch (const std::bad_alloc&) {
      src->out_edges_.pop_back();
      throw;
    }
  } else {
    dst->inputs_[dst_input] = e;
  }
  return e;
}

StatusOr<Node*> Graph::AddNode(NodeDef def, absl::Span<const Endpoint> inputs,
                               absl::Span<Node* const> control_inputs,
                               absl::Span<const int> arg_sizes) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  HR_RETURN_IF_ERROR(CheckNewName(def.name, takes_any_name_));
  const OpDef* op_def;
  if (Status s = LookUpOp(def.op, &op_def); !s.ok()) {
    return Annotate(s, StrCat(" ", NodeErrorSuffix(def)));
  }
  def.inputs.clear();

  // Every problem of inputs and attrs goes into one message.
  std::string problems;
  const auto add = [&problems](absl::string_view what) {
    StrAppend(&problems, problems.empty() ? "" : "; ", what);
  };
  DataTypeVector given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Endpoint& e = inputs[i];
    if (e.node == nullptr || e.index < 0 || e.index >= e.node->num_outputs()) {
      return errors::InvalidArgument(
          "input ", i, " is output ", e.index, " of ",
          e.node == nullptr ? std::string("no node")
                            : StrCat("node '", e.node->name(), "', which has ",
                                     e.node->num_outputs(), " outputs"),
          " ", NodeErrorSuffix(def));
    }
    given.push_back(e.node->output_type(e.index));
  }
  for (Node* c : control_inputs) {
    if (c == nullptr) {
      return errors::InvalidArgument("a control input is no node ",
                                     NodeErrorSuffix(def));
    }
  }
  if (Status s = InferAttrsFromInputs(*op_def, given, arg_sizes, &def.attrs);
      !s.ok()) {
    add(s.message());
  }
  AddDefaultAttrs(*op_def, &def.attrs);
  // A graph of the C API may be the body of a function to be.
  const bool open = takes_any_name_ && HasPlaceholder(def.attrs);
  const auto types = open ? InOutTypesWithPlaceholders : InOutTypes;
  DataTypeVector in_types, out_types;
  if (Status s = types(*op_def, def.attrs, &in_types, &out_types); !s.ok()) {
    add(s.message());
  } else if (Status s = CheckInputTypes(*op_def, def.attrs, given, in_types);
             !s.ok()) {
    add(s.message());
  }
  if (!problems.empty()) {
    return errors::InvalidArgument(problems, " ", NodeErrorSuffix(def));
  }

  InferredShapes inferred;
  HR_RETURN_IF_ERROR(InferNodeShapes(
      *op_def, def, inputs, static_cast<int>(out_types.size()), &inferred));

  Node* const n = NewNode(std::make_shared<const NodeDef>(std::move(def)),
                          op_def, std::move(in_types), std::move(out_types));
  n->shapes_ = std::move(inferred.shapes);
  n->handles_ = std::move(inferred.handles);
  try {
    for (size_t i = 0; i < inputs.size(); ++i) {
      NewEdge(inputs[i].node, inputs[i].index, n, static_cast<int>(i));
    }
    for (Node* c : control_inputs) AddControlEdge(c, n);
  } catch (const std::bad_alloc&) {
    RemoveNode(n);
    throw;
  }
  if (takes_any_name_ && malformed_ == nullptr && !IsValidNodeName(n->name()))
      [[unlikely]] {
    malformed_ = n;
  }
  return n;
}

StatusOr<Node*> Graph::AddUnconnectedNode(NodeDef def) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  HR_RETURN_IF_ERROR(CheckNewName(def.name, /*any=*/false));
  const OpDef* op_def;
  DataTypeVector in_types, out_types;
  Status s = LookUpOp(def.op, &op_def);
  if (s.ok()) {
    AddDefaultAttrs(*op_def, &def.attrs);
    s = InOutTypes(*op_def, def.attrs, &in_types, &out_types);
  }
  if (!s.ok()) return Annotate(s, StrCat(" ", NodeErrorSuffix(def)));
  def.inputs.clear();
  return NewNode(std::make_shared<const NodeDef>(std::move(def)), op_def,
                 std::move(in_types), std::move(out_types));
}

Node* Graph::CopyNode(const Node& from) {
  Node* const n =
      NewNode(from.def_, from.op_def_, from.input_types_, from.output_types_);
  n->shapes_ = from.shapes_;
  n->handles_ = from.handles_;
  n->assigned_device_ = from.assigned_device_;
  n->placement_reason_ = from.placement_reason_;
  return n;
}

Status Graph::AddEdge(Endpoint src, Node* dst, int dst_input) {
  if (src.index < 0 || src.index >= src.node->num_outputs()) {
    return errors::InvalidArgument("Node '", dst->name(),
                                   "': Connecting to "
                                   "invalid output ",
                                   src.index, " of source node ",
                                   src.node->name(), " which has ",
                                   src.node->num_outputs(), " outputs.");
  }
  if (dst_input < 0 || dst_input >= dst->num_inputs()) {
    return errors::InvalidArgument("Node '", dst->name(), "' has ",
                                   dst->num_inputs(), " inputs, no input ",
                                   dst_input);
  }
  if (dst->inputs_[dst_input] != nullptr) {
    return errors::InvalidArgument("Input ", dst_input, " of node '",
                                   dst->name(), "' is connected already");
  }
  const DataType got = src.node->output_type(src.index);
  const DataType wanted = dst->input_type(dst_input);
  if (!TypesCompatible(wanted, got)) {
    return errors::InvalidArgument(
        "Input ", dst_input, " of node ", dst->name(), " was passed ",
        DataTypeString(got), " from ", src.node->name(), ":", src.index,
        " incompatible with expected ", DataTypeString(wanted), ".");
  }
  NewEdge(src.node, src.index, dst, dst_input);
  return OkStatus();
}

void Graph::AddControlEdge(Node* src, Node* dst) {
  // Looks where there is less to look through: a node may have very many
  // control inputs (an init op) or very many consumers.
  const auto exists = [](const auto& edges, const auto& is) {
    return std::any_of(edges.begin(), edges.end(), is);
  };
  const bool found =
      src->out_edges_.size() < dst->control_inputs_.size()
          ? exists(src->out_edges_,
                   [dst](const Edge* e) {
                     return e->IsControlEdge() && e->dst() == dst;
                   })
          : exists(dst->control_inputs_,
                   [src](const Edge* e) { return e->src() == src; });
  if (!found) NewEdge(src, kControlSlot, dst, kControlSlot);
}

// Removes `e` from its source's edges and frees its memory.
void Graph::TakeOut(const Edge* e) {
  EraseEdge(&e->src_->out_edges_, e->out_at_, &Edge::out_at_);
  free_edges_.push_back(const_cast<Edge*>(e));
}

void Graph::RemoveEdge(const Edge* e) {
  TakeOut(e);
  if (e->IsControlEdge()) {
    EraseEdge(&e->dst_->control_inputs_, e->control_at_, &Edge::control_at_);
  } else {
    e->dst_->inputs_[e->dst_input_] = nullptr;
  }
}

void Graph::RemoveNode(Node* n) {
  if (n == malformed_) malformed_ = nullptr;
  while (!n->out_edges_.empty()) RemoveEdge(n->out_edges_.back());
  for (const Edge* e : n->inputs_) {
    if (e != nullptr) RemoveEdge(e);
  }
  while (!n->control_inputs_.empty()) RemoveEdge(n->control_inputs_.back());
  by_name_.erase(n->def_->name);
  nodes_[n->id_] = nullptr;
  --num_nodes_;
  // Its memory stays, what it holds does not.
  n->def_ = nullptr;
  n->handles_.clear();
}

Status Graph::ReplaceInput(Node* dst, int i, Endpoint src) {
  if (i < 0 || i >= dst->num_inputs()) {
    return errors::InvalidArgument("Node '", dst->name(), "' has ",
                                   dst->num_inputs(), " inputs, no input ", i);
  }
  const Edge* const old = dst->inputs_[i];
  dst->inputs_[i] = nullptr;
  if (Status s = AddEdge(src, dst, i); !s.ok()) {
    dst->inputs_[i] = old;
    return s;
  }
  if (old != nullptr) TakeOut(old);
  return OkStatus();
}

NodeDef* Graph::MutableDef(Node* n) {
  // A sole owner may write: def_ is const only to everybody else.
  if (n->def_.use_count() != 1) {
    by_name_.erase(n->def_->name);
    n->def_ = std::make_shared<const NodeDef>(*n->def_);
    by_name_.emplace(n->def_->name, n);
  }
  return const_cast<NodeDef*>(n->def_.get());
}

void Graph::SetNodeAttr(Node* n, absl::string_view name, AttrValue v) {
  MutableDef(n)->attrs.Set(name, std::move(v));
}

bool Graph::ClearNodeAttr(Node* n, absl::string_view name) {
  return n->attrs().Find(name) != nullptr && MutableDef(n)->attrs.Erase(name);
}

void Graph::SetOutputHandle(Node* n, int i, std::vector<DtypeAndShape> handle) {
  if (n->handles_.size() <= static_cast<size_t>(i)) {
    n->handles_.resize(n->output_types_.size());
  }
  n->handles_[i] = std::move(handle);
}

void Graph::SetRequestedDevice(Node* n, std::string device) {
  MutableDef(n)->device = std::move(device);
}

Status Graph::InferShapes(Node* n) {
  absl::InlinedVector<Endpoint, 4> inputs;
  for (const Edge* e : n->inputs_) {
    inputs.push_back(e == nullptr ? Endpoint{}
                                  : Endpoint{e->src(), e->src_output()});
  }
  InferredShapes inferred;
  HR_RETURN_IF_ERROR(InferNodeShapes(*n->op_def_, *n->def_, inputs,
                                     n->num_outputs(), &inferred));
  n->shapes_ = std::move(inferred.shapes);
  n->handles_ = std::move(inferred.handles);
  return OkStatus();
}

Node* Graph::FindNode(absl::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::string Graph::UniqueName(absl::string_view prefix) {
  if (!by_name_.contains(prefix)) return std::string(prefix);
  int& counter = name_counters_[prefix];
  while (true) {
    std::string name = StrCat(prefix, "_", ++counter);
    if (!by_name_.contains(name)) return name;
  }
}

std::string EndpointName(const Endpoint& e) {
  return e.index == kControlSlot ? StrCat("^", e.node->name())
                                 : StrCat(e.node->name(), ":", e.index);
}

Status ParseEndpointName(absl::string_view s, absl::string_view* node,
                         int* index) {
  const absl::string_view whole = s;
  *index = 0;
  const bool control = !s.empty() && s[0] == '^';
  if (control) s.remove_prefix(1);
  const size_t colon = s.rfind(':');
  bool ok = true;
  if (colon != absl::string_view::npos) {
    const absl::string_view digits = s.substr(colon + 1);
    ok = !control && !digits.empty() &&
         std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(digits, index);
    s = s.substr(0, colon);
  }
  if (!ok || s.empty() || s.find(':') != absl::string_view::npos ||
      s[0] == '^') {
    return errors::InvalidArgument("Malformed tensor name '", whole,
                                   "'; wanted 'node', 'node:output' or "
                                   "'^node'");
  }
  if (control) *index = kControlSlot;
  *node = s;
  return OkStatus();
}

Status ParseEndpointName(absl::string_view s, std::string* node, int* index) {
  absl::string_view view;
  HR_RETURN_IF_ERROR(ParseEndpointName(s, &view, index));
  node->assign(view.data(), view.size());
  return OkStatus();
}

bool IsValidNodeName(absl::string_view name, bool allow_internal) {
  if (name.empty()) return false;
  const auto begins = [&](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || (allow_internal && c == '_');
  };
  const auto goes_on = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-' ||
           c == '/' || c == '\\' || c == '>';
  };
  return begins(name[0]) && std::all_of(name.begin() + 1, name.end(), goes_on);
}

}  // namespace headrace
