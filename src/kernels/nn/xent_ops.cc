// Softmax cross entropy, dense and sparse labels, with the gradient as a second
// output:
//   loss = sum_c l_c (log sum_k exp(x_k - m) - (x_c - m)),
//   backprop = softmax(x) - l.
//
// The softmax in backprop is not scaled by sum(l), so labels that do not sum to
// one give no gradient of the loss proper; that is what the ops have always
// done. A logit of -inf under a label of 0 makes the loss NaN (0 * inf). Dense
// features and labels broadcast to each other. half and bfloat16 are computed
// in float.

// Floating-point exceptions are ignored. The compiler may then compute both
// sides of a conditional, which lets its loop become vector code. The pragma is
// before all includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math")

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "kernels/lib/nn_math.h"
#include "kernels/nn/row_math.h"
#include "kernels/nn/wide_tensor.h"

namespace headrace {
namespace {

// A matrix whose strides are 0 where it broadcasts.
template <typename C>
struct Strided {
  Strided(const C* matrix, const TensorShape& shape) : data(matrix) {
    const int r = shape.dims();
    const int64_t cols = r >= 1 ? shape.dim_size(r - 1) : 1;
    const int64_t rows = r >= 2 ? shape.dim_size(r - 2) : 1;
    row = rows == 1 ? 0 : cols;
    col = cols == 1 ? 0 : 1;
  }
  // Row r as n numbers side by side, in `scratch` if they are not.
  const C* Row(int64_t r, int64_t n, std::vector<C>* scratch) const {
    if (col == 1 || n == 1) return data + r * row;
    scratch->assign(n, data[r * row]);
    return scratch->data();
  }

  const C* data;
  int64_t row, col;
};

// e = exp(x - max); returns their sum and sets *max.
template <typename C>
void ExpRow(const C* x, int64_t n, C* max, C* sum, C* e) {
  RunSimd([=] {
    *max = row_math::Max<C>(x, n);
    *sum = row_math::ExpAndSum(x, n, *max, e);
  });
}

// The gradient of a row, which holds its exponentials, and its loss.
template <typename C>
C FinishRow(const C* x, const C* l, int64_t n, C max, C sum, C* grad) {
  C loss;
  RunSimd([=, &loss] {
    const C log_sum = std::log(sum), m = max;
    loss = row_math::SumOf<C>(
        n, [=](int64_t c) { return l[c] * (log_sum - (x[c] - m)); });
    const C scale = C(1) / sum;
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) grad[c] = grad[c] * scale - l[c];
  });
  return loss;
}

template <typename C>
void ScaleRow(int64_t n, C scale, C* row) {
  RunSimd([=] {
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) row[c] *= scale;
  });
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
    WideTensor<T> wide_x, wide_l, wide_loss, wide_grad;
    OP_REQUIRES_OK(ctx, wide_x.Read(ctx, features));
    OP_REQUIRES_OK(ctx, wide_l.Read(ctx, labels));
    OP_REQUIRES_OK(ctx, wide_loss.Begin(ctx, loss));
    OP_REQUIRES_OK(ctx, wide_grad.Begin(ctx, backprop));
    const Strided<C> x(wide_x.in(), features.shape());
    const Strided<C> l(wide_l.in(), labels.shape());
    C* const out = wide_loss.out();
    C* const grad = wide_grad.out();
    const int64_t n = shape.dim_size(1);
    ctx->ParallelFor(shape.dim_size(0), 3.0 * static_cast<double>(n) + 5,
                     [=](int64_t begin, int64_t end) {
                       std::vector<C> x_scratch, l_scratch;
                       for (int64_t r = begin; r < end; ++r) {
                         const C* const x_row = x.Row(r, n, &x_scratch);
                         C max, sum;
                         ExpRow(x_row, n, &max, &sum, grad + r * n);
                         out[r] = FinishRow(x_row, l.Row(r, n, &l_scratch), n,
                                            max, sum, grad + r * n);
                       }
                     });
    wide_loss.Write();
    wide_grad.Write();
  }

 private:
  using C = ComputeType<T>;
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
    WideTensor<T> wide_x, wide_loss, wide_grad;
    OP_REQUIRES_OK(ctx, wide_x.Read(ctx, logits));
    OP_REQUIRES_OK(ctx, wide_loss.Begin(ctx, loss));
    OP_REQUIRES_OK(ctx, wide_grad.Begin(ctx, backprop));
    const C* const x = wide_x.in();
    C* const out = wide_loss.out();
    C* const grad = wide_grad.out();
    ctx->ParallelFor(rows, 2.0 * static_cast<double>(classes) + 5,
                     [=](int64_t begin, int64_t end) {
                       for (int64_t r = begin; r < end; ++r) {
                         const C* const row = x + r * classes;
                         C* const to = grad + r * classes;
                         C max, sum;
                         ExpRow(row, classes, &max, &sum, to);
                         ScaleRow(classes, C(1) / sum, to);
                         out[r] = std::log(sum) - (row[l[r]] - max);
                         to[l[r]] -= C(1);
                       }
                     });
    wide_loss.Write();
    wide_grad.Write();
  }

 private:
  using C = ComputeType<T>;
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
