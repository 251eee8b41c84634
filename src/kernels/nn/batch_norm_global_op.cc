// BatchNormWithGlobalNormalization and its gradient, the form of GraphDefs
// before version 9, over the last of four dimensions:
//   y = (t - m) * rsqrt(v + epsilon) [* gamma] + beta,
// gamma only with scale_after_normalization. m and v are inputs like the
// others: the gradient has a part for each of t, m, v, beta, gamma.
#include <cmath>
#include <cstdint>

#include "headrace/op_kernel.h"
#include "kernels/lib/nn_math.h"

namespace headrace {
namespace {

class GlobalNormKernel : public OpKernel {
 public:
  explicit GlobalNormKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("variance_epsilon", &epsilon_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scale_after_normalization", &scaled_));
  }

 protected:
  // Input 0 has four dims; inputs 1 to `vectors` one, as long as the last.
  static Status Check(OpKernelContext* ctx, int vectors) {
    const TensorShape& t = ctx->input(0).shape();
    if (t.dims() != 4) {
      return errors::InvalidArgument("input must be 4-dimensional, got ",
                                     t.DebugString());
    }
    for (int i = 1; i <= vectors; ++i) {
      const TensorShape& v = ctx->input(i).shape();
      if (v.dims() != 1 || v.dim_size(0) != t.dim_size(3)) {
        return errors::InvalidArgument("input ", i, " must be a vector of ",
                                       t.dim_size(3), " elements, got shape ",
                                       v.DebugString());
      }
    }
    return OkStatus();
  }

  float epsilon_ = 0;
  bool scaled_ = false;
};

template <typename T>
class BatchNormGlobalOp : public GlobalNormKernel {
 public:
  using GlobalNormKernel::GlobalNormKernel;

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, Check(ctx, 4));
    const Tensor& input = ctx->input(0);
    const int64_t n = input.dim_size(3);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, input.shape(), &output));
    if (output->NumElements() == 0) return;
    Tensor scratch;
    OP_REQUIRES_OK(ctx, ctx->allocate_temp(DataTypeToEnum<C>::value,
                                           TensorShape({3, n}), &scratch));
    C* factor = scratch.template data<C>();
    C *mean = factor + n, *beta = mean + n;
    for (int64_t c = 0; c < n; ++c) {
      mean[c] = static_cast<C>(ctx->input(1).data<T>()[c]);
      beta[c] = static_cast<C>(ctx->input(3).data<T>()[c]);
      factor[c] = C(1) / std::sqrt(static_cast<C>(ctx->input(2).data<T>()[c]) +
                                   static_cast<C>(epsilon_));
      if (scaled_) factor[c] *= static_cast<C>(ctx->input(4).data<T>()[c]);
    }
    const T* x = input.data<T>();
    T* y = output->data<T>();
    ctx->ParallelFor(output->NumElements() / n, static_cast<double>(n),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t r = begin; r < end; ++r) {
                         for (int64_t c = 0; c < n; ++c) {
                           const C v = static_cast<C>(x[r * n + c]);
                           y[r * n + c] = static_cast<T>(
                               (v - mean[c]) * factor[c] + beta[c]);
                         }
                       }
                     });
  }

 private:
  using C = ComputeType<T>;
};

template <typename T>
class BatchNormGlobalGradOp : public GlobalNormKernel {
 public:
  using GlobalNormKernel::GlobalNormKernel;

  // Inputs t, m, v, gamma, backprop; outputs dx, dm, dv, db, dg.
  void Compute(OpKernelContext* ctx) override {
    using C = ComputeType<T>;
    OP_REQUIRES_OK(ctx, Check(ctx, 3));
    const Tensor& input = ctx->input(0);
    OP_REQUIRES(ctx, ctx->input(4).shape() == input.shape(),
                errors::InvalidArgument("backprop must have the shape of t ",
                                        input.shape().DebugString(), ", got ",
                                        ctx->input(4).shape().DebugString()));
    const int64_t n = input.dim_size(3);
    Tensor* out[5];
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, input.shape(), &out[0]));
    for (int i = 1; i < 5; ++i) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(i, TensorShape({n}), &out[i]));
    }
    const int64_t rows = n == 0 ? 0 : input.NumElements() / n;
    const T* x = input.data<T>();
    const T* g = ctx->input(4).data<T>();
    ctx->ParallelFor(
        n, 4.0 * static_cast<double>(rows), [&](int64_t begin, int64_t end) {
          for (int64_t c = begin; c < end; ++c) {
            const double m = static_cast<double>(ctx->input(1).data<T>()[c]);
            const double v = static_cast<double>(ctx->input(2).data<T>()[c]);
            const double gamma =
                scaled_ ? static_cast<double>(ctx->input(3).data<T>()[c]) : 1.0;
            const double r = 1.0 / std::sqrt(v + epsilon_);
            double sum = 0, sum_x = 0;
            for (int64_t i = 0; i < rows; ++i) {
              const double d = static_cast<double>(g[i * n + c]);
              sum += d;
              sum_x += d * (static_cast<double>(x[i * n + c]) - m);
              out[0]->data<T>()[i * n + c] =
                  static_cast<T>(static_cast<C>(d * r * gamma));
            }
            const double results[] = {-sum * r * gamma,
                                      -0.5 * sum_x * gamma * r * r * r, sum,
                                      scaled_ ? sum_x * r : 0.0};
            for (int i = 0; i < 4; ++i) {
              out[i + 1]->data<T>()[c] =
                  static_cast<T>(static_cast<C>(results[i]));
            }
          }
        });
  }
};

#define REGISTER_GLOBAL_NORM(T)                                        \
  REGISTER_KERNEL_BUILDER(Name("BatchNormWithGlobalNormalization")     \
                              .Device(DEVICE_CPU)                      \
                              .TypeConstraint<T>("T"),                 \
                          BatchNormGlobalOp<T>);                       \
  REGISTER_KERNEL_BUILDER(Name("BatchNormWithGlobalNormalizationGrad") \
                              .Device(DEVICE_CPU)                      \
                              .TypeConstraint<T>("T"),                 \
                          BatchNormGlobalGradOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER_GLOBAL_NORM)
#undef REGISTER_GLOBAL_NORM

}  // namespace
}  // namespace headrace
