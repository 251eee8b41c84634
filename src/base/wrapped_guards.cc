// What the compiler calls around the initializer of a static local in this
// library, by the linker's --wrap: the C++ runtime's own functions. A child
// that was forked while another thread was in one would wait for ever where it
// comes to that local itself; so whoever forks waits instead (base/fork.h).
#include <cstdint>

#include "base/fork.h"

using headrace::InitializerScope;

// The linker's names for the wrapped functions and for the wrappers.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
int __real___cxa_guard_acquire(int64_t* guard);
void __real___cxa_guard_release(int64_t* guard) noexcept;
void __real___cxa_guard_abort(int64_t* guard) noexcept;

// 1 if this thread is to initialize, which ends with one of the other two.
int __wrap___cxa_guard_acquire(int64_t* guard) {
  InitializerScope::Begin();
  const int mine = __real___cxa_guard_acquire(guard);
  if (mine == 0) InitializerScope::End();
  return mine;
}

void __wrap___cxa_guard_release(int64_t* guard) noexcept {
  __real___cxa_guard_release(guard);
  InitializerScope::End();
}

void __wrap___cxa_guard_abort(int64_t* guard) noexcept {
  __real___cxa_guard_abort(guard);
  InitializerScope::End();
}
}
// NOLINTEND(bugprone-reserved-identifier)
