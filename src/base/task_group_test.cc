#include "base/task_group.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "gtest/gtest.h"
#include "headrace/clock.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

void SleepFor(absl::Duration time) {
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(time));
}

using HelpWith = ThreadPool::HelpWith;

// A pool with one worker, which is blocked until Release.
class TaskGroupTest : public testing::Test {
 protected:
  ~TaskGroupTest() override {
    Release();
    ended_.WaitForNotification();
  }
  void SetUp() override {
    Notification blocked;
    pool_.Schedule([this, &blocked] {
      blocked.Notify();
      release_.WaitForNotification();
      ended_.Notify();
    });
    blocked.WaitForNotification();
  }
  void Release() {
    if (!release_.HasBeenNotified()) release_.Notify();
  }
  bool HelpFor(TaskGroup* group, HelpWith with, absl::Duration time,
               ThreadPool* tasks) {
    return ThreadPool::Help(
        group, tasks, &pool_, with, [group] { return group->finished(); },
        Now() + time);
  }
  // Starts a loop of two blocks on a thread of its own. Sets `together_` if the
  // second began while the first was running.
  std::thread LoopForTwo(TaskGroup* group, std::atomic<int>* blocks) {
    return std::thread([this, group, blocks] {
      const TaskGroup::Scope scope(group);
      pool_.ParallelFor(2, 1, [blocks](int64_t, int64_t) {
        if (blocks->fetch_add(1) != 0) return;
        const absl::Time end = Now() + absl::Milliseconds(200);
        while (blocks->load() < 2 && Now() < end) std::this_thread::yield();
        together_ = blocks->load() == 2;
      });
    });
  }

  ThreadPool pool_{2, "test"};
  Notification release_, ended_;
  static inline std::atomic<bool> together_{false};
};

TEST_F(TaskGroupTest, TheHelperRunsTheTasksOfItsGroup) {
  TaskGroup group;
  std::thread::id ran;
  pool_.Schedule(
      [&] {
        ran = std::this_thread::get_id();
        group.Finish();
      },
      &group);
  EXPECT_TRUE(
      HelpFor(&group, HelpWith::kGroup, absl::InfiniteDuration(), &pool_));
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST_F(TaskGroupTest, ASleepingHelperIsWokenForATask) {
  TaskGroup group;
  std::thread later([&] {
    SleepFor(absl::Milliseconds(20));
    pool_.Schedule([&] { group.Finish(); }, &group);
  });
  EXPECT_TRUE(
      HelpFor(&group, HelpWith::kGroup, absl::InfiniteDuration(), &pool_));
  later.join();
}

TEST_F(TaskGroupTest, TasksOfOthersAreLeftToTheWorkers) {
  TaskGroup group, other;
  std::atomic<bool> ran{false};
  pool_.Schedule([&] { ran = true; }, &other);
  pool_.Schedule([&] { ran = true; });
  EXPECT_FALSE(
      HelpFor(&group, HelpWith::kAllLoops, absl::Milliseconds(20), &pool_));
  EXPECT_FALSE(ran);
  Release();
  ended_.WaitForNotification();
  while (!ran) std::this_thread::yield();
}

TEST_F(TaskGroupTest, WithoutAPoolForTasksTheyAreLeftToTheWorkers) {
  TaskGroup group;
  std::atomic<bool> ran{false};
  pool_.Schedule(
      [&] {
        ran = true;
        group.Finish();
      },
      &group);
  EXPECT_FALSE(
      HelpFor(&group, HelpWith::kAllLoops, absl::Milliseconds(20), nullptr));
  EXPECT_FALSE(ran);
  Release();
  EXPECT_TRUE(
      HelpFor(&group, HelpWith::kGroup, absl::InfiniteDuration(), nullptr));
}

TEST_F(TaskGroupTest, TheHelperTakesBlocksOfTheLoopsOfItsGroup) {
  TaskGroup group;
  std::atomic<int> blocks{0};
  std::thread caller = LoopForTwo(&group, &blocks);
  std::thread end([&] {
    caller.join();
    group.Finish();
  });
  EXPECT_TRUE(
      HelpFor(&group, HelpWith::kGroup, absl::InfiniteDuration(), nullptr));
  end.join();
  EXPECT_TRUE(together_);
}

TEST_F(TaskGroupTest, LoopsOfOthersOnlyIfItMay) {
  for (const auto with : {HelpWith::kGroup, HelpWith::kAllLoops}) {
    TaskGroup group, other;
    std::atomic<int> blocks{0};
    std::thread end([&] {
      SleepFor(absl::Milliseconds(5));  // the helper sleeps by then
      LoopForTwo(&other, &blocks).join();
      group.Finish();
    });
    EXPECT_TRUE(HelpFor(&group, with, absl::InfiniteDuration(), &pool_));
    end.join();
    EXPECT_EQ(together_, with == HelpWith::kAllLoops);
  }
}

TEST_F(TaskGroupTest, BlocksRunInTheGroupOfTheirLoop) {
  TaskGroup group, other;
  {
    const TaskGroup::Scope scope(&other);
    EXPECT_EQ(TaskGroup::Current(), &other);
  }
  EXPECT_EQ(TaskGroup::Current(), nullptr);
  std::atomic<int> wrong{0};
  std::atomic<int> blocks{0};
  std::thread caller([&] {
    const TaskGroup::Scope scope(&group);
    pool_.ParallelFor(64, 1, [&](int64_t, int64_t) {
      ++blocks;
      if (TaskGroup::Current() != &group) ++wrong;
      SleepFor(absl::Microseconds(100));
    });
    group.Finish();
  });
  EXPECT_TRUE(
      HelpFor(&group, HelpWith::kGroup, absl::InfiniteDuration(), nullptr));
  caller.join();
  EXPECT_EQ(blocks, 64);
  EXPECT_EQ(wrong, 0);
}

TEST_F(TaskGroupTest, ANudgeMakesEveryWaiterLookAgain) {
  TaskGroup group;
  std::atomic<bool> stop{false};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&] {
      EXPECT_TRUE(ThreadPool::Help(&group, &pool_, &pool_, HelpWith::kAllLoops,
                                   [&] { return stop.load(); }));
    });
  }
  SleepFor(absl::Milliseconds(10));
  group.Nudge();  // for nothing
  SleepFor(absl::Milliseconds(10));
  stop = true;
  group.Nudge();
  for (std::thread& t : waiters) t.join();
}

