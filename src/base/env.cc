// The functions of Env that use its virtual ones, and path helpers.
#include "base/env.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_split.h"
#include "base/random.h"
#include "headrace/strings.h"

namespace headrace {
namespace {

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

}  // namespace

uint64_t Env::NowNanos() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count());
}

uint64_t Env::NowMicros() { return NowNanos() / 1000; }

void Env::SleepForMicros(int64_t micros) {
  if (micros <= 0) return;
  timespec rest;
  rest.tv_sec = micros / 1000000;
  rest.tv_nsec = micros % 1000000 * 1000;
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

Status Env::ReadFile(const std::string& path, std::string* contents) {
  contents->clear();
  HR_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file,
                      NewRandomAccessFile(path));
  // The size is a hint: files of /proc say 0, others may be growing.
  const StatusOr<uint64_t> size = FileSize(path);
  size_t chunk = size.ok() ? static_cast<size_t>(*size) + 1 : 1;
  size_t have = 0;
  while (true) {
    chunk = std::max<size_t>(chunk, 4096);
    contents->resize(have + chunk);
    char* const scratch = contents->data() + have;
    std::string_view got;
    const Status s = file->Read(have, chunk, &got, scratch);
    if (!s.ok() && !errors::IsOutOfRange(s)) {
      contents->clear();
      return s;
    }
    if (got.data() != scratch && !got.empty()) {
      std::memmove(scratch, got.data(), got.size());
    }
    have += got.size();
    if (!s.ok()) break;
    chunk = have;
  }
  contents->resize(have);
  return OkStatus();
}

namespace {
// A device, a pipe or a socket.
bool IsSpecialFile(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode) &&
         !S_ISDIR(st.st_mode);
}

// The file that symbolic links lead to; empty if it does not exist.
std::string BehindLinks(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return "";
  std::string result = real;
  free(real);
  return result;
}
bool IsLink(const std::string& path) {
  struct stat st;
  return lstat(path.c_str(), &st) == 0 && S_ISLNK(st.st_mode);
}
}  // namespace

Status Env::WriteFile(const std::string& given, std::string_view contents,
                      WriteMode mode) {
  // A device, a pipe or a link is written to; a file with its name would
  // replace it. /dev/stdout is a link.
  const std::string path = IsLink(given) ? BehindLinks(given) : given;
  const bool atomic =
      mode == WriteMode::kAtomic && !path.empty() && !IsSpecialFile(given);
  const std::string target =
      atomic ? StrCat(path, ".tmp", absl::Hex(RandomSeed64(), absl::kZeroPad16))
             : given;
  auto write = [&]() -> Status {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                        NewWritableFile(target));
    HR_RETURN_IF_ERROR(file->Append(contents));
    if (atomic) HR_RETURN_IF_ERROR(file->Sync());
    return file->Close();
  };
  Status s = write();
  if (!atomic) return s;
  if (s.ok()) s = RenameFile(target, path);
  if (!s.ok()) DeleteFile(target).IgnoreError();  // s says what went wrong
  return s;
}

Status Env::CreateDirRecursively(const std::string& dir) {
  std::string path = !dir.empty() && dir[0] == '/' ? "/" : "";
  for (const std::string& part : SplitPath(dir)) {
    path = JoinPath(path, part);
    if (IsDirectory(path)) continue;
    const Status s = CreateDir(path);
    // Another process may have created it in the meantime.
    if (!s.ok() && !IsDirectory(path)) return s;
  }
  return OkStatus();
}

Status Env::DeleteRecursively(const std::string& dir) {
  std::vector<std::string> names;
  HR_RETURN_IF_ERROR(GetChildren(dir, &names));
  for (const std::string& name : names) {
    const std::string path = JoinPath(dir, name);
    // A link to a directory is deleted, not followed.
    const Status s = DeleteFile(path);
    if (s.ok()) continue;
    if (!IsDirectory(path)) return s;
    HR_RETURN_IF_ERROR(DeleteRecursively(path));
  }
  return DeleteDir(dir);
}

Status Env::Glob(const std::string& pattern, std::vector<std::string>* paths) {
  paths->clear();
  // The folder in front of the first wildcard is taken as it is written; below
  // it, each part of the pattern is compared with names.
  const std::string_view fixed =
      std::string_view(pattern).substr(0, pattern.find_first_of("*?[\\"));
  std::string dir(Dirname(fixed));
  std::string_view rest = std::string_view(pattern).substr(dir.size());
  const bool is_root = dir.size() == 1 && dir[0] == '/';
  if (dir.empty()) {
    dir = ".";
  } else if (!is_root && !rest.empty()) {
    rest.remove_prefix(1);
  }
  std::vector<std::string> bases = {dir};
  const std::vector<std::string> parts = absl::StrSplit(ToAbsl(rest), '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    std::vector<std::string> next;
    for (const std::string& base : bases) {
      std::vector<std::string> names;
      const Status s = GetChildren(base, &names);
      // What was found below may be gone, or no folder.
      if (i > 0 && errors::IsNotFound(s)) continue;
      HR_RETURN_IF_ERROR(s);
      for (const std::string& name : names) {
        if (fnmatch(parts[i].c_str(), name.c_str(), FNM_PATHNAME) != 0)
          continue;
        std::string path = JoinPath(base, name);
        if (last || IsDirectory(path)) next.push_back(std::move(path));
      }
    }
    bases = std::move(next);
  }
  // "a//b": the paths are written with one slash, the pattern with two.
  if (!is_root && dir.back() == '/') bases.clear();
  std::sort(bases.begin(), bases.end());
  *paths = std::move(bases);
  return OkStatus();
}

Status ErrnoToStatus(int error_number, std::string_view context) {
  return Status(absl::ErrnoToStatusCode(error_number),
                StrCat(context, "; ", std::strerror(error_number)));
}

std::string JoinPath(std::string_view dir, std::string_view name) {
  if (dir.empty() || (!name.empty() && name[0] == '/')) {
    return std::string(name);
  }
  if (name.empty()) return std::string(dir);
  return StrCat(dir, dir.back() == '/' ? "" : "/", name);
}

std::string_view Dirname(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return path.substr(0, std::max<size_t>(slash, 1));
}

std::string_view Basename(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace headrace
