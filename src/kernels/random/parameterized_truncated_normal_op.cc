// ParameterizedTruncatedNormal and its stateless form: normal numbers of given
// mean and standard deviation between two bounds. Stateful: one set of
// parameters for each index of the first dimension, or one for all. Stateless:
// the parameters are broadcast, and the output's shape ends with theirs.
//
// By rejection: from the normal itself where the interval holds the mean and
// reaches far enough to one side, else from a uniform where it is narrow, or an
// exponential far out in a tail (Robert, "Simulation of truncated normal
// variables", 1995). One stream is used from the start to the end, a new set of
// parameters beginning with a new block, in the precision of the output's type:
// as TensorFlow does where it takes one thread.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/broadcast.h"
#include "kernels/lib/random_stream.h"
#include "kernels/random/random_fill.h"
#include "kernels/random/random_sampling.h"

namespace headrace {
namespace {

// The maximum number of tries for one number; then the last try is taken.
constexpr int kMaxTries = 1000;

// How many numbers a block gives.
template <typename T>
constexpr int kGroup = std::is_same_v<T, double> ? 2 : 4;
template <typename T>
using Group = std::array<T, kGroup<T>>;

template <typename T>
Group<T> UniformGroup(Philox* stream) {
  const Philox::Block x = (*stream)();
  if constexpr (std::is_same_v<T, double>) {
    return {UniformDouble(x[0], x[1]), UniformDouble(x[2], x[3])};
  } else {
    Group<T> g;
    for (int i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<T, half>) g[i] = UniformHalf(x[i]);
      if constexpr (std::is_same_v<T, bfloat16>) g[i] = UniformBfloat16(x[i]);
      if constexpr (std::is_same_v<T, float>) g[i] = UniformFloat(x[i]);
    }
    return g;
  }
}

template <typename T>
Group<T> NormalGroup(Philox* stream) {
  const Philox::Block x = (*stream)();
  if constexpr (std::is_same_v<T, double>) {
    const DoublePair p = BoxMullerDouble(x.data());
    return {p.a, p.b};
  } else {
    const FloatPair p = BoxMuller(x[0], x[1]), q = BoxMuller(x[2], x[3]);
    return {static_cast<T>(p.a), static_cast<T>(p.b), static_cast<T>(q.a),
            static_cast<T>(q.b)};
  }
}

// In T's own precision, or float for the narrow types.
template <typename T>
auto Wide(T x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return static_cast<float>(x);
  }
}
template <typename T>
T Exp(T x) {
  return static_cast<T>(std::exp(Wide(x)));
}
template <typename T>
T Log(T x) {
  return static_cast<T>(std::log(Wide(x)));
}
template <typename T>
T Sqrt(T x) {
  return static_cast<T>(std::sqrt(Wide(x)));
}

template <typename T>
struct TruncatedNormalParameters {
  T mean, deviation, lo, hi;
  Status Check() const {
    if (deviation > T(0) && std::isfinite(Wide(deviation)) &&
        std::isfinite(Wide(mean)) && lo < hi &&
        (std::isfinite(Wide(lo)) || std::isfinite(Wide(hi)))) {
      return OkStatus();
    }
    return errors::InvalidArgument("Invalid parameters: mean ", Wide(mean),
                                   ", deviation ", Wide(deviation), ", bounds ",
                                   Wide(lo), " and ", Wide(hi));
  }
};

// n numbers to to[0], to[step], ... Cancelled if the step is.
template <typename T>
Status SampleTruncatedNormal(OpKernelContext* ctx,
                             TruncatedNormalParameters<T> p, int64_t n,
                             int64_t step, Philox* stream, T* to) {
  // The bound nearer to the mean, or the finite one, is the lower one.
  if ((std::isinf(Wide(p.lo)) && p.lo < T(0)) || p.hi < p.mean) {
    std::swap(p.lo, p.hi);
    p.deviation = -p.deviation;
  }
  const T lo = (p.lo - p.mean) / p.deviation;
  const T hi = (p.hi - p.mean) / p.deviation;
  const T root = Sqrt(static_cast<T>(lo * lo + T(4)));
  const T cutoff = T(2) *
                   Exp(static_cast<T>(T(0.5) + (lo * (lo - root)) / T(4))) /
                   (lo + root);
  const T width = hi - lo;

  int64_t made = 0, groups = 0;
  int tries = 0;
  bool cancelled = false;
  const auto more = [&] {
    if (++groups % 4096 == 0 && ctx->cancellation_manager() != nullptr) {
      cancelled = ctx->cancellation_manager()->IsCancelled();
    }
    return made < n && !cancelled;
  };
  const auto offer = [&](T z, bool accept) {
    if (!accept && ++tries < kMaxTries) return;
    to[made++ * step] = z * p.deviation + p.mean;
    tries = 0;
  };
  // Deviations to one side of the mean that make the normal good enough.
  const T far = T(1.3);
  if ((lo < -far && hi >= T(0)) || (hi > far && lo <= T(0))) {
    while (more()) {
      for (const T z : NormalGroup<T>(stream)) {
        if (made < n) offer(z, z >= lo && z <= hi);
      }
    }
  } else if (width < cutoff) {
    // The square of the point with the highest density.
    const T peak = lo < T(0) ? T(0) : lo * lo;
    while (more()) {
      const Group<T> x = UniformGroup<T>(stream);
      const Group<T> u = UniformGroup<T>(stream);
      for (int i = 0; i < kGroup<T> && made < n; ++i) {
        const T z = x[i] * width + lo;
        offer(z, u[i] <= Exp(static_cast<T>((peak - z * z) / T(2))));
      }
    }
  } else {
    const T rate = (lo + root) / T(2);
    while (more()) {
      const Group<T> x = UniformGroup<T>(stream);
      for (int i = 0; i < kGroup<T> && made < n; i += 2) {
        const T z = -Log(x[i]) / rate + lo;
        const T d = lo < rate ? rate - z : lo - rate;
        offer(z, x[i + 1] <= Exp(static_cast<T>(-d * d / T(2))) && z < hi);
      }
    }
  }
  return cancelled ? errors::Cancelled("the step was cancelled") : OkStatus();
}

