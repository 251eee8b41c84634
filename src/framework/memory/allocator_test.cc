#include "headrace/allocator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "framework/memory/allocation_size.h"
#include "framework/memory/lasting_allocator.h"

namespace headrace {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(AllocationSizeTest, WastesLittle) {
  for (size_t n = 1; n < 100 * kMiB; n += n / 3 + 1) {
    const size_t size = AllocationSize(n);
    EXPECT_GE(size, n);
    EXPECT_LT(size, n + std::max<size_t>(64, n / 8 + 1)) << n;
    EXPECT_EQ(AllocationSize(size), size) << n;
  }
}

TEST(CpuAllocatorTest, CountsWhatIsInUse) {
  Allocator* a = CpuAllocator();
  a->ResetPeak();
  const AllocatorStats before = a->GetStats();
  void* small = a->AllocateRaw(100);
  void* large = a->AllocateRaw(3 * kMiB);
  ASSERT_NE(small, nullptr);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(small) % Allocator::kAlignment, 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % Allocator::kAlignment, 0);
  const int64_t both = 128 + 3 * kMiB;
  EXPECT_EQ(a->GetStats().bytes_in_use - before.bytes_in_use, both);
  a->DeallocateRaw(large, 3 * kMiB);
  a->DeallocateRaw(small, 100);
  EXPECT_EQ(a->GetStats().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(a->GetStats().peak_bytes_in_use - before.bytes_in_use, both);
}

TEST(CpuAllocatorTest, AKeptBlockServesSmallerRequests) {
  Allocator* a = CpuAllocator();
  const size_t large = 97 * kMiB, smaller = 80 * kMiB, small = 20 * kMiB;
  void* p = a->AllocateRaw(large);
  ASSERT_NE(p, nullptr);
  a->DeallocateRaw(p, large);
  void* q = a->AllocateRaw(smaller);
  EXPECT_EQ(q, p);
  // Not twice as large as what is asked for.
  void* r = a->AllocateRaw(small);
  EXPECT_NE(r, p);
  a->DeallocateRaw(r, small);
  a->DeallocateRaw(q, smaller);
  // It has kept its own size.
  q = a->AllocateRaw(large);
  EXPECT_EQ(q, p);
  std::memset(q, 1, large);
  a->DeallocateRaw(q, large);
}

TEST(LastingAllocatorTest, CountsAsTheOtherAndTakesNoLargerBlock) {
  Allocator* a = LastingAllocator();
  a->ResetPeak();
  const int64_t before = a->GetStats().bytes_in_use;
  EXPECT_EQ(CpuAllocator()->GetStats().bytes_in_use, before);
  const size_t kept = 40 * kMiB, size = 36 * kMiB;
  void* p = CpuAllocator()->AllocateRaw(kept);
  CpuAllocator()->DeallocateRaw(p, kept);
  void* lasting = a->AllocateRaw(size);
  EXPECT_NE(lasting, p);
  std::memset(lasting, 1, size);
  EXPECT_EQ(CpuAllocator()->GetStats().bytes_in_use - before, size);
  a->DeallocateRaw(lasting, size);
  EXPECT_EQ(a->GetStats().bytes_in_use, before);
}

TEST(LastingAllocatorTest, BlocksOfSlabsCountAsOthers) {
  Allocator* a = LastingAllocator();
  a->ResetPeak();
  const AllocatorStats before = a->GetStats();
  std::vector<void*> blocks;
  const size_t bytes = 900001;
  for (int i = 0; i < 20; ++i) {
    blocks.push_back(a->AllocateRaw(bytes));
    ASSERT_NE(blocks.back(), nullptr);
    std::memset(blocks.back(), i, bytes);
  }
  const auto size = static_cast<int64_t>(AllocationSize(bytes));
  EXPECT_EQ(a->GetStats().num_allocs, before.num_allocs + 20);
  EXPECT_EQ(a->GetStats().bytes_in_use, before.bytes_in_use + 20 * size);
  for (void* p : blocks) a->DeallocateRaw(p, bytes);
  EXPECT_EQ(a->GetStats().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(a->GetStats().peak_bytes_in_use, before.bytes_in_use + 20 * size);
}

TEST(CpuAllocatorTest, TheLastBlocksAreKept) {
  Allocator* a = CpuAllocator();
  // More than is kept in all.
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(a->AllocateRaw(48 * kMiB));
  for (void* p : blocks) a->DeallocateRaw(p, 48 * kMiB);
  const size_t bytes = 23 * kMiB;
  char* p = static_cast<char*>(a->AllocateRaw(bytes));
  ASSERT_NE(p, nullptr);
  p[bytes / 2] = 77;
  a->DeallocateRaw(p, bytes);
  p = static_cast<char*>(a->AllocateRaw(bytes));
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p[bytes / 2], 77);  // fresh memory is zero
  a->DeallocateRaw(p, bytes);
}

TEST(CpuAllocatorTest, RefusesWhatNoMachineHas) {
  EXPECT_EQ(CpuAllocator()->AllocateRaw(size_t{1} << 62), nullptr);
}

TEST(CpuAllocatorTest, ThreadsGetDistinctBlocks) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        const size_t n = (200 + 37 * ((i * 7 + t) % 11)) << 10;
        auto* p = static_cast<char*>(CpuAllocator()->AllocateRaw(n));
        ASSERT_NE(p, nullptr);
        p[0] = p[n / 2] = p[n - 1] = static_cast<char>(t);
        std::this_thread::yield();
        ASSERT_EQ(p[0], t);
        ASSERT_EQ(p[n / 2], t);
        ASSERT_EQ(p[n - 1], t);
        CpuAllocator()->DeallocateRaw(p, n);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(CpuAllocatorTest, ABlockIsKeptForAllThreads) {
  constexpr size_t kBytes = 77777;
  void *made = nullptr, *found = nullptr;
  std::thread([&] { made = CpuAllocator()->AllocateRaw(kBytes); }).join();
  std::thread([&] { CpuAllocator()->DeallocateRaw(made, kBytes); }).join();
  std::thread([&] { found = CpuAllocator()->AllocateRaw(kBytes); }).join();
  EXPECT_EQ(found, made);
  CpuAllocator()->DeallocateRaw(found, kBytes);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(HEADRACE_TSAN)
int64_t ResidentPages() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

TEST(CpuAllocatorTest, BlocksHardlyExceedWhatWasInUseAtOnce) {
  Allocator* a = CpuAllocator();
  DropKeptBlocks();  // and what was in use before is forgotten
  const int64_t before = ResidentPages();
  const auto resident = [&] {
    return (ResidentPages() - before) * 4096 / kMiB;
  };
  const size_t large = 80 * kMiB;
  void* p = a->AllocateRaw(large);
  void* q = a->AllocateRaw(large);
  ASSERT_NE(p, nullptr);
  ASSERT_NE(q, nullptr);
  std::memset(p, 1, large);
  std::memset(q, 1, large);
  a->DeallocateRaw(p, large);
  void* r = a->AllocateRaw(8 * kMiB);
  EXPECT_GE(resident(), 160u);  // p is kept
  // Both large ones and these would be more.
  void* s = a->AllocateRaw(12 * kMiB);
  EXPECT_LT(resident(), 90u);
  a->DeallocateRaw(s, 12 * kMiB);
  a->DeallocateRaw(r, 8 * kMiB);
  a->DeallocateRaw(q, large);
}

TEST(CpuAllocatorTest, LargeBlocksDoNotStayInMallocsHeap) {
  constexpr size_t kBlock = 5 * kMiB, kSmall = 64 << 10;
  Allocator* const a = CpuAllocator();
  DropKeptBlocks();
  // What malloc maps and gets back makes it take such sizes from its heap.
  void* volatile mapped = std::malloc(24 * kMiB);
  std::free(mapped);
  const int64_t before = ResidentPages();
  std::vector<void*> blocks;
  std::vector<std::unique_ptr<char[]>> between;
  for (int i = 0; i < 20; ++i) {
    blocks.push_back(a->AllocateRaw(kBlock));
    ASSERT_NE(blocks.back(), nullptr);
    std::memset(blocks.back(), 1, kBlock);
    between.push_back(std::make_unique<char[]>(kSmall));
  }
  EXPECT_GT(ResidentPages() - before, 20 * kBlock / 4096);
  for (void* b : blocks) a->DeallocateRaw(b, kBlock);
  DropKeptBlocks();
  EXPECT_LT(ResidentPages() - before, kBlock / 4096);
}
#endif

TEST(AllocatorTest, ForkFindsNoLockThatAnotherThreadHolds) {
  const auto use = [] {
    for (Allocator* const a : {CpuAllocator(), LastingAllocator()}) {
      for (const size_t bytes : {size_t{1} << 20, size_t{1} << 17}) {
        a->DeallocateRaw(a->AllocateRaw(bytes), bytes);
      }
    }
  };
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) use();
  });
  int failed = 0;
  for (int i = 0; i < 100; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(20);
      use();
      _exit(0);
    }
    int status = -1;
    failed += waitpid(pid, &status, 0) != pid || status != 0;
  }
  over = true;
  other.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace headrace
