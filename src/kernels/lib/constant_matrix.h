// ConstantMatrix: float products with a matrix B that never changes, as the
// weights of a dense layer. B is packed once, in the panels of
// prepacked_gemm.h, when the first product comes that is faster with panels.
//
//   4 to 32 rows  PrepackedGemm, where B exceeds the caches or is transposed
//   more rows     blocks of rows by panels; the next panel is fetched into the
//                 second level cache while the last one is multiplied, so that
//                 weights that come from memory cost little time
//   fewer rows    nothing: Gemm reads B as it is
//
// The result depends on the arguments alone, not on the number of threads.
//
// Call Set before the first use. After that, thread-safe.
#ifndef HEADRACE_KERNELS_LIB_CONSTANT_MATRIX_H_
#define HEADRACE_KERNELS_LIB_CONSTANT_MATRIX_H_

#include "kernels/lib/constant_forms.h"
#include "kernels/lib/epilogue.h"
#include "kernels/lib/gemm.h"

namespace headrace {

class ConstantMatrix {
 public:
  // `b` may be unaligned. Pages of a mapped file that are not needed any more
  // leave memory when it is packed.
  void Set(const Tensor& b) { forms_.Set(b); }

  // C = A B, then the epilogue; C has no gaps. Reads neither g.b nor g.ldb: B
  // is the constant, [k, n] without gaps, or [n, k] if g.transpose_b; the
  // constant may have more dims. Returns false, and has written nothing, if B
  // was not set, if panels do not pay or if there is no memory.
  bool Multiply(ThreadPool* pool, const GemmArgs<float>& g, const Epilogue& e);

 private:
  const float* Panels(ThreadPool* pool, const GemmArgs<float>& g);

  ConstantForms forms_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_CONSTANT_MATRIX_H_
