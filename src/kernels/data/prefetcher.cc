#include "kernels/data/prefetcher.h"

#include <utility>

#include "absl/time/time.h"
#include "base/exceptions.h"
#include "base/waiting_threads.h"
#include "kernels/data/cancellable_wait.h"
#include "kernels/data/element_bytes.h"

namespace headrace {
namespace {
// Elements beyond these bytes are made when they are asked for.
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

Prefetcher::Prefetcher(std::unique_ptr<DatasetIterator> input, int64_t capacity,
                       const IteratorContext& ctx,
                       std::shared_ptr<ReadySignal> signal)
    : input_(std::move(input)),
      capacity_(capacity),
      signal_(std::move(signal)),
      context_{&cancellation_, ctx.depth, ctx.scope} {}

Prefetcher::~Prefetcher() {
  if (fork_gate_.IsAbandoned()) {
    (void)input_.release();  // may hold locks that nobody unlocks
    return;
  }
  cancellation_.StartCancel(errors::Cancelled("the iterator was destroyed"));
  MutexLock lock(&mu_);
  room_.SignalAll();
  while (filling_) changed_.Wait(&mu_);
}

bool Prefetcher::HasRoom() const {
  return static_cast<int64_t>(items_.size()) < capacity_ &&
         (items_.empty() || bytes_ < kMaxBytes);
}

Prefetcher::Item Prefetcher::Produce(bool* end) {
  Item item;
  item.status = CatchExceptions(
      [&] { return input_->GetNext(context_, &item.element, end); });
  item.bytes = ElementBytes(item.element);
  return item;
}

bool Prefetcher::StartFilling() {
  if (!fork_gate_.Enter()) return false;
  filling_ = StartWaitingThread([this] { Fill(); });
  if (!filling_) fork_gate_.Leave();
  return filling_;
}

void Prefetcher::Fill() {
  const std::shared_ptr<ReadySignal> signal = signal_;
  for (bool more = true; more;) {
    bool end = false;
    // Its place first: an element that was taken from the input must not be
    // lost. Without one the consumer makes its elements itself.
    std::list<Item> item;
    const bool has_place = CatchExceptions([&item] {
                             item.emplace_back();
                             return OkStatus();
                           }).ok();
    if (has_place) item.front() = Produce(&end);
    {
      MutexLock lock(&mu_);
      if (!has_place) {
        more = filling_ = false;
        fork_gate_.Leave();
        changed_.SignalAll();
        break;
      }
      if (item.front().status.ok() && end) {
        ended_ = true;
      } else {
        bytes_ += item.front().bytes;
        items_.splice(items_.end(), item);
      }
      changed_.SignalAll();
    }
    // *this lives: its end waits for `filling_`.
    if (signal != nullptr) signal->Notify();
    MutexLock lock(&mu_);
    more = WaitForRoom();
    if (!more) {
      filling_ = false;
      fork_gate_.Leave();
      changed_.SignalAll();
    }
  }
}

bool Prefetcher::WaitForRoom() {
  for (int naps = 0; !ended_ && !cancellation_.IsCancelled(); ++naps) {
    if (HasRoom()) return true;
    if (naps == kIdleNaps) break;
    room_.WaitWithTimeout(&mu_, kNap);
  }
  return false;
}

bool Prefetcher::ReadyOrStart() {
  if (fork_gate_.IsAbandoned()) return true;
  MutexLock lock(&mu_);
  return !items_.empty() || ended_ || (!filling_ && !StartFilling());
}

bool Prefetcher::IsReady() {
  if (fork_gate_.IsAbandoned()) return true;
  MutexLock lock(&mu_);
  return !items_.empty() || ended_;
}

Status Prefetcher::GetNext(const IteratorContext& ctx, TensorTuple* out,
                           bool* end) {
  if (fork_gate_.IsAbandoned()) return ForkedWhilePreparing();
  {
    CancellableWait wait(ctx.cancellation, &mu_, &changed_);
    MutexLock lock(&mu_);
    while (items_.empty() && !ended_) {
      if (!filling_ && !StartFilling()) break;
      if (wait.cancelled()) return ctx.cancellation->status();
      changed_.Wait(&mu_);
    }
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
  // Without a thread; nobody else calls the input now.
  Item item = Produce(end);
  if (item.status.ok() && *end) {
    MutexLock lock(&mu_);
    ended_ = true;
  }
  *out = std::move(item.element);
  return item.status;
}

}  // namespace headrace
