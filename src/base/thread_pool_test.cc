#include "base/thread_pool.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/exceptions.h"
#include "base/scratch_account.h"
#include "base/stoppable_loops.h"
#include "gtest/gtest.h"
#include "headrace/mutex.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headrace {
namespace {

// Every test runs with each of these, more threads than processors included.
class ThreadPoolTest : public testing::TestWithParam<int> {
 protected:
  ThreadPool pool_{GetParam(), "test"};
};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest,
                         testing::Values(0, 1, 2, 3, 8));

// Counts arrivals; Wait returns when all `n` have come.
class Arrivals {
 public:
  explicit Arrivals(int n) : left_(n) {}
  void Arrive() {
    MutexLock lock(&mu_);
    if (--left_ == 0) all_.Notify();
  }
  void Wait() {
    all_.WaitForNotification();
    MutexLock lock(&mu_);  // the last to arrive has left
  }

 private:
  Mutex mu_;
  int left_ GUARDED_BY(mu_);
  Notification all_;
};

// Whichever thread it is on; the pool goes on working.
TEST_P(ThreadPoolTest, WhatABlockThrowsComesOutOfTheLoop) {
  for (int64_t bad = 0; bad < 64; bad += 7) {
    std::atomic<int64_t> ran{0};
    const Status s = CatchExceptions([&] {
      pool_.ParallelFor(64, 1, [&](int64_t begin, int64_t) {
        ++ran;
        if (begin >= bad) throw OutOfMemory(static_cast<size_t>(bad + 1));
      });
      return OkStatus();
    });
    EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
    EXPECT_NE(s.message().find(std::to_string(bad + 1) + " bytes"),
              absl::string_view::npos)
        << s;
    EXPECT_GE(ran, 1);
  }
  std::atomic<int64_t> sum{0};
  pool_.ParallelFor(100, 3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum += i;
  });
  EXPECT_EQ(sum, 4950);
}

TEST_P(ThreadPoolTest, BlocksCountOnTheAccountOfTheLoop) {
  class Counter : public MemoryCounter {
   public:
    bool Reserve(int64_t bytes) override {
      taken += bytes;
      return true;
    }
    void Release(int64_t bytes) override { taken -= bytes; }
    std::atomic<int64_t> taken{0};
  };
  Counter counter;
  pool_.ParallelFor(2, 1, [](int64_t, int64_t) {});  // it makes what it needs
  {
    const ScratchAccount account(&counter);
    pool_.ParallelFor(16, 1, [](int64_t, int64_t) {
      EXPECT_TRUE(ScratchAccount::Admits(ScratchAccount::kMinPiece));
    });
    EXPECT_EQ(counter.taken, 16 * ScratchAccount::kMinPiece);
  }
  EXPECT_EQ(counter.taken, 0);
}

TEST_P(ThreadPoolTest, LoopCoversEachUnitOnce) {
  const struct {
    int64_t total, block;
  } kCases[] = {{0, 1},   {-5, 3},   {1, 1},    {10, 3},    {10, 0},
                {10, 10}, {10, 100}, {1000, 7}, {4096, 64}, {5000, 1}};
  for (const auto& c : kCases) {
    std::vector<int> hits(std::max<int64_t>(c.total, 0));
    pool_.ParallelFor(c.total, c.block, [&](int64_t begin, int64_t end) {
      EXPECT_LT(begin, end);
      EXPECT_EQ(begin % std::max<int64_t>(1, c.block), 0);
      for (int64_t i = begin; i < end; ++i) ++hits[i];
    });
    EXPECT_EQ(std::count(hits.begin(), hits.end(), 1),
              std::max<int64_t>(c.total, 0));
  }
}

TEST_P(ThreadPoolTest, HugeRangesDoNotOverflow) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> sum{0};
  pool_.ParallelFor(kMax, kMax / 3, [&](int64_t begin, int64_t end) {
    EXPECT_LT(begin, end);
    sum += end - begin;
  });
  EXPECT_EQ(sum, kMax);
}

