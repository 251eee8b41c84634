// What this process may use of the machine's processors, and what they can do.
#ifndef HEADRACE_BASE_CPU_H_
#define HEADRACE_BASE_CPU_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

// The number of processors this process may keep busy: the smaller of the
// scheduler affinity and the cgroup (v1 or v2) CPU quota rounded up, at least
// 1. A positive HEADRACE_NUM_THREADS in the environment replaces it. Reads
// files: tens of microseconds, so keep the answer. Thread-safe.
int AvailableCpus();

// Instruction sets count only if the operating system saves their registers.
// All false on other processors than x86.
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
  // Bytes a core can reach at each level; a usual size where unknown.
  int64_t l1d_bytes = 32 * 1024;
  int64_t l2_bytes = 1024 * 1024;
  int64_t l3_bytes = 8 * 1024 * 1024;  // shared between cores
};

// The processor this process runs on; found at the first call, then constant.
// HEADRACE_MAX_CPU_ISA=sse, avx2 or avx512 in the environment leaves out what
// is beyond that, so that code for lesser processors can be run. Thread-safe.
const CpuFeatures& HostCpu();

namespace internal {

// Leaves out what is beyond `most`, "sse", "avx2" or "avx512"; false for
// others.
bool LimitIsa(std::string_view most, CpuFeatures* f);

// The CPU quota, in processors rounded up, that applies to a process whose
// /proc/self/cgroup reads `proc_self_cgroup`, with the cgroup file systems
// mounted under `mount` ("/sys/fs/cgroup"). 0 when there is no limit. Takes the
// least of the group and all its ancestors.
int CgroupCpuLimit(const std::string& mount, std::string_view proc_self_cgroup);

}  // namespace internal
}  // namespace headrace

#endif  // HEADRACE_BASE_CPU_H_
