// QuantizedConv2D of signed filters, QuantizedDepthwiseConv2D, and either with
// what may follow fused to it: bias, another tensor added, Relu, Requantize.
// Unlike in QuantizedConv2D of unsigned filters 0.0 is the integer 0 and ranges
// lie evenly around it (quantized_epilogue.h).
#include "framework/shape_fns/conv_attrs.h"
#include "headrace/simd.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/quantized/byte_matrix.h"
#include "kernels/quantized/quantized_epilogue.h"

namespace headrace {
namespace {

// What is fused.
enum QuantizedConvParts : unsigned {
  kDepthwiseFilter = 1,
  kOneFilterRange = 2,  // the filter's range may not be one a channel
  kPlusBias = 4,
  kPlusSummand = 8,
  kThenRelu = 16,
  kThenRequantize = 32,
};

class QuantizedFusedConvOp : public OpKernel {
 public:
  QuantizedFusedConvOp(OpKernelConstruction* ctx, unsigned parts)
      : OpKernel(ctx), parts_(parts) {
    OP_REQUIRES_OK(ctx, ConvAttrs::Read(*ctx, 2, &attrs_));
    OP_REQUIRES_OK(ctx, attrs_.CheckValues());
  }

  void SetConstantInput(int i, const Tensor& value) override {
    if (i == 1 && !Has(kDepthwiseFilter)) filter_.Set(value);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& filter = ctx->input(1);
    ConvSizes sizes;
    OP_REQUIRES_OK(ctx, ConvSizesOf(attrs_, in.shape(), filter.shape(),
                                    Has(kDepthwiseFilter), &sizes));
    OP_REQUIRES(ctx, Has(kDepthwiseFilter) || sizes.groups == 1,
                errors::InvalidArgument(
                    "input and filter must have the same depth, got ",
                    sizes.in_channels, " and ", filter.dim_size(2)));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, ConvOutputShape(attrs_, sizes), &out));
    QuantizedEpilogue epilogue;
    OP_REQUIRES_OK(ctx, Prepare(ctx, sizes.out_channels, *out, &epilogue));
    epilogue.SetColumns(sizes.out_channels);
    if (!Has(kDepthwiseFilter)) {
      OP_REQUIRES_OK(ctx, filter_.Convolve(
                              ctx, in, filter, sizes, 0, 0,
                              [&](int64_t row, int32_t* sums, double* scratch) {
                                epilogue.Finish(sums, row, sizes.out_channels,
                                                scratch, out);
                              }));
    } else if (in.dtype() == DT_QINT8) {
      ConvolveByChannel<int8_t>(ctx, sizes, epilogue, out);
    } else {
      ConvolveByChannel<uint8_t>(ctx, sizes, epilogue, out);
    }
  }

 private:
  bool Has(unsigned part) const { return (parts_ & part) != 0; }

