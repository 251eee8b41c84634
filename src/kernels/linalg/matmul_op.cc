// MatMul: C = op(A) op(B) for matrices. transpose_a and transpose_b are plain
// transposes: complex values are not conjugated (BatchMatMul's adj_x are).
// _FusedMatMul adds a bias to the product's rows and applies an activation.
// A constant matrix of floats is kept in panels (prepacked_gemm.h) for few
// rows.
#include "framework/tensor/mapped_buffer.h"
#include "framework/tensor/stored_constant.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/bfloat16_product.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/constant_forms.h"
#include "kernels/lib/epilogue.h"
#include "kernels/lib/gemm.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/prepacked_gemm.h"

namespace headrace {

template <typename T>
class MatMulOp : public OpKernel, public StoredConstantReader {
 public:
  explicit MatMulOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_b", &transpose_b_));
    bfloat16_products_ = MultipliesBfloat16(*ctx);
  }

  void Compute(OpKernelContext* ctx) override { Multiply(ctx); }
  void SetConstantInput(int i, const Tensor& value) override {
    if (i == 1 && std::is_same_v<T, float>) constant_b_.Set(value);
  }
  bool TakesStoredConstant(int input) const override {
    return input == 1 &&
           (std::is_same_v<T, float> || std::is_same_v<T, double>);
  }
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant_reader = this;
  }

 protected:
  void Multiply(OpKernelContext* ctx) {
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
    Tensor* c = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({g.m, g.n}), &c));
    g = g.At(a.data<T>(), b.data<T>(), c->data<T>());
    CancellableLoops cancellable(ctx);
    if constexpr (std::is_same_v<T, float>) {
      if (bfloat16_products_) return MultiplyInBfloat16(ctx, g);
      if (constant_b_.is_set() && !transpose_a_ &&
          PrefersPanels(g.m, g.n, g.k)) {
        if (const float* const panels = Panels(ctx->thread_pool(), g)) {
          return PrepackedGemm(ctx->thread_pool(), g.m, g.n, g.k, g.a, g.lda,
                               panels, g.c, g.ldc);
        }
      }
    }
    Gemm(ctx->thread_pool(), g);
  }

 private:
  // Null if there is no memory.
  const float* Panels(ThreadPool* pool, const GemmArgs<float>& g) {
    static constexpr char kKind = 0;
    const int64_t sizes[] = {transpose_b_, g.n, g.k};
    const int64_t floats = NumPanels(g.n) * kPanelColumns * g.k;
    return static_cast<const float*>(constant_b_.Get(
        &kKind, sizes, floats * sizeof(float), [&](const Tensor& b, void* to) {
          PackPanels(pool, b.raw_data(), transpose_b_, g.n, g.k,
                     static_cast<float*>(to), [&b](int64_t begin, int64_t end) {
                       ReleasePages(b.Slice(begin, end));
                     });
          return true;
        }));
  }

  // With factors rounded to bfloat16.
  void MultiplyInBfloat16(OpKernelContext* ctx, const GemmArgs<float>& g) {
    const int64_t pairs = NumPairs(g.k);
    if (g.m == 0 || g.n == 0) return;
    Tensor rounded, form;
    OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_UINT32, TensorShape({g.m, pairs}),
                                           &rounded, Tensor::kHeap));
    Bfloat16Pair* const a = rounded.data<uint32_t>();
    ctx->ParallelFor(g.m, 0.3 * static_cast<double>(g.k),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         if (g.transpose_a) {
                           RoundToPairs(g.a + i, g.k, a + i * pairs, g.lda);
                         } else {
                           RoundToPairs(g.a + i * g.lda, g.k, a + i * pairs);
                         }
                       }
                     });
    const int64_t bytes = Bfloat16PanelsBytes(g.n, pairs);
    static constexpr char kKind = 0;
    const int64_t sizes[] = {transpose_b_, g.n, g.k};
    const auto pack = [&](const void* b, void* to) {
      PackBfloat16Panels(ctx->thread_pool(), b, g.ldb, g.transpose_b, g.n, g.k,
                         0, pairs, static_cast<Bfloat16Pair*>(to));
    };
    const void* panels =
        constant_b_.Get(&kKind, sizes, bytes, [&](const Tensor& b, void* to) {
          pack(b.raw_data(), to);
          return true;
        });
    if (panels == nullptr) {
      OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_UINT8, TensorShape({bytes}),
                                             &form, Tensor::kHeap));
      pack(g.b, form.raw_data());
      panels = form.raw_data();
    }
    Bfloat16Gemm(ctx->thread_pool(), g.m, g.n, pairs, a,
                 static_cast<const Bfloat16Pair*>(panels), g.c, g.ldc);
    ctx->set_algorithm("bfloat16");
  }

  bool transpose_a_ = false, transpose_b_ = false;
  bool bfloat16_products_ = false;
  ConstantForms constant_b_;
};

template <typename T>
class FusedMatMulOp : public MatMulOp<T> {
 public:
  explicit FusedMatMulOp(OpKernelConstruction* ctx) : MatMulOp<T>(ctx) {
    OP_REQUIRES_OK(ctx, FusedOps::Read(*ctx, 2, &fused_));
    OP_REQUIRES(ctx, !fused_.mul && !fused_.batch_norm && !fused_.add,
                errors::Unimplemented("fused_ops of ", this->type_string(),
                                      " must be BiasAdd, an activation, or "
                                      "one and then the other"));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor* const bias = fused_.bias ? &ctx->input(2) : nullptr;
    this->Multiply(ctx);
    if (!ctx->status().ok()) return;
    Tensor* c = ctx->mutable_output(0);
    const int64_t rows = c->dim_size(0), n = c->dim_size(1);
    OP_REQUIRES(
        ctx, bias == nullptr || (bias->dims() == 1 && bias->dim_size(0) == n),
        errors::InvalidArgument(
            "Must provide as many biases as the product has columns: ",
            bias->shape().DebugString(), " vs. ", n, " in ",
            c->shape().DebugString()));
    Epilogue epilogue = fused_.Begin();
    if constexpr (std::is_same_v<T, float>) {
      epilogue.bias = bias;
      ApplyEpilogue(ctx->thread_pool(), DT_FLOAT, epilogue, rows, n,
                    c->data<float>());
    } else {
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
