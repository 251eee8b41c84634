// FileLock: for a read, change and write of a file that other processes and
// threads may be changing too. Its holder has a lock file, which goes with the
// lock; one that a killed process left behind is nobody's lock, and the next
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
  // Locks `path`, which need not exist, by a file "<path>.lock" beside it: so
  // the folder must be writable. DeadlineExceeded if another has it for all of
  // `wait_micros`.
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
