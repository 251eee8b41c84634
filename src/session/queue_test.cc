// Queues as sessions see them: waiting, closing, cancelling.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "absl/time/clock.h"
#include "base/wait_hook.h"
#include "framework/kernel/op_tester.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

using absl::StatusCode;

class QueueTest : public ::testing::Test {
 protected:
  // A queue `q` of int32 scalars and every op on it. `n` feeds the number of
  // elements to dequeue, `x` what is put in.
  void Make(int64_t capacity, int threads = 0,
            const std::string& type = "FIFOQueueV2") {
    Endpoint q =
        Add("q", type, {},
            {{"component_types", std::vector<DataType>{DT_INT32}},
             {"shapes",
              std::vector<PartialTensorShape>{PartialTensorShape::Scalar()}},
             {"capacity", capacity}});
    const Endpoint x =
        Add("x", "Placeholder", {},
            {{"dtype", DT_INT32}, {"shape", PartialTensorShape()}});
    const Endpoint n =
        Add("n", "Placeholder", {},
            {{"dtype", DT_INT32}, {"shape", PartialTensorShape::Scalar()}});
    const std::vector<DataType> types = {DT_INT32};
    Add("put", "QueueEnqueueV2", {q, x}, {{"Tcomponents", types}});
    Add("put_many", "QueueEnqueueManyV2", {q, x}, {{"Tcomponents", types}});
    Add("take", "QueueDequeueV2", {q}, {{"component_types", types}});
    Add("take_many", "QueueDequeueManyV2", {q, n},
        {{"component_types", types}});
    Add("take_up_to", "QueueDequeueUpToV2", {q, n},
        {{"component_types", types}});
    Add("close", "QueueCloseV2", {q});
    Add("close_cancel", "QueueCloseV2", {q},
        {{"cancel_pending_enqueues", true}});
    Add("size", "QueueSizeV2", {q});
    pb::ConfigProto config;
    config.set_inter_op_parallelism_threads(threads);
    ASSERT_EQ(MoveTo(NewSession(config, "", graph_), &session_), OkStatus());
  }

  Endpoint Add(const std::string& name, const std::string& op,
               std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    NodeDef def;
    def.name = name;
    def.op = op;
    def.attrs = std::move(attrs);
    MutexLock lock(&graph_->mu());
    auto n = graph_->AddNode(std::move(def), inputs, {});
    EXPECT_TRUE(n.ok()) << n.status();
    nodes_[name] = n.ok() ? *n : nullptr;
    return {nodes_[name], 0};
  }

  Status Put(const std::string& op, const Tensor& x,
             CancellationManager* cancel = nullptr, int64_t timeout = 0) {
    pb::RunOptions options;
    options.set_timeout_in_ms(timeout);
    std::vector<Session::Feed> feeds;
    feeds.emplace_back(Endpoint{nodes_.at("x"), 0}, x);
    std::vector<Node*> targets = {nodes_.at(op)};
    return session_->Run(options, feeds, {}, targets, nullptr, nullptr, cancel);
  }
  Status PutRange(int begin, int end) {
    Tensor t(DT_INT32, TensorShape({end - begin}));
    for (int i = begin; i < end; ++i) t.data<int32_t>()[i - begin] = i;
    return Put("put_many", t);
  }
  Status Take(const std::string& op, int n, std::vector<int>* out,
              CancellationManager* cancel = nullptr, int64_t timeout = 0) {
    pb::RunOptions options;
    options.set_timeout_in_ms(timeout);
    std::vector<Session::Feed> feeds;
    if (op != "take") {
      feeds.emplace_back(Endpoint{nodes_.at("n"), 0},
                         Tensor::Scalar<int32_t>(n));
    }
    std::vector<Endpoint> fetches = {{nodes_.at(op), 0}};
    std::vector<Tensor> outputs;
    HR_RETURN_IF_ERROR(
        session_->Run(options, feeds, fetches, {}, &outputs, nullptr, cancel));
    for (int32_t v : outputs[0].span<int32_t>()) out->push_back(v);
    return OkStatus();
  }
  Status Target(const std::string& op) {
    return session_->Run({}, {}, {op}, nullptr);
  }
  int Size() {
    std::vector<Tensor> outputs;
    EXPECT_EQ(session_->Run({}, {"size:0"}, {}, &outputs), OkStatus());
    return outputs.empty() ? -1 : outputs[0].scalar<int32_t>();
  }
  void WaitForSize(int n) {
    for (int i = 0; i < 5000 && Size() != n; ++i) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    EXPECT_EQ(Size(), n);
  }
  static Tensor I(int v) { return Tensor::Scalar<int32_t>(v); }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  absl::flat_hash_map<std::string, Node*> nodes_;
  std::unique_ptr<Session> session_;
};

TEST_F(QueueTest, BatchesLargerThanTheCapacityPassThrough) {
  Make(2);
  std::thread producer([&] { EXPECT_EQ(PutRange(0, 10), OkStatus()); });
  std::vector<int> got;
  EXPECT_EQ(Take("take_many", 10, &got), OkStatus());
  producer.join();
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(QueueTest, WaitingHoldsNoPoolThread) {
  Make(-1, /*threads=*/1);
  std::vector<std::thread> takers;
  std::atomic<int> sum{0};
  for (int i = 0; i < 8; ++i) {
    takers.emplace_back([&] {
      std::vector<int> got;
      EXPECT_EQ(Take("take", 1, &got), OkStatus());
      sum += got.at(0);
    });
  }
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Put("put", I(1 << i)), OkStatus());
  for (auto& t : takers) t.join();
  EXPECT_EQ(sum, 255);
}

