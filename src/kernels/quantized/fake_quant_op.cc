// FakeQuantWithMinMax*: y = scale * round((clamp(x) - min') / scale) + min',
// rounding halves up. The range is first nudged so that 0 is one of the steps:
// one that does not contain 0 is shifted. An all-zero range gives zeros. The
// gradient passes where x lies in the nudged range; what lies below or above
// goes to min's and max's gradients.
#include <algorithm>
#include <vector>

#include "base/thread_pool.h"
#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/fake_quant.h"

namespace headrace {
namespace {

Status ReadLevels(OpKernelConstruction* ctx, FakeQuantLevels* levels) {
  int64_t bits;
  bool narrow;
  HR_RETURN_IF_ERROR(ctx->GetAttr("num_bits", &bits));
  HR_RETURN_IF_ERROR(ctx->GetAttr("narrow_range", &narrow));
  if (bits < 2 || bits > 16) {
    return errors::InvalidArgument(
        "num_bits must be between 2 and 16, "
        "inclusive, got ",
        bits);
  }
  levels->low = narrow ? 1 : 0;
  levels->high = static_cast<float>((1 << bits) - 1);
  return OkStatus();
}

// For a range that is not all zero.
inline float Quantize(float x, float min, float max, float scale,
                      float inverse) {
  return FakeQuantCode(x, min, max, inverse) * scale + min;
}

// Reads the range of channel i from inputs first and first + 1.
Status CheckRange(OpKernelContext* ctx, int first, bool per_channel,
                  const Tensor& inputs) {
  const Tensor& low = ctx->input(first);
  const Tensor& high = ctx->input(first + 1);
  if (per_channel && inputs.dims() < 1) {
    return errors::InvalidArgument("inputs must be at least a vector");
  }
  TensorShape want;
  if (per_channel) want.AddDim(inputs.dim_size(inputs.dims() - 1));
  if (low.shape() != want || high.shape() != want) {
    return errors::InvalidArgument(
        "min and max must have shape ", want.DebugString(), ", got ",
        low.shape().DebugString(), " and ", high.shape().DebugString());
  }
  return OkStatus();
}

std::vector<FakeQuantRange> Ranges(OpKernelContext* ctx, int first,
                                   const FakeQuantLevels& levels) {
  const Tensor& low = ctx->input(first);
  const Tensor& high = ctx->input(first + 1);
  std::vector<FakeQuantRange> ranges;
  for (int64_t i = 0; i < low.NumElements(); ++i) {
    ranges.emplace_back(low.data<float>()[i], high.data<float>()[i], levels);
  }
  return ranges;
}

// y[r, c] = quantised x[r, c], with channel c's range.
void Forward(OpKernelContext* ctx, const std::vector<FakeQuantRange>& ranges) {
  const Tensor& in = ctx->input(0);
  Tensor* out = nullptr;
  OP_REQUIRES_OK(
      ctx, ctx->forward_input_or_allocate_output({0}, 0, in.shape(), &out));
  const int64_t depth = static_cast<int64_t>(ranges.size());
  if (in.NumElements() == 0) return;
  const float* x = in.data<float>();
  float* y = out->data<float>();
  if (depth == 1) {
    const FakeQuantRange range = ranges[0];
    if (range.zero) {
      std::fill_n(y, in.NumElements(), 0.0f);
      return;
    }
    ctx->ParallelFor(in.NumElements(), 0.3, [&](int64_t begin, int64_t end) {
      RunSimd([x, y, range, begin, end] {
        const float min = range.min, max = range.max, scale = range.scale,
                    inverse = range.inverse;
        for (int64_t i = begin; i < end; ++i) {
          y[i] = Quantize(x[i], min, max, scale, inverse);
        }
      });
    });
    return;
  }
  std::vector<int64_t> zeros;
  std::vector<float> columns(4 * depth);  // of min, max, scale and inverse
  float* const column = columns.data();
  for (int64_t c = 0; c < depth; ++c) {
    column[c] = ranges[c].min;
    column[depth + c] = ranges[c].max;
    column[2 * depth + c] = ranges[c].scale;
    column[3 * depth + c] = ranges[c].inverse;
    if (ranges[c].zero) zeros.push_back(c);
  }
  ctx->ParallelFor(in.NumElements() / depth, 0.4 * static_cast<double>(depth),
                   [x, y, column, depth, &zeros](int64_t begin, int64_t end) {
                     RunSimd([x, y, column, depth, begin, end] {
                       const float *min = column, *max = column + depth,
                                   *scale = column + 2 * depth,
                                   *inverse = column + 3 * depth;
                       for (int64_t r = begin; r < end; ++r) {
                         const float* from = x + r * depth;
                         float* to = y + r * depth;
                         for (int64_t c = 0; c < depth; ++c) {
                           to[c] = Quantize(from[c], min[c], max[c], scale[c],
                                            inverse[c]);
                         }
                       }
                     });
                     for (int64_t r = begin; r < end; ++r) {
                       for (int64_t c : zeros) y[r * depth + c] = 0;
                     }
                   });
}

// Gradients of inputs 0 (g) and 1 (x). dmin and dmax, one each channel, may be
// null. Sums run in double over blocks of rows, added up in order.
void Backward(OpKernelContext* ctx, const std::vector<FakeQuantRange>& ranges,
              Tensor* dmin, Tensor* dmax) {
  const Tensor& gradients = ctx->input(0);
  const Tensor& inputs = ctx->input(1);
  Tensor* out = nullptr;
  OP_REQUIRES_OK(
      ctx, ctx->forward_input_or_allocate_output({0}, 0, inputs.shape(), &out));
  const int64_t depth = static_cast<int64_t>(ranges.size());
  const int64_t rows = depth == 0 ? 0 : inputs.NumElements() / depth;
  const int64_t block =
      std::max<int64_t>(1, 16384 / std::max<int64_t>(depth, 1));
  const int64_t blocks = (rows + block - 1) / block;
  std::vector<double> low(blocks * depth, 0), high(blocks * depth, 0);
  const float* g = gradients.data<float>();
  const float* x = inputs.data<float>();
  float* dx = out->data<float>();
  ctx->thread_pool()->ParallelFor(rows, block, [&](int64_t begin, int64_t end) {
    double* lo = low.data() + begin / block * depth;
    double* hi = high.data() + begin / block * depth;
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t c = 0; c < depth; ++c) {
        const int64_t i = r * depth + c;
        const float gi = g[i], xi = x[i];
        const FakeQuantRange& range = ranges[c];
        if (range.zero) {
          dx[i] = gi;
          continue;
        }
        // Products, so that gradients which are not finite show everywhere.
        const float below = xi < range.min ? 1 : 0;
        const float above = xi > range.max ? 1 : 0;
        const float within = xi >= range.min && xi <= range.max ? 1 : 0;
        lo[c] += below * gi;
        hi[c] += above * gi;
        dx[i] = within * gi;
      }
    }
  });
  if (dmin == nullptr) return;
  for (int64_t c = 0; c < depth; ++c) {
    double lo = 0, hi = 0;
    for (int64_t b = 0; b < blocks; ++b) {
      lo += low[b * depth + c];
      hi += high[b * depth + c];
    }
    dmin->data<float>()[c] = static_cast<float>(lo);
    dmax->data<float>()[c] = static_cast<float>(hi);
  }
}

