#include "kernels/io/reader_base.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "base/exceptions.h"
#include "base/thread_pool.h"
#include "io/coding.h"

namespace headrace {
namespace {

// More is given in several calls: an op may ask for as many as fit an int64.
constexpr int64_t kMaxRecordsAtOnce = int64_t{1} << 24;

Status WorkFromElement(const QueueBase& queue, const QueueBase::Tuple& element,
                       std::string* work) {
  if (element.size() != 1 || element[0].dtype() != DT_STRING ||
      element[0].NumElements() != 1) {
    return errors::InvalidArgument("Expected single string element from ",
                                   queue.DebugString(), ", got one with ",
                                   element.size(), " components");
  }
  *work = std::string(element[0].data<tstring>()[0]);
  return OkStatus();
}

// The message ReaderBaseState: the fields work_started 1, work_finished 2 and
// num_records_produced 3 are numbers, current_work 4 is a string.
struct State {
  uint64_t numbers[3] = {};
  std::string work;

  std::string Encode() const {
    std::string out;
    for (uint64_t field = 1; field <= 3; ++field) {
      if (numbers[field - 1] == 0) continue;
      PutVarint(&out, field << 3);
      PutVarint(&out, numbers[field - 1]);
    }
    if (!work.empty()) {
      PutVarint(&out, 4 << 3 | 2);
      PutVarint(&out, work.size());
      out.append(work);
    }
    return out;
  }

  // False if it is no such message.
  bool Decode(absl::string_view in) {
    while (!in.empty()) {
      uint64_t tag = 0, value = 0;
      if (!GetVarint64(&in, &tag) || !GetVarint64(&in, &value)) return false;
      if (tag == (4 << 3 | 2)) {
        if (value > in.size()) return false;
        work = std::string(in.substr(0, value));
        in.remove_prefix(value);
      } else if (tag % 8 == 0 && tag >= 1 << 3 && tag <= 3 << 3) {
        numbers[tag / 8 - 1] = value;
      } else {
        return false;
      }
    }
    return true;
  }
};

}  // namespace

void ReaderBase::Read(OpKernelContext* ctx, RefPtr<QueueBase> queue, int64_t n,
                      TakeCallback take, DoneCallback done) {
  if (fork_gate_.IsAbandoned()) {
    ctx->CtxFailure(errors::FailedPrecondition(
        "reader '", name_,
        "' was reading when its process forked, and cannot go on in the child; "
        "make a new session after fork()"));
    return done();
  }
  {
    MutexLock lock(&mu_);
    Request r;
    r.id = next_id_++;
    r.ctx = ctx;
    r.queue = std::move(queue);
    r.wanted = std::min(n, kMaxRecordsAtOnce);
    r.take = std::move(take);
    r.done = std::move(done);
    CancellationManager* const cm = ctx->cancellation_manager();
    bool cancelled = false;
    if (serving_ && cm != nullptr) {
      r.token = cm->NextToken();
      r.registered = cm->RegisterCallback(
          r.token, [self = RefPtr<ReaderBase>::NewRef(this), id = r.id] {
            self->Cancel(id);
          });
      cancelled = !r.registered;
    }
    done = cancelled ? std::move(r.done) : nullptr;
    if (!cancelled) {
      waiting_.push_back(std::move(r));
      if (serving_) return;
      serving_ = fork_gate_.Enter();  // as nobody has abandoned it
    }
  }
  if (done != nullptr) {
    ctx->CtxFailure(errors::Cancelled("Read operation was cancelled"));
    done();
    return;
  }
  Serve();
}

void ReaderBase::Serve() {
  const auto self = RefPtr<ReaderBase>::NewRef(this);
  for (;;) {
    if (current_.ctx == nullptr) {
      MutexLock lock(&mu_);
      if (!waiting_.empty()) {
        current_ = std::move(waiting_.front());
        waiting_.pop_front();
      }
    }
    if (current_.ctx == nullptr) {  // all were cancelled
      if (!GoOnServing()) return;
      continue;
    }
    if (!current_.ctx->status().ok()) {  // the queue gave no work
      if (!Finish({}, OkStatus())) return;
      continue;
    }
    if (current_.registered) {
      current_.ctx->cancellation_manager()->TryDeregisterCallback(
          current_.token);
      current_.registered = false;
    }
    Records records;
    Status status;
    bool has_some = false;
    const Status thrown = CatchExceptions([&] {
      has_some = ReadSome(&records, &status);
      return OkStatus();
    });
    if (has_some || !thrown.ok()) {
      if (!Finish(std::move(records), thrown.ok() ? status : thrown)) return;
      continue;
    }
    // Needs a work unit. Of this function and the queue's callback, the one
    // that comes second continues; so the stack does not grow with the number
    // of units.
    std::shared_ptr<std::atomic<bool>> first_is_through;
    OpKernelContext* const ctx = current_.ctx;
    const RefPtr<QueueBase> queue = current_.queue;
    status = CatchExceptions([&] {
      first_is_through = std::make_shared<std::atomic<bool>>(false);
      queue->Dequeue(
          ctx, 1, false,
          [this, queue](std::vector<QueueBase::Tuple> elements) {
            MutexLock lock(&state_mu_);
            Status s = WorkFromElement(*queue, elements[0], &work_);
            if (s.ok()) {
              ++started_;
              s = Open(work_);
              working_ = s.ok();
            }
            if (!s.ok()) current_.ctx->CtxFailure(s);
          },
          [self, pool = ctx->thread_pool(), first_is_through] {
            if (!first_is_through->exchange(true)) return;
            // The thread is that of who enqueued.
            try {
              pool->Schedule([self] { self->Serve(); });
            } catch (const std::bad_alloc&) {
              self->Serve();
            }
          });
      return OkStatus();
    });
    if (!status.ok()) {  // it does not wait in the queue
      if (!Finish({}, std::move(status))) return;
      continue;
    }
    if (!first_is_through->exchange(true)) return;
  }
}

bool ReaderBase::ReadSome(Records* records, Status* status) {
  MutexLock lock(&state_mu_);
  while (working_ &&
         static_cast<int64_t>(records->keys.size()) < current_.wanted) {
    std::string key, value;
    bool end = false;
    *status = Next(work_, &key, &value, &end);
    if (!status->ok()) {
      // The next request goes on with the next unit.
      DropWork();
      return true;
    }
    if (end) {
      ++finished_;
      DropWork();
      break;
    }
    ++produced_;
    records->keys.push_back(std::move(key));
    records->values.push_back(std::move(value));
    if (GaveLast()) {
      ++finished_;
      DropWork();
    }
  }
  return !records->keys.empty();
}

void ReaderBase::DropWork() {
  Close();
  working_ = false;
}

bool ReaderBase::Finish(Records records, Status status) {
  Request r = std::exchange(current_, Request());
  if (status.ok() && r.ctx->status().ok()) {
    status = CatchExceptions([&] { return r.take(std::move(records)); });
  }
  if (!status.ok()) r.ctx->CtxFailure(status);
  r.take = nullptr;
  r.queue = nullptr;
  const bool more = GoOnServing();
  r.done();
  return more;
}

bool ReaderBase::GoOnServing() {
  {
    MutexLock lock(&mu_);
    serving_ = !waiting_.empty();
    if (serving_) return true;
  }
  fork_gate_.Leave();
  return false;
}

void ReaderBase::Cancel(int64_t id) {
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
    r.ctx->CtxFailure(errors::Cancelled("Read operation was cancelled"));
    r.done();
  }
}

