// Env is the operating system as Headrace sees it: files and the clock. Code
// that opens files takes an Env, so that a test can replace it to inject faults
// or keep files in memory.
//
// Errors carry the path and the system's words; the code follows errno: ENOENT
// is NotFound, EACCES PermissionDenied, ENOSPC ResourceExhausted, and so on.
#ifndef HEADRACE_BASE_ENV_H_
#define HEADRACE_BASE_ENV_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/ref_count.h"
#include "headrace/status.h"

namespace headrace {

// A file open for reading at any offset. Thread-safe.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;

  // Reads n bytes at `offset`. *result is what was read, in `scratch` (n bytes
  // of the caller's) or in memory of the file's. Fewer than n bytes before the
  // end of the file is OutOfRange, with *result holding those.
  [[nodiscard]] virtual Status Read(uint64_t offset, size_t n,
                                    std::string_view* result,
                                    char* scratch) const = 0;
};

// A file being written from its start or its end. Not thread-safe. Destruction
// closes it, without a report of errors: call Close.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  [[nodiscard]] virtual Status Append(std::string_view data) = 0;
  // Hands buffered bytes to the system.
  [[nodiscard]] virtual Status Flush() = 0;
  // Flush, and wait until the bytes are on the device.
  [[nodiscard]] virtual Status Sync() = 0;
  [[nodiscard]] virtual Status Close() = 0;
};

// The bytes of a file, in memory as long as a reference is held. Immutable, so
// thread-safe; but if another process truncates the file, a read faults. Who
// maps a file that somebody has mapped already, and that has not changed since,
// nor within seconds before, gets the bytes at the same address.
class MappedFile : public RefCounted {
 public:
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }
  // The bytes [begin, end) will not be read soon: their pages may leave memory
  // (and come back from the file when they are read after all).
  virtual void Release(size_t /*begin*/, size_t /*end*/) const {}

 protected:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}
  const char* const data_;  // page-aligned in Env::Default(); null if empty
  const size_t size_;
};

enum class WriteMode {
  kInPlace,  // truncate and write
  kAtomic,   // write a temporary beside it, sync, rename over `path`
};

// Thread-safe, and so must replacements be.
class Env {
 public:
  virtual ~Env() = default;

  // The POSIX file system. Never destroyed.
  static Env* Default();

  // Wall clock since 1970.
  virtual uint64_t NowMicros();
  virtual uint64_t NowNanos();
  virtual void SleepForMicros(int64_t micros);

  [[nodiscard]] virtual StatusOr<std::unique_ptr<RandomAccessFile>>
  NewRandomAccessFile(const std::string& path) = 0;
  // Creates the file, or empties it.
  [[nodiscard]] virtual StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) = 0;
  [[nodiscard]] virtual StatusOr<std::unique_ptr<WritableFile>>
  NewAppendableFile(const std::string& path) = 0;
  // Maps `path` for reading; pages are loaded when touched.
  [[nodiscard]] virtual StatusOr<RefPtr<MappedFile>> MapFile(
      const std::string& path) = 0;

  // OK, or NotFound.
  [[nodiscard]] virtual Status FileExists(const std::string& path) = 0;
  [[nodiscard]] virtual StatusOr<uint64_t> FileSize(
      const std::string& path) = 0;
  virtual bool IsDirectory(const std::string& path) = 0;
  // Names (not paths) in a directory, sorted, without "." and "..".
  [[nodiscard]] virtual Status GetChildren(const std::string& dir,
                                           std::vector<std::string>* names) = 0;
  // Creates one directory; AlreadyExists if there is something at that path.
  [[nodiscard]] virtual Status CreateDir(const std::string& dir) = 0;
  [[nodiscard]] virtual Status DeleteFile(const std::string& path) = 0;
  // Deletes an empty directory.
  [[nodiscard]] virtual Status DeleteDir(const std::string& dir) = 0;
  // Replaces `to` if it exists; atomic within a file system.
  [[nodiscard]] virtual Status RenameFile(const std::string& from,
                                          const std::string& to) = 0;

  // The rest is made of the above, so a replacement gets it for nothing.

  [[nodiscard]] virtual Status ReadFile(const std::string& path,
                                        std::string* contents);
  [[nodiscard]] virtual Status WriteFile(const std::string& path,
                                         std::string_view contents,
                                         WriteMode mode = WriteMode::kInPlace);
  // With parents; OK if it is a directory already.
  [[nodiscard]] virtual Status CreateDirRecursively(const std::string& dir);
  // Deletes `dir` and all below it.
  [[nodiscard]] virtual Status DeleteRecursively(const std::string& dir);
  // Paths that match a shell pattern (* ? [set] \x; none crosses a '/'),
  // sorted. No match is OK and empty.
  [[nodiscard]] virtual Status Glob(const std::string& pattern,
                                    std::vector<std::string>* paths);
};

// An error for `path` with the code that `error_number` (errno) stands for.
[[nodiscard]] Status ErrnoToStatus(int error_number, std::string_view context);

// "a/b" from "a" and "b"; an absolute or single part stays as it is.
std::string JoinPath(std::string_view dir, std::string_view name);
std::string_view Dirname(std::string_view path);   // "a/b" -> "a", "b" -> ""
std::string_view Basename(std::string_view path);  // "a/b" -> "b"

}  // namespace headrace

#endif  // HEADRACE_BASE_ENV_H_
