// RIFF/WAVE files of uncompressed 16-bit samples.
#ifndef HEADRACE_IO_WAV_H_
#define HEADRACE_IO_WAV_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "headrace/status.h"

namespace headrace {

// What a file holds; `pcm` points into the bytes that were parsed:
// little-endian int16, `channels` of them for each of `samples` moments.
struct WavView {
  int64_t samples = 0;
  int channels = 0;
  int32_t sample_rate = 0;
  absl::string_view pcm;

  float at(int64_t sample, int channel) const {
    const size_t i = 2 * static_cast<size_t>(sample * channels + channel);
    const auto low = static_cast<unsigned char>(pcm[i]);
    const auto high = static_cast<unsigned char>(pcm[i + 1]);
    return static_cast<float>(static_cast<int16_t>(high << 8 | low)) / 32768.0f;
  }
};

// InvalidArgument for anything but 16-bit PCM, for a header that contradicts
// itself and for chunks that are longer than the file.
Status ParseWav(absl::string_view bytes, WavView* out);

// `audio` is [samples, channels], row-major; what is beyond [-1, 1) is clipped.
Status EncodeWav(const float* audio, int64_t samples, int64_t channels,
                 int64_t sample_rate, std::string* bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_WAV_H_
