#include "kernels/flow/accumulator.h"

#include <iterator>

#include "base/exceptions.h"

namespace headrace {

Status Accumulator::Add(int64_t local_step, absl::FunctionRef<Status()> add) {
  TakerList ended;
  {
    MutexLock lock(&mu_);
    if (local_step < global_step_) return OkStatus();
    HR_RETURN_IF_ERROR(add());
    ++count_;
    Serve(&ended);
  }
  Finish(&ended);
  return OkStatus();
}

void Accumulator::Take(OpKernelContext* ctx, int64_t wanted,
                       AsyncOpKernel::DoneCallback done) {
  TakerList taker(1), ended;
  taker.front().ctx = ctx;
  taker.front().done = std::move(done);
  taker.front().wanted = wanted;
  {
    MutexLock lock(&mu_);
    const int64_t id = taker.front().id = next_id_++;
    takers_.splice(takers_.end(), taker);
    Serve(&ended);
    if (!takers_.empty() && takers_.back().id == id &&
        ctx->cancellation_manager() != nullptr) {
      Taker& t = takers_.back();
      t.token = ctx->cancellation_manager()->NextToken();
      t.status = CatchExceptions([&] {
        t.registered = ctx->cancellation_manager()->RegisterCallback(
            t.token, [self = RefPtr<Accumulator>::NewRef(this), id] {
              self->Cancel(id);
            });
        return t.registered ? OkStatus()
                            : errors::Cancelled("the step was cancelled");
      });
      if (!t.registered) {
        ended.splice(ended.end(), takers_, std::prev(takers_.end()));
      }
    }
  }
  Finish(&ended);
}

void Accumulator::SetGlobalStep(int64_t step) {
  MutexLock lock(&mu_);
  global_step_ = step;
}

int64_t Accumulator::count() {
  MutexLock lock(&mu_);
  return count_;
}

void Accumulator::Serve(TakerList* ended) {
  while (!takers_.empty() && count_ >= takers_.front().wanted) {
    Taker& t = takers_.front();
    t.status = CatchExceptions([&] {
      mu_.AssertHeld();
      return TakeLocked(count_, &t.result);
    });
    count_ = 0;
    if (global_step_ < INT64_MAX) ++global_step_;
    ended->splice(ended->end(), takers_, takers_.begin());
  }
}

void Accumulator::Cancel(int64_t id) {
  TakerList ended;
  {
    MutexLock lock(&mu_);
    for (auto it = takers_.begin(); it != takers_.end(); ++it) {
      if (it->id != id) continue;
      it->registered = false;
      it->status = errors::Cancelled("TakeGrad operation was cancelled");
      ended.splice(ended.end(), takers_, it);
      break;
    }
    Serve(&ended);
  }
  Finish(&ended);
}

void Accumulator::Finish(TakerList* ended) {
  for (Taker& t : *ended) {
    if (t.registered) {
      t.ctx->cancellation_manager()->TryDeregisterCallback(t.token);
    }
    for (size_t i = 0; t.status.ok() && i < t.result.size(); ++i) {
      t.ctx->set_output(static_cast<int>(i), std::move(t.result[i]));
    }
    if (!t.status.ok()) t.ctx->CtxFailure(t.status);
    t.done();
  }
}

}  // namespace headrace
