// MatMul, BatchMatMul and their fused forms on a GPU, by Blas. The epilogue
// (bias, activation) is Blas's where it has the activation, else a functor's.
#include <string>
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/tail.h"

namespace headrace::gpu {
namespace {

Status Multiply(OpKernelContext* ctx, GemmProblem p, const Tensor& a,
                const Tensor& b, const Tensor* bias, const FusedTail& tail,
                Tensor* c) {
  GpuContext* gpu = GpuContextOf(ctx);
  if (c->NumElements() == 0) return OkStatus();
  HR_ASSIGN_OR_RETURN(Blas * blas, gpu->executor()->blas());
  p.math = gpu->math_mode();
  const bool fuses = tail.blas_knows();
  p.has_bias = fuses && bias != nullptr;
  p.activation = fuses ? tail.blas : GpuActivation::kNone;
  KernelScratch scratch(ctx);
  HR_RETURN_IF_ERROR(blas->Gemm(
      gpu->compute_stream(), p, DeviceMemoryBase(a), DeviceMemoryBase(b),
      p.has_bias ? DeviceMemoryBase(*bias) : DeviceMemoryBase(),
      DeviceMemoryBase(*c), &scratch));
  if (fuses || (bias == nullptr && tail.tail == Tail::kNone)) {
    return OkStatus();
  }
  return ApplyTailOnDevice(gpu->compute_stream(), tail, /*scale=*/nullptr, bias,
                           /*wide_bias=*/nullptr, /*addend=*/nullptr,
                           c->dim_size(c->dims() - 1), /*inner=*/1, c);
}

class MatMulOp : public OpKernel {
 public:
  explicit MatMulOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("transpose_b", &transpose_b_));
    if (ctx->def().op == "_FusedMatMul") {
      OP_REQUIRES_OK(ctx, tail_.ReadOfProduct(*ctx));
    }
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor &a = ctx->input(0), &b = ctx->input(1);
    const Tensor* const bias = tail_.has_bias ? &ctx->input(2) : nullptr;
    OP_REQUIRES(
        ctx, a.dims() == 2,
        errors::InvalidArgument("In[0] is not a matrix. Instead it has shape ",
                                a.shape().DebugString()));
    OP_REQUIRES(
        ctx, b.dims() == 2,
        errors::InvalidArgument("In[1] is not a matrix. Instead it has shape ",
                                b.shape().DebugString()));
    const int64_t m = a.dim_size(transpose_a_ ? 1 : 0);
    const int64_t k = a.dim_size(transpose_a_ ? 0 : 1);
    const int64_t n = b.dim_size(transpose_b_ ? 0 : 1);
    OP_REQUIRES(ctx, b.dim_size(transpose_b_ ? 1 : 0) == k,
                errors::InvalidArgument("Matrix size-incompatible: In[0]: ",
                                        a.shape().DebugString(),
                                        ", In[1]: ", b.shape().DebugString()));
    OP_REQUIRES(
        ctx, bias == nullptr || (bias->dims() == 1 && bias->dim_size(0) == n),
        errors::InvalidArgument(
            "Must provide as many biases as the product has columns: ",
            bias->shape().DebugString(), " vs. ", n, " in ",
            TensorShape({m, n}).DebugString()));
    Tensor* c = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({m, n}), &c));
    OP_REQUIRES_OK(ctx, Multiply(ctx,
                                 GemmProblem::Dense(a.dtype(), m, n, k,
                                                    transpose_a_, transpose_b_),
                                 a, b, bias, tail_, c));
  }

 private:
  bool transpose_a_ = false, transpose_b_ = false;
  FusedTail tail_;
};

