// Stateless random ops: the result is a function of the inputs alone. The
// seed's two numbers are scrambled by one Philox block into a key and the upper
// half of a counter; the V2 ops take key and counter as inputs, and
// StatelessRandomGetKeyCounter does the scrambling.
#include "framework/op_kernel.h"
#include "framework/philox.h"
#include "kernels/random_fill.h"

namespace headrace {
namespace {

// The numbering of the "alg" inputs.
enum RngAlgorithm { kPhilox = 1, kThreeFry = 2, kAutoSelect = 3 };

Status StreamFromSeed(const Tensor& seed, Philox* out) {
  if (seed.dims() != 1 || seed.dim_size(0) != 2) {
    return errors::InvalidArgument("seed must have shape [2], got ",
                                   seed.shape().DebugString());
  }
  auto at = [&seed](int i) -> uint64_t {
    switch (seed.dtype()) {
      case DT_INT32:  // sign-extended
        return static_cast<uint64_t>(int64_t{seed.data<int32_t>()[i]});
      case DT_UINT32:
        return seed.data<uint32_t>()[i];
      case DT_UINT64:
        return seed.data<uint64_t>()[i];
      default:
        return static_cast<uint64_t>(seed.data<int64_t>()[i]);
    }
  };
  constexpr uint64_t kMixKey = uint64_t{0x02461e29} << 32 | 0x3ec8f720;
  const Philox::Block mix = Philox::FromState(kMixKey, at(0), at(1))();
  *out =
      Philox(mix[0] | uint64_t{mix[1]} << 32, mix[2] | uint64_t{mix[3]} << 32);
  return OkStatus();
}

Status StreamFromKey(const Tensor& key, const Tensor& counter,
                     const Tensor& alg, Philox* out) {
  if (alg.dims() != 0) {
    return errors::InvalidArgument("alg must be a scalar, got shape ",
                                   alg.shape().DebugString());
  }
  const int32_t a = alg.scalar<int32_t>();
  if (a == kThreeFry) {
    return errors::Unimplemented(
        "the ThreeFry algorithm (alg 2) has no CPU "
        "kernel; use Philox (alg 1)");
  }
  if (a != kPhilox && a != kAutoSelect) {
    return errors::InvalidArgument("Unsupported algorithm id: ", a);
  }
  if (key.dims() != 1 || key.dim_size(0) < 1) {
    return errors::InvalidArgument("key must have shape [1], got ",
                                   key.shape().DebugString());
  }
  if (counter.dims() != 1 || counter.dim_size(0) < 2) {
    return errors::InvalidArgument("counter must have shape [2], got ",
                                   counter.shape().DebugString());
  }
  *out = Philox::FromState(key.data<uint64_t>()[0], counter.data<uint64_t>()[0],
                           counter.data<uint64_t>()[1]);
  return OkStatus();
}

// Inputs: shape, then the seed, or key, counter and alg (V2), then what the
// distribution needs.
class StatelessOp : public OpKernel {
 public:
  StatelessOp(OpKernelConstruction* ctx, bool v2) : OpKernel(ctx), v2_(v2) {}

  void Compute(OpKernelContext* ctx) final {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    Philox stream;
    OP_REQUIRES_OK(ctx, v2_ ? StreamFromKey(ctx->input(1), ctx->input(2),
                                            ctx->input(3), &stream)
                            : StreamFromSeed(ctx->input(1), &stream));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(ctx, Fill(ctx, stream, v2_ ? 4 : 2, out));
  }

  virtual Status Fill(OpKernelContext* ctx, const Philox& stream,
                      int first_parameter, Tensor* out) = 0;

 private:
  const bool v2_;
};

template <RandomDist dist, bool v2>
class StatelessRandomOp : public StatelessOp {
 public:
  explicit StatelessRandomOp(OpKernelConstruction* ctx)
      : StatelessOp(ctx, v2) {}
  Status Fill(OpKernelContext* ctx, const Philox& stream, int,
              Tensor* out) override {
    return FillRandom(ctx, dist, stream, out);
  }
};

template <bool v2>
class StatelessUniformIntOp : public StatelessOp {
 public:
  explicit StatelessUniformIntOp(OpKernelConstruction* ctx)
      : StatelessOp(ctx, v2) {}
  Status Fill(OpKernelContext* ctx, const Philox& stream, int p,
              Tensor* out) override {
    return FillUniformInt(ctx, stream, ctx->input(p), ctx->input(p + 1), out);
  }
};

template <bool v2>
class StatelessFullIntOp : public StatelessOp {
 public:
  explicit StatelessFullIntOp(OpKernelConstruction* ctx)
      : StatelessOp(ctx, v2) {}
  Status Fill(OpKernelContext* ctx, const Philox& stream, int,
              Tensor* out) override {
    return FillFullInt(ctx, stream, out);
  }
};

#define REGISTER(NAME, ...) \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(DEVICE_CPU), __VA_ARGS__)
REGISTER("StatelessRandomUniform",
         StatelessRandomOp<RandomDist::kUniform, false>);
REGISTER("StatelessRandomNormal",
         StatelessRandomOp<RandomDist::kNormal, false>);
REGISTER("StatelessTruncatedNormal",
         StatelessRandomOp<RandomDist::kTruncatedNormal, false>);
REGISTER("StatelessRandomUniformInt", StatelessUniformIntOp<false>);
REGISTER("StatelessRandomUniformFullInt", StatelessFullIntOp<false>);
REGISTER("StatelessRandomUniformV2",
         StatelessRandomOp<RandomDist::kUniform, true>);
REGISTER("StatelessRandomNormalV2",
         StatelessRandomOp<RandomDist::kNormal, true>);
REGISTER("StatelessTruncatedNormalV2",
         StatelessRandomOp<RandomDist::kTruncatedNormal, true>);
REGISTER("StatelessRandomUniformIntV2", StatelessUniformIntOp<true>);
REGISTER("StatelessRandomUniformFullIntV2", StatelessFullIntOp<true>);

class StatelessMultinomialOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    Philox stream;
    OP_REQUIRES_OK(ctx, MultinomialShape(ctx->input(0), ctx->input(1), &shape));
    OP_REQUIRES_OK(ctx, StreamFromSeed(ctx->input(2), &stream));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(ctx, FillMultinomial(ctx, stream, ctx->input(0), out));
  }
};
REGISTER("StatelessMultinomial", StatelessMultinomialOp);

class GetKeyCounterOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Philox stream;
    OP_REQUIRES_OK(ctx, StreamFromSeed(ctx->input(0), &stream));
    Tensor *key = nullptr, *counter = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {1}, &key));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {2}, &counter));
    key->data<uint64_t>()[0] = stream.key();
    counter->data<uint64_t>()[0] = static_cast<uint64_t>(stream.counter());
    counter->data<uint64_t>()[1] =
        static_cast<uint64_t>(stream.counter() >> 64);
    if (num_outputs() > 2) ctx->set_output(2, Tensor::Scalar<int32_t>(kPhilox));
  }
};
REGISTER("StatelessRandomGetKeyCounter", GetKeyCounterOp);
REGISTER("StatelessRandomGetKeyCounterAlg", GetKeyCounterOp);

class GetAlgOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, Tensor::Scalar<int32_t>(kPhilox));
  }
};
REGISTER("StatelessRandomGetAlg", GetAlgOp);
#undef REGISTER

}  // namespace
}  // namespace headrace
