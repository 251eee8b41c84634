// PartialRuns: the partial runs of a session that are in progress, by handle.
// Bounded: clients may begin one and forget it, and nobody tells. Of too many
// the least recently used that nobody is calling is dropped.
#ifndef HEADRACE_SESSION_PARTIAL_RUNS_H_
#define HEADRACE_SESSION_PARTIAL_RUNS_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "headrace/mutex.h"
#include "session/partial_run.h"
#include "session/step_run.h"

namespace headrace {

// A partial run in progress. The executors' last callback holds a reference.
struct PartialStep : StepRun {
  explicit PartialStep(std::shared_ptr<const CompiledStep> step)
      : run(std::move(step), &group), left(run.step().parts.size()) {}
  PartialRun run;
  std::atomic<size_t> left;
  std::atomic<bool> complete{true};

 private:
  friend class PartialRuns;
  // Both are guarded by the table's mutex.
  int calls = 0;
  uint64_t used = 0;
};

// Thread-safe.
class PartialRuns {
 public:
  static constexpr size_t kMaxRuns = 1000;

  explicit PartialRuns(size_t limit = kMaxRuns) : limit_(limit) {}

  // Its handle. `dropped` is the run that had to go, which is for the caller to
  // end; mostly null.
  std::string Add(std::shared_ptr<PartialStep> run,
                  std::shared_ptr<PartialStep>* dropped);
  // The run of a call that begins; InvalidArgument if there is none. On OK the
  // caller calls EndCall, with `is_over` if nobody can continue the run.
  Status BeginCall(const std::string& handle,
                   std::shared_ptr<PartialStep>* run);
  void EndCall(const std::string& handle, PartialStep* run, bool is_over);
  // Takes it out; null if there is none.
  std::shared_ptr<PartialStep> Take(const std::string& handle);
  void Clear();

 private:
  const size_t limit_;
  Mutex mu_;  // not held while a run is destroyed
  absl::flat_hash_map<std::string, std::shared_ptr<PartialStep>> runs_
      GUARDED_BY(mu_);
  uint64_t next_ GUARDED_BY(mu_) = 0;
  uint64_t uses_ GUARDED_BY(mu_) = 0;
  bool has_dropped_ GUARDED_BY(mu_) = false;
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_PARTIAL_RUNS_H_