template <typename T>
class ParameterizedTruncatedNormalOp : public OpKernel {
 public:
  explicit ParameterizedTruncatedNormalOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, InitFromSeedAttrs(ctx, &stream_));
  }

  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    OP_REQUIRES(ctx, shape.dims() >= 1,
                errors::InvalidArgument("shape must not be empty"));
    int64_t batches = shape.dim_size(0);
    bool one_for_all = true;
    for (int i = 1; i <= 4; ++i) {
      const TensorShape& p = ctx->input(i).shape();
      OP_REQUIRES(
          ctx,
          p.dims() == 0 || (p.dims() == 1 &&
                            (p.dim_size(0) == 1 || p.dim_size(0) == batches)),
          errors::InvalidArgument(
              "Input ", i, " should be a scalar or a vector of ", batches,
              " parameters, got shape ", p.DebugString()));
      one_for_all = one_for_all && p.num_elements() == 1;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t total = out->NumElements();
    if (total == 0) return;
    auto parameters = [ctx](int64_t b) {
      auto at = [ctx, b](int i) {
        const Tensor& t = ctx->input(i);
        return t.data<T>()[t.NumElements() == 1 ? 0 : b];
      };
      return TruncatedNormalParameters<T>{at(1), at(2), at(3), at(4)};
    };
    for (int64_t b = 0; b < (one_for_all ? 1 : batches); ++b) {
      OP_REQUIRES_OK(ctx, parameters(b).Check());
    }
    int64_t per_batch = total / batches;
    if (one_for_all) {
      per_batch = 100;
      batches = (total + per_batch - 1) / per_batch;
    }
    Philox stream = stream_.Reserve(static_cast<Philox::Counter>(batches) * 2 *
                                    kMaxTries * (per_batch + 3) / 4);
    for (int64_t b = 0; b < batches; ++b) {
      const int64_t first = b * per_batch;
      OP_REQUIRES_OK(
          ctx, SampleTruncatedNormal<T>(ctx, parameters(one_for_all ? 0 : b),
                                        std::min(per_batch, total - first), 1,
                                        &stream, out->data<T>() + first));
    }
  }

 private:
  GuardedPhilox stream_;
};

template <typename T>
class StatelessTruncatedNormalOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    Philox stream;
    OP_REQUIRES_OK(ctx, StreamFromSeed(ctx->input(1), &stream));
    const T* values[4];
    for (int i = 0; i < 4; ++i) values[i] = ctx->input(i + 2).data<T>();
    // BCast takes three operands: first all shapes but one, then all.
    const TensorShape* s[] = {&ctx->input(2).shape(), &ctx->input(3).shape(),
                              &ctx->input(4).shape(), &ctx->input(5).shape()};
    const BCast three({s[0], s[1], s[2]});
    OP_REQUIRES_OK(ctx, three.status());
    const BCast all({&three.output_shape(), s[3]});
    OP_REQUIRES_OK(ctx, all.status());
    const TensorShape& sets = all.output_shape();
    OP_REQUIRES_OK(ctx, CheckShapeEndsWith(shape, sets));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const BCast first({&sets, s[0], s[1]}), second({&sets, s[2], s[3]});
    BCastCursor a(first.dims(), 0), b(second.dims(), 0);
    const int64_t n = sets.num_elements();
    for (int64_t i = 0; i < n; ++i, a.Next(), b.Next()) {
      const TruncatedNormalParameters<T> p = {
          values[0][a.offset(1)], values[1][a.offset(2)],
          values[2][b.offset(1)], values[3][b.offset(2)]};
      OP_REQUIRES_OK(ctx, p.Check());
      OP_REQUIRES_OK(ctx,
                     SampleTruncatedNormal<T>(ctx, p, out->NumElements() / n, n,
                                              &stream, out->data<T>() + i));
    }
  }
};

#define REGISTER(T)                                            \
  REGISTER_KERNEL_BUILDER(Name("ParameterizedTruncatedNormal") \
                              .Device(DEVICE_CPU)              \
                              .TypeConstraint<T>("dtype"),     \
                          ParameterizedTruncatedNormalOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER)
#undef REGISTER
#define REGISTER(T)                                                     \
  REGISTER_KERNEL_BUILDER(Name("StatelessParameterizedTruncatedNormal") \
                              .Device(DEVICE_CPU)                       \
                              .TypeConstraint<T>("dtype"),              \
                          StatelessTruncatedNormalOp<T>)
REGISTER(half);
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace headrace
