#include "kernels/io/summary_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "framework/op/tensor_proto.h"
#include "io/image.h"
#include "io/wav.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {
namespace {

// Calls fn with the elements of a tensor of real numbers or booleans.
template <typename F>
void WithRealNumbers(const Tensor& t, const F& fn) {
  switch (t.dtype()) {
#define HR_CASE(T)               \
  case DataTypeToEnum<T>::value: \
    return fn(t.span<T>());
    HR_CALL_REAL_NUMBER_TYPES(HR_CASE)
    HR_CASE(bool)
#undef HR_CASE
    default:
      return;
  }
}

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

Status AsBytes(OpKernelContext* ctx, const Tensor& image, int64_t depth,
               const Tensor& bad_color, Tensor* out) {
  if (image.dtype() == DT_UINT8) {
    *out = image;
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(ctx->allocate_temp(DT_UINT8, image.shape(), out));
  const int64_t pixels = image.NumElements() / depth;
  const uint8_t* bad = bad_color.data<uint8_t>();
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

}  // namespace

void AddScalarSummary(const std::string& tag, const Tensor& values, int64_t i,
                      pb::Summary* summary) {
  pb::Summary::Value* v = summary->add_value();
  v->set_tag(tag);
  WithRealNumbers(values, [&](const auto& span) {
    v->set_simple_value(static_cast<float>(span[i]));
  });
}

SummaryHistogram::SummaryHistogram()
    : buckets_(BucketLimits().size()),
      min_(std::numeric_limits<double>::max()),
      max_(-min_) {}

void SummaryHistogram::Add(double x) {
  const std::vector<double>& limits = BucketLimits();
  const auto at = std::upper_bound(limits.begin(), limits.end(), x);
  // The largest double has no limit above it.
  ++buckets_[std::min<size_t>(at - limits.begin(), limits.size() - 1)];
  min_ = std::min(min_, x);
  max_ = std::max(max_, x);
  ++num_;
  sum_ += x;
  squares_ += x * x;
}

void SummaryHistogram::AddTo(const std::string& tag,
                             pb::Summary* summary) const {
  const std::vector<double>& limits = BucketLimits();
  pb::Summary::Value* v = summary->add_value();
  v->set_tag(tag);
  pb::HistogramProto* h = v->mutable_histo();
  h->set_min(min_);
  h->set_max(max_);
  h->set_num(num_);
  h->set_sum(sum_);
  h->set_sum_squares(squares_);
  // A run of empty buckets is written as one.
  for (size_t i = 0; i < buckets_.size();) {
    const double count = buckets_[i];
    double limit = limits[i++];
    while (count == 0 && i < buckets_.size() && buckets_[i] == 0) {
      limit = limits[i++];
    }
    h->add_bucket_limit(limit);
    h->add_bucket(count);
  }
}

Status AddHistogramSummary(const std::string& tag, const Tensor& values,
                           const std::string& node, pb::Summary* summary) {
  SummaryHistogram histogram;
  Status status;
  WithRealNumbers(values, [&](const auto& span) {
    for (const auto& value : span) {
      const double x = static_cast<double>(value);
      if (!std::isfinite(x)) {
        status = errors::InvalidArgument(std::isnan(x) ? "Nan" : "Infinity",
                                         " in summary histogram for: ", node);
        return;
      }
      histogram.Add(x);
    }
  });
  HR_RETURN_IF_ERROR(status);
  histogram.AddTo(tag, summary);
  return OkStatus();
}

Status AddImageSummary(OpKernelContext* ctx, const std::string& tag,
                       const Tensor& images, int64_t max_images,
                       const Tensor& bad_color, pb::Summary* summary) {
  const int64_t depth = images.dims() == 4 ? images.dim_size(3) : 0;
  if (depth != 1 && depth != 3 && depth != 4) {
    return errors::InvalidArgument(
        "Tensor must be 4-D with last dim 1, 3, or 4, not ",
        images.shape().DebugString());
  }
  if (images.dtype() != DT_UINT8 && bad_color.NumElements() < depth) {
    return errors::InvalidArgument(
        "expected depth <= bad_color.size, got depth = ", depth,
        ", bad_color.size = ", bad_color.NumElements());
  }
  const int64_t n = std::min(max_images, images.dim_size(0));
  for (int64_t i = 0; i < n; ++i) {
    Tensor pixels;
    HR_RETURN_IF_ERROR(
        AsBytes(ctx, images.SubSlice(i), depth, bad_color, &pixels));
    pb::Summary::Value* v = summary->add_value();
    v->set_tag(max_images > 1 ? StrCat(tag, "/image/", i)
                              : StrCat(tag, "/image"));
    pb::Summary::Image* image = v->mutable_image();
    image->set_height(static_cast<int32_t>(pixels.dim_size(0)));
    image->set_width(static_cast<int32_t>(pixels.dim_size(1)));
    image->set_colorspace(static_cast<int32_t>(depth));
    HR_RETURN_IF_ERROR(
        EncodePng(pixels, -1, image->mutable_encoded_image_string()));
  }
  return OkStatus();
}

Status AddAudioSummary(const std::string& tag, const Tensor& audio, float rate,
                       int64_t max_outputs, pb::Summary* summary) {
  if (audio.dims() != 2 && audio.dims() != 3) {
    return errors::InvalidArgument("Tensor must be 3-D or 2-D, got: ",
                                   audio.shape().DebugString());
  }
  // False for NaN too.
  if (!(rate > 0)) {
    return errors::InvalidArgument("sample_rate must be > 0, got ", rate);
  }
  if (rate >= 4294967296.f) {
    return errors::InvalidArgument("sample_rate must be in (0, 2^32), got: ",
                                   rate);
  }
  // A WAV file has a whole number.
  const int64_t wav_rate = std::max<int64_t>(std::llrint(rate), 1);
  const int64_t frames = audio.dim_size(1);
  const int64_t channels = audio.dims() == 3 ? audio.dim_size(2) : 1;
  const int64_t n = std::min(max_outputs, audio.dim_size(0));
  for (int64_t i = 0; i < n; ++i) {
    pb::Summary::Value* v = summary->add_value();
    v->set_tag(max_outputs > 1 ? StrCat(tag, "/audio/", i)
                               : StrCat(tag, "/audio"));
    pb::Summary::Audio* out = v->mutable_audio();
    out->set_sample_rate(rate);
    out->set_num_channels(channels);
    out->set_length_frames(frames);
    out->set_content_type("audio/wav");
    HR_RETURN_IF_ERROR(EncodeWav(audio.data<float>() + i * frames * channels,
                                 frames, channels, wav_rate,
                                 out->mutable_encoded_audio_string()));
  }
  return OkStatus();
}

Status AddTensorSummary(const std::string& tag, const Tensor& tensor,
                        const tstring& metadata, pb::Summary* summary) {
  if (tensor.dtype() == DT_RESOURCE || tensor.dtype() == DT_VARIANT) {
    return errors::Unimplemented("tensors of type ",
                                 DataTypeString(tensor.dtype()),
                                 " have no serialised form");
  }
  pb::Summary::Value* v = summary->add_value();
  v->set_tag(tag);
  if (!v->mutable_metadata()->ParseFromString(std::string(metadata))) {
    return errors::InvalidArgument(
        "serialized_summary_metadata is no SummaryMetadata message");
  }
  TensorToProto(tensor, v->mutable_tensor());
  return OkStatus();
}

}  // namespace headrace
