// SparseSparseMaximum and Minimum: the larger or smaller at each index that
// either tensor has; what one of them does not have counts as 0.
#include <vector>

#include "kernels/lib/elementwise.h"
#include "kernels/sparse/sparse_merge.h"

namespace headrace {
namespace {

// What does not depend on the type of the values.
class SparseSparseExtremeBase : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SparseView a, b;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "a", &a));
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 3, "b", &b));
    OP_REQUIRES_OK(ctx, CheckSameShape(a, b));
    int64_t n = 0;
    MergeEntries(a, b, [&](int64_t, int64_t) { ++n; });
    Tensor *indices = nullptr, *values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, a.rank}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &values));
    int64_t* row = indices->data<int64_t>();
    int64_t at = 0;
    MergeEntries(a, b, [&](int64_t i, int64_t j) {
      row = std::copy_n(i < 0 ? b.row(j) : a.row(i), a.rank, row);
      Put(a.values, i, b.values, j, values, at++);
    });
  }

 private:
  // Element `at` of `out`, of x[i] and y[j]; an index below 0 stands for 0.
  virtual void Put(const Tensor& x, int64_t i, const Tensor& y, int64_t j,
                   Tensor* out, int64_t at) const = 0;
};

template <typename T, bool kMax>
class SparseSparseExtremeOp : public SparseSparseExtremeBase {
 public:
  using SparseSparseExtremeBase::SparseSparseExtremeBase;

 private:
  void Put(const Tensor& x, int64_t i, const Tensor& y, int64_t j, Tensor* out,
           int64_t at) const override {
    const T p = i < 0 ? T(0) : x.data<T>()[i];
    const T q = j < 0 ? T(0) : y.data<T>()[j];
    out->data<T>()[at] = kMax ? (p < q ? q : p) : (q < p ? q : p);
  }
};
#define HR_REGISTER(T)                                                       \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("SparseSparseMaximum").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SparseSparseExtremeOp<T, true>);                                       \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("SparseSparseMinimum").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SparseSparseExtremeOp<T, false>);
HR_CALL_REAL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
