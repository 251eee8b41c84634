// Bfloat16Matrix: products with a matrix B whose factors may be rounded to
// bfloat16 (bfloat16_product.h). A constant B is rounded and packed once.
//
// Call Set before the first use. After that, thread-safe.
#ifndef HEADRACE_KERNELS_LIB_BFLOAT16_MATRIX_H_
#define HEADRACE_KERNELS_LIB_BFLOAT16_MATRIX_H_

#include "headrace/op_kernel.h"
#include "kernels/lib/constant_forms.h"
#include "kernels/lib/gemm.h"

namespace headrace {

class Bfloat16Matrix {
 public:
  explicit Bfloat16Matrix(const OpKernelConstruction& ctx);

  // Whether pass lower_precision has marked the kernel's node.
  bool is_on() const { return is_on_; }
  // B is always `b`, which may be unaligned and have more dims than two.
  void Set(const Tensor& b) {
    if (is_on_) constant_.Set(b);
  }
  // C = op(A) op(B) for matrices without gaps. Reads g.b only if B was not set
  // or there is no memory to keep it. ResourceExhausted without memory for the
  // rounded factors.
  Status Multiply(OpKernelContext* ctx, const GemmArgs<float>& g);

 private:
  const bool is_on_;
  ConstantForms constant_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_BFLOAT16_MATRIX_H_
