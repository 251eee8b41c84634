// Gemm: matrix products of any size, on the threads of a pool.
//
//   C[m,n] = op(A)[m,k] op(B)[k,n]     (or C += with accumulate)
//
// All matrices are row-major. op is nothing, the transpose, or (for complex
// types) the conjugate. k = 0 gives zeros. Integers wrap around. half and
// bfloat16 are computed in float and rounded once. A and C are aligned. A float
// or double B may lie at any address (framework/tensor/stored_constant.h).
//
// The result depends only on the arguments, not on the number of threads: m, n
// and k determine the blocks and the order of each sum. Never fails: scratch
// memory is on the stack, or Gemm works without it.
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

  // Matrices without gaps between rows. Set the pointers with At.
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
  // The same product with other matrices.
  GemmArgs At(const T* a_at, const T* b_at, T* c_at) const {
    GemmArgs g = *this;
    g.a = a_at;
    g.b = b_at;
    g.c = c_at;
    return g;
  }
};

// For every number type. `pool` may be null: everything then runs on this
// thread. Thread-safe.
template <typename T>
void Gemm(ThreadPool* pool, const GemmArgs<T>& args);

// The maximum of bytes that Gemm takes from CpuAllocator() for partial
// products. Gemm works without them if there is no memory. Uses only the sizes,
// not the pointers.
template <typename T>
int64_t GemmHeapBytes(const GemmArgs<T>& args);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_GEMM_H_
