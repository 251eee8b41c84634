// RequantizePerChannel and RequantizationRangePerChannel: sums in 32 bits of
// which every channel, the last dimension, has a range of its own. Ranges lie
// evenly around 0: the end that is further away counts, and 0 stays 0.
#include <vector>

#include "kernels/lib/quantized_math.h"

namespace headrace {
namespace {

constexpr float kSumSteps = 2147483648.0f;

// What the largest sum stands for, by channel: inputs 1 and 2. One end may
// stand for all channels where `single` says so.
Status ChannelReaches(const OpKernelContext& ctx, bool single,
                      std::vector<float>* reaches) {
  const Tensor& in = ctx.input(0);
  if (in.dims() != 4) {
    return errors::InvalidArgument("input must be 4-dimensional, got shape ",
                                   in.shape().DebugString());
  }
  const int64_t depth = in.dim_size(3);
  for (const int i : {1, 2}) {
    const Tensor& t = ctx.input(i);
    const int64_t n = t.NumElements();
    if (t.dims() > 1 || (n != depth && !(single && n == 1)) ||
        n != ctx.input(1).NumElements()) {
      return errors::InvalidArgument(i == 1 ? "input_min" : "input_max",
                                     " has incorrect size, expected ", depth,
                                     " got shape ", t.shape().DebugString());
    }
  }
  const float* const low = ctx.input(1).data<float>();
  const float* const high = ctx.input(2).data<float>();
  for (int64_t c = 0; c < ctx.input(1).NumElements(); ++c) {
    if (!std::isfinite(low[c]) || !std::isfinite(high[c])) {
      return errors::InvalidArgument("the range of channel ", c,
                                     " must be finite, got [", low[c], ", ",
                                     high[c], "]");
    }
    reaches->push_back(std::max(std::abs(low[c]), std::abs(high[c])));
  }
  return OkStatus();
}

template <typename Q>
class RequantizePerChannelOp : public OpKernel {
  using T = typename StoredInteger<Q>::Type;
  static constexpr float kLow = std::numeric_limits<T>::min();
  static constexpr float kHigh = std::numeric_limits<T>::max();

 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    std::vector<float> factors;
    OP_REQUIRES_OK(ctx, ChannelReaches(*ctx, /*single=*/true, &factors));
    FloatRange wanted;
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 3, &wanted));
    const float reach = std::max(std::abs(wanted.min), std::abs(wanted.max));
    OP_REQUIRES(ctx, reach > 0,
                errors::InvalidArgument(
                    "requested_output_min and requested_output_max must not "
                    "both be 0"));
    OP_REQUIRES(
        ctx, kLow == 0 || wanted.min < 0,
        errors::InvalidArgument("for out_type qint8 requested_output_min must "
                                "be negative, got ",
                                wanted.min));
    for (float& f : factors) f = kHigh * (f / reach / kSumSteps);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    const int32_t* const x = static_cast<const int32_t*>(in.raw_data());
    T* const y = static_cast<T*>(out->raw_data());
    const int64_t n = static_cast<int64_t>(factors.size());
    ctx->ParallelFor(in.NumElements(), 2, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float v = std::nearbyint(static_cast<float>(x[i]) *
                                       factors[n == 1 ? 0 : i % n]);
        // A factor may be infinite, its product with 0 no number.
        y[i] = static_cast<T>(v > kLow ? std::min(v, kHigh) : kLow);
      }
    });
    SetRangeOutputs(ctx, 1, wanted);
  }
};

class RequantizationRangePerChannelOp : public OpKernel {
 public:
  explicit RequantizationRangePerChannelOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("clip_value_max", &most_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    std::vector<float> reaches;
    OP_REQUIRES_OK(ctx, ChannelReaches(*ctx, /*single=*/false, &reaches));
    OP_REQUIRES(ctx, in.NumElements() > 0,
                errors::InvalidArgument("input must not be empty, got shape ",
                                        in.shape().DebugString()));
    const int64_t depth = static_cast<int64_t>(reaches.size());
    std::vector<int32_t> low(depth), high(depth);
    const int32_t* const x = static_cast<const int32_t*>(in.raw_data());
    bool negative = false;
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const int64_t c = i % depth;
      low[c] = std::min(low[c], x[i]);
      high[c] = std::max(high[c], x[i]);
      negative = negative || x[i] < 0;
    }
    float used = std::numeric_limits<float>::min();  // never an empty range
    for (int64_t c = 0; c < depth; ++c) {
      const float most = std::max(std::abs(static_cast<float>(low[c])),
                                  std::abs(static_cast<float>(high[c])));
      used = std::max(used, reaches[c] * most / kSumSteps);
    }
    used = std::min(used, most_);
    SetRangeOutputs(ctx, 0, {negative ? -used : 0.0f, used});
  }

 private:
  float most_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("RequantizePerChannel")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<qint32>("T")
                            .TypeConstraint<quint8>("out_type"),
                        RequantizePerChannelOp<quint8>);
REGISTER_KERNEL_BUILDER(Name("RequantizePerChannel")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<qint32>("T")
                            .TypeConstraint<qint8>("out_type"),
                        RequantizePerChannelOp<qint8>);
REGISTER_KERNEL_BUILDER(Name("RequantizationRangePerChannel")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<qint32>("T"),
                        RequantizationRangePerChannelOp);

}  // namespace
}  // namespace headrace