// BatchMatMul, V2, V3 and _FusedBatchMatMul. Batch dims that Blas's strides
// cannot tell (broadcast in the middle) become several calls.
class BatchMatMulOp : public OpKernel {
 public:
  explicit BatchMatMulOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adj_x", &adj_x_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adj_y", &adj_y_));
    broadcasts_ = ctx->def().op != "BatchMatMul";
    if (ctx->def().op == "_FusedBatchMatMul") {
      OP_REQUIRES_OK(ctx, tail_.ReadOfProduct(*ctx));
    }
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &y = ctx->input(1);
    const Tensor* const bias = tail_.has_bias ? &ctx->input(2) : nullptr;
    TensorShape shape;
    OP_REQUIRES_OK(ctx, OutputShape(x.shape(), y.shape(), &shape));
    const int rx = x.dims(), r = shape.dims();
    const int64_t m = shape.dim_size(r - 2), n = shape.dim_size(r - 1);
    const int64_t k = x.dim_size(adj_x_ ? rx - 2 : rx - 1);
    OP_REQUIRES(
        ctx, bias == nullptr || (bias->dims() == 1 && bias->dim_size(0) == n),
        errors::InvalidArgument(
            "Must provide as many biases as the product has columns: ",
            bias->shape().DebugString(), " vs. ", n, " in ",
            shape.DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    // Runs of batch dims in which each factor steps or stays.
    const int batch_dims = r - 2;
    std::vector<int64_t> step_x(batch_dims), step_y(batch_dims);
    Steps(x.shape(), shape, m * k, &step_x);
    Steps(y.shape(), shape, k * n, &step_y);
    int inner = batch_dims;
    int64_t batch = 1, stride_x = 0, stride_y = 0;
    while (inner > 0) {
      const int d = inner - 1;
      const int64_t size = shape.dim_size(d);
      if (size != 1) {
        if (batch == 1) {
          stride_x = step_x[d], stride_y = step_y[d];
        } else if (step_x[d] != stride_x * batch ||
                   step_y[d] != stride_y * batch) {
          break;
        }
        batch *= size;
      }
      --inner;
    }
    GemmProblem p =
        GemmProblem::Dense(x.dtype(), m, n, k, adj_x_, adj_y_, batch);
    p.stride_a = stride_x;
    p.stride_b = stride_y;
    const int64_t calls = shape.ProductOf(0, inner);
    const int64_t width = DataTypeSize(x.dtype());
    for (int64_t i = 0; i < calls; ++i) {
      int64_t rest = i, at_x = 0, at_y = 0;
      for (int d = inner - 1; d >= 0; --d) {
        const int64_t index = rest % shape.dim_size(d);
        rest /= shape.dim_size(d);
        at_x += index * step_x[d];
        at_y += index * step_y[d];
      }
      Tensor part_x, part_y, part_out;
      OP_REQUIRES_OK(
          ctx, Part(x, at_x * width, Extent(batch, stride_x, m * k), &part_x));
      OP_REQUIRES_OK(
          ctx, Part(y, at_y * width, Extent(batch, stride_y, k * n), &part_y));
      if (calls == 1) {
        OP_REQUIRES_OK(ctx, Multiply(ctx, p, part_x, part_y, bias, tail_, out));
        return;
      }
      OP_REQUIRES_OK(
          ctx, Part(*out, i * batch * m * n * width, batch * m * n, &part_out));
      TensorShape rows({batch * m, n});
      Tensor as_rows;
      OP_REQUIRES(ctx, as_rows.CopyFrom(part_out, rows),
                  errors::Internal("BatchMatMul: cannot reshape"));
      OP_REQUIRES_OK(ctx,
                     Multiply(ctx, p, part_x, part_y, bias, tail_, &as_rows));
    }
  }

 private:
  // Elements from one index of each batch dim to the next; 0 where repeated.
  static void Steps(const TensorShape& in, const TensorShape& out,
                    int64_t matrix, std::vector<int64_t>* steps) {
    int64_t stride = matrix;
    for (int d = out.dims() - 3; d >= 0; --d) {
      const int at = d - (out.dims() - in.dims());
      const int64_t size = at < 0 ? 1 : in.dim_size(at);
      (*steps)[d] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
  static int64_t Extent(int64_t batch, int64_t stride, int64_t matrix) {
    return matrix == 0 ? 0 : (batch - 1) * stride + matrix;
  }
  // `elements` of t from byte `offset` on, sharing its buffer.
  static Status Part(const Tensor& t, int64_t offset, int64_t elements,
                     Tensor* out) {
    if (t.buffer() == nullptr) {
      *out = t;
      return OkStatus();
    }
    const int64_t begin = static_cast<const char*>(t.raw_data()) -
                          static_cast<const char*>(t.buffer()->data());
    *out = Tensor(t.dtype(), TensorShape({elements}), t.buffer(),
                  static_cast<size_t>(begin + offset));
    return OkStatus();
  }

  Status OutputShape(const TensorShape& x, const TensorShape& y,
                     TensorShape* out) const {
    if (x.dims() < 2 || y.dims() < 2) {
      return errors::InvalidArgument(
          "In[0] and In[1] must have at least 2 dimensions, got ",
          x.DebugString(), " and ", y.DebugString());
    }
    TensorShape xb = x, yb = y;
    xb.RemoveLastDims(2);
    yb.RemoveLastDims(2);
    if (broadcasts_) {
      PartialTensorShape batch;
      HR_RETURN_IF_ERROR(BroadcastShapes(xb, yb, &batch));
      batch.AsTensorShape(out);
    } else {
      if (xb != yb) {
        return errors::InvalidArgument(
            "In[0] and In[1] must have the same batch dimensions: ",
            x.DebugString(), " vs ", y.DebugString());
      }
      *out = xb;
    }
    const int rx = x.dims(), ry = y.dims();
    if (x.dim_size(adj_x_ ? rx - 2 : rx - 1) !=
        y.dim_size(adj_y_ ? ry - 1 : ry - 2)) {
      return errors::InvalidArgument(
          "Matrix size-incompatible: In[0]: ", x.DebugString(),
          ", In[1]: ", y.DebugString());
    }
    out->AddDim(x.dim_size(adj_x_ ? rx - 1 : rx - 2));
    out->AddDim(y.dim_size(adj_y_ ? ry - 2 : ry - 1));
    return OkStatus();
  }

  bool adj_x_ = false, adj_y_ = false, broadcasts_ = true;
  FusedTail tail_;
};

#define HR_REGISTER(T)                                    \
  HR_GPU_KERNEL("MatMul", T, MatMulOp);                   \
  HR_GPU_KERNEL("BatchMatMul", T, BatchMatMulOp);         \
  HR_GPU_KERNEL("BatchMatMulV2", T, BatchMatMulOp);       \
  REGISTER_KERNEL_BUILDER(Name("BatchMatMulV3")           \
                              .Device(DEVICE_GPU)         \
                              .TypeConstraint<T>("Ta")    \
                              .TypeConstraint<T>("Tb")    \
                              .TypeConstraint<T>("Tout"), \
                          BatchMatMulOp);
HR_GPU_REAL_TYPES(HR_REGISTER)
#undef HR_REGISTER
#define HR_REGISTER(T) HR_GPU_KERNEL("_FusedMatMul", T, MatMulOp);
HR_GPU_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER
HR_GPU_KERNEL("_FusedBatchMatMul", float, BatchMatMulOp);

}  // namespace
}  // namespace headrace::gpu
