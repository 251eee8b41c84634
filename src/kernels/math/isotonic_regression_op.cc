// IsotonicRegression: the sequence that never rises and is nearest to the
// input, in squares, along the last dimension. It consists of runs of one
// value, the mean of their inputs; segments numbers them. Neighbouring runs of
// equal means stay apart.
#include <limits>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

template <typename T, typename Out>
class IsotonicRegressionOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor *out = nullptr, *segments = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, in.shape(), &segments));
    if (in.NumElements() == 0) return;
    const int64_t n = in.dims() == 0 ? 1 : in.dim_size(in.dims() - 1);
    OP_REQUIRES(ctx, n <= std::numeric_limits<int32_t>::max(),
                errors::InvalidArgument("rows of ", n,
                                        " elements have more segments than "
                                        "int32 can number"));
    ctx->ParallelFor(in.NumElements() / n, 5.0 * static_cast<double>(n),
                     [&](int64_t begin, int64_t end) {
                       std::vector<Run> runs;
                       for (int64_t r = begin; r < end; ++r) {
                         Fit(in.data<T>() + r * n, n, &runs);
                         Write(runs, out->data<Out>() + r * n,
                               segments->data<int32_t>() + r * n);
                       }
                     });
  }

 private:
  struct Run {
    double sum;
    int64_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };

  // A run that is above the one before it joins that.
  static void Fit(const T* x, int64_t n, std::vector<Run>* runs) {
    runs->clear();
    for (int64_t i = 0; i < n; ++i) {
      Run last = {static_cast<double>(x[i]), 1};
      while (!runs->empty() && runs->back().mean() < last.mean()) {
        last.sum += runs->back().sum;
        last.count += runs->back().count;
        runs->pop_back();
      }
      runs->push_back(last);
    }
  }

  static void Write(const std::vector<Run>& runs, Out* y, int32_t* segment) {
    int32_t s = 0;
    for (const Run& run : runs) {
      const Out mean = static_cast<Out>(run.mean());
      for (int64_t i = 0; i < run.count; ++i) {
        *y++ = mean;
        *segment++ = s;
      }
      ++s;
    }
  }
};

#define HR_REGISTER(T, Out)                                         \
  REGISTER_KERNEL_BUILDER(Name("IsotonicRegression")                \
                              .Device(DEVICE_CPU)                   \
                              .TypeConstraint<T>("T")               \
                              .TypeConstraint<Out>("output_dtype"), \
                          IsotonicRegressionOp<T, Out>);
HR_REGISTER(half, half)
HR_REGISTER(bfloat16, bfloat16)
HR_REGISTER(float, float)
HR_REGISTER(double, double)
HR_REGISTER(int8_t, float)
HR_REGISTER(int16_t, float)
HR_REGISTER(int32_t, double)
HR_REGISTER(int64_t, double)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
