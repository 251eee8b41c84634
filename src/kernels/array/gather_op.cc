// Gather, GatherV2 and GatherNd. Indices are copied and checked in one pass
// before anything is read through them, so that a variable which another step
// writes cannot slip a bad index in. Negative ones are errors: they do not
// count from the end.
#include <cstring>
#include <string>
#include <vector>

#include "framework/tensor/stored_constant.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"
#include "kernels/lib/scatter_indices.h"

namespace headrace {
namespace {

// Copies rows of `row` elements: output row i of a group is row at[i] of the
// group's part of the source. A negative at[i] gives a row of zeros.
template <typename T>
void GatherRows(OpKernelContext* ctx, const T* src, T* dst, int64_t groups,
                int64_t src_group, absl::Span<const int64_t> at,
                int64_t at_per_batch, int64_t groups_per_batch, int64_t row) {
  const double cost = 4 + row * (kIsPlainElement<T> ? 0.1 * sizeof(T) : 20.0);
  ctx->ParallelFor(
      groups * at_per_batch, cost, [&](int64_t begin, int64_t end) {
        int64_t group = begin / at_per_batch, i = begin % at_per_batch;
        for (int64_t r = begin; r < end; ++r) {
          const int64_t from = at[group / groups_per_batch * at_per_batch + i];
          T* to = dst + r * row;
          const T* source = src + group * src_group + from * row;
          if (from < 0) {
            std::fill(to, to + row, T());
          } else if constexpr (kIsPlainElement<T>) {
            // Not by assignment: constants may lie at any address.
            if (row == 1) {
              std::memcpy(to, source, sizeof(T));
            } else {
              std::memcpy(to, source, row * sizeof(T));
            }
          } else {
            std::copy(source, source + row, to);
          }
          if (++i == at_per_batch) {
            i = 0;
            ++group;
          }
        }
      });
}

class GatherOp : public OpKernel, public StoredConstantReader {
 public:
  explicit GatherOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (ctx->HasAttr("batch_dims")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("batch_dims", &batch_dims_));
    }
  }
  bool TakesStoredConstant(int input) const override { return input == 0; }
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant_reader = this;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& params = ctx->input(0);
    const Tensor& indices = ctx->input(1);
    const int rank = params.dims();
    OP_REQUIRES(ctx, rank >= 1,
                errors::InvalidArgument("params must be at least 1 "
                                        "dimensional, got a scalar"));
    int64_t axis = 0;
    if (ctx->num_inputs() > 2) {
      OP_REQUIRES(ctx, ctx->input(2).dims() == 0,
                  errors::InvalidArgument("axis must be scalar, got shape ",
                                          ctx->input(2).shape().DebugString()));
      OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(2), "axis", &axis));
    }
    OP_REQUIRES(ctx, -rank <= axis && axis < rank,
                errors::InvalidArgument("Expected axis in the range [", -rank,
                                        ", ", rank, "), but got ", axis));
    if (axis < 0) axis += rank;
    const int64_t batch_dims =
        batch_dims_ < 0 ? batch_dims_ + indices.dims() : batch_dims_;
    OP_REQUIRES(ctx, 0 <= batch_dims && batch_dims <= indices.dims(),
                errors::InvalidArgument("Expected batch_dims in the range [",
                                        -indices.dims(), ", ", indices.dims(),
                                        "], but got ", batch_dims_));
    OP_REQUIRES(ctx, batch_dims <= axis,
                errors::InvalidArgument("batch_dims (", batch_dims,
                                        ") must be less than or equal to "
                                        "axis (",
                                        axis, ")."));
    TensorShape shape;
    for (int i = 0; i < axis; ++i) {
      OP_REQUIRES(
          ctx, i >= batch_dims || params.dim_size(i) == indices.dim_size(i),
          errors::InvalidArgument("params.shape[", i, "]: ", params.dim_size(i),
                                  " should be equal to indices.shape[", i,
                                  "]: ", indices.dim_size(i)));
      shape.AddDim(params.dim_size(i));
    }
    const int b = static_cast<int>(batch_dims);
    const int a = static_cast<int>(axis);
    for (int i = b; i < indices.dims(); ++i) shape.AddDim(indices.dim_size(i));
    for (int i = a + 1; i < rank; ++i) shape.AddDim(params.dim_size(i));
    OP_REQUIRES(ctx, shape.dims() <= kMaxTensorRank,
                errors::InvalidArgument("the result has too many dimensions"));

    const int64_t limit = params.dim_size(a);
    DimVector at;
    OP_REQUIRES_OK(ctx, ReadIntegers(indices, "indices", &at));
    for (size_t i = 0; i < at.size(); ++i) {
      OP_REQUIRES(
          ctx, 0 <= at[i] && at[i] < limit,
          errors::InvalidArgument("indices", IndexString(indices.shape(), i),
                                  " = ", at[i], " is not in [0, ", limit, ")"));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const int64_t row = params.shape().ProductOf(a + 1, rank);
    const int64_t groups = params.shape().ProductOf(0, a);
    const int64_t batches = params.shape().ProductOf(0, b);
    WithElement(params.dtype(), [&]<typename T>(Element<T>) {
      GatherRows<T>(ctx, ElementsOf<T>(params), ElementsOf<T>(out), groups,
                    limit * row, at, indices.NumElements() / batches,
                    groups / batches, row);
    });
  }

 private:
  int64_t batch_dims_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("Gather").Device(DEVICE_CPU), GatherOp);
REGISTER_KERNEL_BUILDER(Name("GatherV2").Device(DEVICE_CPU), GatherOp);

class GatherNdOp : public OpKernel, public StoredConstantReader {
 public:
  explicit GatherNdOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, GetIgnoreBadIndices(ctx, &ignore_bad_));
  }
  bool TakesStoredConstant(int input) const override { return input == 0; }
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant_reader = this;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& params = ctx->input(0);
    const Tensor& indices = ctx->input(1);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, GatherNdShape(params.shape(), indices.shape(), &shape));
    std::vector<int64_t> at;
    OP_REQUIRES_OK(ctx, SliceIndices(indices, params.shape(), "param shape",
                                     ignore_bad_, &at));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const int64_t n = static_cast<int64_t>(at.size());
    const int64_t row = out->NumElements() / n;
    WithElement(params.dtype(), [&]<typename T>(Element<T>) {
      GatherRows<T>(ctx, ElementsOf<T>(params), ElementsOf<T>(out), 1, 0, at, n,
                    1, row);
    });
  }

 private:
  bool ignore_bad_ = false;
};
REGISTER_KERNEL_BUILDER(Name("GatherNd").Device(DEVICE_CPU), GatherNdOp);

}  // namespace
}  // namespace headrace
