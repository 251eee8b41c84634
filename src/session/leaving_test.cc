// A run that is cancelled while a kernel runs that nothing can interrupt.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "base/wait_hook.h"
#include "graph/graph_test_util.h"
#include "headrace/mutex.h"
#include "headrace/op.h"
#include "headrace/session.h"

namespace headrace {
namespace {

// Milliseconds in which a kernel begins, even on a machine that does much else.
constexpr int kSoon = 300;

std::atomic<int> begun{0}, ended{0};
Notification* release = nullptr;

// Hands its input on when it is released.
class HoldOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ++begun;
    release->WaitForNotification();
    ctx->set_output(0, ctx->input(0));
    ++ended;
  }
};
REGISTER_OP("TestHold").Input("x: float").Output("y: float");
REGISTER_OP("TestHoldState")
    .Input("x: float")
    .Output("y: float")
    .SetIsStateful();
REGISTER_KERNEL_BUILDER(Name("TestHold").Device(DEVICE_CPU), HoldOp);
REGISTER_KERNEL_BUILDER(Name("TestHoldState").Device(DEVICE_CPU), HoldOp);

class LeavingTest : public ::testing::Test {
 protected:
  LeavingTest() {
    begun = ended = 0;
    release = &release_;
    MutexLock lock(&graph_->mu());
    x_ = Placeholder(graph_.get(), "x", DT_FLOAT);
    hold_ = {AddOp(graph_.get(), "hold", "TestHold", {x_}), 0};
    after_ = {AddOp(graph_.get(), "after", "TestHold", {hold_}), 0};
    state_ = {AddOp(graph_.get(), "state", "TestHoldState", {x_}), 0};
  }
  void SetUp() override {
    ASSERT_EQ(MoveTo(NewSession({}, "", graph_), &session_), OkStatus());
  }

  Status Run(const Endpoint& fetch, int64_t timeout_ms, RunToken token = {}) {
    pb::RunOptions options;
    options.set_timeout_in_ms(timeout_ms);
    std::vector<Tensor> out;
    const Status s = session_->Run(options, {{x_, Tensor::Scalar<float>(3)}},
                                   {fetch}, {}, &out, nullptr, token);
    if (s.ok()) {
      EXPECT_EQ(out[0].scalar<float>(), 3);
    }
    return s;
  }

  Notification release_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Session> session_;
  Endpoint x_, hold_, after_, state_;
};

TEST_F(LeavingTest, ADeadlineLeavesAKernelThatNothingInterrupts) {
  const Status s = Run(after_, kSoon);
  EXPECT_EQ(s.code(), absl::StatusCode::kDeadlineExceeded) << s;
  EXPECT_TRUE(
      absl::StrContains(s.message(), "left running: node 'hold' (TestHold)"))
      << s;
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(ended, 0);
  release_.Notify();
  session_.reset();  // waits for it
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(begun, 1);  // nothing after it has run
}

TEST_F(LeavingTest, TheCallersTokenLeavesItToo) {
  CancellationManager token;
  std::thread other([&token] {
    while (begun == 0) absl::SleepFor(absl::Milliseconds(1));
    token.StartCancel();
  });
  const Status s = Run(hold_, 0, &token);
  other.join();
  EXPECT_EQ(s.code(), absl::StatusCode::kCancelled) << s;
  EXPECT_EQ(ended, 0);
  release_.Notify();
}

TEST_F(LeavingTest, APartialRunIsLeftToo) {
  for (bool by_token : {true, false}) {
    std::string handle;
    ASSERT_EQ(MoveTo(session_->PRunSetup({x_}, {hold_}, {}), &handle),
              OkStatus());
    CancellationManager token;
    std::thread other([&] {
      // The second may have to wait for a thread that the first one holds.
      while (begun == 0) absl::SleepFor(absl::Milliseconds(1));
      absl::SleepFor(absl::Milliseconds(10));
      by_token ? token.StartCancel() : session_->PRunClose(handle);
    });
    std::vector<Tensor> out;
    const Status s =
        session_->PRun(handle, {}, {{x_, Tensor::Scalar<float>(3)}}, {hold_},
                       &out, by_token ? &token : nullptr);
    other.join();
    EXPECT_EQ(s.code(), absl::StatusCode::kCancelled) << s;
    EXPECT_EQ(ended, 0);
  }
  release_.Notify();
}

