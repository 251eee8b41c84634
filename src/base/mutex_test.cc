#include "base/mutex.h"

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
  ReaderMutexLock lock(&mu);
  EXPECT_EQ(turns, 4);
}

TEST(MutexTest, WaitTimesOut) {
  Mutex mu;
  CondVar cv;
  MutexLock lock(&mu);
  EXPECT_TRUE(cv.WaitWithTimeout(&mu, absl::Milliseconds(1)));
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
  thread.join();
}

}  // namespace
}  // namespace headrace
