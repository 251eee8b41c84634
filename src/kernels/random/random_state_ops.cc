// Random numbers from a generator whose state is a resource variable: each run
// takes its part of the stream and leaves the state behind it, 256 blocks an
// output. What fails leaves the state as it was.
#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/random_stream.h"
#include "kernels/lib/variable_access.h"
#include "kernels/random/random_fill.h"

namespace headrace {
namespace {

constexpr uint64_t kBlocksPerOutput = 256;

// Inputs: the variable, the algorithm (unless the state's first element says
// it), the shape, and what the distribution needs.
class StatefulRandomOp : public OpKernel {
 public:
  explicit StatefulRandomOp(OpKernelConstruction* ctx, bool alg_in_state)
      : OpKernel(ctx), alg_in_state_(alg_in_state) {}

  void Compute(OpKernelContext* ctx) final {
    if (!alg_in_state_) OP_REQUIRES_OK(ctx, CheckRngAlgorithm(ctx->input(1)));
    const int at = alg_in_state_ ? 1 : 2;
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(at), &shape));
    OP_REQUIRES_OK(ctx, Check(*ctx, shape.num_elements()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    Philox stream;
    OP_REQUIRES_OK(
        ctx, ReserveFromVariable(
                 ctx, alg_in_state_ ? 1 : 0,
                 static_cast<uint64_t>(shape.num_elements()) * kBlocksPerOutput,
                 &stream));
    CancellableLoops cancellable(ctx);
    OP_REQUIRES_OK(ctx, Fill(ctx, stream, out));
  }

 protected:
  virtual Status Check(const OpKernelContext&, int64_t) { return OkStatus(); }
  virtual Status Fill(OpKernelContext* ctx, const Philox& stream,
                      Tensor* out) = 0;

 private:
  const bool alg_in_state_;
};

template <RandomDist dist, bool alg_in_state>
class StatefulFloatOp : public StatefulRandomOp {
 public:
  explicit StatefulFloatOp(OpKernelConstruction* ctx)
      : StatefulRandomOp(ctx, alg_in_state) {}

 protected:
  Status Fill(OpKernelContext* ctx, const Philox& stream,
              Tensor* out) override {
    return FillRandom(ctx, dist, stream, out);
  }
};

class StatefulUniformIntOp : public StatefulRandomOp {
 public:
  explicit StatefulUniformIntOp(OpKernelConstruction* ctx)
      : StatefulRandomOp(ctx, false) {}

 protected:
  Status Check(const OpKernelContext& ctx, int64_t n) override {
    return CheckUniformIntBounds(ctx.input(3), ctx.input(4), n);
  }
  Status Fill(OpKernelContext* ctx, const Philox& stream,
              Tensor* out) override {
    return FillUniformInt(ctx, stream, ctx->input(3), ctx->input(4), out);
  }
};

class StatefulFullIntOp : public StatefulRandomOp {
 public:
  explicit StatefulFullIntOp(OpKernelConstruction* ctx)
      : StatefulRandomOp(ctx, false) {}

 protected:
  Status Fill(OpKernelContext* ctx, const Philox& stream,
              Tensor* out) override {
    return FillFullInt(ctx, stream, out);
  }
};

#define FLOATS(NAME, ...)                                              \
  REGISTER_KERNEL_BUILDER(Name(NAME)                                   \
                              .Device(DEVICE_CPU)                      \
                              .TypeConstraint<half>("dtype")           \
                              .TypeConstraint<bfloat16>("dtype")       \
                              .TypeConstraint<float>("dtype")          \
                              .TypeConstraint<double>("dtype")         \
                              .TypeConstraint<int32_t>("shape_dtype")  \
                              .TypeConstraint<int64_t>("shape_dtype"), \
                          __VA_ARGS__)
#define INTEGERS(NAME, ...)                                            \
  REGISTER_KERNEL_BUILDER(Name(NAME)                                   \
                              .Device(DEVICE_CPU)                      \
                              .TypeConstraint<int32_t>("dtype")        \
                              .TypeConstraint<int64_t>("dtype")        \
                              .TypeConstraint<uint32_t>("dtype")       \
                              .TypeConstraint<uint64_t>("dtype")       \
                              .TypeConstraint<int32_t>("shape_dtype")  \
                              .TypeConstraint<int64_t>("shape_dtype"), \
                          __VA_ARGS__)
FLOATS("StatefulUniform", StatefulFloatOp<RandomDist::kUniform, false>);
FLOATS("StatefulStandardNormal", StatefulFloatOp<RandomDist::kNormal, true>);
FLOATS("StatefulStandardNormalV2", StatefulFloatOp<RandomDist::kNormal, false>);
FLOATS("StatefulTruncatedNormal",
       StatefulFloatOp<RandomDist::kTruncatedNormal, false>);
INTEGERS("StatefulUniformInt", StatefulUniformIntOp);
INTEGERS("StatefulUniformFullInt", StatefulFullIntOp);

// RngSkip and RngReadAndSkip, whose output is the state before.
class RngSkipOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, CheckRngAlgorithm(ctx->input(1)));
    const Tensor& delta = ctx->input(2);
    OP_REQUIRES(ctx, delta.dims() == 0,
                errors::InvalidArgument("delta must be a scalar, got shape ",
                                        delta.shape().DebugString()));
    const uint64_t outputs =
        delta.dtype() == DT_UINT64
            ? delta.scalar<uint64_t>()
            : static_cast<uint64_t>(delta.scalar<int64_t>());
    Tensor* value = nullptr;
    if (num_outputs() > 0) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {3}, &value));
    }
    Philox stream;
    OP_REQUIRES_OK(
        ctx, ReserveFromVariable(ctx, 0, outputs * kBlocksPerOutput, &stream));
    if (value == nullptr) return;
    int64_t* state = value->data<int64_t>();
    state[0] = static_cast<int64_t>(static_cast<uint64_t>(stream.counter()));
    state[1] =
        static_cast<int64_t>(static_cast<uint64_t>(stream.counter() >> 64));
    state[2] = static_cast<int64_t>(stream.key());
  }
};
REGISTER_KERNEL_BUILDER(Name("RngSkip").Device(DEVICE_CPU), RngSkipOp);
REGISTER_KERNEL_BUILDER(Name("RngReadAndSkip").Device(DEVICE_CPU), RngSkipOp);

class NonDeterministicIntsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape;
    OP_REQUIRES_OK(ctx, ShapeFromVector(ctx->input(0), &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(
        ctx, FillFullInt(ctx, Philox(RandomSeed64(), RandomSeed64()), out));
  }
};
INTEGERS("NonDeterministicInts", NonDeterministicIntsOp);
#undef FLOATS
#undef INTEGERS

}  // namespace
}  // namespace headrace
