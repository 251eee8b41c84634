// IteratorResource: an iterator that steps share. Requests wait in a list, not
// in threads; one thread at a time serves them, in their order. If the dataset
// may wait it is a thread that has nothing else to do (base/waiting_threads.h);
// else it is the one that asked first.
//
// A thread that serves has left the resource before the `done` of the last
// request: a process whose steps are all over may fork, and its child has no
// such thread. If it forks while a thread serves, the child can only get an
// error of this iterator.
#ifndef HEADRACE_KERNELS_DATA_ITERATOR_RESOURCE_H_
#define HEADRACE_KERNELS_DATA_ITERATOR_RESOURCE_H_

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "base/fork.h"
#include "headrace/mutex.h"
#include "kernels/data/dataset.h"

namespace headrace {

// Thread-safe.
class IteratorResource : public ResourceBase {
 public:
  // Gets the next element, or whether the sequence has ended.
  using TakeCallback = std::function<Status(TensorTuple element, bool end)>;

  explicit IteratorResource(ElementSpec spec) : spec_(std::move(spec)) {}
  ~IteratorResource() override;

  const ElementSpec& spec() const { return spec_; }
  std::string DebugString() const override { return "Iterator"; }

  // Begins to iterate `dataset`, whatever was iterated before.
  Status SetDataset(OpKernelContext* ctx, RefPtr<const Dataset> dataset);

  // Calls `take` with the next element unless that fails, then `done`. A
  // failure goes into `ctx`, whose cancellation ends the wait.
  void GetNext(OpKernelContext* ctx, TakeCallback take,
               AsyncOpKernel::DoneCallback done);

 private:
  // What is iterated; replaced as a whole.
  struct Source {
    RefPtr<const Dataset> dataset;
    std::shared_ptr<FunctionScope> scope;  // outlives the iterator
    std::unique_ptr<DatasetIterator> iterator;
  };
  struct Request {
    int64_t id = 0;
    OpKernelContext* ctx = nullptr;
    TakeCallback take;
    AsyncOpKernel::DoneCallback done;
    CancellationManager::Token token = 0;
    bool registered = false;
  };

  // Serves requests until there are none, on a thread that may wait; on
  // another, one at most.
  void Serve(bool may_wait);
  // The end of an iterator may wait for what it has begun, and that for the
  // pool; so it ends on a thread that may wait.
  static void Drop(std::shared_ptr<Source> source);
  // Carries out a request but for `done`.
  static void ServeOne(Request* request, Source* source);
  // True if the thread that serves is to go on; else it has left.
  bool GoOnServing(std::shared_ptr<Source>* served);
  void Cancel(int64_t id);

  const ElementSpec spec_;
  Mutex mu_;
  std::shared_ptr<Source> source_ GUARDED_BY(mu_);
  std::list<Request> waiting_ GUARDED_BY(mu_);
  int64_t next_id_ GUARDED_BY(mu_) = 0;
  bool serving_ GUARDED_BY(mu_) = false;
  ForkGate fork_gate_;  // the thread that serves is inside, beyond mu_
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_ITERATOR_RESOURCE_H_
