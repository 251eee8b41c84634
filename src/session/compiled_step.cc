#include "session/compiled_step.h"

#include <algorithm>
#include <utility>

#include "session/step_history.h"

namespace headrace {

CompiledStep::CompiledStep() : history(std::make_unique<StepHistory>(*this)) {}

CompiledStep::~CompiledStep() = default;

Status CompiledStep::CheckFeed(size_t i, const Tensor& value) const {
  const FeedInfo& want = feeds[i];
  if (value.dtype() != want.dtype) {
    return errors::InvalidArgument(
        "Cannot feed a tensor of type ", DataTypeString(value.dtype()),
        " for '", want.name, "', which has type ", DataTypeString(want.dtype));
  }
  return OkStatus();
}

Status CompiledStep::PlanMemory(absl::Span<const TensorShape> shapes,
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

}  // namespace headrace
