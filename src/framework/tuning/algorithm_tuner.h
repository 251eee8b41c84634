// AlgorithmTuner: knows which algorithm was measured as the fastest for a
// problem. It measures on its own thread during the runs, which never wait for
// it. A session with tuning gives one tuner to all its devices, under
// kContainer and kName. Without a tuner or a measurement, a kernel chooses by
// its own estimate.
//
// A child of fork() does not have that thread. There the parent's tuner returns
// its results but does not measure. A tuner created in the child measures.
//
// Thread-safe.
#ifndef HEADRACE_FRAMEWORK_TUNING_ALGORITHM_TUNER_H_
#define HEADRACE_FRAMEWORK_TUNING_ALGORITHM_TUNER_H_

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/tuning/algorithm_choices.h"
#include "headrace/mutex.h"
#include "headrace/resource_handle.h"
#include "headrace/status.h"

namespace headrace {

class AlgorithmTuner : public ResourceBase {
 public:
  static constexpr char kContainer[] = "_session";
  static constexpr char kName[] = "algorithm_tuner";

  struct Options {
    bool measure = false;
    // Leaves the processors to others for half of the time.
    bool yields = true;
    double seconds = 20;  // of measuring in all, rests included
    // Read, and written when something was measured; empty: none.
    std::string cache_path;
  };
  // InvalidArgument if the cache is damaged; NotFound if there is none and it
  // would only be read. A warning is logged if it has nothing for this machine.
  static StatusOr<RefPtr<AlgorithmTuner>> Create(const Options& options);
  ~AlgorithmTuner() override;

  std::string DebugString() const override { return "algorithm tuner"; }

  // Grows when there is a new choice.
  int64_t generation() const {
    return generation_.load(std::memory_order_acquire);
  }
  // Gets the times measured for this problem on this machine. False if there
  // are none.
  bool Find(const std::string& problem, AlgorithmChoices::Times* times) const;

  // How long a job may go on.
  class Clock {
   public:
    // True when the job must end, be it with what it has.
    bool IsOver() const;
    // Called after a measurement that took so long.
    void Rest(double ns) const;

   private:
    friend class AlgorithmTuner;
    const std::atomic<bool>* stop_;
    int64_t end_ns_;
    bool yields_;
  };
  // Measures the candidates of a problem; empty if it came to nothing.
  using Job = std::function<AlgorithmChoices::Times(const Clock&)>;
  // Has `job` run once, soon, unless that was asked before, or this does not
  // measure, or its time is up.
  void Measure(const std::string& problem, Job job);

  // A problem that a node had and the algorithm that it used, for reports.
  struct Use {
    std::string node, problem, chosen;
    AlgorithmChoices::Times predicted;  // by the estimate, shortest first
  };
  // Instead of what the node reported for this problem before.
  void Report(Use use);
  std::vector<Use> Uses() const;  // by node

  // Waits until all requested problems are measured or the time is up. Returns
  // the number of problems left out.
  int64_t Wait();
  // Ends the measuring: waits for the one that is in progress, which ends
  // early.
  void Stop();
  // The result of the last write of the file. An error is also logged.
  Status SaveStatus() const;
  // The times measured so far. Still available after Stop.
  AlgorithmChoices Choices() const;

 private:
  explicit AlgorithmTuner(const Options& options) : options_(options) {}

  void Work();
  void Save(const AlgorithmChoices& choices);
  // Around fork(), so that the child finds no tuner's mu_ locked.
  static void LockAll();
  static void UnlockAll();
  static void UnlockAllInChild();
  static const int kAtForkRegistered;

  const Options options_;
  std::atomic<int64_t> generation_{1};
  std::atomic<bool> stop_{false};

  struct Measurer {
    CondVar changed;
    std::thread thread;  // once something was to be measured
  };

  mutable Mutex mu_;
  // A child's is another one: neither part could be destroyed there.
  std::unique_ptr<Measurer> measurer_ GUARDED_BY(mu_) =
      std::make_unique<Measurer>();
  AlgorithmChoices choices_ GUARDED_BY(mu_);
  std::map<std::pair<std::string, std::string>, Use> uses_ GUARDED_BY(mu_);
  std::set<std::string> asked_ GUARDED_BY(mu_);
  std::deque<std::pair<std::string, Job>> queue_ GUARDED_BY(mu_);
  bool busy_ GUARDED_BY(mu_) = false;
  int64_t left_out_ GUARDED_BY(mu_) = 0;
  Status save_status_ GUARDED_BY(mu_);
  double used_ns_ GUARDED_BY(mu_) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TUNING_ALGORITHM_TUNER_H_
