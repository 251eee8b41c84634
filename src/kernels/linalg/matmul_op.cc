// MatMul: C = op(A) op(B) for matrices. transpose_a and transpose_b are plain
// transposes: complex values are not conjugated (BatchMatMul's adj_x are).
// _FusedMatMul adds a bias to the product's rows and applies an activation.
// A constant matrix of floats is kept in panels (constant_matrix.h).
#include "framework/tensor/stored_constant.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/bfloat16_matrix.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/constant_matrix.h"
#include "kernels/lib/epilogue.h"
#include "kernels/lib/gemm.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {

template <typename T>
class MatMulOp : public OpKernel, public StoredConstantReader {
 public:
  explicit MatMulOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), bfloat16_b_(*ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_b", &transpose_b_));
  }

  void Compute(OpKernelContext* ctx) override { Multiply(ctx, {}, nullptr); }
  void SetConstantInput(int i, const Tensor& value) override {
    if (i != 1 || !std::is_same_v<T, float>) return;
    if (bfloat16_b_.is_on()) {
      bfloat16_b_.Set(value);
    } else {
      constant_b_.Set(value);
    }
  }
  bool TakesStoredConstant(int input) const override {
    return input == 1 &&
           (std::is_same_v<T, float> || std::is_same_v<T, double>);
  }
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant_reader = this;
  }

 protected:
  // The epilogue is for floats alone. `bias` may be null; its size is checked.
  void Multiply(OpKernelContext* ctx, const Epilogue& epilogue,
                const Tensor* bias) {
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
    auto g = GemmArgs<T>::Dense(
        a.dim_size(transpose_a_ ? 1 : 0), b.dim_size(transpose_b_ ? 0 : 1),
        a.dim_size(transpose_a_ ? 0 : 1), transpose_a_, transpose_b_);
    OP_REQUIRES(ctx, b.dim_size(transpose_b_ ? 1 : 0) == g.k,
                errors::InvalidArgument("Matrix size-incompatible: In[0]: ",
                                        a.shape().DebugString(),
                                        ", In[1]: ", b.shape().DebugString()));
    OP_REQUIRES(
        ctx, bias == nullptr || (bias->dims() == 1 && bias->dim_size(0) == g.n),
        errors::InvalidArgument(
            "Must provide as many biases as the product has columns: ",
            bias->shape().DebugString(), " vs. ", g.n, " in ",
            TensorShape({g.m, g.n}).DebugString()));
    Tensor* c = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({g.m, g.n}), &c));
    g = g.At(a.data<T>(), b.data<T>(), c->data<T>());
    CancellableLoops cancellable(ctx);
    if constexpr (std::is_same_v<T, float>) {
      if (bfloat16_b_.is_on()) {
        OP_REQUIRES_OK(ctx, bfloat16_b_.Multiply(ctx, g));
      } else if (constant_b_.Multiply(ctx->thread_pool(), g, epilogue)) {
        return;
      } else {
        Gemm(ctx->thread_pool(), g);
      }
      if (epilogue.empty()) return;
      ApplyEpilogue(ctx->thread_pool(), DT_FLOAT, epilogue, g.m, g.n, g.c);
    } else {
      Gemm(ctx->thread_pool(), g);
    }
  }

 private:
  bool transpose_a_ = false, transpose_b_ = false;
  ConstantMatrix constant_b_;
  Bfloat16Matrix bfloat16_b_;  // instead of the former, if it is on
};

template <typename T>
class FusedMatMulOp : public MatMulOp<T> {
 public:
  explicit FusedMatMulOp(OpKernelConstruction* ctx) : MatMulOp<T>(ctx) {
    OP_REQUIRES_OK(ctx, FusedOps::ReadOfProduct(*ctx, 2, &fused_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor* const bias = fused_.bias ? &ctx->input(2) : nullptr;
    Epilogue epilogue = fused_.Begin();
    if constexpr (std::is_same_v<T, float>) {
      epilogue.bias = bias;
      this->Multiply(ctx, epilogue, bias);
    } else {
      this->Multiply(ctx, {}, bias);
      if (!ctx->status().ok()) return;
      Tensor* c = ctx->mutable_output(0);
      const int64_t rows = c->dim_size(0), n = c->dim_size(1);
      Tensor wide, wide_bias;
      OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_FLOAT, c->shape(), &wide));
      Widen(c->data<T>(), wide.data<float>(), rows * n);
      if (bias != nullptr) {
        OP_REQUIRES_OK(ctx,
                       ctx->allocate_temp(DT_FLOAT, bias->shape(), &wide_bias));
        Widen(bias->data<T>(), wide_bias.data<float>(), n);
        epilogue.bias = &wide_bias;
      }
      ApplyEpilogue(ctx->thread_pool(), DT_FLOAT, epilogue, rows, n,
                    wide.data<float>());
      Narrow(wide.data<float>(), c->data<T>(), rows * n);
    }
  }

 private:
  FusedOps fused_;
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

#define HR_REGISTER_FUSED(T)                                          \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("_FusedMatMul").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      FusedMatMulOp<T>);
HR_REGISTER_FUSED(float)
HR_REGISTER_FUSED(half)
HR_REGISTER_FUSED(bfloat16)
#undef HR_REGISTER_FUSED

}  // namespace headrace
