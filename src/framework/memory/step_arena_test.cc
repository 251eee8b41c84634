#include "framework/memory/step_arena.h"

#include <gtest/gtest.h>

#include <cstring>

#include "headrace/tensor.h"

namespace headrace {
namespace {

// Two places that share bytes, one beside them; nodes with one, no and three
// outputs.
std::shared_ptr<ArenaLayout> Layout() {
  auto layout = std::make_shared<ArenaLayout>();
  layout->bytes = 3072;
  layout->places = {{0, 1024, {1}}, {512, 1024, {0}}, {2048, 1024, {}}};
  layout->first_output = {0, 1, 1};
  layout->output_place = {0, 1, ArenaLayout::kAnywhere, ArenaLayout::kOutside};
  return layout;
}

Tensor Allocate(Allocator* a, int64_t bytes) {
  Tensor t;
  EXPECT_EQ(
      Tensor::Allocate(a, DT_UINT8, TensorShape({bytes}), &t, Tensor::kHeap),
      OkStatus());
  std::memset(t.raw_data(), static_cast<int>(bytes % 251), t.TotalBytes());
  return t;
}

int64_t InUse() { return CpuAllocator()->GetStats().bytes_in_use; }

TEST(StepArenaTest, OutputsHaveTheirPlaces) {
  const RefPtr<StepArena> arena = StepArena::New(Layout());
  EXPECT_NE(arena->Outputs(0)[0], nullptr);
  EXPECT_NE(arena->Outputs(2)[0], arena->Outputs(0)[0]);
  EXPECT_EQ(arena->Outputs(2)[1], nullptr);
  EXPECT_EQ(arena->Outputs(2)[2], CpuAllocator());
}

TEST(StepArenaTest, APlaceIsGivenWhileNothingAliveSharesBytes) {
  const int64_t before = InUse();
  {
    const RefPtr<StepArena> arena = StepArena::New(Layout());
    Allocator* const low = arena->Outputs(0)[0];
    Allocator* const high = arena->Outputs(2)[0];
    const int64_t empty = InUse();
    Tensor a = Allocate(low, 1000);
    char* const block = static_cast<char*>(a.raw_data());
    EXPECT_EQ(InUse(), empty);
    // Too early, twice, too large.
    const Tensor early = Allocate(high, 1024), again = Allocate(low, 10),
                 large = Allocate(high, 1025);
    for (const Tensor* t : {&early, &again, &large}) {
      const char* const at = static_cast<const char*>(t->raw_data());
      EXPECT_TRUE(at < block || at >= block + 3072);
    }
    EXPECT_GT(InUse(), empty);
    EXPECT_EQ(static_cast<unsigned char*>(a.raw_data())[999], 1000 % 251);
    a = Tensor();
    const Tensor b = Allocate(high, 1024);
    EXPECT_EQ(b.raw_data(), block + 512);
    const Tensor c = Allocate(low, 1);
    EXPECT_NE(c.raw_data(), block);
  }
  EXPECT_EQ(InUse(), before);
}

TEST(StepArenaTest, PiecesOfTemporaryMemoryLieSideBySide) {
  const RefPtr<StepArena> arena = StepArena::New(Layout());
  Allocator* const place = arena->Outputs(2)[0];
  for (int call = 0; call < 2; ++call) {
    Tensor a = Allocate(place, 500);
    const Tensor b = Allocate(place, 300), c = Allocate(place, 300);
    const char* const at = static_cast<const char*>(a.raw_data());
    EXPECT_EQ(b.raw_data(), at + 512);
    EXPECT_NE(c.raw_data(), at + 832);  // no room
    a = Tensor();
    // What is left of `a` is not given again before all is free.
    EXPECT_NE(Allocate(place, 500).raw_data(), at);
    EXPECT_EQ(static_cast<const unsigned char*>(b.raw_data())[299], 300 % 251);
  }
}

TEST(StepArenaTest, LivesAsLongAsATensorInIt) {
  const int64_t before = InUse();
  Tensor kept, outside;
  {
    const RefPtr<StepArena> arena = StepArena::New(Layout());
    kept = Allocate(arena->Outputs(0)[0], 1024);
    outside = Allocate(arena->Outputs(2)[0], 2000);
  }
  EXPECT_EQ(static_cast<unsigned char*>(kept.raw_data())[1023], 1024 % 251);
  EXPECT_GT(InUse(), before);
  kept = Tensor();
  EXPECT_GT(InUse(), before);
  outside = Tensor();
  EXPECT_EQ(InUse(), before);
}

}  // namespace
}  // namespace headrace
