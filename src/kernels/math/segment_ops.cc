// Rows of `data` combined by sorted segment ids. SegmentX takes the rows as
// they are; SparseSegmentX takes rows data[indices[i]], and can divide each sum
// by its count or the root of it. The last id plus one (or num_segments, where
// it is given) is the number of rows that come out. Rows that no id names are
// 0, also for Max and Min, and 1 for Prod.
//
// The gradients of the sparse forms scatter: row indices[i] of the result gains
// grad[segment_ids[i]], divided by what the sum was divided by. Their second
// versions give only the rows that an index names, in the order of these rows,
// and which they are.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/lib/segment_loops.h"

namespace headrace {
namespace {

Status CheckVector(const Tensor& t, absl::string_view name) {
  if (t.dims() == 1) return OkStatus();
  return errors::InvalidArgument(name, " should be a vector, got shape ",
                                 t.shape().DebugString());
}

// A count of rows in scalar input i.
Status ReadRows(OpKernelContext* ctx, int i, absl::string_view name,
                int64_t* rows) {
  const Tensor& t = ctx->input(i);
  if (t.dims() != 0) {
    return errors::InvalidArgument(name, " should be a scalar, not shape ",
                                   t.shape().DebugString());
  }
  *rows = IdAt(t, 0);
  if (*rows < 0) {
    return errors::InvalidArgument(name, " must not be negative, got ", *rows);
  }
  return OkStatus();
}

Status WithRows(const TensorShape& data, int64_t rows, TensorShape* out) {
  DimVector dims(data.dim_sizes().begin(), data.dim_sizes().end());
  dims[0] = rows;
  return TensorShape::Build(dims, out);
}

class SegmentKernel : public OpKernel {
 public:
  SegmentKernel(OpKernelConstruction* ctx, const SegmentLoops* loops,
                Divisor divisor)
      : OpKernel(ctx),
        loops_(*loops),
        divisor_(divisor),
        sparse_(ctx->num_inputs() > 2),
        fill_with_init_(type_string() == "SegmentProd") {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& data = ctx->input(0);
    const Tensor& ids = ctx->input(sparse_ ? 2 : 1);
    const Tensor* indices = sparse_ ? &ctx->input(1) : nullptr;
    OP_REQUIRES(ctx, data.dims() >= 1,
                errors::InvalidArgument("data must be at least rank 1"));
    OP_REQUIRES_OK(ctx, CheckVector(ids, "segment_ids"));
    if (sparse_) OP_REQUIRES_OK(ctx, CheckVector(*indices, "indices"));
    const int64_t n = ids.NumElements();
    const int64_t wanted = sparse_ ? indices->NumElements() : data.dim_size(0);
    OP_REQUIRES(ctx, n == wanted,
                errors::InvalidArgument(
                    sparse_ ? "segment_ids and indices should have same size"
                            : "segment_ids should be the same size as "
                              "dimension 0 of input",
                    ": got ", n, " and ", wanted));
    int64_t rows = n == 0 ? 0 : IdAt(ids, n - 1) + 1;
    const int64_t used = rows;
    if (ctx->num_inputs() == 4) {
      OP_REQUIRES_OK(ctx, ReadRows(ctx, 3, "num_segments", &rows));
      OP_REQUIRES(
          ctx, used <= rows,
          errors::InvalidArgument("segment ids must be < num_segments: got ",
                                  used - 1, ", num_segments ", rows));
    }
    // The start of each segment that has rows.
    Tensor begins_tensor;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DT_INT64, TensorShape({n}), &begins_tensor));
    int64_t* const begins = begins_tensor.data<int64_t>();
    int64_t segments = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t id = IdAt(ids, i);
      const int64_t before = i == 0 ? -1 : IdAt(ids, i - 1);
      OP_REQUIRES(ctx, id >= 0,
                  errors::InvalidArgument("segment ids must be >= 0; got ", id,
                                          " at position ", i));
      OP_REQUIRES(ctx, id >= before,
                  errors::InvalidArgument("segment ids are not increasing"));
      if (id != before) begins[segments++] = i;
      if (!sparse_) continue;
      const int64_t index = IdAt(*indices, i);
      OP_REQUIRES(
          ctx, index >= 0 && index < data.dim_size(0),
          errors::InvalidArgument("Bad: indices[", i, "] == ", index,
                                  " out of range [0, ", data.dim_size(0), ")"));
    }
    TensorShape shape;
    OP_REQUIRES_OK(ctx, WithRows(data.shape(), rows, &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;

    const int64_t inner = out->NumElements() / rows;
    const int size = DataTypeSize(data.dtype());
    const int64_t row_bytes = inner * size;
    const char* x = static_cast<const char*>(data.raw_data());
    char* y = static_cast<char*>(out->raw_data());
    std::memset(y + used * row_bytes, 0, (rows - used) * row_bytes);
    if (segments == 0) return;
    ctx->ParallelFor(
        segments, 10 + 0.3 * inner * (1.0 * n / segments),
        [&](int64_t first, int64_t last) {
          for (int64_t s = first; s < last; ++s) {
            const int64_t begin = begins[s];
            const int64_t end = s + 1 < segments ? begins[s + 1] : n;
            const int64_t id = IdAt(ids, begin);
            const int64_t gap = s == 0 ? 0 : IdAt(ids, begins[s - 1]) + 1;
            for (int64_t column = 0; column < inner; column += kColumns) {
              const int64_t m = std::min(kColumns, inner - column);
              const int64_t offset = column * size;
              alignas(16) char acc[kColumns * 16];
              loops_.init(acc, m);
              for (int64_t r = gap; r < id; ++r) {
                char* to = y + r * row_bytes + offset;
                if (fill_with_init_) {
                  loops_.finish(acc, m, Divisor::kOne, 1, to);
                } else {
                  std::memset(to, 0, m * size);
                }
              }
              loops_.start(acc, m);
              for (int64_t i = begin; i < end; ++i) {
                const int64_t row = sparse_ ? IdAt(*indices, i) : i;
                loops_.add(x + row * row_bytes + offset, acc, m);
              }
              loops_.finish(acc, m, divisor_, end - begin,
                            y + id * row_bytes + offset);
            }
          }
        });
  }

 private:
  static constexpr int64_t kColumns = 1024;
  const SegmentLoops& loops_;
  const Divisor divisor_;
  const bool sparse_;
  const bool fill_with_init_;
};

class SparseSegmentGradKernel : public OpKernel {
 public:
  SparseSegmentGradKernel(OpKernelConstruction* ctx, const SegmentLoops* loops,
                          Divisor divisor)
      : OpKernel(ctx), loops_(*loops), divisor_(divisor) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor &grad = ctx->input(0), &indices = ctx->input(1),
                 &ids = ctx->input(2);
    OP_REQUIRES(ctx, grad.dims() >= 1,
                errors::InvalidArgument("grad must be at least rank 1"));
    OP_REQUIRES_OK(ctx, CheckVector(indices, "indices"));
    OP_REQUIRES_OK(ctx, CheckVector(ids, "segment_ids"));
    const int64_t n = ids.NumElements(), segments = grad.dim_size(0);
    OP_REQUIRES(ctx, indices.NumElements() == n,
                errors::InvalidArgument(
                    "segment_ids and indices should have same size: got ", n,
                    " and ", indices.NumElements()));
    int64_t rows = 0;
    OP_REQUIRES_OK(ctx, ReadRows(ctx, 3, "output_dim0", &rows));
    if (rows == 0) {
      // Computes nothing and does not check indices.
      if (ctx->num_outputs() == 2) OP_REQUIRES_OK(ctx, SetIndices(ctx, {}));
      TensorShape shape;
      OP_REQUIRES_OK(ctx, WithRows(grad.shape(), 0, &shape));
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t id = IdAt(ids, i), index = IdAt(indices, i);
      OP_REQUIRES(ctx, id >= 0 && id < segments,
                  errors::InvalidArgument(
                      "Segment id ", id, " out of range [0, ", segments, ")."));
      OP_REQUIRES(ctx, index >= 0 && index < rows,
                  errors::InvalidArgument("Index ", index, " out of range [0, ",
                                          rows, ")."));
    }
    // The row that index i means.
    std::vector<int64_t> to(n);
    for (int64_t i = 0; i < n; ++i) to[i] = IdAt(indices, i);
    if (ctx->num_outputs() == 2) {
      std::vector<int64_t> named = to;
      std::sort(named.begin(), named.end());
      named.erase(std::unique(named.begin(), named.end()), named.end());
      rows = static_cast<int64_t>(named.size());
      OP_REQUIRES_OK(ctx, SetIndices(ctx, named));
      for (int64_t& row : to) {
        row = std::lower_bound(named.begin(), named.end(), row) - named.begin();
      }
    }
    TensorShape shape;
    OP_REQUIRES_OK(ctx, WithRows(grad.shape(), rows, &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t total = out->NumElements();
    if (total == 0) return;
    // Rows are not empty here, so that there are no more segments than
    // elements.
    Tensor count_tensor;
    OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_INT64, TensorShape({segments}),
                                           &count_tensor));
    int64_t* const count = count_tensor.data<int64_t>();
    std::fill(count, count + segments, 0);
    for (int64_t i = 0; i < n; ++i) ++count[IdAt(ids, i)];
    Tensor wide;
    Tensor* sum = out;
    const int size = DataTypeSize(grad.dtype());
    if (size != loops_.acc_size) {
      OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_FLOAT, shape, &wide));
      sum = &wide;
    }
    char* acc = static_cast<char*>(sum->raw_data());
    loops_.init(acc, total);
    const int64_t inner = total / rows;
    const char* x = static_cast<const char*>(grad.raw_data());
    // Split over columns: every result is summed in the order of the ids.
    ctx->ParallelFor(inner, 1.0 * n, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t id = IdAt(ids, i);
        loops_.scatter(x + (id * inner + begin) * size, divisor_, count[id],
                       acc + (to[i] * inner + begin) * loops_.acc_size,
                       end - begin);
      }
    });
    loops_.finish(acc, total, Divisor::kOne, 1, out->raw_data());
  }

 private:
  static Status SetIndices(OpKernelContext* ctx,
                           const std::vector<int64_t>& rows) {
    Tensor* out = nullptr;
    HR_RETURN_IF_ERROR(
        ctx->allocate_output(1, {static_cast<int64_t>(rows.size())}, &out));
    if (out->dtype() == DT_INT64) {
      std::copy(rows.begin(), rows.end(), out->data<int64_t>());
    } else {
      std::transform(rows.begin(), rows.end(), out->data<int32_t>(),
                     [](int64_t row) { return static_cast<int32_t>(row); });
    }
    return OkStatus();
  }

  const SegmentLoops& loops_;
  const Divisor divisor_;
};

