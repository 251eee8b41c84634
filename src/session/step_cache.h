// StepCache: the compiled steps of a session, by what each feeds, fetches and
// runs. Bounded: the least recently used go first. A run holds its step, so
// dropping one that is in use only means that it is compiled anew next time;
// kernels with state are the session's and stay.
#ifndef HEADRACE_SESSION_STEP_CACHE_H_
#define HEADRACE_SESSION_STEP_CACHE_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "headrace/mutex.h"
#include "session/compiled_step.h"

namespace headrace {

// Thread-safe.
class StepCache {
 public:
  using Key = absl::InlinedVector<uint64_t, 12>;
  // A small step takes some 10 kB, a node of a larger one some 500 bytes.
  struct Limits {
    size_t steps = 1000;
    int64_t nodes = 1'000'000;  // of all steps together
    size_t always = 8;          // so many are kept, however large
  };

  StepCache() : StepCache(Limits()) {}
  explicit StepCache(const Limits& limits) : limits_(limits) {}

  // Null if it is not there.
  std::shared_ptr<const CompiledStep> Find(const Key& key);
  // Puts `step` there and returns it, or what another thread has put there.
  std::shared_ptr<const CompiledStep> Insert(
      Key key, std::shared_ptr<const CompiledStep> step);
  void Clear();
  size_t size() const;

 private:
  struct Kept {
    std::shared_ptr<const CompiledStep> step;
    int64_t nodes = 0;
    uint64_t used = 0;  // when, by uses_
  };
  using Map = absl::flat_hash_map<Key, Kept>;

  bool IsFull() const REQUIRES(mu_);

  const Limits limits_;
  mutable Mutex mu_;  // not held while a step is destroyed
  Map steps_ GUARDED_BY(mu_);
  int64_t nodes_ GUARDED_BY(mu_) = 0;
  uint64_t uses_ GUARDED_BY(mu_) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_STEP_CACHE_H_
