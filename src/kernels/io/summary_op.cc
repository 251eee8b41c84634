// ScalarSummary, HistogramSummary, ImageSummary, AudioSummary, TensorSummary
// and MergeSummary: what a step has to report, as a serialised Summary message
// that event files hold.
#include <limits>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "headrace/op_kernel.h"
#include "kernels/io/summary_values.h"

namespace headrace {
namespace {

Status ReadTag(const Tensor& t, std::string* tag) {
  if (t.dims() != 0) {
    return errors::InvalidArgument("tag must be a scalar, got shape ",
                                   t.shape().DebugString());
  }
  *tag = std::string(t.scalar<tstring>());
  return OkStatus();
}

void SetSummary(OpKernelContext* ctx, const pb::Summary& summary) {
  std::string bytes;
  OP_REQUIRES(ctx, summary.SerializeToString(&bytes),
              errors::InvalidArgument(
                  "the summary is larger than a message can be, 2 GiB"));
  ctx->set_output(0, Tensor::Scalar<tstring>(tstring(bytes)));
}

class ScalarSummaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& tags = ctx->input(0);
    const Tensor& values = ctx->input(1);
    OP_REQUIRES(
        ctx, tags.shape() == values.shape(),
        errors::InvalidArgument(
            "tags and values not the same shape: ", tags.shape().DebugString(),
            " != ", values.shape().DebugString(),
            tags.NumElements() == 1
                ? StrCat(" (tag '", absl::string_view(tags.data<tstring>()[0]),
                         "')")
                : ""));
    pb::Summary summary;
    for (int64_t i = 0; i < tags.NumElements(); ++i) {
      AddScalarSummary(std::string(tags.data<tstring>()[i]), values, i,
                       &summary);
    }
    SetSummary(ctx, summary);
  }
};

class HistogramSummaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::string tag;
    OP_REQUIRES_OK(ctx, ReadTag(ctx->input(0), &tag));
    pb::Summary summary;
    OP_REQUIRES_OK(ctx,
                   AddHistogramSummary(tag, ctx->input(1), name(), &summary));
    SetSummary(ctx, summary);
  }
};

#define HR_REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("ScalarSummary").Device(DEVICE_CPU).TypeConstraint<T>("T"),    \
      ScalarSummaryOp);                                                   \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("HistogramSummary").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      HistogramSummaryOp);
HR_CALL_REAL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER

class ImageSummaryOp : public OpKernel {
 public:
  explicit ImageSummaryOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_images", &max_images_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("bad_color", &bad_color_));
    OP_REQUIRES(
        ctx, bad_color_.dtype() == DT_UINT8 && bad_color_.dims() == 1,
        errors::InvalidArgument("bad_color must be a uint8 vector, got ",
                                DataTypeString(bad_color_.dtype()), " ",
                                bad_color_.shape().DebugString()));
  }

  void Compute(OpKernelContext* ctx) override {
    std::string tag;
    OP_REQUIRES_OK(ctx, ReadTag(ctx->input(0), &tag));
    pb::Summary summary;
    OP_REQUIRES_OK(ctx, AddImageSummary(ctx, tag, ctx->input(1), max_images_,
                                        bad_color_, &summary));
    SetSummary(ctx, summary);
  }

 private:
  int64_t max_images_ = 3;
  Tensor bad_color_;
};
REGISTER_KERNEL_BUILDER(Name("ImageSummary").Device(DEVICE_CPU),
                        ImageSummaryOp);

class AudioSummaryOp : public OpKernel {
 public:
  explicit AudioSummaryOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_outputs", &max_outputs_));
    if (ctx->num_inputs() == 2) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("sample_rate", &sample_rate_));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    std::string tag;
    OP_REQUIRES_OK(ctx, ReadTag(ctx->input(0), &tag));
    float rate = sample_rate_;
    if (ctx->num_inputs() == 3) {
      const Tensor& t = ctx->input(2);
      OP_REQUIRES(ctx, t.dims() == 0,
                  errors::InvalidArgument("sample_rate must be a scalar, got ",
                                          t.shape().DebugString()));
      rate = t.scalar<float>();
    }
    pb::Summary summary;
    OP_REQUIRES_OK(
        ctx, AddAudioSummary(tag, ctx->input(1), rate, max_outputs_, &summary));
    SetSummary(ctx, summary);
  }

 private:
  int64_t max_outputs_ = 3;
  float sample_rate_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("AudioSummary").Device(DEVICE_CPU),
                        AudioSummaryOp);
REGISTER_KERNEL_BUILDER(Name("AudioSummaryV2").Device(DEVICE_CPU),
                        AudioSummaryOp);

class TensorSummaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    pb::Summary summary;
    if (ctx->num_inputs() == 3) {
      std::string tag;
      OP_REQUIRES_OK(ctx, ReadTag(ctx->input(0), &tag));
      const Tensor& metadata = ctx->input(2);
      OP_REQUIRES(ctx, metadata.dims() == 0,
                  errors::InvalidArgument(
                      "serialized_summary_metadata must be a scalar, got ",
                      metadata.shape().DebugString()));
      OP_REQUIRES_OK(
          ctx, AddTensorSummary(tag, ctx->input(1), metadata.scalar<tstring>(),
                                &summary));
    } else {
      OP_REQUIRES_OK(ctx,
                     AddTensorSummary("", ctx->input(0), tstring(), &summary));
      pb::Summary::Value* v = summary.mutable_value(0);
      v->clear_metadata();
      v->set_node_name(name());
    }
    SetSummary(ctx, summary);
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorSummary").Device(DEVICE_CPU),
                        TensorSummaryOp);
REGISTER_KERNEL_BUILDER(Name("TensorSummaryV2").Device(DEVICE_CPU),
                        TensorSummaryOp);

class MergeSummaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    pb::Summary merged;
    absl::flat_hash_set<std::string> tags;
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      for (const tstring& bytes : ctx->input(i).flat<tstring>()) {
        pb::Summary summary;
        OP_REQUIRES(ctx,
                    bytes.size() <= std::numeric_limits<int>::max() &&
                        summary.ParseFromArray(bytes.data(),
                                               static_cast<int>(bytes.size())),
                    errors::InvalidArgument("Could not parse one of the "
                                            "summary inputs: input ",
                                            i, " is no Summary message"));
        for (pb::Summary::Value& v : *summary.mutable_value()) {
          OP_REQUIRES(ctx, v.tag().empty() || tags.insert(v.tag()).second,
                      errors::InvalidArgument("Duplicate tag ", v.tag(),
                                              " found in summary inputs"));
          merged.add_value()->Swap(&v);
        }
      }
    }
    SetSummary(ctx, merged);
  }
};
REGISTER_KERNEL_BUILDER(Name("MergeSummary").Device(DEVICE_CPU),
                        MergeSummaryOp);

}  // namespace
}  // namespace headrace
