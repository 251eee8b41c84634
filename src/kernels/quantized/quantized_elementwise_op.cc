// QuantizedRelu, Relu6 and ReluX, QuantizedBiasAdd, QuantizedAdd and Mul.
#include "kernels/lib/broadcast.h"
#include "kernels/lib/quantized_math.h"

namespace headrace {
namespace {

enum class Bound { kNone, kSix, kInput };

// The bounds as numbers of the range, which stays.
template <typename Q, Bound kBound>
class QuantizedReluOp : public OpKernel {
  using T = typename StoredInteger<Q>::Type;

 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int first = kBound == Bound::kInput ? 2 : 1;
    FloatRange range;
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, first, &range));
    float bound = 6;
    if (kBound == Bound::kInput) {
      const Tensor& t = ctx->input(1);
      OP_REQUIRES(ctx, t.dims() == 0,
                  errors::InvalidArgument("max_value must be a scalar, got "
                                          "shape ",
                                          t.shape().DebugString()));
      bound = t.scalar<float>();
    }
    const QuantizedNumbers<T> numbers(range);
    const T low = numbers.FromFloat(0);
    const T high = kBound == Bound::kNone ? std::numeric_limits<T>::max()
                                          : numbers.FromFloat(bound);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, in.shape(), &out));
    const T* const x = static_cast<const T*>(in.raw_data());
    T* const y = static_cast<T*>(out->raw_data());
    ctx->ParallelFor(in.NumElements(), 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        y[i] = std::min(std::max(x[i], low), high);
      }
    });
    SetRangeOutputs(ctx, 1, range);
  }
};

template <typename Q>
class QuantizedBiasAddOp : public OpKernel {
  using T = typename StoredInteger<Q>::Type;

 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& bias = ctx->input(1);
    FloatRange range, bias_range;
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 2, &range));
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 4, &bias_range));
    OP_REQUIRES(
        ctx,
        in.dims() >= 2 && bias.dims() == 1 &&
            in.dim_size(in.dims() - 1) == bias.dim_size(0),
        errors::InvalidArgument(
            "bias must be a vector as long as the last dimension of "
            "input, which is at least a matrix; got shapes ",
            bias.shape().DebugString(), " and ", in.shape().DebugString()));
    const FloatRange sum = SumRange(range, bias_range, 17);
    const QuantizedNumbers<T> numbers(range), of_bias(bias_range);
    const QuantizedNumbers<int32_t> sums(sum);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    const T* const x = static_cast<const T*>(in.raw_data());
    const T* const b = static_cast<const T*>(bias.raw_data());
    int32_t* const y = static_cast<int32_t*>(out->raw_data());
    const int64_t n = bias.NumElements();
    ctx->ParallelFor(in.NumElements(), 20, [&](int64_t begin, int64_t end) {
      const auto sum_of = [&](const QuantizedNumbers<T>& from, T v) {
        return sums.FromFloat(static_cast<float>(from.ToFloat(v)));
      };
      for (int64_t i = begin; i < end; ++i) {
        y[i] = WrapMulAdd(sum_of(numbers, x[i]), 1, sum_of(of_bias, b[i % n]));
      }
    });
    SetRangeOutputs(ctx, 1, sum);
  }
};

// One operand of a sum or a product of quint8.
struct QuantizedOperand {
  FloatRange range;
  const uint8_t* data = nullptr;
  bool single = false;

  // Inputs `value` and first, first + 1.
  Status Read(const OpKernelContext& ctx, int value, int first,
              const char* name) {
    HR_RETURN_IF_ERROR(ReadFloatRange(ctx, first, &range));
    data = static_cast<const uint8_t*>(ctx.input(value).raw_data());
    single = ctx.input(value).NumElements() == 1;
    if (range.max > range.min) return OkStatus();
    return errors::InvalidArgument("max_", name, " must be larger than min_",
                                   name, ", got ", range.max, " and ",
                                   range.min);
  }
};

