// Env: the operating system's files and clock. Code that opens files takes an
// Env. A test can pass another Env to inject faults or to keep files in memory.
//
// An error carries the path and the system's message. The code follows errno:
// ENOENT is NotFound, EACCES PermissionDenied, ENOSPC ResourceExhausted, and so
// on.
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

  // Reads n bytes at `offset`. *result refers to the bytes, either in `scratch`
  // (n bytes, owned by the caller) or in memory of the file. OutOfRange if the
  // file ends before n bytes; *result then has the bytes up to the end.
  [[nodiscard]] virtual Status Read(uint64_t offset, size_t n,
                                    std::string_view* result,
                                    char* scratch) const = 0;
};

// A file that is written from its start or its end. Not thread-safe. The
// destructor closes the file and ignores errors, so call Close.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  [[nodiscard]] virtual Status Append(std::string_view data) = 0;
  // Passes buffered bytes to the system.
  [[nodiscard]] virtual Status Flush() = 0;
  // Flush, then waits until the bytes are on the device.
  [[nodiscard]] virtual Status Sync() = 0;
  [[nodiscard]] virtual Status Close() = 0;
};

// The mapped bytes of a file. They stay in memory while a reference is held.
// Immutable, so thread-safe. If another process truncates the file, reading
// beyond its new end is a fault. Mapping a file again gives the same address if
// the file has not changed since, nor in the seconds before.
class MappedFile : public RefCounted {
 public:
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }
  // A hint that the bytes [begin, end) will not be read soon: the system may
  // drop their pages. A later read loads them from the file again.
  virtual void Release(size_t /*begin*/, size_t /*end*/) const {}

 protected:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}
  const char* const data_;  // page-aligned in Env::Default(); null if empty
  const size_t size_;
};

enum class WriteMode {
  kInPlace,  // truncate and write
  kAtomic,   // write a temporary file, sync, rename it to `path`
};

// Thread-safe. Replacements must be thread-safe, too.
class Env {
 public:
  virtual ~Env() = default;

  // The POSIX file system. Never destroyed.
  static Env* Default();

  // The wall clock: time since 1970.
  virtual uint64_t NowMicros();
  virtual uint64_t NowNanos();
  virtual void SleepForMicros(int64_t micros);

  [[nodiscard]] virtual StatusOr<std::unique_ptr<RandomAccessFile>>
  NewRandomAccessFile(const std::string& path) = 0;
  // Creates the file. An existing file is emptied.
  [[nodiscard]] virtual StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) = 0;
  [[nodiscard]] virtual StatusOr<std::unique_ptr<WritableFile>>
  NewAppendableFile(const std::string& path) = 0;
  // Maps `path` for reading. Pages are loaded at their first use.
  [[nodiscard]] virtual StatusOr<RefPtr<MappedFile>> MapFile(
      const std::string& path) = 0;

  // OK, or NotFound.
  [[nodiscard]] virtual Status FileExists(const std::string& path) = 0;
  [[nodiscard]] virtual StatusOr<uint64_t> FileSize(
      const std::string& path) = 0;
  virtual bool IsDirectory(const std::string& path) = 0;
  // The sorted names (not paths) in a directory, without "." and "..".
  [[nodiscard]] virtual Status GetChildren(const std::string& dir,
                                           std::vector<std::string>* names) = 0;
  // Creates one directory. AlreadyExists if the path exists.
  [[nodiscard]] virtual Status CreateDir(const std::string& dir) = 0;
  [[nodiscard]] virtual Status DeleteFile(const std::string& path) = 0;
  // Deletes an empty directory.
  [[nodiscard]] virtual Status DeleteDir(const std::string& dir) = 0;
  // Replaces `to` if it exists. Atomic within one file system.
  [[nodiscard]] virtual Status RenameFile(const std::string& from,
                                          const std::string& to) = 0;

  // The functions below use those above, so a replacement need not define them.

  [[nodiscard]] virtual Status ReadFile(const std::string& path,
                                        std::string* contents);
  [[nodiscard]] virtual Status WriteFile(const std::string& path,
                                         std::string_view contents,
                                         WriteMode mode = WriteMode::kInPlace);
  // Also creates parents. OK if the directory exists.
  [[nodiscard]] virtual Status CreateDirRecursively(const std::string& dir);
  // Deletes `dir` and everything below it.
  [[nodiscard]] virtual Status DeleteRecursively(const std::string& dir);
  // Returns the sorted paths that match a shell pattern (* ? [set] [^set] \x;
  // none matches '/', all match a leading '.'). Paths of a pattern without a
  // folder begin with "./", as TensorFlow's. No match gives OK and an empty
  // list; an error of the folder in front of the first wildcard is returned.
  [[nodiscard]] virtual Status Glob(const std::string& pattern,
                                    std::vector<std::string>* paths);
};

// An error with the code for `error_number` (an errno value) and `context` in
// its message.
[[nodiscard]] Status ErrnoToStatus(int error_number, std::string_view context);

// Joins "a" and "b" to "a/b". Returns `name` if it is absolute, and the other
// part if one is empty.
std::string JoinPath(std::string_view dir, std::string_view name);
std::string_view Dirname(std::string_view path);   // "a/b" -> "a", "b" -> ""
std::string_view Basename(std::string_view path);  // "a/b" -> "b"

}  // namespace headrace

#endif  // HEADRACE_BASE_ENV_H_