  // Reads all inputs but the first two, in their order, and sets the outputs'
  // range.
  Status Prepare(OpKernelContext* ctx, int64_t depth, const Tensor& out,
                 QuantizedEpilogue* epilogue) const {
    const DataType type = ctx->input(0).dtype();
    int next = 2;
    const Tensor* const bias = Has(kPlusBias) ? &ctx->input(next++) : nullptr;
    if (bias != nullptr && (bias->dims() != 1 || bias->dim_size(0) != depth)) {
      return errors::InvalidArgument("bias must be a vector of ", depth,
                                     " elements, one for each channel, got ",
                                     "shape ", bias->shape().DebugString());
    }
    FloatRange range;
    std::vector<FloatRange> filter_ranges;
    HR_RETURN_IF_ERROR(ReadOrderedRange(*ctx, next, &range));
    HR_RETURN_IF_ERROR(ReadFilterRanges(*ctx, next + 2, depth, &filter_ranges));
    const int filter_range = next + 2;
    next += 4;
    // What a sum of 1 stands for, by channel.
    std::vector<double> units;
    double largest = 0;
    for (const FloatRange& f : filter_ranges) {
      units.push_back(QuantizedUnit(range, type) * QuantizedUnit(f, DT_QINT8));
      largest = std::max(largest, units.back());
    }
    double unit = largest;  // of the output
    const bool sums = !Has(kThenRequantize);
    epilogue->high = std::numeric_limits<int32_t>::max();
    epilogue->low = Has(kThenRelu) ? 0.0 : std::numeric_limits<int32_t>::min();
    if (sums) {
      SetSumsRanges(ctx, range, filter_ranges, filter_range);
    } else {
      FloatRange wanted;
      HR_RETURN_IF_ERROR(ReadOrderedRange(*ctx, next, &wanted));
      next += 2;
      SetRangeOutputs(ctx, 1, wanted);
      unit = QuantizedUnit(wanted, out.dtype());
      epilogue->high = QuantizedReach(out.dtype());
      epilogue->low = out.dtype() == DT_QINT8 ? -128 : 0;
    }
    if (unit == 0 && (!sums || Has(kPlusBias))) {
      return errors::InvalidArgument(
          sums ? "the ranges of input and filter must not be 0 alone where a "
                 "bias is added"
               : "the range of the output must not be 0 alone");
    }
    for (const double u : units) {
      epilogue->scales.push_back(unit == 0 ? 1 : u / unit);
    }
    if (bias != nullptr) AddBias(*bias, units, unit, epilogue);
    return Has(kPlusSummand) ? AddSummand(*ctx, next, out, unit, epilogue)
                             : OkStatus();
  }

  // Inputs `first` and first + 1: one range, or one for each channel.
  Status ReadFilterRanges(const OpKernelContext& ctx, int first, int64_t depth,
                          std::vector<FloatRange>* out) const {
    const Tensor& low = ctx.input(first);
    const Tensor& high = ctx.input(first + 1);
    const int64_t n = low.NumElements();
    if (low.dims() > 1 || low.shape() != high.shape() ||
        (n != 1 && (n != depth || Has(kOneFilterRange)))) {
      return errors::InvalidArgument(
          "min_filter and max_filter must be scalars",
          Has(kOneFilterRange) ? ""
                               : StrCat(" or vectors of ", depth, " elements"),
          ", got shapes ", low.shape().DebugString(), " and ",
          high.shape().DebugString());
    }
    for (int64_t c = 0; c < n; ++c) {
      const FloatRange r = {low.data<float>()[c], high.data<float>()[c]};
      if (!std::isfinite(r.min) || !std::isfinite(r.max) || r.min > r.max) {
        return errors::InvalidArgument(
            "min_filter and max_filter must be finite and in order, got [",
            r.min, ", ", r.max, "] for channel ", c);
      }
      out->push_back(r);
    }
    return OkStatus();
  }

  // The range of the output has the shape that the filter's has. For channels
  // of different ranges the elements are nevertheless in units of the largest.
  void SetSumsRanges(OpKernelContext* ctx, const FloatRange& range,
                     const std::vector<FloatRange>& filter_ranges,
                     int filter_range) const {
    const TensorShape shape = Has(kOneFilterRange)
                                  ? TensorShape({})
                                  : ctx->input(filter_range).shape();
    Tensor low(DT_FLOAT, shape), high(DT_FLOAT, shape);
    for (size_t c = 0; c < filter_ranges.size(); ++c) {
      const FloatRange r =
          SumsRange(range, ctx->input(0).dtype(), filter_ranges[c], DT_QINT8);
      low.data<float>()[c] = r.min;
      high.data<float>()[c] = r.max;
    }
    ctx->set_output(1, low);
    ctx->set_output(2, high);
  }

  // A bias is in floats, or in the units of the sums.
  static void AddBias(const Tensor& bias, const std::vector<double>& units,
                      double unit, QuantizedEpilogue* epilogue) {
    for (int64_t c = 0; c < bias.NumElements(); ++c) {
      epilogue->addends.push_back(
          bias.dtype() == DT_FLOAT
              ? bias.data<float>()[c] / unit
              : static_cast<const int32_t*>(bias.raw_data())[c] *
                    (units[units.size() == 1 ? 0 : c] / unit));
    }
  }

