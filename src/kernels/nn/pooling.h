// Pooling: max and average over windows, and their gradients, in two and three
// spatial dims.
//
// A PoolGeometry describes a pooling op for one input shape. Two dims are
// treated as three with a first dim of 1, and layouts are element strides, so
// one loop serves all. Every op has an ordered list of implementations. The
// first one that accepts the geometry runs. The last one is the reference: a
// plain loop for any layout and type. pooling_test.cc compares the others with
// it.
#ifndef HEADRACE_KERNELS_NN_POOLING_H_
#define HEADRACE_KERNELS_NN_POOLING_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Strides, in elements, of the batch, the three spatial dims and the channels.
struct PoolLayout {
  int64_t batch = 0, plane = 0, row = 0, col = 0, channel = 0;
};

struct PoolGeometry {
  DataFormat format = DataFormat::kNHWC;
  int64_t batch = 0, channels = 0;
  // Plane, row, column; plane is 1 for two-dimensional pooling.
  std::array<int64_t, 3> in{}, out{}, window{}, stride{}, pad{};
  // Pooling over channels (max only): the number of channels per window. Every
  // spatial window is then 1.
  int64_t depth_window = 1;
  PoolLayout in_layout, out_layout;
  TensorShape in_shape, out_shape;

  int64_t out_channels() const { return channels / depth_window; }
  bool IsNhwc() const { return format == DataFormat::kNHWC; }
  // The part of the window of output position `o` that lies inside the image.
  void Range(int dim, int64_t o, int64_t* begin, int64_t* end) const {
    const int64_t first = o * stride[dim] - pad[dim];
    *begin = first < 0 ? 0 : first;
    *end = first + window[dim] < in[dim] ? first + window[dim] : in[dim];
  }
  // The output positions whose windows contain input position `i`.
  void Covering(int dim, int64_t i, int64_t* begin, int64_t* end) const {
    const int64_t at = i + pad[dim];
    *begin = at < window[dim] ? 0 : (at - window[dim]) / stride[dim] + 1;
    *end = at / stride[dim] + 1 < out[dim] ? at / stride[dim] + 1 : out[dim];
  }
};

// The attrs ksize, strides, padding and data_format of a pooling node with
// `rank` dims (4 or 5). For the V2 ops, ksize and strides come later from input
// tensors.
struct PoolAttrs {
  int rank = 4;
  std::string op;
  std::vector<int64_t> ksize, strides, explicit_paddings;
  Padding padding = Padding::kValid;
  DataFormat format = DataFormat::kNHWC;

  // Reads and checks the node's attrs, including ksize and strides if the op
  // has them. The rank is the length of data_format: NHWC or NDHWC.
  Status Read(OpKernelConstruction* ctx);
  // Checks ksize and strides.
  Status CheckWindow() const;
  // Reads ksize and strides from the int32 vectors `k` and `s`.
  Status SetWindow(const Tensor& k, const Tensor& s);
  // Computes the geometry for an input of this shape.
  Status Resolve(const TensorShape& input, PoolGeometry* g) const;
};

// NaN and infinities. MaxPool starts from the lowest finite value and skips
// NaN, because comparisons with NaN are false. A window with only -inf or NaN
// therefore gives the lowest finite value. ArgMax starts with the window's
// first element and then takes only greater ones, so a NaN that comes first
// stays. MaxPoolGrad adds the gradient to ArgMax's element.
template <typename T>
struct PoolImplementation {
  const char* name;
  bool (*accepts)(const PoolGeometry& g);
  void (*run)(OpKernelContext* ctx, const PoolGeometry& g, const T* in, T* out);
};

// Gradients. `in` is the input of the forward op (null for average), and `grad`
// has the shape of its output. `in_grad` has the input's shape and is
// overwritten.
template <typename T>
struct PoolGradImplementation {
  const char* name;
  bool (*accepts)(const PoolGeometry& g);
  void (*run)(OpKernelContext* ctx, const PoolGeometry& g, const T* in,
              const T* grad, T* in_grad);
};

// For every real number type (max), and for half, bfloat16, float and double
// (average). Defined in max_pooling.cc and avg_pooling.cc.
template <typename T>
absl::Span<const PoolImplementation<T>> MaxPoolImplementations();
template <typename T>
absl::Span<const PoolImplementation<T>> AvgPoolImplementations();
template <typename T>
absl::Span<const PoolGradImplementation<T>> MaxPoolGradImplementations();
template <typename T>
absl::Span<const PoolGradImplementation<T>> AvgPoolGradImplementations();

// The first implementation in the list that accepts g. The last one always
// does.
template <typename Impl>
const Impl& ChoosePool(absl::Span<const Impl> list, const PoolGeometry& g) {
  for (const Impl& impl : list) {
    if (impl.accepts(g)) return impl;
  }
  return list.back();
}

// The cost in ns of one output position of one channel, for ParallelFor.
inline double PoolCost(const PoolGeometry& g, double per_element) {
  return per_element * static_cast<double>(g.window[0]) *
         static_cast<double>(g.window[1]) * static_cast<double>(g.window[2]);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_POOLING_H_
