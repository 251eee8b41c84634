// Characters in bytes: UTF-8, UTF-16, UTF-32 and the one-byte encodings whose
// bytes are code points. Stateless, so thread-safe.
#ifndef HEADRACE_BASE_UNICODE_H_
#define HEADRACE_BASE_UNICODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "headrace/status.h"

namespace headrace {

enum class Encoding : uint8_t {
  kUtf8,
  kUtf16Be,
  kUtf16Le,
  kUtf16,  // by its byte order mark, big-endian without one
  kUtf32Be,
  kUtf32Le,
  kUtf32,
  kAscii,
  kLatin1,
};

// InvalidArgument for names that are not known here.
Status ParseEncoding(std::string_view name, Encoding* out);

// A code point that is not a surrogate.
constexpr bool IsScalarValue(int64_t c) {
  return (c >= 0 && c < 0xd800) || (c > 0xdfff && c <= 0x10ffff);
}

// The characters of a string, one after the other. Where bytes are no character
// the longest run of them that could have begun one counts as one error.
class CharReader {
 public:
  CharReader(Encoding encoding, std::string_view bytes);
  bool done() const { return at_ + mark_ >= bytes_.size(); }
  size_t position() const { return at_; }  // of the next character
  // The next code point, -1 where the bytes are malformed. Not when done().
  int32_t Next();

 private:
  int32_t NextUtf8();
  int32_t NextUtf16();
  int32_t NextUtf32();
  uint32_t Unit(size_t at, int bytes) const;
  Encoding encoding_;
  std::string_view bytes_;
  size_t at_ = 0;
  size_t mark_ = 0;  // bytes of a mark in front, which belong to the first
};

// `c` must be a scalar value; `encoding` UTF-8, UTF-16-BE or UTF-32-BE.
void AppendChar(Encoding encoding, int32_t c, std::string* out);

// The code points that `c` becomes under Unicode's full case mapping without a
// language, appended as UTF-8. The lower case of a capital sigma at the end of
// a word is the caller's.
void AppendLower(int32_t c, std::string* out);
void AppendUpper(int32_t c, std::string* out);
// For the rule of the final sigma.
bool IsCased(int32_t c);
bool IsCaseIgnorable(int32_t c);

// The number that ICU gives to the script of `c`: 25 for Latin. -1 beyond
// Unicode.
int32_t ScriptOf(int64_t c);

}  // namespace headrace

#endif  // HEADRACE_BASE_UNICODE_H_
