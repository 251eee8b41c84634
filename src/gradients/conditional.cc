#include "gradients/conditional.h"

namespace headrace {
namespace {

bool IsLoopSwitch(const Node* n) {
  const Edge* const pred = n->input_edge(1);
  return pred != nullptr && pred->src()->IsLoopCond();
}

// The Enter of the loop variable that `n` belongs to, a Merge or a Switch of a
// loop. Null if `n` is none.
const Node* LoopEnter(const Node* n) {
  if (n->IsSwitch() && IsLoopSwitch(n)) {
    n = n->input_edge(0) == nullptr ? n : n->input_edge(0)->src();
  }
  if (!n->IsMerge()) return nullptr;
  const Node* enter = nullptr;
  bool loops = false;
  for (const Edge* e : n->data_inputs()) {
    if (e == nullptr) continue;
    if (e->src()->IsEnter()) enter = e->src();
    loops = loops || e->src()->IsNextIteration();
  }
  return loops ? enter : nullptr;
}

}  // namespace

Branch BranchOf(const Endpoint& e) {
  // Along one path, past conditionals and loops that end before `e`.
  int conditionals = 0, loops = 0;
  const Node* n = e.node;
  int output = e.index;
  // A path without cycles: loops are left through their Enters. The limit is
  // for graphs with cycles that are no loops.
  for (int steps = 0; steps < (1 << 20); ++steps) {
    if (n->IsExit()) {
      ++loops;
    } else if (const Node* const enter = LoopEnter(n)) {
      if (loops == 0) return {};
      --loops;
      n = enter;
    } else if (n->IsEnter()) {
      if (loops == 0) return {};
      --loops;
    } else if (n->IsSwitch()) {
      if (loops == 0 && conditionals == 0) {
        const Edge* const pred = n->input_edge(1);
        if (output < 0 || pred == nullptr) return {};
        return {{pred->src(), pred->src_output()}, output};
      }
      if (loops == 0) --conditionals;
    } else if (n->IsMerge()) {
      if (loops == 0) ++conditionals;
    }
    const Edge* back = n->num_inputs() > 0 ? n->input_edge(0) : nullptr;
    if (n->num_inputs() == 0 && !n->control_inputs().empty()) {
      back = n->control_inputs()[0];
    }
    if (back == nullptr) return {};
    n = back->src();
    output = back->src_output();
  }
  return {};
}

}  // namespace headrace
