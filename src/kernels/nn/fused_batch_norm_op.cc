// FusedBatchNorm, V2, V3 and their gradients.
//
// Training: y = (x - mean) * rsqrt(var + epsilon) * scale + offset, with mean
// and *biased* variance over everything but channels. batch_variance, the third
// output, is Bessel-corrected, times n / max(n - 1, 1); reserve_space_2, which
// the gradient reads, is the biased one. With exponential_avg_factor f != 1 the
// two batch outputs are blended with the inputs mean and variance.
// Inference: normalises by the inputs, and hands them on as outputs.
//
// An empty x gives NaN statistics and zero reserves.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/nn/fused_batch_norm.h"

namespace headrace {
namespace {

template <typename U>
std::vector<float> ToFloat(const Tensor& t) {
  const U* p = t.data<U>();
  std::vector<float> out(t.NumElements());
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(p[i]);
  return out;
}

template <typename T>
const BatchNormImplementation<T>& Choose(const BatchNormView& v) {
  const auto list = BatchNormImplementations<T>();
  for (const auto& impl : list) {
    if (impl.accepts(v)) return impl;
  }
  return list.back();
}

template <typename T, typename U>
class FusedBatchNormOp : public OpKernel {
 public:
  explicit FusedBatchNormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("exponential_avg_factor", &avg_factor_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    BatchNormView v;
    OP_REQUIRES_OK(ctx, attrs_.View(x.shape(), &v));
    OP_REQUIRES_OK(ctx,
                   CheckBatchNormVector("scale", ctx->input(1), v.channels));
    OP_REQUIRES_OK(ctx,
                   CheckBatchNormVector("offset", ctx->input(2), v.channels));
    const bool blend = attrs_.is_training && avg_factor_ != 1.0f;
    if (blend || !attrs_.is_training) {
      const char* when = blend ? "When exponential_avg_factor != 1, "
                               : "When is_training=false, ";
      OP_REQUIRES_OK(
          ctx, CheckBatchNormVector("mean", ctx->input(3), v.channels, when));
      OP_REQUIRES_OK(ctx, CheckBatchNormVector("variance", ctx->input(4),
                                               v.channels, when));
    }

    const TensorShape vector({v.channels});
    const T* in = x.data<T>();
    Tensor* y = nullptr;
    Tensor* stats[4];
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    for (int i = 0; i < 4; ++i) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(1 + i, vector, &stats[i]));
    }
    if (ctx->num_outputs() > 5) {
      Tensor* unused = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(5, TensorShape(), &unused));
      unused->data<U>()[0] = U(0);
    }

    const std::vector<float> scale = ToFloat<U>(ctx->input(1)),
                             offset = ToFloat<U>(ctx->input(2)),
                             mean_in = ToFloat<U>(ctx->input(3)),
                             variance_in = ToFloat<U>(ctx->input(4));
    const int64_t n = v.count();
    std::vector<float> mean, variance;
    const auto& impl = Choose<T>(v);
    ctx->set_algorithm(impl.name);
    if (n == 0) {
      const std::vector<float> nan(v.channels,
                                   std::numeric_limits<float>::quiet_NaN()),
          zero(v.channels, 0.0f);
      WriteStats(stats, nan, nan, zero, zero);
      return;
    }
    if (!attrs_.is_training) {
      mean = mean_in;
      variance = variance_in;
      WriteStats(stats, mean, variance, mean, variance);
    } else {
      mean.resize(v.channels);
      variance.resize(v.channels);
      OP_REQUIRES_OK(ctx,
                     impl.moments(ctx, v, in, mean.data(), variance.data()));
      const float bessel = static_cast<float>(
          static_cast<double>(n) / static_cast<double>(n > 1 ? n - 1 : 1));
      std::vector<float> out_mean(mean), out_variance(variance);
      for (int64_t c = 0; c < v.channels; ++c) {
        out_variance[c] *= bessel;
        if (blend) {
          const float keep = 1.0f - avg_factor_;
          out_mean[c] = keep * mean_in[c] + avg_factor_ * out_mean[c];
          out_variance[c] =
              keep * variance_in[c] + avg_factor_ * out_variance[c];
        }
      }
      WriteStats(stats, out_mean, out_variance, mean, variance);
    }
    std::vector<float> factor(v.channels);
    for (int64_t c = 0; c < v.channels; ++c) {
      factor[c] = scale[c] / std::sqrt(variance[c] + attrs_.epsilon);
    }
    impl.normalize(ctx, v, in, mean.data(), factor.data(), offset.data(),
                   y->data<T>());
  }

 private:
  static void WriteStats(Tensor* const* stats, const std::vector<float>& mean,
                         const std::vector<float>& variance,
                         const std::vector<float>& reserve_1,
                         const std::vector<float>& reserve_2) {
    const std::vector<float>* from[] = {&mean, &variance, &reserve_1,
                                        &reserve_2};
    for (int i = 0; i < 4; ++i) {
      U* to = stats[i]->data<U>();
      for (size_t c = 0; c < from[i]->size(); ++c) {
        to[c] = static_cast<U>((*from[i])[c]);
      }
    }
  }

  BatchNormAttrs attrs_;
  float avg_factor_ = 1.0f;
};

