// ConvChooser: which implementation a convolution kernel takes. If the session
// has an AlgorithmTuner that has measured the convolution, it is the fastest;
// otherwise the one that ChooseConv estimates.
#ifndef HEADRACE_KERNELS_CONV_CONV_CHOICE_H_
#define HEADRACE_KERNELS_CONV_CONV_CHOICE_H_

#include <string>
#include <vector>

#include "framework/tuning/algorithm_tuner.h"
#include "headrace/mutex.h"
#include "kernels/conv/conv_impl.h"

namespace headrace {

// Belongs to one kernel. Thread-safe.
class ConvChooser {
 public:
  explicit ConvChooser(const OpKernelConstruction& ctx);

  // As ChooseConv. `fused`: there is an epilogue. Never waits for measuring.
  const ConvImplementation* Choose(ThreadPool* pool, ConvDirection direction,
                                   const ConvParams& p, bool fused);
  // Reports to the tuner that the kernel runs the forward convolution without a
  // choice of the tuner's, as `how`: an implementation's name, or another.
  void Report(ThreadPool* pool, const ConvParams& p, bool fused,
              const char* how);

 private:
  struct Choice {
    ConvParams p;
    bool fused;
    int64_t generation;
    const ConvImplementation* implementation;  // null: only reported
  };
  // Null if p and fused are not among the recent ones.
  Choice* Recent(const ConvParams& p, bool fused) REQUIRES(mu_);
  void Remember(const Choice& choice) REQUIRES(mu_);
  const ConvImplementation* Look(ThreadPool* pool, ConvDirection direction,
                                 const ConvParams& p, bool fused);

  const std::string node_;
  RefPtr<AlgorithmTuner> tuner_;  // null: nobody measures
  Mutex mu_;
  std::vector<Choice> recent_ GUARDED_BY(mu_);
};

// The convolution's name in the tuner's tables. Images of nearly the same size
// share a name.
std::string ConvProblem(ConvDirection direction, const ConvParams& p,
                        bool fused, int threads);

// Measured times, in nanoseconds, of the implementations that may be the
// fastest, the shortest first, with made-up data and prepared filters. Empty if
// `clock` did not leave the time to run each twice, or there is no memory.
AlgorithmChoices::Times MeasureConv(ThreadPool* pool, ConvDirection direction,
                                    const ConvParams& p, bool fused,
                                    const AlgorithmTuner::Clock& clock);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_CONV_CHOICE_H_
