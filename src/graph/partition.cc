// Splitting a placed graph. Every crossing goes through a pair made once for
// what is sent and where to: a tensor, or the fact that a node has run, which
// travels as an empty tensor.
#include "graph/partition.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace headrace {
namespace {

// The control-flow frame that each node's outputs belong to: the Enter that
// opened it, null at top level. Enter opens, Exit goes back to the frame that
// its own frame was opened in.
std::vector<const Node*> OutputFrames(const Graph& graph) {
  std::vector<const Node*> frame(graph.num_node_ids());
  // The frame around the one that this Enter opens.
  absl::flat_hash_map<const Node*, const Node*> parent;
  std::vector<bool> seen(graph.num_node_ids());
  std::vector<const Node*> stack;
  graph.ForEachNode([&](Node* n) {
    bool has_input = !n->control_inputs().empty();
    for (const Edge* e : n->data_inputs()) has_input |= e != nullptr;
    if (!has_input) {
      seen[n->id()] = true;
      stack.push_back(n);
    }
  });
  while (!stack.empty()) {
    const Node* const n = stack.back();
    stack.pop_back();
    const Node* const here = frame[n->id()];
    for (const Edge* e : n->out_edges()) {
      const Node* const dst = e->dst();
      if (seen[dst->id()]) continue;
      seen[dst->id()] = true;
      const Node* f = here;
      if (dst->IsEnter()) {
        parent[dst] = here;
        f = dst;
      } else if (dst->IsExit() && here != nullptr) {
        f = parent[here];
      }
      frame[dst->id()] = f;
      stack.push_back(dst);
    }
  }
  return frame;
}

class Partitioner {
 public:
  Partitioner(const PartitionOptions& options, const Graph& graph,
              std::map<std::string, std::unique_ptr<Graph>>* parts)
      : options_(options),
        graph_(graph),
        parts_(parts),
        copies_(graph.num_node_ids()),
        frames_(OutputFrames(graph)) {}

