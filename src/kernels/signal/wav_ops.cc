// DecodeWav and EncodeWav. A file with fewer channels than wanted repeats its
// last one, a file with fewer samples is followed by silence.
#include <algorithm>
#include <string>

#include "headrace/op_kernel.h"
#include "io/wav.h"

namespace headrace {
namespace {

class DecodeWavOp : public OpKernel {
 public:
  explicit DecodeWavOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("desired_channels", &channels_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("desired_samples", &samples_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& contents = ctx->input(0);
    OP_REQUIRES(ctx, contents.dims() == 0,
                errors::InvalidArgument("contents must be scalar, got shape ",
                                        contents.shape().DebugString()));
    WavView wav;
    OP_REQUIRES_OK(ctx, ParseWav(contents.scalar<tstring>(), &wav));
    const int64_t channels = channels_ < 0 ? wav.channels : channels_;
    const int64_t samples = samples_ < 0 ? wav.samples : samples_;
    Tensor* audio = nullptr;
    Tensor* rate = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, TensorShape({samples, channels}), &audio));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, TensorShape(), &rate));
    rate->scalar<int32_t>() = wav.sample_rate;
    float* out = audio->data<float>();
    for (int64_t s = 0; s < std::min(samples, wav.samples); ++s) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t from = std::min<int64_t>(c, wav.channels - 1);
        *out++ = wav.at(s, static_cast<int>(from));
      }
    }
    std::fill(out, audio->data<float>() + audio->NumElements(), 0.0f);
  }

 private:
  int64_t channels_, samples_;
};

class EncodeWavOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &audio = ctx->input(0), &rate = ctx->input(1);
    OP_REQUIRES(
        ctx, audio.dims() == 2,
        errors::InvalidArgument("audio must be 2-dimensional, got shape ",
                                audio.shape().DebugString()));
    OP_REQUIRES(ctx, rate.dims() == 0,
                errors::InvalidArgument(
                    "Input sample_rate should be a scalar, got shape ",
                    rate.shape().DebugString()));
    std::string bytes;
    OP_REQUIRES_OK(
        ctx, EncodeWav(audio.data<float>(), audio.dim_size(0),
                       audio.dim_size(1), rate.scalar<int32_t>(), &bytes));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &out));
    out->scalar<tstring>() = bytes;
  }
};

REGISTER_KERNEL_BUILDER(Name("DecodeWav").Device(DEVICE_CPU), DecodeWavOp);
REGISTER_KERNEL_BUILDER(Name("EncodeWav").Device(DEVICE_CPU), EncodeWavOp);

}  // namespace
}  // namespace headrace
