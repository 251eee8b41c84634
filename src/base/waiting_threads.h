// Threads for work that may block: on a function, a file, another thread.
// Workers of the pool must not block. Each piece of work has one of these
// threads for itself. A new thread starts if none is idle. An idle thread ends
// after some seconds.
#ifndef HEADRACE_BASE_WAITING_THREADS_H_
#define HEADRACE_BASE_WAITING_THREADS_H_

#include "absl/functional/any_invocable.h"

namespace headrace {

// Starts `fn`, which must not throw, on a thread of its own. Returns false and
// does not run `fn` if there are too many threads or the system refuses more.
// Thread-safe. After fork() the child starts without these threads.
[[nodiscard]] bool StartWaitingThread(absl::AnyInvocable<void()> fn);

}  // namespace headrace

#endif  // HEADRACE_BASE_WAITING_THREADS_H_
