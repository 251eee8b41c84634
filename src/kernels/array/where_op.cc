// Where: the coordinates of all elements that are not zero, in row-major order.
// NaN is not zero; -0.0 is. Blocks of a fixed size are counted, then each
// writes from where the ones before it end.
#include <vector>

#include "base/thread_pool.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

constexpr int64_t kBlock = 1 << 15;

template <typename T>
class WhereOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    OP_REQUIRES(ctx, rank > 0,
                errors::InvalidArgument("WhereOp: input must be at least a "
                                        "vector, got a scalar"));
    const int64_t n = in.NumElements();
    const T* p = in.data<T>();
    const T zero = T(0);
    const int64_t blocks = (n + kBlock - 1) / kBlock;
    std::vector<int64_t> first(blocks + 1, 0);
    ctx->thread_pool()->ParallelFor(n, kBlock, [&](int64_t begin, int64_t end) {
      int64_t count = 0;
      for (int64_t i = begin; i < end; ++i) count += p[i] != zero;
      first[begin / kBlock + 1] = count;
    });
    for (int64_t b = 0; b < blocks; ++b) first[b + 1] += first[b];
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {first[blocks], rank}, &out));
    int64_t* to = out->data<int64_t>();
    ctx->thread_pool()->ParallelFor(n, kBlock, [&](int64_t begin, int64_t end) {
      int64_t* at = to + first[begin / kBlock] * rank;
      // A variable that another step writes may count otherwise now.
      const int64_t* const stop = to + first[begin / kBlock + 1] * rank;
      DimVector index(rank);
      int64_t rest = begin;
      for (int d = rank - 1; d >= 0; --d) {
        index[d] = rest % in.dim_size(d);
        rest /= in.dim_size(d);
      }
      for (int64_t i = begin; i < end && at < stop; ++i) {
        if (p[i] != zero) {
          for (int d = 0; d < rank; ++d) at[d] = index[d];
          at += rank;
        }
        int d = rank - 1;
        while (++index[d] == in.dim_size(d) && d > 0) index[d--] = 0;
      }
      while (at < stop) *at++ = 0;
    });
  }
};
#define REGISTER(T)        \
  REGISTER_KERNEL_BUILDER( \
      Name("Where").Device(DEVICE_CPU).TypeConstraint<T>("T"), WhereOp<T>);
HR_CALL_POD_TYPES(REGISTER)
#undef REGISTER

}  // namespace
}  // namespace headrace
