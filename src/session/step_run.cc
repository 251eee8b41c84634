#include "session/step_run.h"

#include <functional>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/thread_pool.h"
#include "base/waiting_threads.h"
#include "framework/kernel/rendezvous.h"
#include "headrace/importer.h"
#include "runtime/cost_graph.h"
#include "runtime/help.h"
#include "session/step_history.h"
#include "session/uninitialized.h"

namespace headrace {
namespace {

// How long a cancelled run may take to end before it is left.
constexpr int kGraceMs = 3;

}  // namespace

bool EndedFromOutside(const Status& s) {
  return errors::IsDeadlineExceeded(s) || errors::IsCancelled(s);
}

void StepRun::Begin(int64_t id, const CompiledStep& step, CallFrame* frame,
                    ThreadPool* pool, SessionFunctions* session) {
  args.step_id = id;
  args.cancellation = &running.cancellation;
  args.call_frame = frame;
  args.pool = pool;
  args.group = &group;
  args.step_resources = &resources;
  args.pending = &running.pending;
  functions.emplace(session, &args);
  args.functions = &*functions;
  if (step.needs_rendezvous) {
    rendezvous = NewLocalRendezvous();
    args.rendezvous = rendezvous.get();
  }
}

void StepRun::LimitMemory(int64_t bytes) {
  budget = MakeRef<StepBudget>(bytes);
  args.budget = budget.get();
}

void StepRun::Abort(const Status& why) {
  running.cancellation.StartCancel(why);
  if (rendezvous != nullptr) rendezvous->StartAbort(why);
}

Status WholeRun::Frame::SetRetval(int i, const Tensor& value) {
  if (i < 0 || i >= static_cast<int>(values.size())) {
    return errors::InvalidArgument("Retval index ", i, " of ", values.size());
  }
  values[i] = value;
  return OkStatus();
}

void WholeRun::Trace(const pb::RunOptions& options, bool wants_metadata,
                     bool wants_costs) {
  traced = wants_metadata && options.trace_level() != pb::RunOptions::NO_TRACE;
  costs = wants_costs;
  if (traced || costs || options.report_tensor_allocations_upon_oom()) {
    stats = std::make_unique<StepStatsCollector>();
    args.stats = stats.get();
  }
}

void WholeRun::TakeArena(const CompiledStep& step) {
  arena = step.history->NewArena(frame.args, &notes);
}

void WholeRun::RunParts(const CompiledStep& step, WaitHook* hook) {
  if (step.parts.size() == 1) [[likely]] {
    complete =
        step.parts[0].executor->Run(args, {arena.get(), notes.get()}, hook);
    // The next run may begin before this object is gone.
    arena = nullptr;
    return;
  }
  std::atomic<size_t> left{step.parts.size()};
  std::atomic<bool> all{true};
  const auto finished = [&](bool c) {
    if (!c) all = false;
    if (left.fetch_sub(1) == 1) group.Finish();
  };
  // Nothing here allocates but Schedule: parts that run go on in what this
  // thread has.
  const auto run = [this, &finished](Executor* e) {
    e->RunAsync(args, std::cref(finished));
  };
  for (size_t i = 1; i < step.parts.size(); ++i) {
    Executor* e = step.parts[i].executor.get();
    if (args.pool == nullptr) {
      run(e);
      continue;
    }
    try {
      args.pool->Schedule([&run, e] { run(e); }, &group);
    } catch (const std::bad_alloc&) {
      run(e);
    }
  }
  run(step.parts[0].executor.get());
  HelpUntilFinished(&group, args.pool, step.parts[0].device->thread_pool(),
                    CallersHelp(), hook);
  complete = all;
}

void WholeRun::Report(const CompiledStep& step, const pb::RunOptions& options,
                      pb::RunMetadata* metadata) {
  if (!complete && options.report_tensor_allocations_upon_oom() &&
      errors::IsResourceExhausted(running.cancellation.status())) {
    const std::string largest = stats->LargestOutputs();
    largest_tensors_ =
        absl::StrCat("\n\t Largest tensors that the step had made: ",
                     largest.empty() ? "none" : largest);
  }
  if (metadata == nullptr) return;
  metadata->Clear();
  pb::StepStats step_stats;
  pb::RunCounters counters;
  if (stats != nullptr) stats->Finish(&step_stats, &counters);
  for (const CompiledStep::Part& p : step.parts) {
    if (costs) {
      AddCosts(*p.graph, p.device->name(), step_stats,
               metadata->mutable_cost_graph());
    }
    if (options.output_partition_graphs()) {
      GraphToGraphDef(*p.graph, metadata->add_partition_graphs());
    }
  }
  if (traced || options.output_partition_graphs()) {
    ReportPasses(step.passes, metadata->mutable_headrace_passes());
  }
  if (traced) {
    *metadata->mutable_step_stats() = std::move(step_stats);
    *metadata->mutable_headrace_counters() = counters;
  }
}

Status WholeRun::Results(const CompiledStep& step, const Graph& graph,
                         std::vector<Tensor>* outputs) {
  // One that was cancelled when all had been done is as good as any.
  if (!complete) [[unlikely]] {
    return Annotate(
        ListUninitialized(running.cancellation.status(), step, graph),
        largest_tensors_);
  }
  std::vector<Tensor>& values = frame.values;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].IsInitialized()) [[unlikely]] {
      return errors::InvalidArgument(
          "Retval[", i, "] does not have value: ", step.fetches[i]);
    }
  }
  if (outputs != nullptr) *outputs = std::move(values);
  return OkStatus();
}

