// ConvBands: a sequence of convolutions, computed band of rows by band of rows,
// so that the images between them stay in the cache. The sequence is [1x1],
// depthwise 3x3, 1x1, as in networks for small devices. The result has the bits
// that Pointwise and Depthwise3x3 (conv_lists.h) give one after the other.
#ifndef HEADRACE_KERNELS_CONV_CONV_BANDS_H_
#define HEADRACE_KERNELS_CONV_CONV_BANDS_H_

#include "absl/types/span.h"
#include "kernels/conv/conv_impl.h"

namespace headrace {

// One convolution of the sequence. The filter of a 1x1 is the form that
// Pointwise prepares.
struct BandStage {
  const ConvParams* params = nullptr;
  const void* filter = nullptr;
  Epilogue epilogue;
};

// Constant, hence thread-safe.
class ConvBands {
 public:
  // `threads`: of the pool of Run.
  ConvBands(absl::Span<const ConvParams> params, int threads,
            const CpuFeatures& cpu = HostCpu());

  // True if the convolutions can be computed in bands and that pays. Does not
  // depend on the number of threads. The other functions need it.
  bool fits() const { return rows_ > 0; }
  int64_t WorkspaceBytes() const;
  // Only the last epilogue may have an addend. Activations are Relu and Relu6
  // alone. `workspace` is WorkspaceBytes, aligned to 64.
  void Run(ThreadPool* pool, absl::Span<const BandStage> stages,
           const float* in, float* out, void* workspace) const;

 private:
  struct Sizes {  // of the buffers of a thread, in floats
    int64_t expanded, filtered;
    int64_t bytes() const;
  };
  Sizes SizesFor(int64_t rows) const;

  ConvParams expand_, depthwise_;
  bool expands_ = false;
  int threads_ = 1;
  int64_t rows_ = 0;  // of the depthwise convolution's result, in a band
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_CONV_BANDS_H_
