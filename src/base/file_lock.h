// FileLock: excludes other processes and threads that also use it while a file
// is read, changed and written. The holder has a lock file, which is removed
// with the lock. A lock file left by a killed process does not count; the next
// holder removes it.
#ifndef HEADRACE_BASE_FILE_LOCK_H_
#define HEADRACE_BASE_FILE_LOCK_H_

#include <cstdint>
#include <string>
#include <utility>

#include "headrace/status.h"

namespace headrace {

// Thread-safe. Released by the destructor.
class FileLock {
 public:
  // Locks `path`, which need not exist, with a file "<path>.lock" beside it; so
  // the folder must be writable. DeadlineExceeded if others hold the lock for
  // all of `wait_micros` microseconds.
  static StatusOr<FileLock> Take(const std::string& path,
                                 int64_t wait_micros = 10'000'000);

  FileLock(FileLock&& other) noexcept
      : lock_path_(std::move(other.lock_path_)),
        fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(std::string lock_path, int fd)
      : lock_path_(std::move(lock_path)), fd_(fd) {}

  std::string lock_path_;
  int fd_;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_FILE_LOCK_H_
