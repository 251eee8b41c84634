#include "kernels/lib/scatter_indices.h"

#include "absl/strings/str_join.h"
#include "kernels/lib/element.h"

namespace headrace {

std::string IndexString(const TensorShape& shape, int64_t flat) {
  if (shape.dims() == 0) return "";
  DimVector at(shape.dims());
  for (int i = shape.dims() - 1; i >= 0; --i) {
    at[i] = flat % shape.dim_size(i);
    flat /= shape.dim_size(i);
  }
  return StrCat("[", absl::StrJoin(at, ","), "]");
}

namespace {

// Appends the dims of `shape` from `first` on. False if there are too many.
bool Append(const TensorShape& shape, int64_t first, TensorShape* out) {
  if (out->dims() + shape.dims() - first > kMaxTensorRank) return false;
  for (int d = static_cast<int>(first); d < shape.dims(); ++d) {
    out->AddDim(shape.dim_size(d));
  }
  return true;
}

int64_t DepthOf(const TensorShape& indices) {
  return indices.dim_size(indices.dims() - 1);
}

}  // namespace

Status GatherNdShape(const TensorShape& params, const TensorShape& indices,
                     TensorShape* out) {
  if (params.dims() < 1) {
    return errors::InvalidArgument("params must be at least a vector");
  }
  if (indices.dims() < 1) {
    return errors::InvalidArgument("indices must be at least a vector");
  }
  const int64_t depth = DepthOf(indices);
  if (depth > params.dims()) {
    return errors::InvalidArgument(
        "index innermost dimension length must be <= params rank; saw: ", depth,
        " vs. ", params.dims());
  }
  *out = indices;
  out->RemoveDim(indices.dims() - 1);
  if (out->num_elements() > 0 && params.num_elements() == 0) {
    return errors::InvalidArgument(
        "Requested more than 0 entries, but params is empty.  Params shape: ",
        params.DebugString());
  }
  if (!Append(params, depth, out)) {
    return errors::InvalidArgument("the result has too many dimensions");
  }
  return OkStatus();
}

Status CheckScatterNd(const TensorShape& shape, std::string_view what,
                      const TensorShape& indices, const TensorShape& updates) {
  if (indices.dims() < 1 || shape.dims() < 1) {
    return errors::InvalidArgument(
        "indices and ", what, " must be at least 1-D, got shapes ",
        indices.DebugString(), " and ", shape.DebugString());
  }
  const int64_t depth = DepthOf(indices);
  if (depth > shape.dims()) {
    return errors::InvalidArgument("indices.shape[-1] is ", depth,
                                   ", more than the rank of the ", what, " ",
                                   shape.DebugString());
  }
  TensorShape want = indices;
  want.RemoveDim(indices.dims() - 1);
  if (!Append(shape, depth, &want) || updates != want) {
    return errors::InvalidArgument(
        "Must have updates.shape = indices.shape[:-1] + ", what, ".shape[",
        depth, ":] = ", want.DebugString(),
        ", got updates.shape: ", updates.DebugString(),
        ", indices.shape: ", indices.DebugString(), ", ", what,
        ".shape: ", shape.DebugString());
  }
  return OkStatus();
}

Status CheckScatterNdHasPlace(const TensorShape& output,
                              const TensorShape& indices,
                              const TensorShape& updates) {
  const bool deep = DepthOf(indices) > 0;
  if (updates.num_elements() == 0 || (deep && output.num_elements() > 0)) {
    return OkStatus();
  }
  return errors::InvalidArgument(
      "Indices and updates specified for ",
      deep ? "an empty output" : "an index depth of 0", ": indices ",
      indices.DebugString(), ", output ", output.DebugString());
}

Status CheckScatterRows(const TensorShape& params, const TensorShape& indices,
                        const TensorShape& updates) {
  if (params.dims() < 1) {
    return errors::InvalidArgument("params must be at least 1-D, got shape ",
                                   params.DebugString());
  }
  if (updates.dims() == 0) return OkStatus();
  TensorShape want = indices;
  if (!Append(params, 1, &want) || updates != want) {
    return errors::InvalidArgument(
        "Must have updates.shape = indices.shape + params.shape[1:] or "
        "updates.shape = [], got updates.shape ",
        updates.DebugString(), ", indices.shape ", indices.DebugString(),
        ", params.shape ", params.DebugString());
  }
  return OkStatus();
}

Status SliceIndices(const Tensor& indices, const TensorShape& shape,
                    std::string_view what, bool ignore_bad,
                    std::vector<int64_t>* out) {
  TensorShape outer = indices.shape();
  const int64_t depth = outer.dim_size(outer.dims() - 1);
  outer.RemoveDim(outer.dims() - 1);
  const int64_t n = outer.num_elements();
  out->assign(n, 0);
  if (depth == 0) return OkStatus();
  DimVector values;
  HR_RETURN_IF_ERROR(ReadIntegers(indices, "indices", &values));
  for (int64_t i = 0; i < n; ++i) {
    int64_t slice = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t v = values[i * depth + d];
      const int64_t limit = shape.dim_size(static_cast<int>(d));
      if (0 <= v && v < limit) {
        slice = slice * limit + v;
        continue;
      }
      if (!ignore_bad) {
        return errors::InvalidArgument(
            "indices", IndexString(outer, i), " = [",
            absl::StrJoin(absl::MakeConstSpan(values).subspan(i * depth, depth),
                          ", "),
            "] does not index into ", what, " ", shape.DebugString());
      }
      slice = -1;
      break;
    }
    (*out)[i] = slice;
  }
  return OkStatus();
}

Status GetIgnoreBadIndices(OpKernelConstruction* ctx, bool* ignore) {
  *ignore = false;
  if (!ctx->HasAttr("bad_indices_policy")) return OkStatus();
  std::string policy;
  HR_RETURN_IF_ERROR(ctx->GetAttr("bad_indices_policy", &policy));
  *ignore = policy == "IGNORE";
  if (*ignore || policy.empty() || policy == "DEFAULT" || policy == "ERROR") {
    return OkStatus();
  }
  return errors::InvalidArgument("bad_indices_policy '", policy,
                                 "' is not one of '', DEFAULT, ERROR, IGNORE");
}

}  // namespace headrace
