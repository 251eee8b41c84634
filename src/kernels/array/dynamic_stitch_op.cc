// DynamicPartition sends each row of data to the output that its partition
// number names, in order; DynamicStitch is the inverse: row j of data[i] goes
// to row indices[i][j] of the result, later ones over earlier ones. Rows that
// no index names are zero.
#include <algorithm>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"
#include "kernels/lib/scatter_indices.h"

namespace headrace {
namespace {

bool StartsWith(const TensorShape& shape, const TensorShape& prefix) {
  if (shape.dims() < prefix.dims()) return false;
  for (int i = 0; i < prefix.dims(); ++i) {
    if (shape.dim_size(i) != prefix.dim_size(i)) return false;
  }
  return true;
}

class DynamicPartitionOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& data = ctx->input(0);
    const Tensor& partitions = ctx->input(1);
    const int n = ctx->num_outputs();
    OP_REQUIRES(ctx, StartsWith(data.shape(), partitions.shape()),
                errors::InvalidArgument(
                    "data.shape must start with partitions.shape, got "
                    "data.shape = ",
                    data.shape().DebugString(),
                    ", partitions.shape = ", partitions.shape().DebugString()));
    const int64_t rows = partitions.NumElements();
    DimVector to;
    OP_REQUIRES_OK(ctx, ReadIntegers(partitions, "partitions", &to));
    std::vector<int64_t> sizes(n, 0);
    for (int64_t i = 0; i < rows; ++i) {
      OP_REQUIRES(ctx, 0 <= to[i] && to[i] < n,
                  errors::InvalidArgument(
                      "partitions", IndexString(partitions.shape(), i), " = ",
                      to[i], " is not in [0, ", n, ")"));
      ++sizes[to[i]];
    }
    std::vector<Tensor*> outputs(n);
    for (int k = 0; k < n; ++k) {
      TensorShape shape({sizes[k]});
      for (int d = partitions.dims(); d < data.dims(); ++d) {
        shape.AddDim(data.dim_size(d));
      }
      OP_REQUIRES_OK(ctx, ctx->allocate_output(k, shape, &outputs[k]));
    }
    const int64_t row = data.shape().ProductOf(partitions.dims(), data.dims());
    if (row == 0) return;
    WithElement(data.dtype(), [&]<typename T>(Element<T>) {
      std::vector<T*> at(n);
      for (int k = 0; k < n; ++k) at[k] = ElementsOf<T>(outputs[k]);
      const T* from = ElementsOf<T>(data);
      for (int64_t i = 0; i < rows; ++i, from += row) {
        T*& p = at[to[i]];
        p = std::copy(from, from + row, p);
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("DynamicPartition").Device(DEVICE_CPU),
                        DynamicPartitionOp);

class DynamicStitchOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const int n = ctx->num_inputs() / 2;
    std::vector<DimVector> to(n);
    TensorShape rest;
    int64_t size = 0;
    for (int i = 0; i < n; ++i) {
      const Tensor& indices = ctx->input(i);
      const Tensor& data = ctx->input(n + i);
      OP_REQUIRES(ctx, StartsWith(data.shape(), indices.shape()),
                  errors::InvalidArgument(
                      "data[", i, "].shape = ", data.shape().DebugString(),
                      " does not start with indices[", i,
                      "].shape = ", indices.shape().DebugString()));
      const TensorShape inner(data.shape().dim_sizes().subspan(indices.dims()));
      if (i == 0) rest = inner;
      OP_REQUIRES(ctx, inner == rest,
                  errors::InvalidArgument(
                      "Need data[0].shape[", ctx->input(0).dims(), ":] = data[",
                      i, "].shape[", indices.dims(), ":], got data[0].shape = ",
                      ctx->input(n).shape().DebugString(), ", data[", i,
                      "].shape = ", data.shape().DebugString()));
      OP_REQUIRES_OK(ctx, ReadIntegers(indices, "indices", &to[i]));
      for (size_t k = 0; k < to[i].size(); ++k) {
        OP_REQUIRES(ctx, to[i][k] >= 0,
                    errors::InvalidArgument(
                        "indices[", i, "]", IndexString(indices.shape(), k),
                        " = ", to[i][k], " must not be negative"));
        size = std::max(size, to[i][k] + 1);
      }
    }
    TensorShape shape({size});
    shape.AppendShape(rest);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    std::vector<bool> seen(size, false);
    int64_t distinct = 0;
    for (const DimVector& v : to) {
      for (int64_t k : v) {
        distinct += !seen[k];
        seen[k] = true;
      }
    }
    if (distinct < size) ZeroElements(out);
    const int64_t row = rest.num_elements();
    WithElement(out->dtype(), [&]<typename T>(Element<T>) {
      T* p = ElementsOf<T>(out);
      for (int i = 0; i < n; ++i) {
        const T* from = ElementsOf<T>(ctx->input(n + i));
        for (size_t k = 0; k < to[i].size(); ++k, from += row) {
          std::copy(from, from + row, p + to[i][k] * row);
        }
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("DynamicStitch").Device(DEVICE_CPU),
                        DynamicStitchOp);
REGISTER_KERNEL_BUILDER(Name("ParallelDynamicStitch").Device(DEVICE_CPU),
                        DynamicStitchOp);

}  // namespace
}  // namespace headrace
