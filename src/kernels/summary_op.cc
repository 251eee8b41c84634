// ScalarSummary, HistogramSummary, ImageSummary, AudioSummary, TensorSummary
// and MergeSummary: what a step has to report, as a serialised Summary message
// that event files hold.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "framework/op_kernel.h"
#include "framework/tensor_proto.h"
#include "headrace/summary.pb.h"
#include "io/image.h"
#include "io/wav.h"
#include "kernels/narrow_float.h"

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

template <typename T>
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
      pb::Summary::Value* v = summary.add_value();
      v->set_tag(std::string(tags.data<tstring>()[i]));
      v->set_simple_value(static_cast<float>(values.data<T>()[i]));
    }
    SetSummary(ctx, summary);
  }
};

// The upper limits of the buckets: 0, and powers of 1.1 from 1e-12 to 1e20 with
// both signs. A value is in the first bucket whose limit is greater.
const std::vector<double>& BucketLimits() {
  static const auto* limits = [] {
    auto* all = new std::vector<double>;
    for (double v = 1e-12; v < 1e20; v *= 1.1) all->push_back(v);
    all->push_back(std::numeric_limits<double>::max());
    std::vector<double> negative;
    for (double v : *all) negative.push_back(-v);
    negative.insert(negative.begin(), 0.0);
    all->insert(all->begin(), negative.rbegin(), negative.rend());
    return all;
  }();
  return *limits;
}

template <typename T>
class HistogramSummaryOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::string tag;
    OP_REQUIRES_OK(ctx, ReadTag(ctx->input(0), &tag));
    const Tensor& values = ctx->input(1);
    const std::vector<double>& limits = BucketLimits();
    std::vector<double> buckets(limits.size());
    pb::Summary summary;
    pb::Summary::Value* v = summary.add_value();
    v->set_tag(tag);
    pb::HistogramProto* h = v->mutable_histo();
    double min = std::numeric_limits<double>::max(), max = -min;
    double sum = 0, squares = 0;
    for (const T& value : values.flat<T>()) {
      const double x = static_cast<double>(value);
      OP_REQUIRES(
          ctx, std::isfinite(x),
          errors::InvalidArgument(std::isnan(x) ? "Nan" : "Infinity",
                                  " in summary histogram for: ", name()));
      const auto at = std::upper_bound(limits.begin(), limits.end(), x);
      // The largest double has no limit above it.
      ++buckets[std::min<size_t>(at - limits.begin(), limits.size() - 1)];
      min = std::min(min, x);
      max = std::max(max, x);
      sum += x;
      squares += x * x;
    }
    h->set_min(min);
    h->set_max(max);
    h->set_num(static_cast<double>(values.NumElements()));
    h->set_sum(sum);
    h->set_sum_squares(squares);
    // A run of empty buckets is written as one.
    for (size_t i = 0; i < buckets.size();) {
      const double count = buckets[i];
      double limit = limits[i++];
      while (count == 0 && i < buckets.size() && buckets[i] == 0) {
        limit = limits[i++];
      }
      h->add_bucket_limit(limit);
      h->add_bucket(count);
    }
    SetSummary(ctx, summary);
  }
};

#define HR_REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("ScalarSummary").Device(DEVICE_CPU).TypeConstraint<T>("T"),    \
      ScalarSummaryOp<T>);                                                \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("HistogramSummary").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      HistogramSummaryOp<T>);
HR_CALL_REAL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER

