#include "kernels/lib/sparse_tensor.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_join.h"
#include "kernels/lib/element.h"

namespace headrace {

Status ReadSparse(const Tensor& indices, const Tensor& values,
                  const Tensor& shape, std::string_view name, SparseView* out) {
  const std::string prefix = name.empty() ? "" : StrCat(name, "_");
  if (indices.dims() != 2) {
    return errors::InvalidArgument(prefix, "indices must be a matrix, got ",
                                   indices.shape().DebugString());
  }
  if (values.dims() != 1) {
    return errors::InvalidArgument(prefix, "values must be a vector, got ",
                                   values.shape().DebugString());
  }
  if (shape.dims() != 1) {
    return errors::InvalidArgument(prefix, "shape must be a vector, got ",
                                   shape.shape().DebugString());
  }
  if (indices.dim_size(0) != values.dim_size(0)) {
    return errors::InvalidArgument(prefix, "indices has ", indices.dim_size(0),
                                   " rows, ", prefix, "values ",
                                   values.dim_size(0), " elements");
  }
  if (indices.dim_size(1) != shape.dim_size(0)) {
    return errors::InvalidArgument(prefix, "indices has rows of ",
                                   indices.dim_size(1), ", ", prefix,
                                   "shape has ", shape.dim_size(0), " dims");
  }
  if (shape.dim_size(0) > kMaxTensorRank) {
    return errors::InvalidArgument(prefix, "shape has ", shape.dim_size(0),
                                   " dims, at most ", kMaxTensorRank,
                                   " are supported");
  }
  out->n = values.dim_size(0);
  out->rank = static_cast<int>(shape.dim_size(0));
  out->indices = indices.data<int64_t>();
  out->values = values;
  const auto dims = shape.span<int64_t>();
  out->dims.assign(dims.begin(), dims.end());
  for (int64_t d : out->dims) {
    if (d < 0) {
      return errors::InvalidArgument(prefix, "shape ",
                                     IndexString(dims.data(), out->rank),
                                     " has a negative dimension");
    }
  }
  return OkStatus();
}

Status ReadSparseInputs(const OpKernelContext& ctx, int i,
                        std::string_view name, SparseView* out) {
  return ReadSparse(ctx.input(i), ctx.input(i + 1), ctx.input(i + 2), name,
                    out);
}

Status AsInt64(OpKernelContext* ctx, const Tensor& t, Tensor* out) {
  if (t.dtype() == DT_INT64) {
    *out = t;
    return OkStatus();
  }
  if (t.dtype() != DT_INT32) {
    return errors::InvalidArgument("wanted int32 or int64, got ",
                                   DataTypeString(t.dtype()));
  }
  HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_INT64, t.shape(), out));
  std::copy_n(t.data<int32_t>(), t.NumElements(), out->data<int64_t>());
  return OkStatus();
}

std::string IndexString(const int64_t* row, int rank) {
  return StrCat("[", absl::StrJoin(absl::MakeConstSpan(row, rank), ","), "]");
}

namespace {
std::string At(const SparseView& s, std::string_view name, int64_t i) {
  return StrCat(name, name.empty() ? "" : "_", "indices[", i,
                "] = ", IndexString(s.row(i), s.rank));
}
bool InBounds(const SparseView& s, int64_t i) {
  for (int d = 0; d < s.rank; ++d) {
    if (s.at(i, d) < 0 || s.at(i, d) >= s.dims[d]) return false;
  }
  return true;
}
}  // namespace

Status CheckBounds(const SparseView& s, std::string_view name) {
  for (int64_t i = 0; i < s.n; ++i) {
    if (!InBounds(s, i)) {
      return errors::InvalidArgument(At(s, name, i),
                                     " is out of bounds: need 0 <= index < ",
                                     IndexString(s.dims.data(), s.rank));
    }
  }
  return OkStatus();
}

Status CheckOrdered(const SparseView& s, std::string_view name) {
  HR_RETURN_IF_ERROR(CheckBounds(s, name));
  for (int64_t i = 1; i < s.n; ++i) {
    const int c = CompareIndices(s.row(i - 1), s.row(i), s.rank);
    if (c < 0) continue;
    return errors::InvalidArgument(
        At(s, name, i),
        c == 0 ? " is repeated"
               : " is out of order; tf.sparse_reorder sorts a sparse tensor");
  }
  return OkStatus();
}

std::vector<int64_t> SortedEntries(const SparseView& s,
                                   absl::Span<const int> dim_order) {
  std::vector<int64_t> order(s.n);
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto before = [&](int64_t a, int64_t b) {
    const int64_t *x = s.row(a), *y = s.row(b);
    for (int d : dim_order) {
      if (x[d] != y[d]) return x[d] < y[d];
    }
    return false;
  };
  // Most are sorted, and looking is cheap.
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::stable_sort(order.begin(), order.end(), before);
  }
  return order;
}

void GatherElements(const Tensor& from, absl::Span<const int64_t> order,
                    Tensor* to) {
  WithElement(from.dtype(), [&]<typename T>(Element<T>) {
    const T* x = ElementsOf<T>(from);
    T* y = ElementsOf<T>(to);
    for (size_t i = 0; i < order.size(); ++i) y[i] = x[order[i]];
  });
}

Status SetShapeOutput(OpKernelContext* ctx, int i,
                      absl::Span<const int64_t> dims) {
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(
      ctx->allocate_output(i, {static_cast<int64_t>(dims.size())}, &out));
  std::copy(dims.begin(), dims.end(), out->data<int64_t>());
  return OkStatus();
}

}  // namespace headrace
