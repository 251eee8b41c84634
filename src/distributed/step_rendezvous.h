// The rendezvous of one step on one task. What is sent waits here until it is
// received, by a node of this task or by another task's RecvTensor. A receive
// from a device of another task asks that task.
#ifndef HEADRACE_DISTRIBUTED_STEP_RENDEZVOUS_H_
#define HEADRACE_DISTRIBUTED_STEP_RENDEZVOUS_H_

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "distributed/worker_cache.h"
#include "framework/kernel/rendezvous.h"
#include "headrace/cancellation.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"

namespace headrace {

// The tensors that one run has received from other tasks. Thread-safe.
class EdgeLog {
 public:
  struct Edge {
    std::string name, from, to;  // of the tensor, and devices
    int64_t bytes = 0;
    absl::Time asked, got;
  };
  void Add(Edge edge) {
    MutexLock lock(&mu_);
    edges_.push_back(std::move(edge));
  }
  std::vector<Edge> Take() {
    MutexLock lock(&mu_);
    return std::exchange(edges_, {});
  }

 private:
  Mutex mu_;
  std::vector<Edge> edges_ GUARDED_BY(mu_);
};

// Thread-safe.
class StepRendezvous : public Rendezvous {
 public:
  StepRendezvous(int64_t step_id, std::string task)
      : step_id_(step_id), task_(std::move(task)) {}

  // Where other tasks are found. Before a node receives.
  void SetWorkers(std::shared_ptr<WorkerCache> workers);
  // What is received from other tasks from now on is noted there.
  void SetLog(std::shared_ptr<EdgeLog> log);

  Status Send(absl::string_view key, Tensor value, bool is_dead) override {
    return local_->Send(key, std::move(value), is_dead);
  }
  void RecvAsync(absl::string_view key, CancellationManager* cancellation,
                 DoneCallback done) override;
  // What was sent here, or will be.
  void RecvLocal(absl::string_view key, CancellationManager* cancellation,
                 DoneCallback done) {
    local_->RecvAsync(key, cancellation, std::move(done));
  }
  void StartAbort(const Status& status) override;

 private:
  const int64_t step_id_;
  const std::string task_;
  const RefPtr<Rendezvous> local_ = NewLocalRendezvous();
  CancellationManager remote_calls_;
  Mutex mu_;
  std::shared_ptr<WorkerCache> workers_ GUARDED_BY(mu_);
  std::shared_ptr<EdgeLog> log_ GUARDED_BY(mu_);
  Status aborted_ GUARDED_BY(mu_);
};

// The steps of a task. A step begins when it is first asked for, which may be
// by another task before the master's RunGraph, and ends by Cleanup. Of a step
// that has ended a late receive gets Aborted. A step that nobody runs ends with
// the last receive that waits for it. Thread-safe.
class StepTable {
 public:
  explicit StepTable(std::string task) : task_(std::move(task)) {}

  // For who runs it.
  StatusOr<RefPtr<StepRendezvous>> FindOrBegin(int64_t step_id);
  // For one receive by another task, until EndRecv.
  StatusOr<RefPtr<StepRendezvous>> BeginRecv(int64_t step_id);
  void EndRecv(int64_t step_id);
  void Cleanup(int64_t step_id);
  // Steps that were run here, that nobody has asked for since then, and for
  // whose tensors nobody waits.
  std::vector<int64_t> FindIdle(absl::Time before);
  // Ends all steps. None begins later.
  void Clear(const Status& why);

 private:
  struct Step {
    RefPtr<StepRendezvous> rendezvous;
    bool runs = false;
    int64_t receives = 0;
    absl::Time used;  // last
  };
  StatusOr<Step*> Find(int64_t step_id) REQUIRES(mu_);

  const std::string task_;
  Mutex mu_;
  Status closed_ GUARDED_BY(mu_);  // OK until Clear
  absl::flat_hash_map<int64_t, Step> steps_ GUARDED_BY(mu_);
  // The last steps that have ended.
  absl::flat_hash_set<int64_t> ended_ GUARDED_BY(mu_);
  std::deque<int64_t> ended_order_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_STEP_RENDEZVOUS_H_
