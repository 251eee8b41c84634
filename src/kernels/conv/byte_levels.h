// ByteLevels: what pass quantize_layers found out about the numbers of a
// convolution: image and filter are results of fake quantisation, so each
// number is a step, and products of steps are products of bytes.
#ifndef HEADRACE_KERNELS_CONV_BYTE_LEVELS_H_
#define HEADRACE_KERNELS_CONV_BYTE_LEVELS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/fake_quant.h"

namespace headrace {

// Constant, hence thread-safe.
class ByteLevels {
 public:
  // value = (code - zero) * range.scale, code = 0 ... last.
  struct Steps {
    FakeQuantRange range;
    int32_t zero, last;
  };

  // Of a kernel's node. Null if the pass has not marked it, or if steps are not
  // bytes.
  static std::optional<ByteLevels> Of(const OpKernelConstruction& ctx);
  // The same of the attr's value:
  //   lowest and highest level, min and max of the image;
  //   lowest and highest level of the filter; its min and max, once or for each
  //   output channel
  static std::optional<ByteLevels> Of(const std::vector<float>& attr);

  const Steps& image() const { return image_; }
  const Steps& filter(int64_t channel) const {
    return filter_[filter_.size() == 1 ? 0 : channel];
  }
  // The filter has levels for so many output channels.
  bool Fits(int64_t channels) const {
    return filter_.size() == 1 ||
           static_cast<int64_t>(filter_.size()) == channels;
  }
  // Appends what the form of a filter depends on.
  void AppendFilterTo(std::vector<int64_t>* key) const;

 private:
  explicit ByteLevels(const Steps& image) : image_(image) {}

  Steps image_;
  std::vector<Steps> filter_;  // one, or one for each output channel
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_BYTE_LEVELS_H_
