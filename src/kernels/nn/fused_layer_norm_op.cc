// _FusedLayerNorm: y = (x - mean) / sqrt(variance + epsilon) * scale + offset,
// where mean and variance are of the last `axes` dims of x. Scale and offset
// are optional; each has the shape of these dims or of the last of them.
//
// A row is read three times while it is in the cache. Sums have a fixed number
// of partial sums, so results do not depend on processor or threads. The
// variance is the mean of (x - mean)^2.
//
// Multiply-add in one instruction where the processor has it. Before all
// includes, so that what they define inline has it too.
#pragma GCC optimize("fp-contract=fast")

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "headrace/op_kernel.h"
#include "kernels/lib/simd_width.h"
#include "kernels/nn/row_math.h"

namespace headrace {
namespace {

// Sum of (x - mean)^2, as row_math::Sum sums.
inline float SumOfSquares(const float* x, float mean, int64_t n) {
  using V = VectorOf<32>;
  constexpr int kSums = 8;
  constexpr int64_t kStep = kSums * V::kLanes;
  V::Type sums[kSums] = {};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    for (int k = 0; k < kSums; ++k) {
      const V::Type d = V::At(x + i + k * V::kLanes) - mean;
      sums[k] += d * d;
    }
  }
  for (; i + V::kLanes <= n; i += V::kLanes) {
    const V::Type d = V::At(x + i) - mean;
    sums[0] += d * d;
  }
  for (int w = kSums / 2; w > 0; w /= 2) {
    for (int k = 0; k < w; ++k) sums[k] += sums[k + w];
  }
  float lane[V::kLanes];
  std::memcpy(lane, &sums[0], sizeof(lane));
  for (int l = 0; i < n; ++i, ++l) lane[l] += (x[i] - mean) * (x[i] - mean);
  for (int w = V::kLanes / 2; w > 0; w /= 2) {
    for (int l = 0; l < w; ++l) lane[l] += lane[l + w];
  }
  return lane[0];
}

class FusedLayerNormOp : public OpKernel {
 public:
  explicit FusedLayerNormOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axes", &axes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("epsilon", &epsilon_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_scale", &has_scale_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("has_offset", &has_offset_));
    const int args = (has_scale_ ? 1 : 0) + (has_offset_ ? 1 : 0);
    OP_REQUIRES(ctx, num_inputs() == 1 + args,
                errors::InvalidArgument("has_scale and has_offset want ", args,
                                        " args, got ", num_inputs() - 1));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    OP_REQUIRES(
        ctx, axes_ <= x.dims(),
        errors::InvalidArgument("x must have ", axes_, " dims or more, got ",
                                x.shape().DebugString()));
    int64_t n = 1;
    for (int d = x.dims() - static_cast<int>(axes_); d < x.dims(); ++d) {
      n *= x.dim_size(d);
    }
    Tensor laid_out[2];
    const float* parameters[2] = {nullptr, nullptr};
    int input = 1;
    for (int i = 0; i < 2; ++i) {
      if (!(i == 0 ? has_scale_ : has_offset_)) continue;
      OP_REQUIRES_OK(ctx,
                     LayOut(ctx, input++, n, &laid_out[i], &parameters[i]));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &output));
    if (output->NumElements() == 0) return;
    const float* const from = x.data<float>();
    float* const to = output->data<float>();
    ctx->ParallelFor(x.NumElements() / n, 5 + 0.4 * static_cast<double>(n),
                     [&](int64_t begin, int64_t end) {
                       RunSimd([&] {
                         for (int64_t r = begin; r < end; ++r) {
                           Row(from + r * n, parameters[0], parameters[1], n,
                               to + r * n);
                         }
                       });
                     });
  }

 private:
  // One value for each of the n elements of a row.
  Status LayOut(OpKernelContext* ctx, int input, int64_t n, Tensor* laid_out,
                const float** values) const {
    const Tensor& t = ctx->input(input);
    const TensorShape& x = ctx->input(0).shape();
    int d = 0;
    while (d < t.dims() && t.dim_size(d) == 1) ++d;
    bool fits = t.dims() <= x.dims() && t.dims() - d <= axes_;
    for (; fits && d < t.dims(); ++d) {
      fits = t.dim_size(d) == x.dim_size(x.dims() - t.dims() + d);
    }
    if (!fits) {
      return errors::InvalidArgument(
          "args[", input - 1, "] must have a shape that the last ", axes_,
          " dims of x's shape ", x.DebugString(), " end with, got ",
          t.shape().DebugString());
    }
    const int64_t period = t.NumElements();
    *values = t.data<float>();
    if (period == n || n == 0) return OkStatus();
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_FLOAT, TensorShape({n}), laid_out,
                                          Tensor::kHeap));
    float* const to = laid_out->data<float>();
    for (int64_t i = 0; i < n; i += period)
      std::copy_n(*values, period, to + i);
    *values = to;
    return OkStatus();
  }

  inline void Row(const float* x, const float* scale, const float* offset,
                  int64_t n, float* y) const {
    const float mean = row_math::Sum(x, n) / static_cast<float>(n);
    const float variance = SumOfSquares(x, mean, n) / static_cast<float>(n);
    const float r = 1.0f / std::sqrt(variance + epsilon_);
    if (scale != nullptr && offset != nullptr) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        y[i] = (x[i] - mean) * r * scale[i] + offset[i];
      }
    } else if (scale != nullptr) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * r * scale[i];
    } else if (offset != nullptr) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * r + offset[i];
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * r;
    }
  }

  int64_t axes_ = 1;
  float epsilon_ = 0;
  bool has_scale_ = false, has_offset_ = false;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedLayerNorm").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedLayerNormOp);

}  // namespace
}  // namespace headrace
