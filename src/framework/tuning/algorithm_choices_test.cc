#include "framework/tuning/algorithm_choices.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "framework/tuning/algorithm_tuner.h"

namespace headrace {
namespace {

using Times = AlgorithmChoices::Times;

std::string TempPath(const char* name) {
  return JoinPath(testing::TempDir(), name);
}

std::string Describe(const Times& times) {
  std::string text;
  for (const AlgorithmChoices::Time& t : times) {
    text += StrCat(t.algorithm, "=", static_cast<int64_t>(t.ns), " ");
  }
  return text;
}

TEST(AlgorithmChoicesTest, FileGivesBackWhatWasWritten) {
  AlgorithmChoices c;
  c.Add("A; 1", "conv a", {{"direct", 20}, {"winograd", 10}});
  c.Add("A; 1", "conv b", {{"direct", 5}});
  c.Add("B; 1", "conv a", {{"im2col", 7}});
  const std::string path = TempPath("round_trip.choices");
  ASSERT_EQ(c.WriteFile(Env::Default(), path), OkStatus());
  auto read = AlgorithmChoices::ReadFile(Env::Default(), path);
  ASSERT_EQ(read.status(), OkStatus());
  EXPECT_EQ(read->ToText(), c.ToText());
  ASSERT_NE(read->Find("A; 1", "conv a"), nullptr);
  EXPECT_EQ(Describe(*read->Find("A; 1", "conv a")), "winograd=10 direct=20 ");
  EXPECT_EQ(read->Find("A; 2", "conv a"), nullptr);
  EXPECT_EQ(read->Find("B; 1", "conv b"), nullptr);
}

TEST(AlgorithmChoicesTest, MergeTakesTheShorterTimes) {
  AlgorithmChoices a, b;
  a.Add("m", "p", {{"x", 10}, {"y", 20}});
  b.Add("m", "p", {{"y", 5}, {"z", 7}});
  b.Add("m", "q", {{"x", 1}});
  b.Add("n", "p", {{"x", 1}});
  a.Merge(b);
  EXPECT_EQ(Describe(*a.Find("m", "p")), "y=5 z=7 x=10 ");
  EXPECT_NE(a.Find("m", "q"), nullptr);
  EXPECT_EQ(a.machines().size(), 2);
}

TEST(AlgorithmChoicesTest, NoneIsLostAmongSeveralWhoAddToAFile) {
  constexpr int kThreads = 6, kEach = 10;
  const std::string path = TempPath("added.choices");
  Env::Default()->DeleteFile(path).IgnoreError();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&path, t] {
      for (int i = 0; i < kEach; ++i) {
        AlgorithmChoices c;
        c.Add("m", StrCat("problem ", t, " ", i), {{"x", 1}});
        EXPECT_EQ(c.AddToFile(Env::Default(), path), OkStatus());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  auto read = AlgorithmChoices::ReadFile(Env::Default(), path);
  ASSERT_EQ(read.status(), OkStatus());
  EXPECT_EQ(read->machines().at("m").size(), kThreads * kEach);
}

TEST(AlgorithmChoicesTest, LinesMayEndAsOnWindows) {
  const auto read = AlgorithmChoices::Parse(
      "headrace algorithm choices 1\r\n# why\r\n\r\n[m]\r\np\tx 12\r\n",
      "f.choices");
  ASSERT_EQ(read.status(), OkStatus());
  EXPECT_EQ(read->ToText(), "headrace algorithm choices 1\n[m]\np\tx 12\n");
}

TEST(AlgorithmChoicesTest, RefusesWhatIsNoSuchFile) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"", "line 1: does not say what it is"},
      {"\x7f"
       "ELF",
       "line 1: does not say what it is"},
      {"headrace algorithm choices 2\n", "is of format 2; this library reads"},
      {"headrace algorithm choices 1\np\tx 1\n", "before the first machine"},
      {"headrace algorithm choices 1\n[m\np\tx 1\n", "no machine between"},
      {"headrace algorithm choices 1\n[m]\np\n", "wanted a problem"},
      {"headrace algorithm choices 1\n[m]\np\tx\n", "'x' is no algorithm"},
      {"headrace algorithm choices 1\n[m]\np\tx 0\n", "'x 0' is no"},
      {"headrace algorithm choices 1\n[m]\np\tx nan\n", "'x nan' is no"},
      {"headrace algorithm choices 1\n[m]\np\tx 1e99\n", "'x 1e99' is no"},
      {"headrace algorithm choices 1\n[m]\np\tx 12", "the end is missing"},
  };
  for (const auto& c : cases) {
    const auto read = AlgorithmChoices::Parse(c.text, "f.choices");
    EXPECT_TRUE(errors::IsInvalidArgument(read.status())) << c.text;
    EXPECT_NE(read.status().message().find("f.choices"), std::string::npos);
    EXPECT_NE(read.status().message().find(c.message), std::string::npos)
        << read.status();
  }
}

