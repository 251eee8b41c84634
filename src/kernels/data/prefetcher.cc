#include "kernels/data/prefetcher.h"

#include <list>
#include <utility>

#include "absl/time/time.h"
#include "base/exceptions.h"
#include "base/fork.h"
#include "base/waiting_threads.h"
#include "kernels/data/cancellable_wait.h"
#include "kernels/data/element_bytes.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/stats_aggregator.h"

namespace headrace {
namespace {
// Beyond this many bytes, elements are prepared only on demand.
constexpr int64_t kMaxBytes = int64_t{256} << 20;
// A thread that finds no room looks again after kNap, unless it is woken, and
// ends when there was none for kIdleNaps. To wake it for each element would
// cost more than many elements do.
constexpr absl::Duration kNap = absl::Milliseconds(1);
constexpr int kIdleNaps = 50;
}  // namespace

uint64_t ReadySignal::count() {
  MutexLock lock(&mu_);
  return count_;
}

void ReadySignal::Notify() {
  MutexLock lock(&mu_);
  ++count_;
  changed_.SignalAll();
}

Status ReadySignal::WaitBeyond(uint64_t count,
                               CancellationManager* cancellation) {
  CancellableWait wait(cancellation, &mu_, &changed_);
  MutexLock lock(&mu_);
  while (count_ == count) {
    if (wait.cancelled()) return cancellation->status();
    changed_.Wait(&mu_);
  }
  return OkStatus();
}

Status ForkedWhilePreparing() {
  return errors::FailedPrecondition(
      "the iterator was preparing elements when its process forked, and cannot "
      "go on in the child; initialize it in a new session after fork()");
}

// The state shared by the consumer and the filling thread.
class Prefetcher::Buffer : public std::enable_shared_from_this<Buffer> {
 public:
  Buffer(std::unique_ptr<DatasetIterator> input, int64_t capacity,
         const IteratorContext& ctx, std::shared_ptr<ReadySignal> signal,
         std::string stats_name)
      : input_(std::move(input)),
        capacity_(capacity),
        signal_(std::move(signal)),
        stats_name_(std::move(stats_name)),
        context_(CancelledBy(&cancellation_, ctx)) {}

  // The thread that fills was at work when the process forked, and is not here.
  bool IsAbandoned() const { return fork_gate_.IsAbandoned(); }
  // Nothing is produced afterwards; the input is gone.
  void Stop();
  Status GetNext(const IteratorContext& ctx, TensorTuple* out, bool* end);
  Status SaveOrRestore(const IteratorContext& ctx, IteratorState* state);
  bool IsReady();
  bool ReadyOrStart();

 private:
  struct Item {
    Status status;
    TensorTuple element;
    int64_t bytes = 0;
  };

  static IteratorContext CancelledBy(CancellationManager* cancellation,
                                     IteratorContext ctx) {
    ctx.cancellation = cancellation;
    return ctx;
  }
  void Tell(const StatsTarget* stats) const REQUIRES(mu_);
  bool HasRoom() const REQUIRES(mu_) {
    return static_cast<int64_t>(items_.size()) < capacity_ &&
           (items_.empty() || bytes_ < kMaxBytes);
  }
  // False if there is no thread to be had.
  bool StartFilling() REQUIRES(mu_);
  // Keeps the buffer full, until there was no room for a while.
  void Fill();
  // Adds an element, or the end; false if there is no memory for it. Without
  // that the consumer makes its elements itself.
  bool AddOne();
  // True if there is room for an element, and one to be had.
  bool WaitForRoom() REQUIRES(mu_);
  // Takes an element from the input; it is `filling_` that makes it safe.
  Item Produce(bool* end);

