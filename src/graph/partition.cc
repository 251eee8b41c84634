// Splitting a placed graph. Every crossing goes through a pair made once for
// what is sent and where to: a tensor, or the fact that a node has run, which
// travels as an empty tensor.
//
// A loop whose nodes are on several devices runs on each of them, iteration by
// iteration. On a device without the loop's condition a control loop keeps it
// going: Merge(Enter, NextIteration) -> Switch by the condition, which is sent
// over -> NextIteration. Each _Recv of the loop waits for that Merge, and so is
// started once in every iteration; the _Send runs in every iteration too,
// perhaps on a dead value. The Enter of a control loop is driven by the control
// loop of the loop around it, or by a constant at the top.
#include "graph/partition.h"

#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "graph/control_flow.h"

namespace headrace {
namespace {

// If an input of `n` comes from the other memory of its device.
bool CrossesMemory(const PartitionOptions& options, const Node& n) {
  if (!options.memory_of) return false;
  for (const Edge* e : n.data_inputs()) {
    if (e != nullptr &&
        options.memory_of(*e->src(), e->src()->assigned_device(), true,
                          e->src_output()) !=
            options.memory_of(n, n.assigned_device(), false, e->dst_input())) {
      return true;
    }
  }
  return false;
}

class Partitioner {
 public:
  Partitioner(const PartitionOptions& options, const Graph& graph,
              std::map<std::string, std::unique_ptr<Graph>>* parts)
      : options_(options),
        graph_(graph),
        parts_(parts),
        device_(graph.num_node_ids()),
        copies_(graph.num_node_ids()) {}

  Status Run() {
    parts_->clear();
    HR_RETURN_IF_ERROR(Place());
    CopyNodes();
    Status s = MakeControlLoops();
    graph_.ForEachNode([&](Node* n) {
      for (const Edge* e : n->data_inputs()) {
        if (s.ok() && e != nullptr) s = ConnectData(*e);
      }
      for (const Edge* e : n->control_inputs()) {
        if (s.ok()) s = ConnectControl(*e);
      }
    });
    if (!s.ok()) parts_->clear();
    return s;
  }

 private:
  // An edge's source, and the part and the memory that it crosses to.
  using Crossing = std::tuple<Endpoint, std::string, MemoryType>;

  const std::string& DeviceOf(const Node* n) const { return *device_[n->id()]; }
  const std::string& PartOf(const std::string& device) {
    if (!options_.part_of) return device;
    std::string& part = part_of_[device];
    if (part.empty()) part = options_.part_of(device);
    return part;
  }
  bool Together(const std::string& a, const std::string& b) {
    return a == b || PartOf(a) == PartOf(b);
  }
  MemoryType MemoryOf(const Node& n, const std::string& device, bool is_output,
                      int index) const {
    return options_.memory_of ? options_.memory_of(n, device, is_output, index)
                              : DEVICE_MEMORY;
  }
  // Of a tensor of graph_.
  MemoryType MemoryOf(const Endpoint& value) const {
    return MemoryOf(*value.node, DeviceOf(value.node), true, value.index);
  }
  Graph* Part(const std::string& device) {
    return (*parts_)[PartOf(device)].get();
  }

  // Notes where every node goes, and analyses the loops if they may cross.
  Status Place() {
    Status s;
    const Node* first = nullptr;
    bool crosses = false, control_flow = false;
    graph_.ForEachNode([&](Node* n) {
      if (n->assigned_device().empty() && s.ok()) {
        s = errors::Internal("Node '", n->name(), "' has no device");
      }
      device_[n->id()] = &n->assigned_device();
      if (first == nullptr) first = n;
      crosses |= !Together(n->assigned_device(), first->assigned_device());
      control_flow |= n->IsControlFlow();
    });
    HR_RETURN_IF_ERROR(s);
    if (!control_flow) return OkStatus();
    graph_.ForEachNode([&](const Node* n) {
      crosses = crosses || CrossesMemory(options_, *n);
    });
    if (!crosses) return OkStatus();
    HR_RETURN_IF_ERROR(AnalyzeControlFlow(graph_, &flow_));
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(graph_, &order));
    for (const Node* n : order) MoveToNeighbour(n);
    FindFirstIterationOnly(order);
    return OkStatus();
  }

