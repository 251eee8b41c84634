// QuantizedBatchNormWithGlobalNormalization and QuantizedInstanceNorm.
#include <vector>

#include "kernels/lib/quantized_math.h"

namespace headrace {
namespace {

// x * scale + offset in fixed point: 2048 stands for 1 in an output of 32 bits
// whose range is always the same. The product of two such numbers wraps around
// from 2^31 on, that is from 512 on for values.
class QuantizedBatchNormOp : public OpKernel {
 public:
  explicit QuantizedBatchNormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("variance_epsilon", &epsilon_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scale_after_normalization", &scale_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 4,
                errors::InvalidArgument("t must be 4-dimensional, got shape ",
                                        in.shape().DebugString()));
    const int64_t depth = in.dim_size(3);
    FloatRange range;
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 1, &range));
    std::vector<float> mean, variance, beta, gamma;
    OP_REQUIRES_OK(ctx, Read(*ctx, 3, "m", depth, &mean));
    OP_REQUIRES_OK(ctx, Read(*ctx, 6, "v", depth, &variance));
    OP_REQUIRES_OK(ctx, Read(*ctx, 9, "beta", depth, &beta));
    OP_REQUIRES_OK(ctx, Read(*ctx, 12, "gamma", depth, &gamma));
    const FloatRange wide = {-(1 << 20), 1 << 20};
    const QuantizedNumbers<int32_t> sums(wide);
    std::vector<int32_t> scale(depth), offset(depth);
    for (int64_t i = 0; i < depth; ++i) {
      const float inverse = 1.0f / std::sqrt(variance[i] + epsilon_);
      const float s = scale_ ? inverse * gamma[i] : inverse;
      scale[i] = sums.FromFloat(s);
      offset[i] = sums.FromFloat(-mean[i] * s + beta[i]);
    }
    // There are 256 inputs.
    const QuantizedNumbers<uint8_t> numbers(range);
    int32_t value[256];
    for (int i = 0; i < 256; ++i) {
      value[i] = sums.FromFloat(
          static_cast<float>(numbers.ToFloat(static_cast<uint8_t>(i))));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    const uint8_t* const x = static_cast<const uint8_t*>(in.raw_data());
    int32_t* const y = static_cast<int32_t*>(out->raw_data());
    const int32_t one = sums.FromFloat(1);
    ctx->ParallelFor(in.NumElements(), 3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t c = i % depth;
        y[i] = WrapMulAdd(WrapMulAdd(0, value[x[i]], scale[c]) / one, 1,
                          offset[c]);
      }
    });
    SetRangeOutputs(ctx, 1, wide);
  }

 private:
  // Input i, one number for each channel, with its range behind it.
  static Status Read(const OpKernelContext& ctx, int i, const char* name,
                     int64_t depth, std::vector<float>* out) {
    const Tensor& t = ctx.input(i);
    if (t.dims() != 1 || t.NumElements() != depth) {
      return errors::InvalidArgument(
          name, " must be a vector of the depth of t, ", depth, ", got shape ",
          t.shape().DebugString());
    }
    FloatRange range;
    HR_RETURN_IF_ERROR(ReadFloatRange(ctx, i + 1, &range));
    const QuantizedNumbers<uint8_t> numbers(range);
    const uint8_t* const x = static_cast<const uint8_t*>(t.raw_data());
    for (int64_t c = 0; c < depth; ++c) {
      out->push_back(static_cast<float>(numbers.ToFloat(x[c])));
    }
    return OkStatus();
  }

  float epsilon_ = 0;
  bool scale_ = false;
};
REGISTER_KERNEL_BUILDER(Name("QuantizedBatchNormWithGlobalNormalization")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("Tinput")
                            .TypeConstraint<qint32>("out_type"),
                        QuantizedBatchNormOp);

