// Linux: /proc/meminfo and the files of cgroups, version 2 or 1.
#include "base/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace headrace {
namespace {

constexpr uint64_t kSmall = uint64_t{32} << 20;

// The beginning of a small file, NUL terminated. Allocates nothing: it is asked
// when memory is short.
class SmallFile {
 public:
  explicit SmallFile(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t n = read(fd, text_, sizeof(text_) - 1);
    close(fd);
    if (n > 0) text_[n] = '\0';
  }
  // The number at the beginning, or after `key` where a line begins with that;
  // -1 if there is none ("max").
  int64_t Number(const char* key) const {
    const char* at = text_;
    const size_t length = std::strlen(key);
    while (at != nullptr && std::strncmp(at, key, length) != 0) {
      at = std::strchr(at, '\n');
      if (at != nullptr) ++at;
    }
    if (at == nullptr) return -1;
    at += length;
    char* end = nullptr;
    const long long v = std::strtoll(at, &end, 10);
    return end == at ? -1 : v;
  }

 private:
  char text_[4096] = "";
};

int64_t PhysicalMemory() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

// A cgroup's limit, use, and what of the use is file pages that are not in use;
// the limit is -1 where there is none.
struct Cgroup {
  int64_t limit = -1, used = 0, droppable = 0;
};

Cgroup ReadCgroup(bool with_use) {
  struct Files {
    const char *limit, *used, *stat, *droppable;
  };
  constexpr Files kVersions[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
       "/sys/fs/cgroup/memory.stat", "inactive_file "},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
       "/sys/fs/cgroup/memory/memory.usage_in_bytes",
       "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file "}};
  for (const Files& f : kVersions) {
    Cgroup group;
    group.limit = SmallFile(f.limit).Number("");
    if (group.limit <= 0) continue;
    if (with_use) {
      group.used = std::max<int64_t>(0, SmallFile(f.used).Number(""));
      group.droppable =
          std::max<int64_t>(0, SmallFile(f.stat).Number(f.droppable));
    }
    return group;
  }
  return Cgroup();
}

}  // namespace

int64_t TotalMemory() {
  const int64_t limit = ReadCgroup(/*with_use=*/false).limit;
  return limit < 0 ? PhysicalMemory() : std::min(PhysicalMemory(), limit);
}

int64_t AvailableMemory() {
  const SmallFile info("/proc/meminfo");
  const int64_t kib = info.Number("MemAvailable:");
  int64_t available =
      kib < 0 ? PhysicalMemory()
              : (kib + std::max<int64_t>(0, info.Number("SwapFree:"))) * 1024;
  const Cgroup group = ReadCgroup(/*with_use=*/true);
  if (group.limit >= 0) {
    available = std::min(available, group.limit - group.used + group.droppable);
  }
  return std::max<int64_t>(0, available);
}

bool MayTakeMemory(uint64_t bytes) {
  return bytes < kSmall || bytes <= static_cast<uint64_t>(AvailableMemory());
}

}  // namespace headrace
