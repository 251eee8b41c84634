// Element-wise ops on a GPU: functions of one and two operands, comparisons,
// activations and their gradients, chains of them, casts, biases, selections,
// fills and sums of several tensors.
#include <string>
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "kernels/gpu/gpu_op.h"
#include "kernels/lib/broadcast.h"
#include "kernels/lib/element.h"
#include "kernels/lib/elementwise_chain.h"

namespace headrace::gpu {
namespace {

template <Fn fn, typename T>
class UnaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), x.NumElements(),
                                UnaryMap<fn, Dev<T>>{In<T>(x), Out<T>(y)}));
  }
};

template <Fn fn, typename T>
class TestOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), x.NumElements(),
                                TestMap<fn, Dev<T>>{In<T>(x), Out<bool>(y)}));
  }
};

// How functors find the operands of a result.
Status MakeBroadcast(const BCast& bcast, int64_t x_elements, int64_t y_elements,
                     Broadcast* out) {
  const int64_t n = bcast.output_shape().num_elements();
  *out = Broadcast();
  if ((x_elements == n || x_elements == 1) &&
      (y_elements == n || y_elements == 1)) {
    out->x_stride = x_elements == n ? 1 : 0;
    out->y_stride = y_elements == n ? 1 : 0;
    return OkStatus();
  }
  out->flat = false;
  BoxBuilder<2> box;
  for (const BCast::Dim& d : bcast.dims()) {
    box.AddDim(d.size, {d.stride[0], d.stride[1]});
  }
  return box.Build(&out->box);
}

template <typename T>
class BinaryOpBase : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &y = ctx->input(1);
    const BCast bcast({&x.shape(), &y.shape()});
    OP_REQUIRES_OK(ctx, bcast.status());
    Broadcast b;
    OP_REQUIRES_OK(ctx,
                   MakeBroadcast(bcast, x.NumElements(), y.NumElements(), &b));
    Tensor* z = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0, 1}, 0, bcast.output_shape(), &z));
    OP_REQUIRES_OK(ctx, Run(GpuStream(ctx), x, y, b, z));
  }

 private:
  virtual Status Run(Stream* stream, const Tensor& x, const Tensor& y,
                     const Broadcast& b, Tensor* z) = 0;
};

template <Fn fn, typename T>
class BinaryOp final : public BinaryOpBase<T> {
 public:
  using BinaryOpBase<T>::BinaryOpBase;

 private:
  Status Run(Stream* stream, const Tensor& x, const Tensor& y,
             const Broadcast& b, Tensor* z) override {
    return ForEach(stream, z->NumElements(),
                   BinaryMap<fn, Dev<T>>{In<T>(x), In<T>(y), Out<T>(z), b});
  }
};
template <Fn fn, typename T>
class CompareOp final : public BinaryOpBase<T> {
 public:
  using BinaryOpBase<T>::BinaryOpBase;

 private:
  Status Run(Stream* stream, const Tensor& x, const Tensor& y,
             const Broadcast& b, Tensor* z) override {
    return ForEach(stream, z->NumElements(),
                   CompareMap<fn, Dev<T>>{In<T>(x), In<T>(y), Out<bool>(z), b});
  }
};
template <int kOp>
class LogicalOp final : public BinaryOpBase<bool> {
 public:
  using BinaryOpBase<bool>::BinaryOpBase;

 private:
  Status Run(Stream* stream, const Tensor& x, const Tensor& y,
             const Broadcast& b, Tensor* z) override {
    return ForEach(stream, z->NumElements(),
                   LogicalMap<kOp>{In<bool>(x), In<bool>(y), Out<bool>(z), b});
  }
};
class LogicalNotOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), x.NumElements(),
                                LogicalNotMap{In<bool>(x), Out<bool>(y)}));
  }
};

Status CheckSameShape(const OpKernelContext& ctx) {
  if (ctx.input(0).shape() == ctx.input(1).shape()) return OkStatus();
  return errors::InvalidArgument(ctx.op_kernel().type_string(),
                                 ": Inputs must have the same shape, got ",
                                 ctx.input(0).shape().DebugString(), " and ",
                                 ctx.input(1).shape().DebugString());
}

