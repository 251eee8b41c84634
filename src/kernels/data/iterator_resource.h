// IteratorResource: an iterator that steps share. Requests wait in a list, not
// in threads. One thread at a time serves them in order. If the dataset may
// wait, this is a dedicated thread (base/waiting_threads.h); else it is the
// thread of the first request.
//
// The serving thread leaves the resource before it calls the `done` of the last
// request. A process may therefore fork when all its steps are over, although
// the child does not have that thread. If the process forks while a thread
// serves, this iterator only returns errors in the child.
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
  // Receives the next element, or the end of the sequence.
  using TakeCallback = std::function<Status(TensorTuple element, bool end)>;

  explicit IteratorResource(ElementSpec spec) : spec_(std::move(spec)) {}
  ~IteratorResource() override;

  const ElementSpec& spec() const { return spec_; }
  std::string DebugString() const override { return "Iterator"; }

  // Starts iterating `dataset` and drops the previous iteration.
  Status SetDataset(OpKernelContext* ctx, RefPtr<const Dataset> dataset);

  // Calls `take` with the next element unless that fails, then calls `done`. An
  // error goes to `ctx`. Cancelling `ctx` ends the wait.
  void GetNext(OpKernelContext* ctx, TakeCallback take,
               AsyncOpKernel::DoneCallback done);
  // Sets output 0 to the place of the iteration. What was asked for before
  // comes first.
  void Save(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done);
  // Begins to iterate the same dataset from the place `saved`, which
  // IteratorState::Encode made of an equal dataset.
  void Restore(OpKernelContext* ctx, std::unique_ptr<IteratorState> saved,
               AsyncOpKernel::DoneCallback done);

 private:
  // The current iteration. Replaced as a whole.
  struct Source {
    RefPtr<const Dataset> dataset;
    std::shared_ptr<FunctionScope> scope;  // outlives the iterator
    std::unique_ptr<DatasetIterator> iterator;
  };
  // What a request does with the source. It may replace the resource's.
  using Work = std::function<Status(const IteratorContext&, Source*)>;
  struct Request {
    int64_t id = 0;
    OpKernelContext* ctx = nullptr;
    Work work;
    const char* uninitialized = nullptr;  // the error without a source
    AsyncOpKernel::DoneCallback done;
    CancellationManager::Token token = 0;
    bool registered = false;
  };

  void Ask(OpKernelContext* ctx, Work work, const char* uninitialized,
           AsyncOpKernel::DoneCallback done);
  // Serves requests until there are none if this thread may wait. Any other
  // thread serves at most one.
  void Serve(bool may_wait);
  // Destroying an iterator may wait for work that it started, and that work may
  // need the pool. So a thread that may wait destroys it.
  static void Drop(std::shared_ptr<Source> source);
  // Serves a request, but does not call `done`.
  static void ServeOne(Request* request, Source* source);
  // True if this thread must continue to serve. False if it has left.
  bool GoOnServing(std::shared_ptr<Source>* served);
  void Cancel(int64_t id);

  const ElementSpec spec_;
  Mutex mu_;
  std::shared_ptr<Source> source_ GUARDED_BY(mu_);
  std::list<Request> waiting_ GUARDED_BY(mu_);
  int64_t next_id_ GUARDED_BY(mu_) = 0;
  bool serving_ GUARDED_BY(mu_) = false;
  ForkGate
      fork_gate_;  // the serving thread is inside, longer than it holds mu_
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_ITERATOR_RESOURCE_H_
