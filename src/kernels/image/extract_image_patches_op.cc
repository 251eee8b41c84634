// ExtractImagePatches and ExtractVolumePatches: im2col. The depth of a patch
// runs over (ky, kx, c), of a volume's over (kz, ky, kx, c); what lies outside
// is zero. Each tap of the window is one strided copy.
#include <algorithm>
#include <string>
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

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

class ExtractPatchesOp : public OpKernel {
 public:
  explicit ExtractPatchesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    rank_ = type_string() == "ExtractVolumePatches" ? 5 : 4;
    OP_REQUIRES_OK(ctx, Read(ctx, "ksizes", &ksizes_));
    OP_REQUIRES_OK(ctx, Read(ctx, "strides", &strides_));
    if (rank_ == 5) {
      rates_.assign(rank_, 1);
    } else {
      OP_REQUIRES_OK(ctx, Read(ctx, "rates", &rates_));
    }
    std::string padding;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("padding", &padding));
    OP_REQUIRES_OK(ctx, ParsePadding(padding, &padding_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == rank_,
                errors::InvalidArgument(
                    rank_ == 4 ? "images" : "input", " must be ", rank_,
                    "-dimensional, got ", in.shape().DebugString()));
    const int64_t channels = in.dim_size(rank_ - 1);
    std::vector<Window> windows(rank_ - 2);
    int64_t taps = 1;
    TensorShape shape({in.dim_size(0)});
    for (int d = 0; d < rank_ - 2; ++d) {
      OP_REQUIRES_OK(ctx, Make(in, d + 1, &windows[d]));
      if (taps >= 0) taps = MultiplyWithoutOverflow(taps, windows[d].kernel);
      shape.AddDim(windows[d].out);
    }
    const int64_t depth =
        taps < 0 ? taps : MultiplyWithoutOverflow(taps, channels);
    OP_REQUIRES(ctx, depth >= 0,
                errors::InvalidArgument("the patches' depth overflows"));
    shape.AddDim(depth);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    if (padding_ == Padding::kSame) ZeroElements(out);
    const DimVector from = RowMajorStrides(in.shape().dim_sizes());
    const DimVector to = RowMajorStrides(out->shape().dim_sizes());
    for (int64_t tap = 0; tap < taps; ++tap) {
      BoxCopy copy;
      copy.AddDim(in.dim_size(0), from[0], to[0]);
      int64_t read = 0, write = tap * channels, rest = taps, at = tap;
      bool inside = true;
      for (int d = 0; d < rank_ - 2; ++d) {
        const Window& w = windows[d];
        rest /= w.kernel;
        const int64_t k = at / rest;
        at %= rest;
        int64_t first, end;
        w.Range(k, &first, &end);
        inside = inside && first < end;
        copy.AddDim(end - first, w.stride * from[d + 1], to[d + 1]);
        read += (first * w.stride + k * w.rate - w.pad) * from[d + 1];
        write += first * to[d + 1];
      }
      if (!inside) continue;
      copy.AddDim(channels, 1, 1);
      copy.Run(ctx, in, read, out, write);
    }
  }

 private:
  Status Read(OpKernelConstruction* ctx, const char* name,
              std::vector<int64_t>* v) const {
    HR_RETURN_IF_ERROR(ctx->GetAttr(name, v));
    if (static_cast<int>(v->size()) != rank_) {
      return errors::InvalidArgument(name, " must have ", rank_,
                                     " elements, got ", v->size());
    }
    if (v->front() != 1 || v->back() != 1) {
      return errors::Unimplemented("Only support ", name,
                                   " across space: the first and last must be "
                                   "1");
    }
    for (int64_t n : *v) {
      if (n < 1) {
        return errors::OutOfRange(name, " must be positive, got ", n);
      }
    }
    return OkStatus();
  }
  Status Make(const Tensor& in, int d, Window* w) const {
    *w = {in.dim_size(d), 0, ksizes_[d], strides_[d], rates_[d], 0};
    int64_t after;
    return WindowedOutputSize(w->in, w->kernel, w->rate, w->stride, padding_,
                              &w->out, &w->pad, &after);
  }

  int rank_ = 4;
  std::vector<int64_t> ksizes_, strides_, rates_;
  Padding padding_ = Padding::kValid;
};
REGISTER_KERNEL_BUILDER(Name("ExtractImagePatches").Device(DEVICE_CPU),
                        ExtractPatchesOp);
REGISTER_KERNEL_BUILDER(Name("ExtractVolumePatches").Device(DEVICE_CPU),
                        ExtractPatchesOp);

}  // namespace
}  // namespace headrace
