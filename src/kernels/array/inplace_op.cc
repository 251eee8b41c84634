// InplaceUpdate, InplaceAdd and InplaceSub: rows i of x replaced by, or changed
// by, the rows of v. Despite their names they never change what another node
// sees: x's buffer is taken over only if nobody else holds it. Indices wrap
// around, as i mod the number of rows. And Empty, which is zeros if `init`.
#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

class EmptyOp : public OpKernel {
 public:
  explicit EmptyOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("init", &init_));
  }
  void Compute(OpKernelContext* ctx) override {
    DimVector dims;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(0), "shape", &dims));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (init_) ZeroElements(out);
  }

 private:
  bool init_ = false;
};
REGISTER_KERNEL_BUILDER(Name("Empty").Device(DEVICE_CPU), EmptyOp);

// Makes *out a copy of x, or x itself, and finds the rows to change.
Status PrepareRows(OpKernelContext* ctx, Tensor** out, DimVector* rows,
                   int64_t* row_size) {
  const Tensor& x = ctx->input(0);
  const Tensor& i = ctx->input(1);
  const Tensor& v = ctx->input(2);
  if (x.dims() < 1 || i.dims() > 1) {
    return errors::InvalidArgument(
        "x must be at least a vector and i at most one, got ",
        x.shape().DebugString(), " and ", i.shape().DebugString());
  }
  TensorShape want = x.shape();
  want.RemoveDim(0);
  *row_size = want.num_elements();
  if (i.dims() == 1) want.InsertDim(0, i.NumElements());
  if (v.shape() != want) {
    return errors::InvalidArgument("v must have shape ", want.DebugString(),
                                   ", got ", v.shape().DebugString());
  }
  HR_RETURN_IF_ERROR(ReadIntegers(i, "i", rows));
  const int64_t n = x.dim_size(0);
  if (n == 0 && !rows->empty()) {
    return errors::InvalidArgument("x has no rows to update");
  }
  for (int64_t& r : *rows) r = (r % n + n) % n;
  int forwarded = -1;
  HR_RETURN_IF_ERROR(ctx->forward_input_or_allocate_output({0}, 0, x.shape(),
                                                           out, &forwarded));
  if (forwarded < 0) CopyElements(x, 0, *out, 0, x.NumElements());
  return OkStatus();
}

class InplaceUpdateOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Tensor* out = nullptr;
    DimVector rows;
    int64_t n;
    OP_REQUIRES_OK(ctx, PrepareRows(ctx, &out, &rows, &n));
    for (size_t k = 0; k < rows.size(); ++k) {
      CopyElements(ctx->input(2), k * n, out, rows[k] * n, n);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("InplaceUpdate").Device(DEVICE_CPU),
                        InplaceUpdateOp);

template <typename T, bool kSubtract>
class InplaceAddOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Tensor* out = nullptr;
    DimVector rows;
    int64_t n;
    OP_REQUIRES_OK(ctx, PrepareRows(ctx, &out, &rows, &n));
    for (size_t k = 0; k < rows.size(); ++k) {
      T* y = out->data<T>() + rows[k] * n;
      const T* v = ctx->input(2).data<T>() + k * n;
      for (int64_t j = 0; j < n; ++j) {
        if constexpr (std::is_integral_v<T>) {  // wraps around
          y[j] = static_cast<T>(kSubtract ? uint64_t(y[j]) - uint64_t(v[j])
                                          : uint64_t(y[j]) + uint64_t(v[j]));
        } else {
          y[j] = kSubtract ? y[j] - v[j] : y[j] + v[j];
        }
      }
    }
  }
};
#define REGISTER(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("InplaceAdd").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      InplaceAddOp<T, false>);                                      \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("InplaceSub").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      InplaceAddOp<T, true>);
HR_CALL_NUMBER_TYPES(REGISTER)
#undef REGISTER

}  // namespace
}  // namespace headrace
