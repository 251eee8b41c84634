#include "framework/shape_fns/strided_slice.h"

#include <algorithm>

namespace headrace {
namespace {

bool Bit(int64_t mask, size_t i) { return i < 63 && (mask >> i & 1) != 0; }

// The part of dimension `dim` that entry i of the spec takes.
struct Range {
  bool known = true;  // begin and end are
  bool full_begin = false, full_end = false, shrink = false;
  int64_t begin = 0, end = 0, stride = 1;
};

Status PlanDim(const Range& r, int index, int64_t dim, int64_t* begin,
               int64_t* stride, int64_t* size) {
  *begin = 0;
  *stride = r.stride;
  *size = -1;
  if (r.stride == 0) {
    return errors::InvalidArgument("strides[", index, "] must be non-zero");
  }
  if (r.shrink) {
    if (r.stride < 0) {
      return errors::InvalidArgument(
          "only stride 1 allowed on non-range indexing.");
    }
    *stride = 1;
    *size = 1;
    if (!r.known || dim < 0) return OkStatus();
    *begin = r.begin < 0 ? r.begin + dim : r.begin;
    if (*begin < 0 || *begin >= dim) {
      return errors::InvalidArgument("slice index ", r.begin, " of dimension ",
                                     index, " out of bounds.");
    }
    return OkStatus();
  }
  if (dim < 0 || (!r.known && !(r.full_begin && r.full_end))) return OkStatus();
  const bool forward = r.stride > 0;
  const int64_t low = forward ? 0 : -1;
  const int64_t high = forward ? dim : dim - 1;
  auto clamp = [&](int64_t v) {
    return std::clamp(v < 0 ? v + dim : v, low, high);
  };
  const int64_t from = r.full_begin ? (forward ? 0 : dim - 1) : clamp(r.begin);
  const int64_t to = r.full_end ? (forward ? dim : -1) : clamp(r.end);
  const int64_t length = to - from;
  *begin = from;
  if (length == 0 || (length < 0) != (r.stride < 0)) {
    *size = 0;
  } else {
    *size = length / r.stride + (length % r.stride != 0);
  }
  return OkStatus();
}

}  // namespace

Status StridedSliceMasks::FromAttrs(const AttrMap& attrs) {
  HR_RETURN_IF_ERROR(attrs.Get("begin_mask", &begin));
  HR_RETURN_IF_ERROR(attrs.Get("end_mask", &end));
  HR_RETURN_IF_ERROR(attrs.Get("ellipsis_mask", &ellipsis));
  HR_RETURN_IF_ERROR(attrs.Get("new_axis_mask", &new_axis));
  return attrs.Get("shrink_axis_mask", &shrink_axis);
}

Status PlanStridedSlice(const PartialTensorShape& input,
                        const absl::Span<const int64_t>* begin,
                        const absl::Span<const int64_t>* end,
                        absl::Span<const int64_t> strides,
                        const StridedSliceMasks& masks,
                        StridedSlicePlan* plan) {
  const int rank = input.dims();
  const size_t n = strides.size();
  // Entries that consume a dimension, before and after the ellipsis.
  size_t ellipsis = n;
  int64_t consumed = 0;
  for (size_t i = 0; i < n; ++i) {
    if (Bit(masks.ellipsis, i)) {
      if (ellipsis != n) {
        return errors::InvalidArgument(
            "Multiple ellipses in slice spec not allowed");
      }
      ellipsis = i;
    } else if (!Bit(masks.new_axis, i)) {
      ++consumed;
    }
  }
  plan->begin.assign(rank, 0);
  plan->stride.assign(rank, 1);
  plan->size.assign(rank, -1);
  DimVector shape;
  int at = 0;  // the next input dimension
  for (size_t i = 0; i <= n; ++i) {
    if (i == ellipsis) {  // without one, it is at the end
      const int64_t covered = std::max<int64_t>(0, rank - consumed);
      for (int64_t k = 0; k < covered; ++k, ++at) {
        plan->size[at] = input.dim_size(at);
        shape.push_back(input.dim_size(at));
      }
      continue;
    }
    if (i == n) break;
    if (Bit(masks.new_axis, i)) {
      shape.push_back(1);
      continue;
    }
    if (at >= rank) {
      return errors::InvalidArgument("Index out of range using input dim ", at,
                                     "; input has only ", rank, " dims");
    }
    Range r;
    r.known = begin != nullptr && end != nullptr;
    r.full_begin = Bit(masks.begin, i);
    r.full_end = Bit(masks.end, i);
    r.shrink = Bit(masks.shrink_axis, i);
    r.stride = strides[i];
    if (begin != nullptr) r.begin = (*begin)[i];
    if (end != nullptr) r.end = (*end)[i];
    if (r.shrink) r.known = begin != nullptr;
    HR_RETURN_IF_ERROR(PlanDim(r, at, input.dim_size(at), &plan->begin[at],
                               &plan->stride[at], &plan->size[at]));
    if (!r.shrink) shape.push_back(plan->size[at]);
    ++at;
  }
  return PartialTensorShape::Build(shape, &plan->shape);
}

}  // namespace headrace