// With xhat = (x - m) r, r = rsqrt(v + epsilon):
//   doffset = sum dy, dscale = sum dy xhat,
//   training:  dx = scale r (dy - doffset / n - xhat dscale / n),
//   inference: dx = scale r dy; m and v, the reserves, are then constants.
template <typename T, typename U>
class FusedBatchNormGradOp : public OpKernel {
 public:
  explicit FusedBatchNormGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& dy = ctx->input(0);
    const Tensor& x = ctx->input(1);
    BatchNormView v;
    OP_REQUIRES_OK(ctx, attrs_.View(x.shape(), &v));
    OP_REQUIRES(ctx, dy.shape() == x.shape(),
                errors::InvalidArgument(
                    "x and y_backprop must have same shape, but x has shape ",
                    x.shape().DebugString(), " and y_backprop has shape ",
                    dy.shape().DebugString()));
    OP_REQUIRES_OK(ctx,
                   CheckBatchNormVector("scale", ctx->input(2), v.channels));
    OP_REQUIRES_OK(ctx, CheckBatchNormVector("reserve_space_1", ctx->input(3),
                                             v.channels));
    OP_REQUIRES_OK(ctx, CheckBatchNormVector("reserve_space_2", ctx->input(4),
                                             v.channels));

    const T* dy_data = dy.data<T>();
    const T* x_data = x.data<T>();
    Tensor *dx = nullptr, *dscale = nullptr, *doffset = nullptr;
    const TensorShape vector({v.channels});
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &dx));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, vector, &dscale));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, vector, &doffset));
    for (int i = 3; i < 5; ++i) {
      Tensor* unused = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(i, TensorShape({0}), &unused));
    }
    U* dscale_data = dscale->data<U>();
    U* doffset_data = doffset->data<U>();
    const int64_t n = v.count();
    if (n == 0) {
      std::fill(dscale_data, dscale_data + v.channels, U(0));
      std::fill(doffset_data, doffset_data + v.channels, U(0));
      return;
    }

    const std::vector<float> scale = ToFloat<float>(ctx->input(2)),
                             mean = ToFloat<U>(ctx->input(3)),
                             variance = ToFloat<U>(ctx->input(4));
    std::vector<float> sum_dy(v.channels), sum_dyx(v.channels), a(v.channels),
        b(v.channels), c(v.channels);
    const auto& impl = Choose<T>(v);
    ctx->set_algorithm(impl.name);
    OP_REQUIRES_OK(ctx, impl.grad_sums(ctx, v, dy_data, x_data, mean.data(),
                                       sum_dy.data(), sum_dyx.data()));
    for (int64_t k = 0; k < v.channels; ++k) {
      const float r = 1.0f / std::sqrt(variance[k] + attrs_.epsilon);
      const float s = scale[k] * r;
      const float inverse_n = 1.0f / static_cast<float>(n);
      a[k] = s;
      b[k] = attrs_.is_training ? -s * r * r * sum_dyx[k] * inverse_n : 0.0f;
      c[k] = attrs_.is_training ? -s * sum_dy[k] * inverse_n : 0.0f;
      dscale_data[k] = static_cast<U>(sum_dyx[k] * r);
      doffset_data[k] = static_cast<U>(sum_dy[k]);
    }
    impl.grad_input(ctx, v, dy_data, x_data, mean.data(), a.data(), b.data(),
                    c.data(), dx->data<T>());
  }

 private:
  BatchNormAttrs attrs_;
};

REGISTER_KERNEL_BUILDER(
    Name("FusedBatchNorm").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedBatchNormOp<float, float>);
REGISTER_KERNEL_BUILDER(
    Name("FusedBatchNormGrad").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedBatchNormGradOp<float, float>);

#define REGISTER(op, T, U, ...)                        \
  REGISTER_KERNEL_BUILDER(Name(op)                     \
                              .Device(DEVICE_CPU)      \
                              .TypeConstraint<T>("T")  \
                              .TypeConstraint<U>("U"), \
                          __VA_ARGS__)
#define REGISTER_TYPE(T)                                                      \
  REGISTER("FusedBatchNormV2", T, float, FusedBatchNormOp<T, float>);         \
  REGISTER("FusedBatchNormV3", T, float, FusedBatchNormOp<T, float>);         \
  REGISTER("FusedBatchNormGradV2", T, float, FusedBatchNormGradOp<T, float>); \
  REGISTER("FusedBatchNormGradV3", T, float, FusedBatchNormGradOp<T, float>);
REGISTER_TYPE(half)
REGISTER_TYPE(bfloat16)
REGISTER_TYPE(float)
REGISTER("FusedBatchNormV3", bfloat16, bfloat16,
         FusedBatchNormOp<bfloat16, bfloat16>);
#undef REGISTER
#undef REGISTER_TYPE

}  // namespace
}  // namespace headrace
