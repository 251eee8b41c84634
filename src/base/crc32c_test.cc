#include "base/crc32c.h"

#include <string>

#include "gtest/gtest.h"

namespace headrace::crc32c {
namespace {

// RFC 3720, section B.4, and the usual check word.
TEST(Crc32cTest, StandardVectors) {
  std::string up(32, '\0');
  std::string down(32, '\0');
  for (int i = 0; i < 32; ++i) {
    up[i] = static_cast<char>(i);
    down[i] = static_cast<char>(31 - i);
  }
  const struct {
    std::string data;
    uint32_t crc;
  } kCases[] = {{"", 0u},
                {"123456789", 0xe3069283u},
                {std::string(32, '\0'), 0x8a9136aau},
                {std::string(32, '\xff'), 0x62a8ab43u},
                {up, 0x46dd794eu},
                {down, 0x113fdb5cu}};
  for (const auto& c : kCases) {
    EXPECT_EQ(Value(c.data), c.crc);
    EXPECT_EQ(internal::ExtendTable(0, c.data.data(), c.data.size()), c.crc);
  }
}

TEST(Crc32cTest, InstructionAgreesWithTable) {
  std::string data(40000, '\0');
  uint32_t x = 1;
  for (char& c : data)
    c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (size_t n :
       {1, 7, 8, 9, 63, 2048, 6143, 6144, 6145, 12288, 20000, 39000}) {
    for (size_t offset : {0, 1, 5}) {
      EXPECT_EQ(Value(data.data() + offset, n),
                internal::ExtendTable(0, data.data() + offset, n))
          << n << " at " << offset;
    }
  }
}

TEST(Crc32cTest, ExtendJoins) {
  const std::string a = "hello ";
  const std::string b = "world";
  EXPECT_EQ(Extend(Value(a), b.data(), b.size()), Value(a + b));
}

TEST(Crc32cTest, MaskIsUndoneByUnmask) {
  const uint32_t crc = Value("foo");
  EXPECT_NE(Mask(crc), crc);
  EXPECT_NE(Mask(Mask(crc)), crc);
  EXPECT_EQ(Unmask(Mask(crc)), crc);
  EXPECT_EQ(Unmask(Unmask(Mask(Mask(crc)))), crc);
  EXPECT_EQ(Mask(0), 0xa282ead8u);
}

}  // namespace
}  // namespace headrace::crc32c
