// SimplePropagator: the state of one step over a plan without control flow.
// Every node runs once; a node is ready when all its pending inputs have come.
//
// Thread-safe in this sense: any thread may propagate the outputs of a node
// that it has run, and the thread to which a node is handed as ready owns that
// node's entries.
#ifndef HEADRACE_RUNTIME_SIMPLE_PROPAGATOR_H_
#define HEADRACE_RUNTIME_SIMPLE_PROPAGATOR_H_

#include <atomic>
#include <memory>
#include <vector>

#include "runtime/plan.h"

namespace headrace {

// What has been delivered to an input slot: a value, or a reference.
struct Entry {
  Tensor value;
  Tensor* ref = nullptr;
  Mutex* ref_mutex = nullptr;
};

class SimplePropagator {
 public:
  using ReadyList = std::vector<int32_t>;

  explicit SimplePropagator(const Plan& plan)
      : plan_(plan),
        entries_(plan.num_slots),
        pending_(new std::atomic<int32_t>[plan.nodes.size()]) {}

  // Forgets a step that drained early, and makes ready for the next.
  void Reset(bool drained_early) {
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      pending_[i].store(plan_.nodes[i].pending, std::memory_order_relaxed);
    }
    if (drained_early) {
      for (Entry& e : entries_) e = Entry();
    }
  }

  const ReadyList& roots() const { return plan_.roots; }
  Entry* entries(const PlanNode& n) { return entries_.data() + n.first_slot; }

  // Moves the outputs of `n` to its consumers and appends those that became
  // ready. InvalidArgument/Internal if an output that somebody reads is missing
  // or of the wrong type.
  Status Propagate(const PlanNode& n, OpKernelContext* ctx, ReadyList* ready) {
    for (int32_t i = n.edges_begin; i < n.edges_end; ++i) {
      const PlanEdge& e = plan_.edges[i];
      OutputSlot& out = ctx->output_slot(e.src_output);
      if (!out.is_set) [[unlikely]] {
        return errors::Internal("Missing ", e.src_output, "-th output");
      }
      Entry& in = entries_[e.slot];
      if (out.ref != nullptr) {
        in.ref = out.ref;
        in.ref_mutex = out.ref_mutex;
      } else if (out.value.dtype() !=
                 BaseType(n.kernel->output_type(e.src_output))) [[unlikely]] {
        return errors::Internal(
            "Output ", e.src_output, " has type ",
            DataTypeString(out.value.dtype()), " but the op declares ",
            DataTypeString(n.kernel->output_type(e.src_output)));
      } else if (e.last_use) {
        in.value = std::move(out.value);
      } else {
        in.value = out.value;
      }
      Arrived(e.dst, ready);
    }
    for (int32_t i = n.control_begin; i < n.control_end; ++i) {
      Arrived(plan_.control_edges[i], ready);
    }
    return OkStatus();
  }

 private:
  void Arrived(int32_t dst, ReadyList* ready) {
    // With one input to wait for, this is it.
    if (plan_.nodes[dst].pending == 1 ||
        pending_[dst].fetch_sub(1, std::memory_order_acq_rel) == 1) {
      ready->push_back(dst);
    }
  }

  const Plan& plan_;
  std::vector<Entry> entries_;
  const std::unique_ptr<std::atomic<int32_t>[]> pending_;
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_SIMPLE_PROPAGATOR_H_
