#include "base/fork.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "absl/time/clock.h"

namespace headrace {
namespace {

// What `fn` returns in a child; -1 if that was killed, as by its alarm.
template <typename F>
int InChild(const F& fn) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    // Not _exit: there ThreadSanitizer says that the parent's threads leak.
    syscall(SYS_exit_group, fn());
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkTest, GenerationsCount) {
  const uint32_t here = ForkGeneration();
  EXPECT_EQ(InChild([&] { return ForkGeneration() == here + 1 ? 3 : 4; }), 3);
  EXPECT_EQ(ForkGeneration(), here);
}

TEST(ForkTest, AGateThatNobodyHadPassedIsOpenInTheChild) {
  ForkGate gate;
  ASSERT_TRUE(gate.Enter());
  gate.Leave();
  EXPECT_EQ(InChild([&] {
              if (gate.IsAbandoned() || !gate.Enter()) return 1;
              if (!gate.Enter()) return 2;  // two of this process
              gate.Leave();
              gate.Leave();
              return 3;
            }),
            3);
}

TEST(ForkTest, AGateWithSomebodyInsideIsShutInTheChildAlone) {
  ForkGate gate;
  ASSERT_TRUE(gate.Enter());
  EXPECT_EQ(
      InChild([&] { return gate.IsAbandoned() && !gate.Enter() ? 3 : 1; }), 3);
  EXPECT_FALSE(gate.IsAbandoned());
  EXPECT_TRUE(gate.Enter());
  gate.Leave();
  gate.Leave();
}

TEST(ForkTest, AHeldLockIsFreeInTheChild) {
  Mutex mu;
  HoldDuringFork(&mu);
  std::atomic<bool> over{false};
  volatile int spun = 0;
  std::thread busy([&] {
    while (!over) {
      {
        MutexLock lock(&mu);
        for (int i = 0; i < 1000; ++i) spun = i;
      }
      for (int i = 0; i < 1000; ++i) spun = i;
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(InChild([&] {
                MutexLock lock(&mu);
                return 3;
              }),
              3);
  }
  over = true;
  busy.join();
  ReleaseFromFork(&mu);
}

// Holds `mu`, and the processor, for 0.4 s; says when it has begun.
void HoldAtWork(Mutex* mu, std::atomic<bool>* begun) {
  using Clock = std::chrono::steady_clock;
  MutexLock lock(mu);
  const auto end = Clock::now() + std::chrono::milliseconds(400);
  *begun = true;
  while (Clock::now() < end) {
  }
}

TEST(ForkTest, ALockWhoseOwnerIsAtWorkForLongIsFreeInTheChild) {
  Mutex mu;
  HoldDuringFork(&mu);
  std::atomic<bool> begun{false};
  std::thread busy(HoldAtWork, &mu, &begun);
  while (!begun) std::this_thread::yield();
  EXPECT_EQ(InChild([&] {
              MutexLock lock(&mu);
              return 3;
            }),
            3);
  busy.join();
  ReleaseFromFork(&mu);
}

TEST(ForkTest, AForkWaitsForTheInitializersOfOtherThreads) {
  Mutex registers_the_handlers;
  HoldDuringFork(&registers_the_handlers);
  std::atomic<bool> begun{false};
  std::atomic<bool> over{false};
  std::thread busy([&] {
    const InitializerScope scope;
    const InitializerScope nested;
    begun = true;
    absl::SleepFor(absl::Milliseconds(50));
    over = true;
  });
  while (!begun) std::this_thread::yield();
  EXPECT_EQ(InChild([&] {
              const InitializerScope own;
              return over ? 3 : 4;
            }),
            3);
  busy.join();
  ReleaseFromFork(&registers_the_handlers);
}

TEST(ForkTest, AnInitializerMayForkAndItsChildHasInitializers) {
  Mutex registers_the_handlers;
  HoldDuringFork(&registers_the_handlers);
  const InitializerScope scope;
  EXPECT_EQ(InChild([&] {
              const InitializerScope nested;
              return InChild([] { return 3; });
            }),
            3);
  ReleaseFromFork(&registers_the_handlers);
}

TEST(ForkTest, ALockThatIsKeptDoesNotKeepAForkForEver) {
  Mutex mu;
  HoldDuringFork(&mu);
  mu.Lock();
  EXPECT_EQ(InChild([] { return 3; }), 3);
  mu.Unlock();
  ReleaseFromFork(&mu);
}

}  // namespace
}  // namespace headrace