  // These only pass values on: less crosses if they are with their neighbours.
  void MoveToNeighbour(const Node* n) {
    if (n->IsSwitch() || n->IsExit()) {
      if (const Edge* e = n->input_edge(0)) {
        device_[n->id()] = device_[e->src()->id()];
      }
    } else if ((n->IsEnter() && !IsRefType(n->output_type(0))) ||
               n->IsNextIteration()) {
      for (const Edge* e : n->out_edges()) {
        if (e->IsControlEdge()) continue;
        device_[n->id()] = device_[e->dst()->id()];
        return;
      }
    }
  }

  // Nodes that depend on an Enter or NextIteration, but not on a Merge, have no
  // value in some iterations.
  void FindFirstIterationOnly(const std::vector<Node*>& order) {
    irregular_.resize(graph_.num_node_ids());
    for (const Node* n : order) {
      bool some = false, all = true;
      const auto look = [&](const Edge* e) {
        if (e == nullptr) return;
        some |= irregular_[e->src()->id()];
        all &= irregular_[e->src()->id()] && !e->src()->IsNextIteration();
      };
      for (const Edge* e : n->data_inputs()) look(e);
      for (const Edge* e : n->control_inputs()) look(e);
      irregular_[n->id()] =
          n->IsNextIteration() || (n->IsEnter() && !IsConstantEnter(*n)) ||
          (!n->IsExit() && (n->IsMerge() ? some && all : some));
    }
  }

  void CopyNodes() {
    graph_.ForEachNode([&](Node* n) {
      const std::string& device = DeviceOf(n);
      std::unique_ptr<Graph>& part = (*parts_)[PartOf(device)];
      if (part == nullptr) {
        part = std::make_unique<Graph>();
        part->versions() = graph_.versions();
        part->set_functions(graph_.shared_functions());
      }
      Node* const copy = part->CopyNode(*n);
      copies_[n->id()] = copy;
      if (copy->assigned_device() != device) {
        copy->set_placement_reason(
            StrCat("beside its neighbour, not on ", copy->assigned_device()));
        copy->set_assigned_device(device);
      }
    });
  }

  // The control loop of each loop on each of its devices. Where the condition
  // is, it is made only for a _Recv that needs it.
  Status MakeControlLoops() {
    const size_t num_frames = flow_.frames.size();
    if (num_frames <= 1) return OkStatus();
    conditions_.resize(num_frames);
    second_conditions_.resize(num_frames);
    // By frame, its parts, each with one of its devices there.
    std::vector<std::map<std::string, std::string>> devices(num_frames);
    graph_.ForEachNode([&](Node* n) {
      const int frame = flow_.runs_in[n->id()];
      devices[frame].emplace(PartOf(DeviceOf(n)), DeviceOf(n));
      if (!n->IsLoopCond()) return;
      const Node*& first = conditions_[frame];
      (first == nullptr ? first : second_conditions_[frame]) = n;
    });
    // A loop is in the frame list behind the one around it.
    for (size_t f = num_frames - 1; f > 0; --f) {
      devices[flow_.frames[f].parent].insert(devices[f].begin(),
                                             devices[f].end());
    }
    for (size_t f = 1; f < num_frames; ++f) {
      if (devices[f].size() <= 1) continue;
      for (const auto& [part, device] : devices[f]) {
        const Node* const condition = conditions_[f];
        if (condition != nullptr && Together(DeviceOf(condition), device)) {
          continue;
        }
        HR_RETURN_IF_ERROR(ControlLoop(static_cast<int>(f), device).status());
      }
    }
    return OkStatus();
  }

