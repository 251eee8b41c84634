// QuantizedMatMulWithBias and what else may be fused to it: Relu, Requantize or
// Dequantize. The numbers are those of TensorFlow 2.21, oddities among them:
// - input_quant_mode counts for Dequantize alone; elsewhere it is MIN_FIRST;
// - MIN_FIRST gives a float bias what the matrix a is above its integers, which
//   is in units of sums, as if it were in floats. Where the range of a begins
//   at 0, as it does behind a Relu, that is nothing;
// - a bias of integers is given nothing.
#include "kernels/quantized/byte_matrix.h"
#include "kernels/quantized/quantized_epilogue.h"

namespace headrace {
namespace {

enum class FusedMatMulOutput : uint8_t { kSums, kRequantized, kFloats };

class QuantizedFusedMatMulOp : public OpKernel {
 public:
  QuantizedFusedMatMulOp(OpKernelConstruction* ctx, FusedMatMulOutput output,
                         bool relu)
      : OpKernel(ctx), output_(output), relu_(relu) {
    std::string mode;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_b", &transpose_b_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("input_quant_mode", &mode));
    min_first_ = mode == "MIN_FIRST" || output != FusedMatMulOutput::kFloats;
  }

  void SetConstantInput(int i, const Tensor& value) override {
    if (i == 1) b_.Set(value);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& a = ctx->input(0);
    const Tensor& b = ctx->input(1);
    MatMulSizes sizes;
    OP_REQUIRES_OK(ctx,
                   ReadMatMulSizes(*ctx, transpose_a_, transpose_b_, &sizes));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, TensorShape({sizes.m, sizes.n}), &out));
    QuantizedEpilogue epilogue;
    OP_REQUIRES_OK(ctx, Prepare(ctx, sizes.k, sizes.n, &epilogue));
    epilogue.SetColumns(sizes.n);
    OP_REQUIRES_OK(
        ctx, b_.Multiply(ctx, a, b,
                         {.sizes = sizes,
                          .transpose_a = transpose_a_,
                          .transpose_b = transpose_b_},
                         [&](int64_t row, int32_t* sums, double* scratch) {
                           epilogue.Finish(sums, row, sizes.n, scratch, out);
                         }));
  }

 private:
  // Reads all inputs but the first two and sets the output's range.
  Status Prepare(OpKernelContext* ctx, int64_t k, int64_t n,
                 QuantizedEpilogue* epilogue) const {
    const Tensor& bias = ctx->input(2);
    if (bias.dims() != 1 || bias.dim_size(0) != n) {
      return errors::InvalidArgument("bias must be a vector of ", n,
                                     " elements, one for each column, got "
                                     "shape ",
                                     bias.shape().DebugString());
    }
    FloatRange a_range, b_range, wanted;
    HR_RETURN_IF_ERROR(ReadWideRange(*ctx, 3, &a_range));
    HR_RETURN_IF_ERROR(ReadWideRange(*ctx, 5, &b_range));
    const double a_unit = min_first_ ? (double{a_range.max} - a_range.min) / 255
                                     : QuantizedUnit(a_range, DT_QUINT8);
    const double sum_unit = a_unit * QuantizedUnit(b_range, DT_QINT8);
    double unit = 1;  // of the output
    switch (output_) {
      case FusedMatMulOutput::kSums:
        unit = sum_unit;
        epilogue->low = std::numeric_limits<int32_t>::min();
        epilogue->high = std::numeric_limits<int32_t>::max();
        SetRangeOutputs(ctx, 1,
                        SumsRange(a_range, DT_QUINT8, b_range, DT_QINT8));
        break;
      case FusedMatMulOutput::kRequantized:
        HR_RETURN_IF_ERROR(ReadOrderedRange(*ctx, 7, &wanted));
        unit = QuantizedUnit(wanted, DT_QUINT8);
        if (unit == 0) {
          return errors::InvalidArgument(
              "the range of the output must not be 0 alone");
        }
        epilogue->high = QuantizedReach(DT_QUINT8);
        SetRangeOutputs(ctx, 1, wanted);
        break;
      case FusedMatMulOutput::kFloats:
        break;
    }
    if (relu_) epilogue->low = 0;
    epilogue->scales = {sum_unit / unit};
    if (bias.dtype() != DT_FLOAT) {
      const int32_t* const v = static_cast<const int32_t*>(bias.raw_data());
      for (int64_t j = 0; j < n; ++j) {
        epilogue->addends.push_back(v[j] * (sum_unit / unit));
      }
      return OkStatus();
    }
    std::vector<int64_t> columns(n);  // sums
    if (min_first_ && a_range.min != 0) {
      const int8_t* const b =
          static_cast<const int8_t*>(ctx->input(1).raw_data());
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          columns[j] += transpose_b_ ? b[j * k + i] : b[i * n + j];
        }
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      const double above =
          static_cast<double>(columns[j]) * (a_range.min / a_unit);
      epilogue->addends.push_back((bias.data<float>()[j] + above) / unit);
    }
    return OkStatus();
  }

  const FusedMatMulOutput output_;
  const bool relu_;
  bool transpose_a_ = false, transpose_b_ = false, min_first_ = true;
  ByteMatrix b_;
};

template <FusedMatMulOutput kOutput, bool kRelu>
class QuantizedMatMulOf : public QuantizedFusedMatMulOp {
 public:
  explicit QuantizedMatMulOf(OpKernelConstruction* ctx)
      : QuantizedFusedMatMulOp(ctx, kOutput, kRelu) {}
};

REGISTER_KERNEL_BUILDER(Name("QuantizedMatMulWithBiasAndRelu")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("T1")
                            .TypeConstraint<qint8>("T2")
                            .TypeConstraint<qint32>("Toutput"),
                        QuantizedMatMulOf<FusedMatMulOutput::kSums, true>);
#define REGISTER(NAME, OUT, KIND, RELU)                        \
  REGISTER_KERNEL_BUILDER(Name(NAME)                           \
                              .Device(DEVICE_CPU)              \
                              .TypeConstraint<quint8>("T1")    \
                              .TypeConstraint<qint8>("T2")     \
                              .TypeConstraint<float>("Tbias")  \
                              .TypeConstraint<qint32>("Tbias") \
                              .TypeConstraint<OUT>("Toutput"), \
                          QuantizedMatMulOf<FusedMatMulOutput::KIND, RELU>)
REGISTER("QuantizedMatMulWithBias", qint32, kSums, false);
REGISTER("QuantizedMatMulWithBiasAndDequantize", float, kFloats, false);
REGISTER("QuantizedMatMulWithBiasAndRequantize", quint8, kRequantized, false);
REGISTER("QuantizedMatMulWithBiasAndReluAndRequantize", quint8, kRequantized,
         true);
#undef REGISTER

}  // namespace
}  // namespace headrace
