// GemmKernel: one block of a matrix product, on one thread, all row-major:
//   C[m,n] = op(A)[m,k] B[k,n]   or   C += op(A) B,   op(A) = A or transposed
//   A.
// Larger products (gemm.h) and convolutions are loops over such blocks.
//
// float and double run code that libxsmm generates for exactly these sizes the
// first time they are seen (10 us; then 0.1 us to find it). Where libxsmm is
// absent or has nothing for a shape - leading dimensions beyond int32 or rows
// that overlap (lda < k) - Eigen computes the block. int32 is a plain loop and
// wraps around.
//
// What a reader would get wrong: the generated code is column-major, so what it
// calls A is our B. It vectorises along n: n of 64 floats is best, any works.
//
// Immutable, hence thread-safe.
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
    // Reads the next B into the second level cache meanwhile.
    bool fetch_next_b = false;
  };
  // m, n and k are positive. Without `generate`, never generated code.
  explicit GemmKernel(const Shape& shape, bool generate = true);

  // `next_b`: the B that comes next, if the shape says fetch_next_b.
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

// Columns of B that a block should have: 64 floats, 32 doubles.
template <typename T>
inline constexpr int64_t kGemmPanel = 256 / sizeof(T);
// Rows of B that a block should have: a panel of B then fits the stack and,
// beside a slice of A, the second level cache.
inline constexpr int64_t kGemmDepth = 256;

// Copies op(B)[k0 + i, n0 + j] to panel[i * n + j], i < k, j < n. B may lie at
// any address; so may that of generated code.
template <typename T>
void PackPanel(const T* b, int64_t ldb, bool transpose_b, int64_t k0,
               int64_t n0, int64_t k, int64_t n, T* panel);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_GEMM_KERNEL_H_
