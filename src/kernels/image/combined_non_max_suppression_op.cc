// CombinedNonMaxSuppression: for each image, suppression within each class,
// then the best max_total_size boxes of all classes by falling score, equal
// scores in the order of classes. What is not filled is zero; valid_detections
// says how much is. Boxes are shared by all classes (q = 1) or one set a class.
#include <algorithm>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/image/non_max_suppression.h"

namespace headrace {
namespace {

struct Detection {
  float score;
  const float* box;
  int64_t label;
};

class CombinedNonMaxSuppressionOp : public OpKernel {
 public:
  explicit CombinedNonMaxSuppressionOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pad_per_class", &pad_per_class_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("clip_boxes", &clip_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& boxes = ctx->input(0);
    const Tensor& scores = ctx->input(1);
    OP_REQUIRES(ctx, scores.dims() == 3,
                errors::InvalidArgument("scores must be 3-D, got shape ",
                                        scores.shape().DebugString()));
    const int64_t batch = scores.dim_size(0), n = scores.dim_size(1);
    const int64_t classes = scores.dim_size(2);
    OP_REQUIRES(ctx,
                boxes.dims() == 4 && boxes.dim_size(0) == batch &&
                    boxes.dim_size(1) == n && boxes.dim_size(3) == 4 &&
                    (boxes.dim_size(2) == 1 || boxes.dim_size(2) == classes),
                errors::InvalidArgument("boxes must be [", batch, ", ", n,
                                        ", 1 or ", classes, ", 4], got shape ",
                                        boxes.shape().DebugString()));
    for (int i = 2; i < 6; ++i) {
      OP_REQUIRES(
          ctx, ctx->input(i).dims() == 0,
          errors::InvalidArgument("input ", i, " must be a scalar, got shape ",
                                  ctx->input(i).shape().DebugString()));
    }
    const int64_t per_class = ctx->input(2).scalar<int32_t>();
    int64_t total = ctx->input(3).scalar<int32_t>();
    OP_REQUIRES(ctx, per_class > 0,
                errors::InvalidArgument("max_output_size_per_class must be "
                                        "positive, got ",
                                        per_class));
    OP_REQUIRES(
        ctx, total > 0,
        errors::InvalidArgument("max_total_size must be > 0, got ", total));
    NmsOptions options;
    options.max_outputs = std::min(per_class, n);
    options.overlap_threshold = ctx->input(4).scalar<float>();
    options.score_threshold = ctx->input(5).scalar<float>();
    OP_REQUIRES(
        ctx, options.overlap_threshold >= 0 && options.overlap_threshold <= 1,
        errors::InvalidArgument("iou_threshold must be in [0, 1], got ",
                                options.overlap_threshold));
    if (pad_per_class_) {
      const int64_t all = MultiplyWithoutOverflow(per_class, classes);
      if (all >= 0) total = std::min(total, all);
    }
    Tensor *out_boxes = nullptr, *out_scores = nullptr, *out_classes = nullptr;
    Tensor* valid = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {batch, total, 4}, &out_boxes));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {batch, total}, &out_scores));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, {batch, total}, &out_classes));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(3, {batch}, &valid));
    for (Tensor* t : {out_boxes, out_scores, out_classes, valid}) {
      std::memset(t->raw_data(), 0, t->TotalBytes());
    }
    const double cost = 20.0 * n * classes;
    ctx->ParallelFor(batch, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const std::vector<Detection> found =
            Image(boxes.data<float>() + b * n * boxes.dim_size(2) * 4,
                  boxes.dim_size(2), scores.data<float>() + b * n * classes, n,
                  classes, options);
        const int64_t kept =
            std::min(total, static_cast<int64_t>(found.size()));
        for (int64_t i = 0; i < kept; ++i) {
          const int64_t at = b * total + i;
          for (int k = 0; k < 4; ++k) {
            const float v = found[i].box[k];
            out_boxes->data<float>()[at * 4 + k] =
                clip_ ? std::min(std::max(v, 0.0f), 1.0f) : v;
          }
          out_scores->data<float>()[at] = found[i].score;
          out_classes->data<float>()[at] = static_cast<float>(found[i].label);
        }
        valid->data<int32_t>()[b] = static_cast<int32_t>(kept);
      }
    });
  }

 private:
  static std::vector<Detection> Image(const float* boxes, int64_t sets,
                                      const float* scores, int64_t n,
                                      int64_t classes,
                                      const NmsOptions& options) {
    std::vector<Detection> found;
    std::vector<float> of_class(n);
    for (int64_t c = 0; c < classes; ++c) {
      for (int64_t i = 0; i < n; ++i) of_class[i] = scores[i * classes + c];
      const int64_t set = sets == 1 ? 0 : c;
      auto box = [=](int64_t i) { return boxes + (i * sets + set) * 4; };
      for (const NmsCandidate& taken :
           SelectBoxes(of_class, options, [&](int64_t a, int64_t b) {
             return IntersectionOverUnion(box(a), box(b));
           })) {
        found.push_back({taken.score, box(taken.index), c});
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Detection& a, const Detection& b) {
                       return a.score > b.score;
                     });
    return found;
  }

  bool pad_per_class_ = false, clip_ = true;
};
REGISTER_KERNEL_BUILDER(Name("CombinedNonMaxSuppression").Device(DEVICE_CPU),
                        CombinedNonMaxSuppressionOp);

}  // namespace
}  // namespace headrace
