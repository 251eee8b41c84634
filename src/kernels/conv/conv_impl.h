// The ways to compute a convolution. Each is a ConvImplementation that says
// what it accepts and what it would cost; ChooseConv takes the cheapest. To add
// an algorithm: one file with a subclass, one line in the list of conv_impl.cc.
//
// Implementations see NHWC data of type float, double or (forward and backward
// input) int32, with at least one element in every tensor; RunConv
// (conv_plan.h) brings everything else into that form: NCHW, half and bfloat16,
// empty tensors. Filters are [spatial dims, in channels / groups, out
// channels]. A depthwise convolution is one with as many groups as input
// channels.
#ifndef HEADRACE_KERNELS_CONV_CONV_IMPL_H_
#define HEADRACE_KERNELS_CONV_CONV_IMPL_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/cpu.h"
#include "base/thread_pool.h"
#include "framework/shape_fns/conv_attrs.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/epilogue.h"

namespace headrace {

class ByteLevels;  // byte_levels.h

enum class ConvDirection { kForward, kBackwardInput, kBackwardFilter };

// Everything that decides how a convolution is computed, and nothing else.
// Sizes are in pixels, channels and elements.
struct ConvParams : ConvSizes {
  DataType dtype = DT_FLOAT;
  DataFormat format = DataFormat::kNHWC;
  // The filter is the same in every call: its prepared form is kept.
  bool constant_filter = false;
  // Factors may be rounded to bfloat16, and are where an implementation does
  // so. Forward float only.
  bool bfloat16_products = false;
  // The steps of which image and filter are; null if they may be any numbers.
  // Forward float only.
  const ByteLevels* byte_levels = nullptr;

  int64_t taps() const { return filter[0] * filter[1] * filter[2]; }
  int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
  int64_t in_elements() const { return batch * in_pixels() * in_channels; }
  int64_t out_elements() const { return batch * out_pixels() * out_channels; }
  int64_t filter_elements() const { return taps() * group_in() * out_channels; }
  // Multiplications and additions of the plain algorithm, padding included.
  double flops() const {
    return 2.0 * batch * out_pixels() * out_channels * taps() * group_in();
  }
  // 1x1, neither strides nor padding: a matrix product over pixels.
  bool IsPointwise() const;
  // One output pixel that sees the whole input: a matrix product over images.
  bool FilterIsInput() const;
  bool operator==(const ConvParams&) const = default;
};

// The block of all channels of `count` rows of output pixels from row `first`
// on. Rows are numbered through all depths and images.
inline EpilogueBlock OutputRows(const ConvParams& p, int64_t first,
                                int64_t count = 1) {
  return {.row = first * p.out[2],
          .rows = count * p.out[2],
          .channels = p.out_channels,
          .row_size = p.out_channels};
}

// Calls use(line, z, y) for each row of the filter's `line` whose row of the
// image, row `y` of depth `z`, lies inside, for output row `oy` of depth `oz`.
// Lines are numbered through the filter's depths.
template <typename Use>
void ForEachImageRow(const ConvParams& p, int64_t oz, int64_t oy,
                     const Use& use) {
  for (int64_t line = 0; line < p.filter[0] * p.filter[1]; ++line) {
    const int64_t z =
        oz * p.stride[0] - p.pad_before[0] + line / p.filter[1] * p.dilation[0];
    const int64_t y =
        oy * p.stride[1] - p.pad_before[1] + line % p.filter[1] * p.dilation[1];
    if (z >= 0 && z < p.in[0] && y >= 0 && y < p.in[1]) use(line, z, y);
  }
}

// What an implementation works on: two tensors are read, one is written whole.
//   forward:          input, filter        -> result, the output
//   backward input:   filter, out_backprop -> result, the input's gradient
//   backward filter:  input, out_backprop  -> result, the filter's gradient
// Pointers are aligned to 64 bytes, except a filter that may be unaligned
// (TakesUnalignedFilter) and tensors of a few bytes, aligned to 16.
struct ConvArgs {
  ThreadPool* pool = nullptr;
  const ConvParams* params = nullptr;
  const void* input = nullptr;
  const void* filter = nullptr;
  const void* out_backprop = nullptr;
  // What PrepareFilter made of the filter, where PreparedFilterBytes is not 0;
  // `filter` may then be null.
  const void* prepared_filter = nullptr;
  void* result = nullptr;
  // Forward only, and empty for implementations that do not apply it.
  Epilogue epilogue;
  void* workspace = nullptr;  // WorkspaceBytes, aligned to 64
};

// Constant, hence thread-safe. Results do not depend on the number of threads.
class ConvImplementation {
 public:
  virtual ~ConvImplementation() = default;
  virtual const char* Name() const = 0;
  virtual bool Accepts(const ConvParams& p, const CpuFeatures& cpu) const = 0;
  // Estimated nanoseconds on one core. Only the comparison with the other
  // implementations counts. A pure function.
  virtual double EstimateNs(const ConvParams& p,
                            const CpuFeatures& cpu) const = 0;
  // Bytes of scratch memory that Run needs with this many threads.
  virtual int64_t WorkspaceBytes(const ConvParams& p, int threads) const {
    return 0;
  }
  // What Run takes from CpuAllocator() itself at most, beside the workspace. It
  // does without if there is no memory.
  virtual int64_t HeapBytes(const ConvParams& p) const { return 0; }
  // Bytes of the form that Run reads in place of the filter; 0: Run reads the
  // filter itself. The form depends on the type, the filter's sizes, the
  // groups and the strides alone, so that it serves images of every size.
  virtual int64_t PreparedFilterBytes(const ConvParams& p) const { return 0; }
  virtual void PrepareFilter(ThreadPool* pool, const ConvParams& p,
                             const void* filter, void* prepared) const {}
  // True if `filter` may lie at any address: for PrepareFilter, or for Run
  // where there is no form.
  virtual bool TakesUnalignedFilter(const ConvParams& p) const { return false; }
  // True if Run applies ConvArgs::epilogue; otherwise RunConv does so
  // afterwards.
  virtual bool AppliesEpilogue() const { return false; }
  virtual void Run(const ConvArgs& args) const = 0;
};

// All implementations of a direction; of equal cost the earlier one is taken.
absl::Span<const ConvImplementation* const> ConvImplementations(
    ConvDirection direction);

// What ChooseConv compares: EstimateNs plus, if the filter is constant, a
// penalty for the bytes that its form takes beyond the filter's own.
double ConvCostNs(const ConvImplementation& i, const ConvParams& p,
                  const CpuFeatures& cpu);

// Never null for NHWC float, double and int32 (backward filter: not int32).
const ConvImplementation* ChooseConv(ConvDirection direction,
                                     const ConvParams& p,
                                     const CpuFeatures& cpu = HostCpu());

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_CONV_IMPL_H_
