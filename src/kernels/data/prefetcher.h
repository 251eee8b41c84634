// Prefetcher: an iterator whose elements another thread prepares. The thread
// runs only while the buffer has space; an unused iterator holds no thread. If
// the process forks while the thread works, GetNext fails in the child, because
// the input is in the middle of an element.
#ifndef HEADRACE_KERNELS_DATA_PREFETCHER_H_
#define HEADRACE_KERNELS_DATA_PREFETCHER_H_

#include <memory>
#include <string>

#include "headrace/mutex.h"
#include "kernels/data/dataset.h"

namespace headrace {

// Tells one thread that one of several Prefetchers has become ready.
// Thread-safe.
class ReadySignal {
 public:
  // How often a Prefetcher became ready.
  uint64_t count();
  void Notify();
  // Waits until the count changes. Returns the cancellation's status if it is
  // cancelled.
  Status WaitBeyond(uint64_t count, CancellationManager* cancellation);

 private:
  Mutex mu_;
  CondVar changed_;
  uint64_t count_ GUARDED_BY(mu_) = 0;
};

// The error of GetNext in the child of a process that forked while other
// threads prepared elements.
Status ForkedWhilePreparing();

class Prefetcher : public DatasetIterator {
 public:
  // Keeps up to `capacity` >= 1 elements ready, fewer if they are large. Calls
  // the input with `ctx`, but with another cancellation. Notifies `signal`, if
  // given, when an element or the end is ready. With `stats_name`, tells
  // ctx.stats at each GetNext how full it is.
  Prefetcher(std::unique_ptr<DatasetIterator> input, int64_t capacity,
             const IteratorContext& ctx,
             std::shared_ptr<ReadySignal> signal = nullptr,
             std::string stats_name = "");
  // Cancels the input's work and waits for it.
  ~Prefetcher() override;

  Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                 bool* end) override;
  // Saved between two elements of the input; then the thread goes on.
  Status SaveOrRestore(const IteratorContext& ctx,
                       IteratorState* state) override;
  bool IsReady() override;
  // True if GetNext may be called now: it will not wait, or no thread could be
  // started to prepare anything. False if a thread is working.
  bool ReadyOrStart();

 private:
  class Buffer;
  const std::shared_ptr<Buffer> buffer_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_PREFETCHER_H_
