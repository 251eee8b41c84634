// WAV files.
#include "io/wav.h"

#include "fuzz_target.h"

namespace headrace {
FUZZ_TARGET(wav) {
  WavView wav;
  if (!ParseWav(bytes, &wav).ok() || wav.samples == 0) return;
  for (int c = 0; c < wav.channels; ++c) {
    volatile float sample = wav.at(0, c) + wav.at(wav.samples - 1, c);
    (void)sample;
  }
}
}  // namespace headrace
