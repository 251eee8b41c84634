// PrefetchingGemm: float products of 4 to 32 rows of A with a B that exceeds
// the caches, on processors with AVX-512. It multiplies all rows by one tile of
// B (64 rows by 64 columns) while it prefetches the next tiles.
//   shapes     4 <= m <= 32, n >= 1024, any k; B of 4 MiB or more
//   layouts    any leading dimensions; A plain or transposed, B plain
//   alignment  B may lie at any address; A and C are aligned to their elements
//   called by  Gemm alone: use gemm.h
//
// Its relatives: streaming_gemm.h takes fewer rows, prepacked_gemm.h a B that
// never changes.
//
// The result depends on the arguments alone, not on the number of threads. Each
// element is summed in the order of k, as Gemm's blocks are.
//
// Thread-safe.
#ifndef HEADRACE_KERNELS_LIB_PREFETCHING_GEMM_H_
#define HEADRACE_KERNELS_LIB_PREFETCHING_GEMM_H_

#include "kernels/lib/gemm.h"

namespace headrace {

// False on processors without AVX-512.
bool PrefersPrefetchingGemm(const GemmArgs<float>& args);

// For PrefersPrefetchingGemm(args) and k > 0. `pool` may be null.
void PrefetchingGemm(ThreadPool* pool, const GemmArgs<float>& args);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_PREFETCHING_GEMM_H_