  static Status AddSummand(const OpKernelContext& ctx, int at,
                           const Tensor& out, double unit,
                           QuantizedEpilogue* epilogue) {
    const Tensor& summand = ctx.input(at);
    if (summand.shape() != out.shape()) {
      return errors::InvalidArgument("summand must have the output's shape ",
                                     out.shape().DebugString(), ", got ",
                                     summand.shape().DebugString());
    }
    epilogue->summand = &summand;
    if (summand.dtype() == DT_FLOAT) {
      epilogue->summand_scale = 1 / unit;
      return OkStatus();
    }
    FloatRange range;
    HR_RETURN_IF_ERROR(ReadOrderedRange(ctx, at + 1, &range));
    epilogue->summand_scale = QuantizedUnit(range, summand.dtype()) / unit;
    // TensorFlow writes the result over a signed summand, as signed integers.
    if (summand.dtype() == DT_QINT8) epilogue->high = 127;
    return OkStatus();
  }

  // Each of x's channels times the m numbers of w that are its own.
  template <typename T>
  static void AddByChannel(const T* x, const int8_t* w, int64_t depth,
                           int64_t m, int32_t* sums) {
    if (m == 1) {
      for (int64_t k = 0; k < depth; ++k) {
        sums[k] = WrapMulAdd(sums[k], x[k], w[k]);
      }
      return;
    }
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t j = 0; j < m; ++j) {
        sums[k * m + j] = WrapMulAdd(sums[k * m + j], x[k], w[k * m + j]);
      }
    }
  }

  template <typename T>
  void ConvolveByChannel(OpKernelContext* ctx, const ConvSizes& s,
                         const QuantizedEpilogue& epilogue, Tensor* out) const {
    if (out->NumElements() == 0) return;
    const T* const x = static_cast<const T*>(ctx->input(0).raw_data());
    const int8_t* const w =
        static_cast<const int8_t*>(ctx->input(1).raw_data());
    const int64_t depth = s.in_channels, n = s.out_channels;
    // Adds up the window of position `at` of the output.
    const auto window = [&](int64_t at, int32_t* sums) {
      const int64_t image = at / (s.out[1] * s.out[2]);
      const int64_t top = at / s.out[2] % s.out[1] * s.stride[1];
      const int64_t left = at % s.out[2] * s.stride[2];
      for (int64_t r = 0; r < s.filter[1]; ++r) {
        const int64_t row = top + r * s.dilation[1] - s.pad_before[1];
        if (row < 0 || row >= s.in[1]) continue;
        for (int64_t c = 0; c < s.filter[2]; ++c) {
          const int64_t column = left + c * s.dilation[2] - s.pad_before[2];
          if (column < 0 || column >= s.in[2]) continue;
          const T* const from =
              x + ((image * s.in[1] + row) * s.in[2] + column) * depth;
          const int8_t* const by = w + (r * s.filter[2] + c) * n;
          AddByChannel(from, by, depth, n / depth, sums);
        }
      }
    };
    CancellableLoops cancellable(ctx);
    ctx->ParallelFor(out->NumElements() / n,
                     0.3 * static_cast<double>(s.filter[1] * s.filter[2] * n),
                     [&](int64_t begin, int64_t end) {
                       std::vector<int32_t> sums(n);
                       std::vector<double> scratch(n);
                       for (int64_t at = begin; at < end; ++at) {
                         std::fill(sums.begin(), sums.end(), 0);
                         RunSimd([&] { window(at, sums.data()); });
                         epilogue.Finish(sums.data(), at, n, scratch.data(),
                                         out);
                       }
                     });
  }

  const unsigned parts_;
  ConvAttrs attrs_;
  ByteMatrix filter_;
};