TEST_F(TaskGroupTest, ADeadlineEndsTheWait) {
  TaskGroup group;
  const absl::Time start = Now();
  EXPECT_FALSE(
      HelpFor(&group, HelpWith::kAllLoops, absl::Milliseconds(10), &pool_));
  EXPECT_GE(Now() - start, absl::Milliseconds(10));
  EXPECT_FALSE(
      HelpFor(&group, HelpWith::kAllLoops, absl::ZeroDuration(), &pool_));
  group.Finish();
  EXPECT_TRUE(
      HelpFor(&group, HelpWith::kAllLoops, absl::ZeroDuration(), &pool_));
}

// A group on the stack of the thread that waits for it: nobody may touch it
// once it has finished.
TEST(TaskGroupStressTest, ManyGroupsAtOnce) {
  ThreadPool pool(3, "test");
  std::vector<std::thread> clients;
  std::atomic<int64_t> sum{0};
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&pool, &sum, c] {
      for (int run = 0; run < 300; ++run) {
        TaskGroup group;
        std::atomic<int> left{5};
        const auto end = [&left, &group] {
          if (left.fetch_sub(1) == 1) group.Finish();
        };
        for (int t = 0; t < 4; ++t) {
          pool.Schedule(
              [&pool, &group, &sum, &end, t] {
                const TaskGroup::Scope scope(&group);
                pool.ParallelFor(1 + 4 * t, 1,
                                 [&sum](int64_t, int64_t) { ++sum; });
                end();
              },
              &group);
        }
        end();
        if (run % 3 == c % 3) SleepFor(absl::Microseconds(200));
        const auto with = run % 2 ? HelpWith::kGroup : HelpWith::kAllLoops;
        ThreadPool::Help(&group, run % 5 ? &pool : nullptr, &pool, with,
                         [&group] { return group.finished(); });
      }
    });
  }
  for (std::thread& t : clients) t.join();
  EXPECT_EQ(sum, int64_t{4} * 300 * (1 + 5 + 9 + 13));
}

}  // namespace
}  // namespace headrace
