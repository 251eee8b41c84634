#include "kernels/lib/top_k.h"

#include <limits>

#include "kernels/lib/element.h"

namespace headrace {
namespace {

int64_t LargestOf(DataType t) {
  return t == DT_INT16   ? std::numeric_limits<int16_t>::max()
         : t == DT_INT64 ? std::numeric_limits<int64_t>::max()
                         : std::numeric_limits<int32_t>::max();
}

}  // namespace

Status TopKShape(OpKernelContext* ctx, int64_t attr_k, DataType index_type,
                 TensorShape* out) {
  const TensorShape& input = ctx->input(0).shape();
  int64_t k = attr_k;
  if (ctx->num_inputs() == 2) {
    const Tensor& t = ctx->input(1);
    if (t.dims() != 0) {
      return errors::InvalidArgument("k must be scalar, got shape ",
                                     t.shape().DebugString());
    }
    HR_RETURN_IF_ERROR(ReadInteger(t, "k", &k));
  }
  if (k < 0) return errors::InvalidArgument("Need k >= 0, got ", k);
  if (input.dims() < 1) {
    return errors::InvalidArgument("input must be >= 1-D, got shape ",
                                   input.DebugString());
  }
  const int64_t n = input.dim_size(input.dims() - 1);
  if (n < k) {
    return errors::InvalidArgument("input must have at least k columns. Had ",
                                   n, ", needed ", k);
  }
  if (n - 1 > LargestOf(index_type)) {
    return errors::InvalidArgument("indices of ", n, " columns do not fit ",
                                   DataTypeString(index_type));
  }
  *out = input;
  out->set_dim(out->dims() - 1, k);
  return OkStatus();
}

}  // namespace headrace
