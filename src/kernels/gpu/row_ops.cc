// Ops on a GPU that gather and scatter slices by coordinates: GatherNd,
// ScatterNd, TensorScatterUpdate, -Add, -Sub; and TopK.
#include <algorithm>

#include "kernels/gpu/rows.h"
#include "kernels/lib/element.h"
#include "kernels/lib/scatter_indices.h"
#include "kernels/lib/top_k.h"

namespace headrace::gpu {
namespace {

class GatherNdOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &params = ctx->input(0), &indices = ctx->input(1);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, GatherNdShape(params.shape(), indices.shape(), &shape));
    const int depth = static_cast<int>(indices.dim_size(indices.dims() - 1));
    const int64_t n = indices.shape().ProductOf(0, indices.dims() - 1);
    RowIndices rows;
    OP_REQUIRES_OK(ctx, RowsOf(indices, n, depth, params.shape(), &rows));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t inner = params.shape().ProductOf(depth, params.dims());
    OP_REQUIRES_OK(ctx, WithWidth(params.dtype(), [&](auto bytes) {
                     using E = Element<bytes()>;
                     return ForEach(
                         GpuStream(ctx), out->NumElements(),
                         gpu::GatherRows<bytes()>{
                             static_cast<const E*>(params.raw_data()),
                             static_cast<E*>(out->raw_data()), rows, inner});
                   }));
  }
};

// ScatterNd, into zeros of a shape that is in host memory; and TensorScatter*,
// into a copy of the first input.
template <typename T, RowUpdate kUpdate, bool kFromZeros>
class ScatterNdOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices = ctx->input(kFromZeros ? 0 : 1);
    const Tensor& updates = ctx->input(kFromZeros ? 1 : 2);
    TensorShape shape = ctx->input(0).shape();
    if (kFromZeros) {
      DimVector dims;
      OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(2), "shape", &dims));
      OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    }
    OP_REQUIRES_OK(
        ctx, CheckScatterNd(shape, "output", indices.shape(), updates.shape()));
    OP_REQUIRES_OK(
        ctx, CheckScatterNdHasPlace(shape, indices.shape(), updates.shape()));
    const int depth = static_cast<int>(indices.dim_size(indices.dims() - 1));
    const int64_t n = indices.shape().ProductOf(0, indices.dims() - 1);
    RowIndices rows;
    OP_REQUIRES_OK(ctx, RowsOf(indices, n, depth, shape, &rows));
    Stream* const stream = GpuStream(ctx);
    Tensor* out = nullptr;
    int forwarded = -1;
    if (kFromZeros) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    } else {
      OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                              {0}, 0, shape, &out, &forwarded));
    }
    if (out->NumElements() == 0) return;
    if (kFromZeros) {
      OP_REQUIRES_OK(
          ctx, stream->Fill(DeviceMemoryBase(*out), 0, out->TotalBytes()));
    } else if (forwarded < 0) {
      OP_REQUIRES_OK(ctx, stream->CopyOnDevice(DeviceMemoryBase(*out),
                                               DeviceMemoryBase(ctx->input(0)),
                                               out->TotalBytes()));
    }
    OP_REQUIRES_OK(
        ctx,
        ForRows(stream, rows, shape.ProductOf(depth, shape.dims()),
                CombineRows<Dev<T>>{Out<T>(out), In<T>(updates), 1, kUpdate}));
  }
};

// TopK and TopKV2, whose k is in host memory.
template <typename T>
class TopKOp : public OpKernel {
 public:
  explicit TopKOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (ctx->num_inputs() == 1) OP_REQUIRES_OK(ctx, ctx->GetAttr("k", &k_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TopKShape(ctx, k_, output_type(1), &shape));
    Tensor *values = nullptr, *indices = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &values));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, shape, &indices));
    if (values->NumElements() == 0) return;
    const int64_t n = x.dim_size(x.dims() - 1);
    const int64_t k = shape.dim_size(shape.dims() - 1);
    OP_REQUIRES_OK(ctx,
                   ForEach(GpuStream(ctx), x.NumElements(),
                           TopElements<Dev<T>>{In<T>(x), Out<T>(values),
                                               Out<int32_t>(indices), n, k}));
  }

 private:
  int64_t k_ = 0;
};

#define HR_REGISTER_INDEX(T, INDEX)                               \
  REGISTER_KERNEL_BUILDER(Name("GatherNd")                        \
                              .Device(DEVICE_GPU)                 \
                              .TypeConstraint<T>("Tparams")       \
                              .TypeConstraint<INDEX>("Tindices"), \
                          GatherNdOp);
#define HR_REGISTER(T)          \
  HR_REGISTER_INDEX(T, int32_t) \
  HR_REGISTER_INDEX(T, int64_t)
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
HR_REGISTER(bool)
#undef HR_REGISTER
#undef HR_REGISTER_INDEX

#define HR_REGISTER_TENSOR(OP, UPDATE, T, INDEX)                  \
  REGISTER_KERNEL_BUILDER(Name("TensorScatter" OP)                \
                              .Device(DEVICE_GPU)                 \
                              .TypeConstraint<T>("T")             \
                              .TypeConstraint<INDEX>("Tindices"), \
                          ScatterNdOp<T, RowUpdate::UPDATE, false>);
#define HR_REGISTER_INDEX(T, INDEX)                               \
  REGISTER_KERNEL_BUILDER(Name("ScatterNd")                       \
                              .Device(DEVICE_GPU)                 \
                              .TypeConstraint<T>("T")             \
                              .TypeConstraint<INDEX>("Tindices")  \
                              .HostMemory("shape"),               \
                          ScatterNdOp<T, RowUpdate::kAdd, true>); \
  HR_REGISTER_TENSOR("Update", kAssign, T, INDEX)                 \
  HR_REGISTER_TENSOR("Add", kAdd, T, INDEX)                       \
  HR_REGISTER_TENSOR("Sub", kSub, T, INDEX)
#define HR_REGISTER(T)          \
  HR_REGISTER_INDEX(T, int32_t) \
  HR_REGISTER_INDEX(T, int64_t)
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int64_t)
#undef HR_REGISTER
#undef HR_REGISTER_INDEX
#undef HR_REGISTER_TENSOR

#define HR_REGISTER(T)                                               \
  HR_GPU_KERNEL("TopK", T, TopKOp<T>);                               \
  REGISTER_KERNEL_BUILDER(Name("TopKV2")                             \
                              .Device(DEVICE_GPU)                    \
                              .TypeConstraint<T>("T")                \
                              .TypeConstraint<int32_t>("index_type") \
                              .HostMemory("k"),                      \
                          TopKOp<T>);
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int64_t)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace::gpu
