// What a plan need not run: constants, which are bound to the inputs that read
// them, in loops too; Identities, and the Enters that bring constants into
// loops, which are passed by. None may make a difference to what runs when, and
// what is dead.
#ifndef HEADRACE_RUNTIME_PLAN_INPUTS_H_
#define HEADRACE_RUNTIME_PLAN_INPUTS_H_

#include <vector>

#include "absl/types/span.h"
#include "headrace/graph.h"

namespace headrace {

class PlanInputs {
 public:
  // Every data input is connected; `order` is topological, but for the back
  // edges of loops.
  PlanInputs(const Graph& graph, absl::Span<Node* const> order);

  // A Const without control inputs, unless a Merge must see it arrive. One with
  // control inputs (as in the body of a loop or branch), if all that read it
  // cannot be alive or run without those.
  bool IsBound(const Node& n) const { return bound_[n.id()]; }
  bool IsPassedBy(const Node& n) const { return passed_by_[n.id()]; }
  bool IsRun(const Node& n) const { return !IsBound(n) && !IsPassedBy(n); }

  // Where the value that comes along data edge `e` is from.
  Endpoint Source(const Edge& e) const;
  // Calls f(edge, output of `n`) for each edge to a node that runs, Identities
  // passed by.
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
