#include "cli/feed.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "io/image.h"
#include "io/npy.h"

namespace headrace::cli {
namespace {

// Stores a double as any numeric type; false for others.
bool Store(double v, Tensor* t, int64_t i) {
  switch (t->dtype()) {
#define HR_STORE(T)                      \
  case DataTypeToEnum<T>::value:         \
    t->data<T>()[i] = static_cast<T>(v); \
    return true;
    HR_CALL_INT_TYPES(HR_STORE)
    HR_STORE(float)
    HR_STORE(double)
#undef HR_STORE
    case DT_HALF:
      t->data<half>()[i] = static_cast<half>(static_cast<float>(v));
      return true;
    case DT_BFLOAT16:
      t->data<bfloat16>()[i] = static_cast<bfloat16>(static_cast<float>(v));
      return true;
    case DT_BOOL:
      t->data<bool>()[i] = v != 0;
      return true;
    default:
      return false;
  }
}

double Load(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
#define HR_LOAD(T)               \
  case DataTypeToEnum<T>::value: \
    return static_cast<double>(t.data<T>()[i]);
    HR_CALL_INT_TYPES(HR_LOAD)
    HR_CALL_FLOAT_TYPES(HR_LOAD)
    HR_LOAD(bool)
#undef HR_LOAD
    default:
      return 0;
  }
}

Status Convert(const Tensor& in, DataType dtype, Tensor* out) {
  if (in.dtype() == dtype) {
    *out = in;
    return OkStatus();
  }
  Tensor t;
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, in.shape(), &t));
  for (int64_t i = 0; i < in.NumElements(); ++i) {
    if (!Store(Load(in, i), &t, i)) {
      return errors::InvalidArgument("cannot make a ", DataTypeString(dtype),
                                     " of ", DataTypeString(in.dtype()));
    }
  }
  *out = std::move(t);
  return OkStatus();
}

// uint8 [h, w, c] to float [height, width, c]: each output pixel is the mean of
// the input area it covers when shrinking, bilinear when growing.
Tensor Resize(const Tensor& image, int64_t height, int64_t width) {
  const int64_t h = image.dim_size(0), w = image.dim_size(1),
                c = image.dim_size(2);
  Tensor out(DT_FLOAT, TensorShape({height, width, c}));
  if (!out.IsInitialized()) return out;
  struct Tap {
    int64_t from;
    std::vector<float> weights;
  };
  auto taps = [](int64_t in, int64_t n) {
    const double scale = static_cast<double>(in) / static_cast<double>(n);
    const double support = std::max(1.0, scale);
    std::vector<Tap> all(n);
    for (int64_t i = 0; i < n; ++i) {
      const double center = (static_cast<double>(i) + 0.5) * scale;
      const int64_t from = std::max<int64_t>(
          0, static_cast<int64_t>(std::floor(center - support)));
      const int64_t to = std::min<int64_t>(
          in, static_cast<int64_t>(std::ceil(center + support)));
      double sum = 0;
      all[i].from = from;
      for (int64_t k = from; k < to; ++k) {
        const double d =
            std::abs(static_cast<double>(k) + 0.5 - center) / support;
        const double weight = std::max(0.0, 1 - d);
        all[i].weights.push_back(static_cast<float>(weight));
        sum += weight;
      }
      for (float& v : all[i].weights) v /= static_cast<float>(sum);
    }
    return all;
  };
  const std::vector<Tap> rows = taps(h, height), columns = taps(w, width);
  const uint8_t* src = image.data<uint8_t>();
  std::vector<float> line(static_cast<size_t>(w * c));
  for (int64_t y = 0; y < height; ++y) {
    std::fill(line.begin(), line.end(), 0.f);
    for (size_t k = 0; k < rows[y].weights.size(); ++k) {
      const uint8_t* row =
          src + (rows[y].from + static_cast<int64_t>(k)) * w * c;
      for (int64_t i = 0; i < w * c; ++i) {
        line[i] += rows[y].weights[k] * static_cast<float>(row[i]);
      }
    }
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t ch = 0; ch < c; ++ch) {
        float sum = 0;
        for (size_t k = 0; k < columns[x].weights.size(); ++k) {
          sum += columns[x].weights[k] *
                 line[(columns[x].from + static_cast<int64_t>(k)) * c + ch];
        }
        out.data<float>()[(y * width + x) * c + ch] = sum;
      }
    }
  }
  return out;
}

