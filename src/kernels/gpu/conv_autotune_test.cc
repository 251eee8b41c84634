#include "kernels/gpu/conv_autotune.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "framework/kernel/op_tester.h"

namespace headrace::gpu {
namespace {

ConvKey Key(int64_t batch = 32) {
  ConvKey key;
  key.device = "a GPU";
  key.dnn_version = 91200;
  ConvProblem& p = key.problem;
  p.batch = batch;
  p.in_depth = 3;
  p.out_depth = 8;
  p.input[0] = p.input[1] = 10;
  p.filter[0] = p.filter[1] = 3;
  p.output[0] = p.output[1] = 8;
  return key;
}

const std::vector<ConvAlgorithm> kAlgorithms = {
    {0, "heuristic", 100}, {1, "fast", 5000}, {2, "lean", 0}};

class ConvAutotuneTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/conv_autotune_test_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    std::remove(path_.c_str());
  }
  void TearDown() override { std::remove(path_.c_str()); }

  // A timer that counts, and says what each algorithm takes.
  ConvAutotuner::Measure Timer() {
    return [this](const ConvAlgorithm& a) -> StatusOr<double> {
      ++measurements_;
      if (a.name == fails_) return errors::Internal(a.name, " broke");
      return ns_.at(a.name);
    };
  }
  std::string Choose(ConvAutotuner* tuner, const ConvKey& key,
                     int64_t limit = 1 << 20) {
    const StatusOr<ConvAlgorithm> a =
        tuner->Choose(key, kAlgorithms, limit, Timer());
    return a.ok() ? a->name : std::string(a.status().message());
  }

  std::map<std::string, double> ns_ = {
      {"heuristic", 300}, {"fast", 100}, {"lean", 200}};
  std::string fails_, path_;
  int measurements_ = 0;
};

TEST_F(ConvAutotuneTest, TakesTheFastestAndMeasuresOnce) {
  ConvAutotuner tuner({});
  EXPECT_EQ(Choose(&tuner, Key()), "fast");
  EXPECT_EQ(measurements_, 3);
  EXPECT_EQ(Choose(&tuner, Key()), "fast");
  EXPECT_EQ(measurements_, 3);
  EXPECT_EQ(Choose(&tuner, Key(64)), "fast");
  EXPECT_EQ(measurements_, 6);
}

TEST_F(ConvAutotuneTest, ASecondProcessMeasuresNothing) {
  ConvAutotuner first({.path = path_});
  EXPECT_EQ(Choose(&first, Key()), "fast");
  ASSERT_EQ(first.FileStatus(), OkStatus());
  ns_["fast"] = 1000;
  ConvAutotuner second({.path = path_});
  EXPECT_EQ(Choose(&second, Key()), "fast");
  EXPECT_EQ(measurements_, 3);
  EXPECT_EQ(second.measured(), 0);
}

TEST_F(ConvAutotuneTest, FilesOfTwoProcessesAreMerged) {
  ConvAutotuner a({.path = path_}), b({.path = path_});
  Choose(&a, Key(1));
  Choose(&b, Key(2));
  ConvAutotuner c({.path = path_});
  measurements_ = 0;
  Choose(&c, Key(1));
  Choose(&c, Key(2));
  EXPECT_EQ(measurements_, 0);
  std::string text;
  ASSERT_EQ(Env::Default()->ReadFile(path_, &text), OkStatus());
  EXPECT_NE(text.find("[GPU a GPU, dnn 91200; headrace "), std::string::npos)
      << text;
  EXPECT_NE(text.find("fast:1 100\tlean:2 200\theuristic:0 300"),
            std::string::npos)
      << text;
}

