// LiveSessions: the sessions of this process, for those who reset them all. And
// what a session does about fork().
#ifndef HEADRACE_SESSION_LIVE_SESSIONS_H_
#define HEADRACE_SESSION_LIVE_SESSIONS_H_

#include <map>
#include <string>
#include <vector>

#include "base/fork.h"
#include "headrace/mutex.h"
#include "headrace/status.h"

namespace headrace {

// Thread-safe. Its lock is not held while a session is reset: what a cancelled
// step calls may make or delete sessions.
class LiveSessions {
 public:
  class Member {
   public:
    virtual ~Member() = default;
    // Closes the session and drops what it keeps in `containers`, or in the
    // default container if there is none named.
    virtual void Reset(const std::vector<std::string>& containers) = 0;
  };

  static LiveSessions* Get();

  void Add(Member* session);
  // Waits until nobody resets it.
  void Remove(Member* session);
  void ResetAll(const std::vector<std::string>& containers);

 private:
  // Threads that reset sessions in the parent process are not in its child.
  void ForgetParent() REQUIRES(mu_);

  Mutex mu_;
  CondVar unpinned_;
  // How many threads are resetting each.
  std::map<Member*, int> pins_ GUARDED_BY(mu_);
  uint32_t generation_ GUARDED_BY(mu_) = ForkGeneration();
};

// A call of a session, while it lives: it is inside the session's gate. In a
// child of fork() a session in which the parent had threads lets nobody in.
// `calls`, if given, is a second gate that calls alone enter. They leave it
// last of all, after which the session may go.
class InsideSession {
 public:
  explicit InsideSession(ForkGate* gate, ForkGate* calls = nullptr)
      : calls_(calls != nullptr && calls->Enter() ? calls : nullptr),
        gate_((calls == nullptr || calls_ != nullptr) && gate->Enter()
                  ? gate
                  : nullptr) {}
  ~InsideSession() {
    if (gate_ != nullptr) gate_->Leave();
    if (calls_ != nullptr) calls_->Leave();
  }
  InsideSession(const InsideSession&) = delete;
  InsideSession& operator=(const InsideSession&) = delete;

  // FailedPrecondition if the call may not come in.
  Status status() const {
    if (gate_ != nullptr) [[likely]]
      return OkStatus();
    return Refusal();
  }
  static Status Refusal();

 private:
  ForkGate* const calls_;
  ForkGate* const gate_;
};

// Waits for the calls that have begun, of a session that is closed.
void WaitUntilEmpty(const ForkGate& calls);

}  // namespace headrace

#endif  // HEADRACE_SESSION_LIVE_SESSIONS_H_
