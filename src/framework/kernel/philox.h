// Philox4x32-10, the counter-based generator behind every random op: block n of
// a stream is a pure function of the key and the counter n, so any thread can
// make any part of a stream, and results do not depend on how work is split.
//
// A stream is a value; copy it to branch. GuardedPhilox is a kernel's stream,
// from which each run reserves a part of its own.
#ifndef HEADRACE_FRAMEWORK_KERNEL_PHILOX_H_
#define HEADRACE_FRAMEWORK_KERNEL_PHILOX_H_

#include <array>
#include <bit>
#include <cstdint>

#include "base/random.h"
#include "headrace/mutex.h"
#include "headrace/types.h"

namespace headrace {

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;
  using Counter = unsigned __int128;

  Philox() = default;
  // As ops with attrs seed and seed2: the key is `seed`, the upper half of the
  // counter `seed2`.
  Philox(uint64_t seed, uint64_t seed2)
      : key_(seed), counter_(static_cast<Counter>(seed2) << 64) {}
  static Philox FromState(uint64_t key, uint64_t low, uint64_t high) {
    Philox p(key, high);
    p.counter_ |= low;
    return p;
  }

  uint64_t key() const { return key_; }
  Counter counter() const { return counter_; }
  void Skip(Counter blocks) { counter_ += blocks; }

  Block operator()() {
    const Block b = At(counter_);
    ++counter_;
    return b;
  }

  Block At(Counter n) const {
    Block c = {static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32),
               static_cast<uint32_t>(n >> 64), static_cast<uint32_t>(n >> 96)};
    uint32_t k0 = static_cast<uint32_t>(key_);
    uint32_t k1 = static_cast<uint32_t>(key_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{kMul0} * c[0], p1 = uint64_t{kMul1} * c[2];
      c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0,
           static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1,
           static_cast<uint32_t>(p0)};
      k0 += kWeyl0;
      k1 += kWeyl1;
    }
    return c;
  }

  static constexpr uint32_t kMul0 = 0xD2511F53, kMul1 = 0xCD9E8D57;
  static constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

 private:
  uint64_t key_ = 0;
  Counter counter_ = 0;
};

// A stream read one word at a time.
class PhiloxWords {
 public:
  // Where a stream is: that of the key, at the block with the number
  // high * 2^64 + low, of whose predecessor `used` words (0 to 4) are used.
  struct State {
    uint64_t key = 0, low = 0, high = 0;
    int used = 4;
  };
  explicit PhiloxWords(const Philox& stream) : stream_(stream) {}
  explicit PhiloxWords(const State& s)
      : stream_(Philox::FromState(s.key, s.low, s.high)), used_(s.used) {
    if (used_ < 4) block_ = stream_.At(stream_.counter() - 1);
  }
  State state() const {
    const Philox::Counter c = stream_.counter();
    return {stream_.key(), static_cast<uint64_t>(c),
            static_cast<uint64_t>(c >> 64), used_};
  }
  uint32_t operator()() {
    if (used_ == 4) {
      block_ = stream_();
      used_ = 0;
    }
    return block_[used_++];
  }
  void Skip(uint64_t words) {
    while (words > 0 && used_ < 4) ++used_, --words;
    stream_.Skip(words / 4);
    for (words %= 4; words > 0; --words) (*this)();
  }

 private:
  Philox stream_;
  Philox::Block block_ = {};
  int used_ = 4;
};

// Numbers in [0, 1) from random words: their low bits become the mantissa of a
// number in [1, 2), less one.
inline float UniformFloat(uint32_t x) {
  return std::bit_cast<float>(0x3f800000u | (x & 0x7fffffu)) - 1.0f;
}
inline double UniformDouble(uint32_t a, uint32_t b) {
  const uint64_t mantissa = uint64_t{a & 0xfffffu} << 32 | b;
  return std::bit_cast<double>(uint64_t{1023} << 52 | mantissa) - 1.0;
}
inline half UniformHalf(uint32_t x) {
  const auto bits = static_cast<uint16_t>(0x3c00u | (x & 0x3ffu));
  return static_cast<half>(static_cast<float>(std::bit_cast<half>(bits)) -
                           1.0f);
}
inline bfloat16 UniformBfloat16(uint32_t x) {
  const auto bits = static_cast<uint16_t>(0x3f80u | (x & 0x7fu));
  return static_cast<bfloat16>(
      static_cast<float>(std::bit_cast<bfloat16>(bits)) - 1.0f);
}

// Thread-safe.
class GuardedPhilox {
 public:
  // Both seeds 0: a stream that nobody can predict.
  void Init(int64_t seed, int64_t seed2) {
    MutexLock lock(&mu_);
    if (seed == 0 && seed2 == 0) {
      stream_ = Philox(RandomSeed64(), RandomSeed64());
    } else {
      stream_ =
          Philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2));
    }
  }
  // The stream from here on; the next `blocks` blocks are the caller's.
  Philox Reserve(Philox::Counter blocks) {
    MutexLock lock(&mu_);
    const Philox mine = stream_;
    stream_.Skip(blocks);
    return mine;
  }
  // For `outputs` results of a distribution that may reject samples: 256 blocks
  // each, far more than any needs.
  Philox ReserveOutputs(int64_t outputs) {
    return Reserve(static_cast<Philox::Counter>(outputs) * 256);
  }

 private:
  Mutex mu_;
  Philox stream_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_PHILOX_H_