TEST_P(ThreadPoolTest, BlocksDoNotDependOnThreads) {
  auto blocks = [](ThreadPool* pool) {
    Mutex mu;
    std::set<std::pair<int64_t, int64_t>> set;
    auto add = [&](int64_t begin, int64_t end) {
      MutexLock lock(&mu);
      set.insert({begin, end});
    };
    pool->ParallelFor(1000, 37, add);
    pool->ParallelForCost(1000000, 3.0, add);
    return set;
  };
  ThreadPool one(1);
  EXPECT_EQ(blocks(&pool_), blocks(&one));
}

TEST_P(ThreadPoolTest, SmallWorkRunsInlineInOneCall) {
  int calls = 0;
  const auto self = std::this_thread::get_id();
  auto body = [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 1000);
    EXPECT_EQ(std::this_thread::get_id(), self);
  };
  pool_.ParallelForCost(1000, 1.0, body);
  pool_.ParallelFor(1000, 1000, body);
  EXPECT_EQ(calls, 2);
}

TEST_P(ThreadPoolTest, StoppableLoopsLeaveOutTheRest) {
  ThreadPool pool(GetParam());
  std::atomic<bool> stop{false};
  std::atomic<int> ran{0};
  {
    StoppableLoops loops(
        [](const void* flag) {
          return static_cast<const std::atomic<bool>*>(flag)->load();
        },
        &stop);
    // Also where the loop is inside the body of another.
    pool.ParallelFor(2, 1, [&](int64_t, int64_t) {
      pool.ParallelFor(1000, 1, [&](int64_t, int64_t) {
        if (ran.fetch_add(1) == 9) stop = true;
        while (!stop && ran > 9) {
        }
      });
    });
    EXPECT_TRUE(loops.cut());
  }
  EXPECT_GE(ran, 10);
  EXPECT_LE(ran, 10 + 2 * GetParam());
  // Gone with the scope.
  ran = 0;
  pool.ParallelFor(1000, 1, [&](int64_t, int64_t) { ++ran; });
  EXPECT_EQ(ran, 1000);
}

TEST_P(ThreadPoolTest, NestedLoops) {
  std::atomic<int64_t> sum{0};
  pool_.ParallelFor(16, 1, [&](int64_t, int64_t) {
    pool_.ParallelFor(16, 1, [&](int64_t, int64_t) {
      pool_.ParallelFor(8, 1, [&](int64_t b, int64_t) { sum += b; });
    });
  });
  EXPECT_EQ(sum, 16 * 16 * 28);
}

TEST_P(ThreadPoolTest, ManyClientsShareThePool) {
  constexpr int kClients = 6;
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([this, c] {
      for (int round = 0; round < 300; ++round) {
        const int64_t total = 1 + (round * 7 + c) % 50;
        std::vector<int64_t> out(total);  // plain: TSan checks the hand-over
        pool_.ParallelFor(total, 3, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) out[i] = i;
        });
        int64_t sum = 0;
        for (int64_t v : out) sum += v;
        ASSERT_EQ(sum, total * (total - 1) / 2);
      }
    });
  }
  for (std::thread& t : clients) t.join();
}

TEST_P(ThreadPoolTest, MoreLoopsAtOnceThanSlots) {
  constexpr int kClients = 80;
  std::atomic<int64_t> sum{0};
  Arrivals all_inside(kClients);
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&] {
      std::atomic<bool> first{true};
      pool_.ParallelFor(4, 1, [&](int64_t, int64_t) {
        // Holds every caller in its loop until all of them are in one. A
        // worker may take the place of the caller here, hence not by thread.
        if (first.exchange(false)) {
          all_inside.Arrive();
          all_inside.Wait();
        }
        ++sum;
      });
    });
  }
  for (std::thread& t : clients) t.join();
  EXPECT_EQ(sum, kClients * 4);
}

TEST_P(ThreadPoolTest, ScheduleFromManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2000;
  std::atomic<int> ran{0};
  Arrivals all(kThreads * kEach);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        auto moved = std::make_unique<int>(1);  // tasks may own things
        pool_.Schedule([&, moved = std::move(moved)] {
          EXPECT_TRUE(pool_.InWorker());
          ran += *moved;
          all.Arrive();
        });
      }
    });
  }
  for (std::thread& t : threads) t.join();
  all.Wait();
  EXPECT_EQ(ran, kThreads * kEach);
  EXPECT_FALSE(pool_.InWorker());
}

