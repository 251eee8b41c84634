#include "headrace/strings.h"

#include <string>

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(StringsTest, Hash64IsTensorFlows) {
  // Recorded from TensorFlow: a frame id of tf.while_loop.
  EXPECT_EQ(Hash64(";0;W/while_context"), 15857256723215331151ull);
}

TEST(StringsTest, Hash64ReadsEveryByteAndNoMore) {
  const std::string text = "0123456789abcdef0123456";
  for (size_t n = 0; n <= text.size(); ++n) {
    const std::string copy = text.substr(0, n);
    EXPECT_EQ(Hash64(text.data(), n), Hash64(copy)) << n;
    for (size_t i = 0; i < n; ++i) {
      std::string other = copy;
      other[i] ^= 1;
      EXPECT_NE(Hash64(copy), Hash64(other)) << n << " " << i;
    }
  }
  EXPECT_NE(Hash64("a", 1, 1), Hash64("a", 1, 2));
}

TEST(StringsTest, StrCatTakesBothStringViews) {
  std::string s = StrCat(std::string_view("a"), absl::string_view("b"), 1, "c",
                         std::string("d"));
  EXPECT_EQ(s, "ab1cd");
  StrAppend(&s, std::string_view("e"), 2);
  EXPECT_EQ(s, "ab1cde2");
}

TEST(StringsTest, Identifiers) {
  for (const char* good : {"a", "_", "A9_", "while_context"}) {
    EXPECT_TRUE(IsIdentifier(good)) << good;
  }
  for (const char* bad : {"", "9a", "a-b", "a b", "\xc3\xa9", "a/b"}) {
    EXPECT_FALSE(IsIdentifier(bad)) << bad;
  }
}

}  // namespace
}  // namespace headrace
