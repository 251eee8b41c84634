// ByteMatrix: products and convolutions of bytes with a matrix or filter of
// bytes, which is packed for MultiplyBytes (lib/byte_product.h), once if it is
// constant.
//
//   C[i, j] = sum over k of (A[i, k] - a_zero) (B[k, j] - b_zero)
//
// in 32 bits, which wrap around.
//
// Call Set before the first use. After that, thread-safe.
#ifndef HEADRACE_KERNELS_QUANTIZED_BYTE_MATRIX_H_
#define HEADRACE_KERNELS_QUANTIZED_BYTE_MATRIX_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "framework/shape_fns/conv_attrs.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/byte_product.h"
#include "kernels/lib/constant_forms.h"
#include "kernels/lib/quantized_math.h"

namespace headrace {

class ByteMatrix {
 public:
  // Gets row `row` of the result, of n sums, which it may change. `scratch` has
  // room for n numbers. Called on several threads at once.
  using Finish =
      absl::FunctionRef<void(int64_t row, int32_t* sums, double* scratch)>;

  // B is always `b`, which may be unaligned.
  void Set(const Tensor& b) { forms_.Set(b); }

  // A [m, k] of quint8, or [k, m] if transposed, by B [k, n] of quint8 or
  // qint8, or [n, k]. The zeros are those that the elements are stored with.
  struct MatMul {
    MatMulSizes sizes;
    bool transpose_a = false, transpose_b = false;
    int64_t a_zero = 0, b_zero = 0;
  };
  // ResourceExhausted without memory for packed factors.
  Status Multiply(OpKernelContext* ctx, const Tensor& a, const Tensor& b,
                  const MatMul& product, Finish finish);

  // A convolution of one group, NHWC, of `in`, quint8 or qint8, with `filter`,
  // quint8 or qint8. A row of the result is a pixel. Where there is padding,
  // in_zero must be a number of in's type.
  Status Convolve(OpKernelContext* ctx, const Tensor& in, const Tensor& filter,
                  const ConvSizes& sizes, int64_t in_zero, int64_t filter_zero,
                  Finish finish);

 private:
  struct Product;
  class Rows;
  class Canvas;
  // Writes the addresses of row `row` to to[s * kByteTileRows] for the
  // segments s.
  using FindRow = absl::FunctionRef<void(int64_t row, const uint8_t** to)>;

  Status Run(OpKernelContext* ctx, const Tensor& b, const Product& p,
             FindRow find, Finish finish);

  ConstantForms forms_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_QUANTIZED_BYTE_MATRIX_H_
