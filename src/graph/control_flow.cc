#include "graph/control_flow.h"

#include "absl/container/flat_hash_map.h"
#include "graph/algorithm.h"

namespace headrace {
namespace {

class Analysis {
 public:
  Analysis(const Graph& graph, ControlFlow* out) : graph_(graph), out_(*out) {
    out_.frames.assign(1, LoopFrame());
    out_.runs_in.assign(graph.num_node_ids(), 0);
    out_.puts_out_to.assign(graph.num_node_ids(), 0);
  }

  Status Run() {
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(graph_, &order));
    for (const Node* n : order) {
      HR_RETURN_IF_ERROR(CheckBegins(n));
      HR_RETURN_IF_ERROR(
          FrameOfInputs(n, /*back_edges=*/false, &out_.runs_in[n->id()]));
      HR_RETURN_IF_ERROR(FrameOfOutputs(n));
    }
    for (const Node* n : order) {
      if (!n->IsMerge()) continue;
      int frame = out_.runs_in[n->id()];
      HR_RETURN_IF_ERROR(FrameOfInputs(n, /*back_edges=*/true, &frame));
    }
    return OkStatus();
  }

 private:
  // The inputs that are no back edges say in which frame a Merge runs.
  static Status CheckBegins(const Node* n) {
    if (!n->IsMerge()) return OkStatus();
    for (const Edge* e : n->data_inputs()) {
      if (e == nullptr || !e->src()->IsNextIteration()) return OkStatus();
    }
    return errors::InvalidArgument(
        NodeErrorSuffix(n->def()), " of type ", n->type_string(),
        " has inputs from NextIteration alone; a loop begins with a Merge of "
        "an Enter and a NextIteration");
  }

  Status FrameOfInputs(const Node* n, bool back_edges, int* frame) const {
    const Edge* first = nullptr;
    Status s;
    auto visit = [&](const Edge* e) {
      if (e == nullptr || !s.ok()) return;
      // Back edges of loops are checked once every frame is known.
      if (!back_edges && n->IsMerge() && e->src()->IsNextIteration()) return;
      const int f = out_.puts_out_to[e->src()->id()];
      if (first == nullptr) {
        first = e;
        *frame = f;
      } else if (f != *frame) {
        s = errors::InvalidArgument(
            NodeErrorSuffix(n->def()),
            " has inputs from different frames. The input ",
            NodeErrorSuffix(first->src()->def()), " is in frame '",
            out_.frames[*frame].name, "'. The input ",
            NodeErrorSuffix(e->src()->def()), " is in frame '",
            out_.frames[f].name, "'.");
      }
    };
    for (const Edge* e : n->data_inputs()) visit(e);
    for (const Edge* e : n->control_inputs()) visit(e);
    return s;
  }

  Status FrameOfOutputs(const Node* n) {
    const int here = out_.runs_in[n->id()];
    int& to = out_.puts_out_to[n->id()];
    to = here;
    if ((n->IsExit() || n->IsNextIteration()) && here == 0) {
      return errors::InvalidArgument(
          NodeErrorSuffix(n->def()), " of type ", n->type_string(),
          " is in no frame: there is no Enter before it");
    }
    if (n->IsExit()) to = out_.frames[here].parent;
    if (n->IsEnter()) HR_RETURN_IF_ERROR(EnterFrame(n, here, &to));
    return OkStatus();
  }

  Status EnterFrame(const Node* n, int parent, int* to) {
    std::string name;
    int64_t parallel = 10;
    HR_RETURN_IF_ERROR(n->attrs().Get("frame_name", &name));
    HR_RETURN_IF_ERROR(n->attrs().Get("parallel_iterations", &parallel));
    if (parallel < 1) {
      return errors::InvalidArgument(NodeErrorSuffix(n->def()),
                                     ": parallel_iterations must be at least "
                                     "1, got ",
                                     parallel);
    }
    auto [it, added] =
        by_name_.emplace(name, static_cast<int>(out_.frames.size()));
    if (added) {
      LoopFrame f;
      f.name = name;
      f.parent = parent;
      f.depth = out_.frames[parent].depth + 1;
      if (f.depth > kMaxLoopDepth) {
        return errors::InvalidArgument("The node ", NodeErrorSuffix(n->def()),
                                       " enters frame '", name, "' at depth ",
                                       f.depth, "; loops nest at most ",
                                       kMaxLoopDepth, " deep");
      }
      f.parallel_iterations = parallel;
      out_.frames.push_back(std::move(f));
    }
    *to = it->second;
    LoopFrame& f = out_.frames[*to];
    if (f.parent != parent) {
      return errors::InvalidArgument(
          "The node ", NodeErrorSuffix(n->def()), " enters frame '", name,
          "' from frame '", out_.frames[parent].name,
          "', but another Enter does so from frame '",
          out_.frames[f.parent].name, "'");
    }
    if (f.parallel_iterations != parallel) {
      return errors::InvalidArgument(
          "The Enters of frame '", name,
          "' disagree about parallel_iterations: ", f.parallel_iterations,
          " and ", parallel, " at ", NodeErrorSuffix(n->def()));
    }
    ++f.num_enters;
    return OkStatus();
  }

  const Graph& graph_;
  ControlFlow& out_;
  absl::flat_hash_map<std::string, int> by_name_;
};

}  // namespace

bool IsConstantEnter(const Node& n) {
  const AttrValue* v = n.IsEnter() ? n.attrs().Find("is_constant") : nullptr;
  return v != nullptr && *v == AttrValue(true);
}

Status AnalyzeControlFlow(const Graph& graph, ControlFlow* out) {
  return Analysis(graph, out).Run();
}

}  // namespace headrace
