// BiasAdd, its old form BiasAddV1, and BiasAddGrad.
//
// The channel axis is the last one for NHWC and axis 1 for NCHW, whatever the
// rank from 2 on. BiasAddGrad sums everything else and gives zeros for an empty
// input. Its sums follow a fixed tree: blocks of rows (or planes) whose size
// depends on the shape alone, then the blocks in order.
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/thread_pool.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/nn_math.h"
#include "kernels/nn/row_math.h"

namespace headrace {
namespace {

// Integers add up in unsigned arithmetic, which wraps.
template <typename T>
struct Wrapping {
  using Type = ComputeType<T>;
};
template <typename T>
requires std::is_integral_v<T>
struct Wrapping<T> {
  using Type = std::make_unsigned_t<T>;
};

template <typename T, typename F>
void Loop(const F& f) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    RunSimd(f);
  } else {
    f();
  }
}

// A tensor seen as [outer, channels, inner]; inner is 1 for NHWC.
struct BiasView {
  int64_t outer = 1, channels = 1, inner = 1;
  BiasView(const TensorShape& shape, DataFormat format) {
    const int axis = ChannelDim(format, shape.dims());
    outer = shape.ProductOf(0, axis);
    channels = shape.dim_size(axis);
    inner = shape.ProductOf(axis + 1, shape.dims());
  }
};

Status GetFormat(OpKernelConstruction* ctx, DataFormat* format) {
  std::string name = "NHWC";
  if (ctx->HasAttr("data_format")) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("data_format", &name));
  }
  return ParseDataFormat(name, format);
}

template <typename T>
class BiasAddOp : public OpKernel {
 public:
  explicit BiasAddOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, GetFormat(ctx, &format_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& value = ctx->input(0);
    const Tensor& bias = ctx->input(1);
    OP_REQUIRES(ctx, value.dims() >= 2,
                errors::InvalidArgument("Input tensor must be at least 2D: ",
                                        value.shape().DebugString()));
    OP_REQUIRES(ctx, bias.dims() == 1,
                errors::InvalidArgument("Biases must be 1D: ",
                                        bias.shape().DebugString()));
    const BiasView view(value.shape(), format_);
    OP_REQUIRES(
        ctx, bias.dim_size(0) == view.channels,
        errors::InvalidArgument(
            "Must provide as many biases as the channel dimension of the input "
            "tensor: ",
            bias.shape().DebugString(), " vs. ", view.channels, " in ",
            value.shape().DebugString()));
    const T* x = value.data<T>();
    const T* b = bias.data<T>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, value.shape(), &output));
    T* y = output->data<T>();
    if (output->NumElements() == 0) return;
    using C = typename Wrapping<T>::Type;
    if (view.inner == 1) {
      const int64_t n = view.channels;
      ctx->ParallelFor(view.outer, 0.25 * static_cast<double>(n) + 1,
                       [=](int64_t begin, int64_t end) {
                         Loop<T>([=] {
                           for (int64_t r = begin; r < end; ++r) {
                             const T* in = x + r * n;
                             T* out = y + r * n;
#pragma GCC ivdep
                             for (int64_t c = 0; c < n; ++c) {
                               out[c] = static_cast<T>(static_cast<C>(in[c]) +
                                                       static_cast<C>(b[c]));
                             }
                           }
                         });
                       });
    } else {
      const int64_t n = view.inner, channels = view.channels;
      ctx->ParallelFor(view.outer * channels, 0.25 * static_cast<double>(n) + 1,
                       [=](int64_t begin, int64_t end) {
                         Loop<T>([=] {
                           for (int64_t r = begin; r < end; ++r) {
                             const C add = static_cast<C>(b[r % channels]);
                             const T* in = x + r * n;
                             T* out = y + r * n;
#pragma GCC ivdep
                             for (int64_t i = 0; i < n; ++i) {
                               out[i] =
                                   static_cast<T>(static_cast<C>(in[i]) + add);
                             }
                           }
                         });
                       });
    }
  }

 private:
  DataFormat format_ = DataFormat::kNHWC;
};

