// The processors that this process may use, and their features.
#ifndef HEADRACE_BASE_CPU_H_
#define HEADRACE_BASE_CPU_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

// The number of processors that this process can keep busy: the smaller of the
// scheduler affinity and the cgroup (v1 or v2) CPU quota rounded up, at least
// 1. A positive HEADRACE_NUM_THREADS in the environment replaces it. It reads
// files, which takes tens of microseconds, so keep the result. Thread-safe.
int AvailableCpus();

// An instruction set counts only if the operating system saves its registers.
// All flags are false on processors that are not x86.
struct CpuFeatures {
  bool sse4_1 = false;
  bool sse4_2 = false;
  bool avx = false;
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  bool bmi2 = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512vl = false;
  bool avx512dq = false;
  bool avx512cd = false;
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool avx_vnni = false;
  bool amx_tile = false;
  bool amx_int8 = false;
  bool amx_bf16 = false;
  std::string vendor;  // "GenuineIntel", "AuthenticAMD"
  std::string brand;   // "Intel(R) Xeon(R) ..."; empty when unknown
  int family = 0;
  int model = 0;
  int stepping = 0;
  // Cache sizes in bytes, as one core sees them. A usual value if unknown.
  int64_t l1d_bytes = 32 * 1024;
  int64_t l2_bytes = 1024 * 1024;
  int64_t l3_bytes = 8 * 1024 * 1024;  // shared between cores
};

// The processor of this process. Found at the first call, then constant.
// HEADRACE_MAX_CPU_ISA=sse, avx2 or avx512 in the environment hides newer
// instruction sets, so that code for older processors can be tested.
// Thread-safe.
const CpuFeatures& HostCpu();

namespace internal {

// Hides the instruction sets beyond `most`: "sse", "avx2" or "avx512". Returns
// false for any other text.
bool LimitIsa(std::string_view most, CpuFeatures* f);

// The CPU quota, in processors rounded up, of a process whose /proc/self/cgroup
// contains `proc_self_cgroup`. `mount` is where the cgroup file systems are
// mounted ("/sys/fs/cgroup"). The result is the smallest quota of the group and
// its ancestors. 0: no limit.
int CgroupCpuLimit(const std::string& mount, std::string_view proc_self_cgroup);

}  // namespace internal
}  // namespace headrace

#endif  // HEADRACE_BASE_CPU_H_
