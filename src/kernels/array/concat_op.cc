// Concat, ConcatV2, their quantized forms, ParallelConcat and ConcatOffset.
#include "headrace/op_kernel.h"
#include "kernels/array/columns.h"
#include "kernels/lib/element.h"
#include "kernels/lib/quantized_math.h"

namespace headrace {
namespace {

class ConcatOp : public OpKernel {
 public:
  explicit ConcatOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), axis_first_(ctx->op_def().name == "Concat") {}
  void Compute(OpKernelContext* ctx) override {
    const int n = ctx->num_inputs() - 1;
    const Tensor& axis_in = ctx->input(axis_first_ ? 0 : n);
    absl::InlinedVector<const Tensor*, 8> values(n);
    for (int i = 0; i < n; ++i) values[i] = &ctx->input(axis_first_ + i);
    Concatenate(ctx, axis_in, axis_first_, values);
  }

 protected:
  // To output 0.
  static void Concatenate(OpKernelContext* ctx, const Tensor& axis_in,
                          bool axis_first,
                          absl::Span<const Tensor* const> values) {
    const int n = static_cast<int>(values.size());
    const TensorShape& first = values[0]->shape();
    int64_t axis;
    OP_REQUIRES_OK(
        ctx, ReadInteger(axis_in, axis_first ? "concat_dim" : "axis", &axis));
    OP_REQUIRES(ctx, -first.dims() <= axis && axis < first.dims(),
                errors::InvalidArgument(
                    "ConcatOp : Expected concatenating dimensions in the "
                    "range [",
                    -first.dims(), ", ", first.dims(), "), but got ", axis));
    if (axis < 0) axis += first.dims();
    int64_t sum = 0;
    for (int i = 0; i < n; ++i) {
      const TensorShape& s = values[i]->shape();
      OP_REQUIRES(
          ctx, s.dims() == first.dims(),
          errors::InvalidArgument(
              "ConcatOp : Ranks of all input tensors should match: "
              "shape[0] = ",
              first.DebugString(), " vs. shape[", i, "] = ", s.DebugString()));
      for (int d = 0; d < s.dims(); ++d) {
        OP_REQUIRES(ctx, d == axis || s.dim_size(d) == first.dim_size(d),
                    errors::InvalidArgument(
                        "ConcatOp : Dimension ", d,
                        " in both shapes must be equal: shape[0] = ",
                        first.DebugString(), " vs. shape[", i,
                        "] = ", s.DebugString()));
      }
      sum = AddWithoutOverflow(sum, s.dim_size(static_cast<int>(axis)));
      OP_REQUIRES(ctx, sum >= 0,
                  errors::InvalidArgument("ConcatOp : the sizes overflow"));
    }
    TensorShape shape = first;
    shape.set_dim(static_cast<int>(axis), sum);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    ConcatColumns(ctx, values, shape.ProductOf(0, static_cast<int>(axis)), out);
  }

 private:
  const bool axis_first_;
};
REGISTER_KERNEL_BUILDER(Name("Concat").Device(DEVICE_CPU), ConcatOp);
REGISTER_KERNEL_BUILDER(Name("ConcatV2").Device(DEVICE_CPU), ConcatOp);

// Values of several ranges, in the range that holds all of them; for signed
// numbers in one that lies evenly around 0.
template <typename Q>
class QuantizedConcatOp : public ConcatOp {
  using T = typename StoredInteger<Q>::Type;

 public:
  explicit QuantizedConcatOp(OpKernelConstruction* ctx)
      : ConcatOp(ctx), axis_first_(ctx->op_def().name == "QuantizedConcat") {}
  void Compute(OpKernelContext* ctx) override {
    const int n = (ctx->num_inputs() - 1) / 3;
    const int first = axis_first_ ? 1 : 0;
    const Tensor& axis = ctx->input(axis_first_ ? 0 : n);
    std::vector<FloatRange> ranges(n);
    FloatRange all;  // with 0
    for (int i = 0; i < n; ++i) {
      OP_REQUIRES_OK(ctx, ReadFloat(*ctx, 1 + n + i, &ranges[i].min));
      OP_REQUIRES_OK(ctx, ReadFloat(*ctx, 1 + 2 * n + i, &ranges[i].max));
      all.min = std::min(all.min, ranges[i].min);
      all.max = std::max(all.max, ranges[i].max);
    }
    if constexpr (std::is_signed_v<T>) {
      all.max = std::max(all.max, -all.min);
      all.min = -all.max;
    }
    std::vector<Tensor> converted(n);
    std::vector<const Tensor*> values(n);
    for (int i = 0; i < n; ++i) {
      values[i] = &ctx->input(first + i);
      if (ranges[i] == all) continue;
      OP_REQUIRES_OK(ctx,
                     ctx->allocate_temp(values[i]->dtype(), values[i]->shape(),
                                        &converted[i]));
      Convert(*values[i], ranges[i], all, &converted[i]);
      values[i] = &converted[i];
    }
    Concatenate(ctx, axis, axis_first_, values);
    if (ctx->status().ok()) SetRangeOutputs(ctx, 1, all);
  }

