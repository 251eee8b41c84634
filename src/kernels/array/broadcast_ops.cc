// BroadcastTo stretches a tensor to a shape; BroadcastArgs and
// BroadcastGradientArgs do the arithmetic of broadcasting on shapes given as
// vectors. The latter lists, for each side, the axes of the result to sum a
// gradient over: those where that side is 1 or absent and the other is not, and
// those where both come to 1. Equal shapes give empty lists.
#include <algorithm>
#include <vector>

#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"
#include "headrace/resource_handle.h"
#include "kernels/lib/broadcast.h"

namespace headrace {
namespace {

// The sizes in a vector; InvalidArgument if it is none, holds a negative one or
// more than a shape can have.
Status ReadShape(const Tensor& t, absl::string_view name,
                 std::vector<int64_t>* out) {
  if (t.dims() != 1) {
    return errors::InvalidArgument(name, " must be a vector, but has shape ",
                                   t.shape().DebugString());
  }
  if (t.NumElements() > kMaxTensorRank) {
    return errors::InvalidArgument(name, " has ", t.NumElements(),
                                   " dims; at most ", kMaxTensorRank,
                                   " are supported");
  }
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    out->push_back(t.dtype() == DT_INT32 ? int64_t{t.data<int32_t>()[i]}
                                         : t.data<int64_t>()[i]);
    if (out->back() < 0) {
      return errors::InvalidArgument(name, "[", i, "] = ", out->back(),
                                     " must not be negative");
    }
  }
  return OkStatus();
}

Status WriteVector(OpKernelContext* ctx, int i,
                   const std::vector<int64_t>& values) {
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(ctx->allocate_output(
      i, TensorShape({static_cast<int64_t>(values.size())}), &out));
  for (size_t k = 0; k < values.size(); ++k) {
    if (out->dtype() == DT_INT32) {
      out->data<int32_t>()[k] = static_cast<int32_t>(values[k]);
    } else {
      out->data<int64_t>()[k] = values[k];
    }
  }
  return OkStatus();
}

// Both shapes, last axis first, the shorter filled up with 1.
struct ShapePair {
  std::vector<int64_t> a, b, out;

  Status Init(OpKernelContext* ctx) {
    HR_RETURN_IF_ERROR(ReadShape(ctx->input(0), "s0", &a));
    HR_RETURN_IF_ERROR(ReadShape(ctx->input(1), "s1", &b));
    equal = a == b;
    std::reverse(a.begin(), a.end());
    std::reverse(b.begin(), b.end());
    const size_t rank = std::max(a.size(), b.size());
    a.resize(rank, 1);
    b.resize(rank, 1);
    for (size_t i = 0; i < rank; ++i) {
      if (a[i] != b[i] && a[i] != 1 && b[i] != 1) {
        return errors::InvalidArgument(
            "Incompatible shapes for broadcasting: sizes ", a[i], " and ", b[i],
            " in axis ", rank - 1 - i, " of the result");
      }
      out.push_back(a[i] == 1 ? b[i] : a[i]);
    }
    return OkStatus();
  }
  bool equal = false;
};

class BroadcastArgsOp : public OpKernel {
 public:
  explicit BroadcastArgsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    ShapePair shapes;
    OP_REQUIRES_OK(ctx, shapes.Init(ctx));
    std::reverse(shapes.out.begin(), shapes.out.end());
    OP_REQUIRES_OK(ctx, WriteVector(ctx, 0, shapes.out));
  }
};
REGISTER_KERNEL_BUILDER(Name("BroadcastArgs").Device(DEVICE_CPU),
                        BroadcastArgsOp);

class BroadcastGradientArgsOp : public OpKernel {
 public:
  explicit BroadcastGradientArgsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    ShapePair shapes;
    OP_REQUIRES_OK(ctx, shapes.Init(ctx));
    std::vector<int64_t> reduce[2];
    const int64_t rank = static_cast<int64_t>(shapes.out.size());
    for (int64_t axis = 0; axis < rank && !shapes.equal; ++axis) {
      const int64_t a = shapes.a[rank - 1 - axis];
      const int64_t b = shapes.b[rank - 1 - axis];
      if (a == 1) reduce[0].push_back(axis);
      if (b == 1) reduce[1].push_back(axis);
    }
    OP_REQUIRES_OK(ctx, WriteVector(ctx, 0, reduce[0]));
    OP_REQUIRES_OK(ctx, WriteVector(ctx, 1, reduce[1]));
  }
};
REGISTER_KERNEL_BUILDER(Name("BroadcastGradientArgs").Device(DEVICE_CPU),
                        BroadcastGradientArgsOp);

class BroadcastToOp : public OpKernel {
 public:
  explicit BroadcastToOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    std::vector<int64_t> dims;
    OP_REQUIRES_OK(ctx, ReadShape(ctx->input(1), "shape", &dims));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    const BCast bcast({&x.shape(), &shape});
    OP_REQUIRES(ctx, bcast.status().ok() && bcast.output_shape() == shape,
                errors::InvalidArgument(
                    "Incompatible shapes: ", x.shape().DebugString(), " vs. ",
                    shape.DebugString(), ": the first does not ",
                    "broadcast to the second"));
    if (x.shape() == shape) {
      ctx->set_output(0, x);
      return;
    }
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &y));
    const int64_t total = y->NumElements();
    if (DataTypeCanUseMemcpy(BaseType(x.dtype()))) {
      const int size = DataTypeSize(BaseType(x.dtype()));
      char* out = static_cast<char*>(y->raw_data());
      ctx->ParallelFor(total, 0.1 * size, [&](int64_t begin, int64_t end) {
        GatherBroadcast(bcast, 0, x.raw_data(), begin, end - begin, size,
                        out + begin * size);
      });
      return;
    }
    BCastCursor cursor(bcast.dims(), 0);
    for (int64_t i = 0; i < total; ++i, cursor.Next()) {
      CopyElements(x, cursor.offset(0), y, i, 1);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("BroadcastTo").Device(DEVICE_CPU), BroadcastToOp);

}  // namespace
}  // namespace headrace
