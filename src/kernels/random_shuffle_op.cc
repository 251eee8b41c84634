// RandomShuffle: the rows of the input in random order, by Fisher and Yates'
// method from the front: row i changes places with row i + w mod (n - i).
#include <numeric>
#include <utility>
#include <vector>

#include "framework/op_kernel.h"
#include "framework/philox.h"

namespace headrace {
namespace {

class RandomShuffleOp : public OpKernel {
 public:
  explicit RandomShuffleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t seed = 0, seed2 = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed", &seed));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed2", &seed2));
    stream_.Init(seed, seed2);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    // Fewer than two rows, or rows of nothing: no order to change.
    if (in.NumElements() <= 1 || in.dim_size(0) <= 1) {
      ctx->set_output(0, in);
      return;
    }
    const int64_t n = in.dim_size(0);
    PhiloxWords next(stream_.Reserve((n - 1 + 3) / 4));
    std::vector<int64_t> from(n);
    std::iota(from.begin(), from.end(), 0);
    for (int64_t i = 0; i < n - 1; ++i) {
      std::swap(from[i], from[i + next() % static_cast<uint64_t>(n - i)]);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    const int64_t row = in.NumElements() / n;
    if (!DataTypeCanUseMemcpy(in.dtype())) {
      for (int64_t i = 0; i < n; ++i) {
        CopyElements(in, from[i] * row, out, i * row, row);
      }
      return;
    }
    const int64_t bytes = row * DataTypeSize(in.dtype());
    const char* src = static_cast<const char*>(in.raw_data());
    char* dst = static_cast<char*>(out->raw_data());
    ctx->ParallelFor(n, 5 + 0.1 * bytes, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::memcpy(dst + i * bytes, src + from[i] * bytes, bytes);
      }
    });
  }

 private:
  GuardedPhilox stream_;
};
REGISTER_KERNEL_BUILDER(Name("RandomShuffle").Device(DEVICE_CPU),
                        RandomShuffleOp);

}  // namespace
}  // namespace headrace
