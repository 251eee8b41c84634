// Ragged rows: row r has the values from splits[r] to splits[r + 1].
#ifndef HEADRACE_KERNELS_LIB_ROW_SPLITS_H_
#define HEADRACE_KERNELS_LIB_ROW_SPLITS_H_

#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {

// int32 or int64 splits as int64. InvalidArgument unless they are a vector that
// begins with 0, never falls and ends with `num_values`.
Status ReadRowSplits(const Tensor& splits, int64_t num_values,
                     absl::string_view name, std::vector<int64_t>* out);
// Nested splits, the outermost first: those of a level are rows of the level
// before, and the last ones are rows of `values`, which has a dimension at
// least. `name` is the argument's.
Status ReadNestedSplits(absl::Span<const Tensor* const> splits,
                        const Tensor& values, absl::string_view name,
                        std::vector<std::vector<int64_t>>* out);

// Splits of an output, of type int32 or int64. InvalidArgument if what they
// count is more than the type can.
class SplitsWriter {
 public:
  // Allocates output i with `rows` rows and writes the leading 0.
  Status Allocate(OpKernelContext* ctx, int i, int64_t rows);
  // The next row has `length` values.
  Status Add(int64_t length);
  // How many values the rows so far have.
  int64_t end() const { return end_; }

 private:
  Tensor* splits_ = nullptr;
  int64_t at_ = 0, end_ = 0;
};

// That a not empty vector of splits begins with 0 and ends with the number of
// values, which must be a vector. Splits between may be in any order.
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

// The row of value i, asked for in order. The last split is beyond every value,
// so that the rows end.
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
