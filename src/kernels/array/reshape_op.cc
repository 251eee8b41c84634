// Reshape, Squeeze and ExpandDims: the same buffer under another shape. A
// requested 0 does not mean "keep this dim", and where the input is empty the
// one -1 is worked out from the dims that are not 0.
#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

void SetReshaped(OpKernelContext* ctx, const TensorShape& shape) {
  const Tensor& in = ctx->input(0);
  Tensor out;
  OP_REQUIRES(
      ctx, shape.IsValid() && out.CopyFrom(in, shape),
      errors::InvalidArgument("a tensor of shape ", in.shape().DebugString(),
                              " cannot take the shape ", shape.DebugString()));
  ctx->set_output(0, std::move(out));
}

class ReshapeOp : public OpKernel {
 public:
  explicit ReshapeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& sizes = ctx->input(1);
    OP_REQUIRES(ctx, sizes.dims() == 1,
                errors::InvalidArgument("sizes input must be 1-D, not ",
                                        sizes.shape().DebugString()));
    OP_REQUIRES(ctx, sizes.NumElements() <= kMaxTensorRank,
                errors::InvalidArgument("Reshape: too many dimensions: ",
                                        sizes.NumElements()));
    DimVector dims;
    OP_REQUIRES_OK(ctx, ReadIntegers(sizes, "shape", &dims));
    int unknown = -1;
    bool has_zero = false;
    int64_t product = 1, nonzero_product = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == -1) {
        OP_REQUIRES(
            ctx, unknown == -1,
            errors::InvalidArgument("Only one input size may be -1, not both ",
                                    unknown, " and ", i));
        unknown = static_cast<int>(i);
        continue;
      }
      OP_REQUIRES(ctx, dims[i] >= 0,
                  errors::InvalidArgument(
                      "Size ", i, " must be non-negative, not ", dims[i]));
      product = MultiplyWithoutOverflow(product, dims[i]);
      if (dims[i] == 0) {
        has_zero = true;
      } else if (nonzero_product > 0) {
        nonzero_product = MultiplyWithoutOverflow(nonzero_product, dims[i]);
      }
      OP_REQUIRES(ctx, product >= 0 && nonzero_product > 0,
                  errors::InvalidArgument(
                      "Reshape: the requested shape overflows int64"));
    }
    if (unknown >= 0) {
      int64_t have = in.NumElements();
      if (have == 0 && has_zero) {
        // -1 makes up for what the input has beside its empty dims.
        have = 1;
        for (int64_t d : in.shape().dim_sizes()) {
          if (d != 0 && have > 0) have = MultiplyWithoutOverflow(have, d);
        }
        product = nonzero_product;
      }
      OP_REQUIRES(ctx, product > 0,
                  errors::InvalidArgument(
                      "Reshape cannot infer the missing input size for an "
                      "empty tensor unless all specified input sizes are "
                      "non-zero"));
      OP_REQUIRES(ctx, have >= 0 && have % product == 0,
                  errors::InvalidArgument(
                      "Input to reshape is a tensor with ", in.NumElements(),
                      " values, but the requested shape requires a multiple "
                      "of ",
                      product));
      dims[unknown] = have / product;
    }
    const TensorShape shape(dims);
    OP_REQUIRES(ctx, shape.num_elements() == in.NumElements(),
                errors::InvalidArgument("Input to reshape is a tensor with ",
                                        in.NumElements(),
                                        " values, but the requested shape has ",
                                        shape.num_elements()));
    SetReshaped(ctx, shape);
  }
};
REGISTER_KERNEL_BUILDER(Name("Reshape").Device(DEVICE_CPU), ReshapeOp);

// And the ends of the range, which stay.
class QuantizedReshapeOp : public ReshapeOp {
 public:
  using ReshapeOp::ReshapeOp;
  void Compute(OpKernelContext* ctx) override {
    ReshapeOp::Compute(ctx);
    for (int i = 1; ctx->status().ok() && i < 3; ++i) {
      const Tensor& end = ctx->input(1 + i);
      OP_REQUIRES(ctx, end.dims() == 0,
                  errors::InvalidArgument(i == 1 ? "input_min" : "input_max",
                                          " must be a scalar, got shape ",
                                          end.shape().DebugString()));
      ctx->set_output(i, end);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("QuantizedReshape").Device(DEVICE_CPU),
                        QuantizedReshapeOp);

class SqueezeOp : public OpKernel {
 public:
  explicit SqueezeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("squeeze_dims", &axes_));
  }
  void Compute(OpKernelContext* ctx) override {
    const TensorShape& in = ctx->input(0).shape();
    std::vector<bool> squeeze(in.dims(), false);
    for (int64_t a : axes_) {
      OP_REQUIRES(ctx, -in.dims() <= a && a < in.dims(),
                  errors::InvalidArgument("Tried to squeeze dim index ", a,
                                          " for tensor with ", in.dims(),
                                          " dimensions."));
      squeeze[a < 0 ? a + in.dims() : a] = true;
    }
    TensorShape out;
    for (int i = 0; i < in.dims(); ++i) {
      const int64_t d = in.dim_size(i);
      if (axes_.empty()) {
        if (d != 1) out.AddDim(d);
        continue;
      }
      OP_REQUIRES(
          ctx, !squeeze[i] || d == 1,
          errors::InvalidArgument("Can not squeeze dim[", i,
                                  "], expected a dimension of 1, got ", d));
      if (!squeeze[i]) out.AddDim(d);
    }
    SetReshaped(ctx, out);
  }

 private:
  std::vector<int64_t> axes_;
};
REGISTER_KERNEL_BUILDER(Name("Squeeze").Device(DEVICE_CPU), SqueezeOp);

class ExpandDimsOp : public OpKernel {
 public:
  explicit ExpandDimsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    TensorShape shape = ctx->input(0).shape();
    int64_t axis;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "dim", &axis));
    OP_REQUIRES(ctx, -shape.dims() - 1 <= axis && axis <= shape.dims(),
                errors::InvalidArgument("Tried to expand dim index ", axis,
                                        " for tensor with ", shape.dims(),
                                        " dimensions."));
    OP_REQUIRES(ctx, shape.dims() < kMaxTensorRank,
                errors::InvalidArgument("ExpandDims: too many dimensions"));
    if (axis < 0) axis += shape.dims() + 1;
    shape.InsertDim(static_cast<int>(axis), 1);
    SetReshaped(ctx, shape);
  }
};
REGISTER_KERNEL_BUILDER(Name("ExpandDims").Device(DEVICE_CPU), ExpandDimsOp);

}  // namespace
}  // namespace headrace
