#include "kernels/sparse/sparse_batch.h"

#include <algorithm>

namespace headrace {

namespace {
// Entries [begin, end) without their first index.
Status Slice(OpKernelContext* ctx, const SparseView& s, int64_t begin,
             int64_t end, const Tensor& shape,
             std::shared_ptr<const SparseTriple>* out) {
  const int rank = s.rank - 1;
  auto part = std::make_shared<SparseTriple>();
  HR_RETURN_IF_ERROR(
      ctx->allocate_temp(DT_INT64, {end - begin, rank}, &part->indices));
  HR_RETURN_IF_ERROR(
      ctx->allocate_temp(s.values.dtype(), {end - begin}, &part->values));
  int64_t* row = part->indices.data<int64_t>();
  for (int64_t i = begin; i < end; ++i) {
    row = std::copy_n(s.row(i) + 1, rank, row);
  }
  CopyElements(s.values, begin, &part->values, 0, end - begin);
  part->shape = shape;
  *out = std::move(part);
  return OkStatus();
}
}  // namespace

Status UnbatchSparse(OpKernelContext* ctx, const SparseView& s,
                     absl::FunctionRef<Status(
                         int64_t, const std::shared_ptr<const SparseTriple>&)>
                         fn) {
  if (s.rank < 2) {
    return errors::InvalidArgument(
        "Rank of input SparseTensor should be > 1, but saw rank: ", s.rank);
  }
  int64_t previous = 0;
  for (int64_t i = 0; i < s.n; ++i) {
    if (s.at(i, 0) < previous || s.at(i, 0) >= s.dims[0]) {
      return errors::InvalidArgument(
          "indices[", i, "] = ", IndexString(s.row(i), s.rank),
          " is out of order or out of bounds in dim 0 of size ", s.dims[0]);
    }
    previous = s.at(i, 0);
  }
  Tensor shape(DT_INT64, TensorShape({s.rank - 1}));
  std::copy_n(s.dims.data() + 1, s.rank - 1, shape.data<int64_t>());
  std::shared_ptr<const SparseTriple> empty;
  HR_RETURN_IF_ERROR(Slice(ctx, s, 0, 0, shape, &empty));
  int64_t begin = 0;
  for (int64_t b = 0; b < s.dims[0]; ++b) {
    int64_t end = begin;
    while (end < s.n && s.at(end, 0) == b) ++end;
    std::shared_ptr<const SparseTriple> part = empty;
    if (begin < end) {
      HR_RETURN_IF_ERROR(Slice(ctx, s, begin, end, shape, &part));
    }
    HR_RETURN_IF_ERROR(fn(b, part));
    begin = end;
  }
  return OkStatus();
}

Status BatchSparse(OpKernelContext* ctx, absl::Span<const int64_t> batch_dims,
                   absl::Span<const std::shared_ptr<const SparseTriple>> parts,
                   DataType dtype) {
  if (parts.empty()) {
    return errors::InvalidArgument("there must be at least 1 sparse tensor");
  }
  std::vector<SparseView> views(parts.size());
  int64_t total = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const SparseTriple& p = *parts[i];
    if (p.indices.dtype() != DT_INT64 || p.shape.dtype() != DT_INT64 ||
        p.values.dtype() != dtype) {
      return errors::InvalidArgument(
          "SparseTensor[", i, "]: wanted int64 indices, ",
          DataTypeString(dtype), " values and an int64 shape, got ",
          DataTypeString(p.indices.dtype()), ", ",
          DataTypeString(p.values.dtype()), " and ",
          DataTypeString(p.shape.dtype()));
    }
    HR_RETURN_IF_ERROR(ReadSparse(p.indices, p.values, p.shape,
                                  StrCat("SparseTensor[", i, "]"), &views[i]));
    if (views[i].rank != views[0].rank) {
      return errors::InvalidArgument(
          "Inconsistent rank across SparseTensors: rank prior to SparseTensor[",
          i, "] was: ", views[0].rank, " but rank of SparseTensor[", i,
          "] is: ", views[i].rank);
    }
    total += views[i].n;
  }
  const int outer = static_cast<int>(batch_dims.size());
  const int rank = outer + views[0].rank;
  DimVector shape(batch_dims.begin(), batch_dims.end());
  shape.resize(rank, 0);
  Tensor *indices = nullptr, *values = nullptr;
  HR_RETURN_IF_ERROR(ctx->allocate_output(0, {total, rank}, &indices));
  HR_RETURN_IF_ERROR(ctx->allocate_output(1, {total}, &values));
  int64_t* row = indices->data<int64_t>();
  int64_t at = 0;
  for (size_t p = 0; p < views.size(); ++p) {
    const SparseView& s = views[p];
    for (int d = 0; d < s.rank; ++d) {
      shape[outer + d] = std::max(shape[outer + d], s.dims[d]);
    }
    for (int64_t i = 0; i < s.n; ++i) {
      int64_t rest = static_cast<int64_t>(p);
      for (int d = outer - 1; d >= 0; --d) {
        row[d] = rest % batch_dims[d];
        rest /= batch_dims[d];
      }
      std::copy_n(s.row(i), s.rank, row + outer);
      row += rank;
    }
    CopyElements(s.values, 0, values, at, s.n);
    at += s.n;
  }
  return SetShapeOutput(ctx, 2, shape);
}

}  // namespace headrace
