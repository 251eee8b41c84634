#include "headrace/mutex.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace headrace {
namespace {

TEST(MutexTest, GuardsAndSignals) {
  Mutex mu;
  CondVar cv;
  int turns = 0;  // guarded by mu
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      MutexLock lock(&mu);
      while (turns % 4 != t) cv.Wait(&mu);
      ++turns;
      cv.SignalAll();
    });
  }
  for (std::thread& t : threads) t.join();
  MutexLock lock(&mu);
  EXPECT_EQ(turns, 4);
}

TEST(MutexTest, WaitTimesOut) {
  Mutex mu;
  CondVar cv;
  MutexLock lock(&mu);
  EXPECT_TRUE(cv.WaitWithTimeout(&mu, absl::Milliseconds(1)));
  EXPECT_TRUE(cv.WaitWithTimeout(&mu, absl::Seconds(-1)));
  EXPECT_TRUE(cv.WaitWithDeadline(&mu, absl::InfinitePast()));
}

TEST(MutexTest, TryLockTellsWhoHasIt) {
  Mutex mu;
  if (!mu.TryLock()) FAIL() << "nobody has it";
  std::thread([&] { EXPECT_FALSE(mu.TryLock()); }).join();
  mu.Unlock();
}

TEST(NotificationTest, PublishesWhatCameBefore) {
  Notification done;
  int value = 0;
  std::thread thread([&] {
    value = 42;
    done.Notify();
  });
  done.WaitForNotification();
  EXPECT_EQ(value, 42);
  EXPECT_TRUE(done.HasBeenNotified());
  EXPECT_TRUE(done.WaitForNotificationWithTimeout(absl::InfiniteDuration()));
  thread.join();
}

TEST(NotificationTest, WaitsMayTimeOut) {
  Notification never;
  EXPECT_FALSE(never.HasBeenNotified());
  EXPECT_FALSE(never.WaitForNotificationWithTimeout(absl::Milliseconds(1)));
}

// The waiter's stack frame may end while Notify is still on its way out.
TEST(NotificationTest, WaiterMayDestroyIt) {
  for (int i = 0; i < 200; ++i) {
    std::thread thread;
    {
      Notification done;
      thread = std::thread([&done] { done.Notify(); });
      done.WaitForNotification();
    }
    thread.join();
  }
}

}  // namespace
}  // namespace headrace
