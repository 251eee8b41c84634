// ReduceJoin: the strings along some axes joined into one. The order of the
// axes matters: the first one named runs fastest, so [1, 0] is row-major.
#include <algorithm>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/strings/join_strings.h"

namespace headrace {
namespace {

class ReduceJoinOp : public OpKernel {
 public:
  explicit ReduceJoinOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep_dims", &keep_dims_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("separator", &separator_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &axes = ctx->input(1);
    OP_REQUIRES(ctx, axes.dims() <= 1,
                errors::InvalidArgument(
                    "reduction_indices must be a scalar or a vector, got ",
                    axes.shape().DebugString()));
    const int rank = in.dims();
    std::vector<int> order;
    std::vector<bool> joined(rank, false);
    for (int32_t given : axes.span<int32_t>()) {
      const int64_t axis = given < 0 ? int64_t{given} + rank : given;
      OP_REQUIRES(
          ctx, axis >= 0 && axis < rank,
          errors::InvalidArgument("Invalid reduction dimension ", given,
                                  " for input with ", rank, " dimension(s)"));
      OP_REQUIRES(
          ctx, !joined[axis],
          errors::InvalidArgument("Duplicate reduction dimension ", axis));
      joined[axis] = true;
      order.push_back(static_cast<int>(axis));
    }
    std::vector<int64_t> stride(rank);
    for (int64_t step = 1, d = rank - 1; d >= 0; step *= in.dim_size(d--)) {
      stride[d] = step;
    }
    TensorShape shape;
    std::vector<int> kept;
    for (int d = 0; d < rank; ++d) {
      if (!joined[d]) kept.push_back(d);
      if (!joined[d] || keep_dims_)
        shape.AddDim(joined[d] ? 1 : in.dim_size(d));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    // Where the elements lie that these dims run over, the last one fastest.
    auto offsets = [&](const std::vector<int>& dims) {
      std::vector<int64_t> all{0};
      if (in.NumElements() == 0) {  // dims before the empty one may be huge
        all.clear();
        return all;
      }
      for (int d : dims) {
        std::vector<int64_t> next;
        for (int64_t base : all) {
          for (int64_t i = 0; i < in.dim_size(d); ++i) {
            next.push_back(base + i * stride[d]);
          }
        }
        all = std::move(next);
      }
      return all;
    };
    std::reverse(order.begin(), order.end());
    // An empty axis joins nothing: the outputs stay "".
    const std::vector<int64_t> bases = offsets(kept), steps = offsets(order);
    std::vector<absl::string_view> pieces(steps.size());
    for (size_t k = 0; k < bases.size(); ++k) {
      for (size_t i = 0; i < steps.size(); ++i) {
        pieces[i] = in.data<tstring>()[bases[k] + steps[i]];
      }
      JoinStrings(pieces, separator_, &out->data<tstring>()[k]);
    }
  }

 private:
  bool keep_dims_ = false;
  std::string separator_;
};

REGISTER_KERNEL_BUILDER(Name("ReduceJoin").Device(DEVICE_CPU), ReduceJoinOp);

}  // namespace
}  // namespace headrace
