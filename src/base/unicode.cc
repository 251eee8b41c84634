#include "base/unicode.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "headrace/strings.h"

namespace headrace {
namespace {

// Every step-th code point of [first, last] moves by delta.
struct CaseRun {
  int32_t first, last, step, delta;
};
// One code point becomes up to three; 0 ends the list.
struct Special {
  int32_t from, to[3];
  constexpr Special(int32_t c, int32_t a, int32_t b, int32_t d)
      : from(c), to{a, b, d} {}
};
struct Range {
  int32_t first, last;
};
struct ScriptRange {
  int32_t first, last, script;
};
#include "base/unicode_tables.inc"

// The entry of a sorted table whose [first, last] holds `c`, else null.
template <typename T, size_t N>
const T* Find(const T (&table)[N], int64_t c) {
  const T* at = std::upper_bound(
      table, table + N, c, [](int64_t v, const T& t) { return v < t.first; });
  return at != table && c <= (at - 1)->last ? at - 1 : nullptr;
}

template <size_t R, size_t S>
void AppendMapped(const CaseRun (&runs)[R], const Special (&special)[S],
                  int32_t c, std::string* out) {
  const CaseRun* run = Find(runs, c);
  if (run != nullptr && (c - run->first) % run->step == 0) {
    return AppendChar(Encoding::kUtf8, c + run->delta, out);
  }
  const Special* s =
      std::lower_bound(special, special + S, c,
                       [](const Special& t, int32_t v) { return t.from < v; });
  if (s == special + S || s->from != c) {
    return AppendChar(Encoding::kUtf8, c, out);
  }
  for (int32_t to : s->to) {
    if (to != 0) AppendChar(Encoding::kUtf8, to, out);
  }
}

void AppendBigEndian(uint32_t v, int bytes, std::string* out) {
  for (int i = bytes - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(v >> 8 * i));
  }
}

}  // namespace

Status ParseEncoding(std::string_view name, Encoding* out) {
  static constexpr struct {
    const char* name;
    Encoding encoding;
  } kNames[] = {
      {"utf8", Encoding::kUtf8},       {"utf16be", Encoding::kUtf16Be},
      {"utf16le", Encoding::kUtf16Le}, {"utf16", Encoding::kUtf16},
      {"utf32be", Encoding::kUtf32Be}, {"utf32le", Encoding::kUtf32Le},
      {"utf32", Encoding::kUtf32},     {"usascii", Encoding::kAscii},
      {"ascii", Encoding::kAscii},     {"iso88591", Encoding::kLatin1},
      {"latin1", Encoding::kLatin1},
  };
  // As ICU, names are compared without case, hyphens and the like.
  std::string key;
  for (char c : name) {
    if (absl::ascii_isalnum(c)) key.push_back(absl::ascii_tolower(c));
  }
  for (const auto& known : kNames) {
    if (key == known.name) {
      *out = known.encoding;
      return OkStatus();
    }
  }
  return errors::InvalidArgument(
      "Could not create converter for encoding: ", name,
      "; known are UTF-8, UTF-16, UTF-16-BE, UTF-16-LE, UTF-32, UTF-32-BE, "
      "UTF-32-LE, US-ASCII and ISO-8859-1");
}

CharReader::CharReader(Encoding encoding, std::string_view bytes)
    : encoding_(encoding), bytes_(bytes) {
  if (encoding == Encoding::kUtf16) {
    const uint32_t mark = bytes.size() < 2 ? 0 : Unit(0, 2);
    encoding_ = mark == 0xfffe ? Encoding::kUtf16Le : Encoding::kUtf16Be;
    if (mark == 0xfffe || mark == 0xfeff) mark_ = 2;
  } else if (encoding == Encoding::kUtf32) {
    const uint32_t mark = bytes.size() < 4 ? 0 : Unit(0, 4);
    encoding_ = mark == 0xfffe0000 ? Encoding::kUtf32Le : Encoding::kUtf32Be;
    if (mark == 0xfffe0000 || mark == 0xfeff) mark_ = 4;
  }
}