template <Fn fn, typename T>
class GradOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &y = ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckSameShape(*ctx));
    Tensor* z = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0, 1}, 0, x.shape(), &z));
    OP_REQUIRES_OK(
        ctx, ForEach(GpuStream(ctx), x.NumElements(),
                     BinaryMap<fn, Dev<T>>{In<T>(x), In<T>(y), Out<T>(z), {}}));
  }
};

template <typename T>
class LeakyReluOp : public OpKernel {
 public:
  explicit LeakyReluOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("alpha", &alpha_));
    alpha_ = static_cast<float>(static_cast<T>(alpha_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const bool grad = ctx->num_inputs() == 2;
    if (grad) OP_REQUIRES_OK(ctx, CheckSameShape(*ctx));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    Stream* stream = GpuStream(ctx);
    const int64_t n = x.NumElements();
    OP_REQUIRES_OK(
        ctx, grad
                 ? ForEach(stream, n,
                           LeakyReluGrad<Dev<T>>{In<T>(x), In<T>(ctx->input(1)),
                                                 Out<T>(y), alpha_})
                 : ForEach(stream, n,
                           LeakyRelu<Dev<T>>{In<T>(x), Out<T>(y), alpha_}));
  }

 private:
  float alpha_ = 0.2f;
};

// _FusedElementwise. Steps that a chain has no function for refuse the node
// when its kernel is made.
class FusedElementwiseOp : public OpKernel {
 public:
  explicit FusedElementwiseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<std::string> ops;
    std::vector<int64_t> sides;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ops", &ops));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("sides", &sides));
    OP_REQUIRES(
        ctx, ops.size() == sides.size(),
        errors::InvalidArgument("ops and sides must be equally long, got ",
                                ops.size(), " and ", sides.size()));
    int args = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      OP_REQUIRES(ctx, 0 <= sides[i] && sides[i] <= 2,
                  errors::InvalidArgument(
                      "sides[", i, "] must be 0, 1 or 2, got ", sides[i]));
      Step step = {Fn::kNeg, static_cast<int>(sides[i])};
      OP_REQUIRES(ctx, FindFn(ops[i], step.side != 0, &step.fn),
                  errors::Unimplemented(
                      "ops[", i, "]: ", ops[i], " is no element-wise op of ",
                      step.side == 0 ? 1 : 2, " operands on a GPU"));
      args += step.side != 0;
      steps_.push_back(step);
    }
    OP_REQUIRES(ctx, args == num_inputs() - 1,
                errors::InvalidArgument("the ops want ", args, " args, got ",
                                        num_inputs() - 1));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    Chain<float> chain{};
    chain.x = In<float>(x);
    chain.y = Out<float>(y);
    int arg = 1;
    for (size_t i = 0; i < steps_.size(); ++i) {
      auto& step = chain.step[chain.steps++];
      step = {steps_[i].fn, steps_[i].side, nullptr, 1};
      if (step.side != 0) {
        const Tensor& t = ctx->input(arg);
        OP_REQUIRES(ctx, IsRowOf(t.shape(), x.shape()),
                    errors::InvalidArgument(
                        "args[", arg - 1,
                        "] must have one element or a shape that x's shape ",
                        x.shape().DebugString(), " ends with, got ",
                        t.shape().DebugString()));
        step.arg = In<float>(t);
        step.period = std::max<int64_t>(1, t.NumElements());
        ++arg;
      }
      // A chain longer than a kernel's goes on where it stopped.
      if (chain.steps == Chain<float>::kMaxSteps || i + 1 == steps_.size()) {
        OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), x.NumElements(), chain));
        chain.x = chain.y;
        chain.steps = 0;
      }
    }
  }

 private:
  struct Step {
    Fn fn;
    int side;
  };
  static bool FindFn(const std::string& op, bool binary, Fn* fn) {
    struct Entry {
      const char* op;
      Fn fn;
      bool binary;
    };
    static constexpr Entry kEntries[] = {
#define HR_ENTRY(OP) {#OP, Fn::k##OP, false},
        HR_GPU_UNARY_OPS(HR_ENTRY)
#undef HR_ENTRY
#define HR_ENTRY(OP) {#OP, Fn::k##OP, true},
            HR_GPU_BINARY_OPS(HR_ENTRY)
#undef HR_ENTRY
    // Gradients: the value is the op's first operand.
#define HR_ENTRY(OP) {#OP, Fn::k##OP, true},
                HR_GPU_GRAD_OPS(HR_ENTRY)
#undef HR_ENTRY
                    {"Add", Fn::kAddV2, true},
        {"Inv", Fn::kReciprocal, false},
        {"Rint", Fn::kRound, false},
        {"Div", Fn::kRealDiv, true}};
    for (const Entry& e : kEntries) {
      if (op == e.op && binary == e.binary) {
        *fn = e.fn;
        return true;
      }
    }
    return false;
  }
  std::vector<Step> steps_;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedElementwise").Device(DEVICE_GPU).TypeConstraint<float>("T"),
    FusedElementwiseOp);