// (x - mean) / sqrt(variance + epsilon), of each image and channel by itself.
// The input's lower end does not matter. The result's range is given, or what
// the result fills, widened to min_separation.
class QuantizedInstanceNormOp : public OpKernel {
 public:
  explicit QuantizedInstanceNormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_range_given", &given_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("given_y_min", &range_.min));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("given_y_max", &range_.max));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("variance_epsilon", &epsilon_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("min_separation", &separation_));
    OP_REQUIRES(ctx, !given_ || range_.min < range_.max,
                errors::InvalidArgument(
                    "given_y_min must be less than given_y_max, got ",
                    range_.min, " and ", range_.max));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 4,
                errors::InvalidArgument("x must be 4-dimensional, got shape ",
                                        in.shape().DebugString()));
    FloatRange from;
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 1, &from));
    OP_REQUIRES(ctx, from.min < from.max,
                errors::InvalidArgument("x_min must be less than x_max, got ",
                                        from.min, " and ", from.max));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    const int64_t batch = in.dim_size(0), depth = in.dim_size(3);
    const bool empty = in.NumElements() == 0;
    const int64_t pixels = empty ? 0 : in.dim_size(1) * in.dim_size(2);
    const uint8_t* const x = static_cast<const uint8_t*>(in.raw_data());
    uint8_t* const y = static_cast<uint8_t*>(out->raw_data());
    const float step = (from.max - from.min) / 255.0f;
    // What each channel of each image becomes: (x * step - mean) * factor.
    std::vector<Normal> normals(empty ? 0 : batch * depth);
    ctx->ParallelFor(empty ? 0 : batch,
                     3.0 * static_cast<double>(pixels * depth),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t b = begin; b < end; ++b) {
                         Measure(x + b * pixels * depth, pixels, depth, step,
                                 &normals[b * depth]);
                       }
                     });
    FloatRange to = range_;
    if (!given_) {
      to.min = std::numeric_limits<float>::infinity();
      to.max = -to.min;
      for (const Normal& n : normals) {
        to.min = std::min(to.min, n.Of(n.low, step));
        to.max = std::max(to.max, n.Of(n.high, step));
      }
      to.max = std::max(to.max, to.min + separation_);
    }
    SetRangeOutputs(ctx, 1, to);
    const float scale = to.max > to.min ? 255.0f / (to.max - to.min) : 0.0f;
    const float begin_at = std::round(to.min * scale);
    ctx->ParallelFor(in.NumElements(), 3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Normal& n = normals[i / (pixels * depth) * depth + i % depth];
        const float q = std::round(n.Of(x[i], step) * scale) - begin_at;
        // NaN becomes 0.
        y[i] = static_cast<uint8_t>(q > 0 ? std::min(q, 255.0f) : 0.0f);
      }
    });
  }

 private:
  struct Normal {
    float mean = 0, factor = 0;
    uint8_t low = 255, high = 0;
    float Of(uint8_t x, float step) const {
      return (static_cast<float>(x) * step - mean) * factor;
    }
  };

  void Measure(const uint8_t* x, int64_t pixels, int64_t depth, float step,
               Normal* normals) const {
    // Of integers these sums are exact up to 2^53.
    std::vector<double> sum(depth), squares(depth);
    for (int64_t i = 0; i < pixels; ++i) {
      for (int64_t c = 0; c < depth; ++c) {
        const uint8_t v = x[i * depth + c];
        sum[c] += v;
        squares[c] += static_cast<double>(v) * v;
        normals[c].low = std::min(normals[c].low, v);
        normals[c].high = std::max(normals[c].high, v);
      }
    }
    const double n = static_cast<double>(pixels);
    for (int64_t c = 0; c < depth; ++c) {
      const double mean = sum[c] / n;
      const double variance =
          std::max(0.0, squares[c] / n - mean * mean) * step * step;
      normals[c].mean = static_cast<float>(mean * step);
      normals[c].factor =
          1.0f / std::sqrt(static_cast<float>(variance) + epsilon_);
    }
  }

  bool given_ = false;
  FloatRange range_;
  float epsilon_ = 0, separation_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("QuantizedInstanceNorm")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("T"),
                        QuantizedInstanceNormOp);

}  // namespace
}  // namespace headrace
