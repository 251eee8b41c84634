// Shared by the quantising ops: ranges [min, max] of floats, one per tensor or
// one per slice along an axis.
#ifndef HEADRACE_KERNELS_LIB_QUANTIZED_RANGE_H_
#define HEADRACE_KERNELS_LIB_QUANTIZED_RANGE_H_

#include <algorithm>
#include <cstdint>

#include "headrace/op_kernel.h"

namespace headrace {

// The integers that quantised types are stored as.
template <typename Q>
struct StoredInteger;
template <>
struct StoredInteger<qint8> {
  using Type = int8_t;
};
template <>
struct StoredInteger<quint8> {
  using Type = uint8_t;
};
template <>
struct StoredInteger<qint16> {
  using Type = int16_t;
};
template <>
struct StoredInteger<quint16> {
  using Type = uint16_t;
};
template <>
struct StoredInteger<qint32> {
  using Type = int32_t;
};

// A tensor as [outer, slices, inner]. Without an axis the whole tensor is one
// slice.
struct QuantizedSlices {
  int64_t outer = 1, slices = 1, inner = 1;
  int64_t total = 1;  // the product, unless that overflows beside a 0

  Status Init(const TensorShape& shape, int64_t axis) {
    total = shape.num_elements();
    if (axis < 0) {
      inner = shape.num_elements();
      return OkStatus();
    }
    if (axis >= shape.dims()) {
      return errors::InvalidArgument("Axis must be less than input dimension(",
                                     shape.dims(), "), got ", axis);
    }
    const int a = static_cast<int>(axis);
    outer = shape.ProductOf(0, a);
    slices = shape.dim_size(a);
    inner = shape.ProductOf(a + 1, shape.dims());
    return OkStatus();
  }

  // Checks the shape of a range's ends: a scalar, one element, or one per
  // slice.
  Status CheckRange(const Tensor& t, const char* name, int64_t axis) const {
    if (t.NumElements() == slices && (axis < 0 || t.dims() == 1)) {
      return OkStatus();
    }
    return errors::InvalidArgument(
        name, axis < 0 ? " must be a scalar" : " must be a vector", " of ",
        slices, slices == 1 ? " element" : " elements", " for axis ", axis,
        ", got shape ", t.shape().DebugString());
  }

  // Calls fn(slice, begin, end) in parallel, each time for a run of elements of
  // one slice.
  template <typename F>
  void ForEachRun(OpKernelContext* ctx, const F& fn) const {
    if (total == 0) return;
    ctx->ParallelFor(total, 2.0, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t run = begin / inner;
        const int64_t stop = std::min(end, (run + 1) * inner);
        fn(run % slices, begin, stop);
        begin = stop;
      }
    });
  }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_QUANTIZED_RANGE_H_
