// QuantizedMaxPool and QuantizedAvgPool of numbers of 8 bits, whose range
// stays. The average is that of the integers: for quint8 rounded down, for
// qint8, which TensorFlow leaves to another library, to the nearest, halves to
// even.
#include "framework/shape_fns/common_shape_fns.h"
#include "kernels/lib/quantized_math.h"

namespace headrace {
namespace {

template <typename T, bool kAverage>
class QuantizedPoolOp : public OpKernel {
 public:
  explicit QuantizedPoolOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<int64_t> size, strides;
    std::string padding;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ksize", &size));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("strides", &strides));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("padding", &padding));
    OP_REQUIRES_OK(ctx, ParsePadding(padding, &padding_));
    OP_REQUIRES(ctx,
                size.size() == 4 && strides.size() == 4 && size[0] == 1 &&
                    size[3] == 1 && strides[0] == 1 && strides[3] == 1,
                errors::InvalidArgument(
                    "ksize and strides must be [1, rows, columns, 1]"));
    for (int d = 0; d < 2; ++d) {
      OP_REQUIRES(
          ctx, size[1 + d] > 0 && strides[1 + d] > 0,
          errors::InvalidArgument("ksize and strides must be > 0, got ",
                                  size[1 + d], " and ", strides[1 + d]));
      size_[d] = size[1 + d];
      stride_[d] = strides[1 + d];
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 4,
                errors::InvalidArgument("input must be 4-dimensional, got "
                                        "shape ",
                                        in.shape().DebugString()));
    FloatRange range;
    OP_REQUIRES_OK(ctx, ReadFloatRange(*ctx, 1, &range));
    int64_t out_size[2], before[2], after[2];
    for (int d = 0; d < 2; ++d) {
      OP_REQUIRES_OK(ctx, WindowedOutputSize(in.dim_size(1 + d), size_[d], 1,
                                             stride_[d], padding_, &out_size[d],
                                             &before[d], &after[d]));
    }
    const int64_t depth = in.dim_size(3);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx,
        ctx->allocate_output(
            0, TensorShape({in.dim_size(0), out_size[0], out_size[1], depth}),
            &out));
    const T* const x = static_cast<const T*>(in.raw_data());
    T* const y = static_cast<T*>(out->raw_data());
    const auto window = [&](int64_t at) {
      int64_t begin[2], end[2];
      const int64_t place[2] = {at / out_size[1] % out_size[0],
                                at % out_size[1]};
      for (int d = 0; d < 2; ++d) {
        const int64_t from = place[d] * stride_[d] - before[d];
        begin[d] = std::max<int64_t>(0, from);
        end[d] = std::min(in.dim_size(1 + d), from + size_[d]);
      }
      const int64_t image = at / (out_size[0] * out_size[1]);
      const int64_t count = (end[0] - begin[0]) * (end[1] - begin[1]);
      for (int64_t c = 0; c < depth; ++c) {
        int64_t sum = 0, most = std::numeric_limits<T>::min();
        for (int64_t i = begin[0]; i < end[0]; ++i) {
          for (int64_t j = begin[1]; j < end[1]; ++j) {
            const int64_t v =
                x[((image * in.dim_size(1) + i) * in.dim_size(2) + j) * depth +
                  c];
            sum += v;
            most = std::max(most, v);
          }
        }
        y[at * depth + c] =
            static_cast<T>(kAverage ? Average(sum, count) : most);
      }
    };
    if (out->NumElements() > 0) {
      ctx->ParallelFor(out->NumElements() / depth,
                       static_cast<double>(size_[0]) * size_[1] * depth,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t at = begin; at < end; ++at) window(at);
                       });
    }
    SetRangeOutputs(ctx, 1, range);
  }

 private:
  static int64_t Average(int64_t sum, int64_t count) {
    if (count == 0) return 0;
    if constexpr (std::is_unsigned_v<T>) return sum / count;
    return static_cast<int64_t>(
        std::nearbyint(static_cast<double>(sum) / static_cast<double>(count)));
  }

  int64_t size_[2] = {1, 1}, stride_[2] = {1, 1};
  Padding padding_ = Padding::kValid;
};
#define HR_REGISTER(Q, T)                                                 \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("QuantizedMaxPool").Device(DEVICE_CPU).TypeConstraint<Q>("T"), \
      QuantizedPoolOp<T, false>);                                         \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("QuantizedAvgPool").Device(DEVICE_CPU).TypeConstraint<Q>("T"), \
      QuantizedPoolOp<T, true>)
HR_REGISTER(quint8, uint8_t);
HR_REGISTER(qint8, int8_t);
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
