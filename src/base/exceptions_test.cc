#include "base/exceptions.h"

#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "base/memory.h"
#include "base/scratch_account.h"
#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(ExceptionsTest, WhatIsThrownBecomesAStatus) {
  const struct {
    void (*fn)();
    absl::StatusCode code;
    const char* message;
  } kCases[] = {{[] { throw OutOfMemory(123); },
                 absl::StatusCode::kResourceExhausted, "123 bytes"},
                {[] { throw std::bad_alloc(); },
                 absl::StatusCode::kResourceExhausted, "out of memory"},
                {[] { std::vector<int>().reserve(~size_t{0} / 2); },
                 absl::StatusCode::kResourceExhausted, "more elements"},
                {[] {
                   throw std::system_error(std::make_error_code(
                       std::errc::resource_unavailable_try_again));
                 },
                 absl::StatusCode::kResourceExhausted, "threads"},
                {[] { throw std::runtime_error("odd"); },
                 absl::StatusCode::kInternal, "odd"}};
  for (const auto& c : kCases) {
    const Status s = CatchExceptions([&c] {
      c.fn();
      return OkStatus();
    });
    EXPECT_EQ(s.code(), c.code) << s;
    EXPECT_NE(s.message().find(c.message), absl::string_view::npos) << s;
  }
  EXPECT_EQ(CatchExceptions([] { return OkStatus(); }), OkStatus());
}

TEST(MemoryTest, AvailableIsPartOfTotal) {
  EXPECT_GT(TotalMemory(), 0);
  EXPECT_GT(AvailableMemory(), 0);
  EXPECT_LE(AvailableMemory(), 2 * TotalMemory());  // there may be swap
  EXPECT_TRUE(MayTakeMemory(1));
  EXPECT_FALSE(MayTakeMemory(uint64_t{1} << 62));
}

class Limit : public MemoryCounter {
 public:
  explicit Limit(int64_t bytes) : left(bytes) {}
  bool Reserve(int64_t bytes) override {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  }
  void Release(int64_t bytes) override { left += bytes; }
  int64_t left;
};

TEST(ScratchAccountTest, LargePiecesCountUntilItEnds) {
  constexpr int64_t kMiB = 1 << 20;
  Limit limit(10 * kMiB);
  {
    const ScratchAccount account(&limit);
    EXPECT_TRUE(ScratchAccount::Admits(8 * kMiB));
    EXPECT_FALSE(ScratchAccount::Admits(8 * kMiB));
    EXPECT_TRUE(ScratchAccount::Admits(100));  // small ones always
    EXPECT_EQ(limit.left, 2 * kMiB);
    {
      const ScratchAccount inner(nullptr);
      EXPECT_TRUE(ScratchAccount::Admits(8 * kMiB));
    }
    EXPECT_FALSE(ScratchAccount::Admits(8 * kMiB));
  }
  EXPECT_EQ(limit.left, 10 * kMiB);
  EXPECT_TRUE(ScratchAccount::Admits(8 * kMiB));
}

}  // namespace
}  // namespace headrace
