// InTopK and InTopKV2: is the target class among the k best of its row?
//
// Ties at the boundary are all in: what counts is that fewer than k entries are
// strictly greater. A target outside the row, or any entry that is not finite
// (even -inf elsewhere), gives false, never an error.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "headrace/op_kernel.h"
#include "headrace/simd.h"

namespace headrace {
namespace {

template <typename Index>
class InTopKOp : public OpKernel {
 public:
  explicit InTopKOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (ctx->num_inputs() == 2) OP_REQUIRES_OK(ctx, ctx->GetAttr("k", &k_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& predictions = ctx->input(0);
    const Tensor& targets = ctx->input(1);
    int64_t k = k_;
    if (ctx->num_inputs() == 3) {
      OP_REQUIRES(ctx, ctx->input(2).dims() == 0,
                  errors::InvalidArgument("k must be 0-D, got shape ",
                                          ctx->input(2).shape().DebugString()));
      k = ctx->input(2).data<Index>()[0];
    }
    OP_REQUIRES(
        ctx, predictions.dims() == 2,
        errors::InvalidArgument("predictions must be 2-dimensional, got ",
                                predictions.shape().DebugString()));
    OP_REQUIRES(ctx, targets.dims() == 1,
                errors::InvalidArgument("targets must be 1-dimensional, got ",
                                        targets.shape().DebugString()));
    const int64_t rows = predictions.dim_size(0);
    const int64_t classes = predictions.dim_size(1);
    OP_REQUIRES(ctx, targets.dim_size(0) == rows,
                errors::InvalidArgument("First dimension of predictions ", rows,
                                        " must match length of targets ",
                                        targets.dim_size(0)));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, targets.shape(), &output));
    const float* x = predictions.data<float>();
    const Index* target = targets.data<Index>();
    bool* out = output->data<bool>();
    ctx->ParallelFor(rows, 0.2 * static_cast<double>(classes) + 1,
                     [=](int64_t begin, int64_t end) {
                       RunSimd([=] {
                         for (int64_t r = begin; r < end; ++r) {
                           out[r] = In(x + r * classes, classes, target[r], k);
                         }
                       });
                     });
  }

 private:
  static bool In(const float* row, int64_t n, int64_t target, int64_t k) {
    if (target < 0 || target >= n) return false;
    const float limit = row[target];
    int64_t greater = 0;
    int infinite = 0;
    // The count of a block fits the lanes of the comparison.
    constexpr int64_t kBlock = int64_t{1} << 20;
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t last = std::min(n, first + kBlock);
      int32_t count = 0;
      for (int64_t i = first; i < last; ++i) {
        constexpr uint32_t kExponent = 0x7f800000;
        infinite |= (std::bit_cast<uint32_t>(row[i]) & kExponent) == kExponent;
        count += row[i] > limit;
      }
      greater += count;
    }
    return infinite == 0 && greater < k;
  }

  int64_t k_ = 0;
};

#define REGISTER_IN_TOPK(Index)                                       \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("InTopK").Device(DEVICE_CPU).TypeConstraint<Index>("T"),   \
      InTopKOp<Index>);                                               \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("InTopKV2").Device(DEVICE_CPU).TypeConstraint<Index>("T"), \
      InTopKOp<Index>);
REGISTER_IN_TOPK(int32_t)
REGISTER_IN_TOPK(int64_t)
#undef REGISTER_IN_TOPK

}  // namespace
}  // namespace headrace
