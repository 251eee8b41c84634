// Orders and reachability, with explicit stacks: a chain of a million nodes
// must not overflow ours.
#include "graph/algorithm.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace headrace {
namespace {

// The edge that closes a loop; everything else must be acyclic.
bool IsBackEdge(const Edge& e) {
  return e.src()->IsNextIteration() && e.dst()->IsMerge();
}

// Names a cycle among the nodes whose count in `pending` is not 0. From any of
// them one comes to a cycle by going to an input that is pending too.
std::string DescribeCycle(absl::Span<Node* const> nodes,
                          const std::vector<int>& pending) {
  const auto is_pending = [&](const Node* n) {
    return static_cast<size_t>(n->id()) < pending.size() &&
           pending[n->id()] > 0;
  };
  const auto pending_input = [&](const Node* n) -> const Node* {
    const auto from = [&](const Edge* e) {
      return e != nullptr && !IsBackEdge(*e) && is_pending(e->src());
    };
    for (const Edge* e : n->data_inputs()) {
      if (from(e)) return e->src();
    }
    for (const Edge* e : n->control_inputs()) {
      if (from(e)) return e->src();
    }
    return nullptr;
  };
  const auto start = std::find_if(nodes.begin(), nodes.end(), is_pending);
  if (start == nodes.end()) return "";
  absl::flat_hash_map<const Node*, size_t> seen;
  std::vector<const Node*> path;
  const Node* n = *start;
  while (n != nullptr && seen.try_emplace(n, path.size()).second) {
    path.push_back(n);
    n = pending_input(n);
  }
  if (n == nullptr) return "";
  // Walked against the edges: print backwards. Long cycles are cut.
  const std::vector<const Node*> cycle(path.begin() + seen[n], path.end());
  constexpr size_t kShown = 20;
  std::string s = StrCat(cycle.size(), " nodes, including: ", n->name());
  for (size_t i = 0; i < cycle.size() && i < kShown; ++i) {
    StrAppend(&s, " -> ", cycle[cycle.size() - 1 - i]->name());
  }
  if (cycle.size() > kShown) s += " -> ...";
  return s;
}

// True if all stand where their edges lead to later ones already, by id.
bool AreOrderedById(absl::Span<Node* const> nodes) {
  int last = -1;
  for (const Node* n : nodes) {
    if (n->id() <= last) return false;
    last = n->id();
    for (const Edge* e : n->out_edges()) {
      if (e->dst()->id() <= last && !IsBackEdge(*e)) return false;
    }
  }
  return true;
}

}  // namespace

Status TopologicalOrder(absl::Span<Node* const> nodes,
                        std::vector<Node*>* order) {
  // The search below would find the same order.
  if (AreOrderedById(nodes)) {
    order->assign(nodes.begin(), nodes.end());
    return OkStatus();
  }
  order->clear();
  order->reserve(nodes.size());
  int max_id = -1;
  for (const Node* n : nodes) max_id = std::max(max_id, n->id());
  // Inputs not yet ordered, by id; -1: not one of `nodes`.
  std::vector<int> pending(max_id + 1, -1);
  for (const Node* n : nodes) pending[n->id()] = 0;
  const auto is_ours = [&](const Node* n) {
    return n->id() <= max_id && pending[n->id()] >= 0;
  };
  const auto later = [](const Node* a, const Node* b) {
    return a->id() > b->id();
  };
  std::priority_queue<Node*, std::vector<Node*>, decltype(later)> ready(later);
  for (const Node* n : nodes) {
    for (const Edge* e : n->out_edges()) {
      if (!IsBackEdge(*e) && is_ours(e->dst())) ++pending[e->dst()->id()];
    }
  }
  for (Node* n : nodes) {
    if (pending[n->id()] == 0) ready.push(n);
  }
  while (!ready.empty()) {
    Node* const n = ready.top();
    ready.pop();
    order->push_back(n);
    for (const Edge* e : n->out_edges()) {
      if (IsBackEdge(*e) || !is_ours(e->dst())) continue;
      if (--pending[e->dst()->id()] == 0) ready.push(e->dst());
    }
  }
  if (order->size() == nodes.size()) return OkStatus();
  return errors::InvalidArgument("Graph is invalid, contains a cycle with ",
                                 DescribeCycle(nodes, pending));
}

Status TopologicalOrder(const Graph& graph, std::vector<Node*>* order) {
  std::vector<Node*> nodes;
  nodes.reserve(graph.num_nodes());
  graph.ForEachNode([&](Node* n) { nodes.push_back(n); });
  return TopologicalOrder(nodes, order);
}

std::vector<bool> ReachableBackwards(const Graph& graph,
                                     absl::Span<Node* const> roots,
                                     bool along_control) {
  std::vector<bool> seen(graph.num_node_ids());
  std::vector<const Node*> stack;
  const auto visit = [&](const Node* n) {
    if (seen[n->id()]) return;
    seen[n->id()] = true;
    stack.push_back(n);
  };
  for (const Node* n : roots) visit(n);
  while (!stack.empty()) {
    const Node* const n = stack.back();
    stack.pop_back();
    for (const Edge* e : n->data_inputs()) {
      if (e != nullptr) visit(e->src());
    }
    if (!along_control) continue;
    for (const Edge* e : n->control_inputs()) visit(e->src());
  }
  return seen;
}

bool RemoveUnmarked(Graph* graph, const std::vector<bool>& keep) {
  bool removed = false;
  for (int id = 0; id < graph->num_node_ids(); ++id) {
    Node* const n = graph->node(id);
    if (n == nullptr || (static_cast<size_t>(id) < keep.size() && keep[id])) {
      continue;
    }
    graph->RemoveNode(n);
    removed = true;
  }
  return removed;
}

}  // namespace headrace
