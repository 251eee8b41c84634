// DenseCountSparseOutput, SparseCountSparseOutput and RaggedCountSparseOutput:
// how often each value occurs in each row, or the sum of its weights, as a
// sparse [rows, values]. A vector, dense or sparse, has no rows: its counts are
// a sparse vector. Values from maxlength on are not counted; without it the
// result is as wide as its largest value asks for, and minlength at least.
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/row_splits.h"
#include "kernels/lib/segment_loops.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

template <typename T>
class CountOp : public OpKernel {
 public:
  explicit CountOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("minlength", &min_length_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("maxlength", &max_length_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("binary_output", &binary_));
  }

 protected:
  // Value i is in row row_of(i), asked in order; `rows` is -1 for a vector.
  template <typename F>
  void Count(OpKernelContext* ctx, const Tensor& values, const Tensor& weights,
             int64_t rows, F row_of) const {
    OP_REQUIRES(
        ctx, weights.NumElements() == 0 || weights.shape() == values.shape(),
        errors::InvalidArgument(
            "Weights and values must have the same shape. Weight shape: ",
            weights.shape().DebugString(),
            "; values shape: ", values.shape().DebugString()));
    std::vector<Entry> entries;
    int64_t width = std::max<int64_t>(1, min_length_);
    for (int64_t i = 0; i < values.NumElements(); ++i) {
      const int64_t v = IdAt(values, i);
      OP_REQUIRES(
          ctx, v >= 0 && v < std::numeric_limits<int64_t>::max(),
          errors::InvalidArgument("Input values must all be non-negative and "
                                  "less than 2^63 - 1, got ",
                                  v, " at position ", i));
      const int64_t row = row_of(i);
      if (max_length_ >= 0 && v >= max_length_) continue;
      width = std::max(width, v + 1);
      entries.push_back({row, v, i});
    }
    if (max_length_ >= 0) width = max_length_;
    std::sort(entries.begin(), entries.end());
    int64_t n = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      n += i == 0 || !entries[i].SameBin(entries[i - 1]);
    }
    const int64_t rank = rows < 0 ? 1 : 2;
    Tensor *indices = nullptr, *counts = nullptr, *shape = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, rank}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &counts));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {rank}, &shape));
    const T* w = weights.NumElements() > 0 ? weights.data<T>() : nullptr;
    int64_t* index = indices->data<int64_t>();
    T* const count = counts->data<T>();
    int64_t bin = -1;
    for (size_t i = 0; i < entries.size(); ++i) {
      const Entry& e = entries[i];
      if (i == 0 || !e.SameBin(entries[i - 1])) {
        if (rank == 2) *index++ = e.row;
        *index++ = e.value;
        count[++bin] = T(0);
      }
      count[bin] =
          binary_ ? T(1)
                  : WrapAdd(count[bin], w == nullptr ? T(1) : w[e.position]);
    }
    int64_t* dims = shape->data<int64_t>();
    if (rank == 2) *dims++ = rows;
    *dims = width;
  }

 private:
  // Ordered by where it is counted, and then as it came.
  struct Entry {
    int64_t row, value, position;
    bool SameBin(const Entry& o) const {
      return row == o.row && value == o.value;
    }
    bool operator<(const Entry& o) const {
      if (row != o.row) return row < o.row;
      return value != o.value ? value < o.value : position < o.position;
    }
  };

  int64_t min_length_ = -1, max_length_ = -1;
  bool binary_ = false;
};

template <typename T>
class DenseCountOp : public CountOp<T> {
 public:
  using CountOp<T>::CountOp;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& values = ctx->input(0);
    OP_REQUIRES(ctx, values.dims() == 1 || values.dims() == 2,
                errors::InvalidArgument(
                    "Input must be a 1 or 2-dimensional tensor. Got: ",
                    values.shape().DebugString()));
    const bool vector = values.dims() == 1;
    const int64_t columns = values.dim_size(values.dims() - 1);
    this->Count(ctx, values, ctx->input(1), vector ? -1 : values.dim_size(0),
                [&](int64_t i) { return vector ? 0 : i / columns; });
  }
};

template <typename T>
class SparseCountOp : public CountOp<T> {
 public:
  using CountOp<T>::CountOp;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "", &s));
    OP_REQUIRES(ctx, s.rank >= 1,
                errors::InvalidArgument(
                    "The shape argument requires at least one element."));
    OP_REQUIRES_OK(ctx, CheckBounds(s, ""));
    const bool vector = s.rank == 1;
    this->Count(ctx, s.values, ctx->input(3), vector ? -1 : s.dims[0],
                [&](int64_t i) { return vector ? 0 : s.at(i, 0); });
  }
};

template <typename T>
class RaggedCountOp : public CountOp<T> {
 public:
  using CountOp<T>::CountOp;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &splits = ctx->input(0), &values = ctx->input(1);
    OP_REQUIRES(ctx, splits.dims() == 1 && splits.NumElements() >= 2,
                errors::InvalidArgument(
                    "Must provide at least 2 elements for the splits argument, "
                    "a vector, got shape ",
                    splits.shape().DebugString()));
    OP_REQUIRES_OK(ctx, CheckRowSplits(splits, values));
    this->Count(ctx, values, ctx->input(2), splits.NumElements() - 1,
                RowOfValue(splits));
  }
};

#define REGISTER_COUNTS(T)                                       \
  REGISTER_KERNEL_BUILDER(Name("DenseCountSparseOutput")         \
                              .Device(DEVICE_CPU)                \
                              .TypeConstraint<T>("output_type"), \
                          DenseCountOp<T>);                      \
  REGISTER_KERNEL_BUILDER(Name("SparseCountSparseOutput")        \
                              .Device(DEVICE_CPU)                \
                              .TypeConstraint<T>("output_type"), \
                          SparseCountOp<T>);                     \
  REGISTER_KERNEL_BUILDER(Name("RaggedCountSparseOutput")        \
                              .Device(DEVICE_CPU)                \
                              .TypeConstraint<T>("output_type"), \
                          RaggedCountOp<T>)
REGISTER_COUNTS(int32_t);
REGISTER_COUNTS(int64_t);
REGISTER_COUNTS(float);
REGISTER_COUNTS(double);
#undef REGISTER_COUNTS

}  // namespace
}  // namespace headrace
