#include "session/live_sessions.h"

#include <chrono>
#include <new>
#include <thread>

namespace headrace {

LiveSessions* LiveSessions::Get() {
  static LiveSessions* const live = [] {
    auto* const made = new LiveSessions;
    HoldDuringFork(&made->mu_);
    return made;
  }();
  return live;
}

void LiveSessions::ForgetParent() {
  if (generation_ == ForkGeneration()) return;
  generation_ = ForkGeneration();
  for (auto& [session, count] : pins_) count = 0;
  new (&unpinned_) CondVar;  // threads of the parent may have been waiting
}

void LiveSessions::Add(Member* session) {
  MutexLock lock(&mu_);
  pins_[session] = 0;
}

void LiveSessions::Remove(Member* session) {
  MutexLock lock(&mu_);
  ForgetParent();
  while (pins_[session] > 0) unpinned_.Wait(&mu_);
  pins_.erase(session);
}

void LiveSessions::ResetAll(const std::vector<std::string>& containers) {
  std::vector<Member*> sessions;
  {
    MutexLock lock(&mu_);
    ForgetParent();
    for (auto& [session, pins] : pins_) {
      ++pins;
      sessions.push_back(session);
    }
  }
  for (Member* s : sessions) s->Reset(containers);
  MutexLock lock(&mu_);
  for (Member* s : sessions) --pins_[s];
  unpinned_.SignalAll();
}

Status InsideSession::Refusal() {
  return errors::FailedPrecondition(
      "The session was running when its process forked, and the threads that "
      "ran it are not in this child: make a new session after fork()");
}

void WaitUntilEmpty(const ForkGate& calls) {
  // Nothing runs any more, so it is a matter of microseconds, or of what is
  // left of a compilation. Those who leave must not touch the gate afterwards.
  while (!calls.IsAbandoned() && !calls.IsEmpty()) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace headrace
