// Softmax cross entropy, dense and sparse labels, with the gradient as a second
// output:
//   loss = sum_c l_c (log sum_k exp(x_k - m) - (x_c - m)),
//   backprop = softmax(x) - l.
//
// The softmax in backprop is not scaled by sum(l), so labels that do not sum to
// one give no gradient of the loss proper; that is what the ops have always
// done. A logit of -inf under a label of 0 makes the loss NaN (0 * inf). Dense
// features and labels broadcast to each other.

// Floating-point exceptions are ignored. The compiler may then compute both
// sides of a conditional, which lets its loop become vector code. The pragma is
// before all includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math")

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/nn_math.h"
#include "kernels/lib/simd.h"
#include "kernels/nn/row_math.h"

namespace headrace {
namespace {

// backprop row = exp(x - max); returns their sum and sets *max.
template <typename C>
inline C ExpRow(const C* x, int64_t n, C* max, C* e) {
  *max = row_math::Max<C>(x, n);
  return row_math::ExpAndSum(x, n, *max, e);
}

template <typename T>
class XentOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& features = ctx->input(0);
    const Tensor& labels = ctx->input(1);
    PartialTensorShape broadcast;
    TensorShape shape;
    OP_REQUIRES(
        ctx,
        BroadcastShapes(features.shape(), labels.shape(), &broadcast).ok() &&
            broadcast.AsTensorShape(&shape),
        errors::InvalidArgument(
            "logits and labels must be broadcastable: logits_size=",
            features.shape().DebugString(),
            " labels_size=", labels.shape().DebugString()));
    OP_REQUIRES(ctx, shape.dims() == 2,
                errors::InvalidArgument(
                    "logits and labels must be either 2-dimensional, or "
                    "broadcasted to be 2-dimensional, got ",
                    features.shape().DebugString(), " and ",
                    labels.shape().DebugString()));
    Tensor *loss = nullptr, *backprop = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(0, TensorShape({shape.dim_size(0)}), &loss));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, shape, &backprop));
    const Strided x = MakeStrided(features), l = MakeStrided(labels);
    T* out = loss->data<T>();
    T* grad = backprop->data<T>();
    const int64_t classes = shape.dim_size(1);
    ctx->ParallelFor(shape.dim_size(0), 3.0 * static_cast<double>(classes) + 5,
                     [=](int64_t begin, int64_t end) {
                       Rows(x, l, classes, begin, end, out, grad);
                     });
  }

 private:
  using C = ComputeType<T>;

  // A matrix whose strides are 0 where it broadcasts.
  struct Strided {
    const T* data;
    int64_t row, col;
  };
  static Strided MakeStrided(const Tensor& t) {
    const int64_t cols = t.dims() >= 1 ? t.dim_size(t.dims() - 1) : 1;
    const int64_t rows = t.dims() >= 2 ? t.dim_size(t.dims() - 2) : 1;
    return {t.data<T>(), rows == 1 ? 0 : cols, cols == 1 ? 0 : 1};
  }

  static void Rows(Strided x, Strided l, int64_t n, int64_t begin, int64_t end,
                   T* loss, T* grad) {
    RunSimd([=] {
      for (int64_t r = begin; r < end; ++r) {
        if constexpr (std::is_same_v<T, C>) {
          if (x.col == 1 && l.col == 1) {
            loss[r] =
                Row(x.data + r * x.row, l.data + r * l.row, n, grad + r * n);
            continue;
          }
        }
        loss[r] = StridedRow(x, l, r, n, grad + r * n);
      }
    });
  }

  // Returns the loss; the exponentials pass through `grad`.
  static inline C Row(const C* x, const C* l, int64_t n, C* grad) {
    C max;
    const C sum = ExpRow(x, n, &max, grad);
    const C log_sum = std::log(sum), m = max;
    const C loss = row_math::SumOf<C>(
        n, [=](int64_t c) { return l[c] * (log_sum - (x[c] - m)); });
    const C scale = C(1) / sum;
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) grad[c] = grad[c] * scale - l[c];
    return loss;
  }

  // The same for narrow types and broadcast columns, without scratch.
  static inline T StridedRow(const Strided& x, const Strided& l, int64_t r,
                             int64_t n, T* grad) {
    auto at = [r](const Strided& s, int64_t c) {
      return static_cast<C>(s.data[r * s.row + c * s.col]);
    };
    C max = -std::numeric_limits<C>::infinity();
    for (int64_t c = 0; c < n; ++c) max = at(x, c) > max ? at(x, c) : max;
    const C sum = row_math::SumOf<C>(
        n, [&](int64_t c) { return vec::Exp(at(x, c) - max); });
    const C log_sum = std::log(sum);
    const C loss = row_math::SumOf<C>(
        n, [&](int64_t c) { return at(l, c) * (log_sum - (at(x, c) - max)); });
    const C scale = C(1) / sum;
    for (int64_t c = 0; c < n; ++c) {
      grad[c] = static_cast<T>(vec::Exp(at(x, c) - max) * scale - at(l, c));
    }
    return static_cast<T>(loss);
  }
};