TEST_P(ThreadPoolTest, TasksScheduleTasksAndLoops) {
  constexpr int kTasks = 200;
  std::atomic<int64_t> sum{0};
  Arrivals all(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    pool_.Schedule([&] {
      pool_.ParallelFor(10, 1, [&](int64_t b, int64_t) { sum += b; });
      pool_.Schedule([&] { all.Arrive(); });
    });
  }
  all.Wait();
  EXPECT_EQ(sum, kTasks * 45);
}

TEST_P(ThreadPoolTest, LoopsProceedWhileAllWorkersAreBlocked) {
  Notification release;
  const int workers = std::max(1, pool_.NumThreads() - 1);
  Arrivals blocked(workers);
  Arrivals released(workers);
  for (int i = 0; i < workers; ++i) {
    pool_.Schedule([&] {
      blocked.Arrive();
      release.WaitForNotification();
      released.Arrive();
    });
  }
  blocked.Wait();
  int64_t sum = 0;  // plain: only this thread is left to run the blocks
  pool_.ParallelFor(100, 1, [&](int64_t b, int64_t) { sum += b; });
  EXPECT_EQ(sum, 4950);
  release.Notify();
  released.Wait();
}

// Wake-ups are lost, if ever, around the moment a worker parks.
TEST_P(ThreadPoolTest, WakesParkedWorkers) {
  for (int i = 0; i < 300; ++i) {
    Notification ran;
    pool_.Schedule([&] { ran.Notify(); });
    ran.WaitForNotification();
    std::this_thread::sleep_for(std::chrono::microseconds(i % 60));
  }
}

TEST(ThreadPoolLifeTest, DestructorRunsWhatIsScheduled) {
  for (int threads : {1, 2, 5}) {
    std::atomic<int> ran{0};
    std::atomic<int> nested{0};
    {
      ThreadPool pool(threads);
      for (int i = 0; i < 100; ++i) {
        pool.Schedule([&] {
          ++ran;
          pool.Schedule([&] { ++nested; });
        });
      }
    }
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(nested, 100);
  }
  ThreadPool unused(4);  // never starts a thread
}

TEST(ThreadPoolLifeTest, WorkersHelp) {
  ThreadPool pool(2);
  // Both blocks wait for each other, so two threads must have taken part.
  Arrivals both(2);
  std::atomic<int> ran{0};
  pool.ParallelFor(2, 1, [&](int64_t, int64_t) {
    both.Arrive();
    both.Wait();
    ++ran;
  });
  EXPECT_EQ(ran, 2);
}

