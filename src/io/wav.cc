#include "io/wav.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/escaping.h"

namespace headrace {
namespace {

constexpr int kBytesOfSample = 2;
constexpr int kPcm = 1;

// Reads little-endian fields from the front. Every read checks the remaining
// size.
class Fields {
 public:
  explicit Fields(absl::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  Status Bytes(size_t n, absl::string_view* out) {
    if (n > rest_.size()) {
      return errors::InvalidArgument("Data too short when trying to read ", n,
                                     " bytes of a WAV file: ", rest_.size(),
                                     " are left");
    }
    *out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return OkStatus();
  }
  void Skip(size_t n) { rest_.remove_prefix(std::min(n, rest_.size())); }
  template <typename T>
  Status Number(T* out) {
    absl::string_view bytes;
    HR_RETURN_IF_ERROR(Bytes(sizeof(T), &bytes));
    T v = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      v |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    *out = v;
    return OkStatus();
  }
  Status Expect(absl::string_view tag) {
    absl::string_view got;
    HR_RETURN_IF_ERROR(Bytes(tag.size(), &got));
    if (got == tag) return OkStatus();
    return errors::InvalidArgument("Header mismatch: Expected ", tag,
                                   " but found ", absl::CHexEscape(got));
  }

 private:
  absl::string_view rest_;
};

Status Bad(absl::string_view what, int64_t expected, int64_t got) {
  return errors::InvalidArgument("Bad ", what, " in WAV header: Expected ",
                                 expected, " but got ", got);
}

// The "fmt " chunk, after its tag.
Status ParseFormat(Fields* in, WavView* out) {
  uint32_t size, rate, bytes_per_second;
  uint16_t format, channels, bytes_per_sample, bits;
  HR_RETURN_IF_ERROR(in->Number(&size));
  if (size != 16 && size != 18) {
    return errors::InvalidArgument(
        "Bad format chunk size for WAV: Expected 16 or 18, but got ", size);
  }
  HR_RETURN_IF_ERROR(in->Number(&format));
  if (format != kPcm) {
    return errors::InvalidArgument(
        "Bad audio format for WAV: Expected 1 (PCM), but got ", format);
  }
  HR_RETURN_IF_ERROR(in->Number(&channels));
  if (channels == 0) {
    return errors::InvalidArgument(
        "Bad number of channels for WAV: Expected at least 1, but got 0");
  }
  HR_RETURN_IF_ERROR(in->Number(&rate));
  HR_RETURN_IF_ERROR(in->Number(&bytes_per_second));
  HR_RETURN_IF_ERROR(in->Number(&bytes_per_sample));
  HR_RETURN_IF_ERROR(in->Number(&bits));
  if (bits != 8 * kBytesOfSample) {
    return errors::InvalidArgument(
        "Can only read 16-bit WAV files, but received ", bits);
  }
  if (bytes_per_sample != kBytesOfSample * channels) {
    return Bad("bytes per sample", kBytesOfSample * channels, bytes_per_sample);
  }
  if (rate > std::numeric_limits<int32_t>::max()) {
    return errors::InvalidArgument(
        "Bad sample rate in WAV header: at most 2^31 - 1 is possible, got ",
        rate);
  }
  if (bytes_per_second != uint64_t{bytes_per_sample} * rate) {
    return Bad("bytes per second", int64_t{bytes_per_sample} * rate,
               bytes_per_second);
  }
  absl::string_view extension;
  HR_RETURN_IF_ERROR(in->Bytes(size - 16, &extension));
  out->channels = channels;
  out->sample_rate = static_cast<int32_t>(rate);
  return OkStatus();
}

void PutNumber(uint64_t v, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(v >> 8 * i));
}

}  // namespace

Status ParseWav(absl::string_view bytes, WavView* out) {
  Fields in(bytes);
  WavView wav;
  uint32_t file_size;  // often wrong in files that were streamed; not used
  HR_RETURN_IF_ERROR(in.Expect("RIFF"));
  HR_RETURN_IF_ERROR(in.Number(&file_size));
  HR_RETURN_IF_ERROR(in.Expect("WAVE"));
  HR_RETURN_IF_ERROR(in.Expect("fmt "));
  HR_RETURN_IF_ERROR(ParseFormat(&in, &wav));
  bool found = false;
  while (!in.done()) {
    absl::string_view tag, contents;
    uint32_t size;
    HR_RETURN_IF_ERROR(in.Bytes(4, &tag));
    HR_RETURN_IF_ERROR(in.Number(&size));
    if (tag != "data") {
      in.Skip(size);  // what is cut off at the end is not missed
      continue;
    }
    if (found) {
      return errors::InvalidArgument("More than one data chunk found in WAV");
    }
    found = true;
    const int frame = kBytesOfSample * wav.channels;
    wav.samples = size / frame;
    HR_RETURN_IF_ERROR(in.Bytes(wav.samples * frame, &contents));
    wav.pcm = contents;
  }
  if (!found) return errors::InvalidArgument("No data chunk found in WAV");
  *out = wav;
  return OkStatus();
}

Status EncodeWav(const float* audio, int64_t samples, int64_t channels,
                 int64_t sample_rate, std::string* bytes) {
  constexpr int64_t kMaxSize = std::numeric_limits<uint32_t>::max();
  constexpr int64_t kMaxChannels = std::numeric_limits<uint16_t>::max();
  constexpr int kHeader = 44;
  if (sample_rate < 1 || sample_rate > kMaxSize) {
    return errors::InvalidArgument("sample_rate must be in (0, 2^32), got: ",
                                   sample_rate);
  }
  if (channels < 1 || channels > kMaxChannels / kBytesOfSample) {
    return errors::InvalidArgument("num_channels must be in (0, 2^15), got: ",
                                   channels);
  }
  const int64_t frame = kBytesOfSample * channels;
  if (samples > (kMaxSize - kHeader) / frame) {
    return errors::InvalidArgument("audio of ", samples, " samples of ",
                                   channels,
                                   " channels does not fit into a WAV file");
  }
  const int64_t size = samples * frame;
  std::string out;
  out.reserve(kHeader + size);
  out += "RIFF";
  PutNumber(kHeader - 8 + size, 4, &out);
  out += "WAVEfmt ";
  PutNumber(16, 4, &out);
  PutNumber(kPcm, 2, &out);
  PutNumber(channels, 2, &out);
  PutNumber(sample_rate, 4, &out);
  // Bytes a second: readers do not need them, and they may not fit.
  PutNumber(sample_rate * frame % (int64_t{1} << 32), 4, &out);
  PutNumber(frame, 2, &out);
  PutNumber(8 * kBytesOfSample, 2, &out);
  out += "data";
  PutNumber(size, 4, &out);
  for (int64_t i = 0; i < samples * channels; ++i) {
    float v = std::round(audio[i] * 32768.0f);
    v = std::isnan(v) ? 0.0f : std::clamp(v, -32768.0f, 32767.0f);
    PutNumber(static_cast<uint16_t>(static_cast<int16_t>(v)), 2, &out);
  }
  *bytes = std::move(out);
  return OkStatus();
}

}  // namespace headrace
