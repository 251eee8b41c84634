// Files in memory, for readers that take an Env.
#ifndef HEADRACE_TESTS_FUZZ_MEMORY_ENV_H_
#define HEADRACE_TESTS_FUZZ_MEMORY_ENV_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"

namespace headrace::fuzz {

class MemoryEnv : public Env {
 public:
  std::map<std::string, std::string> files;

  StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      const std::string& path) override {
    return errors::Unimplemented(path);
  }
  StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(
      const std::string& path) override {
    return std::unique_ptr<WritableFile>(new File(&files[path]));
  }
  StatusOr<std::unique_ptr<WritableFile>> NewAppendableFile(
      const std::string& path) override {
    return NewWritableFile(path);
  }
  StatusOr<RefPtr<MappedFile>> MapFile(const std::string& path) override {
    HR_RETURN_IF_ERROR(FileExists(path));
    return RefPtr<MappedFile>(new Mapped(files[path]));
  }
  Status FileExists(const std::string& path) override {
    return files.count(path) ? OkStatus() : errors::NotFound(path);
  }
  StatusOr<uint64_t> FileSize(const std::string& path) override {
    HR_RETURN_IF_ERROR(FileExists(path));
    return files[path].size();
  }
  bool IsDirectory(const std::string&) override { return false; }
  Status GetChildren(const std::string&,
                     std::vector<std::string>* names) override {
    for (const auto& [name, bytes] : files) names->push_back(name);
    return OkStatus();
  }
  Status Glob(const std::string& pattern,
              std::vector<std::string>* paths) override {
    if (files.count(pattern)) paths->push_back(pattern);
    return OkStatus();
  }
  Status CreateDir(const std::string&) override { return OkStatus(); }
  Status DeleteFile(const std::string& path) override {
    files.erase(path);
    return OkStatus();
  }
  Status DeleteDir(const std::string&) override { return OkStatus(); }
  Status RenameFile(const std::string& from, const std::string& to) override {
    files[to] = std::move(files[from]);
    files.erase(from);
    return OkStatus();
  }

 private:
  class File : public WritableFile {
   public:
    explicit File(std::string* bytes) : bytes_(bytes) {}
    Status Append(std::string_view data) override {
      bytes_->append(data);
      return OkStatus();
    }
    Status Flush() override { return OkStatus(); }
    Status Sync() override { return OkStatus(); }
    Status Close() override { return OkStatus(); }

   private:
    std::string* bytes_;
  };
  // A copy of its own, so that a sanitizer sees reads beyond it.
  struct Bytes {
    std::vector<char> bytes;
  };
  class Mapped : private Bytes, public MappedFile {
   public:
    explicit Mapped(const std::string& b)
        : Bytes{{b.begin(), b.end()}}, MappedFile(bytes.data(), bytes.size()) {}
  };
};

}  // namespace headrace::fuzz

#endif  // HEADRACE_TESTS_FUZZ_MEMORY_ENV_H_