template <typename From, typename To>
class CastOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    if constexpr (std::is_same_v<From, To>) {
      ctx->set_output(0, x);
    } else {
      Tensor* y = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
      OP_REQUIRES_OK(
          ctx, ForEach(GpuStream(ctx), x.NumElements(),
                       CastMap<Dev<From>, Dev<To>>{In<From>(x), Out<To>(y)}));
    }
  }
};

template <typename T>
class BiasAddOp : public OpKernel {
 public:
  explicit BiasAddOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string name = "NHWC";
    if (ctx->HasAttr("data_format")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("data_format", &name));
    }
    OP_REQUIRES_OK(ctx, ParseDataFormat(name, &format_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &bias = ctx->input(1);
    OP_REQUIRES(ctx, x.dims() >= 2,
                errors::InvalidArgument("Input tensor must be at least 2D: ",
                                        x.shape().DebugString()));
    OP_REQUIRES(ctx, bias.dims() == 1,
                errors::InvalidArgument("Biases must be 1D: ",
                                        bias.shape().DebugString()));
    const int axis = ChannelDim(format_, x.dims());
    const int64_t channels = x.dim_size(axis);
    OP_REQUIRES(
        ctx, bias.dim_size(0) == channels,
        errors::InvalidArgument(
            "Must provide as many biases as the channel dimension of the input "
            "tensor: ",
            bias.shape().DebugString(), " vs. ", channels, " in ",
            x.shape().DebugString()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    BiasTail<Dev<T>> f{};
    f.x = In<T>(x);
    f.y = Out<T>(y);
    f.bias = In<T>(bias);
    f.channels = channels;
    f.inner = x.shape().ProductOf(axis + 1, x.dims());
    f.tail = Tail::kNone;
    OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), x.NumElements(), f));
  }

 private:
  DataFormat format_ = DataFormat::kNHWC;
};

// Select and SelectV2. The condition of Select may be a vector over the first
// dim.
class SelectOp : public OpKernel {
 public:
  explicit SelectOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), broadcasts_(ctx->op_def().name == "SelectV2") {}
  void Compute(OpKernelContext* ctx) override {
    const Tensor &c = ctx->input(0), &t = ctx->input(1), &e = ctx->input(2);
    TensorShape shape = t.shape();
    BoxBuilder<3> builder;
    if (broadcasts_) {
      const BCast bcast({&c.shape(), &t.shape(), &e.shape()});
      OP_REQUIRES_OK(ctx, bcast.status());
      shape = bcast.output_shape();
      for (const BCast::Dim& d : bcast.dims()) {
        builder.AddDim(d.size, {d.stride[0], d.stride[1], d.stride[2]});
      }
    } else {
      OP_REQUIRES(
          ctx, t.shape() == e.shape(),
          errors::InvalidArgument(
              "'then' and 'else' must have the same size.  but received: ",
              t.shape().DebugString(), " vs. ", e.shape().DebugString()));
      const bool same = c.shape() == t.shape();
      const bool rows =
          c.dims() == 1 && t.dims() >= 1 && c.dim_size(0) == t.dim_size(0);
      OP_REQUIRES(
          ctx, same || rows || c.dims() == 0,
          errors::InvalidArgument(
              "'cond' must be a scalar, a vector over the first dimension, or "
              "of the same shape as 'then'; got cond ",
              c.shape().DebugString(), ", then ", t.shape().DebugString()));
      const int64_t outer = same ? t.NumElements() : c.NumElements();
      const int64_t inner = outer == 0 ? 0 : t.NumElements() / outer;
      builder.AddDim(outer, {1, inner, inner});
      builder.AddDim(inner, {0, 1, 1});
    }
    StridedBox<3> box;
    OP_REQUIRES_OK(ctx, builder.Build(&box));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({1, 2}, 0, shape, &out));
    OP_REQUIRES_OK(
        ctx, WithWidth(BaseType(t.dtype()), [&](auto bytes) {
          using E = Element<bytes()>;
          return ForEach(
              GpuStream(ctx), out->NumElements(),
              SelectMap<E>{In<bool>(c), static_cast<const E*>(t.raw_data()),
                           static_cast<const E*>(e.raw_data()),
                           static_cast<E*>(out->raw_data()), box});
        }));
  }

 private:
  const bool broadcasts_;
};

