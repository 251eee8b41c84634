#include "headrace/simd.h"

#include "base/cpu.h"

#ifdef HR_HAVE_TARGET_CLONES
namespace headrace::simd_internal {

int FindLevel() {
  const CpuFeatures& cpu = HostCpu();
  if (cpu.avx512f && __builtin_cpu_supports("x86-64-v4")) return 4;
  if (cpu.avx2 && __builtin_cpu_supports("x86-64-v3")) return 3;
  return 1;
}

}  // namespace headrace::simd_internal
#endif
