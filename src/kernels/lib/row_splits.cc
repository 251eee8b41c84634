#include "kernels/lib/row_splits.h"

#include <limits>

#include "kernels/lib/segment_loops.h"

namespace headrace {

Status ReadRowSplits(const Tensor& splits, int64_t num_values,
                     absl::string_view name, std::vector<int64_t>* out) {
  if (splits.dims() != 1 || splits.NumElements() == 0) {
    return errors::InvalidArgument(
        "Invalid ragged splits: ", name,
        " must be a vector of at least one element, got shape ",
        splits.shape().DebugString());
  }
  const int64_t n = splits.NumElements();
  out->resize(n);
  for (int64_t i = 0; i < n; ++i) {
    (*out)[i] = IdAt(splits, i);
    if (i == 0 && (*out)[0] != 0) {
      return errors::InvalidArgument("Invalid ragged splits: ", name,
                                     " must begin with 0, got ", (*out)[0]);
    }
    if (i > 0 && (*out)[i] < (*out)[i - 1]) {
      return errors::InvalidArgument("Invalid ragged splits: ", name,
                                     " must not fall, got ", (*out)[i - 1],
                                     " followed by ", (*out)[i]);
    }
  }
  if (out->back() != num_values) {
    return errors::InvalidArgument("Invalid ragged splits: ", name,
                                   " must end with the number of values, ",
                                   num_values, ", got ", out->back());
  }
  return OkStatus();
}

Status ReadNestedSplits(absl::Span<const Tensor* const> splits,
                        const Tensor& values, absl::string_view name,
                        std::vector<std::vector<int64_t>>* out) {
  if (values.dims() == 0) {
    return errors::InvalidArgument(
        "ragged values must have at least one dimension, got a scalar");
  }
  out->resize(splits.size());
  int64_t rows = values.dim_size(0);
  for (size_t i = splits.size(); i-- > 0;) {
    HR_RETURN_IF_ERROR(ReadRowSplits(
        *splits[i], rows, absl::StrCat(name, "[", i, "]"), &(*out)[i]));
    rows = static_cast<int64_t>((*out)[i].size()) - 1;
  }
  return OkStatus();
}

Status SplitsWriter::Allocate(OpKernelContext* ctx, int i, int64_t rows) {
  at_ = end_ = 0;
  HR_RETURN_IF_ERROR(ctx->allocate_output(
      i, TensorShape({AddWithoutOverflow(rows, 1)}), &splits_));
  if (splits_->dtype() == DT_INT32) {
    splits_->data<int32_t>()[0] = 0;
  } else {
    splits_->data<int64_t>()[0] = 0;
  }
  return OkStatus();
}

Status SplitsWriter::Add(int64_t length) {
  const int64_t limit = splits_->dtype() == DT_INT32
                            ? std::numeric_limits<int32_t>::max()
                            : std::numeric_limits<int64_t>::max();
  if (length > limit - end_) {
    return errors::InvalidArgument(
        "rows have more values than ragged splits of type ",
        DataTypeString(splits_->dtype()), " can count: ", end_, " and ",
        length);
  }
  end_ += length;
  ++at_;
  if (splits_->dtype() == DT_INT32) {
    splits_->data<int32_t>()[at_] = static_cast<int32_t>(end_);
  } else {
    splits_->data<int64_t>()[at_] = end_;
  }
  return OkStatus();
}

}  // namespace headrace
