// Interrupt: lets long work on this thread check whether it should stop. The
// caller that starts the work sets the condition (a deadline, a cancelled
// step). The working code only calls CheckInterrupt.
//
//   Interrupt interrupt([&] { return token->status(); });
//   HR_RETURN_IF_ERROR(Compile(...));   // calls CheckInterrupt in its loops
#ifndef HEADRACE_BASE_INTERRUPT_H_
#define HEADRACE_BASE_INTERRUPT_H_

#include <functional>

#include "headrace/status.h"

namespace headrace {

// For the lifetime of this object, CheckInterrupt on this thread calls `check`.
// Interrupts nest: the enclosing checks are called, too.
class Interrupt {
 public:
  using Check = std::function<Status()>;
  explicit Interrupt(Check check);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  friend Status CheckInterrupt();
  const Check check_;
  const Interrupt* const outer_;
};

// Returns the first error of this thread's checks, or OK. It costs as much as
// the checks, about 50 ns if they read a clock. That is too much per edge of a
// graph, and little per node.
Status CheckInterrupt();

}  // namespace headrace

#endif  // HEADRACE_BASE_INTERRUPT_H_