// Fill: the dims are in host memory, the value on the device.
class FillOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &dims_in = ctx->input(0), &value = ctx->input(1);
    OP_REQUIRES(ctx, dims_in.dims() <= 1,
                errors::InvalidArgument("dims must represent a vector, got "
                                        "shape ",
                                        dims_in.shape().DebugString()));
    OP_REQUIRES(ctx, value.NumElements() == 1 && value.dims() <= 1,
                errors::InvalidArgument("value must represent a scalar, got "
                                        "shape ",
                                        value.shape().DebugString()));
    DimVector dims;
    OP_REQUIRES_OK(ctx, ReadIntegers(dims_in, "dims", &dims));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(ctx, WithWidth(value.dtype(), [&](auto bytes) {
                     using E = Element<bytes()>;
                     return ForEach(
                         GpuStream(ctx), out->NumElements(),
                         FillMap<E>{static_cast<const E*>(value.raw_data()),
                                    static_cast<E*>(out->raw_data())});
                   }));
  }
};

class ZerosLikeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, ctx->input(0).shape(), &out));
    if (out->TotalBytes() == 0) return;
    OP_REQUIRES_OK(ctx, GpuStream(ctx)->Fill(DeviceMemoryBase(*out), 0,
                                             out->TotalBytes()));
  }
};

template <typename T>
class OnesLikeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, ctx->input(0).shape(), &out));
    OP_REQUIRES_OK(ctx,
                   ForEach(GpuStream(ctx), out->NumElements(),
                           SetMap<Dev<T>>{Store<Dev<T>>(1.0f), Out<T>(out)}));
  }
};

// Range: the three numbers are in host memory.
template <typename T>
class RangeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    static const char* const kNames[] = {"start", "limit", "delta"};
    T v[3];
    for (int i = 0; i < 3; ++i) {
      OP_REQUIRES(
          ctx, ctx->input(i).NumElements() == 1,
          errors::InvalidArgument(kNames[i], " must be a scalar, not shape ",
                                  ctx->input(i).shape().DebugString()));
      v[i] = *ctx->input(i).data<T>();
    }
    OP_REQUIRES(ctx, v[2] != 0,
                errors::InvalidArgument("Requires delta != 0: ", v[2]));
    const bool up = v[2] > 0;
    OP_REQUIRES(ctx, up ? v[0] <= v[1] : v[0] >= v[1],
                errors::InvalidArgument(
                    "Requires start ", up ? "<=" : ">=", " limit when delta ",
                    up ? ">" : "<", " 0: ", v[0], "/", v[1]));
    int64_t size = 0;
    if constexpr (std::is_integral_v<T>) {
      const uint64_t a = static_cast<uint64_t>(v[0]);
      const uint64_t b = static_cast<uint64_t>(v[1]);
      const uint64_t span = up ? b - a : a - b;
      const uint64_t step = up ? static_cast<uint64_t>(v[2])
                               : uint64_t{0} - static_cast<uint64_t>(v[2]);
      const uint64_t n = span / step + (span % step != 0);
      OP_REQUIRES(ctx, n <= static_cast<uint64_t>(INT64_MAX), TooLong());
      size = static_cast<int64_t>(n);
    } else {
      const T n = std::ceil(std::abs((v[1] - v[0]) / v[2]));
      OP_REQUIRES(ctx, n < T(9.2e18), TooLong());
      size = static_cast<int64_t>(n);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({size}), &out));
    OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), size,
                                RangeMap<T>{v[0], v[2], Out<T>(out)}));
  }

 private:
  static Status TooLong() {
    return errors::InvalidArgument("Requires ((limit - start) / delta) <= ",
                                   INT64_MAX);
  }
};

