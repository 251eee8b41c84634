#include "runtime/deadline_timer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

constexpr int64_t kNever = 1'000'000'000;  // milliseconds

TEST(DeadlineTest, ExpiresOnceAfterItsTime) {
  Notification expired;
  std::atomic<int> times{0};
  const absl::Time start = absl::Now();
  const Deadline d(20, [&] {
    ++times;
    expired.Notify();
  });
  ASSERT_TRUE(expired.WaitForNotificationWithTimeout(absl::Seconds(20)));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(20));
  absl::SleepFor(absl::Milliseconds(30));
  EXPECT_EQ(times, 1);
}

TEST(DeadlineTest, DestroyedBeforeItsTimeItDoesNothing) {
  constexpr absl::Duration kTime = absl::Milliseconds(100);
  std::atomic<int> times{0};
  int too_late = 0;  // the machine was busy, so that it may have expired
  for (int i = 0; i < 50; ++i) {
    const absl::Time start = absl::Now();
    {
      const Deadline d(absl::ToInt64Milliseconds(kTime), [&] { ++times; });
    }
    too_late += absl::Now() - start >= kTime;
  }
  absl::SleepFor(2 * kTime);
  EXPECT_LE(times, too_late);
}

TEST(DeadlineTest, WithoutATimeItNeverExpires) {
  std::atomic<int> times{0};
  {
    const Deadline none(0, [&] { ++times; });
    const Deadline past(-5, [&] { ++times; });
    absl::SleepFor(absl::Milliseconds(20));
  }
  EXPECT_EQ(times, 0);
}

TEST(DeadlineTest, ASoonerOneOvertakesThoseThatWait) {
  const Deadline late(kNever, [] {});
  const Deadline later(kNever + 1, [] {});
  Notification expired;
  const Deadline soon(1, [&] { expired.Notify(); });
  EXPECT_TRUE(expired.WaitForNotificationWithTimeout(absl::Seconds(20)));
}

TEST(DeadlineTest, ThoseOfOneMomentAllExpire) {
  constexpr int kCount = 100;
  std::atomic<int> times{0};
  Notification all;
  std::vector<std::unique_ptr<Deadline>> deadlines;
  for (int i = 0; i < kCount; ++i) {
    deadlines.push_back(std::make_unique<Deadline>(10, [&] {
      if (++times == kCount) all.Notify();
    }));
  }
  EXPECT_TRUE(all.WaitForNotificationWithTimeout(absl::Seconds(20)));
}

TEST(DeadlineTest, ItsEndWaitsForACallInProgress) {
  Notification began;
  std::atomic<bool> ended{false};
  {
    const Deadline d(1, [&] {
      began.Notify();
      absl::SleepFor(absl::Milliseconds(40));
      ended = true;
    });
    began.WaitForNotification();
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

TEST(DeadlineTest, StressManyComeAndGo) {
  std::vector<std::thread> threads;
  std::atomic<int> after_end{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        auto alive = std::make_shared<std::atomic<bool>>(true);
        {
          const Deadline d(1 + (i + t) % 3, [alive, &after_end] {
            if (!*alive) ++after_end;
          });
          if (i % 4 == 0) absl::SleepFor(absl::Milliseconds(2));
        }
        *alive = false;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(after_end, 0);
}

}  // namespace
}  // namespace headrace
