// KernelCall: what a thread of a step hands to the kernels that it calls, and
// what is noted after a call. Used by one thread, for one node after the other.
#ifndef HEADRACE_RUNTIME_KERNEL_CALL_H_
#define HEADRACE_RUNTIME_KERNEL_CALL_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "framework/memory/allocation_trace.h"
#include "headrace/op_kernel.h"
#include "runtime/entry.h"
#include "runtime/executor.h"
#include "runtime/plan.h"
#include "runtime/reuse_notes.h"
#include "runtime/step_stats.h"

namespace headrace {

struct KernelCall {
  KernelCall() = default;
  KernelCall(const KernelCall&) = delete;  // `params` points to `trace`
  KernelCall& operator=(const KernelCall&) = delete;

  // Sets what all calls of the step have in common. `args` outlive this.
  void Init(const Plan& plan, const StepArgs& args);

  OpKernelContext::Params params;
  absl::InlinedVector<TensorValue, 4> input_storage;
  TensorValue* inputs = nullptr;  // as many as any node of the plan has
  KernelTrace trace;
  std::optional<AllocationTrace> memory;  // while a traced kernel runs
};

// For a node with PlanNode::special_inputs: points `in` at references, reads
// those that the kernel wants as values, and clears the inputs of a Merge that
// have not come or are dead. FailedPrecondition, with the cause
// kUninitializedVariable, for a variable without a value.
Status PrepareSpecialInputs(const Plan& plan, const PlanNode& n, Entry* entries,
                            TensorValue* in);

// When a node's kernel became ready, started and ended, in ns since the epoch.
struct CallTimes {
  int64_t scheduled_ns = 0, start_ns = 0, end_ns = 0;
};

// What a traced call leaves for StepStats. Ends `call->memory`.
StepStatsCollector::NodeRecord RecordOf(const PlanNode& n,
                                        const CallTimes& times,
                                        KernelCall* call, OpKernelContext* ctx);

// Notes which outputs of a call lie where an input was. `bound` are the node's
// bound inputs.
void NoteReuse(const PlanNode& n, const Tensor* const* bound,
               const Entry* entries, OpKernelContext* ctx, ReuseNotes* notes);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_KERNEL_CALL_H_
