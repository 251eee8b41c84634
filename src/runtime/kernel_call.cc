#include "runtime/kernel_call.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/error_cause.h"
#include "framework/kernel/kernel_counts.h"

namespace headrace {
namespace {

uint32_t ThreadId() {
  thread_local const uint32_t id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace

void KernelCall::Init(const Plan& plan, const StepArgs& args) {
  params.step_id = args.step_id;
  params.device = plan.device;
  params.step_resources = args.step_resources;
  params.rendezvous = args.rendezvous;
  params.cancellation = args.cancellation;
  params.call_frame = args.call_frame;
  params.functions = args.functions;
  params.session_handle = args.session_handle;
  params.budget = args.budget;
  const bool traces =
      args.stats != nullptr || KernelCounts::OfProcess() != nullptr;
  params.trace = traces ? &trace : nullptr;
  input_storage.resize(plan.max_inputs);
  inputs = input_storage.data();
}

Status PrepareSpecialInputs(const Plan& plan, const PlanNode& n, Entry* entries,
                            TensorValue* in) {
  for (int i = 0; i < n.num_inputs; ++i) {
    Entry& e = entries[i];
    if (n.is_merge && !e.is_set) e.value = Tensor();
    if (e.ref == nullptr) continue;
    const bool wants_ref = IsRefType(n.kernel->input_type(i));
    {
      MutexLock lock(e.ref_mutex);
      if (!e.ref->IsInitialized() && !n.allows_uninitialized) {
        return WithCause(
            errors::FailedPrecondition("Attempting to use uninitialized value ",
                                       plan.sources[n.first_input + i]->name()),
            ErrorCause::kUninitializedVariable);
      }
      if (!wants_ref) e.value = *e.ref;
    }
    if (wants_ref) {
      in[i] = {e.ref, e.ref_mutex};
    } else {
      e.ref = nullptr;
    }
  }
  return OkStatus();
}

StepStatsCollector::NodeRecord RecordOf(const PlanNode& n,
                                        const CallTimes& times,
                                        KernelCall* call,
                                        OpKernelContext* ctx) {
  StepStatsCollector::NodeRecord r;
  r.kernel = n.kernel;
  r.scheduled_ns = times.scheduled_ns;
  r.start_ns = times.start_ns;
  r.end_ns = times.end_ns;
  r.thread_id = ThreadId();
  r.algorithm = std::move(call->trace.algorithm);
  call->trace.algorithm.clear();
  if (call->memory.has_value()) r.memory = call->memory->counts();
  for (int i = 0; i < ctx->num_outputs(); ++i) {
    const OutputSlot& o = ctx->output_slot(i);
    if (!o.is_set || o.ref != nullptr) continue;
    r.outputs.push_back({i, o.value.dtype(), o.value.shape(),
                         static_cast<int64_t>(o.value.TotalBytes())});
    if (call->memory.has_value()) {
      r.outputs.back().made_here = call->memory->LiveBytes(o.value.raw_data());
    }
  }
  call->memory.reset();
  return r;
}

void NoteReuse(const PlanNode& n, const Tensor* const* bound,
               const Entry* entries, OpKernelContext* ctx, ReuseNotes* notes) {
  for (int i = 0; i < ctx->num_outputs(); ++i) {
    const OutputSlot& o = ctx->output_slot(i);
    if (!o.is_set || o.ref != nullptr || o.value.IsInline()) continue;
    int input = ReuseNotes::kOwn;
    for (int k = 0; k < n.num_inputs; ++k) {
      const Tensor& in = entries[k].value;
      if (bound[k] == nullptr && entries[k].ref == nullptr && !in.IsInline() &&
          in.raw_data() == o.value.raw_data() &&
          in.TotalBytes() == o.value.TotalBytes()) {
        input = k;
      }
    }
    notes->Note(n.kernel, i, input, static_cast<int64_t>(o.value.TotalBytes()));
  }
  for (int k = 0; k < n.num_inputs; ++k) {
    const Tensor& in = entries[k].value;
    if (bound[k] == nullptr && entries[k].ref == nullptr && !in.IsInline() &&
        in.OwnsExclusively()) {
      notes->NoteLetGo(n.kernel, k);
    }
  }
}

}  // namespace headrace
