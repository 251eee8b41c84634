// StepHistory: what the runs of one compiled step have shown, and what is
// planned from it. It decides how later runs go, never what they compute:
//   - how long runs took: whether the next one needs a thread of its own, so
//     that its caller can leave it (docs/design/0005);
//   - the shapes of the feeds: those that come twice in a row get a memory plan
//     and an arena (docs/design/0002);
//   - memory plans that were compared with a budget.
#ifndef HEADRACE_SESSION_STEP_HISTORY_H_
#define HEADRACE_SESSION_STEP_HISTORY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "framework/memory/step_arena.h"
#include "headrace/mutex.h"
#include "runtime/memory_plan.h"
#include "runtime/reuse_notes.h"

namespace headrace {

class CompiledStep;

// Thread-safe. One mutex guards the plans. It is not held while a plan is made,
// so two runs may make the same plan; the first is kept. The two numbers that
// every run reads are relaxed atomics. A run that reads an old value may change
// threads without need, or wait for a kernel that it could have left.
class StepHistory {
 public:
  // Runs that take less are quick. Moving a longer run to another thread and
  // back costs little: about 20 us.
  static constexpr absl::Duration kQuick = absl::Milliseconds(20);

  // `step` owns this.
  explicit StepHistory(const CompiledStep& step) : step_(step) {}
  StepHistory(const StepHistory&) = delete;
  StepHistory& operator=(const StepHistory&) = delete;

  // Whether a run with feeds of so many elements may take longer than kQuick:
  // false only after a quick one with as many. Before the first run it may.
  bool MayRunLong(int64_t feed_elements) const {
    return feed_elements > quick_elements_.load(std::memory_order_relaxed);
  }
  // After a run that was not cut short.
  void NoteTime(int64_t feed_elements, absl::Duration time);

  // Counts a run, for cost graphs; how many were counted before.
  int64_t CountRun() { return runs_.fetch_add(1, std::memory_order_relaxed); }

  // The memory for a run with these feeds; null if none is planned. When the
  // same shapes come twice in a row, this also sets `notes`. Then the run fills
  // the notes, and after a complete run the caller calls PlanArena: no run
  // waits for a plan before it begins. A step makes at most 64 plans and keeps
  // the last 8.
  RefPtr<StepArena> NewArena(absl::Span<const Tensor* const> feeds,
                             std::unique_ptr<ReuseNotes>* notes);
  void PlanArena(absl::Span<const Tensor* const> feeds,
                 const ReuseNotes& notes);

  // ResourceExhausted if the tensors of a run with these feeds would take more
  // than `budget` bytes at once, as far as that can be known before the run.
  // Sets `all_known` if all of them are known: then the run needs no budget of
  // its own. Other errors: those of CompiledStep::PlanMemory that do not come
  // from shapes or loops.
  Status CheckBudget(absl::Span<const Tensor* const> feeds, int64_t budget,
                     bool* all_known);

 private:
  struct Arena {
    std::vector<TensorShape> feeds;
    std::shared_ptr<const ArenaLayout> layout;  // null: not worth it
  };
  struct BudgetPlan {
    MemoryPlan plan;
    // False: some part of the step cannot be planned. It has a loop, or shapes
    // that only the kernels can judge, which take some that shape functions
    // refuse. `plan` holds the parts before it.
    bool is_whole = false;
  };

  Status FindBudgetPlan(absl::Span<const Tensor* const> feeds,
                        std::shared_ptr<const BudgetPlan>* plan);

  const CompiledStep& step_;
  std::atomic<int64_t> runs_{0};
  // The most elements fed to a quick run, fewer than to any long one since.
  std::atomic<int64_t> quick_elements_{-1};
  Mutex mu_;
  int arena_plans_ GUARDED_BY(mu_) = 0;  // made so far
  // Of the feeds of the last run for which nothing is planned.
  std::optional<std::vector<TensorShape>> last_shapes_ GUARDED_BY(mu_);
  std::vector<Arena> arenas_ GUARDED_BY(mu_);  // the oldest first
  // By the feeds' shapes; all forgotten when there are too many.
  absl::flat_hash_map<std::string, std::shared_ptr<const BudgetPlan>>
      budget_plans_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_STEP_HISTORY_H_
