// Reverse, ReverseV2 and ReverseSequence: the elements in reverse order along
// some dims.
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

// Output 0 is input 0 with the marked dims reversed.
void ReverseDims(OpKernelContext* ctx, const std::vector<bool>& reversed) {
  const Tensor& in = ctx->input(0);
  const DimVector strides = RowMajorStrides(in.shape().dim_sizes());
  bool changes = false;
  int64_t at = 0;
  BoxCopy copy;
  for (int i = 0; i < in.dims(); ++i) {
    const int64_t n = in.dim_size(i);
    const bool r = reversed[i] && n > 1;
    changes |= r;
    if (r) at += (n - 1) * strides[i];
    copy.AddDim(n, r ? -strides[i] : strides[i], strides[i]);
  }
  if (!changes || in.NumElements() == 0) {
    ctx->set_output(0, in);
    return;
  }
  Tensor* out = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
  copy.Run(ctx, in, at, out, 0);
}

class ReverseOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const int rank = ctx->input(0).dims();
    const Tensor& dims = ctx->input(1);
    if (rank == 0) {
      ctx->set_output(0, ctx->input(0));
      return;
    }
    OP_REQUIRES(ctx, dims.dims() == 1 && dims.NumElements() == rank,
                errors::InvalidArgument(
                    "'dims' must be a vector of as many elements as 'tensor' "
                    "has dimensions, ",
                    rank, ", got shape ", dims.shape().DebugString()));
    const bool* marks = dims.data<bool>();
    ReverseDims(ctx, std::vector<bool>(marks, marks + rank));
  }
};
REGISTER_KERNEL_BUILDER(Name("Reverse").Device(DEVICE_CPU), ReverseOp);

class ReverseV2Op : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const int rank = ctx->input(0).dims();
    // Nothing can be reversed, so the axes are not looked at.
    if (rank == 0 || ctx->input(0).NumElements() == 0) {
      ctx->set_output(0, ctx->input(0));
      return;
    }
    DimVector axes;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "axis", &axes));
    std::vector<bool> marks(rank, false);
    for (size_t i = 0; i < axes.size(); ++i) {
      OP_REQUIRES(ctx, -rank <= axes[i] && axes[i] < rank,
                  errors::InvalidArgument("'axis'[", i, "] = ", axes[i],
                                          " is out of valid range [", -rank,
                                          ", ", rank - 1));
      const int64_t a = axes[i] < 0 ? axes[i] + rank : axes[i];
      OP_REQUIRES(
          ctx, !marks[a],
          errors::InvalidArgument("axis ", a, " specified more than once."));
      marks[a] = true;
    }
    ReverseDims(ctx, marks);
  }
};
REGISTER_KERNEL_BUILDER(Name("ReverseV2").Device(DEVICE_CPU), ReverseV2Op);

// The first seq_lengths[b] elements along seq_dim are reversed, the rest stays.
class ReverseSequenceOp : public OpKernel {
 public:
  explicit ReverseSequenceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seq_dim", &seq_dim_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("batch_dim", &batch_dim_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& lengths_in = ctx->input(1);
    OP_REQUIRES(ctx,
                0 <= seq_dim_ && seq_dim_ < in.dims() && 0 <= batch_dim_ &&
                    batch_dim_ < in.dims(),
                errors::InvalidArgument("seq_dim ", seq_dim_, " and batch_dim ",
                                        batch_dim_, " must be in [0, ",
                                        in.dims(), ")"));
    OP_REQUIRES(ctx, seq_dim_ != batch_dim_,
                errors::InvalidArgument("batch_dim == seq_dim == ", seq_dim_));
    const int seq = static_cast<int>(seq_dim_);
    const int batch = static_cast<int>(batch_dim_);
    DimVector lengths;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(lengths_in, "seq_lengths", &lengths));
    OP_REQUIRES(ctx, lengths_in.NumElements() == in.dim_size(batch),
                errors::InvalidArgument("Length of seq_lengths != input.dims(",
                                        batch, "), (", lengths.size(), " vs. ",
                                        in.dim_size(batch), ")"));
    for (size_t b = 0; b < lengths.size(); ++b) {
      OP_REQUIRES(
          ctx, 0 <= lengths[b] && lengths[b] <= in.dim_size(seq),
          errors::InvalidArgument("seq_lengths(", b, ") = ", lengths[b],
                                  " is not in [0, ", in.dim_size(seq), "]"));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    if (in.NumElements() == 0) return;
    const DimVector strides = RowMajorStrides(in.shape().dim_sizes());
    for (size_t b = 0; b < lengths.size(); ++b) {
      const int64_t at = static_cast<int64_t>(b) * strides[batch];
      const int64_t n = lengths[b];
      BoxCopy head, tail;
      for (int i = 0; i < in.dims(); ++i) {
        if (i == batch) continue;
        if (i == seq) {
          head.AddDim(n, -strides[i], strides[i]);
          tail.AddDim(in.dim_size(i) - n, strides[i], strides[i]);
        } else {
          head.AddDim(in.dim_size(i), strides[i], strides[i]);
          tail.AddDim(in.dim_size(i), strides[i], strides[i]);
        }
      }
      if (n > 0) head.Run(ctx, in, at + (n - 1) * strides[seq], out, at);
      tail.Run(ctx, in, at + n * strides[seq], out, at + n * strides[seq]);
    }
  }

 private:
  int64_t seq_dim_ = 0, batch_dim_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("ReverseSequence").Device(DEVICE_CPU),
                        ReverseSequenceOp);

}  // namespace
}  // namespace headrace
