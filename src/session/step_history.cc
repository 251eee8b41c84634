#include "session/step_history.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "framework/memory/lasting_allocator.h"
#include "session/compiled_step.h"

namespace headrace {
namespace {

constexpr size_t kMaxBudgetPlans = 64;
constexpr size_t kMaxArenas = 8;
constexpr int kMaxArenaPlans = 64;

bool SameShapes(absl::Span<const Tensor* const> values,
                absl::Span<const TensorShape> shapes) {
  return std::equal(
      values.begin(), values.end(), shapes.begin(), shapes.end(),
      [](const Tensor* t, const TensorShape& s) { return t->shape() == s; });
}

std::vector<TensorShape> ShapesOf(absl::Span<const Tensor* const> values) {
  std::vector<TensorShape> shapes;
  for (const Tensor* t : values) shapes.push_back(t->shape());
  return shapes;
}

}  // namespace

void StepHistory::NoteTime(int64_t feed_elements, absl::Duration time) {
  const bool quick = time < kQuick;
  if (quick != MayRunLong(feed_elements)) return;  // as expected
  quick_elements_.store(quick ? feed_elements : feed_elements - 1,
                        std::memory_order_relaxed);
}

RefPtr<StepArena> StepHistory::NewArena(absl::Span<const Tensor* const> feeds,
                                        std::unique_ptr<ReuseNotes>* notes) {
  if (!step_.may_have_arena) return nullptr;
  std::shared_ptr<const ArenaLayout> layout;
  {
    MutexLock lock(&mu_);
    const auto planned = std::find_if(
        arenas_.begin(), arenas_.end(),
        [&](const Arena& a) { return SameShapes(feeds, a.feeds); });
    if (planned != arenas_.end()) {
      layout = planned->layout;
    } else if (arena_plans_ >= kMaxArenaPlans) {
      return nullptr;
    } else if (last_shapes_.has_value() && SameShapes(feeds, *last_shapes_)) {
      *notes = std::make_unique<ReuseNotes>();
    } else {
      last_shapes_ = ShapesOf(feeds);
    }
  }
  return layout == nullptr ? nullptr : StepArena::New(std::move(layout));
}

void StepHistory::PlanArena(absl::Span<const Tensor* const> feeds,
                            const ReuseNotes& notes) {
  Arena arena;
  arena.feeds = ShapesOf(feeds);
  MemoryPlan plan;
  if (notes.num_large() > 1 &&
      step_.PlanMemory(arena.feeds, &plan, &notes).ok()) {
    arena.layout = ArenaOf(plan, *step_.parts[0].executor);
    if (arena.layout != nullptr) DropKeptBlocks();
  }
  MutexLock lock(&mu_);
  ++arena_plans_;
  for (const Arena& a : arenas_) {
    if (a.feeds == arena.feeds) return;  // another run was faster
  }
  if (arenas_.size() == kMaxArenas) arenas_.erase(arenas_.begin());
  arenas_.push_back(std::move(arena));
}

Status StepHistory::FindBudgetPlan(absl::Span<const Tensor* const> feeds,
                                   std::shared_ptr<const BudgetPlan>* plan) {
  std::string key;
  for (const Tensor* t : feeds) absl::StrAppend(&key, t->shape().DebugString());
  {
    MutexLock lock(&mu_);
    const auto it = budget_plans_.find(key);
    if (it != budget_plans_.end()) {
      *plan = it->second;
      return OkStatus();
    }
  }
  auto made = std::make_shared<BudgetPlan>();
  const Status s = step_.PlanMemory(ShapesOf(feeds), &made->plan);
  made->is_whole = s.ok();
  if (!s.ok() && !errors::IsUnimplemented(s) && !errors::IsInvalidArgument(s)) {
    return Annotate(s, " (for the memory budget)");
  }
  *plan = made;
  MutexLock lock(&mu_);
  if (budget_plans_.size() >= kMaxBudgetPlans) budget_plans_.clear();
  budget_plans_.emplace(std::move(key), std::move(made));
  return OkStatus();
}

Status StepHistory::CheckBudget(absl::Span<const Tensor* const> feeds,
                                int64_t budget, bool* all_known) {
  std::shared_ptr<const BudgetPlan> known;
  HR_RETURN_IF_ERROR(FindBudgetPlan(feeds, &known));
  const MemoryPlan& plan = known->plan;
  *all_known = known->is_whole && plan.unknown.empty() && !step_.has_strings;
  if (plan.peak_bytes <= budget) return OkStatus();
  return errors::ResourceExhausted("the tensors of the run take up to ",
                                   plan.peak_bytes,
                                   " bytes at once, the memory budget is ",
                                   budget, ". The largest: ", plan.Largest(5));
}

}  // namespace headrace
