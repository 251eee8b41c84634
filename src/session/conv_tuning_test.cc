// Sessions that measure convolution algorithms, or read what was measured.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/kernel/op_tester.h"
#include "framework/tuning/algorithm_tuner.h"
#include "graph/graph_test_util.h"
#include "headrace/device.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

using Tuning = pb::ConfigProto::Headrace;

class ConvTuningTest : public ::testing::Test {
 protected:
  ConvTuningTest() {
    x_ = Placeholder(g_.get(), "x", DT_FLOAT,
                     PartialTensorShape({1, 24, 24, 8}));
    Tensor filter(DT_FLOAT, TensorShape({3, 3, 8, 16}));
    Fill(&filter);
    y_ = {AddOp(g_.get(), "y", "Conv2D", {x_, Const(g_.get(), "w", filter)},
                {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
                 {"padding", std::string("SAME")}}),
          0};
    path_ = JoinPath(
        testing::TempDir(),
        StrCat(testing::UnitTest::GetInstance()->current_test_info()->name(),
               ".choices"));
    Env::Default()->DeleteFile(path_).IgnoreError();
  }
  static void Fill(Tensor* t) {
    for (int64_t i = 0; i < t->NumElements(); ++i) {
      t->data<float>()[i] = static_cast<float>(i * 7 % 13 - 6) / 16;
    }
  }
  std::unique_ptr<Session> Open(Tuning::ConvTuning mode,
                                const std::string& cache) {
    pb::ConfigProto config;
    config.mutable_headrace()->set_conv_tuning(mode);
    config.mutable_headrace()->set_conv_cache(cache);
    std::unique_ptr<Session> session;
    status_ = NewDirectSession(config, g_, &session);
    return session;
  }
  // The result, and the algorithm that made it.
  std::string Run(Session* session, Tensor* y) {
    Tensor x(DT_FLOAT, TensorShape({1, 24, 24, 8}));
    Fill(&x);
    pb::RunOptions options;
    options.set_trace_level(pb::RunOptions::FULL_TRACE);
    pb::RunMetadata metadata;
    std::vector<Tensor> out;
    EXPECT_EQ(session->Run(options, {{x_, x}}, {y_}, {}, &out, &metadata),
              OkStatus());
    *y = out[0];
    for (const auto& n : metadata.step_stats().dev_stats(0).node_stats()) {
      const std::string& label = n.timeline_label();
      const size_t at = label.find('[');
      if (n.node_name() == "y" && at != std::string::npos) {
        return label.substr(at + 1, label.find(']') - at - 1);
      }
    }
    return "";
  }
  static RefPtr<AlgorithmTuner> TunerOf(Session* session) {
    RefPtr<AlgorithmTuner> tuner;
    session->ListDevices()[0]
        ->resource_manager()
        ->Lookup<AlgorithmTuner>(AlgorithmTuner::kContainer,
                                 AlgorithmTuner::kName, &tuner)
        .IgnoreError();
    return tuner;
  }
  static void ExpectAgree(const Tensor& got, const Tensor& want) {
    ASSERT_EQ(got.NumElements(), want.NumElements());
    for (int64_t i = 0; i < want.NumElements(); ++i) {
      ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i], 1e-4);
    }
  }

  const std::shared_ptr<Graph> g_ = std::make_shared<Graph>();
  Endpoint x_, y_;
  std::string path_;
  Status status_;
};

TEST_F(ConvTuningTest, NobodyMeasuresUnasked) {
  EXPECT_EQ(TunerOf(Open(Tuning::OFF, "").get()), nullptr);
}

TEST_F(ConvTuningTest, MeasuresBesideTheRunsAndKeepsTheChoice) {
  Tensor want, y;
  Run(Open(Tuning::OFF, "").get(), &want);
  {
    auto session = Open(Tuning::BACKGROUND, path_);
    ASSERT_EQ(status_, OkStatus());
    Run(session.get(), &y);
    ExpectAgree(y, want);
    const RefPtr<AlgorithmTuner> tuner = TunerOf(session.get());
    ASSERT_EQ(tuner->Wait(), 0);
    const auto uses = tuner->Uses();
    ASSERT_EQ(uses.size(), 1);
    EXPECT_EQ(uses[0].node, "y");
    AlgorithmChoices::Times times;
    ASSERT_TRUE(tuner->Find(uses[0].problem, &times));
    ASSERT_GE(times.size(), 1);
    EXPECT_EQ(Run(session.get(), &y), times[0].algorithm);
    ExpectAgree(y, want);
  }
  auto read = AlgorithmChoices::ReadFile(Env::Default(), path_);
  ASSERT_EQ(read.status(), OkStatus());
  EXPECT_EQ(read->machines().count(ThisMachine()), 1);
}

TEST_F(ConvTuningTest, TakesWhatTheFileSaysIfItAcceptsTheSizes) {
  Tensor want, y;
  auto plain = Open(Tuning::REPORT, "");
  const std::string usual = Run(plain.get(), &want);
  const auto uses = TunerOf(plain.get())->Uses();
  ASSERT_EQ(uses.size(), 1);
  ASSERT_NE(usual, "reference");
  AlgorithmChoices choices;
  choices.Add(ThisMachine(), uses[0].problem,
              {{"no_such_algorithm", 1}, {"gemm_1x1", 2}, {"reference", 3}});
  ASSERT_EQ(choices.WriteFile(Env::Default(), path_), OkStatus());
  auto session = Open(Tuning::UNSET, path_);
  ASSERT_EQ(status_, OkStatus());
  EXPECT_EQ(Run(session.get(), &y), "reference");
  ExpectAgree(y, want);

  // Of another machine: the cost model decides.
  AlgorithmChoices foreign;
  foreign.Add("another", uses[0].problem, {{"reference", 3}});
  ASSERT_EQ(foreign.WriteFile(Env::Default(), path_), OkStatus());
  session = Open(Tuning::UNSET, path_);
  ASSERT_EQ(status_, OkStatus());
  EXPECT_EQ(Run(session.get(), &y), usual);
}

TEST_F(ConvTuningTest, RefusesADamagedFile) {
  ASSERT_EQ(Env::Default()->WriteFile(path_, "headrace algorithm"), OkStatus());
  Open(Tuning::BACKGROUND, path_);
  EXPECT_TRUE(errors::IsInvalidArgument(status_));
  EXPECT_NE(status_.message().find(path_), std::string::npos) << status_;
}

TEST_F(ConvTuningTest, ClosesWhileItMeasures) {
  for (int i = 0; i < 5; ++i) {
    Tensor y;
    auto session = Open(Tuning::BUSY, "");
    Run(session.get(), &y);
    ASSERT_EQ(session->Close(), OkStatus());
  }
}

}  // namespace
}  // namespace headrace
