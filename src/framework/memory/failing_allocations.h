// For tests: makes chosen allocations of the process fail, if the library that
// does so (tests/faults/failing_allocations.cc) was preloaded.
#ifndef HEADRACE_FRAMEWORK_MEMORY_FAILING_ALLOCATIONS_H_
#define HEADRACE_FRAMEWORK_MEMORY_FAILING_ALLOCATIONS_H_

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace headrace {

// Counts and fails the allocations of all threads. At most one lives at a time.
class FailingAllocations {
 public:
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

  static bool ArePreloaded() { return Arm() != nullptr; }

  // While this lives, `count` allocations from the `first` (1, 2, ...) on fail,
  // of those of at least `bytes`; with kAll as the first none do, and they are
  // counted.
  FailingAllocations(int64_t first, int64_t count, int64_t bytes) {
    Arm()(first, count, bytes);
  }
  ~FailingAllocations() { Arm()(0, 0, 0); }
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  // How many there were since.
  static int64_t Seen() { return Find<int64_t (*)()>("hr_allocations")(); }

 private:
  using ArmFunction = void (*)(int64_t, int64_t, int64_t);
  template <typename F>
  static F Find(const char* name) {
    void* const p = dlsym(RTLD_DEFAULT, name);
    F f;
    std::memcpy(&f, &p, sizeof(p));
    return f;
  }
  static ArmFunction Arm() {
    static const auto arm = Find<ArmFunction>("hr_fail_allocations");
    return arm;
  }
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_MEMORY_FAILING_ALLOCATIONS_H_
