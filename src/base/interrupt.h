// Interrupt: long work on this thread asks from time to time whether it should
// stop. Who starts the work knows why it might (a deadline, a cancelled step);
// the code that does it only calls CheckInterrupt.
//
//   Interrupt interrupt([&] { return token->status(); });
//   HR_RETURN_IF_ERROR(Compile(...));   // calls CheckInterrupt in its loops
#ifndef HEADRACE_BASE_INTERRUPT_H_
#define HEADRACE_BASE_INTERRUPT_H_

#include <functional>

#include "headrace/status.h"

namespace headrace {

// While it lives, CheckInterrupt on this thread asks `check`. They nest: those
// around it are asked too.
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

// The first error of a check on this thread; OK if there is none. It costs what
// the checks cost, some 50 ns with a clock: too much for each edge of a graph,
// little beside the work for a node.
Status CheckInterrupt();

}  // namespace headrace

#endif  // HEADRACE_BASE_INTERRUPT_H_
