#include "kernels/data/iterator_resource.h"

#include <utility>

#include "base/exceptions.h"
#include "base/waiting_threads.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/prefetcher.h"
#include "kernels/data/run_waiting.h"

namespace headrace {

IteratorResource::~IteratorResource() {
  if (fork_gate_.IsAbandoned()) {
    new auto(std::move(source_));  // half way through an element
  } else {
    Drop(std::move(source_));
  }
}

void IteratorResource::Drop(std::shared_ptr<Source> source) {
  if (source == nullptr || !source->dataset->may_wait()) return;
  // If no thread starts, the source is destroyed here.
  (void)StartWaitingThread([source = std::move(source)] {});
}

Status IteratorResource::SetDataset(OpKernelContext* ctx,
                                    RefPtr<const Dataset> dataset) {
  if (fork_gate_.IsAbandoned()) return ForkedWhilePreparing();
  HR_RETURN_IF_ERROR(spec_.CheckAccepts(dataset->spec(), "iterator"));
  auto source = std::make_shared<Source>();
  source->scope = NewFunctionScope(ctx);
  const KernelIteration iteration(ctx, source->scope);
  HR_RETURN_IF_ERROR(
      dataset->NewIterator(iteration.context(), &source->iterator));
  source->dataset = std::move(dataset);
  {
    MutexLock lock(&mu_);
    source_.swap(source);
  }
  Drop(std::move(source));
  return OkStatus();
}

void IteratorResource::GetNext(OpKernelContext* ctx, TakeCallback take,
                               AsyncOpKernel::DoneCallback done) {
  Ask(
      ctx,
      [take = std::move(take)](const IteratorContext& context, Source* source) {
        TensorTuple element;
        bool end = false;
        HR_RETURN_IF_ERROR(source->iterator->GetNext(context, &element, &end));
        return take(std::move(element), end);
      },
      "GetNext() failed because the iterator has not been initialized. "
      "Ensure that you have run the initializer operation for this iterator "
      "before getting the next element.",
      std::move(done));
}

void IteratorResource::Save(OpKernelContext* ctx,
                            AsyncOpKernel::DoneCallback done) {
  Ask(
      ctx,
      [ctx](const IteratorContext& context, Source* source) {
        HR_RETURN_IF_ERROR(source->dataset->CheckSavable());
        IteratorState state;
        HR_RETURN_IF_ERROR(source->iterator->SaveOrRestore(context, &state));
        HR_RETURN_IF_ERROR(source->dataset->SaveOrRestoreSeeds(&state));
        Tensor saved;
        HR_RETURN_IF_ERROR(state.Encode(&saved));
        ctx->set_output(0, std::move(saved));
        return OkStatus();
      },
      "Save() failed because the iterator has not been initialized. Ensure "
      "that you have run the initializer operation for this iterator before "
      "saving it.",
      std::move(done));
}

void IteratorResource::Restore(OpKernelContext* ctx,
                               std::unique_ptr<IteratorState> saved,
                               AsyncOpKernel::DoneCallback done) {
  Ask(
      ctx,
      [self = RefPtr<IteratorResource>::NewRef(this), ctx,
       saved = std::shared_ptr<IteratorState>(std::move(saved))](
          const IteratorContext&, Source* old) {
        auto source = std::make_shared<Source>();
        source->dataset = old->dataset;
        source->scope = NewFunctionScope(ctx);
        const KernelIteration iteration(ctx, source->scope);
        const IteratorContext& context = iteration.context();
        HR_RETURN_IF_ERROR(
            source->dataset->NewIterator(context, &source->iterator));
        HR_RETURN_IF_ERROR(
            source->iterator->SaveOrRestore(context, saved.get()));
        HR_RETURN_IF_ERROR(source->dataset->SaveOrRestoreSeeds(saved.get()));
        HR_RETURN_IF_ERROR(saved->CheckAllRestored());
        MutexLock lock(&self->mu_);
        self->source_ = std::move(source);
        return OkStatus();
      },
      "Restore() failed because the iterator has not been initialized. Ensure "
      "that you have run the initializer operation for this iterator before "
      "restoring it.",
      std::move(done));
}

void IteratorResource::Ask(OpKernelContext* ctx, Work work,
                           const char* uninitialized,
                           AsyncOpKernel::DoneCallback done) {
  CancellationManager* const cm = ctx->cancellation_manager();
  if (fork_gate_.IsAbandoned()) {
    ctx->CtxFailure(ForkedWhilePreparing());
    return done();
  }
  {
    MutexLock lock(&mu_);
    Request r;
    r.id = next_id_++;
    r.ctx = ctx;
    r.work = std::move(work);
    r.uninitialized = uninitialized;
    r.done = std::move(done);
    if (serving_) {
      // The requests before this one may take long.
      bool cancelled = false;
      if (cm != nullptr) {
        r.token = cm->NextToken();
        r.registered = cm->RegisterCallback(
            r.token, [self = RefPtr<IteratorResource>::NewRef(this),
                      id = r.id] { self->Cancel(id); });
        cancelled = !r.registered;
      }
      if (!cancelled) {
        waiting_.push_back(std::move(r));
        return;
      }
      done = std::move(r.done);
    } else {
      waiting_.push_back(std::move(r));
      serving_ = fork_gate_.Enter();  // as nobody has abandoned it
      done = nullptr;
    }
  }
  if (done != nullptr) {
    ctx->CtxFailure(cm->status());
    done();
    return;
  }
  Serve(false);
}

bool IteratorResource::GoOnServing(std::shared_ptr<Source>* served) {
  {
    MutexLock lock(&mu_);
    if (*served == source_) *served = nullptr;  // not the last to hold it
    serving_ = !waiting_.empty();
    if (serving_) return true;
  }
  fork_gate_.Leave();
  return false;
}

void IteratorResource::Serve(bool may_wait) {
  // `done` may end the step that holds the last other reference.
  const auto self = RefPtr<IteratorResource>::NewRef(this);
  for (bool first = true;; first = false) {
    Request request;
    std::shared_ptr<Source> source;
    bool move_on = false;
    {
      MutexLock lock(&mu_);
      // The kernel that called is to return, if it can.
      move_on = !may_wait && (!first || (source_ != nullptr &&
                                         source_->dataset->may_wait() &&
                                         !source_->iterator->IsReady()));
    }
    if (move_on && StartWaitingThread([self] { self->Serve(true); })) return;
    {
      MutexLock lock(&mu_);
      if (!waiting_.empty()) {
        request = std::move(waiting_.front());
        waiting_.pop_front();
        source = source_;
      }
    }
    if (request.ctx == nullptr) {  // all were cancelled
      if (!GoOnServing(&source)) return;
      continue;
    }
    if (request.registered) {
      request.ctx->cancellation_manager()->TryDeregisterCallback(request.token);
    }
    ServeOne(&request, source.get());
    const bool more = GoOnServing(&source);
    request.done();
    if (!may_wait) Drop(std::move(source));
    if (!more) return;
  }
}

void IteratorResource::ServeOne(Request* request, Source* source) {
  OpKernelContext* const ctx = request->ctx;
  const KernelIteration iteration(ctx,
                                  source == nullptr ? nullptr : source->scope);
  Status s = iteration.context().CheckCancelled();
  if (s.ok() && source == nullptr) {
    s = errors::FailedPrecondition(request->uninitialized);
  }
  if (s.ok()) {
    s = CatchExceptions(
        [&] { return request->work(iteration.context(), source); });
  }
  if (!s.ok()) ctx->CtxFailure(s);
  request->work = nullptr;
}

void IteratorResource::Cancel(int64_t id) {
  std::list<Request> cancelled;
  {
    MutexLock lock(&mu_);
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (it->id != id) continue;
      cancelled.splice(cancelled.end(), waiting_, it);
      break;
    }
  }
  for (Request& r : cancelled) {
    r.ctx->CtxFailure(errors::Cancelled("the step was cancelled"));
    r.done();
  }
}

}  // namespace headrace
