// Prefetcher: an iterator whose elements another thread makes ahead of time.
// The thread runs only while there is room: an iterator that nobody asks holds
// none.
#ifndef HEADRACE_KERNELS_DATA_PREFETCHER_H_
#define HEADRACE_KERNELS_DATA_PREFETCHER_H_

#include <deque>
#include <memory>

#include "base/mutex.h"
#include "kernels/data/dataset.h"

namespace headrace {

class Prefetcher : public DatasetIterator {
 public:
  // Keeps up to `capacity` >= 1 elements ready, fewer if they are large.
  // `depth`: of the stack below the input; see IteratorContext.
  Prefetcher(std::unique_ptr<DatasetIterator> input, int64_t capacity,
             int depth);
  // Cancels what the input is doing and waits for it.
  ~Prefetcher() override;

  Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                 bool* end) override;
  bool IsReady() override;

 private:
  struct Item {
    Status status;
    TensorTuple element;
    int64_t bytes = 0;
  };

  bool HasRoom() const REQUIRES(mu_);
  // False if there is no thread to be had.
  bool StartFilling() REQUIRES(mu_);
  void Fill();
  // Takes an element from the input; it is `filling_` that makes it safe.
  Item Produce(bool* end);

  const std::unique_ptr<DatasetIterator> input_;
  const int64_t capacity_;
  const int depth_;
  CancellationManager cancellation_;
  Mutex mu_;
  CondVar changed_;
  std::deque<Item> items_ GUARDED_BY(mu_);
  int64_t bytes_ GUARDED_BY(mu_) = 0;
  bool filling_ GUARDED_BY(mu_) = false;
  bool ended_ GUARDED_BY(mu_) = false;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_PREFETCHER_H_