TEST_F(LeavingTest, CloseLeavesIt) {
  std::thread other([this] {
    while (begun == 0) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_EQ(session_->Close(), OkStatus());
  });
  const Status s = Run(hold_, 0);
  other.join();
  EXPECT_EQ(s.code(), absl::StatusCode::kCancelled) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "Session has been closed."));
  EXPECT_TRUE(absl::StrContains(s.message(), "left running: node 'hold'")) << s;
  EXPECT_EQ(ended, 0);
  release_.Notify();
}

// What was quick so far need not be left, unless it is asked for.
TEST_F(LeavingTest, ARunOfAQuickStepMayWait) {
  release_.Notify();
  ASSERT_EQ(Run(after_, 0), OkStatus());
  Notification again;
  release = &again;
  begun = ended = 0;
  CancellationManager manager;
  std::thread other([&] {
    while (begun == 0) absl::SleepFor(absl::Milliseconds(1));
    manager.StartCancel();
    absl::SleepFor(absl::Milliseconds(20));
    again.Notify();
  });
  RunToken token = &manager;
  token.leaves_kernels = false;
  const Status s = Run(after_, 0, token);
  other.join();
  EXPECT_EQ(s.code(), absl::StatusCode::kCancelled) << s;
  // The first run may have been a slow one, on a machine that does much else.
  EXPECT_TRUE(ended == 1 || absl::StrContains(s.message(), "left running"))
      << s;
  EXPECT_EQ(begun, 1);
  session_.reset();
}

TEST_F(LeavingTest, OtherRunsGoOnMeanwhile) {
  EXPECT_EQ(Run(hold_, kSoon).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Run(x_, kSoon).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Run(hold_, kSoon).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(begun, 2);
  release_.Notify();
  EXPECT_EQ(Run(after_, 60000), OkStatus());
}

TEST_F(LeavingTest, AKernelThatChangesStateIsWaitedFor) {
  std::thread other([this] {
    while (begun == 0) absl::SleepFor(absl::Milliseconds(1));
    absl::SleepFor(absl::Milliseconds(60));
    release_.Notify();
  });
  const Status s = Run(state_, kSoon);
  EXPECT_EQ(ended, 1);
  other.join();
  // Its result was there in the end.
  EXPECT_TRUE(
      s.ok() ||
      absl::StrContains(s.message(),
                        "waited for the end of node 'state' (TestHoldState)"))
      << s;
}

// Lets a kernel go on when it is called a second time.
struct Releaser : WaitHook {
  void Poll() override {
    if (++polls == 2) release->Notify();
  }
  int polls = 0;
};

TEST_F(LeavingTest, AThreadThatWaitsForAKernelPolls) {
  Releaser hook;
  RunToken token;
  token.waits = &hook;
  EXPECT_EQ(Run(hold_, 60000, token), OkStatus());
  EXPECT_GE(hook.polls, 2);
}

TEST_F(LeavingTest, AThreadThatWaitsForAPartialRunPolls) {
  Releaser hook;
  RunToken token;
  token.waits = &hook;
  std::string handle;
  ASSERT_EQ(MoveTo(session_->PRunSetup({x_}, {hold_}, {}), &handle),
            OkStatus());
  std::vector<Tensor> out;
  EXPECT_EQ(session_->PRun(handle, {}, {{x_, Tensor::Scalar<float>(3)}},
                           {hold_}, &out, token),
            OkStatus());
  EXPECT_GE(hook.polls, 2);
}

TEST_F(LeavingTest, ARunThatIsInTimeIsAsAnyOther) {
  release_.Notify();
  EXPECT_EQ(Run(after_, 60000), OkStatus());
}

}  // namespace
}  // namespace headrace
