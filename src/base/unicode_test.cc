#include "base/unicode.h"

#include <gtest/gtest.h>

#include <vector>

namespace headrace {
namespace {

using std::string_literals::operator""s;

std::vector<int32_t> Decode(Encoding encoding, const std::string& bytes) {
  std::vector<int32_t> chars;
  for (CharReader r(encoding, bytes); !r.done();) chars.push_back(r.Next());
  return chars;
}
using Chars = std::vector<int32_t>;

TEST(UnicodeTest, Utf8) {
  EXPECT_EQ(Decode(Encoding::kUtf8, "a\u00e9\u65e5\U0001d11e"),
            (Chars{'a', 0xe9, 0x65e5, 0x1d11e}));
  // One error for the longest run that could have begun a character.
  EXPECT_EQ(Decode(Encoding::kUtf8,
                   "\xe3\x81"
                   "a"),
            (Chars{-1, 'a'}));
  EXPECT_EQ(Decode(Encoding::kUtf8, "\xf0\x90\x90"), (Chars{-1}));
  EXPECT_EQ(Decode(Encoding::kUtf8, "\xc0\x80"), (Chars{-1, -1}));
  EXPECT_EQ(Decode(Encoding::kUtf8, "\xed\xa0\x80"), (Chars{-1, -1, -1}));
  EXPECT_EQ(Decode(Encoding::kUtf8, "\xf4\x90\x80\x80"),
            (Chars{-1, -1, -1, -1}));
  EXPECT_EQ(Decode(Encoding::kUtf8, "\xff\xfe"), (Chars{-1, -1}));
}

TEST(UnicodeTest, Utf16And32) {
  EXPECT_EQ(Decode(Encoding::kUtf16Be, "\xd8\x34\xdd\x1e\0a"s),
            (Chars{0x1d11e, 'a'}));
  EXPECT_EQ(Decode(Encoding::kUtf16Le, "a\0\x34\xd8\x1e\xdd"s),
            (Chars{'a', 0x1d11e}));
  EXPECT_EQ(Decode(Encoding::kUtf16,
                   "\xff\xfe"
                   "a\0"s),
            (Chars{'a'}));
  EXPECT_EQ(Decode(Encoding::kUtf16, "\xfe\xff\0a"s), (Chars{'a'}));
  EXPECT_EQ(Decode(Encoding::kUtf16Be, "\xd8\x34\0a\0"s), (Chars{-1, 'a', -1}));
  EXPECT_EQ(Decode(Encoding::kUtf32Be, "\0\x01\xd1\x1e\0\x11\0\0\0"s),
            (Chars{0x1d11e, -1, -1}));
}

TEST(UnicodeTest, RoundTrip) {
  for (int32_t c = 0; c <= 0x10ffff; c += c < 0x3000 ? 1 : 97) {
    if (!IsScalarValue(c)) continue;
    for (Encoding e :
         {Encoding::kUtf8, Encoding::kUtf16Be, Encoding::kUtf32Be}) {
      std::string bytes;
      AppendChar(e, c, &bytes);
      ASSERT_EQ(Decode(e, bytes), (Chars{c})) << c;
    }
  }
}

TEST(UnicodeTest, Case) {
  std::string out;
  for (int32_t c : Chars{'a', 0xdf, 0xe9, 0x1c6, 0x10428}) AppendUpper(c, &out);
  EXPECT_EQ(out, "ASS\u00c9\u01c4\U00010400");
  out.clear();
  for (int32_t c : Chars{'A', 0x130, 0x3a3, 0x1c5, 0x10400})
    AppendLower(c, &out);
  EXPECT_EQ(out, "ai\u0307\u03c3\u01c6\U00010428");
}

TEST(UnicodeTest, Scripts) {
  EXPECT_EQ(ScriptOf('a'), 25);       // Latin
  EXPECT_EQ(ScriptOf(0x3b1), 14);     // Greek
  EXPECT_EQ(ScriptOf(' '), 0);        // Common
  EXPECT_EQ(ScriptOf(0xe0000), 103);  // not assigned
  EXPECT_EQ(ScriptOf(-1), -1);
  EXPECT_EQ(ScriptOf(0x110000), -1);
}

TEST(UnicodeTest, EncodingNames) {
  Encoding e;
  EXPECT_TRUE(ParseEncoding("Utf_16-be", &e).ok());
  EXPECT_EQ(e, Encoding::kUtf16Be);
  EXPECT_TRUE(errors::IsInvalidArgument(ParseEncoding("EBCDIC", &e)));
}

}  // namespace
}  // namespace headrace