template <bool kGradient>
class FakeQuantArgsOp : public OpKernel {
 public:
  explicit FakeQuantArgsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadLevels(ctx, &levels_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("min", &min_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max", &max_));
    OP_REQUIRES(ctx, min_ < max_,
                errors::InvalidArgument("min has to be smaller than max, was: ",
                                        min_, " >= ", max_));
  }
  void Compute(OpKernelContext* ctx) override {
    const std::vector<FakeQuantRange> ranges(
        1, FakeQuantRange(min_, max_, levels_));
    if (!kGradient) return Forward(ctx, ranges);
    OP_REQUIRES(ctx, ctx->input(0).shape() == ctx->input(1).shape(),
                errors::InvalidArgument("gradient and input must be the same "
                                        "size"));
    Backward(ctx, ranges, nullptr, nullptr);
  }

 private:
  FakeQuantLevels levels_;
  float min_ = 0, max_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("FakeQuantWithMinMaxArgs").Device(DEVICE_CPU),
                        FakeQuantArgsOp<false>);
REGISTER_KERNEL_BUILDER(
    Name("FakeQuantWithMinMaxArgsGradient").Device(DEVICE_CPU),
    FakeQuantArgsOp<true>);

template <bool kPerChannel>
class FakeQuantVarsOp : public OpKernel {
 public:
  explicit FakeQuantVarsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadLevels(ctx, &levels_));
  }
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, CheckRange(ctx, 1, kPerChannel, ctx->input(0)));
    Forward(ctx, Ranges(ctx, 1, levels_));
  }

 private:
  FakeQuantLevels levels_;
};
REGISTER_KERNEL_BUILDER(Name("FakeQuantWithMinMaxVars").Device(DEVICE_CPU),
                        FakeQuantVarsOp<false>);
REGISTER_KERNEL_BUILDER(
    Name("FakeQuantWithMinMaxVarsPerChannel").Device(DEVICE_CPU),
    FakeQuantVarsOp<true>);

template <bool kPerChannel>
class FakeQuantVarsGradientOp : public OpKernel {
 public:
  explicit FakeQuantVarsGradientOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadLevels(ctx, &levels_));
  }
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, ctx->input(0).shape() == ctx->input(1).shape(),
                errors::InvalidArgument("gradient and input must be the same "
                                        "size"));
    OP_REQUIRES_OK(ctx, CheckRange(ctx, 2, kPerChannel, ctx->input(1)));
    Tensor *dmin = nullptr, *dmax = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, ctx->input(2).shape(), &dmin));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, ctx->input(2).shape(), &dmax));
    Backward(ctx, Ranges(ctx, 2, levels_), dmin, dmax);
  }

 private:
  FakeQuantLevels levels_;
};
REGISTER_KERNEL_BUILDER(
    Name("FakeQuantWithMinMaxVarsGradient").Device(DEVICE_CPU),
    FakeQuantVarsGradientOp<false>);
REGISTER_KERNEL_BUILDER(
    Name("FakeQuantWithMinMaxVarsPerChannelGradient").Device(DEVICE_CPU),
    FakeQuantVarsGradientOp<true>);

}  // namespace
}  // namespace headrace
