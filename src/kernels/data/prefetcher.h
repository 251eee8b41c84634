// Prefetcher: an iterator whose elements another thread makes ahead of time.
// The thread runs only while there is room: an iterator that nobody asks holds
// none. In the child of a process that forked while the thread was at work,
// GetNext fails: the input is half way through an element.
#ifndef HEADRACE_KERNELS_DATA_PREFETCHER_H_
#define HEADRACE_KERNELS_DATA_PREFETCHER_H_

#include <memory>

#include "headrace/mutex.h"
#include "kernels/data/dataset.h"

namespace headrace {

// How one thread learns that one of several Prefetchers has become ready.
// Thread-safe.
class ReadySignal {
 public:
  // How often somebody became ready.
  uint64_t count();
  void Notify();
  // Until the count is another. The cancellation's status if that ends it.
  Status WaitBeyond(uint64_t count, CancellationManager* cancellation);

 private:
  Mutex mu_;
  CondVar changed_;
  uint64_t count_ GUARDED_BY(mu_) = 0;
};

// What GetNext gives in the child of a process that forked while other threads
// made elements.
Status ForkedWhilePreparing();

class Prefetcher : public DatasetIterator {
 public:
  // Keeps up to `capacity` >= 1 elements ready, fewer if they are large.
  // The input is called with `ctx`, but another cancellation. `signal`, if
  // there is one, is notified when there is an element, or the end.
  Prefetcher(std::unique_ptr<DatasetIterator> input, int64_t capacity,
             const IteratorContext& ctx,
             std::shared_ptr<ReadySignal> signal = nullptr);
  // Cancels what the input is doing and waits for it.
  ~Prefetcher() override;

  Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                 bool* end) override;
  bool IsReady() override;
  // True if GetNext may be called now: it will not wait, or there is no thread
  // that could prepare anything. Otherwise a thread is at it.
  bool ReadyOrStart();

 private:
  class Buffer;
  const std::shared_ptr<Buffer> buffer_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_PREFETCHER_H_