  Status Run() {
    parts_->clear();
    HR_RETURN_IF_ERROR(CopyNodes());
    Status s;
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
  // What crosses, and to which device.
  using Crossing = std::pair<Endpoint, std::string>;

  Graph* PartOf(const Node* n) { return (*parts_)[n->assigned_device()].get(); }

  Status CopyNodes() {
    Status s;
    graph_.ForEachNode([&](Node* n) {
      if (n->assigned_device().empty()) {
        if (s.ok()) {
          s = errors::Internal("Node '", n->name(), "' has no device");
        }
        return;
      }
      std::unique_ptr<Graph>& part = (*parts_)[n->assigned_device()];
      if (part == nullptr) {
        part = std::make_unique<Graph>();
        part->versions() = graph_.versions();
        part->set_functions(graph_.shared_functions());
      }
      copies_[n->id()] = part->CopyNode(*n);
    });
    return s;
  }

  Status ConnectData(const Edge& e) {
    Node* const dst = copies_[e.dst()->id()];
    Graph* const part = PartOf(e.dst());
    if (e.src()->assigned_device() == e.dst()->assigned_device()) {
      return part->AddEdge({copies_[e.src()->id()], e.src_output()}, dst,
                           e.dst_input());
    }
    if (IsRefType(e.dst()->input_type(e.dst_input()))) {
      return errors::InvalidArgument(
          "Node '", e.dst()->name(), "' on ", e.dst()->assigned_device(),
          " takes a reference of '", e.src()->name(), "' on ",
          e.src()->assigned_device(),
          "; a reference cannot cross devices: place both on one");
    }
    HR_RETURN_IF_ERROR(CheckFrame(e));
    const Crossing crossing{{e.src(), e.src_output()},
                            e.dst()->assigned_device()};
    Node*& recv = received_[crossing];
    if (recv == nullptr) {
      HR_ASSIGN_OR_RETURN(
          recv, AddPair({copies_[e.src()->id()], e.src_output()}, *e.src(),
                        e.dst()->assigned_device()));
    }
    return part->AddEdge({recv, 0}, dst, e.dst_input());
  }

  Status ConnectControl(const Edge& e) {
    Node* const dst = copies_[e.dst()->id()];
    Graph* const part = PartOf(e.dst());
    if (e.src()->assigned_device() == e.dst()->assigned_device()) {
      part->AddControlEdge(copies_[e.src()->id()], dst);
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(CheckFrame(e));
    const Crossing crossing{{e.src(), kControlSlot},
                            e.dst()->assigned_device()};
    Node*& arrived = received_[crossing];
    if (arrived == nullptr) {
      // An empty constant that waits for the source stands for its having run.
      NodeDef token;
      token.op = "Const";
      token.attrs = {{"dtype", DT_FLOAT}, {"value", Tensor(DT_FLOAT)}};
      HR_ASSIGN_OR_RETURN(Node * sent,
                          Add(std::move(token), *e.src(),
                              e.src()->assigned_device(), TensorShape({0})));
      PartOf(e.src())->AddControlEdge(copies_[e.src()->id()], sent);
      HR_ASSIGN_OR_RETURN(Node * recv, AddPair({sent, 0}, *e.src(),
                                               e.dst()->assigned_device()));
      NodeDef identity;
      identity.op = "Identity";
      identity.attrs = {{"T", DT_FLOAT}};
      HR_ASSIGN_OR_RETURN(arrived,
                          Add(std::move(identity), *e.src(),
                              e.dst()->assigned_device(), TensorShape({0})));
      HR_RETURN_IF_ERROR(part->AddEdge({recv, 0}, arrived, 0));
    }
    part->AddControlEdge(arrived, dst);
    return OkStatus();
  }

  // A _Recv inside a loop must be started anew for each iteration, which needs
  // a copy of the loop's control on its device.
  Status CheckFrame(const Edge& e) {
    const Node* const enter = frames_[e.src()->id()];
    if (enter == nullptr) return OkStatus();
    std::string frame_name;
    enter->attrs().Get("frame_name", &frame_name).IgnoreError();
    return errors::Unimplemented(
        "The loop '", frame_name, "' crosses devices: its node '",
        e.src()->name(), "' on ", e.src()->assigned_device(), " feeds '",
        e.dst()->name(), "' on ", e.dst()->assigned_device(),
        "; place the whole loop on one device");
  }

  // Adds a node made here, `origin` being the one it serves.
  StatusOr<Node*> Add(NodeDef def, const Node& origin,
                      const std::string& device,
                      const PartialTensorShape& shape) {
    Graph* const part = (*parts_)[device].get();
    do {
      def.name = StrCat(origin.name(), "/_", ++names_);
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
                          const std::string& to_device) {
    const std::string& from_device = value.node->assigned_device();
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
    send.op = "_Send";
    send.attrs = attrs;
    send.attrs.Set("T", dtype);
    const PartialTensorShape& shape = value.node->output_shape(value.index);
    HR_ASSIGN_OR_RETURN(Node * sent,
                        Add(std::move(send), origin, from_device, shape));
    HR_RETURN_IF_ERROR((*parts_)[from_device]->AddEdge(value, sent, 0));
    NodeDef recv;
    recv.op = "_Recv";
    recv.attrs = std::move(attrs);
    recv.attrs.Set("tensor_type", dtype);
    return Add(std::move(recv), origin, to_device, shape);
  }

  const PartitionOptions& options_;
  const Graph& graph_;
  std::map<std::string, std::unique_ptr<Graph>>* const parts_;
  std::vector<Node*> copies_;        // by id in graph_
  std::vector<const Node*> frames_;  // by id in graph_
  absl::flat_hash_map<Crossing, Node*> received_;
  int names_ = 0;
  int edges_ = 0;
};

}  // namespace

Status PartitionGraph(const PartitionOptions& options, const Graph& graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts) {
  return Partitioner(options, graph, parts).Run();
}

}  // namespace headrace
