// MatMul: C = op(A) op(B) for matrices. transpose_a and transpose_b are plain
// transposes: complex values are not conjugated (BatchMatMul's adj_x are).
#include "framework/op_kernel.h"
#include "kernels/gemm.h"

namespace headrace {

template <typename T>
class MatMulOp : public OpKernel {
 public:
  explicit MatMulOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_b", &transpose_b_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& a = ctx->input(0);
    const Tensor& b = ctx->input(1);
    OP_REQUIRES(
        ctx, a.dims() == 2,
        errors::InvalidArgument("In[0] is not a matrix. Instead it has shape ",
                                a.shape().DebugString()));
    OP_REQUIRES(
        ctx, b.dims() == 2,
        errors::InvalidArgument("In[1] is not a matrix. Instead it has shape ",
                                b.shape().DebugString()));
    GemmArgs<T> g;
    g.transpose_a = transpose_a_;
    g.transpose_b = transpose_b_;
    g.m = a.dim_size(transpose_a_ ? 1 : 0);
    g.k = a.dim_size(transpose_a_ ? 0 : 1);
    g.n = b.dim_size(transpose_b_ ? 0 : 1);
    OP_REQUIRES(ctx, b.dim_size(transpose_b_ ? 1 : 0) == g.k,
                errors::InvalidArgument("Matrix size-incompatible: In[0]: ",
                                        a.shape().DebugString(),
                                        ", In[1]: ", b.shape().DebugString()));
    Tensor* c = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({g.m, g.n}), &c));
    g.a = a.data<T>();
    g.lda = a.dim_size(1);
    g.b = b.data<T>();
    g.ldb = b.dim_size(1);
    g.c = c->data<T>();
    g.ldc = g.n;
    Gemm(ctx->thread_pool(), g);
  }

 private:
  bool transpose_a_ = false, transpose_b_ = false;
};

#define HR_REGISTER(T)     \
  REGISTER_KERNEL_BUILDER( \
      Name("MatMul").Device(DEVICE_CPU).TypeConstraint<T>("T"), MatMulOp<T>);
HR_CALL_FLOAT_TYPES(HR_REGISTER)
HR_CALL_COMPLEX_TYPES(HR_REGISTER)
HR_CALL_UNSIGNED_INT_TYPES(HR_REGISTER)
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
#undef HR_REGISTER

}  // namespace headrace
