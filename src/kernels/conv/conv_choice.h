// Which implementation a convolution kernel takes: the one that was measured to
// be the fastest, where the session has an AlgorithmTuner that knows; else
// ChooseConv's.
#ifndef HEADRACE_KERNELS_CONV_CONV_CHOICE_H_
#define HEADRACE_KERNELS_CONV_CONV_CHOICE_H_

#include <string>
#include <vector>

#include "base/mutex.h"
#include "framework/tuning/algorithm_tuner.h"
#include "kernels/conv/conv_impl.h"

namespace headrace {

// One kernel's. Thread-safe.
class ConvChooser {
 public:
  explicit ConvChooser(const OpKernelConstruction& ctx);

  // As ChooseConv. `fused`: there is an epilogue. Never waits for measuring.
  const ConvImplementation* Choose(ThreadPool* pool, ConvDirection direction,
                                   const ConvParams& p, bool fused);
  // For reports: the kernel does without a choice and runs the forward
  // convolution as `how`, which is no implementation's name.
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

// What the tuner knows the convolution by. Sizes of images that differ little
// have the same name.
std::string ConvProblem(ConvDirection direction, const ConvParams& p,
                        bool fused, int threads);

// Times of the implementations that may be the fastest, with made-up data and
// prepared filters, the shortest first. Empty if `clock` did not leave the time
// to run each twice, or there is no memory.
AlgorithmChoices::Times MeasureConv(ThreadPool* pool, ConvDirection direction,
                                    const ConvParams& p, bool fused,
                                    const AlgorithmTuner::Clock& clock);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_CONV_CHOICE_H_
