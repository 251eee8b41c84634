// QueueBase: a bounded store of elements, each a tuple of tensors, that steps
// put in and take out. Who cannot go on waits without a thread: what it wants
// is an attempt in one of two lists, and whoever changes the queue carries out
// the attempts that have become possible.
//
// Attempts of a kind are served in the order in which they came. One for
// several elements takes (or puts) them as they come (or as there is room),
// so that it may be larger than the capacity; a dequeue that then fails gives
// back what it took.
//
// Close is an attempt in the list of enqueues: those before it still count.
// Afterwards nothing is put in, and dequeues drain what is there.
//
// Thread-safe. Callbacks run on whatever thread made them possible, with no
// lock held.
#ifndef HEADRACE_KERNELS_FLOW_QUEUE_BASE_H_
#define HEADRACE_KERNELS_FLOW_QUEUE_BASE_H_

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {

class QueueBase : public ResourceBase {
 public:
  using Tuple = std::vector<Tensor>;
  using DoneCallback = AsyncOpKernel::DoneCallback;
  // Gets the elements taken. It is not called if the dequeue failed; `done`
  // always is, after it.
  using TakenCallback = std::function<void(std::vector<Tuple>)>;

  struct Options {
    const char* type = "Queue";  // "FIFOQueue": for messages
    std::string name;
    int64_t capacity = -1;  // negative: no limit
    DataTypeVector component_types;
    // Empty, or one each. Only PaddingFIFOQueue allows what is not fully
    // defined.
    std::vector<PartialTensorShape> component_shapes;
  };
  explicit QueueBase(Options options);

  const Options& options() const { return options_; }
  std::string DebugString() const override;

  // OK if `tuple` fits the component types and shapes; with `many` each
  // component has a first dimension more, of one size.
  Status Validate(const Tuple& tuple, bool many) const;

  // Each calls `done` exactly once, failures being put into `ctx`, whose
  // cancellation ends the wait with Cancelled.
  void Enqueue(OpKernelContext* ctx, Tuple tuple, DoneCallback done);
  // Every row of the components is an element.
  void EnqueueMany(OpKernelContext* ctx, Tuple batch, DoneCallback done);
  // Waits for n elements. When the queue is closed and has fewer, OutOfRange,
  // or, if `allow_fewer`, as many as there are, but at least one.
  void Dequeue(OpKernelContext* ctx, int64_t n, bool allow_fewer,
               TakenCallback taken, DoneCallback done);
  void Close(OpKernelContext* ctx, bool cancel_pending_enqueues,
             DoneCallback done);
  // From here on a dequeue with `allow_fewer` does not wait: it takes what is
  // there, or fails as if the queue were closed. Ends those that wait.
  void StopWaitingForMore();
  int64_t size();
  bool is_closed();

  // One tuple of batches of the elements, with component shapes [n] and the
  // component's. InvalidArgument if a component has no known shape.
  virtual Status Batch(OpKernelContext* ctx, const std::vector<Tuple>& elements,
                       Tuple* batch) const;

 protected:
  Mutex mu_;

  // The store.
  virtual int64_t SizeLocked() const REQUIRES(mu_) = 0;
  // How many may be taken now: less than all where some are kept back.
  virtual int64_t AvailableLocked(bool closed) const REQUIRES(mu_) {
    return SizeLocked();
  }
  virtual void PushLocked(Tuple element) REQUIRES(mu_) = 0;
  virtual Tuple PopLocked() REQUIRES(mu_) = 0;
  // An element taken by a dequeue that failed, the latest taken first.
  virtual void PutBackLocked(Tuple element) REQUIRES(mu_) = 0;
  // True if the elements of one dequeue come out in an order that those put in
  // meanwhile belong to: they then stay in the queue until all are there.
  virtual bool TakesTogether() const { return false; }

 private:
  struct Attempt {
    enum Kind { kEnqueue, kClose, kDequeue } kind;
    OpKernelContext* ctx;
    DoneCallback done;
    int64_t id = 0;
    CancellationManager::Token token = 0;
    bool registered = false;
    Status status;
    // kEnqueue: elements [next, count) of the batch, or the tuple alone.
    Tuple tuple;
    bool many = false;
    int64_t next = 0, count = 1;
    // kDequeue.
    int64_t wanted = 0;
    bool allow_fewer = false;
    std::vector<Tuple> elements;
    TakenCallback taken;
  };
  using AttemptList = std::list<Attempt>;

  void Start(AttemptList attempt);
  void Cancel(int64_t id);
  // Carries out what can be done; ended attempts move to `ended`.
  void Flush(AttemptList* ended) REQUIRES(mu_);
  // True if the attempt has ended. *progress if the queue was changed.
  // One of the next two; what it throws is the attempt's failure.
  bool IsOver(Attempt* a, bool* progress) REQUIRES(mu_);
  bool TryEnqueue(Attempt* a, bool* progress) REQUIRES(mu_);
  bool TryDequeue(Attempt* a, bool* progress) REQUIRES(mu_);
  void PutBack(Attempt* a) REQUIRES(mu_);
  static void Finish(AttemptList* ended);
  std::string Name() const;

  const Options options_;
  bool closed_ GUARDED_BY(mu_) = false;
  bool no_waiting_for_more_ GUARDED_BY(mu_) = false;
  int64_t next_id_ GUARDED_BY(mu_) = 0;
  AttemptList enqueues_ GUARDED_BY(mu_);
  AttemptList dequeues_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_QUEUE_BASE_H_
