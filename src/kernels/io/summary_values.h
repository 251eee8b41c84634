// The parts of summaries. Each function adds one value, or one per image or
// clip, to a Summary message.
#ifndef HEADRACE_KERNELS_IO_SUMMARY_VALUES_H_
#define HEADRACE_KERNELS_IO_SUMMARY_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "headrace/summary.pb.h"

namespace headrace {

// Adds element `i` of a tensor of real numbers or bools.
void AddScalarSummary(const std::string& tag, const Tensor& values, int64_t i,
                      pb::Summary* summary);
// A histogram that grows with each value.
class SummaryHistogram {
 public:
  SummaryHistogram();
  // `x` is finite.
  void Add(double x);
  void AddTo(const std::string& tag, pb::Summary* summary) const;

 private:
  std::vector<double> buckets_;
  double min_, max_;
  double num_ = 0, sum_ = 0, squares_ = 0;
};
// Adds a histogram of the elements. InvalidArgument, with the node, for a value
// that is not finite.
Status AddHistogramSummary(const std::string& tag, const Tensor& values,
                           const std::string& node, pb::Summary* summary);
// Adds the first `max_images` of [batch, height, width, channels] as PNGs.
Status AddImageSummary(OpKernelContext* ctx, const std::string& tag,
                       const Tensor& images, int64_t max_images,
                       const Tensor& bad_color, pb::Summary* summary);
// Adds the first `max_outputs` of [batch, frames] or [batch, frames, channels]
// as WAVs. `rate` is in samples per second.
Status AddAudioSummary(const std::string& tag, const Tensor& audio, float rate,
                       int64_t max_outputs, pb::Summary* summary);
// Adds a whole tensor. `metadata` is a serialised SummaryMetadata message.
Status AddTensorSummary(const std::string& tag, const Tensor& tensor,
                        const tstring& metadata, pb::Summary* summary);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IO_SUMMARY_VALUES_H_
