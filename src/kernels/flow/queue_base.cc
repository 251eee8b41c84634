#include "kernels/flow/queue_base.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exceptions.h"

namespace headrace {

QueueBase::QueueBase(Options options) : options_(std::move(options)) {}

std::string QueueBase::Name() const {
  return absl::StrCat(options_.type, " '", options_.name, "'");
}
std::string QueueBase::DebugString() const { return Name(); }

Status QueueBase::Validate(const Tuple& tuple, bool many) const {
  if (tuple.size() != options_.component_types.size()) {
    return errors::InvalidArgument(
        "Wrong number of components in tuple. Expected ",
        options_.component_types.size(), ", got ", tuple.size());
  }
  for (size_t i = 0; i < tuple.size(); ++i) {
    const Tensor& t = tuple[i];
    if (t.dtype() != options_.component_types[i]) {
      return errors::InvalidArgument(
          "Type mismatch in tuple component ", i, ". Expected ",
          DataTypeString(options_.component_types[i]), ", got ",
          DataTypeString(t.dtype()));
    }
    if (many && t.dims() == 0) {
      return errors::InvalidArgument(
          Name(), ": component ", i,
          " of a batch must have at least one dimension, got a scalar");
    }
    if (many && t.dim_size(0) != tuple[0].dim_size(0)) {
      return errors::InvalidArgument(
          "All input tensors must have the same size in the 0th dimension. "
          "Component 0 has ",
          tuple[0].dim_size(0), ", and component ", i, " has ", t.dim_size(0));
    }
    if (options_.component_shapes.empty()) continue;
    const PartialTensorShape& want = options_.component_shapes[i];
    TensorShape got = t.shape();
    if (many) got.RemoveDim(0);
    if (!want.IsCompatibleWith(got)) {
      return errors::InvalidArgument(
          "Shape mismatch in tuple component ", i, ". Expected ",
          (many ? PartialTensorShape({t.dim_size(0)}).Concatenate(want) : want)
              .DebugString(),
          ", got ", t.shape().DebugString());
    }
  }
  return OkStatus();
}

void QueueBase::Enqueue(OpKernelContext* ctx, Tuple tuple, DoneCallback done) {
  AttemptList list(1);
  Attempt& a = list.front();
  a.kind = Attempt::kEnqueue;
  a.ctx = ctx;
  a.done = std::move(done);
  a.tuple = std::move(tuple);
  Start(std::move(list));
}

void QueueBase::EnqueueMany(OpKernelContext* ctx, Tuple batch,
                            DoneCallback done) {
  AttemptList list(1);
  Attempt& a = list.front();
  a.kind = Attempt::kEnqueue;
  a.ctx = ctx;
  a.done = std::move(done);
  a.many = true;
  a.count = batch.empty() ? 0 : batch[0].dim_size(0);
  a.tuple = std::move(batch);
  Start(std::move(list));
}

void QueueBase::Dequeue(OpKernelContext* ctx, int64_t n, bool allow_fewer,
                        TakenCallback taken, DoneCallback done) {
  AttemptList list(1);
  Attempt& a = list.front();
  a.kind = Attempt::kDequeue;
  a.ctx = ctx;
  a.done = std::move(done);
  a.wanted = n;
  a.allow_fewer = allow_fewer;
  a.taken = std::move(taken);
  Start(std::move(list));
}

void QueueBase::Close(OpKernelContext* ctx, bool cancel_pending_enqueues,
                      DoneCallback done) {
  AttemptList list(1);
  Attempt& a = list.front();
  a.kind = Attempt::kClose;
  a.ctx = ctx;
  a.done = std::move(done);
  if (cancel_pending_enqueues) {
    AttemptList cancelled;
    {
      MutexLock lock(&mu_);
      cancelled.swap(enqueues_);
    }
    for (Attempt& c : cancelled) {
      c.status =
          errors::Cancelled(c.kind == Attempt::kClose ? "Close" : "Enqueue",
                            " operation was cancelled: ", Name(), " is closed");
    }
    Finish(&cancelled);
  }
  Start(std::move(list));
}

void QueueBase::StopWaitingForMore() {
  AttemptList ended;
  {
    MutexLock lock(&mu_);
    no_waiting_for_more_ = true;
    // Those behind one that waits for its full number are served in their turn.
    Flush(&ended);
  }
  Finish(&ended);
}

int64_t QueueBase::size() {
  MutexLock lock(&mu_);
  return SizeLocked();
}

bool QueueBase::is_closed() {
  MutexLock lock(&mu_);
  return closed_;
}

void QueueBase::Start(AttemptList attempt) {
  AttemptList ended;
  {
    MutexLock lock(&mu_);
    Attempt& a = attempt.front();
    const int64_t id = a.id = next_id_++;
    AttemptList& list = a.kind == Attempt::kDequeue ? dequeues_ : enqueues_;
    list.splice(list.end(), attempt);
    Flush(&ended);
    if (!list.empty() && list.back().id == id) {
      // It waits. A cancellation that runs from here on finds it in its list.
      CancellationManager* cm = list.back().ctx->cancellation_manager();
      if (cm != nullptr) {
        Attempt& waiting = list.back();
        waiting.token = cm->NextToken();
        waiting.status = CatchExceptions([&] {
          waiting.registered = cm->RegisterCallback(
              waiting.token, [self = RefPtr<QueueBase>::NewRef(this), id] {
                self->Cancel(id);
              });
          return waiting.registered
                     ? OkStatus()
                     : errors::Cancelled("the step was cancelled");
        });
        if (!waiting.registered) {
          PutBack(&waiting);
          ended.splice(ended.end(), list, std::prev(list.end()));
          Flush(&ended);
        }
      }
    }
  }
  Finish(&ended);
}

void QueueBase::Cancel(int64_t id) {
  AttemptList ended;
  {
    MutexLock lock(&mu_);
    for (AttemptList* list : {&enqueues_, &dequeues_}) {
      for (auto it = list->begin(); it != list->end(); ++it) {
        if (it->id != id) continue;
        it->registered = false;
        it->status =
            errors::Cancelled(it->kind == Attempt::kDequeue ? "Dequeue"
                              : it->kind == Attempt::kClose ? "Close"
                                                            : "Enqueue",
                              " operation was cancelled");
        PutBack(&*it);
        ended.splice(ended.end(), *list, it);
        break;
      }
    }
    // Others may go on with what it gave back, or with its turn.
    Flush(&ended);
  }
  Finish(&ended);
}

void QueueBase::Flush(AttemptList* ended) {
  bool progress = true;
  while (progress) {
    progress = false;
    while (!enqueues_.empty() && IsOver(&enqueues_.front(), &progress)) {
      ended->splice(ended->end(), enqueues_, enqueues_.begin());
      progress = true;
    }
    while (!dequeues_.empty() && IsOver(&dequeues_.front(), &progress)) {
      ended->splice(ended->end(), dequeues_, dequeues_.begin());
      progress = true;
    }
  }
}

bool QueueBase::IsOver(Attempt* a, bool* progress) {
  try {
    return a->kind == Attempt::kDequeue ? TryDequeue(a, progress)
                                        : TryEnqueue(a, progress);
  } catch (const std::exception& e) {
    a->status = StatusOf(e);
    PutBack(a);
    return true;
  }
}

bool QueueBase::TryEnqueue(Attempt* a, bool* progress) {
  if (a->kind == Attempt::kClose) {
    if (closed_) {
      a->status = errors::Cancelled(Name(), " is already closed.");
    }
    closed_ = true;
    return true;
  }
  if (closed_) {
    a->status = errors::Cancelled(Name(), " is closed.");
    return true;
  }
  while (a->next < a->count) {
    if (options_.capacity >= 0 && SizeLocked() >= options_.capacity) {
      return false;
    }
    if (a->many) {
      Tuple element;
      element.reserve(a->tuple.size());
      for (const Tensor& t : a->tuple) element.push_back(t.SubSlice(a->next));
      PushLocked(std::move(element));
    } else {
      PushLocked(std::move(a->tuple));
    }
    ++a->next;
    *progress = true;
  }
  return true;
}

bool QueueBase::TryDequeue(Attempt* a, bool* progress) {
  const bool no_more = closed_ || (no_waiting_for_more_ && a->allow_fewer);
  if (TakesTogether()) {
    const auto there = SizeLocked() + static_cast<int64_t>(a->elements.size());
    // If an attempt wants more elements than the capacity, it takes elements
    // whenever the queue is full. Otherwise neither side could proceed.
    const bool full =
        options_.capacity >= 0 && SizeLocked() >= options_.capacity;
    if (there < a->wanted && !no_more && !full) return false;
    PutBack(a);  // in the order of all
  }
  while (static_cast<int64_t>(a->elements.size()) < a->wanted &&
         AvailableLocked(closed_) > 0) {
    a->elements.emplace_back();  // what is popped has its place
    a->elements.back() = PopLocked();
    *progress = true;
  }
  const int64_t taken = static_cast<int64_t>(a->elements.size());
  if (taken == a->wanted) return true;
  if (!no_more) return false;
  if (a->allow_fewer && taken > 0) return true;
  PutBack(a);
  a->status = errors::OutOfRange(
      Name(), " is closed and has insufficient elements (requested ", a->wanted,
      ", current size ", SizeLocked(), ")");
  return true;
}

void QueueBase::PutBack(Attempt* a) {
  for (; !a->elements.empty(); a->elements.pop_back()) {
    if (a->elements.back().empty()) continue;  // its place alone
    try {
      PutBackLocked(std::move(a->elements.back()));
    } catch (const std::bad_alloc&) {
      // There is no memory to keep it.
    }
  }
}

void QueueBase::Finish(AttemptList* ended) {
  for (Attempt& a : *ended) {
    // Does not wait: a callback that runs now finds no attempt.
    if (a.registered) {
      a.ctx->cancellation_manager()->TryDeregisterCallback(a.token);
    }
    if (!a.status.ok()) {
      a.ctx->CtxFailure(a.status);
    } else if (a.taken) {
      try {
        a.taken(std::move(a.elements));
      } catch (const std::exception& e) {
        a.ctx->CtxFailure(StatusOf(e));
      }
    }
    a.done();
  }
}

Status QueueBase::Batch(OpKernelContext* ctx,
                        const std::vector<Tuple>& elements,
                        Tuple* batch) const {
  if (options_.component_shapes.empty()) {
    return errors::InvalidArgument(
        options_.type,
        "'s DequeueMany and DequeueUpTo require the components to have "
        "specified shapes.");
  }
  batch->clear();
  for (size_t c = 0; c < options_.component_types.size(); ++c) {
    TensorShape element;
    if (!options_.component_shapes[c].AsTensorShape(&element)) {
      return errors::InvalidArgument(options_.type, ": component ", c,
                                     " has the shape ",
                                     options_.component_shapes[c].DebugString(),
                                     ", which is not fully defined");
    }
    TensorShape shape({static_cast<int64_t>(elements.size())});
    shape.AppendShape(element);
    Tensor out;
    HR_RETURN_IF_ERROR(
        ctx->allocate_temp(options_.component_types[c], shape, &out));
    const int64_t n = element.num_elements();
    for (size_t i = 0; i < elements.size(); ++i) {
      CopyElements(elements[i][c], 0, &out, static_cast<int64_t>(i) * n, n);
    }
    batch->push_back(std::move(out));
  }
  return OkStatus();
}

}  // namespace headrace
