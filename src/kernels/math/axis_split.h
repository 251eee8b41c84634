// A tensor viewed around one axis: [outer, size, inner].
#ifndef HEADRACE_KERNELS_MATH_AXIS_SPLIT_H_
#define HEADRACE_KERNELS_MATH_AXIS_SPLIT_H_

#include "headrace/status.h"
#include "headrace/tensor.h"

namespace headrace {

struct AxisSplit {
  int axis = 0;
  int64_t outer = 1, size = 1, inner = 1;

  // Reads `axis`: an int16, int32 or int64 scalar (with `allow_vector` also one
  // element). Negative axes count from the end. InvalidArgument if it is out of
  // range.
  Status Init(const TensorShape& shape, const Tensor& axis_tensor,
              absl::string_view what, bool allow_vector = false) {
    if (axis_tensor.NumElements() != 1 ||
        (axis_tensor.dims() != 0 && !allow_vector)) {
      return errors::InvalidArgument(
          what, " must be a scalar, but received ",
          "tensor of shape: ", axis_tensor.shape().DebugString());
    }
    int64_t given = 0;
    switch (axis_tensor.dtype()) {
      case DT_INT16:
        given = *axis_tensor.data<int16_t>();
        break;
      case DT_INT32:
        given = *axis_tensor.data<int32_t>();
        break;
      default:
        given = *axis_tensor.data<int64_t>();
    }
    const int rank = shape.dims();
    if (given < -rank || given >= rank) {
      return errors::InvalidArgument("Expected ", what, " in the range [",
                                     -rank, ", ", rank, "), but got ", given);
    }
    axis = static_cast<int>(given < 0 ? given + rank : given);
    outer = shape.ProductOf(0, axis);
    size = shape.dim_size(axis);
    inner = shape.ProductOf(axis + 1, rank);
    return OkStatus();
  }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_MATH_AXIS_SPLIT_H_
