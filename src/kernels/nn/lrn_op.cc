// Local response normalisation across channels (NHWC, rank 4):
//   n_c = bias + alpha * sum_{|j - c| <= r} x_j^2,   y_c = x_c / n_c^beta,
// and its gradient, with inputs (grads, input_image, output_image):
//   dx_c = g_c / n_c^beta - 2 alpha beta x_c * sum_{|j - c| <= r} g_j y_j /
//   n_j.
//
// alpha is not divided by the window's size 2r + 1. Windows are clipped at the
// ends. Sums are direct, not running: a running sum would leave rounding errors
// of large neighbours behind.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/nn_math.h"
#include "kernels/nn/block_scratch.h"

namespace headrace {
namespace {

struct LrnAttrs {
  int64_t radius = 5;
  float bias = 1, alpha = 1, beta = 0.5f;

  Status Read(OpKernelConstruction* ctx) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("depth_radius", &radius));
    HR_RETURN_IF_ERROR(ctx->GetAttr("bias", &bias));
    HR_RETURN_IF_ERROR(ctx->GetAttr("alpha", &alpha));
    HR_RETURN_IF_ERROR(ctx->GetAttr("beta", &beta));
    if (radius < 0) {
      return errors::InvalidArgument("depth_radius must be >= 0, got ", radius);
    }
    return OkStatus();
  }

  // sum[c] = sum of v over the window of c, within n channels.
  void WindowSums(const float* v, int64_t n, float* sum) const {
    const int64_t r = std::min(radius, n);
    std::fill(sum, sum + n, 0.0f);
    for (int64_t d = -r; d <= r; ++d) {
      const int64_t begin = std::max<int64_t>(0, -d), end = std::min(n, n - d);
#pragma GCC ivdep
      for (int64_t c = begin; c < end; ++c) sum[c] += v[c + d];
    }
  }
  // dx_c as the sum over the outputs j of which g_j is not 0 of g_j dy_j/dx_c.
  // The two parts of the slope are added before they are multiplied by g_j, and
  // its products come in the order of TensorFlow's.
  template <typename T>
  void DefinedGradient(const T* g, const float* x, const T* y,
                       const float* norm, const float* scale, int64_t n,
                       T* out) const {
    for (int64_t c = 0; c < n; ++c) {
      const int64_t end = std::min(n - 1, c + std::min(radius, n));
      float sum = 0;
      for (int64_t j = std::max<int64_t>(0, c - radius); j <= end; ++j) {
        if (g[j] == T(0)) continue;
        float slope =
            x[c] * (-2 * alpha * beta * static_cast<float>(y[j])) / norm[j];
        if (j == c) slope += scale[j];
        sum += slope * static_cast<float>(g[j]);
      }
      out[c] = static_cast<T>(sum);
    }
  }
  // norm[c] = n_c and scale[c] = n_c^-beta; norm comes in as the window sums.
  void Scales(int64_t n, float* norm, float* scale) const {
    for (int64_t c = 0; c < n; ++c) norm[c] = bias + alpha * norm[c];
    if (beta == 0.5f) {
      for (int64_t c = 0; c < n; ++c) scale[c] = 1.0f / std::sqrt(norm[c]);
    } else if (beta == 1.0f) {
      for (int64_t c = 0; c < n; ++c) scale[c] = 1.0f / norm[c];
    } else if (beta == 0.75f) {
      for (int64_t c = 0; c < n; ++c) {
        const float s = std::sqrt(norm[c]);
        scale[c] = 1.0f / (s * std::sqrt(s));
      }
    } else {
      for (int64_t c = 0; c < n; ++c) scale[c] = std::pow(norm[c], -beta);
    }
  }
};

double LrnCost(const LrnAttrs& a, int64_t channels) {
  const double r = static_cast<double>(std::min(a.radius, channels));
  return static_cast<double>(channels) * (4 + 0.2 * r);
}

