#include "base/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace headrace {
namespace {

// What `fn` returns in a child; -1 if that was killed, as by its alarm.
template <typename F>
int InChild(const F& fn) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    _exit(fn());
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
