// RIFF/WAVE files with uncompressed 16-bit samples. Thread-safe.
#ifndef HEADRACE_IO_WAV_H_
#define HEADRACE_IO_WAV_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "headrace/status.h"

namespace headrace {

// A parsed file. `pcm` points into the parsed bytes. They are little-endian
// int16 [samples, channels], row-major.
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

// InvalidArgument for anything but 16-bit PCM, for a contradictory header, and
// for chunks longer than the file.
Status ParseWav(absl::string_view bytes, WavView* out);

// `audio` is [samples, channels], row-major. Values outside [-1, 1) are
// clipped.
Status EncodeWav(const float* audio, int64_t samples, int64_t channels,
                 int64_t sample_rate, std::string* bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_WAV_H_
