// MaxPool and its gradients; see pooling.h for the order of implementations and
// for what NaN does.
//
// What a reader would get wrong: MaxPoolGrad ignores orig_output except its
// shape and sends each gradient to the first maximum of the window;
// MaxPool3DGrad compares with orig_output and gives the full gradient to every
// element that ties.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/lib/nn_math.h"
#include "kernels/nn/pooling.h"
#include "kernels/nn/pooling_loops.h"

namespace headrace {
namespace {

// Forward.

template <typename T>
struct MaxRule {
  using Sum = T;
  static T Start() { return Eigen::NumTraits<T>::lowest(); }
  template <typename Vector>
  static void Add(const typename Vector::Type& v, typename Vector::Type* sum) {
    *sum = v > *sum ? v : *sum;
  }
  template <typename Vector>
  static void Finish(T, typename Vector::Type*) {}
};

template <typename T>
bool VectorAccepts(const PoolGeometry& g) {
  return std::is_arithmetic_v<T> && g.IsNhwc() && g.depth_window == 1;
}

template <typename T>
void MaxNhwc(OpKernelContext* ctx, const PoolGeometry& g, const T* in, T* out) {
  if constexpr (std::is_arithmetic_v<T>) {
    PoolNhwc<T, MaxRule<T>>(ctx, g, in, out);
  }
}

// The place of the maximum.

// Calls fn(offset in the whole flattened input) for the elements of a window in
// row-major order, until fn returns true.
template <typename Fn>
void ForEachInWindow(const PoolGeometry& g, const PoolRow& at, int64_t col,
                     int64_t channel, const Fn& fn) {
  const PoolLayout& x = g.in_layout;
  int64_t p0, p1, r0, r1, c0, c1;
  g.Range(0, at.p, &p0, &p1);
  g.Range(1, at.r, &r0, &r1);
  g.Range(2, col, &c0, &c1);
  const int64_t base = at.b * x.batch + channel * x.channel;
  for (int64_t p = p0; p < p1; ++p) {
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t c = c0; c < c1; ++c) {
        if (fn(base + p * x.plane + r * x.row + c * x.col)) return;
      }
    }
  }
}

// Offset in the whole flattened input of the window's first maximum; -1 if the
// window is empty.
template <typename T>
int64_t FirstMax(const PoolGeometry& g, const T* in, const PoolRow& at,
                 int64_t col, int64_t channel) {
  int64_t where = -1;
  ForEachInWindow(g, at, col, channel, [&where, in](int64_t i) {
    if (where < 0 || in[i] > in[where]) where = i;
    return false;
  });
  return where;
}

// The same of the first element that equals `value`; -1 if none does.
template <typename T>
int64_t FirstEqual(const PoolGeometry& g, const T* in, T value,
                   const PoolRow& at, int64_t col, int64_t channel) {
  int64_t where = -1;
  ForEachInWindow(g, at, col, channel, [&where, in, value](int64_t i) {
    if (in[i] == value) where = i;
    return where >= 0;
  });
  return where;
}

// Calls fn(output offset, row, column) for every output of one batch entry and
// channel.
template <typename Fn>
void ForEachOutput(const PoolGeometry& g, int64_t b, int64_t channel,
                   const Fn& fn) {
  const PoolLayout& y = g.out_layout;
  PoolRow at(0, 1, 1);
  at.b = b;
  for (at.p = 0; at.p < g.out[0]; ++at.p) {
    for (at.r = 0; at.r < g.out[1]; ++at.r) {
      for (int64_t col = 0; col < g.out[2]; ++col) {
        fn(b * y.batch + at.p * y.plane + at.r * y.row + col * y.col +
               channel * y.channel,
           at, col);
      }
    }
  }
}

// Calls fn(output offset, input offset) for every output of one batch entry
// and channel.
template <typename T, typename Fn>
void ForEachMax(const PoolGeometry& g, const T* in, int64_t b, int64_t channel,
                const Fn& fn) {
  ForEachOutput(g, b, channel,
                [&](int64_t out, const PoolRow& at, int64_t col) {
                  fn(out, FirstMax(g, in, at, col, channel));
                });
}