 private:
  static void Convert(const Tensor& in, const FloatRange& from,
                      const FloatRange& to, Tensor* out) {
    const QuantizedNumbers<T> numbers(from), target(to);
    const T* const x = static_cast<const T*>(in.raw_data());
    T* const y = static_cast<T*>(out->raw_data());
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      y[i] = target.FromFloat(static_cast<float>(numbers.ToFloat(x[i])));
    }
  }

  const bool axis_first_;
};
#define HR_REGISTER(NAME, Q)                                \
  REGISTER_KERNEL_BUILDER(                                  \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<Q>("T"), \
      QuantizedConcatOp<Q>)
HR_REGISTER("QuantizedConcat", quint8);
HR_REGISTER("QuantizedConcat", qint32);
HR_REGISTER("QuantizedConcatV2", qint8);
HR_REGISTER("QuantizedConcatV2", quint8);
HR_REGISTER("QuantizedConcatV2", qint32);
#undef HR_REGISTER

// Concatenation of values with a leading dim of 1, given the resulting shape.
class ParallelConcatOp : public OpKernel {
 public:
  explicit ParallelConcatOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape_));
  }
  void Compute(OpKernelContext* ctx) override {
    absl::InlinedVector<const Tensor*, 8> values;
    const int n = ctx->num_inputs();
    TensorShape piece = shape_;
    OP_REQUIRES(
        ctx, piece.dims() > 0 && piece.dim_size(0) == n,
        errors::InvalidArgument("ParallelConcat: shape ", piece.DebugString(),
                                " must begin with ", n));
    piece.set_dim(0, 1);
    for (int i = 0; i < n; ++i) {
      values.push_back(&ctx->input(i));
      OP_REQUIRES(
          ctx, values[i]->shape() == piece,
          errors::InvalidArgument("ParallelConcat: values[", i, "] has shape ",
                                  values[i]->shape().DebugString(), ", wanted ",
                                  piece.DebugString()));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape_, &out));
    ConcatColumns(ctx, values, 1, out);
  }

 private:
  TensorShape shape_;
};
REGISTER_KERNEL_BUILDER(Name("ParallelConcat").Device(DEVICE_CPU),
                        ParallelConcatOp);

// Where each value of a Concat begins: zeros, except the running sum along
// the axis.
class ConcatOffsetOp : public OpKernel {
 public:
  explicit ConcatOffsetOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const int n = ctx->num_inputs() - 1;
    int64_t axis;
    OP_REQUIRES(ctx, ctx->input(0).dims() == 0,
                errors::InvalidArgument(
                    "Concat dim tensor should be a scalar integer, but got "
                    "shape ",
                    ctx->input(0).shape().DebugString()));
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(0), "concat_dim", &axis));
    DimVector first, shape;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "shape", &first));
    const int64_t rank = first.size();
    OP_REQUIRES(ctx, -rank <= axis && axis < rank,
                errors::InvalidArgument("Concat dim is out of range: ", axis,
                                        " vs. ", rank));
    if (axis < 0) axis += rank;
    int64_t offset = 0;
    bool fits = true;
    for (int i = 0; i < n; ++i) {
      OP_REQUIRES_OK(ctx,
                     ReadIntegerVector(ctx->input(1 + i), "shape", &shape));
      OP_REQUIRES(ctx, static_cast<int64_t>(shape.size()) == rank,
                  errors::InvalidArgument("input ", i, " should contain ", rank,
                                          " elements, but got ", shape.size()));
      for (int64_t d = 0; d < rank; ++d) {
        OP_REQUIRES(ctx, d == axis || shape[d] == first[d],
                    errors::InvalidArgument(
                        "All dimensions except ", axis, " must match. Input ",
                        i, " has shape ", ctx->input(1 + i).SummarizeValue(10),
                        " and doesn't match input 0 with shape ",
                        ctx->input(1).SummarizeValue(10), "."));
      }
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(i, {rank}, &out));
      OP_REQUIRES(ctx,
                  fits && (out->dtype() == DT_INT64 ||
                           offset == static_cast<int32_t>(offset)),
                  errors::InvalidArgument("ConcatOffset: the sum overflows"));
      ZeroElements(out);
      if (out->dtype() == DT_INT64) {
        out->data<int64_t>()[axis] = offset;
      } else {
        out->data<int32_t>()[axis] = static_cast<int32_t>(offset);
      }
      fits = !__builtin_add_overflow(offset, shape[axis], &offset);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("ConcatOffset").Device(DEVICE_CPU),
                        ConcatOffsetOp);

}  // namespace
}  // namespace headrace
