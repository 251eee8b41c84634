// BoxCopy: the one loop nest behind the ops that move elements to other places
// (Transpose, Slice, Concat, Tile, Pad, Reverse, SpaceToBatch, ...). Such an op
// is a box of index ranges and, for each range, how far one step moves in the
// source and in the destination; the rest is finding good loops for that.
//
//   BoxCopy copy;                    // y = transpose of x [m, n]
//   copy.AddDim(n, 1, m);
//   copy.AddDim(m, n, 1);
//   copy.Run(ctx, x, 0, y, 0);
//
// A source stride may be zero (Tile) or negative (Reverse). A destination
// element must not be written twice, and nothing written may be read.
#ifndef HEADRACE_KERNELS_LIB_BOX_COPY_H_
#define HEADRACE_KERNELS_LIB_BOX_COPY_H_

#include "absl/container/inlined_vector.h"
#include "headrace/op_kernel.h"
#include "headrace/tensor.h"

namespace headrace {

class BoxCopy {
 public:
  // A range of n indices; strides in elements.
  void AddDim(int64_t n, int64_t src_stride, int64_t dst_stride) {
    dims_.push_back({n, src_stride, dst_stride});
  }
  // Copies from element src_at of `src` and dst_at of `dst` on; both tensors
  // are of one type and the caller has checked that the box lies within them.
  // They may be one tensor.
  void Run(OpKernelContext* ctx, const Tensor& src, int64_t src_at, Tensor* dst,
           int64_t dst_at);

 private:
  struct Dim {
    int64_t n, src, dst;
  };
  using Dims = absl::InlinedVector<Dim, 6>;
  // False if there is nothing to copy.
  bool Simplify();

  Dims dims_;
};

// Makes output `i` of `shape` elements [at, at + n) of `in`: shares the buffer
// where they begin on a 64-byte boundary and are many, else copies them. (A
// slice of a variable that is shared sees later writes, as in TensorFlow, where
// small and unaligned ones are copied too.)
void SetOutputRun(OpKernelContext* ctx, int i, const Tensor& in, int64_t at,
                  const TensorShape& shape);

// Row-major strides, in elements, of a tensor of this shape. The shape is
// valid, so nothing overflows; where a dim is 0 the strides mean nothing.
DimVector RowMajorStrides(absl::Span<const int64_t> dims);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_BOX_COPY_H_