  std::unique_ptr<DatasetIterator> input_;
  const int64_t capacity_;
  const std::shared_ptr<ReadySignal> signal_;
  const std::string stats_name_;
  CancellationManager cancellation_;
  const IteratorContext context_;
  // The thread that fills is inside for as long as it may hold a lock, or wait:
  // a child of fork() could not even destroy a CondVar on which it waits.
  ForkGate fork_gate_;
  Mutex mu_;
  CondVar changed_;
  CondVar room_;  // for a thread that fills
  std::list<Item> items_ GUARDED_BY(mu_);
  int64_t bytes_ GUARDED_BY(mu_) = 0;
  bool filling_ GUARDED_BY(mu_) = false;
  bool pausing_ GUARDED_BY(mu_) = false;  // no thread is to fill
  bool ended_ GUARDED_BY(mu_) = false;
};

Prefetcher::Prefetcher(std::unique_ptr<DatasetIterator> input, int64_t capacity,
                       const IteratorContext& ctx,
                       std::shared_ptr<ReadySignal> signal,
                       std::string stats_name)
    : buffer_(std::make_shared<Buffer>(std::move(input), capacity, ctx,
                                       std::move(signal),
                                       std::move(stats_name))) {}

Prefetcher::~Prefetcher() {
  if (buffer_->IsAbandoned()) {
    new auto(buffer_);  // nobody destroys it
  } else {
    buffer_->Stop();
  }
}

Status Prefetcher::GetNext(const IteratorContext& ctx, TensorTuple* out,
                           bool* end) {
  if (buffer_->IsAbandoned()) return ForkedWhilePreparing();
  return buffer_->GetNext(ctx, out, end);
}

Status Prefetcher::SaveOrRestore(const IteratorContext& ctx,
                                 IteratorState* state) {
  if (buffer_->IsAbandoned()) return ForkedWhilePreparing();
  return buffer_->SaveOrRestore(ctx, state);
}

bool Prefetcher::IsReady() {
  return buffer_->IsAbandoned() || buffer_->IsReady();
}

bool Prefetcher::ReadyOrStart() {
  return buffer_->IsAbandoned() || buffer_->ReadyOrStart();
}

void Prefetcher::Buffer::Stop() {
  cancellation_.StartCancel(errors::Cancelled("the iterator was destroyed"));
  {
    MutexLock lock(&mu_);
    room_.SignalAll();
    while (filling_) changed_.Wait(&mu_);
  }
  input_ = nullptr;
}

Prefetcher::Buffer::Item Prefetcher::Buffer::Produce(bool* end) {
  Item item;
  item.status = CatchExceptions(
      [&] { return input_->GetNext(context_, &item.element, end); });
  item.bytes = ElementBytes(item.element);
  return item;
}

void Prefetcher::Buffer::Tell(const StatsTarget* stats) const {
  if (stats == nullptr || stats_name_.empty()) return;
  const double size = static_cast<double>(items_.size());
  const double capacity = static_cast<double>(capacity_);
  stats->AddToHistogram(StrCat(stats_name_, "::buffer_utilization"),
                        size / capacity);
  stats->SetScalar(StrCat(stats_name_, "::buffer_capacity"), capacity);
  stats->SetScalar(StrCat(stats_name_, "::buffer_size"), size);
}

bool Prefetcher::Buffer::StartFilling() {
  if (!fork_gate_.Enter()) return false;
  filling_ = StartWaitingThread([self = shared_from_this()] { self->Fill(); });
  if (!filling_) fork_gate_.Leave();
  return filling_;
}

void Prefetcher::Buffer::Fill() {
  for (bool more = true; more;) {
    more = AddOne();
    if (more && signal_ != nullptr) signal_->Notify();
    MutexLock lock(&mu_);
    more = more && WaitForRoom();
    if (!more) {
      filling_ = false;
      changed_.SignalAll();
    }
  }
  fork_gate_.Leave();  // the lock is free
}

bool Prefetcher::Buffer::AddOne() {
  // Its place first: an element that was taken from the input must not be lost.
  std::list<Item> item;
  const bool has_place = CatchExceptions([&item] {
                           item.emplace_back();
                           return OkStatus();
                         }).ok();
  if (!has_place) return false;
  bool end = false;
  item.front() = Produce(&end);
  MutexLock lock(&mu_);
  if (item.front().status.ok() && end) {
    ended_ = true;
  } else {
    bytes_ += item.front().bytes;
    items_.splice(items_.end(), item);
  }
  changed_.SignalAll();
  return true;
}

bool Prefetcher::Buffer::WaitForRoom() {
  for (int naps = 0; !ended_ && !pausing_ && !cancellation_.IsCancelled();
       ++naps) {
    if (HasRoom()) return true;
    if (naps == kIdleNaps) break;
    room_.WaitWithTimeout(&mu_, kNap);
  }
  return false;
}

Status Prefetcher::Buffer::SaveOrRestore(const IteratorContext& ctx,
                                         IteratorState* state) {
  {
    CancellableWait wait(ctx.cancellation, &mu_, &changed_);
    MutexLock lock(&mu_);
    pausing_ = true;
    room_.SignalAll();
    while (filling_ && !wait.cancelled()) changed_.Wait(&mu_);
    pausing_ = false;
    if (filling_) return ctx.cancellation->status();
  }
  // Only this thread starts another one that fills.
  MutexLock lock(&mu_);
  int64_t n = static_cast<int64_t>(items_.size());
  HR_RETURN_IF_ERROR(state->Int("Prefetch:items", &n));
  auto item = items_.begin();
  for (int64_t i = 0; i < n; ++i) {
    const std::string name = StrCat("Prefetch[", i, "]");
    if (state->restoring()) item = items_.emplace(items_.end());
    HR_RETURN_IF_ERROR(
        state->StatusValue(StrCat(name, "_status"), &item->status));
    HR_RETURN_IF_ERROR(state->Element(name, nullptr, &item->element));
    if (state->restoring()) {
      item->bytes = ElementBytes(item->element);
      bytes_ += item->bytes;
    }
    ++item;
  }
  HR_RETURN_IF_ERROR(state->Bool("Prefetch:ended", &ended_));
  return state->Inside("Prefetch", context_, input_.get());
}

bool Prefetcher::Buffer::ReadyOrStart() {
  MutexLock lock(&mu_);
  return !items_.empty() || ended_ || (!filling_ && !StartFilling());
}

bool Prefetcher::Buffer::IsReady() {
  MutexLock lock(&mu_);
  return !items_.empty() || ended_;
}

Status Prefetcher::Buffer::GetNext(const IteratorContext& ctx, TensorTuple* out,
                                   bool* end) {
  {
    CancellableWait wait(ctx.cancellation, &mu_, &changed_);
    MutexLock lock(&mu_);
    while (items_.empty() && !ended_) {
      if (!filling_ && !StartFilling()) break;
      if (wait.cancelled()) return ctx.cancellation->status();
      changed_.Wait(&mu_);
    }
    Tell(ctx.stats);
    if (!items_.empty()) {
      Item item = std::move(items_.front());
      items_.pop_front();
      bytes_ -= item.bytes;
      if (!filling_ && !ended_ && HasRoom()) {
        StartFilling();
      } else if (static_cast<int64_t>(items_.size()) <= capacity_ / 2) {
        room_.Signal();
      }
      *out = std::move(item.element);
      return item.status;
    }
    if (ended_) {
      *end = true;
      return OkStatus();
    }
  }
  // Without a thread. No other thread calls the input now.
  Item item = Produce(end);
  if (item.status.ok() && *end) {
    MutexLock lock(&mu_);
    ended_ = true;
  }
  *out = std::move(item.element);
  return item.status;
}

}  // namespace headrace
