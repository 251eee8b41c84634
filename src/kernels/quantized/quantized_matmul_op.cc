// QuantizedMatMul and QuantizedConv2D: sums in 32 bits of products of what the
// numbers of 8 bits are above their zeros.
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/quantized_math.h"

namespace headrace {
namespace {

// The numbers less the one that stands for 0.0.
std::vector<int32_t> AboveZero(const Tensor& t, const FloatRange& range) {
  const int64_t zero = QuantizedNumbers<uint8_t>(range).Unclamped(0);
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

  void Compute(OpKernelContext* ctx) override {
    const Tensor& a = ctx->input(0);
    const Tensor& b = ctx->input(1);
    MatMulSizes sizes;
    OP_REQUIRES_OK(ctx,
                   ReadMatMulSizes(*ctx, transpose_a_, transpose_b_, &sizes));
    const int64_t m = sizes.m, k = sizes.k, n = sizes.n;
    FloatRange a_range, b_range;
    OP_REQUIRES_OK(ctx, ReadWideRange(*ctx, 2, &a_range));
    OP_REQUIRES_OK(ctx, ReadWideRange(*ctx, 4, &b_range));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({m, n}), &out));
    const std::vector<int32_t> left = AboveZero(a, a_range);
    std::vector<int32_t> right = AboveZero(b, b_range);
    if (transpose_b_) right = TransposedMatrix(right.data(), n, k);
    int32_t* const sums = static_cast<int32_t*>(out->raw_data());
    std::fill_n(sums, m * n, 0);
    CancellableLoops cancellable(ctx);
    ctx->ParallelFor(m, 0.3 * static_cast<double>(k * n),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t r = begin; r < end; ++r) {
                         for (int64_t i = 0; i < k; ++i) {
                           const int32_t v =
                               transpose_a_ ? left[i * m + r] : left[r * k + i];
                           AddRow(v, &right[i * n], n, sums + r * n);
                         }
                       }
                     });
    SetRangeOutputs(ctx, 1, ProductRange<uint8_t, uint8_t>(a_range, b_range));
  }

 private:
  bool transpose_a_ = false, transpose_b_ = false;
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
    const int64_t rows = in.dim_size(1), columns = in.dim_size(2);
    const int64_t depth = in.dim_size(3), n = filter.dim_size(3);
    const int64_t high = filter.dim_size(0), wide = filter.dim_size(1);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(
                 0, TensorShape({in.dim_size(0), size[0], size[1], n}), &out));
    const std::vector<int32_t> x = AboveZero(in, range);
    const std::vector<int32_t> w = AboveZero(filter, filter_range);
    int32_t* const sums = static_cast<int32_t*>(out->raw_data());
    std::fill_n(sums, out->NumElements(), 0);
    const auto window = [&](int64_t at) {
      const int64_t image = at / (size[0] * size[1]);
      const int64_t top = at / size[1] % size[0] * stride_ - before[0];
      const int64_t left = at % size[1] * stride_ - before[1];
      for (int64_t r = 0; r < high; ++r) {
        if (top + r < 0 || top + r >= rows) continue;
        for (int64_t c = 0; c < wide; ++c) {
          if (left + c < 0 || left + c >= columns) continue;
          const int32_t* const from =
              &x[((image * rows + top + r) * columns + left + c) * depth];
          for (int64_t k = 0; k < depth; ++k) {
            AddRow(from[k], &w[((r * wide + c) * depth + k) * n], n,
                   sums + at * n);
          }
        }
      }
    };
    CancellableLoops cancellable(ctx);
    if (out->NumElements() > 0) {
      ctx->ParallelFor(out->NumElements() / n,
                       0.3 * static_cast<double>(filter.NumElements()),
                       [&](int64_t begin, int64_t end) {
                         for (int64_t at = begin; at < end; ++at) window(at);
                       });
    }
    SetRangeOutputs(ctx, 1,
                    ProductRange<uint8_t, uint8_t>(range, filter_range));
  }

 private:
  int64_t stride_ = 1;
  Padding padding_ = Padding::kValid;
};
REGISTER_KERNEL_BUILDER(Name("QuantizedConv2D")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<quint8>("Tinput")
                            .TypeConstraint<quint8>("Tfilter")
                            .TypeConstraint<qint32>("out_type"),
                        QuantizedConv2DOp);

}  // namespace
}  // namespace headrace
