// HR_LOG(WARNING) << "text" writes one line to stderr. Use it for what no
// Status can carry, such as an ignored attr or a slow fallback. There is no
// fatal level: Headrace never ends its process.
//
// The lowest level that is written comes from HEADRACE_MIN_LOG_LEVEL, else from
// TF_CPP_MIN_LOG_LEVEL (0 INFO, 1 WARNING, 2 ERROR, 3 nothing). The default is
// WARNING. HR_VLOG(1) is written if HEADRACE_VLOG or TF_CPP_MIN_VLOG_LEVEL is
// at least 1. If a line is not written, the arguments of << are not evaluated.
#ifndef HEADRACE_BASE_LOG_H_
#define HEADRACE_BASE_LOG_H_

#include <sstream>  // IWYU pragma: keep

namespace headrace {

enum class LogLevel { INFO = 0, WARNING = 1, ERROR = 2, NONE = 3 };

// Thread-safe. MinLogLevel reads the environment once. SetMinLogLevel replaces
// that value.
LogLevel MinLogLevel();
void SetMinLogLevel(LogLevel level);
int VlogLevel();

namespace internal {

// Collects one line. The destructor writes it with one system call, so lines of
// several threads do not mix.
class LogMessage {
 public:
  LogMessage(const char* file, int line, LogLevel level);
  ~LogMessage();
  LogMessage(const LogMessage&) = delete;
  LogMessage& operator=(const LogMessage&) = delete;
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace internal
}  // namespace headrace

#define HR_LOG(level)                                             \
  if (::headrace::LogLevel::level < ::headrace::MinLogLevel()) {  \
  } else /* NOLINT */                                             \
    ::headrace::internal::LogMessage(__FILE__, __LINE__,          \
                                     ::headrace::LogLevel::level) \
        .stream()

#define HR_VLOG(n)                                               \
  if ((n) > ::headrace::VlogLevel()) {                           \
  } else /* NOLINT */                                            \
    ::headrace::internal::LogMessage(__FILE__, __LINE__,         \
                                     ::headrace::LogLevel::INFO) \
        .stream()

#endif  // HEADRACE_BASE_LOG_H_
