// Wraps, by the linker's --wrap, the functions of the C++ runtime that the
// compiler calls around the initializer of a static local in this library. If
// another thread is in an initializer during fork, the child would wait for
// ever when it reaches that local. So the forking thread waits until the
// initializers are done (base/fork.h).
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
