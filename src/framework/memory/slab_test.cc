#include "framework/memory/slab.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "headrace/allocator.h"

namespace headrace {
namespace {

constexpr size_t kKiB = size_t{1} << 10;
constexpr size_t kMiB = size_t{1} << 20;

// Blocks after which others are cut from chunks.
class Plain {
 public:
  explicit Plain(Slabs* slabs) : slabs_(slabs) {
    block_ = slabs->Allocate(Slabs::kPlainBytes);
  }
  ~Plain() { slabs_->Free(block_, Slabs::kPlainBytes); }

 private:
  Slabs* const slabs_;
  void* block_;
};

struct Block {
  unsigned char* data;
  size_t bytes;
  unsigned char mark;
};

Block Filled(Slabs* slabs, size_t bytes, unsigned char mark) {
  Block b{static_cast<unsigned char*>(slabs->Allocate(bytes)), bytes, mark};
  EXPECT_NE(b.data, nullptr) << bytes;
  if (b.data != nullptr) std::memset(b.data, mark, bytes);
  return b;
}

bool IsIntact(const Block& b) {
  return b.data[0] == b.mark &&
         std::memcmp(b.data, b.data + 1, b.bytes - 1) == 0;
}

// Of whole pages between the two.
size_t ResidentBytes(const unsigned char* begin, const unsigned char* end) {
  const size_t page = sysconf(_SC_PAGESIZE);
  const auto first = (reinterpret_cast<uintptr_t>(begin) + page - 1) / page;
  const auto last = reinterpret_cast<uintptr_t>(end) / page;
  if (first >= last) return 0;
  std::vector<unsigned char> resident(last - first);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(first * page),
                    (last - first) * page, resident.data()),
            0);
  return page * std::count_if(resident.begin(), resident.end(),
                              [](unsigned char c) { return (c & 1) != 0; });
}

TEST(SlabsTest, BlocksAreAlignedAndApart) {
  for (const size_t bytes :
       {size_t{1}, size_t{63}, size_t{64}, size_t{4096}, Slabs::kMinBlock - 1,
        Slabs::kMinBlock, Slabs::kMinBlock + 1, 100 * kKiB + 7, kMiB,
        2 * kMiB + 1, Slabs::kMaxBlock - 1, Slabs::kMaxBlock}) {
    Slabs slabs;
    std::vector<Block> blocks;
    for (unsigned char i = 0; i < 9; ++i) {
      blocks.push_back(Filled(&slabs, bytes, i + 1));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().data) %
                    Allocator::kAlignment,
                0)
          << bytes;
    }
    for (const Block& b : blocks) EXPECT_TRUE(IsIntact(b)) << bytes;
    for (const Block& b : blocks) slabs.Free(b.data, bytes);
    EXPECT_EQ(slabs.num_chunks(), 0) << bytes;
  }
}

TEST(SlabsTest, TheFirstBlocksTakeNoChunk) {
  Slabs slabs;
  std::vector<Block> blocks;
  const size_t bytes = Slabs::kPlainBytes / 4;
  for (int i = 0; i < 4; ++i) blocks.push_back(Filled(&slabs, bytes, 1));
  blocks.push_back(Filled(&slabs, Slabs::kMinBlock - 64, 1));
  EXPECT_EQ(slabs.num_chunks(), 0);
  blocks.push_back(Filled(&slabs, Slabs::kMinBlock, 1));
  EXPECT_EQ(slabs.num_chunks(), 1);
  slabs.Free(blocks.back().data, Slabs::kMinBlock);
  EXPECT_EQ(slabs.num_chunks(), 0);
  blocks.pop_back();
  // What is freed may be taken again.
  slabs.Free(blocks[0].data, bytes);
  blocks[0] = Filled(&slabs, bytes, 1);
  EXPECT_EQ(slabs.num_chunks(), 0);
  for (const Block& b : blocks) slabs.Free(b.data, b.bytes);
}

TEST(SlabsTest, BlocksLieOneAfterTheOther) {
  Slabs slabs;
  const Plain plain(&slabs);
  std::vector<Block> blocks;
  for (int i = 0; i < 10; ++i) {
    blocks.push_back(Filled(&slabs, 300 * kKiB + 64 * i, i));
  }
  EXPECT_EQ(slabs.num_chunks(), 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks[0].data) % (2 * kMiB), 0);
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(blocks[i].data, blocks[i - 1].data + blocks[i - 1].bytes);
  }
  for (const Block& b : blocks) slabs.Free(b.data, b.bytes);
}

TEST(SlabsTest, GapsAreFilled) {
  Slabs slabs;
  const Plain plain(&slabs);
  std::vector<Block> blocks;
  while (slabs.num_chunks() < 2) {
    blocks.push_back(Filled(&slabs, 3 * kMiB, blocks.size()));
  }
  // What did not hold the last one.
  const Block small = Filled(&slabs, 200 * kKiB, 77);
  EXPECT_EQ(small.data, blocks[blocks.size() - 2].data + 3 * kMiB);
  slabs.Free(blocks[1].data, 3 * kMiB);
  slabs.Free(blocks[2].data, 3 * kMiB);
  const Block large = Filled(&slabs, 4 * kMiB, 78);
  EXPECT_EQ(large.data, blocks[1].data);
  const Block rest = Filled(&slabs, 2 * kMiB, 79);
  EXPECT_EQ(rest.data, large.data + 4 * kMiB);
  EXPECT_EQ(slabs.num_chunks(), 2);
  blocks.erase(blocks.begin() + 1, blocks.begin() + 3);
  blocks.insert(blocks.end(), {small, large, rest});
  for (const Block& b : blocks) EXPECT_TRUE(IsIntact(b));
  for (const Block& b : blocks) slabs.Free(b.data, b.bytes);
  EXPECT_EQ(slabs.num_chunks(), 0);
}

