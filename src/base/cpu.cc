#include "base/cpu.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/log.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace headrace {
namespace {

std::string ReadSmallFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  if (in) out << in.rdbuf();
  return std::move(out).str();
}

int AffinityCpus() {
  // The kernel refuses a mask smaller than its own; grow until it fits.
  for (int cpus = 1024; cpus <= 1024 * 1024; cpus *= 2) {
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    std::vector<unsigned long> mask(bytes / sizeof(unsigned long));  // NOLINT
    auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
    if (sched_getaffinity(0, bytes, set) == 0) return CPU_COUNT_S(bytes, set);
    if (errno != EINVAL) break;
  }
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

// quota / period rounded up; 0 for no limit.
int QuotaCpus(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return 0;
  return static_cast<int>(
      std::clamp(std::ceil(quota / period), 1.0, double{INT_MAX}));
}

// cgroup v2, "max 100000" or "150000 100000".
int LimitV2(const std::string& dir) {
  std::istringstream in(ReadSmallFile(dir + "/cpu.max"));
  double quota = 0;
  double period = 0;
  if (!(in >> quota >> period)) return 0;  // "max" is not a number
  return QuotaCpus(quota, period);
}

// cgroup v1: two files, the quota -1 for none.
int LimitV1(const std::string& dir) {
  std::istringstream quota_in(ReadSmallFile(dir + "/cpu.cfs_quota_us"));
  std::istringstream period_in(ReadSmallFile(dir + "/cpu.cfs_period_us"));
  double quota = 0;
  double period = 0;
  if (!(quota_in >> quota) || !(period_in >> period)) return 0;
  return QuotaCpus(quota, period);
}

int MinLimit(int a, int b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// The least limit of `group` ("/a/b") and its ancestors under `mount`. In a
// container the path may be the host's and not exist here; its ancestor "/" is
// the container's own group then.
template <typename LimitOf>
int LimitUpwards(const std::string& mount, std::string group, LimitOf limit) {
  int result = 0;
  while (true) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    result = MinLimit(result, limit(mount + group));
    if (group.empty()) return result;
    group.resize(group.find_last_of('/') == std::string::npos
                     ? 0
                     : group.find_last_of('/'));
  }
}

bool HasItem(const std::string& comma_list, const std::string& item) {
  std::istringstream in(comma_list);
  for (std::string s; std::getline(in, s, ',');) {
    if (s == item) return true;
  }
  return false;
}

#if defined(__x86_64__)

struct CpuidResult {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

CpuidResult Cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  CpuidResult r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

uint64_t SavedRegisters() {  // XCR0
  uint32_t lo;
  uint32_t hi;
  asm volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
  return (uint64_t{hi} << 32) | lo;
}

void DetectX86(CpuFeatures* f) {
  auto bit = [](uint32_t word, int n) { return ((word >> n) & 1) != 0; };
  const CpuidResult id = Cpuid(0);
  char vendor[12];
  std::memcpy(vendor, &id.ebx, 4);
  std::memcpy(vendor + 4, &id.edx, 4);
  std::memcpy(vendor + 8, &id.ecx, 4);
  f->vendor.assign(vendor, 12);

  const CpuidResult one = Cpuid(1);
  f->stepping = one.eax & 15;
  f->model = (one.eax >> 4) & 15;
  f->family = (one.eax >> 8) & 15;
  if (f->family == 15 || f->family == 6) {
    f->model += ((one.eax >> 16) & 15) << 4;
  }
  if (f->family == 15) f->family += (one.eax >> 20) & 255;

  const uint64_t saved = bit(one.ecx, 27) ? SavedRegisters() : 0;
  const bool ymm = (saved & 0x6) == 0x6;
  const bool zmm = (saved & 0xE6) == 0xE6;
  const bool tiles = (saved & 0x60000) == 0x60000;
  const CpuidResult seven = Cpuid(7);
  const CpuidResult seven1 = seven.eax >= 1 ? Cpuid(7, 1) : CpuidResult{};
  f->sse4_1 = bit(one.ecx, 19);
  f->sse4_2 = bit(one.ecx, 20);
  f->avx = ymm && bit(one.ecx, 28);
  f->fma = f->avx && bit(one.ecx, 12);
  f->f16c = f->avx && bit(one.ecx, 29);
  f->avx2 = f->avx && bit(seven.ebx, 5);
  f->bmi2 = bit(seven.ebx, 8);
  f->avx512f = zmm && f->avx2 && bit(seven.ebx, 16);
  f->avx512dq = f->avx512f && bit(seven.ebx, 17);
  f->avx512cd = f->avx512f && bit(seven.ebx, 28);
  f->avx512bw = f->avx512f && bit(seven.ebx, 30);
  f->avx512vl = f->avx512f && bit(seven.ebx, 31);
  f->avx512_vnni = f->avx512f && bit(seven.ecx, 11);
  f->avx512_fp16 = f->avx512f && bit(seven.edx, 23);
  f->avx512_bf16 = f->avx512f && bit(seven1.eax, 5);
  f->avx_vnni = f->avx2 && bit(seven1.eax, 4);
  f->amx_bf16 = tiles && bit(seven.edx, 22);
  f->amx_tile = tiles && bit(seven.edx, 24);
  f->amx_int8 = tiles && bit(seven.edx, 25);

  if (Cpuid(0x80000000u).eax >= 0x80000004u) {
    char brand[49] = {};
    for (uint32_t i = 0; i < 3; ++i) {
      const CpuidResult part = Cpuid(0x80000002u + i);
      std::memcpy(brand + 16 * i, &part, 16);
    }
    f->brand = brand;
    f->brand.erase(0, f->brand.find_first_not_of(' '));
    f->brand.erase(f->brand.find_last_not_of(' ') + 1);
  }
}

#endif  // __x86_64__

CpuFeatures DetectHost() {
  CpuFeatures f;
#if defined(__x86_64__)
  DetectX86(&f);
#endif
  if (const char* most = std::getenv("HEADRACE_MAX_CPU_ISA")) {
    if (!internal::LimitIsa(most, &f)) {
      HR_LOG(WARNING) << "HEADRACE_MAX_CPU_ISA is '" << most
                      << "'; wanted sse, avx2 or avx512. It is ignored.";
    }
  }
  auto take = [](int64_t* bytes, int name) {
    const long known = sysconf(name);  // NOLINT: sysconf's type
    if (known > 0) *bytes = known;
  };
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  take(&f.l1d_bytes, _SC_LEVEL1_DCACHE_SIZE);
  take(&f.l2_bytes, _SC_LEVEL2_CACHE_SIZE);
  take(&f.l3_bytes, _SC_LEVEL3_CACHE_SIZE);
#endif
  return f;
}

}  // namespace

namespace internal {

bool LimitIsa(std::string_view most, CpuFeatures* f) {
  if (most == "avx512") {
    f->amx_tile = f->amx_int8 = f->amx_bf16 = false;
    return true;
  }
  if (most != "avx2" && most != "sse") return false;
  CpuFeatures kept;
  kept.sse4_1 = f->sse4_1;
  kept.sse4_2 = f->sse4_2;
  if (most == "avx2") {
    kept.avx = f->avx;
    kept.avx2 = f->avx2;
    kept.fma = f->fma;
    kept.f16c = f->f16c;
    kept.bmi2 = f->bmi2;
    kept.avx_vnni = f->avx_vnni;
  }
  kept.vendor = f->vendor;
  kept.brand = f->brand;
  kept.family = f->family;
  kept.model = f->model;
  kept.stepping = f->stepping;
  *f = kept;  // the caches' sizes are found out later
  return true;
}

int CgroupCpuLimit(const std::string& mount,
                   std::string_view proc_self_cgroup) {
  int limit = 0;
  std::istringstream lines{std::string(proc_self_cgroup)};
  for (std::string line; std::getline(lines, line);) {
    // "<id>:<controllers>:<path>"; v2 is "0::<path>".
    const size_t first = line.find(':');
    const size_t second =
        first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      for (const char* sub : {"", "/unified"}) {
        limit = MinLimit(limit, LimitUpwards(mount + sub, group, LimitV2));
      }
    } else if (HasItem(controllers, "cpu")) {
      std::vector<std::string> mounts = {"cpu"};
      if (controllers != "cpu") mounts.push_back(controllers);
      for (const std::string& sub : mounts) {
        limit =
            MinLimit(limit, LimitUpwards(mount + "/" + sub, group, LimitV1));
      }
    }
  }
  return limit;
}

}  // namespace internal

int AvailableCpus() {
  // More threads than this is a slip of the pen.
  constexpr long kMaxThreads = 4096;  // NOLINT: strtol's type
  if (const char* text = std::getenv("HEADRACE_NUM_THREADS")) {
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);  // NOLINT: strtol's type
    if (end != text && *end == '\0' && n > 0 && n <= kMaxThreads) {
      return static_cast<int>(n);
    }
  }
  const int quota = internal::CgroupCpuLimit(
      "/sys/fs/cgroup", ReadSmallFile("/proc/self/cgroup"));
  return std::max(1, MinLimit(AffinityCpus(), quota));
}

const CpuFeatures& HostCpu() {
  static const CpuFeatures* const host = new CpuFeatures(DetectHost());
  return *host;
}

}  // namespace headrace
