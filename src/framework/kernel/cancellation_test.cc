#include "headrace/cancellation.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

TEST(CancellationTest, RunsEachCallbackOnce) {
  CancellationManager c;
  EXPECT_FALSE(c.IsCancelled());
  EXPECT_EQ(c.status(), OkStatus());
  int a = 0, b = 0;
  const auto token = c.NextToken();
  EXPECT_TRUE(c.RegisterCallback(token, [&] { ++a; }));
  const auto gone = c.NextToken();
  EXPECT_NE(gone, token);
  EXPECT_TRUE(c.RegisterCallback(gone, [&] { ++b; }));
  EXPECT_TRUE(c.DeregisterCallback(gone));
  c.StartCancel(absl::DataLossError("first"));
  c.StartCancel(absl::InternalError("second"));
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 0);
  EXPECT_TRUE(c.IsCancelled());
  EXPECT_EQ(c.status(), absl::DataLossError("first"));
}

TEST(CancellationTest, WhoComesTooLateIsToldSo) {
  CancellationManager c;
  c.StartCancel();
  EXPECT_EQ(c.status().code(), absl::StatusCode::kCancelled);
  bool ran = false;
  const auto token = c.NextToken();
  EXPECT_FALSE(c.RegisterCallback(token, [&] { ran = true; }));
  EXPECT_FALSE(c.DeregisterCallback(token));
  EXPECT_FALSE(c.TryDeregisterCallback(token));
  EXPECT_FALSE(ran);
}

TEST(CancellationTest, ACallbackSeesTheReasonAndMayTryToDeregister) {
  CancellationManager c;
  const auto token = c.NextToken();
  Status seen;
  bool removed = true;
  ASSERT_TRUE(c.RegisterCallback(token, [&] {
    seen = c.status();
    removed = c.TryDeregisterCallback(token);  // without waiting for itself
  }));
  c.StartCancel(absl::AbortedError("why"));
  EXPECT_EQ(seen, absl::AbortedError("why"));
  EXPECT_FALSE(removed);
}

TEST(CancellationTest, DeregisterWaitsForACallbackInProgress) {
  CancellationManager c;
  Notification running, may_end;
  std::atomic<bool> ended{false};
  const auto token = c.NextToken();
  ASSERT_TRUE(c.RegisterCallback(token, [&] {
    running.Notify();
    may_end.WaitForNotification();
    ended = true;
  }));
  std::thread canceller([&] { c.StartCancel(); });
  running.WaitForNotification();
  EXPECT_FALSE(c.TryDeregisterCallback(token));  // at once
  EXPECT_FALSE(ended);
  std::thread releaser([&] {
    absl::SleepFor(absl::Milliseconds(20));
    may_end.Notify();
  });
  EXPECT_FALSE(c.DeregisterCallback(token));
  EXPECT_TRUE(ended);
  canceller.join();
  releaser.join();
}

TEST(CancellationTest, ACallbackThatThrowsDoesNotStopTheOthers) {
  CancellationManager c;
  int ran = 0;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(c.RegisterCallback(c.NextToken(), [&ran] {
      ++ran;
      throw std::bad_alloc();
    }));
  }
  c.StartCancel();
  EXPECT_EQ(ran, 8);
  // It is over: nobody waits for ever.
  EXPECT_FALSE(c.DeregisterCallback(0));
}

TEST(CancellationTest, AChildEndsWithItsParentAndNotTheOtherWayRound) {
  CancellationManager parent;
  CancellationManager first(&parent), second(&parent);
  first.StartCancel(absl::InternalError("own"));
  EXPECT_FALSE(parent.IsCancelled());
  EXPECT_FALSE(second.IsCancelled());
  {
    CancellationManager gone(&parent);  // leaves no callback behind
  }
  parent.StartCancel(absl::DeadlineExceededError("late"));
  EXPECT_EQ(second.status(), absl::DeadlineExceededError("late"));
  EXPECT_EQ(first.status(), absl::InternalError("own"));
  const CancellationManager born_late(&parent);
  EXPECT_EQ(born_late.status(), absl::DeadlineExceededError("late"));
}

// Whoever deregisters either keeps the callback from running or waits for it.
TEST(CancellationTest, StressDeregisterAgainstCancel) {
  for (int round = 0; round < 200; ++round) {
    CancellationManager c;
    std::vector<std::thread> threads;
    std::atomic<int> kept{0}, ran{0}, refused{0};
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          const auto token = c.NextToken();
          auto alive = std::make_unique<std::atomic<bool>>(true);
          std::atomic<bool>* const raw = alive.get();
          if (!c.RegisterCallback(token, [&ran, raw] {
                EXPECT_TRUE(*raw);
                ++ran;
              })) {
            ++refused;
            continue;
          }
          if (c.DeregisterCallback(token)) ++kept;
          *alive = false;
        }
      });
    }
    threads.emplace_back([&] { c.StartCancel(); });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(kept + ran + refused, 40);
  }
}

}  // namespace
}  // namespace headrace
