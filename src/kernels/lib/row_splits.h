// Ragged rows: row r has the values [splits[r], splits[r + 1]).
#ifndef HEADRACE_KERNELS_LIB_ROW_SPLITS_H_
#define HEADRACE_KERNELS_LIB_ROW_SPLITS_H_

#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {

// Reads int32 or int64 splits. InvalidArgument unless they are a vector that
// begins with 0, never decreases and ends with `num_values`.
Status ReadRowSplits(const Tensor& splits, int64_t num_values,
                     absl::string_view name, std::vector<int64_t>* out);
// Reads nested splits, outermost first. The rows of one level are the values of
// the level before; the last level splits `values`, which must have a dim.
// `name` is the argument's name.
Status ReadNestedSplits(absl::Span<const Tensor* const> splits,
                        const Tensor& values, absl::string_view name,
                        std::vector<std::vector<int64_t>>* out);

// Writes the splits of an output, int32 or int64. InvalidArgument if a count
// does not fit the type.
// Thread-compatible.
class SplitsWriter {
 public:
  // Allocates output i with `rows` rows and writes the leading 0.
  Status Allocate(OpKernelContext* ctx, int i, int64_t rows);
  // Adds a row with `length` values.
  Status Add(int64_t length);
  // The number of values in all rows so far.
  int64_t end() const { return end_; }

 private:
  Tensor* splits_ = nullptr;
  int64_t at_ = 0, end_ = 0;
};

// InvalidArgument unless a non-empty vector of splits begins with 0 and ends
// with the number of values, which must be a vector. The splits between are not
// checked.
inline Status CheckRowSplits(const Tensor& splits, const Tensor& values) {
  if (values.dims() != 1) {
    return errors::InvalidArgument("values must be a vector, got shape ",
                                   values.shape().DebugString());
  }
  const auto at = splits.span<int64_t>();
  if (at.front() != 0) {
    return errors::InvalidArgument("Splits must start with 0, not with ",
                                   at.front());
  }
  if (at.back() != values.NumElements()) {
    return errors::InvalidArgument(
        "Splits must end with the number of values, got ", at.back(),
        " instead of ", values.NumElements());
  }
  return OkStatus();
}

// Finds the row of value i. Call it with increasing i. The last split is
// greater than every i, which ends the search.
// Thread-compatible.
class RowOfValue {
 public:
  explicit RowOfValue(const Tensor& splits) : at_(splits.span<int64_t>()) {}
  int64_t operator()(int64_t i) {
    while (i >= at_[row_ + 1]) ++row_;
    return row_;
  }

 private:
  const absl::Span<const int64_t> at_;
  int64_t row_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_ROW_SPLITS_H_