template <typename T>
class BiasAddGradOp : public OpKernel {
 public:
  explicit BiasAddGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, GetFormat(ctx, &format_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& gradient = ctx->input(0);
    OP_REQUIRES(ctx, gradient.dims() >= 2,
                errors::InvalidArgument("Input tensor must be at least 2D: ",
                                        gradient.shape().DebugString()));
    const BiasView view(gradient.shape(), format_);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, TensorShape({view.channels}), &output));
    const T* g = gradient.data<T>();
    T* db = output->data<T>();
    if (gradient.NumElements() == 0) {
      std::fill(db, db + view.channels, T(0));
    } else if (view.inner == 1) {
      SumRows(ctx, g, view.outer, view.channels, db);
    } else {
      SumPlanes(ctx, g, view, db);
    }
  }

 private:
  using C = typename Wrapping<T>::Type;

  // NHWC: channel-inner partial sums of blocks of rows.
  void SumRows(OpKernelContext* ctx, const T* g, int64_t rows, int64_t channels,
               T* db) {
    const int64_t block =
        std::max<int64_t>({int64_t{1}, 32768 / channels, (rows + 255) / 256});
    const int64_t blocks = (rows + block - 1) / block;
    Tensor partial_tensor;
    // As bytes: C may be a type that tensors do not have.
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DT_UINT8,
                                TensorShape({blocks, channels,
                                             static_cast<int64_t>(sizeof(C))}),
                                &partial_tensor, Tensor::kHeap));
    C* partial = static_cast<C*>(partial_tensor.raw_data());
    ctx->thread_pool()->ParallelFor(
        blocks, 1, [=](int64_t first, int64_t last) {
          for (int64_t k = first; k < last; ++k) {
            const int64_t end = std::min(rows, (k + 1) * block);
            C* sum = partial + k * channels;
            Loop<T>([=] {
              for (int64_t c = 0; c < channels; ++c) sum[c] = C(0);
              for (int64_t r = k * block; r < end; ++r) {
                const T* row = g + r * channels;
#pragma GCC ivdep
                for (int64_t c = 0; c < channels; ++c) {
                  sum[c] = static_cast<C>(sum[c] + static_cast<C>(row[c]));
                }
              }
            });
          }
        });
    for (int64_t k = 1; k < blocks; ++k) {
      for (int64_t c = 0; c < channels; ++c) {
        partial[c] = static_cast<C>(partial[c] + partial[k * channels + c]);
      }
    }
    for (int64_t c = 0; c < channels; ++c) db[c] = static_cast<T>(partial[c]);
  }

  // NCHW: each channel by itself.
  void SumPlanes(OpKernelContext* ctx, const T* g, const BiasView& view,
                 T* db) {
    const int64_t outer = view.outer, channels = view.channels,
                  inner = view.inner;
    ctx->ParallelFor(
        channels, 0.5 * static_cast<double>(outer * inner),
        [=](int64_t begin, int64_t end) {
          Loop<T>([=] {
            for (int64_t c = begin; c < end; ++c) {
              C sum = C(0);
              for (int64_t o = 0; o < outer; ++o) {
                const T* plane = g + (o * channels + c) * inner;
                sum = static_cast<C>(
                    sum + row_math::SumOf<C>(inner, [plane](int64_t i) {
                      return static_cast<C>(plane[i]);
                    }));
              }
              db[c] = static_cast<T>(sum);
            }
          });
        });
  }

  DataFormat format_ = DataFormat::kNHWC;
};

#define REGISTER_BIAS(T)                                             \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("BiasAdd").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      BiasAddOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("BiasAddV1").Device(DEVICE_CPU).TypeConstraint<T>("T"),   \
      BiasAddOp<T>);                                                 \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("BiasAddGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      BiasAddGradOp<T>);
HR_CALL_NUMBER_TYPES(REGISTER_BIAS)
#undef REGISTER_BIAS

}  // namespace
}  // namespace headrace