AlgorithmTuner::Options Measuring(const std::string& cache = "") {
  AlgorithmTuner::Options o;
  o.measure = true;
  o.yields = false;
  o.cache_path = cache;
  return o;
}

TEST(AlgorithmTunerTest, MeasuresOnceAndKeepsTheChoice) {
  const std::string path = TempPath("measures_once.choices");
  Env::Default()->DeleteFile(path).IgnoreError();
  std::atomic<int> runs{0};
  const auto job = [&runs](const AlgorithmTuner::Clock&) {
    ++runs;
    return Times{{"fast", 1000}, {"slow", 2000}};
  };
  {
    auto tuner = AlgorithmTuner::Create(Measuring(path));
    ASSERT_EQ(tuner.status(), OkStatus());
    Times found;
    EXPECT_FALSE((*tuner)->Find("p", &found));
    const int64_t before = (*tuner)->generation();
    (*tuner)->Measure("p", job);
    (*tuner)->Measure("p", job);
    EXPECT_EQ((*tuner)->Wait(), 0);
    EXPECT_EQ(runs, 1);
    EXPECT_GT((*tuner)->generation(), before);
    ASSERT_TRUE((*tuner)->Find("p", &found));
    EXPECT_EQ(found[0].algorithm, "fast");
  }
  AlgorithmTuner::Options reads;
  reads.cache_path = path;
  auto reader = AlgorithmTuner::Create(reads);
  ASSERT_EQ(reader.status(), OkStatus());
  Times found;
  EXPECT_TRUE((*reader)->Find("p", &found));
  (*reader)->Measure("q", job);  // it does not measure
  EXPECT_EQ((*reader)->Wait(), 0);
  EXPECT_EQ(runs, 1);
}

TEST(AlgorithmTunerTest, KeepsWhatOthersPutIntoTheFile) {
  const std::string path = TempPath("others.choices");
  Env::Default()->DeleteFile(path).IgnoreError();
  auto tuner = AlgorithmTuner::Create(Measuring(path));
  ASSERT_EQ(tuner.status(), OkStatus());
  AlgorithmChoices others;
  others.Add("another machine", "p", {{"x", 1}});
  ASSERT_EQ(others.WriteFile(Env::Default(), path), OkStatus());
  (*tuner)->Measure("p", [](const AlgorithmTuner::Clock&) {
    return Times{{"fast", 1000}};
  });
  (*tuner)->Wait();
  auto read = AlgorithmChoices::ReadFile(Env::Default(), path);
  ASSERT_EQ(read.status(), OkStatus());
  EXPECT_NE(read->Find("another machine", "p"), nullptr);
  EXPECT_NE(read->Find(ThisMachine(), "p"), nullptr);
}

TEST(AlgorithmTunerTest, SaysThatItCouldNotKeepTheChoice) {
  auto tuner = AlgorithmTuner::Create(Measuring(TempPath("no_folder/x")));
  ASSERT_EQ(tuner.status(), OkStatus());
  (*tuner)->Measure("p", [](const AlgorithmTuner::Clock&) {
    return Times{{"fast", 1000}};
  });
  (*tuner)->Wait();
  (*tuner)->Stop();
  EXPECT_TRUE(errors::IsNotFound((*tuner)->SaveStatus()))
      << (*tuner)->SaveStatus();
}

TEST(AlgorithmTunerTest, RefusesADamagedCacheAndAMissingOneThatIsOnlyRead) {
  const std::string path = TempPath("damaged.choices");
  ASSERT_EQ(Env::Default()->WriteFile(path, "what?\n"), OkStatus());
  EXPECT_TRUE(errors::IsInvalidArgument(
      AlgorithmTuner::Create(Measuring(path)).status()));
  AlgorithmTuner::Options reads;
  reads.cache_path = TempPath("none.choices");
  EXPECT_TRUE(errors::IsNotFound(AlgorithmTuner::Create(reads).status()));
}

