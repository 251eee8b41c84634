// Stateless random ops: the result depends only on the inputs, among them a
// seed. The V2 ops take key and counter, which StatelessRandomGetKeyCounter
// computes from a seed.
#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/random_stream.h"
#include "kernels/random/random_fill.h"

namespace headrace {
namespace {

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
