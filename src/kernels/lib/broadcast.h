// BCast: loops that broadcast up to three operands to one result by NumPy's
// rules. Dims of size 1 are dropped. Adjacent dims are merged if each operand
// is broadcast over both or over neither. Most broadcasts therefore become one
// to three loops.
//
//   BCast b({x.shape(), y.shape()});
//   OP_REQUIRES_OK(ctx, b.status());
//   ... b.output_shape(), b.dims() ...
//
// A dim of size 0 fits 0 and 1, but not 2. Value type, thread-compatible.
#ifndef HEADRACE_KERNELS_LIB_BROADCAST_H_
#define HEADRACE_KERNELS_LIB_BROADCAST_H_

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "headrace/status.h"
#include "headrace/tensor_shape.h"

namespace headrace {

class BCast {
 public:
  static constexpr int kMaxOperands = 3;

  // One loop: its length, and each operand's stride in elements (0 if the
  // operand is broadcast over it).
  struct Dim {
    int64_t size;
    std::array<int64_t, kMaxOperands> stride;
  };

  BCast(std::initializer_list<const TensorShape*> shapes);

  // InvalidArgument "Incompatible shapes: [2] vs. [3]".
  const Status& status() const { return status_; }
  const TensorShape& output_shape() const { return output_; }
  // Outermost first; at least one.
  absl::Span<const Dim> dims() const { return dims_; }
  // The number of iterations of all loops except the innermost.
  int64_t rows() const;

 private:
  Status status_;
  TensorShape output_;
  absl::InlinedVector<Dim, 4> dims_;
};

// Walks the iterations of `dims` in row-major order and tracks each operand's
// offset, in elements.
class BCastCursor {
 public:
  // Starts at iteration `at`, in O(dims). `dims` must outlive the cursor.
  BCastCursor(absl::Span<const BCast::Dim> dims, int64_t at);
  int64_t offset(int operand) const { return offset_[operand]; }
  void Next() {
    for (int d = static_cast<int>(dims_.size()) - 1; d >= 0; --d) {
      const BCast::Dim& dim = dims_[d];
      for (int k = 0; k < BCast::kMaxOperands; ++k) {
        offset_[k] += dim.stride[k];
      }
      if (++index_[d] < dim.size) return;
      for (int k = 0; k < BCast::kMaxOperands; ++k) {
        offset_[k] -= dim.stride[k] * dim.size;
      }
      index_[d] = 0;
    }
  }

 private:
  absl::Span<const BCast::Dim> dims_;
  absl::InlinedVector<int64_t, 6> index_;
  std::array<int64_t, BCast::kMaxOperands> offset_{};
};

// Fills out[0, n) with the elements of operand `k` (at `src`) for iterations
// [begin, begin + n). Elements are plain data of `size` bytes.
void GatherBroadcast(const BCast& b, int k, const void* src, int64_t begin,
                     int64_t n, int size, void* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_BROADCAST_H_
