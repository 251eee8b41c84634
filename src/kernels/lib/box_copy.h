// BoxCopy: the loop nest behind the ops that move elements (Transpose, Slice,
// Concat, Tile, Pad, Reverse, SpaceToBatch, ...). Such an op is a box of index
// ranges. Each range has a source stride and a destination stride. BoxCopy
// finds fast loops for the box.
//
//   BoxCopy copy;                    // y = transpose of x [m, n]
//   copy.AddDim(n, 1, m);
//   copy.AddDim(m, n, 1);
//   copy.Run(ctx, x, 0, y, 0);
//
// A source stride may be zero (Tile) or negative (Reverse). No destination
// element may be written twice, and no written element may be read.
#ifndef HEADRACE_KERNELS_LIB_BOX_COPY_H_
#define HEADRACE_KERNELS_LIB_BOX_COPY_H_

#include "absl/container/inlined_vector.h"
#include "headrace/op_kernel.h"
#include "headrace/tensor.h"

namespace headrace {

// Thread-compatible. Run itself uses the threads of `ctx`.
class BoxCopy {
 public:
  // Adds a range of n indices. Strides are in elements.
  void AddDim(int64_t n, int64_t src_stride, int64_t dst_stride) {
    dims_.push_back({n, src_stride, dst_stride});
  }
  // Copies, starting at element src_at of `src` and element dst_at of `dst`.
  // Both tensors have one type; they may be the same tensor. The caller has
  // checked that the box lies within them.
  void Run(OpKernelContext* ctx, const Tensor& src, int64_t src_at, Tensor* dst,
           int64_t dst_at);

 private:
  struct Dim {
    int64_t n, src, dst;
  };
  using Dims = absl::InlinedVector<Dim, 6>;
  // Returns false if there is nothing to copy.
  bool Simplify();

  Dims dims_;
};

// Sets output `i` to elements [at, at + n) of `in`, where n is the number of
// elements of `shape`. Shares the buffer if the run is large and begins on a
// 64-byte boundary; else copies. (As in TensorFlow, a shared slice of a
// variable shows later writes, and small or unaligned slices are copies.)
void SetOutputRun(OpKernelContext* ctx, int i, const Tensor& in, int64_t at,
                  const TensorShape& shape);

// Row-major strides, in elements. The shape is valid, so nothing overflows. If
// a dim is 0, the strides mean nothing.
DimVector RowMajorStrides(absl::Span<const int64_t> dims);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_BOX_COPY_H_
