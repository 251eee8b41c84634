// Threads for work that may wait: for a function, a file, another thread. The
// pool's workers must not; so such work runs here, each piece on a thread that
// it has for itself as long as it takes. Threads are made when there is no idle
// one, and end after some seconds of idleness.
#ifndef HEADRACE_BASE_WAITING_THREADS_H_
#define HEADRACE_BASE_WAITING_THREADS_H_

#include "absl/functional/any_invocable.h"

namespace headrace {

// Starts `fn`, which must not throw, on a thread of its own. False, and `fn` is
// not run, if there are too many threads already or the system refuses more.
// Thread-safe. After fork() the child starts with no threads.
[[nodiscard]] bool StartWaitingThread(absl::AnyInvocable<void()> fn);

}  // namespace headrace

#endif  // HEADRACE_BASE_WAITING_THREADS_H_
