// SparseReshape: the same elements in row-major order under another shape, of
// which one dim may be -1. Indices outside the input's shape are taken by the
// same arithmetic, as TensorFlow does; they wrap around instead of overflowing.
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

// Computes the dim that is -1 in `wanted`, and checks that the sizes agree.
Status ResolveShape(absl::Span<const int64_t> wanted, int64_t size,
                    DimVector* out) {
  out->assign(wanted.begin(), wanted.end());
  int64_t known = 1;
  int missing = -1;
  for (int d = 0; d < static_cast<int>(out->size()); ++d) {
    const int64_t dim = (*out)[d];
    if (dim == -1) {
      if (missing >= 0) {
        return errors::InvalidArgument(
            "only one output dimension may be -1, not both ", missing, " and ",
            d);
      }
      missing = d;
      continue;
    }
    if (dim < 0) {
      return errors::InvalidArgument("size ", d, " must be non-negative, not ",
                                     dim);
    }
    known = MultiplyWithoutOverflow(known, dim);
    if (known < 0) {
      return errors::InvalidArgument("new_shape has too many elements: ",
                                     IndexString(out->data(), out->size()));
    }
  }
  const int64_t multiple = known;
  if (missing >= 0) {
    if (known == 0) {
      return errors::InvalidArgument(
          "reshape cannot infer the missing input size for an empty tensor "
          "unless all specified input sizes are non-zero");
    }
    (*out)[missing] = size / known;
    known *= size / known;
  }
  if (known != size) {
    return errors::InvalidArgument(
        "Input to reshape is a tensor with ", size,
        " dense values, but the requested shape ",
        IndexString(wanted.data(), wanted.size()),
        missing >= 0 ? " requires a multiple of " : " has ", multiple);
  }
  return OkStatus();
}

std::vector<uint64_t> Strides(absl::Span<const int64_t> dims) {
  std::vector<uint64_t> strides(dims.size(), 1);
  for (int d = static_cast<int>(dims.size()) - 2; d >= 0; --d) {
    strides[d] = strides[d + 1] * static_cast<uint64_t>(dims[d + 1]);
  }
  return strides;
}

class SparseReshapeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices = ctx->input(0);
    const Tensor& shape = ctx->input(1);
    const Tensor& wanted = ctx->input(2);
    OP_REQUIRES(ctx, indices.dims() == 2,
                errors::InvalidArgument(
                    "Input indices should be a matrix but received shape ",
                    indices.shape().DebugString()));
    OP_REQUIRES(ctx, shape.dims() == 1,
                errors::InvalidArgument(
                    "Input shape should be a vector but received shape ",
                    shape.shape().DebugString()));
    OP_REQUIRES(ctx, wanted.dims() == 1,
                errors::InvalidArgument(
                    "Target shape should be a vector but received shape ",
                    wanted.shape().DebugString()));
    OP_REQUIRES(ctx, indices.dim_size(1) == shape.dim_size(0),
                errors::InvalidArgument("Input tensor rank must match input "
                                        "shape length: got ",
                                        indices.dim_size(1), " and ",
                                        shape.dim_size(0)));
    OP_REQUIRES(ctx, wanted.dim_size(0) <= kMaxTensorRank,
                errors::InvalidArgument("new_shape has ", wanted.dim_size(0),
                                        " dims, at most ", kMaxTensorRank,
                                        " are supported"));
    const auto from = shape.span<int64_t>();
    int64_t size = 1;
    for (int64_t d : from) size = MultiplyWithoutOverflow(size, d);
    OP_REQUIRES(ctx, size >= 0,
                errors::InvalidArgument(
                    "Input shape ", IndexString(from.data(), from.size()),
                    " has negative dimensions or too many elements"));
    DimVector to;
    OP_REQUIRES_OK(ctx, ResolveShape(wanted.span<int64_t>(), size, &to));
    OP_REQUIRES_OK(ctx, SetShapeOutput(ctx, 1, to));
    if (from == absl::MakeConstSpan(to)) {
      ctx->set_output(0, indices);
      return;
    }
    const int64_t n = indices.dim_size(0);
    OP_REQUIRES(ctx, n == 0 || size > 0,
                errors::InvalidArgument(
                    "Input has ", n, " indices but its shape ",
                    IndexString(from.data(), from.size()), " has no elements"));
    const int64_t from_rank = from.size(), to_rank = to.size();
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, to_rank}, &out));
    const auto from_strides = Strides(from), to_strides = Strides(to);
    const int64_t* x = indices.data<int64_t>();
    int64_t* y = out->data<int64_t>();
    const double cost = 1.0 * from_rank + 6.0 * to_rank;
    ctx->ParallelFor(n, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        uint64_t flat = 0;
        for (int64_t d = 0; d < from_rank; ++d) {
          flat += static_cast<uint64_t>(x[i * from_rank + d]) * from_strides[d];
        }
        int64_t rest = static_cast<int64_t>(flat);
        for (int64_t d = 0; d < to_rank; ++d) {
          const int64_t stride = static_cast<int64_t>(to_strides[d]);
          y[i * to_rank + d] = rest / stride;
          rest %= stride;
        }
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseReshape").Device(DEVICE_CPU),
                        SparseReshapeOp);

}  // namespace
}  // namespace headrace
