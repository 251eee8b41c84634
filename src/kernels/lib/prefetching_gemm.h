// FewRowsGemm: float products of some rows with a B that does not stay in the
// caches, on processors with AVX-512: all rows are multiplied by one tile of B
// while the next comes from memory.
//
// The result depends on the arguments alone, and each element is summed in the
// order of k, as Gemm's blocks are. Use gemm.h, which calls this by itself.
#ifndef HEADRACE_KERNELS_LIB_PREFETCHING_GEMM_H_
#define HEADRACE_KERNELS_LIB_PREFETCHING_GEMM_H_

#include "kernels/lib/gemm.h"

namespace headrace {

// False on processors without AVX-512.
bool PrefersFewRowsGemm(const GemmArgs<float>& args);

// For PrefersFewRowsGemm(args) and k > 0. B may lie at any address.
void FewRowsGemm(ThreadPool* pool, const GemmArgs<float>& args);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_PREFETCHING_GEMM_H_