TEST(AlgorithmTunerTest, StopEndsAJobAndDropsTheRest) {
  auto tuner = AlgorithmTuner::Create(Measuring());
  ASSERT_EQ(tuner.status(), OkStatus());
  Notification begun;
  std::atomic<int> later{0};
  (*tuner)->Measure("endless", [&](const AlgorithmTuner::Clock& clock) {
    begun.Notify();
    while (!clock.IsOver()) Env::Default()->SleepForMicros(100);
    return Times{};
  });
  (*tuner)->Measure("later", [&](const AlgorithmTuner::Clock&) {
    ++later;
    return Times{{"x", 1}};
  });
  begun.WaitForNotification();
  (*tuner)->Stop();
  (*tuner)->Measure("after", [&](const AlgorithmTuner::Clock&) {
    ++later;
    return Times{{"x", 1}};
  });
  (*tuner)->Stop();
  EXPECT_EQ(later, 0);
}

TEST(AlgorithmTunerTest, TimeIsBounded) {
  AlgorithmTuner::Options o = Measuring();
  o.seconds = 0.02;
  auto tuner = AlgorithmTuner::Create(o);
  ASSERT_EQ(tuner.status(), OkStatus());
  for (int i = 0; i < 5; ++i) {
    (*tuner)->Measure(StrCat("p", i), [](const AlgorithmTuner::Clock& clock) {
      while (!clock.IsOver()) Env::Default()->SleepForMicros(100);
      return Times{};
    });
  }
  EXPECT_EQ((*tuner)->Wait(), 5);
}

// The exit status of a child that does this; -1 if it is killed, by the alarm
// for one.
template <typename Fn>
int InChild(Fn fn) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    _exit(fn());
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(AlgorithmTunerTest, ForkedChildDestroysATunerWhoseThreadItHasNot) {
#ifdef HEADRACE_TSAN
  GTEST_SKIP() << "TSan refuses threads after a fork";
#endif
  const auto quick = [](const AlgorithmTuner::Clock&) {
    return Times{{"fast", 1000}};
  };
  const auto endless = [](const AlgorithmTuner::Clock& clock) {
    while (!clock.IsOver()) Env::Default()->SleepForMicros(100);
    return Times{{"fast", 1000}};
  };
  for (int i = 0; i < 20; ++i) {
    auto made = AlgorithmTuner::Create(Measuring());
    ASSERT_EQ(made.status(), OkStatus());
    RefPtr<AlgorithmTuner> tuner = *std::move(made);
    tuner->Measure("p", quick);
    ASSERT_EQ(tuner->Wait(), 0);
    // The thread waits for work, or is in the middle of it.
    if (i % 2 == 1) tuner->Measure("q", endless);
    const int status = InChild([&] {
      Times found;
      if (!tuner->Find("p", &found)) return 2;
      tuner->Measure("r", quick);
      tuner->Wait();
      if (tuner->Find("r", &found)) return 3;
      if (i % 4 > 1) tuner->Stop();
      tuner.reset();
      auto own = AlgorithmTuner::Create(Measuring());
      if (!own.ok()) return 4;
      (*own)->Measure("r", quick);
      (*own)->Wait();
      return (*own)->Find("r", &found) ? 0 : 5;
    });
    ASSERT_EQ(status, 0) << "child " << i;
    tuner->Stop();
    Times found;
    EXPECT_TRUE(tuner->Find("p", &found));  // the parent goes on
  }
}

TEST(AlgorithmTunerTest, ForkFindsNoLockThatATunersThreadHolds) {
  auto tuner = AlgorithmTuner::Create(Measuring());
  ASSERT_EQ(tuner.status(), OkStatus());
  std::atomic<bool> over{false};
  std::thread other([&] {
    for (int i = 0; !over; ++i) {
      (*tuner)->Measure(StrCat("p", i), [](const AlgorithmTuner::Clock&) {
        return Times{{"fast", 1000}};
      });
      (*tuner)->Report({"n", StrCat("p", i % 10), "fast", {}});
    }
  });
  int failed = 0;
  for (int i = 0; i < 50; ++i) {
    failed += InChild([&] {
                Times found;
                (*tuner)->Find("p0", &found);
                *tuner = nullptr;
                return 0;
              }) != 0;
  }
  over = true;
  other.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace headrace
