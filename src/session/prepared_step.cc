#include "session/prepared_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "framework/memory/lasting_allocator.h"

namespace headrace {
namespace {

constexpr size_t kMaxPlans = 64;
constexpr size_t kMaxArenas = 8;
constexpr int kMaxArenaPlans = 64;

// Beside this the hop to another thread and back, some 20 us, is nothing.
constexpr absl::Duration kLong = absl::Milliseconds(20);

bool SameShapes(absl::Span<const Tensor* const> values,
                absl::Span<const TensorShape> shapes) {
  return std::equal(
      values.begin(), values.end(), shapes.begin(), shapes.end(),
      [](const Tensor* t, const TensorShape& s) { return t->shape() == s; });
}

}  // namespace

Status PreparedStep::CheckFeed(size_t i, const Tensor& value) const {
  const FeedInfo& want = feeds[i];
  if (value.dtype() != want.dtype) {
    return errors::InvalidArgument(
        "Cannot feed a tensor of type ", DataTypeString(value.dtype()),
        " for '", want.name, "', which has type ", DataTypeString(want.dtype));
  }
  return OkStatus();
}

void PreparedStep::Ran(int64_t feed_elements, absl::Duration time) const {
  const bool quick = time < kLong;
  if (quick != MayRunLong(feed_elements)) return;  // as expected
  quick_elements_.store(quick ? feed_elements : feed_elements - 1,
                        std::memory_order_relaxed);
}

Status PreparedStep::PlanMemory(absl::Span<const TensorShape> shapes,
                                MemoryPlan* plan,
                                const ReuseNotes* notes) const {
  *plan = MemoryPlan();
  for (const Part& part : parts) {
    MemoryPlan p;
    HR_RETURN_IF_ERROR(
        headrace::PlanMemory(*part.graph, shapes, part.executor->kernels(),
                             part.device->thread_pool(), notes, &p));
    for (MemoryPlan::Block& b : p.blocks) {
      b.offset += plan->peak_bytes;
      plan->blocks.push_back(std::move(b));
    }
    plan->peak_bytes += p.peak_bytes;
    plan->total_bytes += p.total_bytes;
    plan->unknown.insert(plan->unknown.end(), p.unknown.begin(),
                         p.unknown.end());
  }
  if (parts.size() > 1) {
    std::stable_sort(
        plan->blocks.begin(), plan->blocks.end(),
        [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }
  return OkStatus();
}

Status PreparedStep::CheckBudget(absl::Span<const Tensor* const> values,
                                 int64_t budget, bool* all_known) const {
  std::string key;
  std::vector<TensorShape> shapes;
  for (const Tensor* t : values) {
    shapes.push_back(t->shape());
    absl::StrAppend(&key, t->shape().DebugString());
  }
  std::shared_ptr<const MemoryPlan> plan;
  {
    MutexLock lock(&plans_mu_);
    const auto it = plans_.find(key);
    if (it != plans_.end()) plan = it->second;
  }
  if (plan == nullptr) {
    auto made = std::make_shared<MemoryPlan>();
    const Status s = PlanMemory(shapes, made.get());
    if (errors::IsUnimplemented(s) || errors::IsInvalidArgument(s)) {
      // A loop, or shapes that only the kernels can judge: they take some that
      // shape functions refuse.
      made->unknown.emplace_back(s.message());
    } else if (!s.ok()) {
      return Annotate(s, " (for the memory budget)");
    }
    plan = std::move(made);
    MutexLock lock(&plans_mu_);
    if (plans_.size() >= kMaxPlans) plans_.clear();
    plans_.emplace(std::move(key), plan);
  }
  *all_known = plan->unknown.empty() && !has_strings_;
  if (plan->peak_bytes <= budget) return OkStatus();
  return errors::ResourceExhausted("the tensors of the run take up to ",
                                   plan->peak_bytes,
                                   " bytes at once, the memory budget is ",
                                   budget, ". The largest: ", plan->Largest(5));
}

void PreparedStep::LookForArena() {
  for (const Part& part : parts) {
    part.graph->ForEachNode([this](const Node* n) {
      for (DataType t : n->output_types()) {
        has_strings_ = has_strings_ || BaseType(t) == DT_STRING;
      }
    });
  }
  may_have_arena_ = parts.size() == 1 &&
                    parts[0].device->device_type() == DEVICE_CPU &&
                    MayHaveArena(*parts[0].graph);
}

RefPtr<StepArena> PreparedStep::PlannedArena(
    absl::Span<const Tensor* const> values,
    std::unique_ptr<ReuseNotes>* notes) const {
  std::shared_ptr<const ArenaLayout> layout;
  {
    MutexLock lock(&arena_mu_);
    const auto planned = std::find_if(
        arenas_.begin(), arenas_.end(),
        [&](const Arena& a) { return SameShapes(values, a.feeds); });
    if (planned != arenas_.end()) {
      layout = planned->layout;
    } else if (arena_plans_ >= kMaxArenaPlans) {
      return nullptr;
    } else if (last_shapes_.has_value() && SameShapes(values, *last_shapes_)) {
      *notes = std::make_unique<ReuseNotes>();
    } else {
      last_shapes_.emplace();
      for (const Tensor* t : values) last_shapes_->push_back(t->shape());
    }
  }
  return layout == nullptr ? nullptr : StepArena::New(std::move(layout));
}

void PreparedStep::PlanArena(absl::Span<const Tensor* const> values,
                             const ReuseNotes& notes) const {
  Arena arena;
  for (const Tensor* t : values) arena.feeds.push_back(t->shape());
  MemoryPlan plan;
  if (notes.num_large() > 1 && PlanMemory(arena.feeds, &plan, &notes).ok()) {
    arena.layout = ArenaOf(plan, *parts[0].executor);
    if (arena.layout != nullptr) DropKeptBlocks();
  }
  MutexLock lock(&arena_mu_);
  ++arena_plans_;
  for (const Arena& a : arenas_) {
    if (a.feeds == arena.feeds) return;  // another run was faster
  }
  if (arenas_.size() == kMaxArenas) arenas_.erase(arenas_.begin());
  arenas_.push_back(std::move(arena));
}

}  // namespace headrace