  // Its Merge.
  StatusOr<Node*> ControlLoop(int f, const std::string& device) {
    if (Node* made = control_loops_[{f, PartOf(device)}]) return made;
    const LoopFrame& frame = flow_.frames[f];
    const Node* const condition = conditions_[f];
    if (condition == nullptr) {
      return errors::InvalidArgument(
          "A cross-device loop must have a pivot predicate: loop '", frame.name,
          "' has nodes on ", device, " and elsewhere, and no LoopCond");
    }
    if (const Node* const second = second_conditions_[f]) {
      return errors::InvalidArgument(
          "Invalid loop structure: loop '", frame.name, "' has nodes on ",
          device, " and elsewhere, and more than one LoopCond: ",
          NodeErrorSuffix(condition->def()), " and ",
          NodeErrorSuffix(second->def()));
    }
    Graph* const part = Part(device);
    Endpoint start;
    if (frame.parent != 0) {
      HR_ASSIGN_OR_RETURN(start.node, ControlLoop(frame.parent, device));
    } else {
      HR_ASSIGN_OR_RETURN(start.node, AddToken(*condition, device));
    }
    const auto add = [&](const char* op, AttrMap attrs) {
      NodeDef def;
      def.op = op;
      def.attrs = std::move(attrs);
      def.attrs.Set("T", DT_FLOAT);
      return Add(std::move(def), *condition, device, TensorShape({0}),
                 "_cloop");
    };
    HR_ASSIGN_OR_RETURN(
        Node * enter,
        add("Enter", {{"frame_name", frame.name},
                      {"is_constant", false},
                      {"parallel_iterations", frame.parallel_iterations}}));
    HR_ASSIGN_OR_RETURN(Node * merge, add("Merge", {{"N", int64_t{2}}}));
    HR_ASSIGN_OR_RETURN(Node * split, add("Switch", {}));
    HR_ASSIGN_OR_RETURN(Node * next, add("NextIteration", {}));
    control_loops_[{f, PartOf(device)}] = merge;
    HR_RETURN_IF_ERROR(part->AddEdge(start, enter, 0));
    HR_RETURN_IF_ERROR(part->AddEdge({enter, 0}, merge, 0));
    HR_RETURN_IF_ERROR(part->AddEdge({next, 0}, merge, 1));
    HR_RETURN_IF_ERROR(part->AddEdge({merge, 0}, split, 0));
    HR_ASSIGN_OR_RETURN(Endpoint goes_on,
                        Bring({const_cast<Node*>(condition), 0}, device,
                              MemoryOf(*split, device, false, 1)));
    HR_RETURN_IF_ERROR(part->AddEdge(goes_on, split, 1));
    HR_RETURN_IF_ERROR(part->AddEdge({split, 1}, next, 0));
    return merge;
  }

  Status ConnectData(const Edge& e) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    const std::string& device = DeviceOf(e.dst());
    if (!Together(DeviceOf(e.src()), device) &&
        IsRefType(e.dst()->input_type(e.dst_input()))) {
      return errors::InvalidArgument(
          "Node '", e.dst()->name(), "' on ", device, " takes a reference of '",
          e.src()->name(), "' on ", DeviceOf(e.src()),
          "; a reference cannot cross devices: place both on one");
    }
    const MemoryType wanted =
        IsRefType(e.dst()->input_type(e.dst_input()))
            ? MemoryOf({e.src(), e.src_output()})
            : MemoryOf(*e.dst(), device, false, e.dst_input());
    Endpoint value;
    if (ReadsLater(e)) {
      HR_ASSIGN_OR_RETURN(value, BringLater(e, device, wanted));
    } else {
      HR_ASSIGN_OR_RETURN(value,
                          Bring({e.src(), e.src_output()}, device, wanted));
    }
    return Part(device)->AddEdge(value, copies_[e.dst()->id()], e.dst_input());
  }

  // A node reads a variable of another device when it runs: after what it waits
  // for, which may change the variable.
  bool ReadsLater(const Edge& e) {
    return IsRefType(e.src()->output_type(e.src_output())) &&
           !e.dst()->control_inputs().empty() &&
           !Together(DeviceOf(e.src()), DeviceOf(e.dst()));
  }

  // The value after the control inputs of its reader, which nobody else gets.
  StatusOr<Endpoint> BringLater(const Edge& e, const std::string& device,
                                MemoryType wanted) {
    const Endpoint from = {copies_[e.src()->id()], e.src_output()};
    Node* sent = nullptr;
    HR_ASSIGN_OR_RETURN(
        Node * recv,
        AddPair(from, *e.src(), device, MemoryOf({e.src(), e.src_output()}),
                wanted, &sent));
    for (const Edge* c : e.dst()->control_inputs()) {
      HR_ASSIGN_OR_RETURN(Node * done,
                          BringControl(c->src(), DeviceOf(e.src())));
      Part(DeviceOf(e.src()))->AddControlEdge(done, sent);
    }
    return Endpoint{recv, 0};
  }

  Status ConnectControl(const Edge& e) {
    const std::string& device = DeviceOf(e.dst());
    HR_ASSIGN_OR_RETURN(Node * done, BringControl(e.src(), device));
    Part(device)->AddControlEdge(done, copies_[e.dst()->id()]);
    return OkStatus();
  }

