// ScatterNd and TensorScatter*: slices of updates go into a zero tensor, or
// into a copy of one, at given coordinates. They go in order, one after the
// other, so duplicates add up in a fixed order and the last update wins.
#include <algorithm>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"
#include "kernels/lib/scatter_indices.h"

namespace headrace {
namespace {

enum class Update { kAssign, kAdd, kSub, kMax, kMin };

// to = to <op> from. Adding is "or" of bools; integers wrap around.
template <Update kOp, typename T>
inline void Apply(T& to, const T& from) {
  if constexpr (kOp == Update::kAssign) {
    to = from;
  } else if constexpr (std::is_same_v<T, bool>) {
    to = to || from;
  } else if constexpr (std::is_same_v<T, tstring>) {
    to = StrCat(absl::string_view(to), absl::string_view(from));
  } else if constexpr (std::is_integral_v<T> && kOp == Update::kAdd) {
    to = static_cast<T>(uint64_t(to) + uint64_t(from));
  } else if constexpr (std::is_integral_v<T> && kOp == Update::kSub) {
    to = static_cast<T>(uint64_t(to) - uint64_t(from));
  } else if constexpr (kOp == Update::kAdd) {
    to = to + from;
  } else if constexpr (kOp == Update::kSub) {
    to = to - from;
  } else if constexpr (kOp == Update::kMax) {
    to = to < from ? from : to;
  } else {
    to = from < to ? from : to;
  }
}

template <Update kOp, typename T>
void ScatterRows(const std::vector<int64_t>& at, int64_t row, const Tensor& in,
                 Tensor* result) {
  const T* updates = ElementsOf<T>(in);
  T* out = ElementsOf<T>(result);
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0) continue;
    T* to = out + at[i] * row;
    const T* from = updates + i * row;
    for (int64_t k = 0; k < row; ++k) Apply<kOp, T>(to[k], from[k]);
  }
}

// Checks updates against indices and shape, and finds the slices.
Status Prepare(const Tensor& indices, const Tensor& updates,
               const TensorShape& shape, bool ignore_bad,
               std::vector<int64_t>* at, int64_t* row) {
  HR_RETURN_IF_ERROR(
      CheckScatterNd(shape, "output", indices.shape(), updates.shape()));
  HR_RETURN_IF_ERROR(
      CheckScatterNdHasPlace(shape, indices.shape(), updates.shape()));
  const int64_t depth = indices.dim_size(indices.dims() - 1);
  *row = shape.ProductOf(static_cast<int>(depth), shape.dims());
  return SliceIndices(indices, shape, "shape", ignore_bad, at);
}

class ScatterNdOp : public OpKernel {
 public:
  using ScatterFn = void (*)(const std::vector<int64_t>& at, int64_t row,
                             const Tensor& updates, Tensor* out);

  ScatterNdOp(OpKernelConstruction* ctx, ScatterFn scatter)
      : OpKernel(ctx),
        from_zero_(ctx->op_def().name == "ScatterNd"),
        scatter_(scatter) {
    OP_REQUIRES_OK(ctx, GetIgnoreBadIndices(ctx, &ignore_bad_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices = ctx->input(from_zero_ ? 0 : 1);
    const Tensor& updates = ctx->input(from_zero_ ? 1 : 2);
    TensorShape shape = ctx->input(0).shape();
    if (from_zero_) {
      DimVector dims;
      OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(2), "shape", &dims));
      OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    }
    std::vector<int64_t> at;
    int64_t row = 0;
    OP_REQUIRES_OK(ctx,
                   Prepare(indices, updates, shape, ignore_bad_, &at, &row));
    Tensor* out = nullptr;
    if (from_zero_) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
      ZeroElements(out);
    } else {
      int forwarded = -1;
      OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                              {0}, 0, shape, &out, &forwarded));
      if (forwarded < 0) {
        CopyElements(ctx->input(0), 0, out, 0, shape.num_elements());
      }
    }
    if (row > 0) scatter_(at, row, updates, out);
  }

 private:
  const bool from_zero_;
  const ScatterFn scatter_;
  bool ignore_bad_ = false;
};

template <Update kOp, typename T>
class TypedScatterNdOp : public ScatterNdOp {
 public:
  explicit TypedScatterNdOp(OpKernelConstruction* ctx)
      : ScatterNdOp(ctx, ScatterRows<kOp, T>) {}
};

// An assignment moves elements and does not care for their type.
void MoveRows(const std::vector<int64_t>& at, int64_t row,
              const Tensor& updates, Tensor* out) {
  WithElement(out->dtype(), [&]<typename S>(Element<S>) {
    ScatterRows<Update::kAssign, S>(at, row, updates, out);
  });
}

class TensorScatterUpdateOp : public ScatterNdOp {
 public:
  explicit TensorScatterUpdateOp(OpKernelConstruction* ctx)
      : ScatterNdOp(ctx, MoveRows) {}
};

#define REGISTER(name, op, T)                               \
  REGISTER_KERNEL_BUILDER(                                  \
      Name(name).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      TypedScatterNdOp<Update::op, T>);
#define REGISTER_ADD(T)                        \
  REGISTER("ScatterNd", kAdd, T)               \
  REGISTER("ScatterNdNonAliasingAdd", kAdd, T) \
  REGISTER("TensorScatterAdd", kAdd, T)
#define REGISTER_SUB(T) REGISTER("TensorScatterSub", kSub, T)
#define REGISTER_ORDERED(T)             \
  REGISTER("TensorScatterMax", kMax, T) \
  REGISTER("TensorScatterMin", kMin, T)
HR_CALL_NUMBER_TYPES(REGISTER_ADD)
REGISTER_ADD(bool)
REGISTER_ADD(tstring)
HR_CALL_NUMBER_TYPES(REGISTER_SUB)
HR_CALL_REAL_NUMBER_TYPES(REGISTER_ORDERED)

REGISTER_KERNEL_BUILDER(Name("TensorScatterUpdate").Device(DEVICE_CPU),
                        TensorScatterUpdateOp);
#undef REGISTER
#undef REGISTER_ADD
#undef REGISTER_SUB
#undef REGISTER_ORDERED

}  // namespace
}  // namespace headrace
