#include "graph/algorithm.h"

#include <algorithm>
#include <queue>
#include <string>

#include "absl/strings/str_cat.h"

namespace headrace {
namespace {

// An edge that closes a loop legally.
bool IsBackEdge(const Edge& e) {
  return e.src()->IsNextIteration() && e.dst()->IsMerge();
}

// Names a cycle among the nodes that were never ready.
Status CycleError(const Graph& graph, const std::vector<int>& waiting) {
  std::vector<int> step_of(waiting.size(), -1);
  Node* n = nullptr;
  int stuck = 0;
  graph.ForEachNode([&](Node* m) {
    if (waiting[m->id()] > 0) {
      ++stuck;
      if (n == nullptr) n = m;
    }
  });
  // Each stuck node has a stuck producer; going from one to the next must come
  // back.
  std::vector<Node*> path;
  while (step_of[n->id()] < 0) {
    step_of[n->id()] = static_cast<int>(path.size());
    path.push_back(n);
    Node* from = nullptr;
    auto consider = [&](const Edge* e) {
      if (e != nullptr && from == nullptr && !IsBackEdge(*e) &&
          waiting[e->src()->id()] > 0) {
        from = e->src();
      }
    };
    for (const Edge* e : n->data_inputs()) consider(e);
    for (const Edge* e : n->control_inputs()) consider(e);
    n = from;
  }
  constexpr size_t kMaxNamed = 10;
  std::string names;
  const std::vector<Node*> cycle(path.begin() + step_of[n->id()], path.end());
  for (size_t i = 0; i < std::min(cycle.size(), kMaxNamed); ++i) {
    absl::StrAppend(&names, i ? ", " : "", cycle[i]->name());
  }
  if (cycle.size() > kMaxNamed) names += ", ...";
  return errors::InvalidArgument(
      "Graph is invalid, contains a cycle: ", cycle.size(),
      " nodes in a cycle: ", names,
      stuck > static_cast<int>(cycle.size()) ? " (others depend on it)" : "");
}

}  // namespace

Status TopologicalOrder(const Graph& graph, std::vector<Node*>* order) {
  order->clear();
  order->reserve(graph.num_nodes());
  std::vector<int> waiting(graph.num_node_ids(), 0);
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  graph.ForEachNode([&](Node* n) {
    int pending = static_cast<int>(n->control_inputs().size());
    for (const Edge* e : n->data_inputs()) {
      if (e != nullptr && !IsBackEdge(*e)) ++pending;
    }
    waiting[n->id()] = pending;
    if (pending == 0) ready.push(n->id());
  });
  while (!ready.empty()) {
    Node* n = graph.node(ready.top());
    ready.pop();
    order->push_back(n);
    for (const Edge* e : n->out_edges()) {
      if (!IsBackEdge(*e) && --waiting[e->dst()->id()] == 0) {
        ready.push(e->dst()->id());
      }
    }
  }
  if (static_cast<int>(order->size()) != graph.num_nodes()) {
    return CycleError(graph, waiting);
  }
  return OkStatus();
}

std::vector<bool> ReachableBackwards(const Graph& graph,
                                     absl::Span<Node* const> roots) {
  std::vector<bool> seen(graph.num_node_ids(), false);
  std::vector<Node*> stack;
  auto visit = [&](Node* n) {
    if (!seen[n->id()]) {
      seen[n->id()] = true;
      stack.push_back(n);
    }
  };
  for (Node* n : roots) visit(n);
  while (!stack.empty()) {
    Node* n = stack.back();
    stack.pop_back();
    for (const Edge* e : n->data_inputs()) {
      if (e != nullptr) visit(e->src());
    }
    for (const Edge* e : n->control_inputs()) visit(e->src());
  }
  return seen;
}

bool RemoveUnmarked(Graph* graph, const std::vector<bool>& keep) {
  std::vector<Node*> gone;
  graph->ForEachNode([&](Node* n) {
    if (!keep[n->id()]) gone.push_back(n);
  });
  for (Node* n : gone) graph->RemoveNode(n);
  return !gone.empty();
}

}  // namespace headrace
