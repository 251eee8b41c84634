// BCast: how up to three operands are stretched to one result by NumPy's rules,
// as loops. Adjacent dims over which every operand is stretched alike, or not
// at all, are merged and dims of size 1 dropped, so that most broadcasts of any
// rank come down to one to three loops.
//
//   BCast b({x.shape(), y.shape()});
//   OP_REQUIRES_OK(ctx, b.status());
//   ... b.output_shape(), b.dims() ...
//
// A size-0 dim goes with 0 or 1, never with 2. Value type, thread-compatible.
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

  // One loop: its length, and how many elements each operand moves a turn (0
  // where the operand is stretched).
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
  // Turns of all loops but the innermost.
  int64_t rows() const;

 private:
  Status status_;
  TensorShape output_;
  absl::InlinedVector<Dim, 4> dims_;
};

// Walks the turns of `dims` in row-major order, keeping each operand's offset.
class BCastCursor {
 public:
  // Starts at turn `at`; O(dims). `dims` must stay alive.
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

// Fills out[0, n) with what operand `k`, at `src`, shows at turns
// [begin, begin + n) of the broadcast. Elements are `size` bytes of plain data.
void GatherBroadcast(const BCast& b, int k, const void* src, int64_t begin,
                     int64_t n, int size, void* out);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_BROADCAST_H_
