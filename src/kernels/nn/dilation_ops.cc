// Dilation2D: grayscale morphological dilation, a convolution in the algebra of
// max and plus:
//
//   y[b,i,j,c] = max over taps of x[b, i*stride + t*rate - pad, .., c] + w[t,
//   c]
//
// Cells in the padding take no part, and a window that lies all outside gives
// the lowest value of the type. The gradients send each value of out_backprop
// to the first of the largest sums: to its pixel, or to its tap.
#include <limits>
#include <type_traits>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// x + w without undefined overflow of integers.
template <typename T>
T Plus(T x, T w) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(w));
  } else {
    return static_cast<T>(x + w);
  }
}

template <typename T>
T Lowest() {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return Eigen::NumTraits<T>::lowest();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

}  // namespace

enum class DilationResult { kOutput, kInputGradient, kFilterGradient };

// What does not depend on the type.
class DilationBase : public OpKernel {
 public:
  explicit DilationBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string padding;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("strides", &strides_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("rates", &rates_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("padding", &padding));
    OP_REQUIRES_OK(ctx, ParsePadding(padding, &padding_));
    OP_REQUIRES(
        ctx, strides_.size() == 4 && rates_.size() == 4,
        errors::InvalidArgument("strides and rates must have 4 entries, got ",
                                strides_.size(), " and ", rates_.size()));
    for (int i = 0; i < 4; ++i) {
      OP_REQUIRES(ctx,
                  (i != 0 && i != 3) || (strides_[i] == 1 && rates_[i] == 1),
                  errors::Unimplemented("strides and rates must be 1 in the "
                                        "batch and depth dimensions, got ",
                                        strides_[i], " and ", rates_[i]));
      OP_REQUIRES(ctx,
                  strides_[i] > 0 && rates_[i] > 0 &&
                      strides_[i] <= std::numeric_limits<int32_t>::max() &&
                      rates_[i] <= std::numeric_limits<int32_t>::max(),
                  errors::InvalidArgument(
                      "strides and rates must be positive int32, got ",
                      strides_[i], " and ", rates_[i]));
    }
  }

 protected:
  struct Geometry {
    int64_t batch, depth;
    int64_t in[2], filter[2], out[2], pad[2];
  };

  Status Measure(const Tensor& input, const Tensor& filter, Geometry* g) const {
    if (input.dims() != 4) {
      return errors::InvalidArgument("input must be 4-dimensional, got ",
                                     input.shape().DebugString());
    }
    if (filter.dims() != 3) {
      return errors::InvalidArgument("filter must be 3-dimensional, got ",
                                     filter.shape().DebugString());
    }
    g->batch = input.dim_size(0);
    g->depth = input.dim_size(3);
    if (filter.dim_size(2) != g->depth) {
      return errors::InvalidArgument(
          "input and filter must have the same depth: ", g->depth, " vs ",
          filter.dim_size(2));
    }
    for (int i = 0; i < 2; ++i) {
      g->in[i] = input.dim_size(1 + i);
      g->filter[i] = filter.dim_size(i);
      int64_t after = 0;
      g->pad[i] = 0;
      HR_RETURN_IF_ERROR(WindowedOutputSize(
          g->in[i], g->filter[i], rates_[1 + i], strides_[1 + i], padding_,
          &g->out[i], &g->pad[i], &after));
    }
    return OkStatus();
  }

  std::vector<int64_t> strides_, rates_;

 private:
  Padding padding_;
};

