// What summaries are made of: each adds one value, or one for each image or
// clip, to a Summary message.
#ifndef HEADRACE_KERNELS_IO_SUMMARY_VALUES_H_
#define HEADRACE_KERNELS_IO_SUMMARY_VALUES_H_

#include <cstdint>
#include <string>

#include "headrace/op_kernel.h"
#include "headrace/summary.pb.h"

namespace headrace {

// The element `i` of a tensor of real numbers, or booleans.
void AddScalarSummary(const std::string& tag, const Tensor& values, int64_t i,
                      pb::Summary* summary);
// How many elements lie where. InvalidArgument, naming the node, for what is
// not finite.
Status AddHistogramSummary(const std::string& tag, const Tensor& values,
                           const std::string& node, pb::Summary* summary);
// The first `max_images` of [batch, height, width, channels] as PNGs.
Status AddImageSummary(OpKernelContext* ctx, const std::string& tag,
                       const Tensor& images, int64_t max_images,
                       const Tensor& bad_color, pb::Summary* summary);
// The first `max_outputs` of [batch, frames] or [batch, frames, channels] as
// WAVs.
Status AddAudioSummary(const std::string& tag, const Tensor& audio, float rate,
                       int64_t max_outputs, pb::Summary* summary);
// A whole tensor. `metadata` is a serialised SummaryMetadata message.
Status AddTensorSummary(const std::string& tag, const Tensor& tensor,
                        const tstring& metadata, pb::Summary* summary);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IO_SUMMARY_VALUES_H_