// The sum's integers are counted from the operands' 0 in whole steps, as
// TensorFlow has it: the last of 255 steps is off by what each was rounded. An
// operand of one element is converted by itself. Products of integers are
// exact, and wrap around.
template <bool kSum>
class QuantizedSumOrProductOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    QuantizedOperand x, y;
    OP_REQUIRES_OK(ctx, x.Read(*ctx, 0, 2, "x"));
    OP_REQUIRES_OK(ctx, y.Read(*ctx, 1, 4, "y"));
    BCast b({&ctx->input(0).shape(), &ctx->input(1).shape()});
    OP_REQUIRES_OK(ctx, b.status());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, b.output_shape(), &out));
    const FloatRange range =
        kSum ? SumRange(x.range, y.range, 14)
             : ProductRange<uint8_t, uint8_t>(x.range, y.range);
    SetRangeOutputs(ctx, 1, range);
    const Line a = LineOf(x, x.single, range);
    const Line c = LineOf(y, y.single && !x.single, range);
    int32_t* const z = static_cast<int32_t*>(out->raw_data());
    ctx->ParallelFor(out->NumElements(), 3, [&](int64_t begin, int64_t end) {
      BCastCursor at(b.dims(), begin);
      for (int64_t i = begin; i < end; ++i, at.Next()) {
        const int64_t p = a.At(x.data[at.offset(0)]);
        const int64_t q = c.At(y.data[at.offset(1)]);
        z[i] = static_cast<int32_t>(kSum ? static_cast<uint32_t>(Clamp(p)) +
                                               static_cast<uint32_t>(Clamp(q))
                                         : static_cast<uint32_t>(p) *
                                               static_cast<uint32_t>(q));
      }
    });
  }

 private:
  // What an operand's integers count for.
  struct Line {
    int64_t begin, step;
    int64_t At(uint8_t q) const { return begin + q * step; }
  };
  static Line LineOf(const QuantizedOperand& from, bool by_itself,
                     const FloatRange& to) {
    const QuantizedNumbers<uint8_t> numbers(from.range);
    if (!kSum) return {-numbers.Unclamped(0), 1};
    const QuantizedNumbers<int32_t> sums(to);
    const auto value = [&](uint8_t q) {
      return sums.Unclamped(static_cast<float>(numbers.ToFloat(q)));
    };
    if (by_itself) return {value(*from.data), 0};
    return {value(0), value(1) - value(0)};
  }
  static int32_t Clamp(int64_t v) {
    return static_cast<int32_t>(
        std::clamp<int64_t>(v, std::numeric_limits<int32_t>::min(),
                            std::numeric_limits<int32_t>::max()));
  }
};
REGISTER_KERNEL_BUILDER(Name("QuantizedAdd")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("T1")
                            .TypeConstraint<quint8>("T2")
                            .TypeConstraint<qint32>("Toutput"),
                        QuantizedSumOrProductOp<true>);
REGISTER_KERNEL_BUILDER(Name("QuantizedMul")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("T1")
                            .TypeConstraint<quint8>("T2")
                            .TypeConstraint<qint32>("Toutput"),
                        QuantizedSumOrProductOp<false>);

#define HR_REGISTER_RELU(NAME, Q, BOUND)                      \
  REGISTER_KERNEL_BUILDER(Name(NAME)                          \
                              .Device(DEVICE_CPU)             \
                              .TypeConstraint<Q>("Tinput")    \
                              .TypeConstraint<Q>("out_type"), \
                          QuantizedReluOp<Q, BOUND>)
#define HR_REGISTER_RELUS(Q)                          \
  HR_REGISTER_RELU("QuantizedRelu", Q, Bound::kNone); \
  HR_REGISTER_RELU("QuantizedRelu6", Q, Bound::kSix); \
  HR_REGISTER_RELU("QuantizedReluX", Q, Bound::kInput)
HR_REGISTER_RELUS(quint8);
HR_REGISTER_RELUS(qint32);
#undef HR_REGISTER_RELUS
#undef HR_REGISTER_RELU

#define HR_REGISTER(Q)                                             \
  REGISTER_KERNEL_BUILDER(Name("QuantizedBiasAdd")                 \
                              .Device(DEVICE_CPU)                  \
                              .TypeConstraint<Q>("T1")             \
                              .TypeConstraint<Q>("T2")             \
                              .TypeConstraint<qint32>("out_type"), \
                          QuantizedBiasAddOp<Q>)
HR_REGISTER(quint8);
HR_REGISTER(qint8);
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
