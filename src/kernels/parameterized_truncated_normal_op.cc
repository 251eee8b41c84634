// ParameterizedTruncatedNormal: normal numbers of a given mean and standard
// deviation between two bounds, one set of parameters for each index of the
// first dimension or one for all. By rejection: from the normal itself where
// the interval is wide and holds the mean, else from a uniform or, far out in a
// tail, an exponential (Robert, "Simulation of truncated normal variables",
// 1995). Each sample has a stretch of the stream of its own.
#include <cmath>
#include <limits>
#include <numbers>

#include "framework/op_kernel.h"
#include "framework/philox.h"
#include "kernels/random_fill.h"

namespace headrace {
namespace {

double ValueAt(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_HALF:
      return static_cast<float>(t.data<half>()[i]);
    case DT_BFLOAT16:
      return static_cast<float>(t.data<bfloat16>()[i]);
    case DT_FLOAT:
      return t.data<float>()[i];
    default:
      return t.data<double>()[i];
  }
}

// Far more tries than any interval that has a chance needs.
constexpr int kMaxTries = 200;

// A standard normal number in [lo, hi].
double Sample(double lo, double hi, Philox stream) {
  PhiloxWords next(stream);
  auto uniform = [&next] {
    const uint32_t a = next(), b = next();
    return UniformDouble(a, b);
  };
  if (hi <= 0) return -Sample(-hi, -lo, stream);
  if (lo <= 0 && hi - lo > 1.7) {
    for (int i = 0; i < kMaxTries; ++i) {
      const double u = std::max(uniform(), 1e-300), v = uniform();
      const double z =
          std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
      if (lo <= z && z <= hi) return z;
    }
    return 0;
  }
  const double tail = 0.5 * (lo + std::sqrt(lo * lo + 4));
  if (lo > 0 && (!std::isfinite(hi) || hi > lo + 1 / tail)) {
    for (int i = 0; i < kMaxTries; ++i) {
      const double z = lo - std::log1p(-uniform()) / tail;
      if (z > hi) continue;
      if (uniform() <= std::exp(-0.5 * (z - tail) * (z - tail))) return z;
    }
    return lo;
  }
  // The density is greatest at the point nearest to 0.
  const double peak = lo > 0 ? lo : 0;
  for (int i = 0; i < kMaxTries; ++i) {
    const double z = lo + (hi - lo) * uniform();
    if (uniform() <= std::exp(0.5 * (peak * peak - z * z))) return z;
  }
  return peak;
}

template <typename T>
class ParameterizedTruncatedNormalOp : public OpKernel {
 public:
  explicit ParameterizedTruncatedNormalOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    int64_t seed = 0, seed2 = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed", &seed));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed2", &seed2));
    stream_.Init(seed, seed2);
  }

  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    OP_REQUIRES(ctx, shape.dims() >= 1,
                errors::InvalidArgument("shape must not be empty"));
    const int64_t batches = shape.dim_size(0);
    for (int i = 1; i <= 4; ++i) {
      const TensorShape& p = ctx->input(i).shape();
      OP_REQUIRES(
          ctx,
          p.dims() == 0 || (p.dims() == 1 &&
                            (p.dim_size(0) == 1 || p.dim_size(0) == batches)),
          errors::InvalidArgument(
              "Input ", i, " should be a scalar or a vector of ", batches,
              " parameters, got shape ", p.DebugString()));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    auto parameter = [ctx](int i, int64_t b) {
      const Tensor& t = ctx->input(i);
      return ValueAt(t, t.NumElements() == 1 ? 0 : b);
    };
    for (int64_t b = 0; b < batches; ++b) {
      const double deviation = parameter(2, b);
      OP_REQUIRES(
          ctx,
          deviation > 0 && std::isfinite(deviation) &&
              std::isfinite(parameter(1, b)) &&
              parameter(3, b) < parameter(4, b),
          errors::InvalidArgument("Invalid parameters: mean ", parameter(1, b),
                                  ", deviation ", deviation, ", bounds ",
                                  parameter(3, b), " and ", parameter(4, b)));
    }
    const int64_t per_batch = out->NumElements() / batches;
    const Philox stream = stream_.ReserveOutputs(out->NumElements());
    T* o = out->data<T>();
    ctx->ParallelFor(out->NumElements(), 150, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / per_batch;
        const double mean = parameter(1, b), deviation = parameter(2, b);
        Philox mine = stream;
        mine.Skip(static_cast<Philox::Counter>(i) * 256);
        o[i] = static_cast<T>(
            mean + deviation * Sample((parameter(3, b) - mean) / deviation,
                                      (parameter(4, b) - mean) / deviation,
                                      mine));
      }
    });
  }

 private:
  GuardedPhilox stream_;
};
#define REGISTER(T)                                            \
  REGISTER_KERNEL_BUILDER(Name("ParameterizedTruncatedNormal") \
                              .Device(DEVICE_CPU)              \
                              .TypeConstraint<T>("dtype"),     \
                          ParameterizedTruncatedNormalOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER)

}  // namespace
}  // namespace headrace
