// Tile: every dim becomes two, the repeat and the index within it; along the
// repeat the source does not move.
#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

class TileOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    DimVector multiples;
    OP_REQUIRES_OK(ctx,
                   ReadIntegerVector(ctx->input(1), "multiples", &multiples));
    OP_REQUIRES(ctx, static_cast<int>(multiples.size()) == rank,
                errors::InvalidArgument(
                    "Expected multiples argument to be a vector of length ",
                    rank, " but got length ", multiples.size()));
    TensorShape shape;
    bool same = true;
    for (int i = 0; i < rank; ++i) {
      OP_REQUIRES(ctx, multiples[i] >= 0,
                  errors::InvalidArgument("Expected multiples[", i,
                                          "] >= 0, but got ", multiples[i]));
      const int64_t d = MultiplyWithoutOverflow(in.dim_size(i), multiples[i]);
      OP_REQUIRES(ctx, d >= 0,
                  errors::InvalidArgument("Tile: dimension ", i, " overflows"));
      shape.AddDim(d);
      same &= multiples[i] == 1;
    }
    if (same) {
      ctx->set_output(0, in);
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (shape.num_elements() == 0) return;
    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    const DimVector to = RowMajorStrides(shape.dim_sizes());
    BoxCopy copy;
    for (int i = 0; i < rank; ++i) {
      copy.AddDim(multiples[i], 0, to[i] * in.dim_size(i));
      copy.AddDim(in.dim_size(i), from[i], to[i]);
    }
    copy.Run(ctx, in, 0, out, 0);
  }
};
REGISTER_KERNEL_BUILDER(Name("Tile").Device(DEVICE_CPU), TileOp);

}  // namespace
}  // namespace headrace