int64_t ReaderBase::records_produced() {
  MutexLock lock(&state_mu_);
  return produced_;
}

int64_t ReaderBase::work_units_completed() {
  MutexLock lock(&state_mu_);
  return finished_;
}

void ReaderBase::Reset() {
  MutexLock lock(&state_mu_);
  DropWork();
  work_.clear();
  started_ = finished_ = produced_ = 0;
}

Status ReaderBase::Serialize(std::string* state) {
  if (!HasState()) {
    return errors::Unimplemented("Reader SerializeState: '", name_,
                                 "' cannot tell where it is");
  }
  MutexLock lock(&state_mu_);
  const State s{
      {static_cast<uint64_t>(started_), static_cast<uint64_t>(finished_),
       static_cast<uint64_t>(produced_)},
      work_};
  *state = s.Encode();
  return OkStatus();
}

Status ReaderBase::Restore(const std::string& state) {
  if (!HasState()) {
    return errors::Unimplemented("Reader RestoreState: '", name_,
                                 "' cannot go on from a state");
  }
  State s;
  if (!s.Decode(state)) {
    return errors::InvalidArgument("Could not parse state for ", name_);
  }
  const auto started = static_cast<int64_t>(s.numbers[0]);
  const auto finished = static_cast<int64_t>(s.numbers[1]);
  const auto produced = static_cast<int64_t>(s.numbers[2]);
  if (started < 0 || finished < 0 || produced < 0) {
    return errors::InvalidArgument(
        "Unexpected negative value when restoring in ", name_,
        ": work_started ", started, ", work_finished ", finished,
        ", num_records_produced ", produced);
  }
  if (started != finished) {
    return errors::InvalidArgument(
        "Inconsistent work started vs. finished when restoring in ", name_,
        ": work_started ", started, ", work_finished ", finished);
  }
  MutexLock lock(&state_mu_);
  DropWork();
  started_ = started;
  finished_ = finished;
  produced_ = produced;
  work_ = std::move(s.work);
  return OkStatus();
}

}  // namespace headrace
