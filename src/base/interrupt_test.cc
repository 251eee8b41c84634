#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <thread>

namespace headrace {
namespace {

TEST(InterruptTest, AsksAllChecksOfItsThread) {
  EXPECT_EQ(CheckInterrupt(), OkStatus());
  Status outer, inner;
  const Interrupt a([&] { return outer; });
  EXPECT_EQ(CheckInterrupt(), OkStatus());
  {
    const Interrupt b([&] { return inner; });
    EXPECT_EQ(CheckInterrupt(), OkStatus());
    inner = errors::Cancelled("inner");
    EXPECT_EQ(CheckInterrupt(), inner);
    inner = OkStatus();
    outer = errors::DeadlineExceeded("outer");
    EXPECT_EQ(CheckInterrupt(), outer);
    inner = errors::Cancelled("inner");
  }
  EXPECT_EQ(CheckInterrupt(), outer);
  Status elsewhere = outer;
  std::thread([&] { elsewhere = CheckInterrupt(); }).join();
  EXPECT_EQ(elsewhere, OkStatus());
}

}  // namespace
}  // namespace headrace