// For NHWC, kChunk channels at a time: positions of the maxima of `n` channels
// from `ch` on at one output position, as row-major offsets of pixels.
constexpr int64_t kChunk = 64;
template <typename T>
inline void MaxPositions(const PoolGeometry& g, const T* image, int64_t p0,
                         int64_t p1, int64_t r0, int64_t r1, int64_t c0,
                         int64_t c1, int64_t n, T* best, int32_t* where) {
  const PoolLayout& x = g.in_layout;
  bool first = true;
  for (int64_t p = p0; p < p1; ++p) {
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t c = c0; c < c1; ++c) {
        const T* pixel = image + p * x.plane + r * x.row + c * x.col;
        const int32_t at =
            static_cast<int32_t>((p * g.in[1] + r) * g.in[2] + c);
        if (first) {
          first = false;
          for (int64_t k = 0; k < n; ++k) best[k] = pixel[k];
          for (int64_t k = 0; k < n; ++k) where[k] = at;
          continue;
        }
#pragma GCC ivdep
        for (int64_t k = 0; k < n; ++k) {
          const bool greater = pixel[k] > best[k];
          best[k] = greater ? pixel[k] : best[k];
          where[k] = greater ? at : where[k];
        }
      }
    }
  }
}

template <typename T>
bool PositionsAccept(const PoolGeometry& g) {
  const int64_t pixels = MultiplyWithoutOverflow(
      MultiplyWithoutOverflow(g.in[0], g.in[1]), g.in[2]);
  return std::is_floating_point_v<T> && g.IsNhwc() && pixels >= 0 &&
         pixels < (int64_t{1} << 31);
}

// Gradient to the first maximum.

template <typename T>
void MaxGradReference(OpKernelContext* ctx, const PoolGeometry& g, const T* in,
                      const T* grad, T* in_grad) {
  using C = ComputeType<T>;
  std::fill(in_grad, in_grad + g.in_shape.num_elements(), T(0));
  ctx->ParallelFor(
      g.batch * g.channels,
      PoolCost(g, 2.0) * static_cast<double>(g.out[0] * g.out[1] * g.out[2]),
      [&g, in, grad, in_grad](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          ForEachMax(
              g, in, i / g.channels, i % g.channels,
              [grad, in_grad](int64_t from, int64_t to) {
                if (to < 0) return;
                in_grad[to] = static_cast<T>(static_cast<C>(
                    static_cast<C>(in_grad[to]) + static_cast<C>(grad[from])));
              });
        }
      });
}

template <typename T>
void MaxGradNhwc(OpKernelContext* ctx, const PoolGeometry& g, const T* in,
                 const T* grad, T* in_grad) {
  if constexpr (std::is_floating_point_v<T>) {
    const int64_t channels = g.channels;
    // Channels are independent, so chunks need not be of a fixed size for
    // results to be: small ones where there is little else to share out.
    const int64_t chunk = g.batch * channels < 8 * kChunk ? 16 : kChunk;
    const int64_t chunks = (channels + chunk - 1) / chunk;
    const int64_t pixels = g.in[0] * g.in[1] * g.in[2];
    ctx->ParallelFor(
        g.batch * chunks,
        PoolCost(g, 0.5) *
            static_cast<double>(g.out[0] * g.out[1] * g.out[2] * chunk),
        [=, &g](int64_t begin, int64_t end) {
          RunPoolLoop<T>([=, &g](auto) {
            const PoolLayout &x = g.in_layout, &y = g.out_layout;
            T best[kChunk];
            int32_t where[kChunk];
            for (int64_t i = begin; i < end; ++i) {
              const int64_t b = i / chunks, ch = i % chunks * chunk;
              const int64_t n = std::min(chunk, channels - ch);
              const T* image = in + b * x.batch + ch;
              T* to = in_grad + b * x.batch + ch;
              for (int64_t k = 0; k < pixels; ++k) {
                std::memset(to + k * channels, 0, n * sizeof(T));
              }
              int64_t p0, p1, r0, r1, c0, c1;
              for (int64_t p = 0; p < g.out[0]; ++p) {
                g.Range(0, p, &p0, &p1);
                for (int64_t r = 0; r < g.out[1]; ++r) {
                  g.Range(1, r, &r0, &r1);
                  const T* from =
                      grad + b * y.batch + p * y.plane + r * y.row + ch;
                  for (int64_t c = 0; c < g.out[2]; ++c, from += channels) {
                    g.Range(2, c, &c0, &c1);
                    if (p0 >= p1 || r0 >= r1 || c0 >= c1) continue;
                    MaxPositions(g, image, p0, p1, r0, r1, c0, c1, n, best,
                                 where);
                    for (int64_t k = 0; k < n; ++k) {
                      to[where[k] * channels + k] += from[k];
                    }
                  }
                }
              }
            }
          });
        });
  }
}

// Kernels: they check the inputs, work the geometry out, and choose an
// implementation where there are several.

