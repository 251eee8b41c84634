// Seeds of random datasets, and generators of new seeds for each iteration.
#ifndef HEADRACE_KERNELS_DATA_SEEDS_H_
#define HEADRACE_KERNELS_DATA_SEEDS_H_

#include "framework/kernel/philox.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {

struct SeedPair {
  uint64_t seed = 0, seed2 = 0;

  PhiloxWords Words() const { return PhiloxWords(Philox(seed, seed2)); }
};

// Reads the inputs "seed" and "seed2". If both are 0, makes unpredictable
// seeds.
Status ReadSeeds(const OpKernelContext& ctx, SeedPair* out);

// Thread-safe.
class SeedGenerator : public ResourceBase {
 public:
  // Without `reshuffle`, every call of Next returns `seeds`.
  SeedGenerator(SeedPair seeds, bool reshuffle)
      : seeds_(seeds), reshuffle_(reshuffle), words_(seeds.Words()) {}
  std::string DebugString() const override { return "SeedGenerator"; }

  SeedPair Next() {
    if (!reshuffle_) return seeds_;
    MutexLock lock(&mu_);
    SeedPair next;
    next.seed = words_();
    next.seed2 = words_();
    return next;
  }

 private:
  const SeedPair seeds_;
  const bool reshuffle_;
  Mutex mu_;
  PhiloxWords words_ GUARDED_BY(mu_);
};

// Finds the generator of the input "seed_generator". Null if the op has no such
// input, or must create its own generator.
Status GeneratorInput(const OpKernelContext& ctx,
                      RefPtr<SeedGenerator>* generator);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_SEEDS_H_
