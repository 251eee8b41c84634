#include "kernels/data/prefetcher.h"

#include <utility>

#include "base/exceptions.h"
#include "base/waiting_threads.h"
#include "kernels/data/cancellable_wait.h"
#include "kernels/data/element_bytes.h"

namespace headrace {
namespace {
// Elements beyond these bytes are made when they are asked for.
constexpr int64_t kMaxBytes = int64_t{256} << 20;
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

Prefetcher::Prefetcher(std::unique_ptr<DatasetIterator> input, int64_t capacity,
                       int depth, std::shared_ptr<ReadySignal> signal)
    : input_(std::move(input)),
      capacity_(capacity),
      depth_(depth),
      signal_(std::move(signal)) {}

Prefetcher::~Prefetcher() {
  cancellation_.StartCancel(errors::Cancelled("the iterator was destroyed"));
  MutexLock lock(&mu_);
  while (filling_) changed_.Wait(&mu_);
}

bool Prefetcher::HasRoom() const {
  return static_cast<int64_t>(items_.size()) < capacity_ &&
         (items_.empty() || bytes_ < kMaxBytes);
}

Prefetcher::Item Prefetcher::Produce(bool* end) {
  Item item;
  item.status = CatchExceptions([&] {
    return input_->GetNext({&cancellation_, depth_}, &item.element, end);
  });
  item.bytes = ElementBytes(item.element);
  return item;
}

bool Prefetcher::StartFilling() {
  filling_ = StartWaitingThread([this] { Fill(); });
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
        changed_.SignalAll();
        break;
      }
      if (item.front().status.ok() && end) {
        ended_ = true;
      } else {
        bytes_ += item.front().bytes;
        items_.splice(items_.end(), item);
      }
      more = filling_ = !ended_ && HasRoom() && !cancellation_.IsCancelled();
      changed_.SignalAll();
    }
    // *this may be gone, unless there is more to do.
    if (signal != nullptr) signal->Notify();
  }
}

bool Prefetcher::ReadyOrStart() {
  MutexLock lock(&mu_);
  return !items_.empty() || ended_ || (!filling_ && !StartFilling());
}

bool Prefetcher::IsReady() {
  MutexLock lock(&mu_);
  return !items_.empty() || ended_;
}

Status Prefetcher::GetNext(const IteratorContext& ctx, TensorTuple* out,
                           bool* end) {
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
      // Not for each element: a start costs more than many elements do.
      if (!filling_ && !ended_ && HasRoom() &&
          static_cast<int64_t>(items_.size()) <= capacity_ / 2) {
        StartFilling();
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