TEST_F(ConvAutotuneTest, WhatDiffersIsMeasuredAgain) {
  ConvAutotuner tuner({});
  Choose(&tuner, Key());
  ConvKey other = Key();
  other.dnn_version = 91300;
  Choose(&tuner, other);
  EXPECT_EQ(measurements_, 6) << "another version of Dnn";
  other = Key();
  other.device = "another GPU";
  Choose(&tuner, other);
  EXPECT_EQ(measurements_, 9) << "another device";
  other = Key();
  other.problem.type = DT_HALF;
  Choose(&tuner, other);
  EXPECT_EQ(measurements_, 12) << "another type";
  other = Key();
  other.problem.dilation[1] = 2;
  Choose(&tuner, other);
  EXPECT_EQ(measurements_, 15) << "another dilation";
  other = Key();
  other.problem.kind = ConvKind::kBackwardFilter;
  Choose(&tuner, other);
  EXPECT_EQ(measurements_, 18) << "another kind";
}

TEST_F(ConvAutotuneTest, ReadOnlyNeverWrites) {
  ConvAutotuner tuner({.path = path_, .read_only = true});
  EXPECT_EQ(Choose(&tuner, Key()), "fast");
  std::string text;
  EXPECT_FALSE(Env::Default()->ReadFile(path_, &text).ok());
}

TEST_F(ConvAutotuneTest, WorkspacesAreLimited) {
  ConvAutotuner tuner({});
  EXPECT_EQ(Choose(&tuner, Key(), 4999), "lean");
  EXPECT_EQ(measurements_, 2);
  // What was measured with less is not all there is, but it is known.
  EXPECT_EQ(Choose(&tuner, Key(2), 5000), "fast");
  // "fast" was measured, and does not fit any more.
  EXPECT_EQ(Choose(&tuner, Key(2), 4999), "lean");
  const StatusOr<ConvAlgorithm> least = tuner.Choose(
      Key(), {{0, "large", 500}, {1, "less large", 400}}, 10, Timer());
  ASSERT_TRUE(least.ok());
  EXPECT_EQ(least->name, "less large");
}

TEST_F(ConvAutotuneTest, WithoutMeasuringTheHeuristicChooses) {
  ConvAutotuner tuner({.measure = false});
  EXPECT_EQ(Choose(&tuner, Key()), "heuristic");
  EXPECT_EQ(measurements_, 0);
  // But a file counts.
  ConvAutotuner measuring({.path = path_});
  Choose(&measuring, Key());
  ConvAutotuner reading({.measure = false, .path = path_});
  EXPECT_EQ(Choose(&reading, Key()), "fast");
}

TEST_F(ConvAutotuneTest, AnAlgorithmThatFailsIsLeftOut) {
  fails_ = "fast";
  ConvAutotuner tuner({.path = path_});
  EXPECT_EQ(Choose(&tuner, Key()), "lean");
}

TEST_F(ConvAutotuneTest, IfAllFailTheHeuristicChoosesAndNothingIsTriedAgain) {
  ConvAutotuner tuner({.path = path_});
  int tries = 0;
  for (int run = 0; run < 3; ++run) {
    const StatusOr<ConvAlgorithm> a =
        tuner.Choose(Key(), kAlgorithms, 1 << 20,
                     [&](const ConvAlgorithm&) -> StatusOr<double> {
                       ++tries;
                       return errors::Internal("broke");
                     });
    ASSERT_TRUE(a.ok());
    EXPECT_EQ(a->name, "heuristic");
  }
  EXPECT_EQ(tries, 3);
}

TEST_F(ConvAutotuneTest, ADamagedFileIsReportedAndLeftAlone) {
  const std::string damaged = "this is a shopping list\n";
  ASSERT_EQ(Env::Default()->WriteFile(path_, damaged, WriteMode::kAtomic),
            OkStatus());
  ConvAutotuner tuner({.path = path_});
  ExpectError(tuner.FileStatus(), absl::StatusCode::kInvalidArgument,
              "does not say what it is");
  EXPECT_EQ(Choose(&tuner, Key()), "fast");
  std::string text;
  ASSERT_EQ(Env::Default()->ReadFile(path_, &text), OkStatus());
  EXPECT_EQ(text, damaged);
}

TEST_F(ConvAutotuneTest, NoCandidates) {
  ConvAutotuner tuner({});
  const StatusOr<ConvAlgorithm> a = tuner.Choose(Key(), {}, 1, Timer());
  ExpectError(a.status(), absl::StatusCode::kNotFound, "no algorithm");
}

}  // namespace
}  // namespace headrace::gpu
