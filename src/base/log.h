// HR_LOG(WARNING) << "text": one line to stderr, for what no Status can carry
// (an ignored attr, a slow fallback). There is no fatal level: Headrace never
// ends the process it lives in.
//
// The least level written comes from HEADRACE_MIN_LOG_LEVEL, else from
// TF_CPP_MIN_LOG_LEVEL (0 INFO, 1 WARNING, 2 ERROR, 3 nothing), else is
// WARNING. HR_VLOG(1) is written when HEADRACE_VLOG or TF_CPP_MIN_VLOG_LEVEL is
// at least 1. Nothing to the right of << is evaluated for a line not written.
#ifndef HEADRACE_BASE_LOG_H_
#define HEADRACE_BASE_LOG_H_

#include <sstream>  // IWYU pragma: keep

namespace headrace {

enum class LogLevel { INFO = 0, WARNING = 1, ERROR = 2, NONE = 3 };

// Thread-safe. The first reads the environment once; the second replaces it.
LogLevel MinLogLevel();
void SetMinLogLevel(LogLevel level);
int VlogLevel();

namespace internal {

// Collects one line; its destructor writes it with a single write, so that
// lines of several threads do not mix.
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