LeavableRun::LeavableRun(std::shared_ptr<const CompiledStep> step,
                         absl::Span<const Tensor* const> feeds)
    : WholeRun(step->fetches.size()), step_(std::move(step)) {
  feeds_.reserve(feeds.size());
  for (const Tensor* t : feeds) {
    feeds_.push_back(*t);
    frame.args.push_back(&feeds_.back());
  }
}

void LeavableRun::Clear() {
  functions.reset();
  resources.Clear();
  frame.args.clear();
  frame.values.clear();
  feeds_.clear();
}

void LeavableRun::RunAlone(const std::function<void()>& left) {
  RunParts(*step_, nullptr);
  if (first_is_through_.exchange(true)) return left();
  done_.Notify();
  event_.Notify();
}

bool LeavableRun::RunAndWait(const std::shared_ptr<LeavableRun>& run,
                             WaitHook* hook, std::function<void()> left,
                             std::string* why) {
  run->args.running = &run->kernels_;
  CancellationManager* const cancelled = &run->running.cancellation;
  if (!cancelled->RegisterCallback(cancelled->NextToken(),
                                   [r = run.get()] { r->event_.Notify(); })) {
    run->event_.Notify();
  }
  if (!StartWaitingThread([run, left] { run->RunAlone(left); })) {
    run->RunAlone(left);
  }
  WaitForNotification(run->event_, hook);
  std::string waited_for;
  for (int ms = 0;
       !run->done_.WaitForNotificationWithTimeout(absl::Milliseconds(1));) {
    if (hook != nullptr && (ms + 1) % WaitHook::kPeriodMs == 0) hook->Poll();
    // What can be interrupted ends by itself in this time.
    if (++ms < kGraceMs || !EndedFromOutside(cancelled->status())) continue;
    std::string which;
    bool leaves = false;
    try {
      leaves = run->kernels_.Leave(&which);
    } catch (const std::bad_alloc&) {  // for the names; it waits on
    }
    if (!leaves) {
      if (!which.empty()) waited_for = std::move(which);
    } else if (!run->first_is_through_.exchange(true)) {
      *why = absl::StrCat("; left running: ", which,
                          ", which cannot be interrupted; what becomes of it "
                          "is dropped");
      return false;
    }
  }
  if (!waited_for.empty()) {
    *why = absl::StrCat("; waited for the end of ", waited_for,
                        ", which changes state");
  }
  return true;
}

RunLimits::RunLimits(int64_t timeout, int64_t left, CancellationManager* caller,
                     StepRun* run)
    : caller_(caller) {
  if (timeout > 0) {
    deadline_ = std::make_unique<Deadline>(left, [run, timeout] {
      run->Abort(run->running.Explain(errors::DeadlineExceeded(
          "Timed out waiting for notification: the run was not finished after ",
          timeout, " ms")));
    });
  }
  if (caller == nullptr) return;
  const auto cancel = [run] {
    run->Abort(run->running.Explain(errors::Cancelled("Run was cancelled.")));
  };
  token_ = caller->NextToken();
  if (!caller->RegisterCallback(token_, cancel)) cancel();
}

RunLimits::~RunLimits() {
  if (caller_ != nullptr) caller_->DeregisterCallback(token_);
}

}  // namespace headrace
