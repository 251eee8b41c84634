// Seeds of random datasets, and generators of new seeds for each iteration.
#ifndef HEADRACE_KERNELS_DATA_SEEDS_H_
#define HEADRACE_KERNELS_DATA_SEEDS_H_

#include "framework/kernel/philox.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"
#include "kernels/data/iterator_state.h"

namespace headrace {

struct SeedPair {
  uint64_t seed = 0, seed2 = 0;

  PhiloxWords Words() const { return PhiloxWords(Philox(seed, seed2)); }
  Status SaveOrRestore(absl::string_view name, IteratorState* state) {
    PhiloxWords words(Philox::FromState(seed, seed2, 0));
    HR_RETURN_IF_ERROR(state->Words(name, &words));
    seed = words.state().key;
    seed2 = words.state().low;
    return OkStatus();
  }
};

// Reads the inputs "seed" and "seed2". If both are 0, makes unpredictable
// seeds.
Status ReadSeeds(const OpKernelContext& ctx, SeedPair* out);

// Thread-safe.
class SeedGenerator : public ResourceBase {
 public:
  // Without `reshuffle`, every call of Next returns `seeds`.
  SeedGenerator(SeedPair seeds, bool reshuffle)
      : reshuffle_(reshuffle), seeds_(seeds), words_(seeds.Words()) {}
  std::string DebugString() const override { return "SeedGenerator"; }

  SeedPair Next() {
    MutexLock lock(&mu_);
    if (!reshuffle_) return seeds_;
    SeedPair next;
    next.seed = words_();
    next.seed2 = words_();
    return next;
  }
  // The seeds that iterations to come will have.
  Status SaveOrRestore(absl::string_view name, IteratorState* state) {
    MutexLock lock(&mu_);
    HR_RETURN_IF_ERROR(seeds_.SaveOrRestore(StrCat(name, "_seed"), state));
    return state->Words(StrCat(name, "_words"), &words_);
  }

 private:
  const bool reshuffle_;
  Mutex mu_;
  SeedPair seeds_ GUARDED_BY(mu_);
  PhiloxWords words_ GUARDED_BY(mu_);
};

// Finds the generator of the input "seed_generator". Null if the op has no such
// input, or must create its own generator.
Status GeneratorInput(const OpKernelContext& ctx,
                      RefPtr<SeedGenerator>* generator);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_SEEDS_H_