template <typename T, typename Index>
class SparseXentOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& logits = ctx->input(0);
    const Tensor& labels = ctx->input(1);
    OP_REQUIRES(ctx, logits.dims() == 2,
                errors::InvalidArgument("logits must be 2-D, but got shape ",
                                        logits.shape().DebugString()));
    OP_REQUIRES(ctx, labels.dims() == 1,
                errors::InvalidArgument("labels must be 1-D, but got shape ",
                                        labels.shape().DebugString()));
    const int64_t rows = logits.dim_size(0), classes = logits.dim_size(1);
    OP_REQUIRES(ctx, labels.dim_size(0) == rows,
                errors::InvalidArgument(
                    "logits and labels must have the same first dimension, "
                    "got logits shape ",
                    logits.shape().DebugString(), " and labels shape ",
                    labels.shape().DebugString()));
    OP_REQUIRES(ctx, classes > 0,
                errors::InvalidArgument(
                    "Must have at least one class, but got logits shape ",
                    logits.shape().DebugString()));
    const Index* l = labels.data<Index>();
    for (int64_t r = 0; r < rows; ++r) {
      OP_REQUIRES(ctx, l[r] >= 0 && static_cast<int64_t>(l[r]) < classes,
                  errors::InvalidArgument(
                      "Received a label value of ", l[r],
                      " which is outside the valid range of [0, ", classes,
                      ").  Label values: ", labels.SummarizeValue(10)));
    }
    Tensor *loss = nullptr, *backprop = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, labels.shape(), &loss));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, logits.shape(), &backprop));
    const T* x = logits.data<T>();
    T* out = loss->data<T>();
    T* grad = backprop->data<T>();
    ctx->ParallelFor(rows, 2.0 * static_cast<double>(classes) + 5,
                     [=](int64_t begin, int64_t end) {
                       Rows(x, l, classes, begin, end, out, grad);
                     });
  }

 private:
  using C = ComputeType<T>;

  static void Rows(const T* x, const Index* labels, int64_t n, int64_t begin,
                   int64_t end, T* loss, T* grad) {
    RunSimd([=] {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = x + r * n;
        T* out = grad + r * n;
        const int64_t label = labels[r];
        C max, sum;
        if constexpr (std::is_same_v<T, C>) {
          sum = ExpRow(row, n, &max, out);
          const C scale = C(1) / sum;
#pragma GCC ivdep
          for (int64_t c = 0; c < n; ++c) out[c] *= scale;
        } else {
          max = row_math::Max<C>(row, n);
          const C m = max;
          sum = row_math::SumOf<C>(n, [row, m](int64_t c) {
            return vec::Exp(static_cast<C>(row[c]) - m);
          });
          for (int64_t c = 0; c < n; ++c) {
            out[c] = static_cast<T>(vec::Exp(static_cast<C>(row[c]) - m) / sum);
          }
        }
        const C at_label = static_cast<C>(row[label]) - max;
        loss[r] = static_cast<T>(std::log(sum) - at_label);
        out[label] = static_cast<T>(vec::Exp(at_label) / sum - C(1));
      }
    });
  }
};

#define REGISTER_XENT(T)                                              \
  REGISTER_KERNEL_BUILDER(Name("SoftmaxCrossEntropyWithLogits")       \
                              .Device(DEVICE_CPU)                     \
                              .TypeConstraint<T>("T"),                \
                          XentOp<T>);                                 \
  REGISTER_KERNEL_BUILDER(Name("SparseSoftmaxCrossEntropyWithLogits") \
                              .Device(DEVICE_CPU)                     \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<int32_t>("Tlabels"),    \
                          SparseXentOp<T, int32_t>);                  \
  REGISTER_KERNEL_BUILDER(Name("SparseSoftmaxCrossEntropyWithLogits") \
                              .Device(DEVICE_CPU)                     \
                              .TypeConstraint<T>("T")                 \
                              .TypeConstraint<int64_t>("Tlabels"),    \
                          SparseXentOp<T, int64_t>);
HR_CALL_FLOAT_TYPES(REGISTER_XENT)
#undef REGISTER_XENT

}  // namespace
}  // namespace headrace
