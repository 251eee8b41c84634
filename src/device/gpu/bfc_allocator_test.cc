#include "device/gpu/bfc_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "absl/strings/match.h"

namespace headrace::gpu {
namespace {

// Memory that nobody touches: addresses from 1 MiB on.
class FakeSource {
 public:
  explicit FakeSource(size_t device_bytes) : left_(device_bytes) {}

  BfcAllocator::Source source() {
    return {[this](size_t bytes) -> StatusOr<void*> {
              asked.push_back(bytes);
              if (bytes > left_) {
                return errors::ResourceExhausted("only ", left_, " left");
              }
              left_ -= bytes;
              char* const at = reinterpret_cast<char*>(next_);
              next_ += bytes + 4096;  // regions never touch
              regions[at] = bytes;
              return at;
            },
            [this](void* region, size_t bytes) {
              ASSERT_EQ(regions.count(static_cast<char*>(region)), 1u);
              EXPECT_EQ(regions[static_cast<char*>(region)], bytes);
              regions.erase(static_cast<char*>(region));
              left_ += bytes;
            }};
  }

  std::vector<size_t> asked;
  std::map<char*, size_t> regions;

 private:
  size_t left_;
  uintptr_t next_ = 1 << 20;
};

constexpr int64_t kMiB = 1 << 20;

// Pieces cover their regions without gaps, and no two free ones are neighbours
// in a region.
void CheckPieces(const BfcAllocator& a, const FakeSource& source) {
  const auto pieces = a.Pieces();
  size_t sum = 0, regions = 0;
  int64_t in_use = 0;
  for (const auto& [at, bytes] : source.regions) regions += bytes;
  for (size_t i = 0; i < pieces.size(); ++i) {
    sum += pieces[i].bytes;
    if (pieces[i].in_use) in_use += pieces[i].bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces[i].address) % 256, 0u);
    if (i == 0) continue;
    const char* const end =
        static_cast<const char*>(pieces[i - 1].address) + pieces[i - 1].bytes;
    EXPECT_LE(end, pieces[i].address);
    if (end == pieces[i].address) {
      EXPECT_TRUE(pieces[i - 1].in_use || pieces[i].in_use) << "not joined";
    }
  }
  EXPECT_EQ(sum, regions);
  EXPECT_EQ(a.GetStats().bytes_in_use, in_use);
}

TEST(BfcAllocatorTest, TakesTheSmallestPieceThatFits) {
  FakeSource source(64 * kMiB);
  BfcAllocator a("gpu", source.source(), {kMiB, false});
  std::vector<char*> p;
  for (const size_t bytes : {4096, 256, 1024, 256, 2048, 256}) {
    p.push_back(static_cast<char*>(a.AllocateRaw(bytes)));
    ASSERT_NE(p.back(), nullptr);
  }
  EXPECT_EQ(source.asked, std::vector<size_t>{kMiB});  // the limit at once
  for (const int freed : {0, 2, 4}) a.DeallocateRaw(p[freed], 0);
  // Holes of 4096, 1024 and 2048 bytes, and the rest of the region.
  EXPECT_EQ(a.AllocateRaw(1500), p[4]);
  EXPECT_EQ(a.AllocateRaw(700), p[2]);
  EXPECT_EQ(a.AllocateRaw(1025), p[0]);
  EXPECT_EQ(a.AllocateRaw(2000), p[0] + 1280);
  CheckPieces(a, source);
}

