// RandomGamma and RandomPoisson(V2): prod(shape) samples for each parameter p.
// The output's shape is shape ++ parameters.shape, which the stateless ops
// expect as `shape`. Sample s of parameter p has its own 256 blocks of the
// stream, from (p * samples + s) * 256, so results do not depend on the
// threads.
//
// Gamma: Marsaglia and Tsang's method. Below alpha 1, a sample for alpha + 1 is
// scaled by u^(1/alpha). Poisson: products of uniforms for rates below 10, else
// Hoermann's transformed rejection (PTRS).
#include <cmath>
#include <limits>

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/random_stream.h"
#include "kernels/random/random_fill.h"
#include "kernels/random/random_sampling.h"

namespace headrace {
namespace {

double SampleGamma(double alpha, Philox stream) {
  RandomDoubles uniform(&stream, false), normal(&stream, true);
  if (alpha == 1.0) return -std::log1p(-uniform());
  // There is no such distribution for NaN or for an alpha that is not positive.
  if (!(alpha > 0)) return std::numeric_limits<double>::quiet_NaN();
  const bool boost = alpha < 1;
  const double d = alpha + (boost ? 2.0 / 3 : -1.0 / 3);
  const double c = 1.0 / 3 / std::sqrt(d);
  while (true) {
    const double x = normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) ||
        std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      double result = d * v;
      if (boost) result *= std::pow(uniform(), 1 / alpha);
      return result;
    }
  }
}

double SamplePoisson(double rate, double limit, Philox stream) {
  RandomDoubles uniform(&stream, false);
  if (!std::isfinite(rate) || rate < 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (rate < 10) {
    const double stop = std::exp(-rate);
    double product = 1;
    for (double x = 0;; ++x) {
      product *= uniform();
      if (product <= stop && x <= limit) return x;
    }
  }
  // W. Hoermann, "The transformed rejection method for generating Poisson
  // random variables", Insurance: Mathematics and Economics 12 (1993).
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  // A rate far beyond what the type holds never gives a sample that fits.
  for (int tries = 0; tries < 10000; ++tries) {
    const double u = uniform() - 0.5, v = uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (k > limit) continue;
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double s = std::log(v * inv_alpha / (a / (us * us) + b));
    int sign;  // std::lgamma writes a global
    const double t = -rate + k * log_rate - lgamma_r(k + 1, &sign);
    if (s <= t) return k;
  }
  return limit;
}

double AsDouble(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_HALF:
      return static_cast<float>(t.data<half>()[i]);
    case DT_FLOAT:
      return t.data<float>()[i];
    case DT_INT32:
      return t.data<int32_t>()[i];
    case DT_INT64:
      return static_cast<double>(t.data<int64_t>()[i]);
    default:
      return t.data<double>()[i];
  }
}

template <typename T, bool gamma>
T SampleOne(double parameter, const Philox& stream) {
  if constexpr (gamma) {
    return static_cast<T>(SampleGamma(parameter, stream));
  } else {
    const double limit = static_cast<double>(std::numeric_limits<T>::max());
    const double x = SamplePoisson(parameter, limit, stream);
    if constexpr (std::is_integral_v<T>) {
      if (std::isnan(x)) return 0;
      if (x >= limit) return std::numeric_limits<T>::max();
    }
    return static_cast<T>(x);
  }
}

// The last dims of `out` are those of the parameters.
template <typename T, bool gamma>
void FillPerParameter(OpKernelContext* ctx, const Tensor& parameters,
                      const Philox& stream, Tensor* out) {
  if (out->NumElements() == 0) return;
  const int64_t n = parameters.NumElements();
  const int64_t samples = out->NumElements() / n;
  T* o = out->data<T>();
  CancellableLoops cancellable(ctx);
  ctx->ParallelFor(out->NumElements(), 150, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t p = i / samples, s = i % samples;
      Philox mine = stream;
      mine.Skip(static_cast<Philox::Counter>(i) * 256);
      o[s * n + p] = SampleOne<T, gamma>(AsDouble(parameters, p), mine);
    }
  });
}

template <typename T, bool gamma>
class RandomPerParameterOp : public OpKernel {
 public:
  explicit RandomPerParameterOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, InitFromSeedAttrs(ctx, &stream_));
  }

  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    const Tensor& parameters = ctx->input(1);
    shape.AppendShape(parameters.shape());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    FillPerParameter<T, gamma>(ctx, parameters,
                               stream_.ReserveOutputs(out->NumElements()), out);
  }

 private:
  GuardedPhilox stream_;
};

// Inputs: shape; seed, or key, counter and alg; the parameters.
template <typename T, bool gamma>
class StatelessPerParameterOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    const bool from_key = ctx->num_inputs() == 5;
    Philox stream;
    OP_REQUIRES_OK(ctx, from_key ? StreamFromKey(ctx->input(1), ctx->input(2),
                                                 ctx->input(3), &stream)
                                 : StreamFromSeed(ctx->input(1), &stream));
    const Tensor& parameters = ctx->input(from_key ? 4 : 2);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    OP_REQUIRES_OK(ctx, CheckShapeEndsWith(shape, parameters.shape()));
    FillPerParameter<T, gamma>(ctx, parameters, stream, out);
  }
};

#define REGISTER_GAMMA(T)                                            \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("RandomGamma").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      RandomPerParameterOp<T, true>);                                \
  REGISTER_KERNEL_BUILDER(Name("StatelessRandomGammaV2")             \
                              .Device(DEVICE_CPU)                    \
                              .TypeConstraint<T>("dtype"),           \
                          StatelessPerParameterOp<T, true>);         \
  REGISTER_KERNEL_BUILDER(Name("StatelessRandomGammaV3")             \
                              .Device(DEVICE_CPU)                    \
                              .TypeConstraint<T>("dtype"),           \
                          StatelessPerParameterOp<T, true>)
#define REGISTER_POISSON(NAME, T, CLASS)                        \
  REGISTER_KERNEL_BUILDER(                                      \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("dtype"), \
      CLASS<T, false>)
#define REGISTER_BOTH(T)                                        \
  REGISTER_POISSON("RandomPoissonV2", T, RandomPerParameterOp); \
  REGISTER_POISSON("StatelessRandomPoisson", T, StatelessPerParameterOp)
REGISTER_GAMMA(half);
REGISTER_GAMMA(float);
REGISTER_GAMMA(double);
REGISTER_POISSON("RandomPoisson", half, RandomPerParameterOp);
REGISTER_POISSON("RandomPoisson", float, RandomPerParameterOp);
REGISTER_POISSON("RandomPoisson", double, RandomPerParameterOp);
REGISTER_BOTH(half);
REGISTER_BOTH(float);
REGISTER_BOTH(double);
REGISTER_BOTH(int32_t);
REGISTER_BOTH(int64_t);
#undef REGISTER_GAMMA
#undef REGISTER_POISSON
#undef REGISTER_BOTH

}  // namespace
}  // namespace headrace