TEST_F(QueueTest, CancelledDequeueGivesBackWhatItTook) {
  Make(-1);
  ASSERT_EQ(PutRange(0, 3), OkStatus());
  CancellationManager cancel;
  std::vector<int> got;
  std::thread taker([&] {
    ExpectError(Take("take_many", 5, &got, &cancel), StatusCode::kCancelled,
                "");
  });
  WaitForSize(0);  // it holds all three
  cancel.StartCancel();
  taker.join();
  EXPECT_EQ(Take("take_many", 3, &got), OkStatus());
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2}));
}

TEST_F(QueueTest, CancellingTheFirstInLineLetsTheNextGoOn) {
  Make(-1);
  ASSERT_EQ(PutRange(0, 1), OkStatus());
  CancellationManager cancel;
  std::thread first([&] {
    std::vector<int> none;
    ExpectError(Take("take_many", 5, &none, &cancel), StatusCode::kCancelled,
                "");
  });
  WaitForSize(0);
  std::vector<int> got;
  std::thread second([&] { EXPECT_EQ(Take("take", 1, &got), OkStatus()); });
  absl::SleepFor(absl::Milliseconds(5));
  cancel.StartCancel();
  first.join();
  second.join();
  EXPECT_EQ(got, (std::vector<int>{0}));
}

TEST_F(QueueTest, DeadlineEndsAWait) {
  Make(1);
  std::vector<int> got;
  ExpectError(Take("take", 1, &got, nullptr, 20), StatusCode::kDeadlineExceeded,
              "Timed out");
  ASSERT_EQ(Put("put", I(1)), OkStatus());
  ExpectError(Put("put", I(2), nullptr, 20), StatusCode::kDeadlineExceeded,
              "Timed out");
  EXPECT_EQ(Size(), 1);
}

TEST_F(QueueTest, CloseWaitsForEnqueuesBeforeIt) {
  Make(1);
  ASSERT_EQ(Put("put", I(1)), OkStatus());
  std::thread blocked([&] { EXPECT_EQ(Put("put", I(2)), OkStatus()); });
  absl::SleepFor(absl::Milliseconds(20));
  std::thread closer([&] { EXPECT_EQ(Target("close"), OkStatus()); });
  absl::SleepFor(absl::Milliseconds(20));
  std::vector<int> got;
  EXPECT_EQ(Take("take", 1, &got), OkStatus());
  blocked.join();
  closer.join();
  EXPECT_EQ(Take("take_up_to", 5, &got), OkStatus());
  EXPECT_EQ(got, (std::vector<int>{1, 2}));
  ExpectError(Take("take_up_to", 5, &got), StatusCode::kOutOfRange,
              "is closed and has insufficient elements (requested 5");
  ExpectError(Put("put", I(3)), StatusCode::kCancelled, "is closed");
  ExpectError(Target("close"), StatusCode::kCancelled, "already closed");
}

TEST_F(QueueTest, CloseCanCancelBlockedEnqueues) {
  Make(1);
  ASSERT_EQ(Put("put", I(1)), OkStatus());
  std::thread blocked(
      [&] { ExpectError(Put("put", I(2)), StatusCode::kCancelled, "closed"); });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(Target("close_cancel"), OkStatus());
  blocked.join();
  EXPECT_EQ(Size(), 1);
}

TEST_F(QueueTest, ClosingWakesDequeuesThatCannotBeMet) {
  Make(-1);
  ASSERT_EQ(PutRange(0, 2), OkStatus());
  std::vector<int> got;
  std::thread taker([&] {
    ExpectError(Take("take_many", 3, &got), StatusCode::kOutOfRange,
                "(requested 3, current size 2)");
  });
  WaitForSize(0);
  EXPECT_EQ(Target("close"), OkStatus());
  taker.join();
  EXPECT_EQ(Take("take_many", 2, &got), OkStatus());
  EXPECT_EQ(got, (std::vector<int>{0, 1}));
}

TEST_F(QueueTest, AThreadThatWaitsForAnElementPollsAndMayRunMeanwhile) {
  Make(1);
  struct Putter : WaitHook {
    void Poll() override {
      ++polls;
      put();
    }
    std::function<void()> put;
    int polls = 0;
  } hook;
  hook.put = [this] { EXPECT_EQ(Put("put", I(7)), OkStatus()); };
  RunToken token;
  token.waits = &hook;
  const std::vector<Endpoint> fetches = {{nodes_.at("take"), 0}};
  std::vector<Tensor> outputs;
  ASSERT_EQ(session_->Run({}, {}, fetches, {}, &outputs, nullptr, token),
            OkStatus());
  EXPECT_EQ(outputs[0].scalar<int32_t>(), 7);
  EXPECT_EQ(hook.polls, 1);
}

TEST_F(QueueTest, ClosingTheSessionEndsWaits) {
  Make(1);
  std::thread taker([&] {
    std::vector<int> got;
    ExpectError(Take("take", 1, &got), StatusCode::kCancelled, "closed");
  });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(session_->Close(), OkStatus());
  taker.join();
}

}  // namespace
}  // namespace headrace