enum Order { kForwards, kBackwards, kOddFirst, kShuffled };

class FreeOrderTest : public testing::TestWithParam<Order> {
 protected:
  static std::vector<int> Indices(int n) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    switch (GetParam()) {
      case kForwards:
        break;
      case kBackwards:
        std::reverse(order.begin(), order.end());
        break;
      case kOddFirst:
        std::stable_partition(order.begin(), order.end(),
                              [](int i) { return i % 2 == 1; });
        break;
      case kShuffled:
        std::shuffle(order.begin(), order.end(), std::mt19937(7));
        break;
    }
    return order;
  }
};

// Every page that no block in use lies on is out of memory after each Free, and
// no other block has changed.
TEST_P(FreeOrderTest, FreedPagesLeaveMemory) {
  Slabs slabs;
  const Plain plain(&slabs);
  std::vector<Block> blocks;
  for (int i = 0; i < 12; ++i) {
    // Hardly any ends on a page, and some lie within few pages.
    blocks.push_back(Filled(&slabs, Slabs::kMinBlock + (i % 5) * 73 * 1088,
                            static_cast<unsigned char>(i + 1)));
  }
  ASSERT_EQ(slabs.num_chunks(), 1);
  std::vector<bool> freed(blocks.size());
  const std::vector<int> order = Indices(static_cast<int>(blocks.size()));
  for (size_t n = 0; n + 1 < order.size(); ++n) {
    slabs.Free(blocks[order[n]].data, blocks[order[n]].bytes);
    freed[order[n]] = true;
    for (size_t i = 0; i < blocks.size();) {
      if (!freed[i]) {
        EXPECT_TRUE(IsIntact(blocks[i])) << i;
        ++i;
        continue;
      }
      size_t end = i;
      while (end + 1 < blocks.size() && freed[end + 1]) ++end;
      EXPECT_EQ(
          ResidentBytes(blocks[i].data, blocks[end].data + blocks[end].bytes),
          0)
          << i << " to " << end;
      i = end + 1;
    }
  }
  slabs.Free(blocks[order.back()].data, blocks[order.back()].bytes);
  EXPECT_EQ(slabs.num_chunks(), 0);
}

TEST_P(FreeOrderTest, ChunksGoWithTheirLastBlock) {
  Slabs slabs;
  const Plain plain(&slabs);
  std::vector<Block> blocks;
  for (int i = 0; i < 120; ++i) {
    blocks.push_back(Filled(&slabs, 100 * kKiB + 31 * kKiB * (i % 17), 1));
  }
  EXPECT_GT(slabs.num_chunks(), 1);
  for (const int i : Indices(120)) slabs.Free(blocks[i].data, blocks[i].bytes);
  EXPECT_EQ(slabs.num_chunks(), 0);
}

INSTANTIATE_TEST_SUITE_P(Orders, FreeOrderTest,
                         testing::Values(kForwards, kBackwards, kOddFirst,
                                         kShuffled));

// In a process of its own, whose addresses are limited.
TEST(SlabsTest, WithoutRoomForAChunkBlocksComeFromMalloc) {
#if defined(__SANITIZE_ADDRESS__) || defined(HEADRACE_TSAN)
  GTEST_SKIP() << "sanitizers need the addresses";
#else
  const auto allocate = [] {
    Slabs slabs;
    const Plain plain(&slabs);
    size_t pages = 0;
    std::FILE* f = std::fopen("/proc/self/statm", "r");
    if (f == nullptr || std::fscanf(f, "%zu", &pages) != 1) std::_Exit(2);
    rlimit limit;
    limit.rlim_cur = limit.rlim_max =
        pages * sysconf(_SC_PAGESIZE) + Slabs::kChunk / 2;
    if (setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(3);
    std::vector<void*> blocks;
    const size_t bytes = 3 * kMiB;
    while (void* p = slabs.Allocate(bytes)) {
      std::memset(p, 1, bytes);
      blocks.push_back(p);
    }
    if (blocks.empty() || slabs.num_chunks() > 0) std::_Exit(4);
    for (void* p : blocks) slabs.Free(p, bytes);
    std::_Exit(slabs.Allocate(bytes) == nullptr ? 5 : 0);
  };
  EXPECT_EXIT(allocate(), testing::ExitedWithCode(0), "");
#endif
}

TEST(SlabsTest, ThreadsGetDistinctBlocks) {
  Slabs slabs;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&slabs, t] {
      std::mt19937 random(t);
      std::vector<Block> blocks;
      for (int i = 0; i < 300; ++i) {
        if (blocks.size() < 12) {
          const size_t bytes = 1 + random() % (600 * kKiB);
          blocks.push_back(
              Filled(&slabs, bytes, static_cast<unsigned char>(random())));
        } else {
          std::swap(blocks[random() % blocks.size()], blocks.back());
          EXPECT_TRUE(IsIntact(blocks.back()));
          slabs.Free(blocks.back().data, blocks.back().bytes);
          blocks.pop_back();
        }
      }
      for (const Block& b : blocks) {
        EXPECT_TRUE(IsIntact(b));
        slabs.Free(b.data, b.bytes);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(slabs.num_chunks(), 0);
}

}  // namespace
}  // namespace headrace
