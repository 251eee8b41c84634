// QuantizedMatMul and QuantizedConv2D: sums in 32 bits of products of what the
// numbers of 8 bits are above their zeros.
#include <algorithm>
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/quantized/byte_matrix.h"

namespace headrace {
namespace {

// The number that stands for 0.0. It need not be one of a byte.
int64_t ZeroOf(const FloatRange& range) {
  return QuantizedNumbers<uint8_t>(range).Unclamped(0);
}

// The numbers less `zero`.
std::vector<int32_t> AboveZero(const Tensor& t, int64_t zero) {
  const uint8_t* const x = static_cast<const uint8_t*>(t.raw_data());
  std::vector<int32_t> out(t.NumElements());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<int32_t>(static_cast<uint32_t>(x[i]) -
                                  static_cast<uint32_t>(zero));
  }
  return out;
}

// sums[j] += a * b[j]
void AddRow(int32_t a, const int32_t* b, int64_t n, int32_t* sums) {
  for (int64_t j = 0; j < n; ++j) sums[j] = WrapMulAdd(sums[j], a, b[j]);
}

class QuantizedMatMulOp : public OpKernel {
 public:
  explicit QuantizedMatMulOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_b", &transpose_b_));
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
    const int64_t m = sizes.m, n = sizes.n;
    FloatRange a_range, b_range;
    OP_REQUIRES_OK(ctx, ReadWideRange(*ctx, 2, &a_range));
    OP_REQUIRES_OK(ctx, ReadWideRange(*ctx, 4, &b_range));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({m, n}), &out));
    int32_t* const to = static_cast<int32_t*>(out->raw_data());
    OP_REQUIRES_OK(ctx, b_.Multiply(ctx, a, b,
                                    {.sizes = sizes,
                                     .transpose_a = transpose_a_,
                                     .transpose_b = transpose_b_,
                                     .a_zero = ZeroOf(a_range),
                                     .b_zero = ZeroOf(b_range)},
                                    [&](int64_t row, int32_t* sums, double*) {
                                      std::copy_n(sums, n, to + row * n);
                                    }));
    SetRangeOutputs(ctx, 1, ProductRange<uint8_t, uint8_t>(a_range, b_range));
  }

 private:
  bool transpose_a_ = false, transpose_b_ = false;
  ByteMatrix b_;
};
REGISTER_KERNEL_BUILDER(Name("QuantizedMatMul")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("T1")
                            .TypeConstraint<quint8>("T2")
                            .TypeConstraint<qint32>("Toutput"),
                        QuantizedMatMulOp);