// A number of `bytes` bytes, which must be there.
uint32_t CharReader::Unit(size_t at, int bytes) const {
  const bool little =
      encoding_ == Encoding::kUtf16Le || encoding_ == Encoding::kUtf32Le;
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) {
    const size_t from = at + (little ? bytes - 1 - i : i);
    v = v << 8 | static_cast<unsigned char>(bytes_[from]);
  }
  return v;
}

int32_t CharReader::Next() {
  at_ += mark_;
  mark_ = 0;
  switch (encoding_) {
    case Encoding::kUtf8:
      return NextUtf8();
    case Encoding::kAscii: {
      const auto c = static_cast<unsigned char>(bytes_[at_++]);
      return c < 0x80 ? c : -1;
    }
    case Encoding::kLatin1:
      return static_cast<unsigned char>(bytes_[at_++]);
    case Encoding::kUtf32:
    case Encoding::kUtf32Be:
    case Encoding::kUtf32Le:
      return NextUtf32();
    default:
      return NextUtf16();
  }
}

int32_t CharReader::NextUtf8() {
  const auto lead = static_cast<unsigned char>(bytes_[at_++]);
  if (lead < 0x80) return lead;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  // The allowed range of the second byte. It excludes overlong forms,
  // surrogates and code points beyond Unicode.
  unsigned char low = 0x80, high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  int32_t c = lead & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if (done()) return -1;
    const auto next = static_cast<unsigned char>(bytes_[at_]);
    if (next < low || next > high) return -1;
    c = c << 6 | (next & 0x3f);
    ++at_;
    low = 0x80;
    high = 0xbf;
  }
  return c;
}

int32_t CharReader::NextUtf16() {
  if (bytes_.size() - at_ < 2) {
    at_ = bytes_.size();
    return -1;
  }
  const auto first = static_cast<int32_t>(Unit(at_, 2));
  at_ += 2;
  if (first < 0xd800 || first > 0xdfff) return first;
  if (first > 0xdbff || bytes_.size() - at_ < 2) {
    // A pair that is cut off is one error.
    if (first <= 0xdbff) at_ = bytes_.size();
    return -1;
  }
  const auto second = static_cast<int32_t>(Unit(at_, 2));
  if (second < 0xdc00 || second > 0xdfff) return -1;
  at_ += 2;
  return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

int32_t CharReader::NextUtf32() {
  if (bytes_.size() - at_ < 4) {
    at_ = bytes_.size();
    return -1;
  }
  const uint32_t c = Unit(at_, 4);
  at_ += 4;
  return IsScalarValue(c) ? static_cast<int32_t>(c) : -1;
}

void AppendChar(Encoding encoding, int32_t c, std::string* out) {
  if (encoding == Encoding::kUtf32Be) return AppendBigEndian(c, 4, out);
  if (encoding == Encoding::kUtf16Be) {
    if (c < 0x10000) return AppendBigEndian(c, 2, out);
    AppendBigEndian(0xd800 + ((c - 0x10000) >> 10), 2, out);
    return AppendBigEndian(0xdc00 + ((c - 0x10000) & 0x3ff), 2, out);
  }
  if (c < 0x80) return out->push_back(static_cast<char>(c));
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr int kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out->push_back(static_cast<char>(kLead[more] | c >> 6 * more));
  for (int i = more - 1; i >= 0; --i) {
    out->push_back(static_cast<char>(0x80 | (c >> 6 * i & 0x3f)));
  }
}

void AppendLower(int32_t c, std::string* out) {
  AppendMapped(kLowerRuns, kLowerSpecial, c, out);
}

void AppendUpper(int32_t c, std::string* out) {
  AppendMapped(kUpperRuns, kUpperSpecial, c, out);
}

bool IsCased(int32_t c) { return Find(kCased, c) != nullptr; }
bool IsCaseIgnorable(int32_t c) { return Find(kCaseIgnorable, c) != nullptr; }

int32_t ScriptOf(int64_t c) {
  constexpr int32_t kUnknown = 103;
  if (c < 0 || c > 0x10ffff) return -1;
  const ScriptRange* r = Find(kScripts, c);
  return r != nullptr ? r->script : kUnknown;
}

}  // namespace headrace
