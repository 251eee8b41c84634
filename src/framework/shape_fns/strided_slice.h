// StridedSlice: interprets begin, end, strides and the five masks, for shape
// functions and kernels.
//
// Bit i of each mask belongs to spec entry i. If a bit is set in several masks,
// the first of ellipsis, new_axis, shrink_axis wins. An entry that is neither
// an ellipsis nor a new axis applies to the next input dim.
#ifndef HEADRACE_FRAMEWORK_SHAPE_FNS_STRIDED_SLICE_H_
#define HEADRACE_FRAMEWORK_SHAPE_FNS_STRIDED_SLICE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "headrace/attr_value.h"
#include "headrace/tensor_shape.h"

namespace headrace {

struct StridedSliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;

  Status FromAttrs(const AttrMap& attrs);
};

struct StridedSlicePlan {
  // One entry for each input dimension: indices begin, begin + stride, ...,
  // `size` of them. Where size is 0 begin means nothing.
  DimVector begin, stride, size;
  // The shape of the result: with new axes and without shrunk ones.
  PartialTensorShape shape;
};

// `begin` and `end` may be null where they are not known yet; sizes that depend
// on them, or on an unknown input dim, are then -1. The input's rank is known.
// `begin`, `end` and `strides` are equally long.
Status PlanStridedSlice(const PartialTensorShape& input,
                        const absl::Span<const int64_t>* begin,
                        const absl::Span<const int64_t>* end,
                        absl::Span<const int64_t> strides,
                        const StridedSliceMasks& masks, StridedSlicePlan* plan);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_SHAPE_FNS_STRIDED_SLICE_H_
