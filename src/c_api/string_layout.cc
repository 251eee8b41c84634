// What libtensorflow.so.1 and .so.2 differ in: the bytes of string tensors.
// CMake compiles this file once for each; HEADRACE_OFFSET_STRINGS is 1 for the
// former. There a tensor of n strings is n 8-byte offsets, counted from the end
// of the offsets, and at each of them a length as a varint and the characters.
#include <cstring>

#include "c_api/internal.h"
#include "headrace/tstring.h"

namespace headrace::c_api {
namespace {

// 7 bits a byte, the lowest first; the high bit says that more follow.
size_t VarintBytes(uint64_t v) {
  size_t n = 1;
  for (; v >= 128; v >>= 7) ++n;
  return n;
}

char* WriteVarint(uint64_t v, char* to) {
  for (; v >= 128; v >>= 7) *to++ = static_cast<char>(v | 128);
  *to++ = static_cast<char>(v);
  return to;
}

// The string at the beginning of `bytes`; false if that is none. *used is the
// bytes that it takes.
bool ReadString(absl::string_view bytes, absl::string_view* out, size_t* used) {
  uint64_t length = 0;
  size_t at = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == bytes.size()) return false;
    const uint64_t byte = static_cast<unsigned char>(bytes[at++]);
    length |= (byte & 127) << shift;
    if (byte >= 128) continue;
    if (length > bytes.size() - at) return false;
    *out = bytes.substr(at, length);
    *used = at + length;
    return true;
  }
  return false;
}

}  // namespace

extern const bool kOffsetStrings = HEADRACE_OFFSET_STRINGS;

Status DecodeStrings(absl::string_view bytes, const TensorShape& shape,
                     Tensor* out) {
  const uint64_t n = shape.num_elements();
  if (n > bytes.size() / sizeof(uint64_t)) {
    return errors::InvalidArgument(
        "Malformed TF_STRING tensor; too short to hold number of elements: "
        "got ",
        bytes.size(), " bytes, wanted 8 for each of ", n, " elements and more");
  }
  const absl::string_view characters = bytes.substr(n * sizeof(uint64_t));
  Tensor t;
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), DT_STRING, shape, &t));
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t offset;
    std::memcpy(&offset, bytes.data() + i * sizeof(offset), sizeof(offset));
    absl::string_view s;
    size_t used;
    if (offset >= characters.size() ||
        !ReadString(characters.substr(offset), &s, &used)) {
      return errors::InvalidArgument("Malformed TF_STRING tensor; element ", i,
                                     " out of range: offset ", offset, " of ",
                                     characters.size(), " bytes");
    }
    t.data<tstring>()[i] = s;
  }
  *out = std::move(t);
  return OkStatus();
}

std::string EncodeStrings(const Tensor& t) {
  const absl::Span<const tstring> strings = t.span<tstring>();
  size_t total = 0;
  for (const tstring& s : strings) {
    total += sizeof(uint64_t) + VarintBytes(s.size()) + s.size();
  }
  std::string bytes(total, '\0');
  char* const offsets = bytes.data();
  char* const first = offsets + strings.size() * sizeof(uint64_t);
  char* at = first;
  for (size_t i = 0; i < strings.size(); ++i) {
    const uint64_t offset = at - first;
    std::memcpy(offsets + i * sizeof(offset), &offset, sizeof(offset));
    at = WriteVarint(strings[i].size(), at);
    if (!strings[i].empty()) {
      std::memcpy(at, strings[i].data(), strings[i].size());
    }
    at += strings[i].size();
  }
  return bytes;
}

}  // namespace headrace::c_api

#if HEADRACE_OFFSET_STRINGS

using headrace::OkStatus;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;

size_t TF_StringEncodedSize(size_t len) { return VarintBytes(len) + len; }

size_t TF_StringEncode(const char* src, size_t src_len, char* dst,
                       size_t dst_len, TF_Status* status) {
  const size_t needed = TF_StringEncodedSize(src_len);
  if (dst == nullptr || needed > dst_len || needed < src_len ||
      (src == nullptr && src_len > 0)) {
    Set(status, errors::InvalidArgument(
                    "TF_StringEncode: ", dst == nullptr ? 0 : dst_len,
                    " bytes of room are too few to encode "
                    "a string of ",
                    src_len, " bytes, or it is NULL"));
    return 0;
  }
  char* const at = WriteVarint(src_len, dst);
  if (src_len > 0) std::memcpy(at, src, src_len);
  SetOk(status);
  return needed;
}

size_t TF_StringDecode(const char* src, size_t src_len, const char** dst,
                       size_t* dst_len, TF_Status* status) {
  absl::string_view s;
  size_t used = 0;
  if (src == nullptr || dst == nullptr || dst_len == nullptr ||
      !ReadString(absl::string_view(src, src_len), &s, &used)) {
    Set(status, errors::InvalidArgument(
                    "TF_StringDecode: invalid string encoding or truncated "
                    "source of ",
                    src_len, " bytes, or an argument is NULL"));
    return 0;
  }
  *dst = s.data();
  *dst_len = s.size();
  SetOk(status);
  return used;
}

#endif  // HEADRACE_OFFSET_STRINGS