TEST(ThreadPoolLifeTest, TasksAreNotStarvedByLoops) {
  ThreadPool pool(2);
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (int c = 0; c < 2; ++c) {
    clients.emplace_back([&] {
      while (!stop) {
        pool.ParallelFor(4, 1, [](int64_t, int64_t) {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        });
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    Notification ran;
    pool.Schedule([&] { ran.Notify(); });
    ran.WaitForNotification();
  }
  stop = true;
  for (std::thread& t : clients) t.join();
}

#if defined(__x86_64__)
TEST(ThreadPoolLifeTest, WorkersTakeTheCallersFloatMode) {
  ThreadPool pool(2);
  constexpr unsigned kFlushToZero = 0x8000;
  for (bool flush : {true, false}) {
    const unsigned before = _mm_getcsr();
    _mm_setcsr(flush ? before | kFlushToZero : before & ~kFlushToZero);
    Arrivals both(2);
    pool.ParallelFor(2, 1, [&](int64_t, int64_t) {
      both.Arrive();
      both.Wait();
      EXPECT_EQ((_mm_getcsr() & kFlushToZero) != 0, flush);
    });
    _mm_setcsr(before);
  }
}
#endif

double ProcessCpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

TEST(ThreadPoolLifeTest, ParkedWorkersCostNothing) {
  ThreadPool pool(8);
  pool.ParallelFor(100, 1, [](int64_t, int64_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = ProcessCpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(ProcessCpuSeconds() - before, 0.02);
}

int OwnProcessors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

// A worker is kept off one processor while it is being woken, but not for long.
TEST(ThreadPoolLifeTest, WorkersKeepAllProcessors) {
  const int all = OwnProcessors();
  for (int threads : {2, 4, 8}) {
    ThreadPool pool(threads);
    int seen = 0;
    for (int i = 0; i < 2000 && seen < 20; ++i) {
      // Parked, so that it is woken.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      Notification ran;
      pool.Schedule([&] {
        seen += OwnProcessors() == all;
        ran.Notify();
      });
      ran.WaitForNotification();
    }
    EXPECT_EQ(seen, 20) << threads << " threads";
  }
}

#if defined(HEADRACE_TSAN)
constexpr bool kForkAllowed = false;  // TSan refuses threads after a fork
#else
constexpr bool kForkAllowed = true;
#endif
// GCC's ASan leaves its allocator locked in the child of a fork during which
// another thread allocates.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kForkWhileBusy = false;
#else
constexpr bool kForkWhileBusy = true;
#endif

// What a forked child does with the pools it inherited; its exit code.
int UsePools(ThreadPool* pool) {
  std::atomic<int64_t> sum{0};
  for (ThreadPool* p : {pool, ThreadPool::Global()}) {
    p->ParallelFor(100, 1, [&](int64_t b, int64_t) { sum += b; });
    Notification ran;
    p->Schedule([&] { ran.Notify(); });
    if (!ran.WaitForNotificationWithTimeout(absl::Seconds(20))) return 1;
  }
  return sum == 2 * 4950 ? 0 : 2;
}

TEST(ThreadPoolForkTest, ChildRestartsItsWorkers) {
  if (!kForkAllowed) GTEST_SKIP();
  ThreadPool pool(3);
  ASSERT_EQ(UsePools(&pool), 0);
  // Keeps the pools' locks busy while we fork.
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (kForkWhileBusy && !stop) {
      pool.Schedule([] {});
      pool.ParallelFor(8, 1, [](int64_t, int64_t) {});
    }
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);
      _exit(UsePools(&pool));
    }
    int state = 0;
    ASSERT_EQ(waitpid(child, &state, 0), child);
    EXPECT_TRUE(WIFEXITED(state)) << state;
    EXPECT_EQ(WEXITSTATUS(state), 0);
  }
  stop = true;
  busy.join();
  EXPECT_EQ(UsePools(&pool), 0);
}

TEST(ThreadPoolForkTest, PoolMayBeDestroyedInTheChild) {
  if (!kForkAllowed) GTEST_SKIP();
  auto pool = std::make_unique<ThreadPool>(3);
  ASSERT_EQ(UsePools(pool.get()), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    pool.reset();
    _exit(0);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state)) << state;
}

TEST(BlockForCostTest, BlocksAreWorth25To50Microseconds) {
  const struct {
    int64_t total;
    double cost_ns;
  } kCases[] = {{100, 1e6},    {1000000, 1}, {7, 20000},
                {100000, 0.7}, {3, 1e9},     {1 << 30, 0.25}};
  for (const auto& c : kCases) {
    const int64_t block = ThreadPool::BlockForCost(c.total, c.cost_ns);
    EXPECT_GE(block, 1);
    const double ns = static_cast<double>(block) * c.cost_ns;
    EXPECT_GE(ns, 25000) << c.total << " " << c.cost_ns;
    EXPECT_LE(ns, std::max(51000.0, c.cost_ns)) << c.total << " " << c.cost_ns;
  }
  EXPECT_EQ(ThreadPool::BlockForCost(1000, 1), 1000);
  EXPECT_EQ(ThreadPool::BlockForCost(1000, 0), 1000);
  EXPECT_EQ(ThreadPool::BlockForCost(1000, -1), 1000);
  EXPECT_EQ(ThreadPool::BlockForCost(1000, 1e300), 1);
  EXPECT_EQ(
      ThreadPool::BlockForCost(1000, std::numeric_limits<double>::quiet_NaN()),
      1000);
  EXPECT_EQ(ThreadPool::BlockForCost(0, 1), 1);
}

}  // namespace
}  // namespace headrace
