// MirrorPad and its gradient. REFLECT leaves the edge element out of the
// mirror image, so a pad is at most n - 1 wide; SYMMETRIC repeats it: at most
// n. Dims are mirrored one after the other, each within what is there already,
// which gives the corners their doubly mirrored values. The gradient folds the
// frame back in the same way.
#include <string>

#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

Status ReadMirrorMode(OpKernelConstruction* ctx, int64_t* offset) {
  std::string mode;
  HR_RETURN_IF_ERROR(ctx->GetAttr("mode", &mode));
  if (mode != "REFLECT" && mode != "SYMMETRIC") {
    return errors::InvalidArgument(
        "mode must be either REFLECT or SYMMETRIC, got ", mode);
  }
  *offset = mode == "REFLECT" ? 1 : 0;
  return OkStatus();
}

// `sign` is 1 where pads are added to `shape`, -1 where they are taken off.
Status ReadPads(const Tensor& paddings, const TensorShape& shape,
                int64_t offset, int sign, DimVector* pads, TensorShape* out) {
  if (paddings.dims() != 2 || paddings.dim_size(1) != 2 ||
      paddings.dim_size(0) != shape.dims()) {
    return errors::InvalidArgument(
        "paddings must be a matrix with 2 columns and a row for each of ",
        shape.dims(), " dimensions, got shape ",
        paddings.shape().DebugString());
  }
  HR_RETURN_IF_ERROR(ReadIntegers(paddings, "paddings", pads));
  for (int i = 0; i < shape.dims(); ++i) {
    const int64_t before = (*pads)[2 * i], after = (*pads)[2 * i + 1];
    int64_t d = shape.dim_size(i);
    if (before < 0 || after < 0) {
      return errors::InvalidArgument("paddings must be non-negative: ", before,
                                     ", ", after);
    }
    if (sign < 0) {
      d = before > d || after > d - before ? -1 : d - before - after;
    }
    if (d < 0 || before > d - offset || after > d - offset) {
      return errors::InvalidArgument(
          "paddings must be ", offset == 1 ? "less than" : "no greater than",
          " the dimension size: ", before, ", ", after, " for dimension ", i,
          " of ", shape.DebugString());
    }
    out->AddDim(sign < 0 ? d : d + before + after);
  }
  if (!out->IsValid()) return errors::InvalidArgument("the shape overflows");
  return OkStatus();
}

class MirrorPadOp : public OpKernel {
 public:
  explicit MirrorPadOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadMirrorMode(ctx, &offset_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    DimVector pads;
    TensorShape shape;
    OP_REQUIRES_OK(
        ctx, ReadPads(ctx->input(1), in.shape(), offset_, 1, &pads, &shape));
    if (shape == in.shape()) {
      ctx->set_output(0, in);
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (shape.num_elements() == 0) return;
    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    const DimVector to = RowMajorStrides(shape.dim_sizes());
    int64_t inner_at = 0;
    BoxCopy inner;
    for (int i = 0; i < rank; ++i) {
      inner.AddDim(in.dim_size(i), from[i], to[i]);
      inner_at += pads[2 * i] * to[i];
    }
    inner.Run(ctx, in, 0, out, inner_at);
    // Of dims before i the whole range is there, of those after it the inner.
    for (int i = 0; i < rank; ++i) {
      const int64_t before = pads[2 * i], after = pads[2 * i + 1];
      inner_at -= before * to[i];
      const int64_t at = inner_at;  // index 0 in dims 0..i
      const int64_t n = in.dim_size(i);
      BoxCopy head, tail;
      for (int k = 0; k < rank; ++k) {
        if (k == i) {
          head.AddDim(before, -to[i], to[i]);
          tail.AddDim(after, -to[i], to[i]);
        } else {
          const int64_t d = k < i ? shape.dim_size(k) : in.dim_size(k);
          head.AddDim(d, to[k], to[k]);
          tail.AddDim(d, to[k], to[k]);
        }
      }
      head.Run(ctx, *out, at + (2 * before - 1 + offset_) * to[i], out, at);
      tail.Run(ctx, *out, at + (before + n - 1 - offset_) * to[i], out,
               at + (before + n) * to[i]);
    }
  }

 private:
  int64_t offset_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("MirrorPad").Device(DEVICE_CPU), MirrorPadOp);

template <typename T>
class MirrorPadGradOp : public OpKernel {
 public:
  explicit MirrorPadGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadMirrorMode(ctx, &offset_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    DimVector pads;
    TensorShape shape;
    OP_REQUIRES_OK(
        ctx, ReadPads(ctx->input(1), in.shape(), offset_, -1, &pads, &shape));
    Tensor sum;
    OP_REQUIRES_OK(ctx, in.DeepCopyTo(&sum));
    T* p = sum.data<T>();
    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    int64_t at = 0;
    for (int i = 0; i < rank && in.NumElements() > 0; ++i) {
      const int64_t before = pads[2 * i], after = pads[2 * i + 1];
      const int64_t end = before + shape.dim_size(i);
      at += before * from[i];
      // Add slice `src` of this dim onto slice `dst`, for all others.
      const int64_t outer = in.shape().ProductOf(0, i);
      auto fold = [&](int64_t src, int64_t dst) {
        for (int64_t o = 0; o < outer; ++o) {
          T* base = p + o * in.dim_size(i) * from[i];
          for (int64_t k = 0; k < from[i]; ++k) {
            base[dst * from[i] + k] += base[src * from[i] + k];
          }
        }
      };
      for (int64_t k = 0; k < before; ++k) {
        fold(before - 1 - k, before + offset_ + k);
      }
      for (int64_t k = 0; k < after; ++k) fold(end + k, end - 1 - offset_ - k);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const DimVector to = RowMajorStrides(shape.dim_sizes());
    BoxCopy copy;
    for (int i = 0; i < rank; ++i)
      copy.AddDim(shape.dim_size(i), from[i], to[i]);
    copy.Run(ctx, sum, at, out, 0);
  }

 private:
  int64_t offset_ = 0;
};
#define REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                             \
      Name("MirrorPadGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      MirrorPadGradOp<T>);
HR_CALL_FLOAT_TYPES(REGISTER)
HR_CALL_COMPLEX_TYPES(REGISTER)
HR_CALL_UNSIGNED_INT_TYPES(REGISTER)
HR_CALL_SIGNED_INT_TYPES(REGISTER)
#undef REGISTER

}  // namespace
}  // namespace headrace