  // A tensor of graph_, in the part of `device` and its memory `wanted`.
  StatusOr<Endpoint> Bring(Endpoint value, const std::string& device,
                           MemoryType wanted) {
    const Node& src = *value.node;
    const bool together = Together(DeviceOf(&src), device);
    if (together && (DeviceOf(&src) != device || MemoryOf(value) == wanted)) {
      return Endpoint{copies_[src.id()], value.index};
    }
    Endpoint from = {copies_[src.id()], value.index};
    MemoryType made = MemoryOf(value);
    if (!together && CanBeCopied(src)) {
      HR_ASSIGN_OR_RETURN(Node * enter, EnterOn(src, device));
      from = {enter, 0};
      made = MemoryOf(*enter, device, true, 0);
      if (made == wanted) return from;
    }
    const Crossing crossing{value, PartOf(device), wanted};
    if (Node* received = received_[crossing]) return Endpoint{received, 0};
    HR_ASSIGN_OR_RETURN(Node * recv, AddPair(from, src, device, made, wanted));
    received_[crossing] = recv;
    return Endpoint{recv, 0};
  }

  // Returns the node in the part of `device` that signals that `src` has run.
  StatusOr<Node*> BringControl(Node* src, const std::string& device) {
    if (Together(DeviceOf(src), device)) return copies_[src->id()];
    if (CanBeCopied(*src)) return EnterOn(*src, device);
    const Crossing crossing{{src, kControlSlot}, PartOf(device), DEVICE_MEMORY};
    if (Node* made = received_[crossing]) return made;
    // The signal is an empty constant that waits for the source.
    HR_ASSIGN_OR_RETURN(Node * sent, AddToken(*src, DeviceOf(src)));
    Part(DeviceOf(src))->AddControlEdge(copies_[src->id()], sent);
    HR_ASSIGN_OR_RETURN(Node * recv, AddPair({sent, 0}, *src, device));
    NodeDef identity;
    identity.op = "Identity";
    identity.attrs = {{"T", DT_FLOAT}};
    HR_ASSIGN_OR_RETURN(Node * arrived, Add(std::move(identity), *src, device,
                                            TensorShape({0})));
    HR_RETURN_IF_ERROR(Part(device)->AddEdge({recv, 0}, arrived, 0));
    received_[crossing] = arrived;
    return arrived;
  }

  // An Enter runs on each device that reads it: its input crosses once, where
  // its output would in every iteration, or in the first alone.
  static bool CanBeCopied(const Node& n) {
    return n.IsEnter() && !IsRefType(n.output_type(0));
  }

  StatusOr<Node*> EnterOn(const Node& enter, const std::string& device) {
    const EnterKey key{&enter, PartOf(device)};
    if (Node* made = enters_[key]) return made;
    NodeDef def = enter.def();
    HR_ASSIGN_OR_RETURN(
        Node * copy, Add(std::move(def), enter, device, enter.output_shape(0)));
    enters_[key] = copy;
    const Edge* const in = enter.input_edge(0);
    HR_ASSIGN_OR_RETURN(Endpoint value,
                        Bring({in->src(), in->src_output()}, device,
                              MemoryOf(*copy, device, false, 0)));
    HR_RETURN_IF_ERROR(Part(device)->AddEdge(value, copy, 0));
    for (const Edge* e : enter.control_inputs()) {
      HR_ASSIGN_OR_RETURN(Node * done, BringControl(e->src(), device));
      Part(device)->AddControlEdge(done, copy);
    }
    return copy;
  }

  StatusOr<Node*> AddToken(const Node& origin, const std::string& device) {
    NodeDef token;
    token.op = "Const";
    token.attrs = {{"dtype", DT_FLOAT}, {"value", Tensor(DT_FLOAT)}};
    return Add(std::move(token), origin, device, TensorShape({0}));
  }

  // Adds a node made here, `origin` being the one it serves.
  StatusOr<Node*> Add(NodeDef def, const Node& origin,
                      const std::string& device,
                      const PartialTensorShape& shape,
                      const char* prefix = "") {
    Graph* const part = Part(device);
    do {
      def.name = StrCat(prefix, origin.name(), "/_", ++names_);
    } while (graph_.FindNode(def.name) != nullptr);
    def.device = device;
    def.source = origin.def().source;
    HR_ASSIGN_OR_RETURN(Node * n, part->AddUnconnectedNode(std::move(def)));
    n->set_assigned_device(device);
    n->set_placement_reason(
        StrCat("carries '", origin.name(), "' between devices"));
    if (n->num_outputs() > 0) part->SetOutputShape(n, 0, shape);
    return n;
  }