TEST(BfcAllocatorTest, JoinsNeighboursInEveryOrder) {
  std::vector<int> order = {0, 1, 2, 3};
  do {
    FakeSource source(64 * kMiB);
    BfcAllocator a("gpu", source.source(), {kMiB, false});
    std::vector<void*> p;
    for (int i = 0; i < 4; ++i) p.push_back(a.AllocateRaw(kMiB / 4));
    EXPECT_EQ(a.AllocateRaw(1), nullptr);
    for (const int i : order) {
      a.DeallocateRaw(p[i], 0);
      CheckPieces(a, source);
    }
    EXPECT_EQ(a.Pieces().size(), 1u);
    EXPECT_EQ(a.AllocateRaw(kMiB), p[0]);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(BfcAllocatorTest, GrowsByDoublingUpToTheLimit) {
  FakeSource source(64 * kMiB);
  BfcAllocator a("gpu", source.source(), {10 * kMiB, true});
  void* const small = a.AllocateRaw(1);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(source.asked, std::vector<size_t>{2 * kMiB});
  void* const middle = a.AllocateRaw(2 * kMiB);
  ASSERT_NE(middle, nullptr);
  EXPECT_EQ(source.asked.back(), 4u * kMiB);
  void* const last = a.AllocateRaw(3 * kMiB);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(source.asked.back(), 4u * kMiB);  // what the limit leaves
  EXPECT_EQ(a.AllocateRaw(3 * kMiB), nullptr);
  EXPECT_TRUE(absl::StrContains(a.DescribeFree(), "of a limit of 10485760"))
      << a.DescribeFree();
  // Regions without anything make room for one that is large enough.
  a.DeallocateRaw(middle, 0);
  a.DeallocateRaw(last, 0);
  void* const large = a.AllocateRaw(8 * kMiB);
  EXPECT_NE(large, nullptr);
  CheckPieces(a, source);
  const AllocatorStats stats = a.GetStats();
  EXPECT_EQ(stats.bytes_limit, 10 * kMiB);
  EXPECT_EQ(stats.bytes_in_use, 8 * kMiB + 256);
  EXPECT_EQ(stats.largest_alloc_size, 8 * kMiB);
  EXPECT_EQ(stats.num_allocs, 4);
}

TEST(BfcAllocatorTest, TakesLessWhereTheDeviceHasLess) {
  FakeSource source(10 * kMiB);
  BfcAllocator a("gpu", source.source(), {16 * kMiB, false});
  EXPECT_NE(a.AllocateRaw(5 * kMiB), nullptr);
  EXPECT_GT(source.asked.size(), 1u);
  EXPECT_EQ(a.AllocateRaw(9 * kMiB), nullptr);
  EXPECT_TRUE(absl::StrContains(a.DescribeFree(), "the device said: only"))
      << a.DescribeFree();
  CheckPieces(a, source);
}

TEST(BfcAllocatorTest, RefusesWhatCannotBe) {
  FakeSource source(64 * kMiB);
  BfcAllocator a("gpu", source.source(), {kMiB, true});
  EXPECT_EQ(a.AllocateRaw(~size_t{0}), nullptr);
  EXPECT_EQ(a.AllocateRaw(size_t{1} << 62), nullptr);
  EXPECT_EQ(a.AllocateRaw(kMiB + 1), nullptr);
  EXPECT_TRUE(source.asked.empty());
  void* const p = a.AllocateRaw(0);
  ASSERT_NE(p, nullptr);
  int other = 0;
  a.DeallocateRaw(&other, 4);  // not its own, and twice
  a.DeallocateRaw(p, 0);
  a.DeallocateRaw(p, 0);
  a.DeallocateRaw(nullptr, 0);
  EXPECT_EQ(a.GetStats().bytes_in_use, 0);
  CheckPieces(a, source);
}

TEST(BfcAllocatorTest, GivesMemoryBackWhenNobodyUsesTheDevice) {
  FakeSource source(64 * kMiB);
  BfcAllocator a("gpu", source.source(), {32 * kMiB, true});
  void* const kept = a.AllocateRaw(2 * kMiB);
  void* const freed = a.AllocateRaw(3 * kMiB);
  a.DeallocateRaw(freed, 0);
  EXPECT_EQ(source.regions.size(), 2u);
  EXPECT_FALSE(a.SetLimits({kMiB, true}));  // something is in use
  a.SetIdle(true);
  EXPECT_EQ(source.regions.size(), 1u);
  a.DeallocateRaw(kept, 0);
  EXPECT_TRUE(source.regions.empty());
  EXPECT_TRUE(a.SetLimits({kMiB, true}));
  EXPECT_EQ(a.AllocateRaw(2 * kMiB), nullptr);
  EXPECT_NE(a.AllocateRaw(kMiB), nullptr);
}

TEST(BfcAllocatorTest, AsksOnceMoreWhenMemoryMayHaveComeFree) {
  FakeSource source(64 * kMiB);
  BfcAllocator a("gpu", source.source(), {kMiB, false});
  void* held = a.AllocateRaw(kMiB);
  int asked = 0;
  a.SetRetry([&] {
    ++asked;
    a.DeallocateRaw(held, 0);
    return true;
  });
  held = a.AllocateRaw(kMiB / 2);
  EXPECT_NE(held, nullptr);
  EXPECT_EQ(asked, 1);
  a.SetRetry([&] {
    ++asked;
    return false;
  });
  EXPECT_EQ(a.AllocateRaw(kMiB), nullptr);
  EXPECT_EQ(asked, 2);
}

TEST(BfcAllocatorTest, StaysWholeUnderFragmentation) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    FakeSource source(64 * kMiB);
    BfcAllocator a("gpu", source.source(), {32 * kMiB, seed % 2 == 0});
    std::map<char*, size_t> live;
    int refused = 0;
    for (int step = 0; step < 5000; ++step) {
      if (random() % 5 < 3) {
        const size_t bytes = size_t{1} << (random() % 22);
        const size_t wanted = bytes + random() % bytes;
        char* const p = static_cast<char*>(a.AllocateRaw(wanted));
        if (p == nullptr) {
          ++refused;
          continue;
        }
        // Nothing that is alive overlaps.
        const auto next = live.lower_bound(p);
        if (next != live.end()) {
          ASSERT_LE(p + wanted, next->first);
        }
        if (next != live.begin()) {
          const auto before = std::prev(next);
          ASSERT_LE(before->first + before->second, p);
        }
        live[p] = wanted;
      } else if (!live.empty()) {
        auto it = live.begin();
        std::advance(it, random() % live.size());
        a.DeallocateRaw(it->first, it->second);
        live.erase(it);
      }
      if (step % 500 == 0) CheckPieces(a, source);
    }
    EXPECT_GT(refused, 0);
    for (const auto& [p, bytes] : live) a.DeallocateRaw(p, bytes);
    CheckPieces(a, source);
    EXPECT_EQ(a.Pieces().size(), source.regions.size());
  }
}

}  // namespace
}  // namespace headrace::gpu