template <typename T>
class LrnOp : public OpKernel {
 public:
  explicit LrnOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    OP_REQUIRES(ctx, input.dims() == 4,
                errors::InvalidArgument("in must be 4-dimensional, got ",
                                        input.shape().DebugString()));
    const T* in = input.data<T>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, input.shape(), &output));
    if (output->NumElements() == 0) return;
    T* out = output->data<T>();
    const int64_t n = input.dim_size(3);
    const int64_t pixels = output->NumElements() / n;
    const double cost = LrnCost(attrs_, n);
    BlockScratch<float> scratch;
    OP_REQUIRES_OK(ctx, scratch.Allocate(ctx, pixels, cost,
                                         MultiplyWithoutOverflow(4, n)));
    ctx->ParallelFor(pixels, cost, [&, in, out, n](int64_t begin, int64_t end) {
      float* x = scratch.For(begin);
      float *squares = x + n, *norm = x + 2 * n, *scale = x + 3 * n;
      RunSimd([=, this] {
        for (int64_t p = begin; p < end; ++p) {
          const T* from = in + p * n;
          T* to = out + p * n;
          for (int64_t c = 0; c < n; ++c) {
            x[c] = static_cast<float>(from[c]);
          }
          for (int64_t c = 0; c < n; ++c) squares[c] = x[c] * x[c];
          attrs_.WindowSums(squares, n, norm);
          attrs_.Scales(n, norm, scale);
          for (int64_t c = 0; c < n; ++c) {
            to[c] = static_cast<T>(x[c] * scale[c]);
          }
        }
      });
    });
  }

 private:
  LrnAttrs attrs_;
};

template <typename T>
class LrnGradOp : public OpKernel {
 public:
  explicit LrnGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& grads = ctx->input(0);
    const Tensor& input = ctx->input(1);
    const Tensor& image = ctx->input(2);
    OP_REQUIRES(ctx, grads.dims() == 4,
                errors::InvalidArgument("input_grads must be 4-dimensional, "
                                        "got ",
                                        grads.shape().DebugString()));
    OP_REQUIRES(
        ctx, input.shape() == grads.shape() && image.shape() == grads.shape(),
        errors::InvalidArgument(
            "input_grads, input_image, and out_image should have the same "
            "shape, got ",
            grads.shape().DebugString(), ", ", input.shape().DebugString(),
            " and ", image.shape().DebugString()));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, input.shape(), &output));
    if (output->NumElements() == 0) return;
    const T* g_in = grads.data<T>();
    const T* x_in = input.data<T>();
    const T* y_in = image.data<T>();
    T* out = output->data<T>();
    const int64_t n = input.dim_size(3);
    const float factor = -2.0f * attrs_.alpha * attrs_.beta;
    const int64_t pixels = output->NumElements() / n;
    const double cost = 2 * LrnCost(attrs_, n);
    BlockScratch<float> scratch;
    OP_REQUIRES_OK(ctx, scratch.Allocate(ctx, pixels, cost,
                                         MultiplyWithoutOverflow(5, n)));
    ctx->ParallelFor(
        pixels, cost,
        [&, g_in, x_in, y_in, out, n, factor](int64_t begin, int64_t end) {
          float* x = scratch.For(begin);
          float *squares = x + n, *norm = x + 2 * n, *scale = x + 3 * n,
                *sum = x + 4 * n;
          RunSimd([=, this] {
            for (int64_t p = begin; p < end; ++p) {
              const T *g = g_in + p * n, *y = y_in + p * n,
                      *from = x_in + p * n;
              for (int64_t c = 0; c < n; ++c) {
                x[c] = static_cast<float>(from[c]);
              }
              for (int64_t c = 0; c < n; ++c) squares[c] = x[c] * x[c];
              attrs_.WindowSums(squares, n, norm);
              attrs_.Scales(n, norm, scale);
              float x_sum = 0, y_sum = 0;
              for (int64_t c = 0; c < n; ++c) {
                const auto y_c = static_cast<float>(y[c]);
                squares[c] = static_cast<float>(g[c]) * y_c / norm[c];
                x_sum += std::abs(x[c]);
                y_sum += std::abs(y_c);
              }
              attrs_.WindowSums(squares, n, sum);
              float largest = std::abs(factor) * x_sum * y_sum;
              for (int64_t c = 0; c < n; ++c) {
                sum[c] = static_cast<float>(g[c]) * scale[c] +
                         x[c] * (factor * sum[c]);
                largest += std::abs(sum[c]);
                out[p * n + c] = static_cast<T>(sum[c]);
              }
              // With infinite numbers, or numbers that overflow a float, the
              // result depends on the order of the products.
              if (!(largest < std::numeric_limits<float>::infinity())) {
                attrs_.DefinedGradient(g, x, y, norm, scale, n, out + p * n);
              }
            }
          });
        });
  }

 private:
  LrnAttrs attrs_;
};

#define REGISTER_LRN(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("LRN").Device(DEVICE_CPU).TypeConstraint<T>("T"), LrnOp<T>); \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("LRNGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"),        \
      LrnGradOp<T>);
REGISTER_LRN(half)
REGISTER_LRN(bfloat16)
REGISTER_LRN(float)
#undef REGISTER_LRN

}  // namespace
}  // namespace headrace
