// Mutex, MutexLock, CondVar and Notification: absl's, with short names for
// clang's thread-safety annotations. Under ThreadSanitizer each carries its own
// happens-before edges, because Debian's absl is built without them and every
// use would be reported as a race.
#ifndef HEADRACE_BASE_MUTEX_H_
#define HEADRACE_BASE_MUTEX_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

#ifndef GUARDED_BY
#define GUARDED_BY(x) ABSL_GUARDED_BY(x)
#endif
#ifndef PT_GUARDED_BY
#define PT_GUARDED_BY(x) ABSL_PT_GUARDED_BY(x)
#endif
#ifndef REQUIRES
#define REQUIRES(...) ABSL_EXCLUSIVE_LOCKS_REQUIRED(__VA_ARGS__)
#endif
#ifndef REQUIRES_SHARED
#define REQUIRES_SHARED(...) ABSL_SHARED_LOCKS_REQUIRED(__VA_ARGS__)
#endif
#ifndef EXCLUDES
#define EXCLUDES(...) ABSL_LOCKS_EXCLUDED(__VA_ARGS__)
#endif
#ifndef NO_THREAD_SAFETY_ANALYSIS
#define NO_THREAD_SAFETY_ANALYSIS ABSL_NO_THREAD_SAFETY_ANALYSIS
#endif

#if defined(__SANITIZE_THREAD__)
#define HR_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HR_TSAN_ 1
#endif
#endif

#ifndef HR_TSAN_

namespace headrace {

using Mutex = absl::Mutex;
using MutexLock = absl::MutexLock;
using ReaderMutexLock = absl::ReaderMutexLock;
using CondVar = absl::CondVar;
using Notification = absl::Notification;

}  // namespace headrace

#else
#include "base/mutex_tsan.h"  // the same five names, with TSan's edges
#endif

#endif  // HEADRACE_BASE_MUTEX_H_
