// ConvAutotuner: which algorithm of Dnn a convolution takes. The first time
// that a problem occurs its algorithms are measured; the fastest is taken from
// then on. The times are kept in a text file of the same kind as the CPU's
// (framework/tuning/algorithm_choices.h), so that a second process measures
// nothing. Without measuring, the heuristic of Dnn chooses.
//
// Thread-safe. A measurement keeps other callers waiting.
#ifndef HEADRACE_KERNELS_GPU_CONV_AUTOTUNE_H_
#define HEADRACE_KERNELS_GPU_CONV_AUTOTUNE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "device/gpu/dnn.h"
#include "framework/tuning/algorithm_choices.h"
#include "headrace/mutex.h"

namespace headrace::gpu {

// What decides which algorithm is the fastest. A plain value.
struct ConvKey {
  ConvProblem problem;
  std::string device;  // "NVIDIA H100 80GB HBM3, compute 9.0"
  int dnn_version = 0;
  bool deterministic = true;

  // The section of the file: times of another device or Dnn are not valid.
  std::string Machine() const;
  // The line within the section.
  std::string Problem() const;
  bool operator==(const ConvKey&) const = default;
};

class ConvAutotuner {
 public:
  struct Options {
    bool measure = true;
    // Read first; what was measured is added. Empty: none.
    std::string path;
    // The file is never written.
    bool read_only = false;
    Env* env = nullptr;  // null: the machine's
  };
  // TF_CUDNN_USE_AUTOTUNE (1: measure), HEADRACE_GPU_TUNING (the file),
  // HEADRACE_GPU_TUNING_READ_ONLY.
  static Options OptionsFromEnvironment();
  // The tuner of this process.
  static ConvAutotuner* Global();

  explicit ConvAutotuner(Options options);

  // What Choose said of this problem not long ago, if it needs no more than
  // `workspace_limit` bytes. Cheap: Dnn need not list its algorithms.
  bool FindRecent(const ConvKey& key, int64_t workspace_limit,
                  ConvAlgorithm* out) const;

  // Runs an algorithm, checks its result, and returns the nanoseconds that it
  // took. An error leaves the algorithm out.
  using Measure = std::function<StatusOr<double>(const ConvAlgorithm&)>;
  // Of `candidates`, the heuristic's choice first, takes one that needs no more
  // than `workspace_limit` bytes, or the one that needs least. NotFound if
  // there are no candidates.
  StatusOr<ConvAlgorithm> Choose(const ConvKey& key,
                                 const std::vector<ConvAlgorithm>& candidates,
                                 int64_t workspace_limit,
                                 const Measure& measure);

  // Answers `a` from now on: what was chosen does not run.
  void Take(const ConvKey& key, const ConvAlgorithm& a);
  // Notes that no algorithm runs for the problem, and says so later.
  void Refuse(const ConvKey& key);
  bool IsRefused(const ConvKey& key) const;

  // The result of the last reading or writing of the file.
  Status FileStatus() const;
  int64_t measured() const;  // problems, so far

 private:
  const ConvAlgorithm* Recent(const ConvKey& key, int64_t workspace_limit) const
      REQUIRES(mu_);
  // The measured algorithm that is the fastest of the candidates, or null.
  const ConvAlgorithm* Known(const ConvKey& key,
                             const std::vector<const ConvAlgorithm*>& fitting)
      REQUIRES(mu_);
  // Puts it into recent_, instead of the oldest if there are too many.
  void Remember(const ConvKey& key, const ConvAlgorithm& a) REQUIRES(mu_);

  const Options options_;
  Env* const env_;
  mutable Mutex mu_;
  AlgorithmChoices choices_ GUARDED_BY(mu_);
  // Problems of which no algorithm could be measured.
  std::vector<ConvKey> failed_ GUARDED_BY(mu_);
  std::vector<ConvKey> refused_ GUARDED_BY(mu_);
  std::atomic<bool> refuses_{false};  // refused_ is not empty
  // What was chosen last, for the kernels that ask again and again.
  std::vector<std::pair<ConvKey, ConvAlgorithm>> recent_ GUARDED_BY(mu_);
  Status file_status_ GUARDED_BY(mu_);
  int64_t measured_ GUARDED_BY(mu_) = 0;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_CONV_AUTOTUNE_H_