// ksize and strides are attrs, or for the V2 ops the inputs `at` and `at` + 1.
Status GetGeometry(OpKernelContext* ctx, const PoolAttrs& attrs, int at,
                   const TensorShape& input, PoolGeometry* g) {
  if (ctx->num_inputs() == at) return attrs.Resolve(input, g);
  PoolAttrs given = attrs;
  HR_RETURN_IF_ERROR(given.SetWindow(ctx->input(at), ctx->input(at + 1)));
  return given.Resolve(input, g);
}

Status CheckShape(const char* name, const Tensor& t, const TensorShape& want) {
  if (t.shape() == want) return OkStatus();
  return errors::InvalidArgument("Expected ", name, " shape to be ",
                                 want.DebugString(), ", but got ",
                                 t.shape().DebugString());
}

// MaxPool, MaxPoolV2 and MaxPool3D.
template <typename T>
class MaxPoolOp : public OpKernel {
 public:
  explicit MaxPoolOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    PoolGeometry g;
    OP_REQUIRES_OK(ctx, GetGeometry(ctx, attrs_, 1, input.shape(), &g));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, g.out_shape, &output));
    if (output->NumElements() == 0) return;
    const auto& impl = ChoosePool(MaxPoolImplementations<T>(), g);
    ctx->set_algorithm(impl.name);
    impl.run(ctx, g, input.data<T>(), output->data<T>());
  }

 private:
  PoolAttrs attrs_;
};

// Inputs orig_input, orig_output, grad[, ksize, strides].
template <typename T>
class MaxPoolGradOp : public OpKernel {
 public:
  explicit MaxPoolGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    PoolGeometry g;
    OP_REQUIRES_OK(ctx, GetGeometry(ctx, attrs_, 3, input.shape(), &g));
    OP_REQUIRES_OK(ctx, CheckShape("orig_output", ctx->input(1), g.out_shape));
    OP_REQUIRES_OK(ctx, CheckShape("grad", ctx->input(2), g.out_shape));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, g.in_shape, &output));
    T* in_grad = output->data<T>();
    if (g.in_shape.num_elements() == 0) return;
    if (g.out_shape.num_elements() == 0) {
      std::fill(in_grad, in_grad + output->NumElements(), T(0));
      return;
    }
    const auto& impl = ChoosePool(MaxPoolGradImplementations<T>(), g);
    ctx->set_algorithm(impl.name);
    impl.run(ctx, g, input.data<T>(), ctx->input(2).data<T>(), in_grad);
  }

 private:
  PoolAttrs attrs_;
};

// The gradient of the gradient: what grad, of the input's shape, holds where
// the window first equals orig_output, or 0. For three dimensions too.
template <typename T>
class MaxPoolGradGradOp : public OpKernel {
 public:
  explicit MaxPoolGradGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    PoolGeometry g;
    OP_REQUIRES_OK(ctx, GetGeometry(ctx, attrs_, 3, input.shape(), &g));
    OP_REQUIRES_OK(ctx, CheckShape("orig_output", ctx->input(1), g.out_shape));
    OP_REQUIRES_OK(ctx, CheckShape("grad", ctx->input(2), g.in_shape));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, g.out_shape, &output));
    if (output->NumElements() == 0) return;
    const T* in = input.data<T>();
    const T* max = ctx->input(1).data<T>();
    const T* grad = ctx->input(2).data<T>();
    T* out = output->data<T>();
    ctx->ParallelFor(
        g.batch * g.channels,
        PoolCost(g, 2.0) * static_cast<double>(g.out[0] * g.out[1] * g.out[2]),
        [&g, in, max, grad, out](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t channel = i % g.channels;
            ForEachOutput(
                g, i / g.channels, channel,
                [&, channel](int64_t to, const PoolRow& at, int64_t col) {
                  const int64_t from =
                      FirstEqual(g, in, max[to], at, col, channel);
                  out[to] = from < 0 ? T(0) : grad[from];
                });
          }
        });
  }

 private:
  PoolAttrs attrs_;
};

