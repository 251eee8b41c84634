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
      : plan_(plan), entries_(plan.num_slots) {}

  // Begins a step; the one before, if any, was complete.
  void Start(ReadyList* ready) {
    pending_ = plan_.pending;
    *ready = plan_.roots;
  }

  const PlanNode& node(Item i) const { return plan_.nodes[i]; }
  Entry* entries(Item i) { return entries_.data() + plan_.nodes[i].first_slot; }
  static bool IsDead(Item) { return false; }
  static uint64_t frame_id(Item) { return 0; }
  static int64_t frame_iter(Item) { return 0; }

  // Moves the outputs of item `i` to their consumers and appends those that
  // became ready; `outputs` are empty afterwards. An error if an output that
  // somebody reads is missing or of the wrong type.
  Status Propagate(Item i, const Outputs& outputs, bool alone,
                   ReadyList* ready) {
    const PlanNode& n = plan_.nodes[i];
    for (int32_t k = n.edges_begin; k < n.edges_end; ++k) {
      const PlanEdge& e = plan_.edges[k];
      OutputSlot* const out = outputs.Find(e.src_output);
      if (out == nullptr) [[unlikely]] {
        return errors::Internal("Missing ", e.src_output, "-th output");
      }
      if (!HasRightType(e, *out)) [[unlikely]] {
        return WrongOutputType(e, *out);
      }
      Deliver(e, out, e.last_use, &entries_[e.slot]);
      Arrived(e.dst, alone, ready);
    }
    for (int32_t k = n.control_begin; k < n.control_end; ++k) {
      Arrived(plan_.control_edges[k], alone, ready);
    }
    outputs.ClearAll();
    return OkStatus();
  }

 private:
  void Arrived(int32_t dst, bool alone, ReadyList* ready) {
    // With one input to wait for, this is it.
    if (plan_.nodes[dst].pending != 1) {
      if (alone) {
        if (--pending_[dst] > 0) return;
      } else if (std::atomic_ref(pending_[dst])
                     .fetch_sub(1, std::memory_order_acq_rel) > 1) {
        return;
      }
    }
    ready->push_back(dst);
  }

  const Plan& plan_;
  std::vector<Entry> entries_;
  std::vector<int32_t> pending_;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_SIMPLE_PROPAGATOR_H_
