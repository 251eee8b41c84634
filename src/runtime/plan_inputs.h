// PlanInputs: which nodes a plan does not have to run.
//   - A constant is *bound*: the inputs that read it point to its tensor.
//   - An Identity, and an Enter that brings a constant into a loop, is *passed
//     by*: its consumers read from its source.
// Both happen only where no node runs earlier, later or with other dead inputs
// because of it.
#ifndef HEADRACE_RUNTIME_PLAN_INPUTS_H_
#define HEADRACE_RUNTIME_PLAN_INPUTS_H_

#include <vector>

#include "absl/types/span.h"
#include "headrace/graph.h"

namespace headrace {

// Constant after construction, and then thread-safe.
class PlanInputs {
 public:
  // Every data input of `graph` is connected. `order` is topological, apart
  // from the back edges of loops. The graph outlives this, unchanged.
  PlanInputs(const Graph& graph, absl::Span<Node* const> order);

  // True for a Const without control inputs, unless a Merge reads it and has to
  // see it arrive. Also for a Const with control inputs, as in the body of a
  // loop or branch, if no reader can run, or be alive, before these have come.
  bool IsBound(const Node& n) const { return bound_[n.id()]; }
  bool IsPassedBy(const Node& n) const { return passed_by_[n.id()]; }
  bool IsRun(const Node& n) const { return !IsBound(n) && !IsPassedBy(n); }

  // The output that the value on data edge `e` comes from, behind all nodes
  // that are passed by.
  Endpoint Source(const Edge& e) const;
  // Calls f(edge, output of `n`) for each edge over which a node that runs
  // reads from `n`, directly or behind nodes that are passed by.
  template <typename F>
  void ForEachOutEdge(const Node& n, const F& f) const {
    for (const Edge* e : n.out_edges()) {
      if (!IsPassedBy(*e->dst())) {
        if (!IsBound(*e->dst())) f(*e, e->src_output());
        continue;
      }
      std::vector<const Node*> stack{e->dst()};
      while (!stack.empty()) {
        const Node* const identity = stack.back();
        stack.pop_back();
        for (const Edge* next : identity->out_edges()) {
          if (IsPassedBy(*next->dst())) {
            stack.push_back(next->dst());
          } else if (!next->IsControlEdge()) {
            f(*next, e->src_output());
          }
        }
      }
    }
  }

 private:
  bool CanBeBound(const Node& n) const;
  void PassByEntersOfConstants(absl::Span<Node* const> order);
  bool CanBePassedBy(const Node& n) const;

  std::vector<bool> bound_, passed_by_;  // by id
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PLAN_INPUTS_H_
