// SparseFillEmptyRows: sorts entries by row (stable), and adds an entry in
// column 0 with the default value to each empty row. reverse_index_map[i] is
// the new position of entry i. The gradient gathers along that map; gradients
// of added entries go to the default value. RaggedFillEmptyRows does the same
// for values with given rows.
#include <numeric>
#include <vector>

#include "kernels/lib/element.h"
#include "kernels/lib/elementwise.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

bool RowsAreOrdered(const SparseView& s) {
  for (int64_t i = 1; i < s.n; ++i) {
    if (s.at(i, 0) < s.at(i - 1, 0)) return false;
  }
  return true;
}

// Values and their rows as entries of one dimension.
Status ReadRaggedInputs(const OpKernelContext& ctx, SparseView* out) {
  const Tensor &rows = ctx.input(0), &values = ctx.input(1);
  const Tensor& nrows = ctx.input(2);
  if (rows.dims() != 1 || values.shape() != rows.shape()) {
    return errors::InvalidArgument(
        "value_rowids and values must be vectors of the same length, saw: ",
        rows.shape().DebugString(), " and ", values.shape().DebugString());
  }
  if (nrows.dims() != 0 || nrows.scalar<int64_t>() < 0) {
    return errors::InvalidArgument(
        "nrows must be a scalar that is not negative, saw: ",
        nrows.DebugString());
  }
  *out = {.n = rows.NumElements(),
          .rank = 1,
          .indices = rows.data<int64_t>(),
          .values = values,
          .dims = {nrows.scalar<int64_t>()}};
  return OkStatus();
}

template <bool kRagged>
class FillEmptyRowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, kRagged ? ReadRaggedInputs(*ctx, &s)
                                : ReadSparseInputs(*ctx, 0, "", &s));
    const Tensor& value = ctx->input(3);
    OP_REQUIRES(ctx, value.dims() == 0,
                errors::InvalidArgument("default_value must be a scalar, got ",
                                        value.shape().DebugString()));
    OP_REQUIRES(ctx, s.rank > 0,
                errors::InvalidArgument("Dense shape cannot be empty."));
    const int64_t rows = s.dims[0];
    OP_REQUIRES(ctx, rows > 0 || s.n == 0,
                errors::InvalidArgument("Received SparseTensor with "
                                        "dense_shape[0] = 0 but "
                                        "indices.shape[0] = ",
                                        s.n));
    Tensor* empty = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {rows}, &empty));
    Tensor* map = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(3, {s.n}, &map));
    // Entries of each row, then where each row's next entry goes.
    Tensor next_tensor;
    OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_INT64, {rows}, &next_tensor));
    int64_t* next = next_tensor.data<int64_t>();
    std::fill_n(next, rows, 0);
    for (int64_t i = 0; i < s.n; ++i) {
      const int64_t row = s.at(i, 0);
      OP_REQUIRES(ctx, row >= 0 && row < rows,
                  errors::InvalidArgument("indices(", i, ", 0) is invalid: ",
                                          row, ", wanted 0 <= row < ", rows));
      ++next[row];
    }
    int64_t total = 0;
    bool any_empty = false;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t count = next[r];
      any_empty |= count == 0;
      empty->data<bool>()[r] = count == 0;
      next[r] = total;
      total += count == 0 ? 1 : count;
    }
    if (!any_empty && RowsAreOrdered(s)) {
      ctx->set_output(0, ctx->input(0));
      ctx->set_output(1, ctx->input(1));
      std::iota(map->data<int64_t>(), map->data<int64_t>() + s.n, int64_t{0});
      return;
    }
    Tensor *indices = nullptr, *values = nullptr;
    OP_REQUIRES_OK(
        ctx,
        ctx->allocate_output(
            0, kRagged ? TensorShape({total}) : TensorShape({total, s.rank}),
            &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {total}, &values));
    int64_t* to = indices->data<int64_t>();
    for (int64_t i = 0; i < s.n; ++i) {
      const int64_t at = next[s.at(i, 0)]++;
      map->data<int64_t>()[i] = at;
      std::copy_n(s.row(i), s.rank, to + at * s.rank);
    }
    for (int64_t r = 0; r < rows; ++r) {
      if (!empty->data<bool>()[r]) continue;
      int64_t* row = to + next[r] * s.rank;
      std::fill_n(row, s.rank, 0);
      row[0] = r;
    }
    WithElement(value.dtype(), [&]<typename T>(Element<T>) {
      const T* x = ElementsOf<T>(s.values);
      T* y = ElementsOf<T>(values);
      for (int64_t i = 0; i < s.n; ++i) y[map->data<int64_t>()[i]] = x[i];
      for (int64_t r = 0; r < rows; ++r) {
        if (empty->data<bool>()[r]) y[next[r]] = *ElementsOf<T>(value);
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseFillEmptyRows").Device(DEVICE_CPU),
                        FillEmptyRowsOp<false>);
REGISTER_KERNEL_BUILDER(Name("RaggedFillEmptyRows").Device(DEVICE_CPU),
                        FillEmptyRowsOp<true>);

template <typename T>
class FillEmptyRowsGradOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& map = ctx->input(0);
    const Tensor& grad = ctx->input(1);
    OP_REQUIRES(ctx, map.dims() == 1,
                errors::InvalidArgument("reverse_index_map must be a vector, "
                                        "saw: ",
                                        map.shape().DebugString()));
    OP_REQUIRES(ctx, grad.dims() == 1,
                errors::InvalidArgument("grad_values must be a vector, saw: ",
                                        grad.shape().DebugString()));
    const int64_t n = map.NumElements(), total = grad.NumElements();
    Tensor *values = nullptr, *rest = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n}, &values));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {}, &rest));
    std::vector<bool> used(total);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = map.data<int64_t>()[i];
      OP_REQUIRES(
          ctx, at >= 0 && at < total,
          errors::InvalidArgument("Elements in reverse index must be in [0, ",
                                  total, ") but got ", at));
      values->data<T>()[i] = grad.data<T>()[at];
      used[at] = true;
    }
    ComputeType<T> sum{};
    for (int64_t i = 0; i < total; ++i) {
      if (used[i]) continue;
      sum = WrapAdd(sum, static_cast<ComputeType<T>>(grad.data<T>()[i]));
    }
    rest->scalar<T>() = static_cast<T>(sum);
  }
};
#define HR_REGISTER(T)                                    \
  REGISTER_KERNEL_BUILDER(Name("SparseFillEmptyRowsGrad") \
                              .Device(DEVICE_CPU)         \
                              .TypeConstraint<T>("T"),    \
                          FillEmptyRowsGradOp<T>);        \
  REGISTER_KERNEL_BUILDER(Name("RaggedFillEmptyRowsGrad") \
                              .Device(DEVICE_CPU)         \
                              .TypeConstraint<T>("T"),    \
                          FillEmptyRowsGradOp<T>);
HR_CALL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
