// NonMaxSuppression, V2 to V5 and WithOverlaps. Boxes are taken by falling
// score, equal scores by rising index; one that overlaps a box already taken by
// more than the threshold is dropped. In V5 with soft_nms_sigma > 0 the
// threshold plays no part: a score decays with each overlap, and the box queues
// again. A box needs a score above score_threshold, so one that is not a number
// is never taken.
#include <algorithm>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/image/non_max_suppression.h"

namespace headrace {
namespace {

std::vector<float> Floats(const Tensor& t) {
  std::vector<float> out(t.NumElements());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = t.dtype() == DT_HALF ? static_cast<float>(t.data<half>()[i])
                                  : t.data<float>()[i];
  }
  return out;
}

Status ScalarFloat(const Tensor& t, const char* name, float* out) {
  if (t.dims() != 0) {
    return errors::InvalidArgument(name, " must be 0-D, got shape ",
                                   t.shape().DebugString());
  }
  *out = Floats(t)[0];
  return OkStatus();
}

Status CheckScores(const Tensor& scores, int64_t n) {
  if (scores.dims() == 1 && scores.dim_size(0) == n) return OkStatus();
  return errors::InvalidArgument(
      "scores has incompatible shape: ", scores.shape().DebugString(),
      ", wanted [", n, "]");
}

Status CheckMaxOutputs(const Tensor& t, NmsOptions* options) {
  if (t.dims() != 0) {
    return errors::InvalidArgument("max_output_size must be 0-D, got shape ",
                                   t.shape().DebugString());
  }
  options->max_outputs = t.scalar<int32_t>();
  if (options->max_outputs < 0) {
    return errors::InvalidArgument("max_output_size must be non-negative, got ",
                                   options->max_outputs);
  }
  return OkStatus();
}

class NonMaxSuppressionOp : public OpKernel {
 public:
  explicit NonMaxSuppressionOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (ctx->HasAttr("iou_threshold")) {
      OP_REQUIRES_OK(
          ctx, ctx->GetAttr("iou_threshold", &options_.overlap_threshold));
    }
    if (ctx->HasAttr("pad_to_max_output_size")) {
      OP_REQUIRES_OK(ctx,
                     ctx->GetAttr("pad_to_max_output_size", &options_.pad));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& boxes = ctx->input(0);
    const Tensor& scores = ctx->input(1);
    NmsOptions options = options_;
    OP_REQUIRES_OK(ctx, CheckMaxOutputs(ctx->input(2), &options));
    float* const scalars[] = {&options.overlap_threshold,
                              &options.score_threshold, &options.soft_sigma};
    const char* const names[] = {"iou_threshold", "score_threshold",
                                 "soft_nms_sigma"};
    for (int i = 3; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES_OK(ctx,
                     ScalarFloat(ctx->input(i), names[i - 3], scalars[i - 3]));
    }
    OP_REQUIRES(
        ctx, options.overlap_threshold >= 0 && options.overlap_threshold <= 1,
        errors::InvalidArgument("iou_threshold must be in [0, 1], got ",
                                options.overlap_threshold));
    OP_REQUIRES(ctx, options.soft_sigma >= 0,
                errors::InvalidArgument("soft_nms_sigma_val must be >= 0, got ",
                                        options.soft_sigma));
    OP_REQUIRES(ctx, boxes.dims() == 2 && boxes.dim_size(1) == 4,
                errors::InvalidArgument("boxes must be 2-D with 4 columns, got "
                                        "shape ",
                                        boxes.shape().DebugString()));
    OP_REQUIRES_OK(ctx, CheckScores(scores, boxes.dim_size(0)));
    const std::vector<float> corners = Floats(boxes);
    const std::vector<NmsCandidate> taken =
        SelectBoxes(Floats(scores), options, [&](int64_t a, int64_t b) {
          return IntersectionOverUnion(&corners[4 * a], &corners[4 * b]);
        });
    Emit(ctx, taken, options);
  }

 private:
  // Outputs: indices; V5 then scores; V4 and V5 then how many are valid.
  void Emit(OpKernelContext* ctx, const std::vector<NmsCandidate>& taken,
            const NmsOptions& options) {
    const auto n = static_cast<int64_t>(taken.size());
    const TensorShape shape({options.pad ? options.max_outputs : n});
    Tensor* indices = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &indices));
    int32_t* at = indices->data<int32_t>();
    std::fill(at, at + indices->NumElements(), 0);
    for (int64_t i = 0; i < n; ++i) {
      at[i] = static_cast<int32_t>(taken[i].index);
    }
    if (num_outputs() == 3) {
      Tensor* kept = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(1, shape, &kept));
      for (int64_t i = 0; i < kept->NumElements(); ++i) {
        const float score = i < n ? taken[i].score : 0;
        if (kept->dtype() == DT_HALF) {
          kept->data<half>()[i] = static_cast<half>(score);
        } else {
          kept->data<float>()[i] = score;
        }
      }
    }
    if (num_outputs() > 1) {
      ctx->set_output(num_outputs() - 1,
                      Tensor::Scalar<int32_t>(static_cast<int32_t>(n)));
    }
  }

  NmsOptions options_;
};
REGISTER_KERNEL_BUILDER(Name("NonMaxSuppression").Device(DEVICE_CPU),
                        NonMaxSuppressionOp);
REGISTER_KERNEL_BUILDER(Name("NonMaxSuppressionV2").Device(DEVICE_CPU),
                        NonMaxSuppressionOp);
REGISTER_KERNEL_BUILDER(Name("NonMaxSuppressionV3").Device(DEVICE_CPU),
                        NonMaxSuppressionOp);
REGISTER_KERNEL_BUILDER(Name("NonMaxSuppressionV4").Device(DEVICE_CPU),
                        NonMaxSuppressionOp);
REGISTER_KERNEL_BUILDER(Name("NonMaxSuppressionV5").Device(DEVICE_CPU),
                        NonMaxSuppressionOp);

class NonMaxSuppressionWithOverlapsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& overlaps = ctx->input(0);
    const Tensor& scores = ctx->input(1);
    NmsOptions options;
    OP_REQUIRES_OK(ctx, CheckMaxOutputs(ctx->input(2), &options));
    OP_REQUIRES_OK(ctx, ScalarFloat(ctx->input(3), "overlap_threshold",
                                    &options.overlap_threshold));
    OP_REQUIRES_OK(ctx, ScalarFloat(ctx->input(4), "score_threshold",
                                    &options.score_threshold));
    OP_REQUIRES(
        ctx,
        overlaps.dims() == 2 && overlaps.dim_size(0) == overlaps.dim_size(1),
        errors::InvalidArgument("overlaps must be square, got shape ",
                                overlaps.shape().DebugString()));
    const int64_t n = overlaps.dim_size(0);
    OP_REQUIRES_OK(ctx, CheckScores(scores, n));
    const float* o = overlaps.data<float>();
    const std::vector<NmsCandidate> taken =
        SelectBoxes(Floats(scores), options,
                    [=](int64_t a, int64_t b) { return o[a * n + b]; });
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, {static_cast<int64_t>(taken.size())}, &out));
    for (size_t i = 0; i < taken.size(); ++i) {
      out->data<int32_t>()[i] = static_cast<int32_t>(taken[i].index);
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("NonMaxSuppressionWithOverlaps").Device(DEVICE_CPU),
    NonMaxSuppressionWithOverlapsOp);

}  // namespace
}  // namespace headrace