template <unsigned kParts>
class QuantizedConvOf : public QuantizedFusedConvOp {
 public:
  explicit QuantizedConvOf(OpKernelConstruction* ctx)
      : QuantizedFusedConvOp(ctx, kParts) {}
};

// Of quint8 to sums.
#define REGISTER_SUMS(NAME, PARTS, ...)                                        \
  REGISTER_KERNEL_BUILDER(Name(NAME)                                           \
                              .Device(DEVICE_CPU)                              \
                              .TypeConstraint<quint8>("Tinput")                \
                                  __VA_ARGS__.TypeConstraint<qint8>("Tfilter") \
                              .TypeConstraint<qint32>("out_type"),             \
                          QuantizedConvOf<(PARTS)>)
// Of quint8, with a bias, to OUT.
#define REGISTER_REQUANTIZED(NAME, OUT, PARTS, ...)        \
  REGISTER_KERNEL_BUILDER(                                 \
      Name(NAME)                                           \
          .Device(DEVICE_CPU)                              \
          .TypeConstraint<quint8>("Tinput")                \
              __VA_ARGS__.TypeConstraint<qint8>("Tfilter") \
          .TypeConstraint<float>("Tbias")                  \
          .TypeConstraint<qint32>("Tbias")                 \
          .TypeConstraint<OUT>("out_type"),                \
      QuantizedConvOf<(PARTS) | kPlusBias | kThenRequantize>)
#define AND_QINT8 .TypeConstraint<qint8>("Tinput")

REGISTER_SUMS("QuantizedConv2D", kOneFilterRange);
REGISTER_SUMS("QuantizedConv2DPerChannel", 0u);
REGISTER_SUMS("QuantizedConv2DAndRelu", kThenRelu);
REGISTER_SUMS("QuantizedConv2DWithBias", kPlusBias, AND_QINT8);
REGISTER_SUMS("QuantizedConv2DWithBiasAndRelu", kPlusBias | kThenRelu,
              AND_QINT8);
REGISTER_SUMS("QuantizedConv2DWithBiasSumAndRelu",
              kPlusBias | kPlusSummand | kThenRelu);
REGISTER_SUMS("QuantizedDepthwiseConv2D", kDepthwiseFilter);
REGISTER_SUMS("QuantizedDepthwiseConv2DWithBias", kDepthwiseFilter | kPlusBias);
REGISTER_SUMS("QuantizedDepthwiseConv2DWithBiasAndRelu",
              kDepthwiseFilter | kPlusBias | kThenRelu);

REGISTER_KERNEL_BUILDER(Name("QuantizedConv2DAndReluAndRequantize")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("Tinput")
                            .TypeConstraint<qint8>("Tfilter")
                            .TypeConstraint<quint8>("out_type"),
                        QuantizedConvOf<kThenRelu | kThenRequantize>);
REGISTER_KERNEL_BUILDER(Name("QuantizedConv2DAndRequantize")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("Tinput")
                            .TypeConstraint<qint8>("Tfilter")
                            .TypeConstraint<qint8>("out_type"),
                        QuantizedConvOf<kThenRequantize>);
REGISTER_REQUANTIZED("QuantizedConv2DWithBiasAndReluAndRequantize", quint8,
                     kThenRelu, AND_QINT8);
REGISTER_REQUANTIZED("QuantizedConv2DWithBiasAndRequantize", qint8, 0u,
                     AND_QINT8);
REGISTER_REQUANTIZED("QuantizedConv2DWithBiasSumAndReluAndRequantize", quint8,
                     kPlusSummand | kThenRelu,
                     .TypeConstraint<quint8>("Tsummand"));
REGISTER_REQUANTIZED("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
                     quint8, kPlusSummand | kThenRelu,
                     .TypeConstraint<qint8>("Tsummand"));
REGISTER_REQUANTIZED("QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
                     quint8, kDepthwiseFilter | kThenRelu);
#undef AND_QINT8
#undef REGISTER_REQUANTIZED
#undef REGISTER_SUMS

}  // namespace
}  // namespace headrace
