// Hashes of strings that are part of models: vocabularies and features are
// bucketed by them. Their values therefore never change. Both follow their
// authors' publications and give equal values on little- and big-endian
// machines. Thread-safe.
#ifndef HEADRACE_BASE_FINGERPRINT_H_
#define HEADRACE_BASE_FINGERPRINT_H_

#include <cstdint>
#include <string_view>

namespace headrace {

// FarmHash's Fingerprint64.
uint64_t Fingerprint64(std::string_view s);

// FarmHash's Fingerprint128: the low and the high half.
struct Fingerprint128Value {
  uint64_t low, high;
};
Fingerprint128Value Fingerprint128(std::string_view s);

// SipHash-2-4 with the 128-bit key {k0, k1}.
uint64_t SipHash(uint64_t k0, uint64_t k1, std::string_view s);

}  // namespace headrace

#endif  // HEADRACE_BASE_FINGERPRINT_H_
