// ReaderBase: makes records of work units, mostly file names, that it takes
// from a queue. Who waits for the queue is a request in a list, not a thread;
// requests are served one at a time, in their order.
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

  // Up to `n` records of one work unit, but at least one: passes on to the next
  // units of `queue` until there is one. Calls `take` with them unless that
  // fails, then `done`. A failure goes into `ctx`, whose cancellation ends the
  // wait.
  void Read(OpKernelContext* ctx, RefPtr<QueueBase> queue, int64_t n,
            TakeCallback take, DoneCallback done);

  int64_t records_produced();
  int64_t work_units_completed();
  void Reset();
  Status Serialize(std::string* state);
  Status Restore(const std::string& state);

 protected:
  // Guards what has been read, here and in subclasses. Never taken with mu_
  // held.
  Mutex state_mu_;

  // Begins a work unit; the one before is over, even if it was not finished.
  virtual Status Open(const std::string& work) REQUIRES(state_mu_) = 0;
  // The next record, or *end.
  virtual Status Next(const std::string& work, std::string* key,
                      std::string* value, bool* end) REQUIRES(state_mu_) = 0;
  // True if the record that Next gave last is known to be the unit's last.
  virtual bool GaveLast() const REQUIRES(state_mu_) { return false; }
  virtual void Close() REQUIRES(state_mu_) {}
  // Only readers that do not stop inside a work unit have a state to keep: they
  // have finished whatever they have started.
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

  // Serves the requests as far as that goes without waiting.
  void Serve();
  // Reads records of the current unit; true if the request is to end.
  bool ReadSome(Records* records, Status* status);
  // Ends `current_`. False if there is no other request: then the thread that
  // serves has left the reader, and had done so before the request's `done`. A
  // process whose steps are all over may fork, and its child has no such
  // thread.
  bool Finish(Records records, Status status);
  // True if the thread that serves is to go on; else it has left.
  bool GoOnServing();
  void Cancel(int64_t id);
  void DropWork() REQUIRES(state_mu_);

  const std::string name_;
  Mutex mu_;
  std::list<Request> waiting_ GUARDED_BY(mu_);
  bool serving_ GUARDED_BY(mu_) = false;
  ForkGate fork_gate_;  // the thread that serves is inside, beyond the locks
  int64_t next_id_ GUARDED_BY(mu_) = 0;
  bool working_ GUARDED_BY(state_mu_) = false;
  std::string work_ GUARDED_BY(state_mu_);  // the latest
  int64_t started_ GUARDED_BY(state_mu_) = 0;
  int64_t finished_ GUARDED_BY(state_mu_) = 0;
  int64_t produced_ GUARDED_BY(state_mu_) = 0;
  // Of the thread that serves.
  Request current_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IO_READER_BASE_H_