// Every element that equals its window's maximum gets the full gradient.
template <typename T>
class MaxPool3DGradOp : public OpKernel {
 public:
  explicit MaxPool3DGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
  }

  void Compute(OpKernelContext* ctx) override {
    using C = ComputeType<T>;
    const Tensor& input = ctx->input(0);
    PoolGeometry g;
    OP_REQUIRES_OK(ctx, attrs_.Resolve(input.shape(), &g));
    OP_REQUIRES_OK(ctx, CheckShape("orig_output", ctx->input(1), g.out_shape));
    OP_REQUIRES_OK(ctx, CheckShape("grad", ctx->input(2), g.out_shape));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, g.in_shape, &output));
    const T* in = input.data<T>();
    const T* max = ctx->input(1).data<T>();
    const T* grad = ctx->input(2).data<T>();
    T* in_grad = output->data<T>();
    if (g.in_shape.num_elements() == 0) return;
    const auto terms = [in, max, grad](int64_t, int64_t, int64_t) {
      return [in, max, grad](int64_t from, int64_t out) {
        return max[out] == in[from] ? static_cast<C>(grad[out]) : C(0);
      };
    };
    if constexpr (std::is_floating_point_v<T>) {
      if (g.IsNhwc()) {
        ctx->set_algorithm("nhwc_vector");
        return GatherPoolGradNhwc(ctx, g, 0.3, in_grad, terms);
      }
    }
    ctx->set_algorithm("reference");
    GatherPoolGrad(ctx, g, 2.0, in_grad, terms);
  }

 private:
  PoolAttrs attrs_;
};

// Index of the maximum in the unpadded image, ((y * W) + x) * C + c; with
// include_batch_in_index counted from the start of the whole input.
template <typename T, typename Index>
class MaxPoolWithArgmaxOp : public OpKernel {
 public:
  explicit MaxPoolWithArgmaxOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("include_batch_in_index", &with_batch_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    PoolGeometry g;
    OP_REQUIRES_OK(ctx, attrs_.Resolve(input.shape(), &g));
    Tensor *output = nullptr, *argmax = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, g.out_shape, &output));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, g.out_shape, &argmax));
    if (output->NumElements() == 0) return;
    const int64_t last =
        (with_batch_ ? g.in_shape.num_elements() : g.in_layout.batch) - 1;
    OP_REQUIRES(
        ctx, last <= std::numeric_limits<Index>::max(),
        errors::InvalidArgument("argmax of input ", g.in_shape.DebugString(),
                                " does not fit Targmax"));
    const T* in = input.data<T>();
    T* out = output->data<T>();
    Index* where = argmax->data<Index>();
    const bool with_batch = with_batch_;
    ctx->ParallelFor(
        g.batch * g.channels,
        PoolCost(g, 2.0) * static_cast<double>(g.out[1] * g.out[2]),
        [&g, in, out, where, with_batch](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t b = i / g.channels;
            const int64_t base = with_batch ? 0 : b * g.in_layout.batch;
            ForEachMax(g, in, b, i % g.channels, [=](int64_t to, int64_t from) {
              out[to] = in[from];
              where[to] = static_cast<Index>(from - base);
            });
          }
        });
  }

 private:
  PoolAttrs attrs_;
  bool with_batch_ = false;
};

// Both directions of MaxPoolWithArgmax's gradient: adds grad, of the output's
// shape, to where argmax points; or reads grad, of the input's shape, there.
template <typename T, typename Index, bool kGradGrad>
class MaxPoolGradWithArgmaxOp : public OpKernel {
 public:
  explicit MaxPoolGradWithArgmaxOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, attrs_.Read(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("include_batch_in_index", &with_batch_));
  }

  void Compute(OpKernelContext* ctx) override {
    using C = ComputeType<T>;
    const Tensor& input = ctx->input(0);
    const Tensor& gradient = ctx->input(1);
    const Tensor& argmax = ctx->input(2);
    PoolGeometry g;
    OP_REQUIRES_OK(ctx, attrs_.Resolve(input.shape(), &g));
    OP_REQUIRES_OK(ctx, CheckShape("grad", gradient,
                                   kGradGrad ? g.in_shape : g.out_shape));
    OP_REQUIRES_OK(ctx, CheckShape("argmax", argmax, g.out_shape));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, kGradGrad ? g.out_shape : g.in_shape, &output));
    T* to = output->data<T>();
    if (!kGradGrad) std::fill(to, to + output->NumElements(), T(0));
    const T* from = gradient.data<T>();
    const Index* where = argmax.data<Index>();
    const int64_t per_batch =
        g.batch == 0 ? 0 : g.out_shape.num_elements() / g.batch;
    const int64_t size = g.batch == 0  ? 0
                         : with_batch_ ? g.in_shape.num_elements()
                                       : g.in_shape.num_elements() / g.batch;
    for (int64_t i = 0; i < g.out_shape.num_elements(); ++i) {
      const int64_t at = where[i];
      OP_REQUIRES(ctx, at >= 0 && at < size,
                  errors::InvalidArgument("argmax[", i, "] = ", at,
                                          " is not in [0, ", size, ")"));
      const int64_t base = with_batch_ ? 0 : i / per_batch * size;
      if (kGradGrad) {
        to[i] = from[base + at];
      } else {
        T& sum = to[base + at];
        sum = static_cast<T>(
            static_cast<C>(static_cast<C>(sum) + static_cast<C>(from[i])));
      }
    }
  }

 private:
  PoolAttrs attrs_;
  bool with_batch_ = false;
};

}  // namespace

