// WALSComputePartialLhsAndRhs and MaskedMatmul. Each row of the normal
// equations is summed by one thread, in the order of the entries.
#include <algorithm>
#include <numeric>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

Status CheckRank(const OpKernelContext& ctx, int i, const char* name,
                 int rank) {
  static constexpr const char* kWords[] = {"scalar", "vector", "matrix"};
  const Tensor& t = ctx.input(i);
  if (t.dims() == rank) return OkStatus();
  return errors::InvalidArgument("Input ", name, " should be a ", kWords[rank],
                                 ". Got shape ", t.shape().DebugString());
}

Status CheckPairs(const Tensor& indices, const char* name) {
  if (indices.dim_size(1) == 2) return OkStatus();
  return errors::InvalidArgument("Input ", name,
                                 " should have shape [n, 2], "
                                 "got ",
                                 indices.shape().DebugString());
}

Status CheckIndex(int64_t index, int64_t size, int64_t entry,
                  const char* what) {
  if (index >= 0 && index < size) return OkStatus();
  return errors::InvalidArgument("entry ", entry, ": ", what, " ", index,
                                 " is not in [0, ", size, ")");
}

class WalsPartialSumsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, CheckShapes(*ctx));
    const Tensor& factors = ctx->input(0);
    const Tensor& indices = ctx->input(4);
    const int64_t n = factors.dim_size(0), size = factors.dim_size(1);
    const int64_t rows = ctx->input(7).scalar<int64_t>();
    const int64_t entries = indices.dim_size(0);
    const int row_axis = ctx->input(8).scalar<bool>() ? 1 : 0;
    const int64_t* at = indices.data<int64_t>();
    std::vector<int64_t> ends(rows, 0);
    for (int64_t e = 0; e < entries; ++e) {
      const int64_t row = at[2 * e + row_axis];
      OP_REQUIRES_OK(ctx, CheckIndex(row, rows, e, "row"));
      OP_REQUIRES_OK(
          ctx, CheckIndex(at[2 * e + 1 - row_axis], n, e, "row of factors"));
      ++ends[row];
    }
    // The entries of a row, together and in their order.
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<int64_t> order(entries);
    for (int64_t e = entries - 1; e >= 0; --e) {
      order[--ends[at[2 * e + row_axis]]] = e;
    }
    Tensor *lhs = nullptr, *rhs = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows, size, size}, &lhs));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {rows, size}, &rhs));
    const float w_0 = ctx->input(2).scalar<float>();
    const Tensor& input_weights = ctx->input(3);
    const bool by_entry = input_weights.NumElements() == 0;
    const double per_row =
        static_cast<double>(entries) / static_cast<double>(rows + 1);
    ctx->ParallelFor(
        rows, (per_row + 1) * static_cast<double>(size * size + 8),
        [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            float* left = lhs->data<float>() + row * size * size;
            float* right = rhs->data<float>() + row * size;
            std::fill_n(left, size * size, 0.f);
            std::fill_n(right, size, 0.f);
            const int64_t stop = row + 1 < rows ? ends[row + 1] : entries;
            for (int64_t i = ends[row]; i < stop; ++i) {
              const int64_t e = order[i], column = at[2 * e + 1 - row_axis];
              const float w = by_entry
                                  ? ctx->input(6).data<float>()[e]
                                  : input_weights.data<float>()[row] *
                                        ctx->input(1).data<float>()[column];
              Add(factors.data<float>() + column * size, size, w,
                  (w_0 + w) * ctx->input(5).data<float>()[e], left, right);
            }
          }
        });
  }

 private:
  static void Add(const float* f, int64_t size, float w, float value,
                  float* left, float* right) {
    for (int64_t i = 0; i < size; ++i) {
      const float wf = w * f[i];
      for (int64_t j = 0; j < size; ++j) left[i * size + j] += wf * f[j];
      right[i] += value * f[i];
    }
  }

  static Status CheckShapes(const OpKernelContext& ctx) {
    HR_RETURN_IF_ERROR(CheckRank(ctx, 0, "factors", 2));
    HR_RETURN_IF_ERROR(CheckRank(ctx, 1, "factor_weights", 1));
    HR_RETURN_IF_ERROR(CheckRank(ctx, 2, "unobserved_weights", 0));
    HR_RETURN_IF_ERROR(CheckRank(ctx, 3, "input_weights", 1));
    HR_RETURN_IF_ERROR(CheckRank(ctx, 4, "input_indices", 2));
    HR_RETURN_IF_ERROR(CheckRank(ctx, 5, "input_values", 1));
    HR_RETURN_IF_ERROR(CheckRank(ctx, 6, "entry_weights", 1));
    HR_RETURN_IF_ERROR(CheckRank(ctx, 7, "input_block_size", 0));
    HR_RETURN_IF_ERROR(CheckRank(ctx, 8, "input_is_transpose", 0));
    HR_RETURN_IF_ERROR(CheckPairs(ctx.input(4), "input_indices"));
    const int64_t entries = ctx.input(4).dim_size(0);
    const int64_t rows = ctx.input(7).scalar<int64_t>();
    if (ctx.input(5).NumElements() != entries) {
      return errors::InvalidArgument(
          "Input input_values' length should match the first dimension of "
          "Input input_indices: ",
          ctx.input(5).NumElements(), " vs ", entries);
    }
    const int64_t factor_weights = ctx.input(1).NumElements();
    const int64_t input_weights = ctx.input(3).NumElements();
    const int64_t entry_weights = ctx.input(6).NumElements();
    if (rows < 0) {
      return errors::InvalidArgument(
          "Input input_block_size should not be negative, got ", rows);
    }
    const bool by_entry =
        entry_weights == entries && input_weights == 0 && factor_weights == 0;
    const bool by_row = entry_weights == 0 && input_weights == rows &&
                        factor_weights == ctx.input(0).dim_size(0);
    if (by_entry || by_row) return OkStatus();
    return errors::InvalidArgument(
        "To specify the weights for observed entries, either (1) entry_weights "
        "must be set or (2) input_weights and factor_weights must be set, but "
        "not both. Got ",
        entry_weights, " entry_weights for ", entries, " entries, ",
        input_weights, " input_weights for ", rows, " rows, ", factor_weights,
        " factor_weights for ", ctx.input(0).dim_size(0), " rows of factors");
  }
};
REGISTER_KERNEL_BUILDER(Name("WALSComputePartialLhsAndRhs").Device(DEVICE_CPU),
                        WalsPartialSumsOp);

class MaskedMatmulOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    static constexpr const char* kNames[] = {"a", "b", "mask_indices"};
    for (int i = 0; i < 3; ++i) {
      OP_REQUIRES_OK(ctx, CheckRank(*ctx, i, kNames[i], 2));
    }
    OP_REQUIRES_OK(ctx, CheckRank(*ctx, 3, "transpose_a", 0));
    OP_REQUIRES_OK(ctx, CheckRank(*ctx, 4, "transpose_b", 0));
    const Tensor& indices = ctx->input(2);
    OP_REQUIRES_OK(ctx, CheckPairs(indices, "mask_indices"));
    const Vectors a(ctx->input(0), ctx->input(3).scalar<bool>());
    const Vectors b(ctx->input(1), !ctx->input(4).scalar<bool>());
    OP_REQUIRES(ctx, a.size == b.size,
                errors::InvalidArgument(
                    "The matrices do not fit: a has ", a.size,
                    " columns (after transpose_a), b has ", b.size, " rows"));
    const int64_t n = indices.dim_size(0);
    const int64_t* at = indices.data<int64_t>();
    for (int64_t e = 0; e < n; ++e) {
      OP_REQUIRES_OK(ctx, CheckIndex(at[2 * e], a.count, e, "row of a"));
      OP_REQUIRES_OK(ctx, CheckIndex(at[2 * e + 1], b.count, e, "column of b"));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n}, &out));
    ctx->ParallelFor(n, static_cast<double>(2 * a.size + 8),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t e = begin; e < end; ++e) {
                         out->data<float>()[e] =
                             a.Product(at[2 * e], b, at[2 * e + 1]);
                       }
                     });
  }

 private:
  // The rows of a matrix, or its columns if `columns`.
  struct Vectors {
    Vectors(const Tensor& matrix, bool columns)
        : data(matrix.data<float>()),
          count(matrix.dim_size(columns ? 1 : 0)),
          size(matrix.dim_size(columns ? 0 : 1)),
          stride(columns ? 1 : size),
          step(columns ? count : 1) {}
    float Product(int64_t i, const Vectors& o, int64_t j) const {
      const float *x = data + i * stride, *y = o.data + j * o.stride;
      float sum = 0;
      for (int64_t k = 0; k < size; ++k) sum += x[k * step] * y[k * o.step];
      return sum;
    }
    const float* data;
    int64_t count, size, stride, step;
  };
};
REGISTER_KERNEL_BUILDER(Name("MaskedMatmul").Device(DEVICE_CPU),
                        MaskedMatmulOp);

}  // namespace
}  // namespace headrace
