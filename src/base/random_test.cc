#include "base/random.h"

#include <set>

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(RandomTest, SeedsDifferAndAreNotZero) {
  std::set<uint64_t> seen = {0};
  for (int i = 0; i < 1000; ++i)
    EXPECT_TRUE(seen.insert(RandomSeed64()).second);
}

}  // namespace
}  // namespace headrace
