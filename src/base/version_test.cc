#include "headrace/version.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(VersionTest, HasThreeNumbers) {
  const std::string version = Version();
  EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2) << version;
}

}  // namespace
}  // namespace headrace
