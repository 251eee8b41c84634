// ReaderBase: reads records from work units, mostly file names, which it takes
// from a queue. A request that waits for the queue is an entry in a list and
// needs no thread. Requests are served one at a time, in order.
#ifndef HEADRACE_KERNELS_IO_READER_BASE_H_
#define HEADRACE_KERNELS_IO_READER_BASE_H_

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/fork.h"
#include "headrace/mutex.h"
#include "kernels/flow/queue_base.h"

namespace headrace {

// Thread-safe.
class ReaderBase : public ResourceBase {
 public:
  struct Records {
    std::vector<std::string> keys, values;
  };
  using TakeCallback = std::function<Status(Records)>;
  using DoneCallback = AsyncOpKernel::DoneCallback;

  explicit ReaderBase(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  std::string DebugString() const override { return name_; }

  // Reads up to `n` records of one work unit, and at least one: skips to the
  // next units of `queue` until there is a record. Calls `take` with them
  // unless that fails, then `done`. An error goes to `ctx`. Cancelling `ctx`
  // ends the wait.
  void Read(OpKernelContext* ctx, RefPtr<QueueBase> queue, int64_t n,
            TakeCallback take, DoneCallback done);

  int64_t records_produced();
  int64_t work_units_completed();
  void Reset();
  Status Serialize(std::string* state);
  Status Restore(const std::string& state);

 protected:
  // Guards the reading state, here and in subclasses. Lock order: never lock it
  // with mu_ held.
  Mutex state_mu_;

  // Starts a work unit. The previous one is over, even if it was not finished.
  virtual Status Open(const std::string& work) REQUIRES(state_mu_) = 0;
  // Reads the next record, or sets *end.
  virtual Status Next(const std::string& work, std::string* key,
                      std::string* value, bool* end) REQUIRES(state_mu_) = 0;
  // True if the last record from Next is known to be the last of its unit.
  virtual bool GaveLast() const REQUIRES(state_mu_) { return false; }
  virtual void Close() REQUIRES(state_mu_) {}
  // Only for readers that never stop inside a work unit: they have finished all
  // units that they started.
  virtual bool HasState() const { return false; }

 private:
  struct Request {
    int64_t id = 0;
    OpKernelContext* ctx = nullptr;
    RefPtr<QueueBase> queue;
    int64_t wanted = 1;
    TakeCallback take;
    DoneCallback done;
    CancellationManager::Token token = 0;
    bool registered = false;
  };

  // Serves requests as long as that needs no waiting.
  void Serve();
  // Reads records of the current unit. True if the request must end.
  bool ReadSome(Records* records, Status* status);
  // Ends `current_`. Returns false if there is no other request: this thread
  // left the reader before it called the request's `done`. A process may fork
  // when all its steps are over, although the child does not have this thread.
  bool Finish(Records records, Status status);
  // True if this thread must continue to serve. False if it has left.
  bool GoOnServing();
  void Cancel(int64_t id);
  void DropWork() REQUIRES(state_mu_);

  const std::string name_;
  Mutex mu_;
  std::list<Request> waiting_ GUARDED_BY(mu_);
  bool serving_ GUARDED_BY(mu_) = false;
  ForkGate
      fork_gate_;  // the serving thread is inside, longer than it holds locks
  int64_t next_id_ GUARDED_BY(mu_) = 0;
  bool working_ GUARDED_BY(state_mu_) = false;
  std::string work_ GUARDED_BY(state_mu_);  // the latest
  int64_t started_ GUARDED_BY(state_mu_) = 0;
  int64_t finished_ GUARDED_BY(state_mu_) = 0;
  int64_t produced_ GUARDED_BY(state_mu_) = 0;
  // Used only by the serving thread.
  Request current_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IO_READER_BASE_H_
