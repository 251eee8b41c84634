// Mfcc: the cosine transform of the logarithms of a spectrum's energy in bands
// that are equally wide on the mel scale. The input is the *squared* magnitude;
// its root is what the bands sum up. Everything is computed in double.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

constexpr double kFloor = 1e-12;  // of a band, before the logarithm
// Of filter bands and of entries of the cosine table: far beyond any use, and
// small enough to be allocated.
constexpr int64_t kMaxBands = int64_t{1} << 20;
constexpr int64_t kMaxCosines = int64_t{1} << 26;

double FrequencyToMel(double hz) { return 1127.0 * std::log1p(hz / 700.0); }

// Bands are triangles that overlap: the weight of a bin falls from 1 at the
// centre of its band to 0 at the next one's, and the next band gets the rest.
struct FilterBank {
  int64_t first, last;         // the bins that count, inclusive
  bool beyond = false;         // the upper limit is: no bin counts
  std::vector<int64_t> band;   // of bin first + i; -1 below the first centre
  std::vector<double> weight;  // of bin first + i in its own band

  FilterBank(int64_t bins, int64_t bands, double rate, double lower,
             double upper) {
    const double low = FrequencyToMel(lower);
    const double spacing = (FrequencyToMel(upper) - low) / (bands + 1);
    auto centre = [&](int64_t i) { return low + spacing * (i + 1); };
    const double hz_per_bin = 0.5 * rate / static_cast<double>(bins - 1);
    const double end = upper / hz_per_bin;
    beyond = end >= static_cast<double>(bins);
    first = static_cast<int64_t>(
        std::min<double>(1.5 + lower / hz_per_bin, static_cast<double>(bins)));
    last = beyond ? -1 : static_cast<int64_t>(end);
    int64_t b = 0;
    for (int64_t i = first; i <= last; ++i) {
      const double mel = FrequencyToMel(i * hz_per_bin);
      while (b < bands && centre(b) < mel) ++b;
      band.push_back(b - 1);
      weight.push_back(b > 0 ? (centre(b) - mel) / (centre(b) - centre(b - 1))
                             : (centre(0) - mel) / (centre(0) - low));
    }
  }

  void Apply(const float* power, std::vector<double>* out) const {
    std::fill(out->begin(), out->end(), 0.0);
    const auto bands = static_cast<int64_t>(out->size());
    for (int64_t i = first; i <= last; ++i) {
      const double value = std::sqrt(static_cast<double>(power[i]));
      const double own = value * weight[i - first];
      const int64_t b = band[i - first];
      if (b >= 0) (*out)[b] += own;
      if (b + 1 < bands) (*out)[b + 1] += value - own;
    }
  }
};

class MfccOp : public OpKernel {
 public:
  explicit MfccOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("upper_frequency_limit", &upper_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("lower_frequency_limit", &lower_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("filterbank_channel_count", &bands_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dct_coefficient_count", &coefficients_));
    OP_REQUIRES(
        ctx, std::isfinite(upper_) && lower_ >= 0 && lower_ < upper_,
        errors::InvalidArgument("Mfcc: wanted 0 <= lower_frequency_limit < "
                                "upper_frequency_limit, got ",
                                lower_, " and ", upper_));
    OP_REQUIRES(
        ctx,
        coefficients_ >= 1 && coefficients_ <= bands_ && bands_ <= kMaxBands &&
            coefficients_ * bands_ <= kMaxCosines,
        errors::InvalidArgument("Mfcc: wanted 1 <= dct_coefficient_count <= "
                                "filterbank_channel_count <= ",
                                kMaxBands, " with a product of at most ",
                                kMaxCosines, ", got ", coefficients_, " and ",
                                bands_));
    const double norm = std::sqrt(2.0 / static_cast<double>(bands_));
    const double arg = std::numbers::pi / static_cast<double>(bands_);
    for (int64_t i = 0; i < coefficients_; ++i) {
      for (int64_t j = 0; j < bands_; ++j) {
        cosines_.push_back(norm * std::cos(i * arg * (j + 0.5)));
      }
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &rate = ctx->input(1);
    OP_REQUIRES(
        ctx, in.dims() == 3,
        errors::InvalidArgument("spectrogram must be 3-dimensional, got ",
                                in.shape().DebugString()));
    OP_REQUIRES(
        ctx, rate.dims() == 0 && rate.scalar<int32_t>() > 0,
        errors::InvalidArgument("sample_rate must be a positive scalar, got ",
                                rate.DebugString()));
    const int64_t bins = in.dim_size(2);
    OP_REQUIRES(ctx, bins >= 2,
                errors::InvalidArgument(
                    "Mfcc: a spectrogram of at least 2 frequencies is wanted, "
                    "got ",
                    in.shape().DebugString()));
    const int64_t frames = in.shape().ProductOf(0, 2);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx,
        ctx->allocate_output(
            0, TensorShape({in.dim_size(0), in.dim_size(1), coefficients_}),
            &out));
    if (frames == 0) return;
    const FilterBank bank(bins, bands_, rate.scalar<int32_t>(), lower_, upper_);
    if (bank.beyond) {  // as in TensorFlow: not even the logarithm of the floor
      std::fill_n(out->data<float>(), out->NumElements(), 0.0f);
      return;
    }
    const double cost = 2.0 * bins + 20.0 * bands_ + coefficients_ * bands_;
    ctx->ParallelFor(frames, cost, [&](int64_t begin, int64_t end) {
      std::vector<double> bands(bands_);
      for (int64_t f = begin; f < end; ++f) {
        bank.Apply(in.data<float>() + f * bins, &bands);
        for (double& v : bands) v = std::log(std::max(v, kFloor));
        const double* cosine = cosines_.data();
        for (int64_t i = 0; i < coefficients_; ++i) {
          double sum = 0;
          for (double v : bands) sum += *cosine++ * v;
          out->data<float>()[f * coefficients_ + i] = static_cast<float>(sum);
        }
      }
    });
  }

 private:
  float upper_, lower_;
  int64_t bands_, coefficients_;
  std::vector<double> cosines_;
};

REGISTER_KERNEL_BUILDER(Name("Mfcc").Device(DEVICE_CPU), MfccOp);

}  // namespace
}  // namespace headrace
