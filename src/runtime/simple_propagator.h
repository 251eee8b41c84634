// SimplePropagator: the state of one step over a plan without control flow.
// Every node runs once; a node is ready when all its pending inputs have come.
//
// Thread-safe in this sense: any thread may propagate the outputs of a node
// that it has run, and the thread to which a node is handed as ready owns that
// node's entries. A caller who is the only thread of the step says so (`alone`)
// and is spared the atomics.
#ifndef HEADRACE_RUNTIME_SIMPLE_PROPAGATOR_H_
#define HEADRACE_RUNTIME_SIMPLE_PROPAGATOR_H_

#include <atomic>
#include <vector>

#include "runtime/entry.h"
#include "runtime/plan.h"

namespace headrace {

class SimplePropagator {
 public:
  // A node that is ready.
  using Item = int32_t;
  using ReadyList = std::vector<Item>;

  explicit SimplePropagator(const Plan& plan)
      : plan_(plan),
        nodes_(plan.nodes.data()),
        edges_(plan.edges.data()),
        entries_(plan.num_slots) {}

  // Begins a step; the one before, if any, was complete.
  void Start(ReadyList* ready) {
    pending_ = plan_.pending;
    *ready = plan_.roots;
  }

  const PlanNode& node(Item i) const { return nodes_[i]; }
  Entry* entries(Item, const PlanNode& n) {
    return entries_.data() + n.first_slot;
  }
  static constexpr bool kHasFrames = false;
  static bool IsDead(Item) { return false; }
  static uint64_t frame_id(Item) { return 0; }
  static int64_t frame_iter(Item) { return 0; }
  static bool IsFirstIteration(Item) { return true; }

  // Moves the outputs of item `i` to their consumers and appends those that
  // became ready; `outputs` are empty afterwards. An error if an output that
  // somebody reads is missing or of the wrong type.
  Status Propagate(Item, const PlanNode& n, const Outputs& outputs, bool alone,
                   ReadyList* ready) {
    const PlanEdge* const end = edges_ + n.edges_end;
    for (const PlanEdge* e = edges_ + n.edges_begin; e != end; ++e) {
      OutputSlot* const out = outputs.Find(e->src_output);
      if (out == nullptr || !HasRightType(*e, *out)) [[unlikely]] {
        return WrongOutput(*e, out);
      }
      Deliver(*e, out, e->last_use, &entries_[e->slot]);
      if (e->awaited_alone || IsLast(e->dst, alone)) ready->push_back(e->dst);
    }
    for (int32_t k = n.control_begin; k < n.control_end; ++k) {
      const int32_t dst = plan_.control_edges[k];
      if (IsLast(dst, alone)) ready->push_back(dst);
    }
    outputs.ClearAll();
    return OkStatus();
  }

 private:
  // Counts one of the inputs for which `dst` waits.
  bool IsLast(int32_t dst, bool alone) {
    if (alone) return --pending_[dst] == 0;
    return std::atomic_ref(pending_[dst])
               .fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  const Plan& plan_;
  const PlanNode* const nodes_;
  const PlanEdge* const edges_;
  std::vector<Entry> entries_;
  std::vector<int32_t> pending_;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_SIMPLE_PROPAGATOR_H_
