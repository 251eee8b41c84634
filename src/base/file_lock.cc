#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/env.h"
#include "headrace/strings.h"

namespace headrace {
namespace {

constexpr int64_t kPollMicros = 2000;

// False if the last holder removed the file after we opened it. A lock on the
// removed file would exclude nobody.
bool IsStillAt(const std::string& path, int fd) {
  struct stat opened, there;
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

}  // namespace

StatusOr<FileLock> FileLock::Take(const std::string& path,
                                  int64_t wait_micros) {
  const std::string lock_path = StrCat(path, ".lock");
  for (int64_t waited = 0;; waited += kPollMicros) {
    // For writing: a network file system locks no other.
    const int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EINTR) return ErrnoToStatus(errno, lock_path);
    if (fd >= 0) {
      if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        if (IsStillAt(lock_path, fd)) return FileLock(lock_path, fd);
      } else if (errno != EWOULDBLOCK && errno != EINTR) {
        const Status s = ErrnoToStatus(errno, lock_path);
        close(fd);
        return s;
      }
      close(fd);
    }
    if (waited >= wait_micros) {
      return errors::DeadlineExceeded(lock_path,
                                      "; another process has locked it for ",
                                      wait_micros / 1000, " ms");
    }
    Env::Default()->SleepForMicros(kPollMicros);
  }
}

FileLock::~FileLock() {
  if (fd_ < 0) return;
  unlink(lock_path_.c_str());
  // A child forked in the meantime shares the lock and would keep it.
  flock(fd_, LOCK_UN);
  close(fd_);
}

}  // namespace headrace
