// PreparedStep: one combination of feeds, fetches and targets, compiled.
#ifndef HEADRACE_SESSION_PREPARED_STEP_H_
#define HEADRACE_SESSION_PREPARED_STEP_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "framework/memory/step_arena.h"
#include "headrace/mutex.h"
#include "headrace/session.h"
#include "runtime/executor.h"
#include "runtime/memory_plan.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {

class Session::Prepared {
 public:
  virtual ~Prepared() = default;
};

// Immutable once made, but for what it remembers of its runs and the plans it
// keeps.
class PreparedStep : public Session::Prepared,
                     public std::enable_shared_from_this<PreparedStep> {
 public:
  struct FeedInfo {
    std::string name;  // "x:0"
    DataType dtype;
    // What the step relies on: the static shape, or any.
    PartialTensorShape shape;
  };
  struct Part {
    Device* device = nullptr;
    std::unique_ptr<Graph> graph;  // for RunMetadata
    std::unique_ptr<Executor> executor;
  };

  // InvalidArgument if a value is not of feed i's type.
  Status CheckFeed(size_t i, const Tensor& value) const;
  // False if a value has a shape that the step was not compiled for.
  bool FitsFeed(size_t i, const Tensor& value) const {
    return feeds[i].shape.IsCompatibleWith(value.shape());
  }
  // What the tensors of a run with feeds of these shapes take, the parts' side
  // by side. `notes` may be null.
  Status PlanMemory(absl::Span<const TensorShape> feeds, MemoryPlan* plan,
                    const ReuseNotes* notes = nullptr) const;
  // ResourceExhausted if the tensors of a run with these feeds would take more
  // bytes than `budget` at once, as far as can be known before it. `all_known`:
  // that is all of them. Thread-safe.
  Status CheckBudget(absl::Span<const Tensor* const> feeds, int64_t budget,
                     bool* all_known) const;

  // Decides whether runs may have an arena, and looks for strings; once `parts`
  // is complete.
  void LookForArena();
  // Memory for a run with these feeds; null if none is planned. When their
  // shapes come for the second time in a row `notes` is set, too: the run is
  // watched, and PlanArena called after it, if it was complete. So no run waits
  // for a plan before it begins, and plans are not made without end.
  // Thread-safe, both.
  RefPtr<StepArena> NewArena(absl::Span<const Tensor* const> feeds,
                             std::unique_ptr<ReuseNotes>* notes) const {
    return may_have_arena_ ? PlannedArena(feeds, notes) : nullptr;
  }
  void PlanArena(absl::Span<const Tensor* const> feeds,
                 const ReuseNotes& notes) const;

  // Whether a run with feeds of so many elements may go on for more than some
  // 20 ms, as far as runs before have shown; one of a kind not seen may.
  // Thread-safe, as Ran is.
  bool MayRunLong(int64_t feed_elements) const {
    return may_run_long &&
           feed_elements > quick_elements_.load(std::memory_order_relaxed);
  }
  // After a run that was not cut short.
  void Ran(int64_t feed_elements, absl::Duration time) const;

  // The session's devices and threads, which kernels refer to: a prepared step
  // may outlive its session. First, so that it goes last.
  std::shared_ptr<const void> resources;
  const Session* session = nullptr;
  std::vector<FeedInfo> feeds;
  std::vector<std::string> fetches;
  // What the client asked for.
  std::vector<Endpoint> feed_endpoints, fetch_endpoints;
  std::vector<Node*> targets;
  std::vector<GraphPassReport> passes;
  std::vector<Part> parts;
  bool needs_rendezvous = false;
  bool may_run_long = false;  // see Executor
  // Fetches of session handles: what they stand for outlives the step.
  std::vector<int> handle_fetches;
  mutable std::atomic<int64_t> runs{0};  // counted for cost graphs
  // For each fetch the feeds that it needs; only of a partial run's step.
  std::vector<std::vector<int>> fetch_needs;

 private:
  RefPtr<StepArena> PlannedArena(absl::Span<const Tensor* const> feeds,
                                 std::unique_ptr<ReuseNotes>* notes) const;

  bool may_have_arena_ = false;
  bool has_strings_ = false;  // whose characters no plan knows
  mutable Mutex arena_mu_;
  mutable int arena_plans_ GUARDED_BY(arena_mu_) = 0;
  // Of the feeds of the last run that was not planned for.
  mutable std::optional<std::vector<TensorShape>> last_shapes_
      GUARDED_BY(arena_mu_);
  struct Arena {
    std::vector<TensorShape> feeds;
    std::shared_ptr<const ArenaLayout> layout;  // null: not worth it
  };
  mutable std::vector<Arena> arenas_ GUARDED_BY(arena_mu_);  // the oldest first
  // The most elements fed to a quick run, fewer than to any long one since.
  mutable std::atomic<int64_t> quick_elements_{-1};
  // By the feeds' shapes; forgotten when there are many.
  mutable Mutex plans_mu_;
  mutable absl::flat_hash_map<std::string, std::shared_ptr<const MemoryPlan>>
      plans_ GUARDED_BY(plans_mu_);
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_PREPARED_STEP_H_
