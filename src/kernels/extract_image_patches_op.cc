// ExtractImagePatches: im2col. The depth of a patch runs over (ky, kx, c); what
// lies outside the image is zero. Each (ky, kx) is one strided copy.
#include <algorithm>
#include <string>
#include <vector>

#include "framework/common_shape_fns.h"
#include "framework/op_kernel.h"
#include "kernels/box_copy.h"
#include "kernels/element.h"

namespace headrace {
namespace {

// Along one dim: output index o of tap k reads o * stride + k * rate - pad.
struct Window {
  int64_t in = 0, out = 0, kernel = 0, stride = 0, rate = 0, pad = 0;
  // The outputs for which tap k lies inside.
  void Range(int64_t k, int64_t* first, int64_t* end) const {
    const int64_t shift = k * rate - pad;
    *first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t room = in - 1 - shift;
    *end = std::min(out, room < 0 ? 0 : room / stride + 1);
  }
};

class ExtractImagePatchesOp : public OpKernel {
 public:
  explicit ExtractImagePatchesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, Read(ctx, "ksizes", &ksizes_));
    OP_REQUIRES_OK(ctx, Read(ctx, "strides", &strides_));
    OP_REQUIRES_OK(ctx, Read(ctx, "rates", &rates_));
    std::string padding;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("padding", &padding));
    OP_REQUIRES_OK(ctx, ParsePadding(padding, &padding_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 4,
                errors::InvalidArgument("images must be 4-dimensional, got ",
                                        in.shape().DebugString()));
    const int64_t channels = in.dim_size(3);
    Window y, x;
    OP_REQUIRES_OK(ctx, Make(in, 1, &y));
    OP_REQUIRES_OK(ctx, Make(in, 2, &x));
    int64_t depth = MultiplyWithoutOverflow(y.kernel, x.kernel);
    depth = MultiplyWithoutOverflow(depth, channels);
    OP_REQUIRES(ctx, depth >= 0,
                errors::InvalidArgument("the patches' depth overflows"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {in.dim_size(0), y.out, x.out, depth}, &out));
    if (out->NumElements() == 0) return;
    if (padding_ == Padding::kSame) ZeroElements(out);
    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    const DimVector to = RowMajorStrides(out->shape().dim_sizes());
    for (int64_t ky = 0; ky < y.kernel; ++ky) {
      for (int64_t kx = 0; kx < x.kernel; ++kx) {
        int64_t y0, y1, x0, x1;
        y.Range(ky, &y0, &y1);
        x.Range(kx, &x0, &x1);
        if (y0 >= y1 || x0 >= x1) continue;
        BoxCopy copy;
        copy.AddDim(in.dim_size(0), from[0], to[0]);
        copy.AddDim(y1 - y0, y.stride * from[1], to[1]);
        copy.AddDim(x1 - x0, x.stride * from[2], to[2]);
        copy.AddDim(channels, 1, 1);
        copy.Run(ctx, in,
                 (y0 * y.stride + ky * y.rate - y.pad) * from[1] +
                     (x0 * x.stride + kx * x.rate - x.pad) * from[2],
                 out,
                 y0 * to[1] + x0 * to[2] + (ky * x.kernel + kx) * channels);
      }
    }
  }

 private:
  static Status Read(OpKernelConstruction* ctx, const char* name,
                     std::vector<int64_t>* v) {
    HR_RETURN_IF_ERROR(ctx->GetAttr(name, v));
    if (v->size() != 4) {
      return errors::InvalidArgument(name, " must have 4 elements, got ",
                                     v->size());
    }
    if ((*v)[0] != 1 || (*v)[3] != 1) {
      return errors::Unimplemented("Only support ", name,
                                   " across space: the first and last must be "
                                   "1");
    }
    if ((*v)[1] < 1 || (*v)[2] < 1) {
      return errors::OutOfRange(name, " must be positive, got ", (*v)[1],
                                " and ", (*v)[2]);
    }
    return OkStatus();
  }
  Status Make(const Tensor& in, int d, Window* w) const {
    *w = {in.dim_size(d), 0, ksizes_[d], strides_[d], rates_[d], 0};
    int64_t after;
    return WindowedOutputSize(w->in, w->kernel, w->rate, w->stride, padding_,
                              &w->out, &w->pad, &after);
  }

  std::vector<int64_t> ksizes_, strides_, rates_;
  Padding padding_ = Padding::kValid;
};
REGISTER_KERNEL_BUILDER(Name("ExtractImagePatches").Device(DEVICE_CPU),
                        ExtractImagePatchesOp);

}  // namespace
}  // namespace headrace
