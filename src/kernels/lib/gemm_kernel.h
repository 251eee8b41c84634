// GemmKernel: one block of a matrix product, on one thread, all row-major:
//   C[m,n] = op(A)[m,k] B[k,n]   or   C += op(A) B,   op(A) = A or transposed
//   A.
// Larger products (gemm.h) and convolutions are loops over such blocks.
//
// For float and double, libxsmm generates code for exactly these sizes at their
// first use (10 us; later uses find it in 0.1 us). If libxsmm is absent or does
// not support a shape - leading dimensions beyond int32, or rows that overlap
// (lda < k) - Eigen computes the block. int32 is a plain loop and wraps around.
//
// Note: the generated code is column-major, so its A is our B. It vectorises
// along n. n = 64 is best for float; any n works.
//
// Immutable, so thread-safe.
#ifndef HEADRACE_KERNELS_LIB_GEMM_KERNEL_H_
#define HEADRACE_KERNELS_LIB_GEMM_KERNEL_H_

#include <cstdint>

namespace headrace {

template <typename T>
class GemmKernel {
 public:
  struct Shape {
    int64_t m, n, k;
    int64_t lda, ldb, ldc;
    bool transpose_a = false;  // A is stored [k,m]
    bool accumulate = false;   // C += instead of C =
    // Prefetches the next B into the second-level cache.
    bool fetch_next_b = false;
  };
  // m, n and k must be positive. With `generate` false, never uses generated
  // code.
  explicit GemmKernel(const Shape& shape, bool generate = true);

  // `next_b`: the B of the next call, if the shape has fetch_next_b.
  void operator()(const T* a, const T* b, T* c,
                  const T* next_b = nullptr) const {
    if (code_ != nullptr) {
      code_(a, b, c, next_b);
    } else {
      RunPortable(a, b, c);
    }
  }
  bool generated() const { return code_ != nullptr; }

 private:
  // In the generated code's order: our B first.
  struct Code {
    void (*fn)(const T* b, const T* a, T* c, ...) = nullptr;
    bool operator!=(std::nullptr_t) const { return fn != nullptr; }
    void operator()(const T* a, const T* b, T* c, const T* next_b) const {
      fn(b, a, c, next_b, a, c);
    }
  };
  void RunPortable(const T* a, const T* b, T* c) const;

  Shape shape_;
  Code code_;
};

// Columns of B per block: 64 floats or 32 doubles.
template <typename T>
inline constexpr int64_t kGemmPanel = 256 / sizeof(T);
// Rows of B per block. A panel of B then fits the stack and, together with a
// slice of A, the second-level cache.
inline constexpr int64_t kGemmDepth = 256;

// Copies op(B)[k0 + i, n0 + j] to panel[i * n + j] for i < k, j < n. B may lie
// at any address; generated code also accepts any address.
template <typename T>
void PackPanel(const T* b, int64_t ldb, bool transpose_b, int64_t k0,
               int64_t n0, int64_t k, int64_t n, T* panel);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_GEMM_KERNEL_H_
