#include "base/log.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

namespace headrace {
namespace {

// The first of two environment variables that holds a number; else `fallback`.
int LevelFromEnv(const char* ours, const char* tensorflows, int fallback) {
  for (const char* name : {ours, tensorflows}) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') continue;
    char* end = nullptr;
    const long level = std::strtol(text, &end, 10);  // NOLINT: strtol's type
    if (*end == '\0') return static_cast<int>(std::clamp(level, 0L, 100L));
  }
  return fallback;
}

std::atomic<LogLevel>& MinLevel() {
  static std::atomic<LogLevel> level{static_cast<LogLevel>(
      std::min(LevelFromEnv("HEADRACE_MIN_LOG_LEVEL", "TF_CPP_MIN_LOG_LEVEL",
                            static_cast<int>(LogLevel::WARNING)),
               static_cast<int>(LogLevel::NONE)))};
  return level;
}

}  // namespace

LogLevel MinLogLevel() { return MinLevel().load(std::memory_order_relaxed); }

void SetMinLogLevel(LogLevel level) {
  MinLevel().store(level, std::memory_order_relaxed);
}

int VlogLevel() {
  static const int level =
      LevelFromEnv("HEADRACE_VLOG", "TF_CPP_MIN_VLOG_LEVEL", 0);
  return level;
}

namespace internal {

LogMessage::LogMessage(const char* file, int line, LogLevel level) {
  timeval now;
  gettimeofday(&now, nullptr);
  tm parts;
  localtime_r(&now.tv_sec, &parts);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &parts);
  char micros[16];
  std::snprintf(micros, sizeof(micros), ".%06d", static_cast<int>(now.tv_usec));
  std::string_view short_file = file;
  if (const size_t src = short_file.rfind("src/"); src != short_file.npos) {
    short_file.remove_prefix(src + 4);
  }
  stream_ << date << micros << ": "
          << "IWE"[static_cast<int>(level)] << " " << short_file << ":" << line
          << "] ";
}

LogMessage::~LogMessage() {
  stream_ << '\n';
  const std::string text = std::move(stream_).str();
  // One write, so that lines stay whole; nothing can be done if it fails.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace internal
}  // namespace headrace
