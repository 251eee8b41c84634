#include "kernels/lib/waiting_resource.h"

#include <utility>

#include "base/exceptions.h"

namespace headrace {
namespace {

// An attempt that throws is over, and has failed.
bool IsOver(const WaitingResource::Attempt& attempt, OpKernelContext* ctx) {
  try {
    return attempt();
  } catch (const std::exception& e) {
    ctx->CtxFailure(StatusOf(e));
    return true;
  }
}

}  // namespace

void WaitingResource::Run(OpKernelContext* ctx, Attempt attempt,
                          AsyncOpKernel::DoneCallback done) {
  WaitingList ended, one(1);
  Waiting& w = one.front();
  w.ctx = ctx;
  w.attempt = std::move(attempt);
  w.done = std::move(done);
  {
    MutexLock lock(&mu_);
    CancellationManager* cm = ctx->cancellation_manager();
    const int64_t id = w.id = next_id_++;
    if (IsOver(w.attempt, ctx)) {
      ended.splice(ended.end(), one);
      Retry(&ended);
    } else if (cm == nullptr) {
      waiting_.splice(waiting_.end(), one);
    } else {
      w.token = cm->NextToken();
      w.registered = cm->RegisterCallback(
          w.token, [self = RefPtr<WaitingResource>::NewRef(this), id] {
            self->Cancel(id);
          });
      if (w.registered) {
        waiting_.splice(waiting_.end(), one);
      } else {
        ctx->CtxFailure(errors::Cancelled("the step was cancelled"));
        ended.splice(ended.end(), one);
      }
    }
  }
  Finish(&ended);
}

void WaitingResource::Change(absl::FunctionRef<void()> change) {
  WaitingList ended;
  {
    MutexLock lock(&mu_);
    change();
    Retry(&ended);
  }
  Finish(&ended);
}

void WaitingResource::Retry(WaitingList* ended) {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (IsOver(it->attempt, it->ctx)) {
      ended->splice(ended->end(), waiting_, it);
      it = waiting_.begin();
    } else {
      ++it;
    }
  }
}

void WaitingResource::Cancel(int64_t id) {
  WaitingList ended;
  {
    MutexLock lock(&mu_);
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (it->id != id) continue;
      it->registered = false;
      it->ctx->CtxFailure(errors::Cancelled(it->ctx->op_kernel().type_string(),
                                            " operation was cancelled"));
      ended.splice(ended.end(), waiting_, it);
      break;
    }
  }
  Finish(&ended);
}

void WaitingResource::Finish(WaitingList* ended) {
  for (Waiting& w : *ended) {
    // Does not wait: a callback that runs now finds no attempt.
    if (w.registered) {
      w.ctx->cancellation_manager()->TryDeregisterCallback(w.token);
    }
    w.done();
  }
}

}  // namespace headrace
