// Env::Default: POSIX files.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/env.h"
#include "base/fork.h"
#include "headrace/mutex.h"
#include "headrace/strings.h"

namespace headrace {
namespace {

// Calls fn until it is not interrupted by a signal.
template <typename Fn>
auto RetryOnSignal(Fn fn) {
  while (true) {
    const auto result = fn();
    if (result != -1 || errno != EINTR) return result;
  }
}

// Owns a file descriptor.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  // Closes; the result is close's. A close interrupted by a signal is done on
  // Linux, and must not be repeated.
  int Close() { return close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

StatusOr<Fd> Open(const std::string& path, int flags) {
  const int fd = RetryOnSignal(
      [&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (fd < 0) return ErrnoToStatus(errno, path);
  return Fd(fd);
}

// Opens for reading; a directory, which open(2) takes, is an error.
StatusOr<Fd> OpenToRead(const std::string& path, struct stat* info) {
  HR_ASSIGN_OR_RETURN(Fd fd, Open(path, O_RDONLY));
  if (fstat(fd.get(), info) != 0) return ErrnoToStatus(errno, path);
  if (S_ISDIR(info->st_mode)) return ErrnoToStatus(EISDIR, path);
  return fd;
}

class PosixRandomAccessFile : public RandomAccessFile {
 public:
  PosixRandomAccessFile(std::string path, Fd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  Status Read(uint64_t offset, size_t n, std::string_view* result,
              char* scratch) const override {
    size_t have = 0;
    *result = {};
    while (have < n) {
      // pread takes at most 2^31 - 4096 bytes at a time.
      const size_t want = std::min<size_t>(n - have, size_t{1} << 30);
      const ssize_t got = RetryOnSignal([&] {
        return pread(fd_.get(), scratch + have, want,
                     static_cast<off_t>(offset + have));
      });
      *result = {scratch,
                 have + static_cast<size_t>(std::max<ssize_t>(got, 0))};
      if (got < 0) return ErrnoToStatus(errno, path_);
      if (got == 0) {
        return errors::OutOfRange(path_, "; the file ends after ", have,
                                  " of the ", n, " bytes wanted at offset ",
                                  offset);
      }
      have += static_cast<size_t>(got);
    }
    return OkStatus();
  }

 private:
  const std::string path_;
  const Fd fd_;
};

// A pipe or a terminal: it is read from its start to its end, once.
class PosixStream : public RandomAccessFile {
 public:
  PosixStream(std::string path, Fd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  Status Read(uint64_t offset, size_t n, std::string_view* result,
              char* scratch) const override {
    *result = {};
    MutexLock lock(&mu_);
    if (offset != at_) {
      return errors::Unimplemented(path_, "; a stream is at offset ", at_,
                                   ", it cannot be read at ", offset);
    }
    size_t have = 0;
    while (have < n) {
      const ssize_t got = RetryOnSignal(
          [&] { return read(fd_.get(), scratch + have, n - have); });
      if (got < 0) return ErrnoToStatus(errno, path_);
      have += static_cast<size_t>(got);
      at_ += static_cast<uint64_t>(got);
      *result = {scratch, have};
      if (got == 0) {
        return errors::OutOfRange(path_, "; the stream ends after ", at_,
                                  " bytes");
      }
    }
    return OkStatus();
  }

 private:
  const std::string path_;
  const Fd fd_;
  mutable Mutex mu_;
  mutable uint64_t at_ GUARDED_BY(mu_) = 0;
};

class PosixWritableFile : public WritableFile {
 public:
  PosixWritableFile(std::string path, Fd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}
  ~PosixWritableFile() override {
    if (fd_.get() >= 0) Close().IgnoreError();  // documented: errors are lost
  }

  Status Append(std::string_view data) override {
    HR_RETURN_IF_ERROR(CheckOpen());
    if (buffer_.size() + data.size() <= kBufferBytes) {
      buffer_.append(data);
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(Flush());
    if (data.size() >= kBufferBytes) return Write(data);
    buffer_.assign(data);
    return OkStatus();
  }

  Status Flush() override {
    HR_RETURN_IF_ERROR(CheckOpen());
    const std::string pending = std::exchange(buffer_, {});
    return Write(pending);
  }

  Status Sync() override {
    HR_RETURN_IF_ERROR(Flush());
    if (RetryOnSignal([&] { return fdatasync(fd_.get()); }) != 0 &&
        errno != EINVAL && errno != EROFS) {  // pipes and devices cannot
      return ErrnoToStatus(errno, path_);
    }
    return OkStatus();
  }

  Status Close() override {
    Status s = Flush();
    if (fd_.get() >= 0 && fd_.Close() != 0 && s.ok() && errno != EINTR) {
      s = ErrnoToStatus(errno, path_);
    }
    return s;
  }

 private:
  static constexpr size_t kBufferBytes = 64 * 1024;

  Status CheckOpen() const {
    if (fd_.get() >= 0) return OkStatus();
    return errors::FailedPrecondition(path_, "; the file is closed already");
  }

  Status Write(std::string_view data) {
    while (!data.empty()) {
      const ssize_t put = RetryOnSignal(
          [&] { return write(fd_.get(), data.data(), data.size()); });
      if (put < 0) return ErrnoToStatus(errno, path_);
      data.remove_prefix(static_cast<size_t>(put));
    }
    return OkStatus();
  }

  const std::string path_;
  Fd fd_;
  std::string buffer_;
};

struct Mapping {
  void* data;  // null if empty
  size_t size;
  ~Mapping() {
    if (data != nullptr) munmap(data, size);
  }
};

// All users of a file share one mapping as long as the file does not change.
// Data that is identified by its address, such as forms of constants, is then
// shared, too.
class Mappings {
 public:
  Mappings() { HoldDuringFork(&mu_); }
  static Mappings* Global() {
    static Mappings* const all = new Mappings;
    return all;
  }

  // Null, and errno, if there can be none.
  std::shared_ptr<const Mapping> Get(int fd, const struct stat& info) {
    const Key key = {info.st_dev, info.st_ino, info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    // A file that was just written may be written again at the same time, as
    // its file system counts.
    constexpr time_t kSettled = 2;
    if (time(nullptr) - info.st_mtim.tv_sec <= kSettled) return Map(fd, info);
    MutexLock lock(&mu_);
    std::erase_if(known_, [](const auto& k) { return k.second.expired(); });
    std::weak_ptr<const Mapping>& known = known_[key];
    std::shared_ptr<const Mapping> found = known.lock();
    if (found == nullptr) known = found = Map(fd, info);
    return found;
  }

 private:
  static std::shared_ptr<const Mapping> Map(int fd, const struct stat& info) {
    void* data = nullptr;
    const auto size = static_cast<size_t>(info.st_size);
    if (size > 0) {  // mmap refuses an empty range
      data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (data == MAP_FAILED) return nullptr;
    }
    return std::shared_ptr<const Mapping>(new Mapping{data, size});
  }

  // Device, inode, size, and when it was written last.
  using Key = std::tuple<dev_t, ino_t, off_t, time_t, int64_t>;
  Mutex mu_;
  std::map<Key, std::weak_ptr<const Mapping>> known_ GUARDED_BY(mu_);
};

// The contents of a file that cannot be mapped, in memory. Release does
// nothing: the bytes would be lost.
class FileInMemory : public MappedFile {
 public:
  explicit FileInMemory(std::unique_ptr<const Mapping> bytes)
      : MappedFile(static_cast<const char*>(bytes->data), bytes->size),
        bytes_(std::move(bytes)) {}

 private:
  const std::unique_ptr<const Mapping> bytes_;
};

// MapFile of a pipe, a device, or a file whose size the system does not tell.
StatusOr<RefPtr<MappedFile>> ReadIntoMemory(int fd, const std::string& path) {
  // More than any message has; /dev/zero has no end.
  constexpr size_t kMost = size_t{1} << 31;
  auto bytes = std::make_unique<Mapping>(Mapping{nullptr, 0});
  size_t have = 0;
  while (true) {
    if (have == bytes->size) {
      if (have >= kMost) {
        return errors::ResourceExhausted(path, "; a stream of more than ",
                                         kMost, " bytes");
      }
      const size_t grown = std::max<size_t>(size_t{1} << 20, 2 * have);
      void* const data = bytes->data == nullptr
                             ? mmap(nullptr, grown, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                             : mremap(bytes->data, have, grown, MREMAP_MAYMOVE);
      if (data == MAP_FAILED) return ErrnoToStatus(errno, path);
      bytes->data = data;
      bytes->size = grown;
    }
    const ssize_t got = RetryOnSignal([&] {
      return read(fd, static_cast<char*>(bytes->data) + have,
                  bytes->size - have);
    });
    if (got < 0) return ErrnoToStatus(errno, path);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  // The pages behind the last byte go at once.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t used = (have + page - 1) / page * page;
  if (used < bytes->size) {
    munmap(static_cast<char*>(bytes->data) + used, bytes->size - used);
  }
  if (have == 0) bytes->data = nullptr;
  bytes->size = have;
  return RefPtr<MappedFile>(new FileInMemory(std::move(bytes)));
}

class PosixMappedFile : public MappedFile {
 public:
  explicit PosixMappedFile(std::shared_ptr<const Mapping> mapping)
      : MappedFile(static_cast<const char*>(mapping->data), mapping->size),
        mapping_(std::move(mapping)) {}
  void Release(size_t begin, size_t end) const override {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    begin = begin / page * page;
    end = end / page * page;
    if (data_ == nullptr || begin >= end || end > size_) return;
    madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
  }

 private:
  const std::shared_ptr<const Mapping> mapping_;
};

class PosixEnv : public Env {
 public:
  StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) override {
    struct stat info;
    HR_ASSIGN_OR_RETURN(Fd fd, OpenToRead(path, &info));
    if (lseek(fd.get(), 0, SEEK_CUR) < 0 && errno == ESPIPE) {
      return std::make_unique<PosixStream>(path, std::move(fd));
    }
    return std::make_unique<PosixRandomAccessFile>(path, std::move(fd));
  }

  StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) override {
    HR_ASSIGN_OR_RETURN(Fd fd, Open(path, O_WRONLY | O_CREAT | O_TRUNC));
    return std::make_unique<PosixWritableFile>(path, std::move(fd));
  }

  StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string& path) override {
    HR_ASSIGN_OR_RETURN(Fd fd, Open(path, O_WRONLY | O_CREAT | O_APPEND));
    return std::make_unique<PosixWritableFile>(path, std::move(fd));
  }

  StatusOr<RefPtr<MappedFile>> MapFile(const std::string& path) override {
    struct stat info;
    HR_ASSIGN_OR_RETURN(Fd fd, OpenToRead(path, &info));
    // Files of /proc say that they have no bytes.
    if (!S_ISREG(info.st_mode) || info.st_size == 0) {
      return ReadIntoMemory(fd.get(), path);
    }
    std::shared_ptr<const Mapping> mapping =
        Mappings::Global()->Get(fd.get(), info);
    if (mapping == nullptr) return ErrnoToStatus(errno, path);
    return RefPtr<MappedFile>(new PosixMappedFile(std::move(mapping)));
  }

  Status FileExists(const std::string& path) override {
    if (access(path.c_str(), F_OK) == 0) return OkStatus();
    return ErrnoToStatus(errno == ENOTDIR ? ENOENT : errno, path);
  }

  StatusOr<uint64_t> FileSize(const std::string& path) override {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) return ErrnoToStatus(errno, path);
    return static_cast<uint64_t>(info.st_size);
  }

  bool IsDirectory(const std::string& path) override {
    struct stat info;
    return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }

  Status GetChildren(const std::string& dir,
                     std::vector<std::string>* names) override {
    names->clear();
    DIR* const stream = opendir(dir.c_str());
    if (stream == nullptr) return ErrnoToStatus(errno, dir);
    errno = 0;
    while (const dirent* entry = readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names->emplace_back(name);
      errno = 0;  // which alone tells an error from the end
    }
    const int error = errno;
    closedir(stream);
    if (error != 0) return ErrnoToStatus(error, dir);
    std::sort(names->begin(), names->end());
    return OkStatus();
  }

  Status CreateDir(const std::string& dir) override {
    return Check(mkdir(dir.c_str(), 0777), dir);
  }
  Status DeleteFile(const std::string& path) override {
    return Check(unlink(path.c_str()), path);
  }
  Status DeleteDir(const std::string& dir) override {
    return Check(rmdir(dir.c_str()), dir);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return Check(rename(from.c_str(), to.c_str()), StrCat(from, " -> ", to));
  }

 private:
  static Status Check(int result, std::string_view context) {
    return result == 0 ? OkStatus() : ErrnoToStatus(errno, context);
  }
};

}  // namespace

Env* Env::Default() {
  static Env* const env = new PosixEnv;
  return env;
}

}  // namespace headrace