  // _Send of `value`, which is in its own device's part, and _Recv on
  // `to_device`, which is returned.
  StatusOr<Node*> AddPair(Endpoint value, const Node& origin,
                          const std::string& to_device,
                          MemoryType from = DEVICE_MEMORY,
                          MemoryType to = DEVICE_MEMORY,
                          Node** sender = nullptr) {
    const std::string& from_device = value.node->assigned_device();
    const int frame = flow_.frames.empty() ? 0 : flow_.puts_out_to[origin.id()];
    if (frame != 0 && irregular_[origin.id()]) {
      return errors::InvalidArgument(
          "Node '", origin.name(), "' of loop '", flow_.frames[frame].name,
          "' on ", from_device, " is read on ", to_device,
          ", but it depends on no Merge and so has no value in some iterations;"
          " place its readers on its own device");
    }
    const DataType dtype = BaseType(value.node->output_type(value.index));
    const uint64_t incarnation =
        options_.incarnation ? options_.incarnation(from_device) : 1;
    AttrMap attrs{
        {"tensor_name", StrCat("edge_", ++edges_, "_", origin.name())},
        {"send_device", from_device},
        {"send_device_incarnation", static_cast<int64_t>(incarnation)},
        {"recv_device", to_device},
        {"client_terminated", false},
    };
    NodeDef send;
    send.op = from == HOST_MEMORY ? "_HostSend" : "_Send";
    send.attrs = attrs;
    send.attrs.Set("T", dtype);
    const PartialTensorShape& shape = value.node->output_shape(value.index);
    HR_ASSIGN_OR_RETURN(Node * sent,
                        Add(std::move(send), origin, from_device, shape));
    HR_RETURN_IF_ERROR(Part(from_device)->AddEdge(value, sent, 0));
    if (sender != nullptr) *sender = sent;
    NodeDef recv;
    recv.op = to == HOST_MEMORY ? "_HostRecv" : "_Recv";
    recv.attrs = std::move(attrs);
    recv.attrs.Set("tensor_type", dtype);
    HR_ASSIGN_OR_RETURN(Node * received,
                        Add(std::move(recv), origin, to_device, shape));
    if (frame != 0) {
      HR_ASSIGN_OR_RETURN(Node * starts, ControlLoop(frame, to_device));
      Part(to_device)->AddControlEdge(starts, received);
    }
    return received;
  }

  const PartitionOptions& options_;
  const Graph& graph_;
  std::map<std::string, std::unique_ptr<Graph>>* const parts_;
  // By id in graph_:
  std::vector<const std::string*> device_;
  std::vector<Node*> copies_;
  std::vector<bool> irregular_;  // empty unless a loop may cross
  ControlFlow flow_;             // the same
  // By frame: its LoopCond, and another one.
  std::vector<const Node*> conditions_, second_conditions_;
  std::map<std::pair<int, std::string>, Node*> control_loops_;
  absl::flat_hash_map<Crossing, Node*> received_;
  using EnterKey = std::pair<const Node*, std::string>;
  absl::flat_hash_map<EnterKey, Node*> enters_;
  std::map<std::string, std::string> part_of_;  // by device, as asked so far
  int names_ = 0;
  int edges_ = 0;
};

}  // namespace

Status PartitionGraph(const PartitionOptions& options, const Graph& graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts) {
  return Partitioner(options, graph, parts).Run();
}

Status PartitionGraph(const PartitionOptions& options,
                      std::unique_ptr<Graph> graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts) {
  const auto part_of = [&](const Node& n) {
    return options.part_of && !n.assigned_device().empty()
               ? options.part_of(n.assigned_device())
               : n.assigned_device();
  };
  const Node* first = nullptr;
  std::string part;
  bool together = true;
  // Whether an edge goes from one memory of a device to the other.
  bool crosses_memory = false;
  graph->ForEachNode([&](const Node* n) {
    crosses_memory = crosses_memory || CrossesMemory(options, *n);
    if (first == nullptr) {
      first = n;
      part = part_of(*n);
      return;
    }
    together &=
        n->assigned_device() == first->assigned_device() || part_of(*n) == part;
  });
  if (first == nullptr || !together || first->assigned_device().empty() ||
      crosses_memory) {
    return PartitionGraph(options, *graph, parts);
  }
  parts->clear();
  parts->emplace(std::move(part), std::move(graph));
  return OkStatus();
}

}  // namespace headrace
