// Diag and DiagPart of whole tensors: the diagonal of shape s of a tensor of
// shape s + s, which in memory is that of a square matrix. And MatrixBandPart,
// which keeps the elements (i, j) with i - j <= num_lower and j - i <=
// num_upper; a negative number keeps all on that side.
#include <algorithm>

#include "framework/op_kernel.h"
#include "kernels/element.h"

namespace headrace {
namespace {

class DiagOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() >= 1 && 2 * in.dims() <= kMaxTensorRank,
                errors::InvalidArgument("Input must be at least rank 1, got ",
                                        in.dims()));
    TensorShape shape = in.shape();
    shape.AppendShape(in.shape());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    ZeroElements(out);
    const int64_t n = in.NumElements();
    WithElement(in.dtype(), [&]<typename T>(Element<T>) {
      for (int64_t i = 0; i < n; ++i) {
        ElementsOf<T>(out)[i * (n + 1)] = ElementsOf<T>(in)[i];
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("Diag").Device(DEVICE_CPU), DiagOp);

class DiagPartOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int half = in.dims() / 2;
    // Shape inference refuses scalars; one whose rank was not known before is
    // its own diagonal.
    OP_REQUIRES(ctx, in.dims() % 2 == 0,
                errors::InvalidArgument("The rank of the tensor should be even "
                                        "and positive, got shape ",
                                        in.shape().DebugString()));
    TensorShape shape;
    for (int i = 0; i < half; ++i) {
      OP_REQUIRES(ctx, in.dim_size(i) == in.dim_size(i + half),
                  errors::InvalidArgument(
                      "Invalid shape ", in.shape().DebugString(),
                      ": dimensions ", i, " and ", i + half, " do not match."));
      shape.AddDim(in.dim_size(i));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t n = shape.num_elements();
    WithElement(in.dtype(), [&]<typename T>(Element<T>) {
      for (int64_t i = 0; i < n; ++i) {
        ElementsOf<T>(out)[i] = ElementsOf<T>(in)[i * (n + 1)];
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("DiagPart").Device(DEVICE_CPU), DiagPartOp);

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
