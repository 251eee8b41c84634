// Converts exceptions to Statuses. The library reports failures as Statuses,
// but containers and other libraries throw when memory runs out. Some
// functions, the edges (a kernel call, an import, the compilation of a step),
// therefore catch exceptions and return a Status.
#ifndef HEADRACE_BASE_EXCEPTIONS_H_
#define HEADRACE_BASE_EXCEPTIONS_H_

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "headrace/status.h"

namespace headrace {

// Thrown instead of a plain std::bad_alloc where the requested size is known:
// by `new` in this library and by a tstring that grows.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(size_t bytes) noexcept : bytes_(bytes) {}
  const char* what() const noexcept override { return "out of memory"; }
  size_t bytes() const { return bytes_; }

 private:
  const size_t bytes_;
};

// ResourceExhausted if memory ran out (with the bytes if they are known), if
// the system refused a thread, or if a container cannot have the requested
// size. Internal for any other exception. If there is no memory for the
// message, the Status has only the code.
Status StatusOf(const std::exception& e) noexcept;

// Calls `fn` and returns its Status. If it throws, returns StatusOf the
// exception.
//
// It does not use catch (...): pthread_exit and a finalizing Python interpreter
// unwind the stack with an exception without a type, which nobody may stop.
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
