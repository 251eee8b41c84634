// Requantize, RequantizationRange and QuantizeDownAndShrinkRange: sums in 32
// bits become numbers of 8 bits, in a range that is given or that they fill.
#include "headrace/simd.h"
#include "kernels/lib/quantized_math.h"

namespace headrace {
namespace {

const int32_t* Sums(const Tensor& t) {
  return static_cast<const int32_t*>(t.raw_data());
}

// What the sums fill, with 0 in it.
FloatRange UsedRange(const Tensor& sums, const FloatRange& range) {
  int32_t low = std::numeric_limits<int32_t>::max();
  int32_t high = std::numeric_limits<int32_t>::min();
  const int32_t* const x = Sums(sums);
  const int64_t n = sums.NumElements();
  RunSimd([&] {
    for (int64_t i = 0; i < n; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
    }
  });
  const QuantizedNumbers<int32_t> numbers(range);
  return {std::min(0.0f, static_cast<float>(numbers.ToFloat(low))),
          static_cast<float>(numbers.ToFloat(high))};
}

// In fixed point with 16 bits behind the point, as TensorFlow computes it, so
// that ties fall on the same side.
void Convert(OpKernelContext* ctx, const Tensor& sums, const FloatRange& from,
             const FloatRange& to, Tensor* out) {
  constexpr int kShift = 16;
  constexpr float kOne = 1 << kShift;
  const auto fixed = [](double x) {
    constexpr double kFar = 9e18;
    return static_cast<int64_t>(std::clamp(x, -kFar, kFar));
  };
  const float width = to.max - to.min;
  const bool empty = width == 0;
  // What an input of 2^32 more adds, what the middle of the input's range is,
  // and where the output's range begins.
  const int64_t scale =
      empty ? 0
            : fixed(255.0 * kOne * static_cast<double>(from.max - from.min) /
                    width);
  const float middle = static_cast<float>((from.min + from.max) / 2.0);
  const int64_t offset =
      empty ? 0 : fixed(middle * static_cast<float>(255.0 / width) * kOne);
  const int64_t begin_at = empty ? 0 : fixed(kOne * (to.min * 255.0) / width);
  const int32_t* const x = Sums(sums);
  uint8_t* const y = static_cast<uint8_t*>(out->raw_data());
  // Where no step exceeds 64 bits. x * scale / 2^32 is x times the upper half
  // of scale and what x times its lower half carries.
  const int64_t upper = scale >> 32, lower = scale & 0xffffffff;
  constexpr int64_t kMost = int64_t{1} << 60;
  const auto is_small = [](int64_t v, int64_t most) {
    return -most < v && v < most;
  };
  if (is_small(upper, kMost >> 32) && is_small(offset, kMost) &&
      is_small(begin_at, kMost)) {
    const int64_t addend = offset - begin_at + (1 << (kShift - 1));
    ctx->ParallelFor(sums.NumElements(), 1, [&](int64_t begin, int64_t end) {
      RunSimd([&] {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t value = x[i] * upper + ((x[i] * lower) >> 32) + addend;
          y[i] = static_cast<uint8_t>(
              std::clamp<int64_t>(value >> kShift, 0, 255));
        }
      });
    });
    return;
  }
  ctx->ParallelFor(sums.NumElements(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const __int128 product = static_cast<__int128>(x[i]) * scale;
      const __int128 value = (product >> 32) + offset - begin_at;
      const __int128 rounded = (value + (1 << (kShift - 1))) >> kShift;
      y[i] = static_cast<uint8_t>(std::clamp<__int128>(rounded, 0, 255));
    }
  });
}

void ConvertSigned(OpKernelContext* ctx, const Tensor& sums,
                   const FloatRange& from, const FloatRange& to, Tensor* out) {
  const QuantizedNumbers<int32_t> numbers(from);
  const QuantizedNumbers<int8_t> target(to);
  const int32_t* const x = Sums(sums);
  int8_t* const y = static_cast<int8_t*>(out->raw_data());
  ctx->ParallelFor(sums.NumElements(), 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      y[i] = target.FromFloat(static_cast<float>(numbers.ToFloat(x[i])));
    }
  });
}

enum class Target { kGiven, kUsed };

template <Target kTarget>
class RequantizeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    FloatRange range, wanted;
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 1, &range));
    if (kTarget == Target::kGiven) {
      OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 3, &wanted));
      OP_REQUIRES(
          ctx, wanted.min <= 0,
          errors::InvalidArgument("requested_output_min must be <= 0, but got ",
                                  wanted.min));
      OP_REQUIRES(ctx, wanted.max >= wanted.min,
                  errors::InvalidArgument(
                      "requested_output_max must be >= requested_output_min, "
                      "but got ",
                      wanted.max, " and ", wanted.min));
    } else {
      wanted = UsedRange(in, range);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    (out->dtype() == DT_QINT8 ? ConvertSigned : Convert)(ctx, in, range, wanted,
                                                         out);
    SetRangeOutputs(ctx, 1, wanted);
  }
};

class RequantizationRangeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    // Of ends whose rank was not known before, the first element counts.
    float ends[2];
    for (int i = 0; i < 2; ++i) {
      const Tensor& end = ctx->input(i + 1);
      const char* const name = i == 0 ? "input_min" : "input_max";
      OP_REQUIRES(ctx, end.NumElements() > 0,
                  errors::InvalidArgument(name, " must not be empty"));
      ends[i] = end.data<float>()[0];
      OP_REQUIRES(
          ctx, std::isfinite(ends[i]),
          errors::InvalidArgument(name, " must be finite, got ", ends[i]));
    }
    const FloatRange range = {ends[0], ends[1]};
    SetRangeOutputs(ctx, 0, UsedRange(ctx->input(0), range));
  }
};

REGISTER_KERNEL_BUILDER(Name("Requantize")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<qint32>("Tinput")
                            .TypeConstraint<quint8>("out_type"),
                        RequantizeOp<Target::kGiven>);
REGISTER_KERNEL_BUILDER(Name("Requantize")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<qint32>("Tinput")
                            .TypeConstraint<qint8>("out_type"),
                        RequantizeOp<Target::kGiven>);
REGISTER_KERNEL_BUILDER(Name("QuantizeDownAndShrinkRange")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<qint32>("Tinput")
                            .TypeConstraint<quint8>("out_type"),
                        RequantizeOp<Target::kUsed>);
REGISTER_KERNEL_BUILDER(Name("RequantizationRange")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<qint32>("Tinput"),
                        RequantizationRangeOp);

}  // namespace
}  // namespace headrace
