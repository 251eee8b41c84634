// Audio: WAV files, spectrograms and the features made of them.
#include <bit>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

REGISTER_OP("DecodeWav")
    .Input("contents: string")
    .Output("audio: float")
    .Output("sample_rate: int32")
    .Attr("desired_channels: int = -1")
    .Attr("desired_samples: int = -1")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape unused;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
      int64_t wanted[2];  // samples, channels
      HR_RETURN_IF_ERROR(c->GetAttr("desired_samples", &wanted[0]));
      HR_RETURN_IF_ERROR(c->GetAttr("desired_channels", &wanted[1]));
      for (int64_t n : wanted) {
        if (n < -1) {
          return errors::InvalidArgument(
              "desired_channels and desired_samples must be non-negative, or "
              "-1 for what the file has; got ",
              n);
        }
      }
      c->set_output(0, InferenceContext::Matrix(wanted[0], wanted[1]));
      c->set_output(1, InferenceContext::Scalar());
      return OkStatus();
    });

REGISTER_OP("EncodeWav")
    .Input("audio: float")
    .Input("sample_rate: int32")
    .Output("contents: string")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape unused;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &unused));
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      c->set_output(0, InferenceContext::Scalar());
      return OkStatus();
    });

REGISTER_OP("AudioSpectrogram")
    .Input("input: float")
    .Output("spectrogram: float")
    .Attr("window_size: int")
    .Attr("stride: int")
    .Attr("magnitude_squared: bool = false")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape in;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &in));
      int64_t window, stride;
      HR_RETURN_IF_ERROR(c->GetAttr("window_size", &window));
      HR_RETURN_IF_ERROR(c->GetAttr("stride", &stride));
      if (window < 2 || window > (int64_t{1} << 30)) {
        return errors::InvalidArgument(
            "AudioSpectrogram: window_size must be in [2, 2^30], got ", window);
      }
      if (stride < 1) {
        return errors::InvalidArgument(
            "AudioSpectrogram: stride must be positive, got ", stride);
      }
      const int64_t samples = in.dim_size(0);
      const int64_t frames = samples < 0 ? -1
                             : samples < window
                                 ? 0
                                 : 1 + (samples - window) / stride;
      const auto bins = static_cast<int64_t>(
          1 + std::bit_ceil(static_cast<uint64_t>(window)) / 2);
      c->set_output(0, Shape({in.dim_size(1), frames, bins}));
      return OkStatus();
    });

REGISTER_OP("Mfcc")
    .Input("spectrogram: float")
    .Input("sample_rate: int32")
    .Output("output: float")
    .Attr("upper_frequency_limit: float = 4000")
    .Attr("lower_frequency_limit: float = 20")
    .Attr("filterbank_channel_count: int = 40")
    .Attr("dct_coefficient_count: int = 13")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape in, unused;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 3, &in));
      HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &unused));
      int64_t coefficients;
      HR_RETURN_IF_ERROR(c->GetAttr("dct_coefficient_count", &coefficients));
      if (coefficients < 1) {
        return errors::InvalidArgument(
            "Mfcc: dct_coefficient_count must be positive, got ", coefficients);
      }
      c->set_output(0, Shape({in.dim_size(0), in.dim_size(1), coefficients}));
      return OkStatus();
    });

}  // namespace
}  // namespace headrace
