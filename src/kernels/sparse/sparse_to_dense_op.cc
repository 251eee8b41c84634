// SparseToDense: default_value everywhere but at the indices, of which there
// are one (a scalar), as many as a vector has, or a matrix with one a row. With
// validate_indices they must be in order and not repeated; without it a later
// one wins. Outside the shape is an error either way.
#include "kernels/lib/element.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

class SparseToDenseOp : public OpKernel {
 public:
  explicit SparseToDenseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("validate_indices", &validate_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices = ctx->input(0);
    const Tensor& shape = ctx->input(1);
    const Tensor& values = ctx->input(2);
    const Tensor& value = ctx->input(3);
    OP_REQUIRES(ctx, indices.dims() <= 2,
                errors::InvalidArgument(
                    "sparse_indices should be a scalar, vector, or matrix, "
                    "got shape ",
                    indices.shape().DebugString()));
    OP_REQUIRES(
        ctx, shape.dims() == 1,
        errors::InvalidArgument("output_shape should be a vector, got shape ",
                                shape.shape().DebugString()));
    OP_REQUIRES(ctx, value.dims() == 0,
                errors::InvalidArgument("default_value should be a scalar."));
    const int64_t n = indices.dims() > 0 ? indices.dim_size(0) : 1;
    const int64_t rank = indices.dims() > 1 ? indices.dim_size(1) : 1;
    OP_REQUIRES(ctx, shape.NumElements() == rank,
                errors::InvalidArgument(
                    "output_shape has incorrect number of elements: ",
                    shape.NumElements(), " should be: ", rank));
    OP_REQUIRES(
        ctx,
        values.dims() == 0 || (values.dims() == 1 && values.dim_size(0) == n),
        errors::InvalidArgument("sparse_values has incorrect shape ",
                                values.shape().DebugString(),
                                ", should be [] or [", n, "]"));
    Tensor shape64, index64;
    OP_REQUIRES_OK(ctx, AsInt64(ctx, shape, &shape64));
    OP_REQUIRES_OK(ctx, AsInt64(ctx, indices, &index64));
    TensorShape dense;
    OP_REQUIRES_OK(ctx, TensorShape::Build(shape64.span<int64_t>(), &dense));
    SparseView s;
    s.n = n;
    s.rank = static_cast<int>(rank);
    s.indices = index64.data<int64_t>();
    s.dims.assign(dense.dim_sizes().begin(), dense.dim_sizes().end());
    OP_REQUIRES_OK(ctx, validate_ ? CheckOrdered(s, "") : CheckBounds(s, ""));

    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, dense, &out));
    FillElements(value, out, 0, out->NumElements());
    const int64_t step = values.dims() == 0 ? 0 : 1;
    WithElement(value.dtype(), [&]<typename T>(Element<T>) {
      const T* x = ElementsOf<T>(values);
      T* y = ElementsOf<T>(out);
      for (int64_t i = 0; i < n; ++i) {
        int64_t at = 0;
        for (int d = 0; d < s.rank; ++d) at = at * s.dims[d] + s.at(i, d);
        y[at] = x[i * step];
      }
    });
  }

 private:
  bool validate_ = true;
};
REGISTER_KERNEL_BUILDER(Name("SparseToDense").Device(DEVICE_CPU),
                        SparseToDenseOp);

}  // namespace
}  // namespace headrace
