// ResourceGather: rows of a resource variable, out[b.., i.., :] =
// var[b.., indices[b.., i..], :] with batch_dims leading dimensions shared.
// ResourceGatherNd: slices named by the coordinates in indices' last dimension.
// Both work on a snapshot; an index out of range is refused, never wrapped.
#include "absl/strings/str_join.h"
#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"
#include "headrace/resource_handle.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

int64_t IndexAt(const Tensor& indices, int64_t i) {
  return indices.dtype() == DT_INT32 ? indices.data<int32_t>()[i]
                                     : indices.data<int64_t>()[i];
}

// Copies slices of `size` elements from offsets[i] to row i of `out`.
void CopySlices(OpKernelContext* ctx, const Tensor& from,
                const std::vector<int64_t>& offsets, int64_t size,
                Tensor* out) {
  const int64_t n = static_cast<int64_t>(offsets.size());
  if (!DataTypeCanUseMemcpy(from.dtype())) {
    for (int64_t i = 0; i < n; ++i) {
      CopyElements(from, offsets[i], out, i * size, size);
    }
    return;
  }
  const size_t element = DataTypeSize(from.dtype());
  const char* src = static_cast<const char*>(from.raw_data());
  char* dst = static_cast<char*>(out->raw_data());
  const size_t bytes = size * element;
  ctx->ParallelFor(n, 5 + 0.1 * bytes, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(dst + i * bytes, src + offsets[i] * element, bytes);
    }
  });
}

class ResourceGatherOp : public OpKernel {
 public:
  explicit ResourceGatherOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("batch_dims", &batch_dims_));
  }

  void Compute(OpKernelContext* ctx) override {
    Tensor params;
    OP_REQUIRES_OK(ctx, ReadVariable(*ctx, 0, output_type(0), &params));
    const Tensor& indices = ctx->input(1);
    const int64_t batch_dims =
        batch_dims_ < 0 ? batch_dims_ + indices.dims() : batch_dims_;
    OP_REQUIRES(
        ctx, batch_dims >= 0 && batch_dims <= indices.dims(),
        errors::InvalidArgument("batch_dims ", batch_dims_, " must be in [",
                                -indices.dims(), ", ", indices.dims(), "]"));
    OP_REQUIRES(ctx, params.dims() > batch_dims,
                errors::InvalidArgument(
                    "params must have a rank above batch_dims, ", batch_dims,
                    ", got shape ", params.shape().DebugString()));
    const int axis = static_cast<int>(batch_dims);
    TensorShape shape;
    for (int d = 0; d < axis; ++d) {
      OP_REQUIRES(
          ctx, params.dim_size(d) == indices.dim_size(d),
          errors::InvalidArgument("params.shape[", d, "]: ", params.dim_size(d),
                                  " should be equal to indices.shape[", d,
                                  "]: ", indices.dim_size(d)));
    }
    shape = indices.shape();
    for (int d = axis + 1; d < params.dims(); ++d) {
      shape.AddDim(params.dim_size(d));
    }
    const int64_t limit = params.dim_size(axis);
    const int64_t size = params.shape().ProductOf(axis + 1, params.dims());
    const int64_t per_batch = indices.shape().ProductOf(axis, indices.dims());
    std::vector<int64_t> offsets(indices.NumElements());
    for (int64_t i = 0; i < indices.NumElements(); ++i) {
      const int64_t at = IndexAt(indices, i);
      OP_REQUIRES(ctx, at >= 0 && at < limit,
                  errors::InvalidArgument("indices[", i, "] = ", at,
                                          " is not in [0, ", limit, ")"));
      offsets[i] = (i / per_batch * limit + at) * size;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    CopySlices(ctx, params, offsets, size, out);
  }

 private:
  int64_t batch_dims_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("ResourceGather").Device(DEVICE_CPU),
                        ResourceGatherOp);

class ResourceGatherNdOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    Tensor params;
    OP_REQUIRES_OK(ctx, ReadVariable(*ctx, 0, output_type(0), &params));
    const Tensor& indices = ctx->input(1);
    OP_REQUIRES(ctx, params.dims() >= 1 && indices.dims() >= 1,
                errors::InvalidArgument(
                    "params and indices must be at least vectors, got ",
                    params.shape().DebugString(), " and ",
                    indices.shape().DebugString()));
    const int64_t depth = indices.dim_size(indices.dims() - 1);
    OP_REQUIRES(ctx, depth <= params.dims(),
                errors::InvalidArgument(
                    "index innermost dimension length must be <= params rank; "
                    "saw: ",
                    depth, " vs. ", params.dims()));
    const int slice_from = static_cast<int>(depth);
    TensorShape shape = indices.shape();
    shape.RemoveLastDims(1);
    const int64_t n = shape.num_elements();
    for (int d = slice_from; d < params.dims(); ++d) {
      shape.AddDim(params.dim_size(d));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    // With depth 0 and empty slices, no memory limits n.
    if (out->NumElements() == 0 && indices.NumElements() == 0) return;
    const int64_t size = params.shape().ProductOf(slice_from, params.dims());
    std::vector<int64_t> offsets(n);
    for (int64_t i = 0; i < n; ++i) {
      int64_t offset = 0;
      for (int d = 0; d < slice_from; ++d) {
        const int64_t at = IndexAt(indices, i * depth + d);
        OP_REQUIRES(ctx, at >= 0 && at < params.dim_size(d),
                    errors::InvalidArgument(
                        "indices[", i, "] has ", at, " for dimension ", d,
                        " and does not index into param shape ",
                        params.shape().DebugString()));
        offset = offset * params.dim_size(d) + at;
      }
      offsets[i] = offset * size;
    }
    CopySlices(ctx, params, offsets, size, out);
  }
};
REGISTER_KERNEL_BUILDER(Name("ResourceGatherNd").Device(DEVICE_CPU),
                        ResourceGatherNdOp);

}  // namespace
}  // namespace headrace