Status MakePictureFeed(const std::string& path, const std::string& bytes,
                       DataType dtype, const PartialTensorShape& shape,
                       const FeedOptions& options, Tensor* out) {
  const int rank = shape.dims();
  if (!shape.unknown_rank() && rank != 3 && rank != 4) {
    return errors::InvalidArgument(
        "a picture gives [height,width,channels] or a batch of one; the input "
        "has shape ",
        shape.DebugString());
  }
  const int first = rank == 4 ? 1 : 0;
  // [.., h, w, c], or [.., c, h, w] if that is what the channels say.
  auto is_channels = [](int64_t d) { return d == 1 || d == 3 || d == 4; };
  bool nchw = false;
  int64_t height = -1, width = -1, channels = 3;
  if (!shape.unknown_rank()) {
    nchw = !is_channels(shape.dim_size(first + 2)) &&
           is_channels(shape.dim_size(first));
    height = shape.dim_size(first + (nchw ? 1 : 0));
    width = shape.dim_size(first + (nchw ? 2 : 1));
    const int64_t c = shape.dim_size(first + (nchw ? 0 : 2));
    if (c > 0) channels = c;
  }
  Tensor image;
  HR_RETURN_IF_ERROR(
      Annotate(DecodeImage(bytes, static_cast<int>(channels), &image),
               absl::StrCat(" (", path, ")")));
  if (height < 0) height = image.dim_size(0);
  if (width < 0) width = image.dim_size(1);
  Tensor pixels = Resize(image, height, width);
  if (!pixels.IsInitialized()) {
    return errors::ResourceExhausted("no memory for a picture of ", height,
                                     " x ", width);
  }
  for (float& v : pixels.flat<float>()) v = v * options.scale + options.offset;
  if (nchw) {
    Tensor t(DT_FLOAT, TensorShape({channels, height, width}));
    for (int64_t y = 0; y < height * width; ++y) {
      for (int64_t c = 0; c < channels; ++c) {
        t.data<float>()[c * height * width + y] =
            pixels.data<float>()[y * channels + c];
      }
    }
    pixels = std::move(t);
  }
  if (dtype == DT_UINT8) {
    for (float& v : pixels.flat<float>()) v = std::nearbyint(v);
  }
  return Convert(pixels, dtype, out);
}

// Values of type T, double or std::string, in nested brackets.
template <typename T>
class ListParserOf {
 public:
  explicit ListParserOf(absl::string_view text) : text_(text) {}

  Status Parse(std::vector<T>* values, std::vector<int64_t>* dims) {
    HR_RETURN_IF_ERROR(Value(0, values, dims));
    Skip();
    if (at_ != text_.size()) return Bad("text after the value");
    return OkStatus();
  }

 private:
  static constexpr int kMaxDepth = 32;

  void Skip() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  Status Bad(absl::string_view what) const {
    return errors::InvalidArgument("'", text_,
                                   std::is_same_v<T, double>
                                       ? "' is neither a file nor a number nor "
                                         "a list of numbers: "
                                       : "' is no list of strings in double "
                                         "quotes, as [\"a\", \"b\"]: ",
                                   what);
  }
  // Reads the value at at_, up to what follows it.
  Status Read(double* v) {
    const size_t end = text_.find_first_of(",] \t\n", at_);
    const absl::string_view word = text_.substr(at_, end - at_);
    if (word == "true") {
      *v = 1;
    } else if (word != "false" && !absl::SimpleAtod(word, v)) {
      return Bad(absl::StrCat("'", word, "'"));
    }
    at_ = end == absl::string_view::npos ? text_.size() : end;
    return OkStatus();
  }
  // A backslash stands before a quote or a backslash of the string.
  Status Read(std::string* v) {
    if (text_[at_] != '"') return Bad("a string without quotes");
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && ++at_ == text_.size()) break;
      v->push_back(text_[at_]);
    }
    if (at_ >= text_.size()) return Bad("no quote at its end");
    ++at_;
    return OkStatus();
  }
  Status Value(int depth, std::vector<T>* values, std::vector<int64_t>* dims) {
    Skip();
    if (depth > kMaxDepth) return Bad("nested too deeply");
    if (at_ == text_.size()) return Bad("it ends too early");
    if (text_[at_] != '[') {
      if (static_cast<int>(dims->size()) > depth) return Bad("ragged list");
      T v{};
      HR_RETURN_IF_ERROR(Read(&v));
      values->push_back(std::move(v));
      return OkStatus();
    }
    ++at_;
    int64_t count = 0;
    for (;; ++count) {
      Skip();
      if (at_ < text_.size() && text_[at_] == ']') break;
      if (count > 0) {
        if (at_ == text_.size() || text_[at_] != ',') return Bad("no comma");
        ++at_;
      } else if (static_cast<int>(dims->size()) == depth) {
        dims->push_back(-1);
      }
      HR_RETURN_IF_ERROR(Value(depth + 1, values, dims));
    }
    ++at_;
    if (static_cast<int>(dims->size()) == depth) dims->push_back(-1);
    int64_t& dim = (*dims)[depth];
    if (dim >= 0 && dim != count) return Bad("ragged list");
    dim = count;
    return OkStatus();
  }

  const absl::string_view text_;
  size_t at_ = 0;
};
using ListParser = ListParserOf<double>;
using StringListParser = ListParserOf<std::string>;

