// FusedPadConv2D and FusedResizeAndPadConv2D: Conv2D of an image that was
// resized (bilinear) and framed by its mirror image; what optimised inference
// graphs have for the three ops. REFLECT leaves the edge out of the mirror
// image, SYMMETRIC repeats it. NHWC, without groups.
#include <algorithm>
#include <string>
#include <vector>

#include "framework/shape_fns/conv_attrs.h"
#include "framework/tensor/stored_constant.h"
#include "kernels/conv/conv_kernel.h"
#include "kernels/conv/prepared_filter.h"
#include "kernels/image/resize.h"
#include "kernels/lib/visit_type.h"

namespace headrace {
namespace {

class FusedPadConvOp : public OpKernel, public StoredConstantReader {
 public:
  explicit FusedPadConvOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ConvAttrs::Read(*ctx, 2, &attrs_));
    OP_REQUIRES_OK(ctx, attrs_.CheckValues());
    std::string mode;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("mode", &mode));
    OP_REQUIRES(ctx, mode == "REFLECT" || mode == "SYMMETRIC",
                errors::InvalidArgument(
                    "mode must be either REFLECT or SYMMETRIC, got ", mode));
    edge_ = mode == "REFLECT" ? 1 : 0;
    resizes_ = type_string() == "FusedResizeAndPadConv2D";
    if (resizes_) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("resize_align_corners", &align_));
    }
  }

  void SetConstantInput(int i, const Tensor& value) override {
    if (i == FilterInput()) constant_filter_.Set(value);
  }
  bool TakesStoredConstant(int input) const override {
    return input == FilterInput();
  }
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant_reader = this;
  }

  void Compute(OpKernelContext* ctx) override {
    Tensor image = ctx->input(0);
    const Tensor& filter = ctx->input(FilterInput());
    OP_REQUIRES(ctx, image.dims() == 4,
                errors::InvalidArgument("input must be 4-dimensional, got "
                                        "shape ",
                                        image.shape().DebugString()));
    OP_REQUIRES(ctx, image.NumElements() > 0,
                errors::InvalidArgument("Input tensor can't be empty, got "
                                        "shape ",
                                        image.shape().DebugString()));
    OP_REQUIRES(ctx,
                filter.dims() == 4 && filter.dim_size(2) == image.dim_size(3),
                errors::InvalidArgument(
                    "filter must be [height, width, ", image.dim_size(3),
                    ", out depth]: input and filter must have the same depth, "
                    "got shape ",
                    filter.shape().DebugString()));
    if (resizes_) OP_REQUIRES_OK(ctx, Resize(ctx, &image));
    OP_REQUIRES_OK(ctx, Pad(ctx, &image));
    ConvParams p;
    OP_REQUIRES_OK(
        ctx, ConvSizesOf(attrs_, image.shape(), filter.shape(), false, &p));
    p.dtype = image.dtype();
    p.format = attrs_.format;
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(0, ConvOutputShape(attrs_, p), &out));
    p.constant_filter = constant_filter_.is_set();
    ConvPlan plan;
    OP_REQUIRES_OK(ctx, PlanConv(ctx->thread_pool(), ConvDirection::kForward, p,
                                 {}, nullptr, &plan));
    OP_REQUIRES_OK(
        ctx, RunConv(ctx, plan, {&image, &filter, nullptr}, {},
                     p.constant_filter ? &constant_filter_ : nullptr, out));
  }

 private:
  int FilterInput() const { return resizes_ ? 3 : 2; }

  Status Resize(OpKernelContext* ctx, Tensor* image) const {
    ResizeShape s;
    HR_RETURN_IF_ERROR(ResizeForward(*image, ctx->input(1), align_, &s));
    const auto ys = LinearTaps(s.in_h, s.out_h, s.scale_h, false);
    const auto xs = LinearTaps(s.in_w, s.out_w, s.scale_w, false);
    Tensor out;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(
        image->dtype(), {s.batch, s.out_h, s.out_w, s.channels}, &out));
    VisitType<half, float, double>(image->dtype(), [&]<typename T>(T) {
      Interpolate<T>(ctx, *image, s, ys, xs, &out);
    });
    *image = out;
    return OkStatus();
  }

  template <typename T>
  static void Interpolate(OpKernelContext* ctx, const Tensor& image,
                          const ResizeShape& s,
                          const std::vector<LinearTap>& ys,
                          const std::vector<LinearTap>& xs, Tensor* out) {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const int64_t in_row = s.in_w * s.channels, out_row = s.out_w * s.channels;
    ctx->ParallelFor(
        s.batch * s.out_h, 4.0 * static_cast<double>(out_row),
        [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const LinearTap& y = ys[r % s.out_h];
            const T* from = image.data<T>() + r / s.out_h * s.in_h * in_row;
            const T *top = from + y.low * in_row, *low = from + y.high * in_row;
            T* to = out->data<T>() + r * out_row;
            for (const LinearTap& x : xs) {
              const int64_t a = x.low * s.channels, b = x.high * s.channels;
              for (int64_t c = 0; c < s.channels; ++c) {
                const auto mix = [&x, a, b, c](const T* row) {
                  const C left = static_cast<C>(row[a + c]);
                  const C right = static_cast<C>(row[b + c]);
                  return left + (right - left) * static_cast<C>(x.weight);
                };
                const C upper = mix(top), lower = mix(low);
                *to++ = static_cast<T>(upper + (lower - upper) *
                                                   static_cast<C>(y.weight));
              }
            }
          }
        });
  }

  Status Pad(OpKernelContext* ctx, Tensor* image) const {
    const Tensor& paddings = ctx->input(FilterInput() - 1);
    if (paddings.dims() != 2 || paddings.dim_size(0) != 4 ||
        paddings.dim_size(1) != 2) {
      return errors::InvalidArgument("paddings must be [4, 2], got shape ",
                                     paddings.shape().DebugString());
    }
    std::vector<int64_t> from[2];
    for (int d = 0; d < 4; ++d) {
      const int64_t before = paddings.data<int32_t>()[2 * d];
      const int64_t after = paddings.data<int32_t>()[2 * d + 1];
      const bool spatial = d == 1 || d == 2;
      const int64_t n = image->dim_size(d);
      if (before < 0 || after < 0) {
        return errors::InvalidArgument(
            "paddings must be non-negative: ", before, " ", after);
      }
      if (!spatial && before + after > 0) {
        return errors::InvalidArgument(
            "paddings of the batch and the depth must be 0, got ", before, ", ",
            after, " for dimension ", d);
      }
      if (std::max(before, after) > n - (spatial ? edge_ : 0)) {
        return errors::InvalidArgument(
            "paddings must be ", edge_ == 1 ? "less than" : "no greater than",
            " the dimension size: ", before, ", ", after, " for dimension ", d,
            " of ", image->shape().DebugString());
      }
      if (!spatial) continue;
      for (int64_t i = -before; i < n + after; ++i) {
        from[d - 1].push_back(i < 0    ? -i - 1 + edge_
                              : i >= n ? 2 * n - 1 - edge_ - i
                                       : i);
      }
    }
    const auto height = static_cast<int64_t>(from[0].size());
    const auto width = static_cast<int64_t>(from[1].size());
    const int64_t rows = image->dim_size(1), columns = image->dim_size(2);
    if (height == rows && width == columns) return OkStatus();
    Tensor out;
    HR_RETURN_IF_ERROR(ctx->allocate_temp(
        image->dtype(), {image->dim_size(0), height, width, image->dim_size(3)},
        &out));
    const int64_t pixel = image->dim_size(3) * DataTypeSize(image->dtype());
    const char* x = static_cast<const char*>(image->raw_data());
    char* y = static_cast<char*>(out.raw_data());
    ctx->ParallelFor(
        image->dim_size(0) * height, 0.5 * static_cast<double>(width * pixel),
        [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const char* row =
                x + (r / height * rows + from[0][r % height]) * columns * pixel;
            char* to = y + r * width * pixel;
            for (int64_t i = 0; i < width; ++i) {
              std::copy_n(row + from[1][i] * pixel, pixel, to + i * pixel);
            }
          }
        });
    *image = out;
    return OkStatus();
  }

  ConvAttrs attrs_;
  int64_t edge_ = 0;
  bool resizes_ = false, align_ = false;
  ConstantFilter constant_filter_;
};

#define REGISTER_PAD_CONV(NAME, T) \
  REGISTER_KERNEL_BUILDER(         \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), FusedPadConvOp)
REGISTER_PAD_CONV("FusedPadConv2D", half);
REGISTER_PAD_CONV("FusedPadConv2D", bfloat16);
REGISTER_PAD_CONV("FusedPadConv2D", float);
REGISTER_PAD_CONV("FusedPadConv2D", double);
REGISTER_PAD_CONV("FusedResizeAndPadConv2D", half);
REGISTER_PAD_CONV("FusedResizeAndPadConv2D", float);
REGISTER_PAD_CONV("FusedResizeAndPadConv2D", double);
#undef REGISTER_PAD_CONV

}  // namespace
}  // namespace headrace
