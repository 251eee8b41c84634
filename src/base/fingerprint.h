// Hashes of strings whose values are part of models: vocabularies and features
// are bucketed by them, so they never change. Both as published by their
// authors, for little- and big-endian machines alike.
#ifndef HEADRACE_BASE_FINGERPRINT_H_
#define HEADRACE_BASE_FINGERPRINT_H_

#include <cstdint>
#include <string_view>

namespace headrace {

// FarmHash's Fingerprint64.
uint64_t Fingerprint64(std::string_view s);

// SipHash-2-4 under the 128-bit key {k0, k1}.
uint64_t SipHash(uint64_t k0, uint64_t k1, std::string_view s);

}  // namespace headrace

#endif  // HEADRACE_BASE_FINGERPRINT_H_
