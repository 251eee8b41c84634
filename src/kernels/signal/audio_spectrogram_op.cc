// AudioSpectrogram: the magnitude of each window of `window_size` samples,
// every `stride` samples, in the frequencies up to half the sample rate:
// [samples, channels] -> [channels, frames, 1 + n / 2] with n the next power of
// two. The Hann window is the periodic one: its last value is not its first.
#include <bit>
#include <cmath>
#include <numbers>

#include "headrace/op_kernel.h"
#include "kernels/signal/fft.h"

namespace headrace {
namespace {

// The transform of `n` real numbers is one of n/2 complex ones: even samples
// are the real parts, odd ones the imaginary, and a last pass takes the two
// interleaved spectra apart.
class RealFft {
 public:
  using Complex = FftPlan::Complex;
  explicit RealFft(int64_t n) : half_(n / 2), plan_(n / 2), twiddle_(n / 2) {
    for (int64_t k = 0; k < half_; ++k) {
      twiddle_[k] = std::polar(1.0, -std::numbers::pi * k / half_);
    }
  }
  // `x` holds n/2 numbers; power[k], k <= n/2, is |X[k]|^2.
  void Power(Complex* x, std::vector<Complex>* scratch, float* power) const {
    plan_.Transform(false, x, scratch);
    for (int64_t k = 0; k <= half_; ++k) {
      const Complex a = x[k % half_], b = std::conj(x[(half_ - k) % half_]);
      const Complex even = 0.5 * (a + b), odd = 0.5 * (a - b);
      const Complex w = k == half_ ? Complex(-1) : twiddle_[k];
      // X[k] = even - i w odd
      const double re =
          even.real() + w.real() * odd.imag() + w.imag() * odd.real();
      const double im =
          even.imag() + w.imag() * odd.imag() - w.real() * odd.real();
      power[k] = static_cast<float>(re * re + im * im);
    }
  }

 private:
  int64_t half_;
  FftPlan plan_;
  std::vector<Complex> twiddle_;
};

class AudioSpectrogramOp : public OpKernel {
 public:
  explicit AudioSpectrogramOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("window_size", &window_size_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("stride", &stride_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("magnitude_squared", &squared_));
    OP_REQUIRES(
        ctx,
        window_size_ >= 2 && window_size_ <= (int64_t{1} << 30) && stride_ >= 1,
        errors::InvalidArgument(
            "AudioSpectrogram: window_size must be in [2, 2^30] and "
            "stride positive, got ",
            window_size_, " and ", stride_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 2,
                errors::InvalidArgument("input must be 2-dimensional, got ",
                                        in.shape().DebugString()));
    const int64_t samples = in.dim_size(0), channels = in.dim_size(1);
    const int64_t frames =
        samples < window_size_ ? 0 : 1 + (samples - window_size_) / stride_;
    const auto n = static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>(window_size_)));
    const int64_t bins = 1 + n / 2;
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, TensorShape({channels, frames, bins}), &out));
    if (out->NumElements() == 0) return;
    // Not larger than the input, so neither are the tables.
    std::vector<double> window(window_size_);
    for (int64_t i = 0; i < window_size_; ++i) {
      window[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / window_size_);
    }
    const RealFft fft(n);
    const float* x = in.data<float>();
    ctx->ParallelFor(channels * frames, 10.0 * n,
                     [&](int64_t begin, int64_t end) {
                       std::vector<FftPlan::Complex> frame(n / 2), scratch;
                       for (int64_t f = begin; f < end; ++f) {
                         const float* from =
                             x + (f % frames) * stride_ * channels + f / frames;
                         std::fill(frame.begin(), frame.end(), 0);
                         auto* flat = reinterpret_cast<double*>(frame.data());
                         for (int64_t i = 0; i < window_size_; ++i) {
                           flat[i] = from[i * channels] * window[i];
                         }
                         float* power = out->data<float>() + f * bins;
                         fft.Power(frame.data(), &scratch, power);
                         if (squared_) continue;
                         for (int64_t k = 0; k < bins; ++k)
                           power[k] = std::sqrt(power[k]);
                       }
                     });
  }

 private:
  int64_t window_size_, stride_;
  bool squared_;
};

REGISTER_KERNEL_BUILDER(Name("AudioSpectrogram").Device(DEVICE_CPU),
                        AudioSpectrogramOp);

}  // namespace
}  // namespace headrace
