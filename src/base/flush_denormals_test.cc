#include "base/flush_denormals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "base/thread_pool.h"

namespace headrace {
namespace {

// Whether this thread's arithmetic knows denormals.
bool Flushes() {
  volatile float smallest = std::numeric_limits<float>::min();
  volatile double smallest_double = std::numeric_limits<double>::min();
  const bool flushes = smallest * 0.5f == 0;
  EXPECT_EQ(flushes, smallest_double * 0.5 == 0);
  return flushes;
}

#if defined(__SSE2__) || defined(__aarch64__)
TEST(FlushDenormalsTest, AThreadIsAsItWasAfterwards) {
  EXPECT_FALSE(Flushes());
  {
    const FlushDenormals outer;
    EXPECT_TRUE(Flushes());
    {
      const FlushDenormals inner;
      EXPECT_TRUE(Flushes());
    }
    EXPECT_TRUE(Flushes());
  }
  EXPECT_FALSE(Flushes());
}

TEST(FlushDenormalsTest, WorkersOfAPoolFlush) {
  ThreadPool pool(4);
  std::atomic<int> wrong{0}, left{16};
  for (int i = 0; i < 16; ++i) {
    pool.Schedule([&] {
      if (!Flushes()) ++wrong;
      --left;
    });
  }
  while (left > 0) {
  }
  EXPECT_EQ(wrong, 0);
}
#endif

}  // namespace
}  // namespace headrace
