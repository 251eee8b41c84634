// QueueBase: a bounded store of elements. Steps enqueue and dequeue elements;
// each is a tuple of tensors. A step that cannot proceed waits without a
// thread: its attempt is put into one of two lists. A step that changes the
// queue also executes the attempts that have become possible.
//
// Attempts of one kind are served in order of arrival. An attempt for several
// elements takes them as they arrive (or adds them as space becomes free), so
// it may be larger than the capacity. If such a dequeue then fails, it puts its
// elements back.
//
// Close is an attempt in the list of enqueues: earlier enqueues still count.
// After it nothing can be enqueued, and dequeues drain the queue.
//
// Thread-safe. Callbacks run without locks, on the thread that made them
// possible.
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
  // Receives the dequeued elements. It is not called if the dequeue failed.
  // `done` is always called, after it.
  using TakenCallback = std::function<void(std::vector<Tuple>)>;

  struct Options {
    const char* type = "Queue";  // "FIFOQueue": for messages
    std::string name;
    int64_t capacity = -1;  // negative: no limit
    DataTypeVector component_types;
    // Empty, or one shape per component. Only PaddingFIFOQueue allows shapes
    // that are not fully defined.
    std::vector<PartialTensorShape> component_shapes;
  };
  explicit QueueBase(Options options);

  const Options& options() const { return options_; }
  std::string DebugString() const override;

  // OK if `tuple` fits the component types and shapes. With `many`, each
  // component has an additional first dim, equal for all components.
  Status Validate(const Tuple& tuple, bool many) const;

  // Each function calls `done` exactly once. An error goes to `ctx`. Cancelling
  // `ctx` ends the wait with Cancelled.
  void Enqueue(OpKernelContext* ctx, Tuple tuple, DoneCallback done);
  // Enqueues every row of the components as an element.
  void EnqueueMany(OpKernelContext* ctx, Tuple batch, DoneCallback done);
  // Waits for n elements. If the queue is closed and has fewer: OutOfRange;
  // with `allow_fewer`, the remaining elements if there is at least one.
  void Dequeue(OpKernelContext* ctx, int64_t n, bool allow_fewer,
               TakenCallback taken, DoneCallback done);
  void Close(OpKernelContext* ctx, bool cancel_pending_enqueues,
             DoneCallback done);
  // From now on, a dequeue with `allow_fewer` does not wait. It takes what is
  // there, or fails as if the queue were closed. This also ends the waiting
  // ones.
  void StopWaitingForMore();
  int64_t size();
  bool is_closed();

  // Makes one tuple of batches. The shapes are [n] followed by the component's
  // shape. InvalidArgument if a component's shape is not known.
  virtual Status Batch(OpKernelContext* ctx, const std::vector<Tuple>& elements,
                       Tuple* batch) const;

 protected:
  Mutex mu_;

  // The store of elements.
  virtual int64_t SizeLocked() const REQUIRES(mu_) = 0;
  // The number of elements that may be taken now. It is smaller than the size
  // if the queue must keep some.
  virtual int64_t AvailableLocked(bool closed) const REQUIRES(mu_) {
    return SizeLocked();
  }
  virtual void PushLocked(Tuple element) REQUIRES(mu_) = 0;
  virtual Tuple PopLocked() REQUIRES(mu_) = 0;
  // Puts back an element of a failed dequeue. The last one taken comes first.
  virtual void PutBackLocked(Tuple element) REQUIRES(mu_) = 0;
  // True if elements enqueued during a dequeue may belong between its elements.
  // The dequeue then leaves its elements in the queue until all are there.
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
  // Executes all attempts that are possible. Moves finished attempts to
  // `ended`.
  void Flush(AttemptList* ended) REQUIRES(mu_);
  // True if the attempt has ended. Sets *progress if the queue changed. IsOver
  // calls one of the other two; an exception makes the attempt fail.
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
