// MatrixBandPart: keeps the elements (i, j) of each matrix with i - j <=
// num_lower and j - i <= num_upper, and makes the others 0. A negative number
// keeps all on that side.
#include <algorithm>

#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

class MatrixBandPartOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() >= 2,
                errors::InvalidArgument("input must be at least 2-dim, "
                                        "received shape: ",
                                        in.shape().DebugString()));
    const int64_t rows = in.dim_size(in.dims() - 2);
    const int64_t cols = in.dim_size(in.dims() - 1);
    int64_t lower, upper;
    OP_REQUIRES(ctx, ctx->input(1).dims() == 0 && ctx->input(2).dims() == 0,
                errors::InvalidArgument("num_lower and num_upper must be "
                                        "scalars"));
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "num_lower", &lower));
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(2), "num_upper", &upper));
    OP_REQUIRES(ctx, lower <= rows,
                errors::InvalidArgument("num_lower must be negative or less or "
                                        "equal to number of rows (",
                                        rows, ") got: ", lower));
    OP_REQUIRES(ctx, upper <= cols,
                errors::InvalidArgument("num_upper must be negative or less or "
                                        "equal to number of columns (",
                                        cols, ") got: ", upper));
    if (in.NumElements() == 0 ||
        ((lower < 0 || lower >= rows) && (upper < 0 || upper >= cols))) {
      ctx->set_output(0, in);
      return;
    }
    Tensor* out = nullptr;
    int forwarded = -1;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, in.shape(), &out, &forwarded));
    const int64_t all = in.NumElements() / cols;
    WithElement(out->dtype(), [&]<typename T>(Element<T>) {
      ctx->ParallelFor(
          all, 0.2 * sizeof(T) * cols, [&](int64_t begin, int64_t end) {
            for (int64_t r = begin; r < end; ++r) {
              const int64_t i = r % rows;
              const int64_t first =
                  lower < 0 ? 0 : std::clamp<int64_t>(i - lower, 0, cols);
              const int64_t last =
                  upper < 0 ? cols : std::min(cols, i + upper + 1);
              T* to = ElementsOf<T>(out) + r * cols;
              std::fill(to, to + first, T());
              if (forwarded < 0 && first < last) {
                const T* from = ElementsOf<T>(in) + r * cols;
                std::copy(from + first, from + last, to + first);
              }
              if (first < last) {
                std::fill(to + last, to + cols, T());
              } else {
                std::fill(to + first, to + cols, T());
              }
            }
          });
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("MatrixBandPart").Device(DEVICE_CPU),
                        MatrixBandPartOp);
REGISTER_KERNEL_BUILDER(Name("BatchMatrixBandPart").Device(DEVICE_CPU),
                        MatrixBandPartOp);

}  // namespace
}  // namespace headrace
