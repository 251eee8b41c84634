// What `new` calls in this library, by the linker's --wrap: the program's own
// operator new. Large pieces are refused before that if the machine or the run
// has no room for them; see base/scratch_account.h. What is thrown says how
// much was asked for.
#include <new>

#include "base/exceptions.h"
#include "base/scratch_account.h"

using headrace::OutOfMemory;
using headrace::ScratchAccount;

// The linker's names for the wrapped functions and for the wrappers.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real__Znwm(size_t bytes);
void* __real__Znam(size_t bytes);
void* __real__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment);

void* __wrap__Znwm(size_t bytes) {
  if (!ScratchAccount::Admits(bytes)) throw OutOfMemory(bytes);
  try {
    return __real__Znwm(bytes);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(bytes);
  }
}
void* __wrap__Znam(size_t bytes) {
  if (!ScratchAccount::Admits(bytes)) throw OutOfMemory(bytes);
  try {
    return __real__Znam(bytes);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(bytes);
  }
}
void* __wrap__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment) {
  if (!ScratchAccount::Admits(bytes)) throw OutOfMemory(bytes);
  try {
    return __real__ZnwmSt11align_val_t(bytes, alignment);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(bytes);
  }
}
}
// NOLINTEND(bugprone-reserved-identifier)
