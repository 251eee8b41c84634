// Ops on a GPU that gather and scatter slices by coordinates: GatherNd,
// ScatterNd, TensorScatterUpdate, -Add, -Sub; and TopK.
#include <algorithm>
#include <limits>

#include "kernels/gpu/rows.h"
#include "kernels/lib/element.h"

namespace headrace::gpu {
namespace {

class GatherNdOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &params = ctx->input(0), &indices = ctx->input(1);
    OP_REQUIRES(ctx, params.dims() >= 1 && indices.dims() >= 1,
                errors::InvalidArgument(
                    "params and indices must be at least vectors, got shapes ",
                    params.shape().DebugString(), " and ",
                    indices.shape().DebugString()));
    const int64_t depth = indices.dim_size(indices.dims() - 1);
    OP_REQUIRES(ctx, depth <= params.dims(),
                errors::InvalidArgument(
                    "index innermost dimension length must be <= params rank; "
                    "saw: ",
                    depth, " vs. ", params.dims()));
    TensorShape shape = indices.shape();
    shape.RemoveDim(indices.dims() - 1);
    const int64_t n = shape.num_elements();
    OP_REQUIRES(ctx, shape.dims() + params.dims() - depth <= kMaxTensorRank,
                errors::InvalidArgument("the result has too many dimensions"));
    for (int i = static_cast<int>(depth); i < params.dims(); ++i) {
      shape.AddDim(params.dim_size(i));
    }
    OP_REQUIRES(ctx, n == 0 || params.NumElements() > 0,
                errors::InvalidArgument("Requested more than 0 entries, but "
                                        "params is empty.  Params shape: ",
                                        params.shape().DebugString()));
    RowIndices rows;
    OP_REQUIRES_OK(ctx, RowsOf(indices, n, static_cast<int>(depth),
                               params.shape(), &rows));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t inner =
        params.shape().ProductOf(static_cast<int>(depth), params.dims());
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
    OP_REQUIRES(
        ctx, indices.dims() >= 1 && shape.dims() >= 1,
        errors::InvalidArgument(
            "indices and output must be at least 1-D, got shapes ",
            indices.shape().DebugString(), " and ", shape.DebugString()));
    const int64_t depth = indices.dim_size(indices.dims() - 1);
    OP_REQUIRES(ctx, depth <= shape.dims(),
                errors::InvalidArgument("indices.shape[-1] is ", depth,
                                        ", more than the rank of the output ",
                                        shape.DebugString()));
    TensorShape want = indices.shape();
    want.RemoveDim(indices.dims() - 1);
    const int64_t n = want.num_elements();
    for (int i = static_cast<int>(depth);
         i < shape.dims() && want.dims() < kMaxTensorRank; ++i) {
      want.AddDim(shape.dim_size(i));
    }
    OP_REQUIRES(
        ctx, updates.shape() == want,
        errors::InvalidArgument(
            "Must have updates.shape = indices.shape[:-1] + output.shape[",
            depth, ":] = ", want.DebugString(),
            ", got updates.shape: ", updates.shape().DebugString(),
            ", indices.shape: ", indices.shape().DebugString(),
            ", output.shape: ", shape.DebugString()));
    OP_REQUIRES(
        ctx,
        updates.NumElements() == 0 || (depth > 0 && shape.num_elements() > 0),
        errors::InvalidArgument(
            "Indices and updates specified for ",
            depth == 0 ? "an index depth of 0" : "an empty output",
            ": indices ", indices.shape().DebugString(), ", output ",
            shape.DebugString()));
    RowIndices rows;
    OP_REQUIRES_OK(ctx,
                   RowsOf(indices, n, static_cast<int>(depth), shape, &rows));
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
        ForRows(stream, rows,
                shape.ProductOf(static_cast<int>(depth), shape.dims()),
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
    int64_t k = k_;
    if (ctx->num_inputs() == 2) {
      OP_REQUIRES(ctx, ctx->input(1).dims() == 0,
                  errors::InvalidArgument("k must be scalar, got shape ",
                                          ctx->input(1).shape().DebugString()));
      OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "k", &k));
    }
    OP_REQUIRES(ctx, k >= 0, errors::InvalidArgument("Need k >= 0, got ", k));
    OP_REQUIRES(ctx, x.dims() >= 1,
                errors::InvalidArgument("input must be >= 1-D, got shape ",
                                        x.shape().DebugString()));
    const int64_t n = x.dim_size(x.dims() - 1);
    OP_REQUIRES(ctx, n >= k,
                errors::InvalidArgument("input must have at least k columns. "
                                        "Had ",
                                        n, ", needed ", k));
    OP_REQUIRES(
        ctx, n <= std::numeric_limits<int32_t>::max(),
        errors::InvalidArgument("indices of ", n, " columns do not fit int32"));
    TensorShape shape = x.shape();
    shape.set_dim(shape.dims() - 1, k);
    Tensor *values = nullptr, *indices = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &values));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, shape, &indices));
    if (values->NumElements() == 0) return;
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

#define HR_REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("TopK").Device(DEVICE_GPU).TypeConstraint<T>("T"), TopKOp<T>); \
  REGISTER_KERNEL_BUILDER(Name("TopKV2")                                  \
                              .Device(DEVICE_GPU)                         \
                              .TypeConstraint<T>("T")                     \
                              .TypeConstraint<int32_t>("index_type")      \
                              .HostMemory("k"),                           \
                          TopKOp<T>);
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int64_t)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace::gpu
