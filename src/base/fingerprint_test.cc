#include "base/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

// The reference implementation's first vectors: key 00 01 .. 0f, message 00 01
// .. (n-1).
TEST(FingerprintTest, SipHashVectors) {
  constexpr uint64_t kWant[] = {0x726fdb47dd0e0e31, 0x74f839c593dc67fd,
                                0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
                                0xcf2794e0277187b7, 0x18765564cd99a68d,
                                0xcbc9466e58fee3ce, 0xab0200f58b01d137,
                                0x93f5f5799a932462, 0x9e0082df0ba9e4b0};
  std::string message;
  for (uint64_t want : kWant) {
    EXPECT_EQ(SipHash(0x0706050403020100, 0x0f0e0d0c0b0a0908, message), want)
        << message.size();
    message.push_back(static_cast<char>(message.size()));
  }
}

// Values from TensorFlow 2.21: one of each length class, and its borders.
TEST(FingerprintTest, FarmHashOfEveryLengthClass) {
  constexpr struct {
    int length;
    uint64_t want;
  } kCases[] = {
      {0, 0x9ae16a3b2f90404f},  {1, 0xb3454265b6df75e3},
      {4, 0x7b803bc75cee3292},  {5, 0x969ddbc7b16f9509},
      {8, 0x93b52af6d9b92820},  {16, 0xf496a3696582095e},
      {17, 0x1f0c64814df23a1a}, {32, 0x9636decce0f119bc},
      {33, 0x6fa5de3a3dd81cac}, {64, 0xe01e9a6d5635769e},
      {65, 0x266a26491da9530d}, {128, 0x917472f7f980118d},
      {129, 0xeb7d4a2cddb5078}, {300, 0x6d8c60e9557bdd86},
  };
  for (const auto& c : kCases) {
    std::string text;
    for (int i = 0; i < c.length; ++i) {
      text.push_back(static_cast<char>('a' + i * 7 % 26));
    }
    EXPECT_EQ(Fingerprint64(text), c.want) << c.length;
  }
}

}  // namespace
}  // namespace headrace
