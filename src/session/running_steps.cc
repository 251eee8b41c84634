#include "session/running_steps.h"

#include <vector>
namespace headrace {

Status RunningSteps::ClosedError() {
  return errors::Cancelled("Session has been closed.");
}

Status RunningSteps::Enter(RunningStep* step) {
  MutexLock lock(&mu_);
  HR_RETURN_IF_ERROR(CheckOpen());
  step->previous = head_.previous;
  step->next = &head_;
  head_.previous->next = step;
  head_.previous = step;
  return OkStatus();
}

void RunningSteps::Leave(RunningStep* step) {
  MutexLock lock(&mu_);
  // Before it leaves the list: the session may go when the list is empty.
  while (step->pins > 0) changed_.Wait(&mu_);
  step->previous->next = step->next;
  step->next->previous = step->previous;
  if (head_.next == &head_) changed_.SignalAll();
}

void RunningSteps::Close() {
  std::vector<RunningStep*> steps;
  {
    MutexLock lock(&mu_);
    closed_.store(true, std::memory_order_release);
    for (RunningStep* s = head_.next; s != &head_; s = s->next) {
      ++s->pins;
      steps.push_back(s);
    }
  }
  // What a cancelled step calls may come back to this session.
  for (RunningStep* s : steps) {
    s->cancellation.StartCancel(s->Explain(ClosedError()));
  }
  MutexLock lock(&mu_);
  for (RunningStep* s : steps) --s->pins;
  changed_.SignalAll();
}

void RunningSteps::WaitUntilNone() {
  MutexLock lock(&mu_);
  while (head_.next != &head_) changed_.Wait(&mu_);
}

}  // namespace headrace
