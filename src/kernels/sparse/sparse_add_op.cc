// SparseAdd: the entries of both tensors, those at one index added up; a sum of
// two that is below thresh in magnitude (or NaN) is left out, an entry that
// only one of them has never is. SparseAddGrad hands each entry of a and b the
// gradient of the sum at its index, 0 if it was left out.
#include <vector>

#include "kernels/lib/element.h"
#include "kernels/lib/elementwise.h"
#include "kernels/sparse/sparse_merge.h"

namespace headrace {
namespace {

template <typename T>
auto Magnitude(const T& x) {
  if constexpr (kIsComplex<T>) {
    return std::abs(x);
  } else if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    return x < 0 ? WrapSub<T>(0, x) : x;
  } else {
    return static_cast<T>(std::abs(static_cast<ComputeType<T>>(x)));
  }
}

template <typename T>
class SparseAddOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    using Real = decltype(Magnitude(T()));
    SparseView a, b;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "a", &a));
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 3, "b", &b));
    OP_REQUIRES_OK(ctx, CheckSameShape(a, b));
    const Tensor& thresh_t = ctx->input(6);
    OP_REQUIRES(ctx, thresh_t.dims() == 0,
                errors::InvalidArgument("thresh must be a scalar, got ",
                                        thresh_t.shape().DebugString()));
    OP_REQUIRES(
        ctx, thresh_t.dtype() == DataTypeToEnum<Real>::value,
        errors::InvalidArgument("thresh must be ",
                                DataTypeString(DataTypeToEnum<Real>::value),
                                ", got ", DataTypeString(thresh_t.dtype())));
    const Real thresh = thresh_t.scalar<Real>();
    const T *x = a.values.data<T>(), *y = b.values.data<T>();
    std::vector<const int64_t*> rows;
    std::vector<T> sums;
    MergeEntries(a, b, [&](int64_t i, int64_t j) {
      const T sum = i < 0 ? y[j] : j < 0 ? x[i] : WrapAdd(x[i], y[j]);
      if (i >= 0 && j >= 0 && !(thresh <= Magnitude(sum))) return;
      rows.push_back(i < 0 ? b.row(j) : a.row(i));
      sums.push_back(sum);
    });
    const int64_t n = rows.size();
    Tensor *indices = nullptr, *values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, a.rank}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &values));
    for (int64_t k = 0; k < n; ++k) {
      std::copy_n(rows[k], a.rank, indices->data<int64_t>() + k * a.rank);
    }
    std::copy_n(sums.data(), n, values->data<T>());
    ctx->set_output(2, ctx->input(2));
  }
};
#define HR_REGISTER(T)                                             \
  REGISTER_KERNEL_BUILDER(                                         \
      Name("SparseAdd").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SparseAddOp<T>);
HR_CALL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER

class SparseAddGradOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& grad = ctx->input(0);
    const Tensor& sum = ctx->input(3);
    OP_REQUIRES(ctx, grad.dims() == 1,
                errors::InvalidArgument("backprop_val_grad must be a vector, "
                                        "got ",
                                        grad.shape().DebugString()));
    for (int i = 1; i <= 3; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 2,
                  errors::InvalidArgument("indices must be matrices, got ",
                                          ctx->input(i).shape().DebugString()));
    }
    for (int i = 1; i <= 2; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).dim_size(1) == sum.dim_size(1),
                  errors::InvalidArgument(
                      "a, b and sum must have indices of one rank, got ",
                      ctx->input(i).dim_size(1), " and ", sum.dim_size(1)));
    }
    OP_REQUIRES(ctx, grad.NumElements() == sum.dim_size(0),
                errors::InvalidArgument(
                    "backprop_val_grad has ", grad.NumElements(),
                    " elements, sum_indices ", sum.dim_size(0), " rows"));
    for (int k : {0, 1}) {
      const Tensor& in = ctx->input(1 + k);
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(k, {in.dim_size(0)}, &out));
      ZeroElements(out);
      Gather(in, sum, grad, out);
    }
  }

 private:
  static void Gather(const Tensor& in, const Tensor& sum, const Tensor& grad,
                     Tensor* out) {
    const int rank = static_cast<int>(sum.dim_size(1));
    const int64_t *x = in.data<int64_t>(), *y = sum.data<int64_t>();
    WithElement(grad.dtype(), [&]<typename T>(Element<T>) {
      for (int64_t i = 0, k = 0; i < in.dim_size(0) && k < sum.dim_size(0);) {
        const int c = CompareIndices(x + i * rank, y + k * rank, rank);
        if (c == 0) ElementsOf<T>(out)[i] = ElementsOf<T>(grad)[k];
        if (c <= 0) {
          ++i;
        } else {
          ++k;
        }
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseAddGrad").Device(DEVICE_CPU),
                        SparseAddGradOp);

}  // namespace
}  // namespace headrace
