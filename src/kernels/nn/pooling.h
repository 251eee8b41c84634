// Pooling: max and average over windows, and their gradients, in two and three
// spatial dimensions.
//
// A PoolGeometry is a pooling op worked out for one input shape: two
// dimensions are three with the first one of size 1, and layouts are element
// strides, so one loop serves them all. Every op has an ordered list of
// implementations; the first one that accepts the geometry runs. The last is
// the reference, a plain loop for any layout and type; the others must agree
// with it, and pooling_test.cc runs each on one table of cases.
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

// Strides in elements of batch, the three spatial dims, and channels.
struct PoolLayout {
  int64_t batch = 0, plane = 0, row = 0, col = 0, channel = 0;
};

struct PoolGeometry {
  DataFormat format = DataFormat::kNHWC;
  int64_t batch = 0, channels = 0;
  // Plane, row, column; plane is 1 for two-dimensional pooling.
  std::array<int64_t, 3> in{}, out{}, window{}, stride{}, pad{};
  // Pooling over channels (max only): as many channels fall into one window.
  // Then every spatial window is 1.
  int64_t depth_window = 1;
  PoolLayout in_layout, out_layout;
  TensorShape in_shape, out_shape;

  int64_t out_channels() const { return channels / depth_window; }
  bool IsNhwc() const { return format == DataFormat::kNHWC; }
  // The part of the window of output position `o` that lies in the image.
  void Range(int dim, int64_t o, int64_t* begin, int64_t* end) const {
    const int64_t first = o * stride[dim] - pad[dim];
    *begin = first < 0 ? 0 : first;
    *end = first + window[dim] < in[dim] ? first + window[dim] : in[dim];
  }
  // The output positions whose windows see input position `i`.
  void Covering(int dim, int64_t i, int64_t* begin, int64_t* end) const {
    const int64_t at = i + pad[dim];
    *begin = at < window[dim] ? 0 : (at - window[dim]) / stride[dim] + 1;
    *end = at / stride[dim] + 1 < out[dim] ? at / stride[dim] + 1 : out[dim];
  }
};

// ksize, strides, padding and data_format of a pooling node of `rank` dims (4
// or 5). For the V2 ops ksize and strides come later, from input tensors.
struct PoolAttrs {
  int rank = 4;
  std::string op;
  std::vector<int64_t> ksize, strides, explicit_paddings;
  Padding padding = Padding::kValid;
  DataFormat format = DataFormat::kNHWC;

  // Reads and checks the node's attrs; ksize and strides only if they are
  // there. The rank is the length of data_format: NHWC or NDHWC.
  Status Read(OpKernelConstruction* ctx);
  // Checks ksize and strides.
  Status CheckWindow() const;
  // Takes ksize and strides from the int32 vectors `k` and `s`.
  Status SetWindow(const Tensor& k, const Tensor& s);
  // The pooling of an input of this shape.
  Status Resolve(const TensorShape& input, PoolGeometry* g) const;
};

// MaxPool starts from the lowest finite value and a comparison with NaN is
// false, so NaN is skipped and a window of nothing but -inf or NaN gives the
// lowest finite value. ArgMax takes the window's first element whatever it is,
// then only what is greater: NaN stays if it comes first. MaxPoolGrad sends the
// gradient to ArgMax's element.
template <typename T>
struct PoolImplementation {
  const char* name;
  bool (*accepts)(const PoolGeometry& g);
  void (*run)(OpKernelContext* ctx, const PoolGeometry& g, const T* in, T* out);
};

// Gradients: `in` is the forward op's input (null for average), `grad` has the
// output's shape; `in_grad`, of the input's shape, is overwritten.
template <typename T>
struct PoolGradImplementation {
  const char* name;
  bool (*accepts)(const PoolGeometry& g);
  void (*run)(OpKernelContext* ctx, const PoolGeometry& g, const T* in,
              const T* grad, T* in_grad);
};

// Defined for every real number type (max) and half, bfloat16, float and double
// (average), in max_pooling.cc and avg_pooling.cc.
template <typename T>
absl::Span<const PoolImplementation<T>> MaxPoolImplementations();
template <typename T>
absl::Span<const PoolImplementation<T>> AvgPoolImplementations();
template <typename T>
absl::Span<const PoolGradImplementation<T>> MaxPoolGradImplementations();
template <typename T>
absl::Span<const PoolGradImplementation<T>> AvgPoolGradImplementations();

// The first of a list that accepts g; the last one always does.
template <typename Impl>
const Impl& ChoosePool(absl::Span<const Impl> list, const PoolGeometry& g) {
  for (const Impl& impl : list) {
    if (impl.accepts(g)) return impl;
  }
  return list.back();
}

// ns for one output position of one channel, for ParallelFor.
inline double PoolCost(const PoolGeometry& g, double per_element) {
  return per_element * static_cast<double>(g.window[0]) *
         static_cast<double>(g.window[1]) * static_cast<double>(g.window[2]);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_POOLING_H_
