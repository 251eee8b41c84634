// AvgPool and AvgPool3D with their gradients; see pooling.h for the order of
// implementations.
//
// The average divides by the number of elements of the window that lie in the
// image: padding counts neither above nor below the line. The gradient divides
// by the same number. It is gathered from the input's side: each input element
// sums grad / count over the windows that see it, so rows are independent.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "headrace/simd.h"
#include "kernels/lib/nn_math.h"
#include "kernels/nn/pooling.h"
#include "kernels/nn/pooling_loops.h"

namespace headrace {
namespace {

template <typename T>
struct AvgRule {
  using Sum = ComputeType<T>;
  static Sum Start() { return Sum(0); }
  template <typename Vector>
  static void Add(const typename Vector::Type& v, typename Vector::Type* sum) {
    *sum += v;
  }
  template <typename Vector>
  static void Finish(Sum count, typename Vector::Type* sum) {
    *sum /= count;
  }
};

template <typename T>
bool VectorAccepts(const PoolGeometry& g) {
  return std::is_floating_point_v<T> && g.IsNhwc();
}

template <typename T>
void AvgNhwc(OpKernelContext* ctx, const PoolGeometry& g, const T* in, T* out) {
  if constexpr (std::is_floating_point_v<T>) {
    PoolNhwc<T, AvgRule<T>>(ctx, g, in, out);
  }
}

// The window of output position (p, r, c), in elements of the image.
inline int64_t WindowCount(const PoolGeometry& g, int64_t p, int64_t r,
                           int64_t c) {
  int64_t n = 1, begin, end;
  g.Range(0, p, &begin, &end);
  n *= end - begin;
  g.Range(1, r, &begin, &end);
  n *= end - begin;
  g.Range(2, c, &begin, &end);
  return n * (end - begin);
}

template <typename T>
void AvgGradReference(OpKernelContext* ctx, const PoolGeometry& g, const T*,
                      const T* grad, T* in_grad) {
  using C = ComputeType<T>;
  GatherPoolGrad(
      ctx, g, 4.0, in_grad, [&g, grad](int64_t p, int64_t r, int64_t c) {
        return [grad, count = static_cast<C>(WindowCount(g, p, r, c))](
                   int64_t, int64_t out) {
          return static_cast<C>(grad[out]) / count;
        };
      });
}

template <typename T>
void AvgGradNhwc(OpKernelContext* ctx, const PoolGeometry& g, const T*,
                 const T* grad, T* in_grad) {
  if constexpr (std::is_floating_point_v<T>) {
    GatherPoolGradNhwc(
        ctx, g, 0.3, in_grad, [&g, grad](int64_t p, int64_t r, int64_t c) {
          return [grad, count = static_cast<T>(WindowCount(g, p, r, c))](
                     int64_t, int64_t out) { return grad[out] / count; };
        });
  }
}

template <typename T>
class AvgPoolOp : public OpKernel {
 public:
  explicit AvgPoolOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    PoolGeometry g;
    OP_REQUIRES_OK(ctx, attrs_.Resolve(input.shape(), &g));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, g.out_shape, &output));
    if (output->NumElements() == 0) return;
    const auto& impl = ChoosePool(AvgPoolImplementations<T>(), g);
    ctx->set_algorithm(impl.name);
    impl.run(ctx, g, input.data<T>(), output->data<T>());
  }

 private:
  PoolAttrs attrs_;
};

// Inputs orig_input_shape (a vector) and grad.
template <typename T>
class AvgPoolGradOp : public OpKernel {
 public:
  explicit AvgPoolGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& sizes = ctx->input(0);
    const Tensor& gradient = ctx->input(1);
    const int rank = attrs_.rank;
    OP_REQUIRES(ctx, sizes.dims() == 1 && sizes.dim_size(0) == rank,
                errors::InvalidArgument("orig_input_shape must be a vector of ",
                                        rank, " elements, got shape ",
                                        sizes.shape().DebugString()));
    DimVector dims(sizes.data<int32_t>(), sizes.data<int32_t>() + rank);
    TensorShape in_shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &in_shape));
    PoolGeometry g;
    OP_REQUIRES_OK(ctx, attrs_.Resolve(in_shape, &g));
    OP_REQUIRES(ctx, gradient.shape() == g.out_shape,
                errors::InvalidArgument("Expected grad shape to be ",
                                        g.out_shape.DebugString(), ", but got ",
                                        gradient.shape().DebugString()));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in_shape, &output));
    T* in_grad = output->data<T>();
    if (gradient.NumElements() == 0) {
      std::fill(in_grad, in_grad + output->NumElements(), T(0));
      return;
    }
    const auto& impl = ChoosePool(AvgPoolGradImplementations<T>(), g);
    ctx->set_algorithm(impl.name);
    impl.run(ctx, g, nullptr, gradient.data<T>(), in_grad);
  }

 private:
  PoolAttrs attrs_;
};

}  // namespace

template <typename T>
absl::Span<const PoolImplementation<T>> AvgPoolImplementations() {
  static const PoolImplementation<T> list[] = {
      {"nhwc_vector", VectorAccepts<T>, AvgNhwc<T>},
      {"reference", [](const PoolGeometry&) { return true; },
       PoolReference<T, AvgRule<T>>},
  };
  return list;
}

template <typename T>
absl::Span<const PoolGradImplementation<T>> AvgPoolGradImplementations() {
  static const PoolGradImplementation<T> list[] = {
      {"nhwc_vector", VectorAccepts<T>, AvgGradNhwc<T>},
      {"reference", [](const PoolGeometry&) { return true; },
       AvgGradReference<T>},
  };
  return list;
}

#define INSTANTIATE(T)                                 \
  template absl::Span<const PoolImplementation<T>>     \
  AvgPoolImplementations<T>();                         \
  template absl::Span<const PoolGradImplementation<T>> \
  AvgPoolGradImplementations<T>();
HR_CALL_FLOAT_TYPES(INSTANTIATE)

#define REGISTER(op, T, ...)                                                  \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          __VA_ARGS__)
#define REGISTER_AVG(T)                         \
  REGISTER("AvgPool", T, AvgPoolOp<T>);         \
  REGISTER("AvgPool3D", T, AvgPoolOp<T>);       \
  REGISTER("AvgPoolGrad", T, AvgPoolGradOp<T>); \
  REGISTER("AvgPool3DGrad", T, AvgPoolGradOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER_AVG)
#undef INSTANTIATE
#undef REGISTER
#undef REGISTER_AVG

}  // namespace headrace