// One image of floats to bytes: values in [0, max] are scaled to [0, 255]; if
// some are negative, 0 becomes 128 and the largest magnitude 127 from there. A
// pixel that is not finite gets the bad colour.
template <typename T>
void NormalizeImage(const T* in, int64_t pixels, int64_t depth,
                    const uint8_t* bad_color, uint8_t* out) {
  using C = ComputeType<T>;
  const auto finite = [&](int64_t i) {
    for (int64_t c = 0; c < depth; ++c) {
      if (!std::isfinite(static_cast<C>(in[i * depth + c]))) return false;
    }
    return true;
  };
  float min = std::numeric_limits<float>::infinity(), max = -min;
  for (int64_t i = 0; i < pixels; ++i) {
    if (!finite(i)) continue;
    for (int64_t c = 0; c < depth; ++c) {
      const float v = static_cast<float>(in[i * depth + c]);
      min = std::min(min, v);
      max = std::max(max, v);
    }
  }
  constexpr float kZero = 1e-6f;
  T scale, offset;
  if (min < 0) {
    const float largest = std::max(std::abs(min), std::abs(max));
    scale = static_cast<T>(largest < kZero ? 0.f : 127.f / largest);
    offset = static_cast<T>(128.f);
  } else {
    scale = static_cast<T>(max < kZero ? 0.f : 255.f / max);
    offset = static_cast<T>(0.f);
  }
  for (int64_t i = 0; i < pixels; ++i) {
    const bool good = finite(i);
    for (int64_t c = 0; c < depth; ++c) {
      const C v =
          static_cast<C>(static_cast<T>(in[i * depth + c] * scale + offset));
      out[i * depth + c] =
          good ? static_cast<uint8_t>(v > 0 ? std::min(v, C(255)) : 0)
               : bad_color[c];
    }
  }
}

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
    const Tensor& images = ctx->input(1);
    const int64_t depth = images.dims() == 4 ? images.dim_size(3) : 0;
    OP_REQUIRES(ctx, depth == 1 || depth == 3 || depth == 4,
                errors::InvalidArgument(
                    "Tensor must be 4-D with last dim 1, 3, or 4, not ",
                    images.shape().DebugString()));
    OP_REQUIRES(ctx,
                images.dtype() == DT_UINT8 || bad_color_.NumElements() >= depth,
                errors::InvalidArgument(
                    "expected depth <= bad_color.size, got "
                    "depth = ",
                    depth, ", bad_color.size = ", bad_color_.NumElements()));
    const int64_t n = std::min(max_images_, images.dim_size(0));
    pb::Summary summary;
    for (int64_t i = 0; i < n; ++i) {
      Tensor pixels;
      OP_REQUIRES_OK(ctx, AsBytes(ctx, images.SubSlice(i), depth, &pixels));
      pb::Summary::Value* v = summary.add_value();
      v->set_tag(max_images_ > 1 ? StrCat(tag, "/image/", i)
                                 : StrCat(tag, "/image"));
      pb::Summary::Image* image = v->mutable_image();
      image->set_height(static_cast<int32_t>(pixels.dim_size(0)));
      image->set_width(static_cast<int32_t>(pixels.dim_size(1)));
      image->set_colorspace(static_cast<int32_t>(depth));
      OP_REQUIRES_OK(
          ctx, EncodePng(pixels, -1, image->mutable_encoded_image_string()));
    }
    SetSummary(ctx, summary);
  }

 private:
  Status AsBytes(OpKernelContext* ctx, const Tensor& image, int64_t depth,
                 Tensor* out) const {
    if (image.dtype() == DT_UINT8) {
      *out = image;
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT8, image.shape(), out));
    const int64_t pixels = image.NumElements() / depth;
    const uint8_t* bad = bad_color_.data<uint8_t>();
    uint8_t* to = out->data<uint8_t>();
    if (image.dtype() == DT_HALF) {
      NormalizeImage(image.data<half>(), pixels, depth, bad, to);
    } else if (image.dtype() == DT_FLOAT) {
      NormalizeImage(image.data<float>(), pixels, depth, bad, to);
    } else {
      NormalizeImage(image.data<double>(), pixels, depth, bad, to);
    }
    return OkStatus();
  }

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
    const Tensor& audio = ctx->input(1);
    OP_REQUIRES(ctx, audio.dims() == 2 || audio.dims() == 3,
                errors::InvalidArgument("Tensor must be 3-D or 2-D, got: ",
                                        audio.shape().DebugString()));
    float rate = sample_rate_;
    if (ctx->num_inputs() == 3) {
      const Tensor& t = ctx->input(2);
      OP_REQUIRES(ctx, t.dims() == 0,
                  errors::InvalidArgument("sample_rate must be a scalar, got ",
                                          t.shape().DebugString()));
      rate = t.scalar<float>();
    }
    OP_REQUIRES(ctx, rate > 0 && rate < 2147483648.f,
                errors::InvalidArgument("sample_rate must be > 0, got ", rate));
    const int64_t frames = audio.dim_size(1);
    const int64_t channels = audio.dims() == 3 ? audio.dim_size(2) : 1;
    const int64_t n = std::min(max_outputs_, audio.dim_size(0));
    pb::Summary summary;
    for (int64_t i = 0; i < n; ++i) {
      pb::Summary::Value* v = summary.add_value();
      v->set_tag(max_outputs_ > 1 ? StrCat(tag, "/audio/", i)
                                  : StrCat(tag, "/audio"));
      pb::Summary::Audio* out = v->mutable_audio();
      out->set_sample_rate(rate);
      out->set_num_channels(channels);
      out->set_length_frames(frames);
      out->set_content_type("audio/wav");
      OP_REQUIRES_OK(
          ctx, EncodeWav(audio.data<float>() + i * frames * channels, frames,
                         channels, static_cast<int64_t>(rate),
                         out->mutable_encoded_audio_string()));
    }
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
    pb::Summary::Value* v = summary.add_value();
    int tensor = 0;
    if (ctx->num_inputs() == 3) {
      tensor = 1;
      std::string tag;
      OP_REQUIRES_OK(ctx, ReadTag(ctx->input(0), &tag));
      v->set_tag(tag);
      const Tensor& metadata = ctx->input(2);
      OP_REQUIRES(ctx, metadata.dims() == 0,
                  errors::InvalidArgument(
                      "serialized_summary_metadata must be a scalar, got ",
                      metadata.shape().DebugString()));
      OP_REQUIRES(ctx,
                  v->mutable_metadata()->ParseFromString(
                      std::string(metadata.scalar<tstring>())),
                  errors::InvalidArgument("serialized_summary_metadata is no "
                                          "SummaryMetadata message"));
    } else {
      v->set_node_name(name());
    }
    const DataType type = ctx->input_dtype(tensor);
    OP_REQUIRES(ctx, type != DT_RESOURCE && type != DT_VARIANT,
                errors::Unimplemented("tensors of type ", DataTypeString(type),
                                      " have no serialised form"));
    TensorToProto(ctx->input(tensor), v->mutable_tensor());
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