template <typename T>
absl::Span<const PoolImplementation<T>> MaxPoolImplementations() {
  static const PoolImplementation<T> list[] = {
      {"nhwc_vector", VectorAccepts<T>, MaxNhwc<T>},
      {"reference", [](const PoolGeometry&) { return true; },
       PoolReference<T, MaxRule<T>>},
  };
  return list;
}

template <typename T>
absl::Span<const PoolGradImplementation<T>> MaxPoolGradImplementations() {
  static const PoolGradImplementation<T> list[] = {
      {"nhwc_vector", PositionsAccept<T>, MaxGradNhwc<T>},
      {"reference", [](const PoolGeometry&) { return true; },
       MaxGradReference<T>},
  };
  return list;
}

#define INSTANTIATE(T)                                 \
  template absl::Span<const PoolImplementation<T>>     \
  MaxPoolImplementations<T>();                         \
  template absl::Span<const PoolGradImplementation<T>> \
  MaxPoolGradImplementations<T>();
HR_CALL_REAL_NUMBER_TYPES(INSTANTIATE)

#define REGISTER(op, T, ...)                                                  \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          __VA_ARGS__)

#define REGISTER_FORWARD(T)             \
  REGISTER("MaxPool", T, MaxPoolOp<T>); \
  REGISTER("MaxPoolV2", T, MaxPoolOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER_FORWARD)
HR_CALL_SIGNED_INT_TYPES(REGISTER_FORWARD)
REGISTER_FORWARD(uint8_t)
REGISTER_FORWARD(uint16_t)

#define REGISTER_INDEXED(op, T, Index, ...)                      \
  REGISTER_KERNEL_BUILDER(Name(op)                               \
                              .Device(DEVICE_CPU)                \
                              .TypeConstraint<T>("T")            \
                              .TypeConstraint<Index>("Targmax"), \
                          __VA_ARGS__)
#define REGISTER_ARGMAX(T, Index)                     \
  REGISTER_INDEXED("MaxPoolWithArgmax", T, Index,     \
                   MaxPoolWithArgmaxOp<T, Index>);    \
  REGISTER_INDEXED("MaxPoolGradWithArgmax", T, Index, \
                   MaxPoolGradWithArgmaxOp<T, Index, false>);

#define REGISTER_GRADIENTS(T)                             \
  REGISTER("MaxPoolGrad", T, MaxPoolGradOp<T>);           \
  REGISTER("MaxPoolGradV2", T, MaxPoolGradOp<T>);         \
  REGISTER("MaxPoolGradGrad", T, MaxPoolGradGradOp<T>);   \
  REGISTER("MaxPoolGradGradV2", T, MaxPoolGradGradOp<T>); \
  REGISTER("MaxPool3DGradGrad", T, MaxPoolGradGradOp<T>); \
  REGISTER_ARGMAX(T, int32_t)                             \
  REGISTER_ARGMAX(T, int64_t)
HR_CALL_REAL_NUMBER_TYPES(REGISTER_GRADIENTS)

// TensorFlow has these for the GPU alone.
#define REGISTER_GRAD_GRAD_ARGMAX(T)                           \
  REGISTER_INDEXED("MaxPoolGradGradWithArgmax", T, int32_t,    \
                   MaxPoolGradWithArgmaxOp<T, int32_t, true>); \
  REGISTER_INDEXED("MaxPoolGradGradWithArgmax", T, int64_t,    \
                   MaxPoolGradWithArgmaxOp<T, int64_t, true>);
HR_CALL_FLOAT_TYPES(REGISTER_GRAD_GRAD_ARGMAX)

#define REGISTER_3D(T)                                      \
  REGISTER("MaxPool3D", T, MaxPoolOp<T>);                   \
  REGISTER_KERNEL_BUILDER(Name("MaxPool3DGrad")             \
                              .Device(DEVICE_CPU)           \
                              .TypeConstraint<T>("T")       \
                              .TypeConstraint<T>("TInput"), \
                          MaxPool3DGradOp<T>);
REGISTER_3D(half)
REGISTER_3D(bfloat16)
REGISTER_3D(float)
#undef INSTANTIATE
#undef REGISTER
#undef REGISTER_FORWARD
#undef REGISTER_INDEXED
#undef REGISTER_ARGMAX
#undef REGISTER_GRADIENTS
#undef REGISTER_GRAD_GRAD_ARGMAX
#undef REGISTER_3D

}  // namespace headrace
