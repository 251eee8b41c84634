// SpaceToBatchND, BatchToSpaceND and their older forms with one block size.
// The offset within a block is the major part of the batch index, the old batch
// index the minor one. Each offset is one strided copy between the space tensor
// and a range of batches; zeros remain where padding was.
#include <algorithm>

#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

template <bool kToBatch>
class SpaceBatchOp : public OpKernel {
 public:
  explicit SpaceBatchOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (ctx->HasAttr("block_size")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("block_size", &block_size_));
    }
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    DimVector block;
    if (block_size_ > 0) {
      block.assign(2, block_size_);
      OP_REQUIRES(ctx, in.dims() == 4,
                  errors::InvalidArgument("Input rank should be: 4 instead of ",
                                          in.dims()));
    } else {
      OP_REQUIRES_OK(ctx,
                     ReadIntegerVector(ctx->input(1), "block_shape", &block));
    }
    const Tensor& pads_in = ctx->input(block_size_ > 0 ? 1 : 2);
    const int m = static_cast<int>(block.size());
    OP_REQUIRES(ctx, in.dims() >= 1 + m,
                errors::InvalidArgument("input rank should be >= ", 1 + m,
                                        " instead of ", in.dims()));
    OP_REQUIRES(ctx,
                pads_in.dims() == 2 && pads_in.dim_size(0) == m &&
                    pads_in.dim_size(1) == 2,
                errors::InvalidArgument(
                    kToBatch ? "paddings" : "crops", " should have shape [", m,
                    ", 2] instead of ", pads_in.shape().DebugString()));
    DimVector pads;
    OP_REQUIRES_OK(ctx, ReadIntegers(pads_in, "paddings", &pads));

    TensorShape shape = in.shape();
    int64_t blocks = 1;
    for (int i = 0; i < m; ++i) {
      OP_REQUIRES(ctx, block[i] >= 1,
                  errors::InvalidArgument(
                      "All values in block_shape must be positive, got value, ",
                      block[i], " at index ", i, "."));
      OP_REQUIRES(ctx, pads[2 * i] >= 0 && pads[2 * i + 1] >= 0,
                  errors::InvalidArgument(
                      "Paddings and crops must be non-negative, got ",
                      pads[2 * i], " and ", pads[2 * i + 1]));
      blocks = MultiplyWithoutOverflow(blocks, block[i]);
      OP_REQUIRES(ctx, blocks >= 0,
                  errors::InvalidArgument("Product of block sizes overflows"));
      int64_t d = in.dim_size(i + 1);
      const int64_t both = AddWithoutOverflow(pads[2 * i], pads[2 * i + 1]);
      OP_REQUIRES(ctx, both >= 0,
                  errors::InvalidArgument("the paddings overflow"));
      if (kToBatch) {
        d = AddWithoutOverflow(d, both);
        OP_REQUIRES(ctx, d >= 0 && d % block[i] == 0,
                    errors::InvalidArgument("padded_shape[", i, "]=", d,
                                            " is not divisible by "
                                            "block_shape[",
                                            i, "]=", block[i]));
        d /= block[i];
      } else {
        d = MultiplyWithoutOverflow(d, block[i]);
        OP_REQUIRES(ctx, d >= 0 && d >= both,
                    errors::InvalidArgument("cropped_shape[", i, "]=", d - both,
                                            " must be non-negative"));
        d -= both;
      }
      shape.set_dim(i + 1, d);
    }
    const int64_t batch = in.dim_size(0);
    if (kToBatch) {
      const int64_t out_batch = MultiplyWithoutOverflow(batch, blocks);
      OP_REQUIRES(ctx, out_batch >= 0,
                  errors::InvalidArgument("the batch overflows"));
      shape.set_dim(0, out_batch);
    } else {
      OP_REQUIRES(
          ctx, batch % blocks == 0,
          errors::InvalidArgument(
              "Input batch dimension (", batch,
              ") is not divisible by product of block sizes (", blocks, ")"));
      shape.set_dim(0, batch / blocks);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    bool pads_any = false;
    for (int64_t p : pads) pads_any |= p != 0;
    if (kToBatch && (pads_any || in.NumElements() == 0)) ZeroElements(out);
    if (in.NumElements() == 0) return;
    Move(ctx, in, out, block, pads, blocks);
  }

 private:
  // In terms of the two layouts: space [n, y, ...] and blocked [o * N + n, s,
  // ...] with y = s * block + offset - pad.
  static void Move(OpKernelContext* ctx, const Tensor& in, Tensor* out,
                   absl::Span<const int64_t> block,
                   absl::Span<const int64_t> pads, int64_t blocks) {
    const TensorShape& space = kToBatch ? in.shape() : out->shape();
    const TensorShape& blocked = kToBatch ? out->shape() : in.shape();
    const DimVector space_strides = RowMajorStrides(space.dim_sizes());
    const DimVector blocked_strides = RowMajorStrides(blocked.dim_sizes());
    const int m = static_cast<int>(block.size());
    const int64_t n = space.dim_size(0);
    for (int64_t o = 0; o < blocks; ++o) {
      DimVector offset(m);
      int64_t rest = o;
      for (int i = m - 1; i >= 0; --i) {
        offset[i] = rest % block[i];
        rest /= block[i];
      }
      int64_t space_at = 0, blocked_at = o * n * blocked_strides[0];
      BoxCopy copy;
      auto add = [&](int64_t count, int64_t space_stride,
                     int64_t blocked_stride) {
        if (kToBatch) {
          copy.AddDim(count, space_stride, blocked_stride);
        } else {
          copy.AddDim(count, blocked_stride, space_stride);
        }
      };
      add(n, space_strides[0], blocked_strides[0]);
      bool empty = false;
      for (int i = 0; i < m && !empty; ++i) {
        // The s for which y lies within the space.
        const int64_t shift = offset[i] - pads[2 * i];
        const int64_t first =
            shift >= 0 ? 0 : (-shift + block[i] - 1) / block[i];
        const int64_t room = space.dim_size(i + 1) - 1 - shift;
        const int64_t last = std::min(room < 0 ? int64_t{-1} : room / block[i],
                                      blocked.dim_size(i + 1) - 1);
        empty = last < first;
        if (empty) break;
        add(last - first + 1, block[i] * space_strides[i + 1],
            blocked_strides[i + 1]);
        space_at += (first * block[i] + shift) * space_strides[i + 1];
        blocked_at += first * blocked_strides[i + 1];
      }
      if (empty) continue;
      for (int i = m + 1; i < space.dims(); ++i) {
        add(space.dim_size(i), space_strides[i], blocked_strides[i]);
      }
      if (kToBatch) {
        copy.Run(ctx, in, space_at, out, blocked_at);
      } else {
        copy.Run(ctx, in, blocked_at, out, space_at);
      }
    }
  }

  int64_t block_size_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("SpaceToBatch").Device(DEVICE_CPU),
                        SpaceBatchOp<true>);
REGISTER_KERNEL_BUILDER(Name("SpaceToBatchND").Device(DEVICE_CPU),
                        SpaceBatchOp<true>);
REGISTER_KERNEL_BUILDER(Name("BatchToSpace").Device(DEVICE_CPU),
                        SpaceBatchOp<false>);
REGISTER_KERNEL_BUILDER(Name("BatchToSpaceND").Device(DEVICE_CPU),
                        SpaceBatchOp<false>);

}  // namespace
}  // namespace headrace