template <typename T>
class AddNOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& first = ctx->input(0);
    for (int i = 1; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES(
          ctx, ctx->input(i).shape() == first.shape(),
          errors::InvalidArgument(
              "Inputs to operation AddN must have the same size and shape. "
              " Input 0: ",
              first.shape().DebugString(), " != input ", i, ": ",
              ctx->input(i).shape().DebugString()));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, first.shape(), &out));
    // Kernels have so many arguments; the sum so far is one of the next's.
    using F = AddNMap<Dev<T>>;
    F f{};
    f.y = Out<T>(out);
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      f.x[f.count++] = In<T>(ctx->input(i));
      if (f.count < F::kMax && i + 1 < ctx->num_inputs()) continue;
      OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), out->NumElements(), f));
      f.x[0] = f.y;
      f.count = 1;
    }
  }
};

#define HR_REGISTER(OP)                                   \
  HR_GPU_KERNEL(#OP, float, UnaryOp<Fn::k##OP, float>);   \
  HR_GPU_KERNEL(#OP, half, UnaryOp<Fn::k##OP, half>);     \
  HR_GPU_KERNEL(#OP, double, UnaryOp<Fn::k##OP, double>); \
  HR_GPU_KERNEL(#OP, bfloat16, UnaryOp<Fn::k##OP, bfloat16>);
HR_GPU_UNARY_OPS(HR_REGISTER)
#undef HR_REGISTER
#define HR_REGISTER(OP)                                    \
  HR_GPU_KERNEL(#OP, float, BinaryOp<Fn::k##OP, float>);   \
  HR_GPU_KERNEL(#OP, half, BinaryOp<Fn::k##OP, half>);     \
  HR_GPU_KERNEL(#OP, double, BinaryOp<Fn::k##OP, double>); \
  HR_GPU_KERNEL(#OP, bfloat16, BinaryOp<Fn::k##OP, bfloat16>);
HR_GPU_BINARY_OPS(HR_REGISTER)
#undef HR_REGISTER
#define HR_REGISTER(OP) \
  HR_GPU_KERNEL(#OP, int64_t, BinaryOp<Fn::k##OP, int64_t>);
HR_GPU_INT_BINARY_OPS(HR_REGISTER)
#undef HR_REGISTER
#define HR_REGISTER(OP)                                         \
  HR_GPU_KERNEL(#OP, float, CompareOp<Fn::k##OP, float>);       \
  HR_GPU_KERNEL(#OP, half, CompareOp<Fn::k##OP, half>);         \
  HR_GPU_KERNEL(#OP, double, CompareOp<Fn::k##OP, double>);     \
  HR_GPU_KERNEL(#OP, bfloat16, CompareOp<Fn::k##OP, bfloat16>); \
  HR_GPU_KERNEL(#OP, int64_t, CompareOp<Fn::k##OP, int64_t>);
HR_GPU_COMPARE_OPS(HR_REGISTER)
#undef HR_REGISTER
#define HR_REGISTER(OP)                                  \
  HR_GPU_KERNEL(#OP, float, GradOp<Fn::k##OP, float>);   \
  HR_GPU_KERNEL(#OP, half, GradOp<Fn::k##OP, half>);     \
  HR_GPU_KERNEL(#OP, double, GradOp<Fn::k##OP, double>); \
  HR_GPU_KERNEL(#OP, bfloat16, GradOp<Fn::k##OP, bfloat16>);
HR_GPU_GRAD_OPS(HR_REGISTER)
#undef HR_REGISTER
#define HR_REGISTER(OP)                                  \
  HR_GPU_KERNEL(#OP, float, TestOp<Fn::k##OP, float>);   \
  HR_GPU_KERNEL(#OP, half, TestOp<Fn::k##OP, half>);     \
  HR_GPU_KERNEL(#OP, double, TestOp<Fn::k##OP, double>); \
  HR_GPU_KERNEL(#OP, bfloat16, TestOp<Fn::k##OP, bfloat16>);
HR_GPU_TEST_OPS(HR_REGISTER)
#undef HR_REGISTER

#define HR_REGISTER(T)                                         \
  HR_GPU_KERNEL("Add", T, BinaryOp<Fn::kAddV2, T>);            \
  HR_GPU_KERNEL("Div", T, BinaryOp<Fn::kRealDiv, T>);          \
  HR_GPU_KERNEL("Inv", T, UnaryOp<Fn::kReciprocal, T>);        \
  HR_GPU_KERNEL("Rint", T, UnaryOp<Fn::kRound, T>);            \
  HR_GPU_KERNEL("InvGrad", T, GradOp<Fn::kReciprocalGrad, T>); \
  HR_GPU_KERNEL("LeakyRelu", T, LeakyReluOp<T>);               \
  HR_GPU_KERNEL("LeakyReluGrad", T, LeakyReluOp<T>);           \
  HR_GPU_KERNEL("BiasAdd", T, BiasAddOp<T>);                   \
  HR_GPU_KERNEL("BiasAddV1", T, BiasAddOp<T>);                 \
  HR_GPU_KERNEL("AddN", T, AddNOp<T>);                         \
  HR_GPU_KERNEL("OnesLike", T, OnesLikeOp<T>);
HR_GPU_REAL_TYPES(HR_REGISTER)
#undef HR_REGISTER
HR_GPU_KERNEL("Add", int64_t, BinaryOp<Fn::kAddV2, int64_t>);

// Elements of these types are moved by GPUs. int32 is the type of shapes, which
// stay in host memory (host_ops.cc).
#define HR_REGISTER(T)                                \
  HR_GPU_KERNEL("Select", T, SelectOp);               \
  HR_GPU_KERNEL("SelectV2", T, SelectOp);             \
  HR_GPU_KERNEL("ZerosLike", T, ZerosLikeOp);         \
  REGISTER_KERNEL_BUILDER(Name("Fill")                \
                              .Device(DEVICE_GPU)     \
                              .TypeConstraint<T>("T") \
                              .HostMemory("dims"),    \
                          FillOp);
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int64_t)
HR_REGISTER(bool)
#undef HR_REGISTER

#define HR_REGISTER(T)                                    \
  REGISTER_KERNEL_BUILDER(Name("Range")                   \
                              .Device(DEVICE_GPU)         \
                              .HostMemory("start")        \
                              .HostMemory("limit")        \
                              .HostMemory("delta")        \
                              .TypeConstraint<T>("Tidx"), \
                          RangeOp<T>);
HR_REGISTER(float)
HR_REGISTER(double)
HR_REGISTER(int64_t)
#undef HR_REGISTER

#define HR_REGISTER(FROM, TO)                               \
  REGISTER_KERNEL_BUILDER(Name("Cast")                      \
                              .Device(DEVICE_GPU)           \
                              .TypeConstraint<FROM>("SrcT") \
                              .TypeConstraint<TO>("DstT"),  \
                          CastOp<FROM, TO>);
// clang-format off
#define HR_REGISTER_FROM(FROM) \
  HR_REGISTER(FROM, float) HR_REGISTER(FROM, half) HR_REGISTER(FROM, bfloat16) \
  HR_REGISTER(FROM, int32_t) HR_REGISTER(FROM, int64_t) \
  HR_REGISTER(FROM, uint8_t) HR_REGISTER(FROM, bool) HR_REGISTER(FROM, double)
// clang-format on
HR_REGISTER_FROM(float)
HR_REGISTER_FROM(half)
HR_REGISTER_FROM(bfloat16)
HR_REGISTER_FROM(int32_t)
HR_REGISTER_FROM(int64_t)
HR_REGISTER_FROM(uint8_t)
HR_REGISTER_FROM(bool)
HR_REGISTER_FROM(double)
#undef HR_REGISTER_FROM
#undef HR_REGISTER

REGISTER_KERNEL_BUILDER(Name("LogicalAnd").Device(DEVICE_GPU), LogicalOp<0>);
REGISTER_KERNEL_BUILDER(Name("LogicalOr").Device(DEVICE_GPU), LogicalOp<1>);
REGISTER_KERNEL_BUILDER(Name("LogicalNot").Device(DEVICE_GPU), LogicalNotOp);

}  // namespace
}  // namespace headrace::gpu
