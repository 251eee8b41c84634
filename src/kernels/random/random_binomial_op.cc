// StatelessRandomBinomial and StatefulRandomBinomial: the number of successes
// in `counts` trials with probability `probs`. Both are broadcast, and the
// output's shape ends with their shape. Below 10 expected successes the method
// is inversion: it adds up the trials from one success to the next. Otherwise
// it is Hoermann's transformed rejection ("The generation of binomial random
// variates", 1993, algorithm BTRS). Above a probability of 1/2, failures are
// drawn instead. Sample s of pair p uses its own part of the stream, number p *
// samples + s; a part has 42 blocks for inversion and 256 for rejection.
#include <cmath>
#include <cstdint>
#include <limits>

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/broadcast.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/random_stream.h"
#include "kernels/random/random_fill.h"
#include "kernels/random/random_sampling.h"

namespace headrace {
namespace {

double BinomialByInversion(double count, double p, Philox stream) {
  RandomDoubles uniform(&stream, false);
  const double log_failure = std::log1p(-p);
  double trials = 0;
  for (double successes = 0;; ++successes) {
    trials += std::ceil(std::log(uniform()) / log_failure);
    if (!(trials <= count)) return successes;
  }
}

// log(k!) less Stirling's approximation of it.
double StirlingTail(double k) {
  constexpr double kExact[] = {0.0810614667953272, 0.0413406959554092,
                               0.0276779256849983, 0.0207906721037650,
                               0.0166446911898211, 0.0138761288230707,
                               0.0118967099458917, 0.0104112652619720,
                               0.0092554621827127, 0.0083305634333628};
  if (k <= 9) return kExact[static_cast<int>(k)];
  const double n = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / n) / n) / (k + 1);
}

double BinomialByRejection(double count, double p, Philox stream) {
  RandomDoubles uniform(&stream, false);
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((count + 1) * p);
  // About nine tries in ten succeed; counts so large that the terms below
  // cancel out might never.
  for (int tries = 0; tries < 10000; ++tries) {
    const double u = uniform() - 0.5;
    const double v = uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (!(k >= 0 && k <= count)) continue;
    const double bound =
        (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
        (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
        (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
        StirlingTail(mode) + StirlingTail(count - mode) - StirlingTail(k) -
        StirlingTail(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
  return mode;
}

// Sample `index` of a stream. T is the type of the parameters, in whose
// precision they are compared.
template <typename T>
double SampleBinomial(T count, T p, Philox stream, int64_t index) {
  const double n = static_cast<double>(count);
  const double probability = static_cast<double>(p);
  if (std::isnan(n) || std::isinf(n) || std::isnan(probability)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (n <= 0 || probability <= 0) return 0;
  if (probability >= 1) return n;
  const bool failures = probability > 0.5;
  const T q = failures ? static_cast<T>(T(1) - p) : p;
  const double dq = static_cast<double>(q);
  const bool reject = static_cast<T>(count * q) >= T(10);
  stream.Skip(static_cast<Philox::Counter>(index) * (reject ? 256 : 42));
  const double drawn = reject ? BinomialByRejection(n, dq, stream)
                              : BinomialByInversion(n, dq, stream);
  return failures ? n - drawn : drawn;
}

template <typename U>
U FromSample(double x) {
  if constexpr (std::is_integral_v<U>) {
    if (std::isnan(x)) return 0;
    if (x >= static_cast<double>(std::numeric_limits<U>::max())) {
      return std::numeric_limits<U>::max();
    }
    return static_cast<U>(x);
  } else {
    return static_cast<U>(x);
  }
}

// Inputs: shape and seed, or variable, algorithm and shape; counts; probs.
template <typename T, typename U>
class RandomBinomialOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const bool stateful = ctx->num_inputs() == 5;
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(stateful ? 2 : 0), &shape));
    const Tensor& counts = ctx->input(ctx->num_inputs() - 2);
    const Tensor& probs = ctx->input(ctx->num_inputs() - 1);
    BCast bcast({&counts.shape(), &probs.shape()});
    OP_REQUIRES_OK(ctx, bcast.status());
    const TensorShape& pairs = bcast.output_shape();
    OP_REQUIRES_OK(ctx, CheckShapeEndsWith(shape, pairs));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t total = out->NumElements();
    const int64_t n = pairs.num_elements();
    const int64_t samples = total == 0 ? 0 : total / n;
    Philox stream;
    if (stateful) {
      OP_REQUIRES_OK(ctx, CheckRngAlgorithm(ctx->input(1)));
      const uint64_t reserved = static_cast<uint64_t>(n) * 2 * 100 *
                                ((static_cast<uint64_t>(samples) + 3)) / 4;
      OP_REQUIRES_OK(ctx, ReserveFromVariable(ctx, 0, reserved * 256, &stream));
    } else {
      OP_REQUIRES_OK(ctx, StreamFromSeed(ctx->input(1), &stream));
    }
    if (total == 0) return;
    U* to = out->data<U>();
    CancellableLoops cancellable(ctx);
    ctx->ParallelFor(total, 200, [&](int64_t begin, int64_t end) {
      BCastCursor pair(bcast.dims(), begin / samples);
      for (int64_t i = begin; i < end; ++i) {
        if (i > begin && i % samples == 0) pair.Next();
        const double sampled =
            SampleBinomial<T>(counts.data<T>()[pair.offset(0)],
                              probs.data<T>()[pair.offset(1)], stream, i);
        to[i % samples * n + i / samples] = FromSample<U>(sampled);
      }
    });
  }
};
#define REGISTER(T, U)                                     \
  REGISTER_KERNEL_BUILDER(Name("StatelessRandomBinomial")  \
                              .Device(DEVICE_CPU)          \
                              .TypeConstraint<T>("T")      \
                              .TypeConstraint<U>("dtype"), \
                          RandomBinomialOp<T, U>);         \
  REGISTER_KERNEL_BUILDER(Name("StatefulRandomBinomial")   \
                              .Device(DEVICE_CPU)          \
                              .TypeConstraint<T>("T")      \
                              .TypeConstraint<U>("dtype"), \
                          RandomBinomialOp<T, U>)
#define REGISTER_ALL(T) \
  REGISTER(T, half);    \
  REGISTER(T, float);   \
  REGISTER(T, double);  \
  REGISTER(T, int32_t); \
  REGISTER(T, int64_t)
REGISTER_ALL(half);
REGISTER_ALL(float);
REGISTER_ALL(double);
#undef REGISTER
#undef REGISTER_ALL

}  // namespace
}  // namespace headrace
