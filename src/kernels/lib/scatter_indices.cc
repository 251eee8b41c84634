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