HR_REGISTER_SEGMENT("SegmentSum", SegmentKernel, kSum, kOne, HR_TYPES_NUMBER);
HR_REGISTER_SEGMENT("SegmentMean", SegmentKernel, kSum, kCount,
                    HR_TYPES_NUMBER);
HR_REGISTER_SEGMENT("SegmentProd", SegmentKernel, kProd, kOne, HR_TYPES_NUMBER);
HR_REGISTER_SEGMENT("SegmentMax", SegmentKernel, kMax, kOne, HR_TYPES_REAL);
HR_REGISTER_SEGMENT("SegmentMin", SegmentKernel, kMin, kOne, HR_TYPES_REAL);

#define HR_REGISTER_SPARSE(NAME, DIVISOR, ...)                                \
  HR_REGISTER_SEGMENT("SparseSegment" NAME, SegmentKernel, kSum, DIVISOR,     \
                      __VA_ARGS__);                                           \
  HR_REGISTER_SEGMENT("SparseSegment" NAME "WithNumSegments", SegmentKernel,  \
                      kSum, DIVISOR, __VA_ARGS__);                            \
  HR_REGISTER_SEGMENT("SparseSegment" NAME "Grad", SparseSegmentGradKernel,   \
                      kSum, DIVISOR, HR_TYPES_FLOAT);                         \
  HR_REGISTER_SEGMENT("SparseSegment" NAME "GradV2", SparseSegmentGradKernel, \
                      kSum, DIVISOR, HR_TYPES_FLOAT)
HR_REGISTER_SPARSE("Sum", kOne, HR_TYPES_REAL);
HR_REGISTER_SPARSE("Mean", kCount, HR_TYPES_FLOAT);
HR_REGISTER_SPARSE("SqrtN", kSqrtCount, HR_TYPES_FLOAT);
#undef HR_REGISTER_SPARSE

}  // namespace
}  // namespace headrace
