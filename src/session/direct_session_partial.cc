// The partial runs of a DirectSession: steps that are fed and fetched in
// several calls.
#include <utility>

#include "base/exceptions.h"
#include "graph/client_graph.h"
#include "session/direct_session_impl.h"
#include "session/session_handles.h"
#include "session/uninitialized.h"

namespace headrace {

StatusOr<std::string> DirectSession::PRunSetup(
    absl::Span<const Endpoint> feeds, absl::Span<const Endpoint> fetches,
    absl::Span<Node* const> targets) {
  const InsideSession inside(gate_.get(), &calls_);
  HR_RETURN_IF_ERROR(inside.status());
  HR_RETURN_IF_ERROR(running_.CheckOpen());
  RunTime time(options_.operation_timeout_ms);
  StepPtr step;
  HR_RETURN_IF_ERROR(CatchExceptions([&] {
    return Compile({.feeds = feeds,
                    .fetches = fetches,
                    .targets = targets,
                    .shapes = FedShapes::kAny,
                    .partial = true},
                   &time, &step);
  }));
  auto p = std::make_shared<PartialStep>(std::move(step));
  HR_RETURN_IF_ERROR(running_.Enter(&p->running));
  // The run stays inside between calls. This cannot fail: the call is inside.
  if (!gate_->Enter()) return InsideSession::Refusal();
  std::shared_ptr<PartialStep> dropped;
  const std::string handle = partial_runs_->Add(p, &dropped);
  if (dropped != nullptr) {
    dropped->Abort(errors::Cancelled(
        "The partial run was dropped: too many newer ones were begun."));
  }
  // A call that waits for the run returns when the run is cancelled, whatever
  // kernel it is in.
  CancellationManager* const cancelled = &p->running.cancellation;
  cancelled->RegisterCallback(cancelled->NextToken(), [r = p.get()] {
    const Status why = r->running.cancellation.status();
    if (EndedFromOutside(why)) r->run.Finish(why);
  });
  StartPartial(p);
  return handle;
}

void DirectSession::StartPartial(const std::shared_ptr<PartialStep>& p) {
  p->Begin(NextStepId(), p->run.step(), &p->run, inter_, functions_.get());
  // With the shapes of some feeds alone nothing is planned.
  if (options_.memory_budget != 0) p->LimitMemory(options_.memory_budget);
  auto finished = [this, p](bool complete) {
    if (!complete) p->complete = false;
    if (p->left.fetch_sub(1) != 1) return;
    // Not from here: this may be a callback of a cancellation that Leave would
    // wait for.
    inter_->Schedule([this, p] {
      Status s;
      if (!p->complete) {
        s = ListUninitialized(p->running.cancellation.status(), p->run.step(),
                              *graph());
      }
      p->run.Finish(s);
      const std::shared_ptr<ForkGate> gate = gate_;
      running_.Leave(&p->running);  // the session may go
      gate->Leave();
    });
  };
  for (const CompiledStep::Part& part : p->run.step().parts) {
    inter_->Schedule([p, finished, e = part.executor.get()] {
      e->RunAsync(p->args, finished);
    });
  }
}

Status DirectSession::PRun(const std::string& handle,
                           const pb::RunOptions& options,
                           absl::Span<const Feed> feeds,
                           absl::Span<const Endpoint> fetches,
                           std::vector<Tensor>* outputs, RunToken token) {
  const InsideSession inside(gate_.get(), &calls_);
  HR_RETURN_IF_ERROR(inside.status());
  HR_RETURN_IF_ERROR(running_.CheckOpen());
  ThreadPool* unused;  // the executors run already
  HR_RETURN_IF_ERROR(CheckRunOptions(options, &unused));
  if (options.headrace().memory_budget_bytes() != 0) {
    return errors::InvalidArgument(
        "RunOptions: memory_budget_bytes in a call of a partial run, which "
        "goes on already; it has the session's");
  }
  std::shared_ptr<PartialStep> p;
  HR_RETURN_IF_ERROR(partial_runs_->BeginCall(handle, &p));
  std::vector<std::pair<std::string, Tensor>> feed_list;
  for (const Feed& f : feeds) {
    feed_list.emplace_back(EndpointName(f.first), f.second);
  }
  std::vector<std::string> fetch_list;
  for (const Endpoint& f : fetches) fetch_list.push_back(EndpointName(f));

  auto end = [&p](const Status& why) {
    const Status full = p->running.Explain(why);
    p->Abort(full);
    return full;
  };
  CancellationManager* const caller = token.manager;
  CancellationManager::Token key = 0;
  if (caller != nullptr) {
    key = caller->NextToken();
    if (!caller->RegisterCallback(key, [&end] {
          end(errors::Cancelled("Run was cancelled.")).IgnoreError();
        })) {
      end(errors::Cancelled("Run was cancelled.")).IgnoreError();
    }
  }
  const int64_t timeout = TimeoutOf(options);
  bool complete = false;
  Status s = p->run.Call(feed_list, fetch_list, timeout, token.waits, outputs,
                         &complete);
  if (errors::IsDeadlineExceeded(s)) s = end(s);
  // The last call waits for the targets too.
  if (s.ok() && complete) {
    s = p->run.Wait(timeout, token.waits);
    if (errors::IsDeadlineExceeded(s)) s = end(s);
  }
  for (size_t i = 0; s.ok() && i < fetches.size(); ++i) {
    if (IsSessionHandle(fetches[i])) {
      KeepSessionTensor((*outputs)[i], &p->resources, session_tensors_.get());
    }
  }
  if (caller != nullptr) caller->DeregisterCallback(key);
  partial_runs_->EndCall(handle, p.get(),
                         complete || p->running.cancellation.IsCancelled());
  return s;
}

void DirectSession::PRunClose(const std::string& handle) {
  const InsideSession inside(gate_.get(), &calls_);
  if (!inside.status().ok()) return;
  const std::shared_ptr<PartialStep> p = partial_runs_->Take(handle);
  if (p == nullptr) return;
  p->Abort(errors::Cancelled("The partial run was ended."));
}

}  // namespace headrace
