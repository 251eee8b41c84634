// How a DirectSession runs a compiled step.
#include "base/exceptions.h"
#include "base/require_memory.h"
#include "headrace/clock.h"
#include "session/direct_session_impl.h"
#include "session/session_handles.h"
#include "session/step_history.h"

namespace headrace {

Status DirectSession::CheckRunOptions(const pb::RunOptions& options,
                                      ThreadPool** pool) const {
  HR_RETURN_IF_ERROR(CheckDebugOptions(options));
  HR_RETURN_IF_ERROR(CheckMemoryBudget(options));
  return resources_->inter->Find(options.inter_op_thread_pool(), pool);
}

Status DirectSession::Execute(const CompiledStep& step,
                              const pb::RunOptions& options,
                              const RunTime& time, const FeedPointers& feeds,
                              std::vector<Tensor>* outputs,
                              pb::RunMetadata* metadata, RunToken token) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  ThreadPool* pool = inter_;
  if (&options != &pb::RunOptions::default_instance()) {
    HR_RETURN_IF_ERROR(CheckRunOptions(options, &pool));
  }
  for (size_t i = 0; i < step.feeds.size(); ++i) {
    HR_RETURN_IF_ERROR(step.CheckFeed(i, *feeds[i]));
  }
  int64_t elements = 0;
  absl::Time start;
  if (step.may_run_long) {
    const bool may_be_cut =
        time.timeout > 0 || (token.manager != nullptr && token.leaves_kernels);
    for (const Tensor* t : feeds) elements += t->NumElements();
    start = Now();
    if (may_be_cut || step.history->MayRunLong(elements)) {
      const Status s = ExecuteLeavable(time, step, options, pool, feeds,
                                       outputs, metadata, token);
      if (s.ok()) step.history->NoteTime(elements, Now() - start);
      return s;
    }
  }
  WholeRun run(step.fetches.size());
  run.frame.args = feeds;
  HR_RETURN_IF_ERROR(Begin(step, options, pool, metadata != nullptr, &run));
  // Whatever happens the run leaves the list of those in progress.
  const Status s = CatchExceptions([&] {
    {
      const RunLimits limits(time.timeout, time.Left(), token.manager, &run);
      run.RunParts(step, token.waits);
    }
    if (step.may_run_long && run.complete) {
      step.history->NoteTime(elements, Now() - start);
    }
    return End(step, options, &run, outputs, metadata);
  });
  running_.Leave(&run.running);
  return s;
}

Status DirectSession::ExecuteLeavable(
    const RunTime& time, const CompiledStep& step,
    const pb::RunOptions& options, ThreadPool* pool, const FeedPointers& feeds,
    std::vector<Tensor>* outputs, pb::RunMetadata* metadata, RunToken token) {
  const auto run =
      std::make_shared<LeavableRun>(step.shared_from_this(), feeds);
  HR_RETURN_IF_ERROR(
      Begin(step, options, pool, metadata != nullptr, run.get()));
  // What may refer to the session goes before the session may go.
  const auto left = [this, r = run.get(), gate = gate_] {
    r->Clear();
    running_.Leave(&r->running);
    gate->Leave();
  };
  // The run stays inside when its caller has left. This cannot fail: the caller
  // is inside.
  if (!gate_->Enter()) return InsideSession::Refusal();
  std::string why;
  bool through = true;
  const Status s = CatchExceptions([&] {
    const RunLimits limits(time.timeout, time.Left(), token.manager, run.get());
    through = LeavableRun::RunAndWait(run, token.waits, left, &why);
    return through ? End(step, options, run.get(), outputs, metadata)
                   : run->running.cancellation.status();
  });
  if (through) left();
  return Annotate(s, why);
}

Status DirectSession::Begin(const CompiledStep& step,
                            const pb::RunOptions& options, ThreadPool* pool,
                            bool wants_metadata, WholeRun* run) {
  const int64_t budget = BudgetOf(options);
  bool all_known = true;
  if (budget != 0) [[unlikely]] {
    HR_RETURN_IF_ERROR(
        step.history->CheckBudget(run->frame.args, budget, &all_known));
  }
  HR_RETURN_IF_ERROR(running_.Enter(&run->running));
  const Status s = CatchExceptions([&] {
    run->Begin(NextStepId(), step, &run->frame, pool, functions_.get());
    // An arena is not counted by a budget: tensors that come otherwise than
    // planned lie beside it.
    if (budget == 0) run->TakeArena(step);
    if (!all_known) run->LimitMemory(budget);
    run->Trace(options, wants_metadata, wants_metadata && ReportsCosts(step));
    return OkStatus();
  });
  if (!s.ok()) running_.Leave(&run->running);
  return s;
}

Status DirectSession::End(const CompiledStep& step,
                          const pb::RunOptions& options, WholeRun* run,
                          std::vector<Tensor>* outputs,
                          pb::RunMetadata* metadata) {
  run->Report(step, options, metadata);
  if (run->notes != nullptr && run->complete) [[unlikely]] {
    step.history->PlanArena(run->frame.args, *run->notes);
  }
  for (int i : step.handle_fetches) {
    if (run->complete && run->frame.values[i].IsInitialized()) {
      KeepSessionTensor(run->frame.values[i], &run->resources,
                        session_tensors_.get());
    }
  }
  return run->Results(step, *graph(), outputs);
}

bool DirectSession::ReportsCosts(const CompiledStep& step) const {
  if (options_.cost_graph_every <= 0) return false;
  const int64_t run = step.history->CountRun() - options_.cost_graph_after;
  return run >= 0 && (run + 1) % options_.cost_graph_every == 0;
}

}  // namespace headrace