template <typename T, DilationResult kResult>
class DilationOp : public DilationBase {
 public:
  using DilationBase::DilationBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    const Tensor& filter = ctx->input(1);
    Geometry g;
    OP_REQUIRES_OK(ctx, Measure(input, filter, &g));
    const TensorShape out_shape({g.batch, g.out[0], g.out[1], g.depth});
    Tensor* result = nullptr;
    if constexpr (kResult == DilationResult::kOutput) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, out_shape, &result));
      Forward(ctx, g, input.data<T>(), filter.data<T>(), result->data<T>());
    } else {
      const Tensor& out_backprop = ctx->input(2);
      OP_REQUIRES(
          ctx, out_backprop.shape() == out_shape,
          errors::InvalidArgument("out_backprop has incompatible size: got ",
                                  out_backprop.shape().DebugString(),
                                  ", wanted ", out_shape.DebugString()));
      constexpr bool kInput = kResult == DilationResult::kInputGradient;
      OP_REQUIRES_OK(
          ctx, ctx->allocate_output(0, kInput ? input.shape() : filter.shape(),
                                    &result));
      std::fill_n(result->data<T>(), result->NumElements(), T(0));
      Backward(ctx, g, input.data<T>(), filter.data<T>(),
               out_backprop.data<T>(), result->data<T>());
    }
  }

 private:
  struct Best {
    T value = Lowest<T>();
    int64_t pixel = 0, tap = 0;  // y * width + x
  };

  // The largest sum of channel c at output (i, j). If there is none, the
  // nearest pixel and the first tap are used.
  Best Find(const Geometry& g, const T* image, const T* filter, int64_t i,
            int64_t j, int64_t c) const {
    Best best;
    const int64_t y0 = i * strides_[1] - g.pad[0];
    const int64_t x0 = j * strides_[2] - g.pad[1];
    best.pixel = std::max<int64_t>(y0, 0) * g.in[1] + std::max<int64_t>(x0, 0);
    for (int64_t ty = 0; ty < g.filter[0]; ++ty) {
      const int64_t y = y0 + ty * rates_[1];
      if (y < 0 || y >= g.in[0]) continue;
      for (int64_t tx = 0; tx < g.filter[1]; ++tx) {
        const int64_t x = x0 + tx * rates_[2];
        if (x < 0 || x >= g.in[1]) continue;
        const int64_t pixel = y * g.in[1] + x, tap = ty * g.filter[1] + tx;
        const T value =
            Plus(image[pixel * g.depth + c], filter[tap * g.depth + c]);
        if (value > best.value) best = {value, pixel, tap};
      }
    }
    return best;
  }

  void Forward(OpKernelContext* ctx, const Geometry& g, const T* in,
               const T* filter, T* out) const {
    const double cost = 3.0 * g.out[1] * g.depth * g.filter[0] * g.filter[1];
    ctx->ParallelFor(g.batch * g.out[0], cost, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* image = in + row / g.out[0] * g.in[0] * g.in[1] * g.depth;
        for (int64_t j = 0; j < g.out[1]; ++j) {
          for (int64_t c = 0; c < g.depth; ++c) {
            out[(row * g.out[1] + j) * g.depth + c] =
                Find(g, image, filter, row % g.out[0], j, c).value;
          }
        }
      }
    });
  }

  // Channels are independent, so each block of them sums in a fixed order.
  void Backward(OpKernelContext* ctx, const Geometry& g, const T* in,
                const T* filter, const T* dy, T* result) const {
    const int64_t pixels = g.in[0] * g.in[1];
    if (pixels == 0) return;
    const double cost =
        3.0 * g.batch * g.out[0] * g.out[1] * g.filter[0] * g.filter[1];
    ctx->ParallelFor(g.depth, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = 0; b < g.batch; ++b) {
        const T* image = in + b * pixels * g.depth;
        for (int64_t i = 0; i < g.out[0]; ++i) {
          for (int64_t j = 0; j < g.out[1]; ++j) {
            for (int64_t c = begin; c < end; ++c) {
              const Best best = Find(g, image, filter, i, j, c);
              const bool to_input = kResult == DilationResult::kInputGradient;
              const int64_t at =
                  to_input ? b * pixels + std::min(best.pixel, pixels - 1)
                           : best.tap;
              if (!to_input && g.filter[0] * g.filter[1] == 0) continue;
              T& sum = result[at * g.depth + c];
              sum = Plus(sum,
                         dy[((b * g.out[0] + i) * g.out[1] + j) * g.depth + c]);
            }
          }
        }
      }
    });
  }
};

#define HR_REGISTER_ONE(OP, T, RESULT)                                        \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          DilationOp<T, DilationResult::RESULT>);
#define HR_REGISTER(T)                                          \
  HR_REGISTER_ONE("Dilation2D", T, kOutput)                     \
  HR_REGISTER_ONE("Dilation2DBackpropInput", T, kInputGradient) \
  HR_REGISTER_ONE("Dilation2DBackpropFilter", T, kFilterGradient)
HR_CALL_REAL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_REGISTER_ONE

}  // namespace headrace
