// Gemm: matrix products of any size, on the threads of a pool.
//
//   C[m,n] = op(A)[m,k] op(B)[k,n]     (or C += with accumulate)
//
// All matrices are row-major; op is nothing, the transpose, or (complex types)
// the conjugate. k = 0 gives zeros. Integers wrap around. half and bfloat16 are
// computed and summed in float and rounded once. A and C are aligned; B of
// float or double may lie at any address (framework/tensor/stored_constant.h).
//
// The result depends on the arguments alone, not on the number of threads: the
// blocks, and the order in which each element is summed, follow from m, n, k.
// Never fails: scratch memory is on the stack, or is done without.
#ifndef HEADRACE_KERNELS_LIB_GEMM_H_
#define HEADRACE_KERNELS_LIB_GEMM_H_

#include <cstdint>

#include "base/thread_pool.h"
#include "headrace/types.h"

namespace headrace {

template <typename T>
struct GemmArgs {
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;  // [m,k], or [k,m] if transpose_a
  int64_t lda = 0;       // elements from one stored row to the next
  bool transpose_a = false;
  const T* b = nullptr;  // [k,n], or [n,k] if transpose_b
  int64_t ldb = 0;
  bool transpose_b = false;
  T* c = nullptr;
  int64_t ldc = 0;
  bool accumulate = false;
  bool conjugate_a = false;  // complex types only
  bool conjugate_b = false;

  // Matrices without gaps between their rows. The pointers follow by At.
  static GemmArgs Dense(int64_t m, int64_t n, int64_t k,
                        bool transpose_a = false, bool transpose_b = false) {
    return {.m = m,
            .n = n,
            .k = k,
            .lda = transpose_a ? m : k,
            .transpose_a = transpose_a,
            .ldb = transpose_b ? k : n,
            .transpose_b = transpose_b,
            .ldc = n};
  }
  // The same product of other matrices.
  GemmArgs At(const T* a_at, const T* b_at, T* c_at) const {
    GemmArgs g = *this;
    g.a = a_at;
    g.b = b_at;
    g.c = c_at;
    return g;
  }
};

// For every number type. `pool` may be null: all on this thread. Thread-safe.
template <typename T>
void Gemm(ThreadPool* pool, const GemmArgs<T>& args);

// What Gemm takes from CpuAllocator() meanwhile, at most: partial products. It
// does without if there is no memory. Reads the sizes alone, not the pointers.
template <typename T>
int64_t GemmHeapBytes(const GemmArgs<T>& args);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_GEMM_H_