// A list of strings in double quotes, or the text itself where the input is a
// scalar or may be one.
Status MakeStringFeed(const std::string& text, const PartialTensorShape& shape,
                      Tensor* out) {
  std::vector<std::string> values;
  std::vector<int64_t> dims;
  const bool is_list = absl::StartsWith(text, "[") && shape.dims() != 0;
  const Status s =
      is_list ? StringListParser(text).Parse(&values, &dims) : OkStatus();
  if (!is_list || (!s.ok() && shape.unknown_rank())) {
    *out = Tensor::Scalar<tstring>(text);
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(s);
  TensorShape list;
  HR_RETURN_IF_ERROR(TensorShape::Build(dims, &list));
  Tensor t;
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), DT_STRING, list, &t));
  for (size_t i = 0; i < values.size(); ++i) t.data<tstring>()[i] = values[i];
  *out = std::move(t);
  return OkStatus();
}

Status MakeLiteralFeed(const std::string& text, DataType dtype,
                       const PartialTensorShape& shape, Tensor* out) {
  if (dtype == DT_STRING) return MakeStringFeed(text, shape, out);
  std::vector<double> values;
  std::vector<int64_t> dims;
  HR_RETURN_IF_ERROR(ListParser(text).Parse(&values, &dims));
  TensorShape given;
  HR_RETURN_IF_ERROR(TensorShape::Build(dims, &given));
  Tensor t;
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, given, &t));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!Store(values[i], &t, static_cast<int64_t>(i))) {
      return errors::InvalidArgument("cannot make a ", DataTypeString(dtype),
                                     " from '", text, "'");
    }
  }
  *out = std::move(t);
  return OkStatus();
}

}  // namespace

Status MakeFeed(const std::string& text, DataType dtype,
                const PartialTensorShape& shape, const FeedOptions& options,
                Tensor* out) {
  Tensor t;
  const std::string lower = absl::AsciiStrToLower(text);
  const bool picture = absl::EndsWith(lower, ".png") ||
                       absl::EndsWith(lower, ".jpg") ||
                       absl::EndsWith(lower, ".jpeg");
  if (picture || absl::EndsWith(lower, ".npy")) {
    std::string bytes;
    HR_RETURN_IF_ERROR(Env::Default()->ReadFile(text, &bytes));
    if (picture && dtype == DT_STRING) {
      // The model decodes it itself.
      t = Tensor::Scalar<tstring>(bytes);
    } else if (picture) {
      HR_RETURN_IF_ERROR(
          MakePictureFeed(text, bytes, dtype, shape, options, &t));
    } else {
      Tensor array;
      HR_RETURN_IF_ERROR(
          Annotate(ParseNpy(bytes, &array), absl::StrCat(" (", text, ")")));
      HR_RETURN_IF_ERROR(Convert(array, dtype, &t));
    }
  } else {
    HR_RETURN_IF_ERROR(MakeLiteralFeed(text, dtype, shape, &t));
  }
  if (!shape.unknown_rank() && shape.dims() == t.dims() + 1) {
    TensorShape batched = t.shape();
    batched.InsertDim(0, 1);
    if (!t.CopyFrom(Tensor(t), batched)) {
      return errors::Internal("cannot add a batch dimension");
    }
  }
  if (!shape.IsCompatibleWith(t.shape())) {
    return errors::InvalidArgument("'", text, "' gives a value of shape ",
                                   t.shape().DebugString(), ", wanted ",
                                   shape.DebugString());
  }
  *out = std::move(t);
  return OkStatus();
}

}  // namespace headrace::cli
