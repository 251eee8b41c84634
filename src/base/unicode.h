// Converts between bytes and characters: UTF-8, UTF-16, UTF-32 and the one-byte
// encodings whose bytes are code points. Stateless, so thread-safe; a
// CharReader belongs to one thread.
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
  kUtf16,  // by byte order mark; big-endian without one
  kUtf32Be,
  kUtf32Le,
  kUtf32,
  kAscii,
  kLatin1,
};

// InvalidArgument for an unknown name.
Status ParseEncoding(std::string_view name, Encoding* out);

// True for a code point that is not a surrogate.
constexpr bool IsScalarValue(int64_t c) {
  return (c >= 0 && c < 0xd800) || (c > 0xdfff && c <= 0x10ffff);
}

// Reads the characters of a string in order. Malformed bytes: the longest run
// of bytes that could begin a character counts as one error.
class CharReader {
 public:
  CharReader(Encoding encoding, std::string_view bytes);
  bool done() const { return at_ + mark_ >= bytes_.size(); }
  size_t position() const { return at_; }  // of the next character
  // The next code point, or -1 for malformed bytes. Do not call it when done().
  int32_t Next();

 private:
  int32_t NextUtf8();
  int32_t NextUtf16();
  int32_t NextUtf32();
  uint32_t Unit(size_t at, int bytes) const;
  Encoding encoding_;
  std::string_view bytes_;
  size_t at_ = 0;
  size_t mark_ = 0;  // bytes of a leading byte order mark
};

// `c` must be a scalar value. `encoding` is UTF-8, UTF-16-BE or UTF-32-BE.
void AppendChar(Encoding encoding, int32_t c, std::string* out);

// Append, as UTF-8, the code points of `c` under Unicode's full case mapping
// without a language. The caller handles the lower case of a capital sigma at
// the end of a word.
void AppendLower(int32_t c, std::string* out);
void AppendUpper(int32_t c, std::string* out);
// Used by the rule of the final sigma.
bool IsCased(int32_t c);
bool IsCaseIgnorable(int32_t c);

// ICU's number for the script of `c`: 25 for Latin. -1 beyond Unicode.
int32_t ScriptOf(int64_t c);

}  // namespace headrace

#endif  // HEADRACE_BASE_UNICODE_H_
