#include "framework/algorithm_choices.h"

#include <gtest/gtest.h>

#include <set>

#include "framework/algorithm_tuner.h"

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

}  // namespace
}  // namespace headrace
