// TensorSlice: a box of a tensor, one extent a dimension, as checkpoints name
// the pieces of a partitioned variable; and the key under which a piece lies.
#ifndef HEADRACE_FRAMEWORK_TENSOR_TENSOR_SLICE_H_
#define HEADRACE_FRAMEWORK_TENSOR_TENSOR_SLICE_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "headrace/tensor.pb.h"
#include "headrace/tensor_shape.h"

namespace headrace {

// A value type.
// Thread-compatible.
class TensorSlice {
 public:
  struct Extent {
    int64_t start = 0;
    int64_t length = -1;  // -1: the whole dimension, whose start is 0
  };

  TensorSlice() = default;
  static TensorSlice Full(int rank) {
    TensorSlice s;
    s.extents_.resize(rank);
    return s;
  }
  static Status FromProto(const pb::TensorSliceProto& proto, TensorSlice* out);
  void ToProto(pb::TensorSliceProto* proto) const;
  // "-:0,5": all of dimension 0, five of dimension 1.
  static Status Parse(absl::string_view text, TensorSlice* out);
  std::string DebugString() const;

  int dims() const { return static_cast<int>(extents_.size()); }
  const Extent& extent(int i) const { return extents_[i]; }
  bool IsFull() const;
  // The same box of `shape` with every length known, and its shape.
  // InvalidArgument if it does not lie within.
  Status Resolve(const TensorShape& shape, TensorSlice* box,
                 TensorShape* box_shape) const;

  // Calls run(a_offset, b_offset, count) for each run of elements that lies in
  // both boxes; offsets are within each box, row by row. Both are resolved and
  // of one rank.
  static void ForEachCommonRun(
      const TensorSlice& a, const TensorSlice& b,
      absl::FunctionRef<void(int64_t, int64_t, int64_t)> run);

 private:
  absl::InlinedVector<Extent, 4> extents_;
};

// "d0 d1 ... slice", the shape_and_slice of SaveV2 and RestoreV2; not "".
Status ParseShapeAndSlice(absl::string_view spec, TensorShape* shape,
                          TensorSlice* slice, TensorShape* slice_shape);

// An ordered code: sorts by name, rank, and extents.
std::string EncodeSliceKey(absl::string_view name, const TensorSlice& slice);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_TENSOR_SLICE_H_
