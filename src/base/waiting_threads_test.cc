#include "base/waiting_threads.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "headrace/mutex.h"

namespace headrace {
namespace {

// More tasks than processors, each of which waits for the last.
TEST(WaitingThreadsTest, EachTaskHasAThread) {
  constexpr int kTasks = 40;
  Notification go;
  std::vector<std::unique_ptr<Notification>> done;
  for (int i = 0; i < kTasks; ++i) {
    done.push_back(std::make_unique<Notification>());
    ASSERT_TRUE(StartWaitingThread([&go, d = done.back().get()] {
      go.WaitForNotification();
      d->Notify();
    }));
  }
  ASSERT_TRUE(StartWaitingThread([&go] { go.Notify(); }));
  for (auto& d : done) d->WaitForNotification();
}

TEST(WaitingThreadsTest, IdleThreadsServeAgain) {
  for (int i = 0; i < 5000; ++i) {
    Notification done;
    ASSERT_TRUE(StartWaitingThread([&done] { done.Notify(); })) << i;
    done.WaitForNotification();
  }
}

}  // namespace
}  // namespace headrace
