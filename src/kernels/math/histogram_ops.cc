// Bincount, DenseBincount, SparseBincount, RaggedBincount and
// HistogramFixedWidth. The counters drop values beyond `size` and refuse
// negative ones (SparseBincount of rows drops them too); the histogram puts
// outliers into the first and last bin.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/lib/elementwise.h"
#include "kernels/lib/row_splits.h"
#include "kernels/lib/segment_loops.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

// rows * size bins. Weights may be empty: ones.
template <typename T>
Status CountInto(const Tensor& in, const Tensor& weights, int64_t rows,
                 int64_t size, bool binary, T* bins) {
  std::fill(bins, bins + rows * size, T(0));
  const int64_t n = in.NumElements();
  const int64_t row = rows == 0 ? 0 : n / rows;
  const T* w = weights.NumElements() > 0 ? weights.data<T>() : nullptr;
  const auto count = [&](const auto* ids) {
    for (int64_t r = 0; r < rows; ++r, bins += size) {
      for (int64_t i = r * row; i < (r + 1) * row; ++i) {
        const int64_t v = ids[i];
        if (v < 0) {
          return errors::InvalidArgument("Input arr must be non-negative! Got ",
                                         v, " at position ", i);
        }
        if (v >= size) continue;
        bins[v] = binary ? T(1) : WrapAdd(bins[v], w == nullptr ? T(1) : w[i]);
      }
    }
    return OkStatus();
  };
  return in.dtype() == DT_INT32 ? count(in.data<int32_t>())
                                : count(in.data<int64_t>());
}

// Counters beyond this are a mistake or an attack: nothing else bounds a size
// that is a mere number in the graph.
constexpr int64_t kMaxBinBytes = INT32_MAX;

Status CheckBins(int64_t n, int size) {
  if (n <= kMaxBinBytes / size) return OkStatus();
  return errors::ResourceExhausted(n, " bins of ", size,
                                   " bytes are more than the ", kMaxBinBytes,
                                   " bytes that are allowed");
}

// The value of scalar input i, if it is not negative.
Status ReadSize(OpKernelContext* ctx, int i, int64_t* out) {
  const Tensor& t = ctx->input(i);
  if (t.dims() != 0) {
    return errors::InvalidArgument("Shape must be rank 0 but is rank ",
                                   t.dims(), " for size");
  }
  *out = IdAt(t, 0);
  if (*out < 0) {
    return errors::InvalidArgument("size (", *out, ") must be non-negative");
  }
  return OkStatus();
}

template <typename T, bool kDense>
class BincountOp : public OpKernel {
 public:
  explicit BincountOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (kDense) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("binary_output", &binary_));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &weights = ctx->input(2);
    int64_t size = 0;
    OP_REQUIRES_OK(ctx, ReadSize(ctx, 1, &size));
    OP_REQUIRES_OK(ctx, CheckBins(size, sizeof(T)));
    OP_REQUIRES(
        ctx,
        weights.NumElements() == 0 || weights.NumElements() == in.NumElements(),
        errors::InvalidArgument(
            "Input indices and weights must have the same size: got ",
            in.shape().DebugString(), " and ", weights.shape().DebugString()));
    TensorShape shape({size});
    int64_t rows = 1;
    if (kDense) {
      OP_REQUIRES(ctx, in.dims() <= 2,
                  errors::InvalidArgument(
                      "Shape must be at most rank 2 but is rank ", in.dims()));
      if (in.dims() == 2) {
        rows = in.dim_size(0);
        shape = TensorShape({rows, size});
      }
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    OP_REQUIRES_OK(
        ctx, CountInto<T>(in, weights, rows, size, binary_, out->data<T>()));
  }

 private:
  bool binary_ = false;
};