class QuantizedConv2DOp : public OpKernel {
 public:
  explicit QuantizedConv2DOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<int64_t> strides, dilations;
    std::string padding;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("strides", &strides));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dilations", &dilations));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("padding", &padding));
    OP_REQUIRES_OK(ctx, ParsePadding(padding, &padding_));
    OP_REQUIRES(ctx,
                strides.size() == 4 && strides[0] == 1 && strides[3] == 1 &&
                    strides[1] == strides[2] && strides[1] > 0,
                errors::InvalidArgument(
                    "strides must be [1, s, s, 1] with s > 0, the same for "
                    "rows and columns"));
    stride_ = strides[1];
    OP_REQUIRES(ctx, dilations == std::vector<int64_t>({1, 1, 1, 1}),
                errors::InvalidArgument("dilations must be 1"));
  }

  void SetConstantInput(int i, const Tensor& value) override {
    if (i == 1) filter_.Set(value);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& filter = ctx->input(1);
    OP_REQUIRES(
        ctx, in.dims() == 4 && filter.dims() == 4,
        errors::InvalidArgument(
            "input and filter must be 4-dimensional, got shapes ",
            in.shape().DebugString(), " and ", filter.shape().DebugString()));
    OP_REQUIRES(ctx, in.dim_size(3) == filter.dim_size(2),
                errors::InvalidArgument(
                    "input and filter must have the same depth, got ",
                    in.dim_size(3), " and ", filter.dim_size(2)));
    OP_REQUIRES(ctx, filter.NumElements() > 0,
                errors::InvalidArgument("filter must not have zero elements, "
                                        "got shape ",
                                        filter.shape().DebugString()));
    FloatRange range, filter_range;
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 2, &range));
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 4, &filter_range));
    int64_t size[2], before[2], after[2];
    for (int d = 0; d < 2; ++d) {
      OP_REQUIRES_OK(
          ctx,
          WindowedOutputSize(in.dim_size(1 + d), filter.dim_size(d), 1, stride_,
                             padding_, &size[d], &before[d], &after[d]));
    }
    const int64_t n = filter.dim_size(3);
    ConvSizes sizes = {.batch = in.dim_size(0),
                       .in_channels = in.dim_size(3),
                       .out_channels = n};
    for (int d = 0; d < 2; ++d) {
      sizes.in[1 + d] = in.dim_size(1 + d);
      sizes.filter[1 + d] = filter.dim_size(d);
      sizes.out[1 + d] = size[d];
      sizes.stride[1 + d] = stride_;
      sizes.pad_before[1 + d] = before[d];
      sizes.pad_after[1 + d] = after[d];
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(
                 0, TensorShape({in.dim_size(0), size[0], size[1], n}), &out));
    const int64_t zero = ZeroOf(range), filter_zero = ZeroOf(filter_range);
    int32_t* const to = static_cast<int32_t*>(out->raw_data());
    const bool padded = (before[0] | before[1] | after[0] | after[1]) > 0;
    if (padded && (zero < 0 || zero > 255)) {
      AddUpWindows(ctx, sizes, AboveZero(in, zero),
                   AboveZero(filter, filter_zero), to);
    } else {
      OP_REQUIRES_OK(ctx,
                     filter_.Convolve(ctx, in, filter, sizes, zero, filter_zero,
                                      [&](int64_t row, int32_t* sums, double*) {
                                        std::copy_n(sums, n, to + row * n);
                                      }));
    }
    SetRangeOutputs(ctx, 1,
                    ProductRange<uint8_t, uint8_t>(range, filter_range));
  }

 private:
  // For an image whose padding is no byte.
  static void AddUpWindows(OpKernelContext* ctx, const ConvSizes& s,
                           const std::vector<int32_t>& x,
                           const std::vector<int32_t>& w, int32_t* sums) {
    const int64_t depth = s.in_channels, n = s.out_channels;
    const int64_t pixels = s.batch * s.out[1] * s.out[2];
    std::fill_n(sums, pixels * n, 0);
    const auto window = [&](int64_t at) {
      const int64_t image = at / (s.out[1] * s.out[2]);
      const int64_t top =
          at / s.out[2] % s.out[1] * s.stride[1] - s.pad_before[1];
      const int64_t left = at % s.out[2] * s.stride[2] - s.pad_before[2];
      for (int64_t r = 0; r < s.filter[1]; ++r) {
        if (top + r < 0 || top + r >= s.in[1]) continue;
        for (int64_t c = 0; c < s.filter[2]; ++c) {
          if (left + c < 0 || left + c >= s.in[2]) continue;
          const int32_t* const from =
              &x[((image * s.in[1] + top + r) * s.in[2] + left + c) * depth];
          for (int64_t k = 0; k < depth; ++k) {
            AddRow(from[k], &w[((r * s.filter[2] + c) * depth + k) * n], n,
                   sums + at * n);
          }
        }
      }
    };
    CancellableLoops cancellable(ctx);
    ctx->ParallelFor(pixels, 0.3 * static_cast<double>(w.size()),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t at = begin; at < end; ++at) window(at);
                     });
  }

  int64_t stride_ = 1;
  Padding padding_ = Padding::kValid;
  ByteMatrix filter_;
};
REGISTER_KERNEL_BUILDER(Name("QuantizedConv2D")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("Tinput")
                            .TypeConstraint<quint8>("Tfilter")
                            .TypeConstraint<qint32>("out_type"),
                        QuantizedConv2DOp);

}  // namespace
}  // namespace headrace
