// ComputeAccidentalHits: which sampled candidates are true classes of which row
// of the batch, as the entries of a sparse matrix [batch, num_sampled] of
// -FLT_MAX, to be added to logits. Of equal candidates the last one counts.
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/growing_table.h"

namespace headrace {
namespace {

class ComputeAccidentalHitsOp : public OpKernel {
 public:
  explicit ComputeAccidentalHitsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_true", &num_true_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& classes = ctx->input(0);
    const Tensor& sampled = ctx->input(1);
    OP_REQUIRES(ctx, classes.dims() == 2 && classes.dim_size(1) == num_true_,
                errors::InvalidArgument(
                    "true_classes must be a batch_size * num_true "
                    "matrix with num_true = ",
                    num_true_, ", got shape ", classes.shape().DebugString()));
    OP_REQUIRES(ctx, sampled.dims() == 1,
                errors::InvalidArgument(
                    "sampled_candidates must be a vector, got shape ",
                    sampled.shape().DebugString()));
    const int64_t batch = classes.dim_size(0);
    OP_REQUIRES(ctx, batch <= std::numeric_limits<int32_t>::max(),
                errors::InvalidArgument("true_classes must have fewer than "
                                        "2^31 rows, got ",
                                        batch));
    GrowingMap<int64_t, int64_t> position;
    for (int64_t i = 0; i < sampled.NumElements(); ++i) {
      InsertIntoMap(&position, false, sampled.data<int64_t>()[i])
          .first->second = i;
    }
    std::vector<std::pair<int32_t, int64_t>> hits;
    const int64_t* c = classes.data<int64_t>();
    for (int64_t row = 0; row < batch; ++row) {
      for (int64_t k = 0; k < num_true_; ++k) {
        const auto hit = position.find(c[row * num_true_ + k]);
        if (hit == position.end()) continue;
        hits.emplace_back(static_cast<int32_t>(row), hit->second);
      }
    }
    const auto n = static_cast<int64_t>(hits.size());
    Tensor *indices = nullptr, *ids = nullptr, *weights = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &ids));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {n}, &weights));
    for (int64_t i = 0; i < n; ++i) {
      indices->data<int32_t>()[i] = hits[i].first;
      ids->data<int64_t>()[i] = hits[i].second;
      weights->data<float>()[i] = std::numeric_limits<float>::lowest();
    }
  }

 private:
  int64_t num_true_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("ComputeAccidentalHits").Device(DEVICE_CPU),
                        ComputeAccidentalHitsOp);

}  // namespace
}  // namespace headrace