// Counts per row, for values whose rows are given by the preceding inputs.
template <typename T>
class RowBincountOp : public OpKernel {
 public:
  explicit RowBincountOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("binary_output", &binary_));
  }

 protected:
  // Row i's number is row_of(i).
  template <typename F>
  void Count(OpKernelContext* ctx, int size_input, const TensorShape& rows,
             bool drop_negative, F row_of) const {
    const Tensor& values = ctx->input(1);
    const Tensor& weights = ctx->input(size_input + 1);
    int64_t size = 0;
    OP_REQUIRES_OK(ctx, ReadSize(ctx, size_input, &size));
    TensorShape shape = rows;
    shape.AddDim(size);
    OP_REQUIRES(ctx, shape.IsValid(),
                errors::InvalidArgument("size (", size, ") is too large for ",
                                        rows.DebugString(), " rows"));
    OP_REQUIRES_OK(ctx, CheckBins(shape.num_elements(), sizeof(T)));
    OP_REQUIRES(ctx,
                weights.NumElements() == 0 || weights.shape() == values.shape(),
                errors::InvalidArgument(
                    "weights must be empty or of the values' shape: got ",
                    weights.shape().DebugString(), " and ",
                    values.shape().DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    T* const bins = out->data<T>();
    std::fill(bins, bins + out->NumElements(), T(0));
    const T* w = weights.NumElements() > 0 ? weights.data<T>() : nullptr;
    for (int64_t i = 0; i < values.NumElements(); ++i) {
      const int64_t v = IdAt(values, i);
      OP_REQUIRES(ctx, v >= 0 || drop_negative,
                  errors::InvalidArgument("Input must be non-negative, got ", v,
                                          " at position ", i));
      if (v < 0 || v >= size) continue;
      T& bin = bins[row_of(i) * size + v];
      bin = binary_ ? T(1) : WrapAdd(bin, w == nullptr ? T(1) : w[i]);
    }
  }

 private:
  bool binary_ = false;
};

// Rows are the first dimension of a sparse tensor; a sparse vector is one row.
template <typename T>
class SparseBincountOp : public RowBincountOp<T> {
 public:
  using RowBincountOp<T>::RowBincountOp;

  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "", &s));
    OP_REQUIRES(ctx, s.rank >= 1,
                errors::InvalidArgument("dense_shape must not be empty"));
    OP_REQUIRES_OK(ctx, CheckBounds(s, ""));
    const bool vector = s.rank == 1;
    this->Count(ctx, 3, vector ? TensorShape() : TensorShape({s.dims[0]}),
                !vector, [&](int64_t i) { return vector ? 0 : s.at(i, 0); });
  }
};

template <typename T>
class RaggedBincountOp : public RowBincountOp<T> {
 public:
  using RowBincountOp<T>::RowBincountOp;

  void Compute(OpKernelContext* ctx) override {
    const Tensor &splits = ctx->input(0), &values = ctx->input(1);
    OP_REQUIRES(
        ctx, splits.dims() == 1 && splits.NumElements() > 0,
        errors::InvalidArgument("Splits must be a non-empty vector, got shape ",
                                splits.shape().DebugString()));
    OP_REQUIRES_OK(ctx, CheckRowSplits(splits, values));
    this->Count(ctx, 2, TensorShape({splits.NumElements() - 1}), false,
                RowOfValue(splits));
  }
};

template <typename T>
class HistogramFixedWidthOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor &values = ctx->input(0), &range = ctx->input(1),
                 &bins = ctx->input(2);
    OP_REQUIRES(ctx, range.dims() == 1 && range.NumElements() == 2,
                errors::InvalidArgument(
                    "value_range should be a vector of 2 elements, got shape ",
                    range.shape().DebugString()));
    OP_REQUIRES(ctx, bins.dims() == 0,
                errors::InvalidArgument("nbins should be a scalar, got shape ",
                                        bins.shape().DebugString()));
    const T low = range.data<T>()[0], high = range.data<T>()[1];
    OP_REQUIRES(
        ctx, low < high,
        errors::InvalidArgument("value_range should satisfy value_range[0] < "
                                "value_range[1], but got '[",
                                low, ", ", high, "]'"));
    const int64_t n = bins.scalar<int32_t>();
    OP_REQUIRES(ctx, n > 0,
                errors::InvalidArgument("nbins should be a positive number, "
                                        "but got '",
                                        n, "'"));
    OP_REQUIRES_OK(ctx, CheckBins(n, DataTypeSize(output_type(0))));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({n}), &out));
    if (out->dtype() == DT_INT32) {
      OP_REQUIRES_OK(ctx, Count(values, low, high, n, out->data<int32_t>()));
    } else {
      OP_REQUIRES_OK(ctx, Count(values, low, high, n, out->data<int64_t>()));
    }
  }

 private:
  template <typename C>
  static Status Count(const Tensor& values, T low, T high, int64_t n,
                      C* count) {
    std::fill(count, count + n, C(0));
    const double step = (static_cast<double>(high) - low) / n;
    for (const T v : values.span<T>()) {
      if (v != v) {
        return errors::InvalidArgument("Histogram values must not contain NaN");
      }
      const double at = (static_cast<double>(std::max(v, low)) - low) / step;
      C& bin = count[at >= n - 1 ? n - 1 : static_cast<int64_t>(at)];
      bin = WrapAdd(bin, C(1));
    }
    return OkStatus();
  }
};

#define HR_REGISTER(T)                                                       \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("Bincount").Device(DEVICE_CPU).TypeConstraint<T>("T"),            \
      BincountOp<T, false>);                                                 \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("DenseBincount").Device(DEVICE_CPU).TypeConstraint<T>("T"),       \
      BincountOp<T, true>);                                                  \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("SparseBincount").Device(DEVICE_CPU).TypeConstraint<T>("T"),      \
      SparseBincountOp<T>);                                                  \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("RaggedBincount").Device(DEVICE_CPU).TypeConstraint<T>("T"),      \
      RaggedBincountOp<T>);                                                  \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("HistogramFixedWidth").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      HistogramFixedWidthOp<T>);
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
HR_REGISTER(float)
HR_REGISTER(double)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
