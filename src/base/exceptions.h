// Exceptions at the edges of what throws. The library itself reports failures
// as Statuses, but the containers and libraries that it stands on throw when
// there is no memory. An edge (a kernel call, an import, the compilation of a
// step) turns what comes out of it into a Status.
#ifndef HEADRACE_BASE_EXCEPTIONS_H_
#define HEADRACE_BASE_EXCEPTIONS_H_

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "headrace/status.h"

namespace headrace {

// Thrown instead of a plain std::bad_alloc by allocations that know how much
// they asked for: `new` in this library and the growth of a tstring.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(size_t bytes) noexcept : bytes_(bytes) {}
  const char* what() const noexcept override { return "out of memory"; }
  size_t bytes() const { return bytes_; }

 private:
  const size_t bytes_;
};

// ResourceExhausted for want of memory, with the bytes if they are known, or of
// threads, and for a size that no container can have; Internal for any other
// exception.
// Where there is no memory for the message, the code alone.
Status StatusOf(const std::exception& e) noexcept;

// What `fn` returns or, if it throws, a Status that says so.
//
// Not "catch (...)": a thread that is ended (pthread_exit, a Python interpreter
// that finalizes) unwinds its stack by an exception of no type, which must not
// be stopped.
template <typename F>
Status CatchExceptions(F&& fn) {
  try {
    return std::forward<F>(fn)();
  } catch (const std::exception& e) {
    return StatusOf(e);
  }
}

}  // namespace headrace

#endif  // HEADRACE_BASE_EXCEPTIONS_H_
