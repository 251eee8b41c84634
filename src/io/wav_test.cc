#include "io/wav.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/match.h"

namespace headrace {
namespace {

std::string Stereo() {
  const std::vector<float> audio = {0, 0.5f, -0.5f, 1, -1, 0.25f};
  std::string bytes;
  EXPECT_EQ(EncodeWav(audio.data(), 3, 2, 8000, &bytes), OkStatus());
  return bytes;
}

TEST(WavTest, RoundTrip) {
  WavView wav;
  const std::string bytes = Stereo();
  ASSERT_EQ(ParseWav(bytes, &wav), OkStatus());
  EXPECT_EQ(wav.samples, 3);
  EXPECT_EQ(wav.channels, 2);
  EXPECT_EQ(wav.sample_rate, 8000);
  EXPECT_EQ(wav.at(0, 1), 0.5f);
  EXPECT_EQ(wav.at(1, 0), -0.5f);
  EXPECT_EQ(wav.at(1, 1), 32767.0f / 32768);  // 1 is beyond the largest sample
  EXPECT_EQ(wav.at(2, 0), -1.0f);
}

TEST(WavTest, EveryTruncationIsRefused) {
  const std::string bytes = Stereo();
  for (size_t n = 0; n < bytes.size(); ++n) {
    // A heap copy of that very size, so that a sanitizer sees a read beyond.
    const std::vector<char> cut(bytes.begin(), bytes.begin() + n);
    WavView wav;
    EXPECT_FALSE(ParseWav(absl::string_view(cut.data(), n), &wav).ok()) << n;
  }
}

// No byte of the header may make the parser read outside of the file.
TEST(WavTest, EveryByteMayLie) {
  const std::string bytes = Stereo();
  for (size_t at = 0; at < 44; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::vector<char> changed(bytes.begin(), bytes.end());
      changed[at] = static_cast<char>(value);
      WavView wav;
      if (!ParseWav(absl::string_view(changed.data(), changed.size()), &wav)
               .ok()) {
        continue;
      }
      ASSERT_LE(wav.samples * wav.channels * 2,
                static_cast<int64_t>(wav.pcm.size()));
      float sum = 0;
      for (int64_t s = 0; s < wav.samples; ++s) {
        for (int c = 0; c < wav.channels; ++c) sum += wav.at(s, c);
      }
      EXPECT_LE(sum, 6.0f);
    }
  }
}

TEST(WavTest, SkipsOtherChunks) {
  std::string bytes = Stereo();
  bytes.insert(36, std::string("LIST\3\0\0\0abc", 11));
  bytes += std::string("id3 \1\0\0\0x", 9);
  WavView wav;
  ASSERT_EQ(ParseWav(bytes, &wav), OkStatus());
  EXPECT_EQ(wav.samples, 3);
}

struct Lie {
  const char* name;
  size_t at;
  std::string bytes;
  const char* message;
};

TEST(WavTest, Lies) {
  auto le32 = [](uint32_t v) {
    return std::string(reinterpret_cast<const char*>(&v), 4);
  };
  const std::vector<Lie> lies = {
      {"riff", 0, "RIFX", "Header mismatch: Expected RIFF but found RIFX"},
      {"chunk", 16, le32(40), "Expected 16 or 18, but got 40"},
      {"float", 20, std::string("\3\0", 2), "Expected 1 (PCM), but got 3"},
      {"channels", 22, std::string("\0\0", 2), "Bad number of channels"},
      {"rate", 24, le32(0x80000000), "Bad sample rate"},
      {"rate2", 24, le32(8001), "Bad bytes per second"},
      {"frame", 32, std::string("\2\0", 2), "Bad bytes per sample"},
      {"bits", 34, std::string("\10\0", 2), "Can only read 16-bit WAV files"},
      {"long", 40, le32(16), "Data too short"},
      {"longest", 40, le32(0xffffffff), "Data too short"},
      {"no data", 36, "dota", "No data chunk found"},
  };
  for (const Lie& lie : lies) {
    std::string bytes = Stereo();
    bytes.replace(lie.at, lie.bytes.size(), lie.bytes);
    WavView wav;
    const Status s = ParseWav(bytes, &wav);
    EXPECT_TRUE(errors::IsInvalidArgument(s) &&
                absl::StrContains(s.message(), lie.message))
        << lie.name << ": " << s;
  }
  WavView wav;
  const std::string twice = Stereo() + std::string("data\2\0\0\0ab", 10);
  EXPECT_TRUE(absl::StrContains(ParseWav(twice, &wav).message(),
                                "More than one data chunk"));
}

TEST(WavTest, TheRateMayNeedAll32Bits) {
  std::string bytes;
  const float x = 0;
  ASSERT_EQ(EncodeWav(&x, 1, 1, 4000000000, &bytes), OkStatus());
  EXPECT_EQ(bytes.substr(24, 4), std::string("\x00\x28\x6b\xee", 4));
  EXPECT_FALSE(EncodeWav(&x, 1, 1, int64_t{1} << 32, &bytes).ok());
}

TEST(WavTest, RefusesWhatAFileCannotHold) {
  std::string bytes;
  const float x = 0;
  EXPECT_FALSE(EncodeWav(&x, 1, 1, 0, &bytes).ok());
  EXPECT_FALSE(EncodeWav(&x, 1, 0, 8000, &bytes).ok());
  EXPECT_FALSE(EncodeWav(&x, 1, 1 << 16, 8000, &bytes).ok());
  EXPECT_FALSE(EncodeWav(&x, int64_t{1} << 31, 1, 8000, &bytes).ok());
}

}  // namespace
}  // namespace headrace
