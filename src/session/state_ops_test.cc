// State between steps other than queues and variables: barriers, accumulators,
// staging areas, mutexes, session handles.
#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "framework/kernel/op_tester.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

using absl::StatusCode;

class StateOpsTest : public ::testing::Test {
 protected:
  Node* AddNode(const std::string& name, const std::string& op,
                std::vector<Endpoint> inputs, AttrMap attrs = {},
                std::vector<Node*> control = {}) {
    NodeDef def;
    def.name = name;
    def.op = op;
    def.attrs = std::move(attrs);
    MutexLock lock(&graph_->mu());
    auto n = graph_->AddNode(std::move(def), inputs, control);
    EXPECT_TRUE(n.ok()) << n.status();
    return n.ok() ? *n : nullptr;
  }
  Endpoint Add(const std::string& name, const std::string& op,
               std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    return {AddNode(name, op, std::move(inputs), std::move(attrs)), 0};
  }
  Endpoint Placeholder(const std::string& name, DataType t) {
    return Add(name, "Placeholder", {},
               {{"dtype", t}, {"shape", PartialTensorShape()}});
  }
  void Start() {
    ASSERT_EQ(MoveTo(NewSession({}, "", graph_), &session_), OkStatus());
  }
  using Feeds = std::vector<std::pair<std::string, Tensor>>;
  // Fetches "a:0", or runs "a", a node without outputs.
  Status Run(const Feeds& feeds, const std::vector<std::string>& fetches,
             std::vector<Tensor>* out = nullptr, int64_t timeout_ms = 0) {
    std::vector<std::string> outputs, targets;
    for (const std::string& f : fetches) {
      (absl::StrContains(f, ':') ? outputs : targets).push_back(f);
    }
    pb::RunOptions options;
    options.set_timeout_in_ms(timeout_ms);
    std::vector<Tensor> values;
    return session_->Run(options, feeds, outputs, targets,
                         out == nullptr ? &values : out, nullptr);
  }
  int Count(const std::string& fetch) {
    std::vector<Tensor> out;
    EXPECT_EQ(Run({}, {fetch}, &out), OkStatus());
    return out.empty() ? -1 : out[0].scalar<int32_t>();
  }
  static Tensor F(std::vector<float> v) {
    const int64_t n = static_cast<int64_t>(v.size());
    return MakeTensor<float>({n}, v);
  }
  static Tensor S(std::vector<std::string> v) {
    Tensor t(DT_STRING, TensorShape({static_cast<int64_t>(v.size())}));
    for (size_t i = 0; i < v.size(); ++i) t.data<tstring>()[i] = tstring(v[i]);
    return t;
  }
  static Tensor I(int32_t v) { return Tensor::Scalar<int32_t>(v); }
  static Tensor L(int64_t v) { return Tensor::Scalar<int64_t>(v); }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Session> session_;
};

class BarrierTest : public StateOpsTest {
 protected:
  // A barrier of a float and a string, fed by keys, x and s.
  void Make(bool small_batch = false) {
    const std::vector<DataType> types = {DT_FLOAT, DT_STRING};
    const Endpoint b = Add("b", "Barrier", {},
                           {{"component_types", types},
                            {"shapes", std::vector<PartialTensorShape>(
                                           2, PartialTensorShape::Scalar())}});
    const Endpoint keys = Placeholder("keys", DT_STRING);
    const Endpoint n = Placeholder("n", DT_INT32);
    Add("put0", "BarrierInsertMany", {b, keys, Placeholder("x", DT_FLOAT)},
        {{"component_index", int64_t{0}}});
    Add("put1", "BarrierInsertMany", {b, keys, Placeholder("s", DT_STRING)},
        {{"component_index", int64_t{1}}});
    Add("take", "BarrierTakeMany", {b, n},
        {{"component_types", types}, {"allow_small_batch", small_batch}});
    Add("close", "BarrierClose", {b});
    Add("cancel", "BarrierClose", {b}, {{"cancel_pending_enqueues", true}});
    Add("ready", "BarrierReadySize", {b});
    Add("incomplete", "BarrierIncompleteSize", {b});
    Start();
  }
  Status Put(std::vector<std::string> keys, std::vector<float> x) {
    return Run({{"keys:0", S(std::move(keys))}, {"x:0", F(std::move(x))}},
               {"put0"});
  }
  Status Put(std::vector<std::string> keys, std::vector<std::string> s) {
    return Run({{"keys:0", S(std::move(keys))}, {"s:0", S(std::move(s))}},
               {"put1"});
  }
  Status Take(int n, std::vector<Tensor>* out, int64_t timeout_ms = 0) {
    return Run({{"n:0", I(n)}}, {"take:0", "take:1", "take:2", "take:3"}, out,
               timeout_ms);
  }
};

TEST_F(BarrierTest, PutsElementsTogetherByKeyInOrderOfTheirFirstPart) {
  Make();
  using Floats = std::vector<float>;
  using Strings = std::vector<std::string>;
  ASSERT_EQ(Put({"a", "b"}, Floats{1, 2}), OkStatus());
  ASSERT_EQ(Put({"c"}, Floats{3}), OkStatus());
  EXPECT_EQ(Count("incomplete:0"), 3);
  ASSERT_EQ(Put({"c", "a"}, Strings{"cc", "aa"}), OkStatus());
  EXPECT_EQ(Count("incomplete:0"), 1);
  EXPECT_EQ(Count("ready:0"), 2);
  std::vector<Tensor> out;
  ASSERT_EQ(Take(2, &out), OkStatus());
  ExpectEqual(out[0], MakeTensor<int64_t>({2}, {INT64_MIN, INT64_MIN + 1}));
  ExpectEqual(out[1], S({"a", "c"}));
  ExpectEqual(out[2], F({1, 3}));
  ExpectEqual(out[3], S({"aa", "cc"}));
  ExpectError(Put({"b"}, Floats{7}), StatusCode::kInvalidArgument,
              "Key b already has a value for component 0 in barrier");
  ExpectError(Put({"d", "d"}, Floats{7, 8}), StatusCode::kInvalidArgument,
              "Key d already has a value");
  EXPECT_EQ(Count("incomplete:0"), 1);  // neither was inserted
  ExpectError(Put({"e"}, Floats{}), StatusCode::kInvalidArgument, "row");
  ExpectError(Take(-1, &out), StatusCode::kInvalidArgument, "num_elements");
}

TEST_F(BarrierTest, TakesWaitWithoutAThread) {
  Make();
  std::thread taker([&] {
    std::vector<Tensor> out;
    ASSERT_EQ(Take(2, &out), OkStatus());
    ExpectEqual(out[1], S({"a", "b"}));
  });
  ASSERT_EQ(Put({"a", "b"}, std::vector<float>{1, 2}), OkStatus());
  ASSERT_EQ(Put({"a"}, std::vector<std::string>{"x"}), OkStatus());
  absl::SleepFor(absl::Milliseconds(5));
  ASSERT_EQ(Put({"b"}, std::vector<std::string>{"y"}), OkStatus());
  taker.join();
  std::vector<Tensor> out;
  const Status s = Take(3, &out, 20);
  ExpectError(s, StatusCode::kDeadlineExceeded,
              "still waiting: node 'take' (BarrierTakeMany) for 3 elements of "
              "Barrier");
}

TEST_F(BarrierTest, ClosedItTakesTheMissingPartsOnly) {
  Make();
  ASSERT_EQ(Put({"a"}, std::vector<float>{1}), OkStatus());
  ASSERT_EQ(Run({}, {"close"}), OkStatus());
  ExpectError(Put({"b"}, std::vector<float>{1}), StatusCode::kCancelled,
              "is closed, but attempted to insert a brand new key: b");
  ASSERT_EQ(Put({"a"}, std::vector<std::string>{"x"}), OkStatus());
  std::vector<Tensor> out;
  ExpectError(Take(2, &out), StatusCode::kOutOfRange,
              "is closed and has insufficient elements (requested 2, total "
              "size 1)");
  ASSERT_EQ(Take(1, &out), OkStatus());
  ExpectError(Put({"a"}, std::vector<float>{1}), StatusCode::kCancelled,
              "is closed");
  ExpectError(Run({}, {"close"}), StatusCode::kCancelled, "already closed");
}

TEST_F(BarrierTest, WaitingTakesFailWhenNothingMoreCanCome) {
  Make();
  ASSERT_EQ(Put({"a", "b"}, std::vector<float>{1, 2}), OkStatus());
  std::thread taker([&] {
    std::vector<Tensor> out;
    ExpectError(Take(2, &out), StatusCode::kOutOfRange, "is closed");
  });
  absl::SleepFor(absl::Milliseconds(5));
  ASSERT_EQ(Run({}, {"cancel"}), OkStatus());
  taker.join();
  EXPECT_EQ(Count("incomplete:0"), 0);
}

TEST_F(BarrierTest, SmallBatchesOnceClosed) {
  Make(/*small_batch=*/true);
  ASSERT_EQ(Put({"a"}, std::vector<float>{1}), OkStatus());
  ASSERT_EQ(Put({"a"}, std::vector<std::string>{"x"}), OkStatus());
  ASSERT_EQ(Run({}, {"close"}), OkStatus());
  std::vector<Tensor> out;
  ASSERT_EQ(Take(5, &out), OkStatus());
  ExpectEqual(out[1], S({"a"}));
  ExpectError(Take(5, &out), StatusCode::kOutOfRange, "insufficient");
}

class SparseAccumulatorTest : public StateOpsTest {
 protected:
  void Make(const std::string& reduction = "MEAN",
            PartialTensorShape shape = PartialTensorShape({4, 2})) {
    const Endpoint a = Add("a", "SparseConditionalAccumulator", {},
                           {{"dtype", DT_FLOAT},
                            {"shape", std::move(shape)},
                            {"reduction_type", reduction}});
    Add("apply", "SparseAccumulatorApplyGradient",
        {a, Placeholder("step", DT_INT64), Placeholder("i", DT_INT64),
         Placeholder("v", DT_FLOAT), Placeholder("shape", DT_INT64)},
        {{"has_known_shape", false}});
    Add("take", "SparseAccumulatorTakeGradient",
        {a, Placeholder("n", DT_INT32)}, {{"dtype", DT_FLOAT}});
    Add("count", "AccumulatorNumAccumulated", {a});
    Add("dense", "AccumulatorTakeGradient", {a, {Find("n"), 0}},
        {{"dtype", DT_FLOAT}});
    Start();
  }
  Node* Find(const std::string& name) { return graph_->FindNode(name); }
  Status Apply(std::vector<int64_t> i, const Tensor& v, int64_t step = 0) {
    const int64_t n = static_cast<int64_t>(i.size());
    return Run({{"step:0", L(step)},
                {"i:0", MakeTensor<int64_t>({n}, i)},
                {"v:0", v},
                {"shape:0", MakeTensor<int64_t>({0}, {})}},
               {"apply"});
  }
  Status Take(int n, std::vector<Tensor>* out, int64_t timeout_ms = 0) {
    return Run({{"n:0", I(n)}}, {"take:0", "take:1", "take:2"}, out,
               timeout_ms);
  }
};

TEST_F(SparseAccumulatorTest, RowsAreAveragedOverTheGradientsThatHaveThem) {
  Make();
  ASSERT_EQ(Apply({3, 0}, MakeTensor<float>({2, 2}, {1, 2, 3, 4})), OkStatus());
  // A row named twice counts once.
  ASSERT_EQ(Apply({3, 3, 1}, MakeTensor<float>({3, 2}, {1, 1, 2, 2, 9, 9})),
            OkStatus());
  EXPECT_EQ(Count("count:0"), 2);
  std::vector<Tensor> out;
  ASSERT_EQ(Take(2, &out), OkStatus());
  ExpectEqual(out[0], MakeTensor<int64_t>({3}, {0, 1, 3}));
  ExpectEqual(out[1], MakeTensor<float>({3, 2}, {3, 4, 9, 9, 2, 2.5}));
  ExpectEqual(out[2], MakeTensor<int64_t>({2}, {4, 2}));
  // The take made it step 1: what comes from step 0 is stale.
  ASSERT_EQ(Apply({1}, MakeTensor<float>({1, 2}, {5, 5}), 0), OkStatus());
  EXPECT_EQ(Count("count:0"), 0);
  ASSERT_EQ(Apply({1}, MakeTensor<float>({1, 2}, {5, 5}), 1), OkStatus());
  ExpectError(Take(2, &out, 20), StatusCode::kDeadlineExceeded,
              "for 2 gradients in the accumulator");
  ASSERT_EQ(Take(1, &out), OkStatus());
  ExpectEqual(out[1], MakeTensor<float>({1, 2}, {5, 5}));
}

TEST_F(SparseAccumulatorTest, Sums) {
  Make("SUM", PartialTensorShape());
  ASSERT_EQ(Apply({7}, F({1})), OkStatus());
  ASSERT_EQ(Apply({7, 9}, F({2, 3})), OkStatus());
  std::vector<Tensor> out;
  ASSERT_EQ(Take(1, &out), OkStatus());
  ExpectEqual(out[0], MakeTensor<int64_t>({2}, {7, 9}));
  ExpectEqual(out[1], F({3, 3}));
  ExpectEqual(out[2], MakeTensor<int64_t>({1}, {-1}));
}

TEST_F(SparseAccumulatorTest, RefusesWhatDoesNotFit) {
  Make();
  ExpectError(Apply({4}, MakeTensor<float>({1, 2}, {1, 2})),
              StatusCode::kInvalidArgument, "has 4, which is not in [0, 4)");
  ExpectError(Apply({-1}, MakeTensor<float>({1, 2}, {1, 2})),
              StatusCode::kInvalidArgument, "has -1");
  ExpectError(Apply({1, 2}, MakeTensor<float>({1, 2}, {1, 2})),
              StatusCode::kInvalidArgument, "gradient_values has 1 rows");
  ExpectError(Apply({1}, MakeTensor<float>({1, 3}, {1, 2, 3})),
              StatusCode::kInvalidArgument, "Shape mismatch");
  std::vector<Tensor> out;
  ExpectError(Take(0, &out), StatusCode::kInvalidArgument, "must be positive");
  ExpectError(Run({{"n:0", I(1)}}, {"dense:0"}), StatusCode::kInvalidArgument,
              "is of another kind");
}

class StagingTest : public StateOpsTest {};

TEST_F(StagingTest, StageWaitsForRoomAndUnstageForElements) {
  const AttrMap attrs = {{"dtypes", std::vector<DataType>{DT_FLOAT}},
                         {"capacity", int64_t{1}},
                         {"shared_name", std::string("area")}};
  Add("put", "Stage", {Placeholder("x", DT_FLOAT)}, attrs);
  Add("take", "Unstage", {}, attrs);
  Add("peek", "StagePeek", {Placeholder("i", DT_INT32)}, attrs);
  Add("size", "StageSize", {}, attrs);
  Add("clear", "StageClear", {}, attrs);
  Start();
  const auto put = [&](float x, int64_t timeout = 0) {
    return Run({{"x:0", F({x})}}, {"put"}, nullptr, timeout);
  };
  std::vector<Tensor> out;
  ASSERT_EQ(put(1), OkStatus());
  ExpectError(
      put(2, 20), StatusCode::kDeadlineExceeded,
      "node 'put' (Stage) for room in staging area 'area', which has 1");
  std::thread second([&] { EXPECT_EQ(put(2), OkStatus()); });
  absl::SleepFor(absl::Milliseconds(5));
  ASSERT_EQ(Run({{"i:0", I(0)}}, {"peek:0"}, &out), OkStatus());
  ExpectEqual(out[0], F({1}));
  ASSERT_EQ(Run({}, {"take:0"}, &out), OkStatus());
  ExpectEqual(out[0], F({1}));
  second.join();
  EXPECT_EQ(Count("size:0"), 1);
  ASSERT_EQ(Run({}, {"clear"}), OkStatus());
  EXPECT_EQ(Count("size:0"), 0);
  ExpectError(Run({}, {"take:0"}, &out, 20), StatusCode::kDeadlineExceeded,
              "for an element of staging area 'area', which has 0");
  ExpectError(Run({{"i:0", I(-1)}}, {"peek:0"}, &out),
              StatusCode::kInvalidArgument, "index is -1");
}

TEST_F(StagingTest, MemoryLimit) {
  const AttrMap attrs = {{"dtypes", std::vector<DataType>{DT_FLOAT}},
                         {"memory_limit", int64_t{16}}};
  AttrMap put_attrs = attrs, take_attrs = attrs;
  put_attrs.Set("shared_name", std::string("m"));
  take_attrs.Set("shared_name", std::string("m"));
  Add("put", "Stage", {Placeholder("x", DT_FLOAT)}, put_attrs);
  Add("take", "Unstage", {}, take_attrs);
  Start();
  ExpectError(Run({{"x:0", F({1, 2, 3, 4, 5})}}, {"put"}),
              StatusCode::kResourceExhausted, "combined size of '20' bytes");
  ASSERT_EQ(Run({{"x:0", F({1, 2, 3})}}, {"put"}), OkStatus());
  std::thread blocked([&] {
    EXPECT_EQ(Run({{"x:0", F({1, 2})}}, {"put"}), OkStatus());
  });
  absl::SleepFor(absl::Milliseconds(5));
  ASSERT_EQ(Run({}, {"take:0"}), OkStatus());
  blocked.join();
}

TEST_F(StagingTest, MapsHaveKeysAndParts) {
  const AttrMap attrs = {{"dtypes", std::vector<DataType>{DT_FLOAT, DT_STRING}},
                         {"shared_name", std::string("map")}};
  const Endpoint key = Placeholder("key", DT_INT64);
  const Endpoint parts = Placeholder("parts", DT_INT32);
  const Endpoint x = Placeholder("x", DT_FLOAT);
  const Endpoint s = Placeholder("s", DT_STRING);
  Add("put", "OrderedMapStage", {key, parts, x, s}, attrs);
  Add("put_x", "OrderedMapStage", {key, parts, x}, attrs);
  Add("put_s", "OrderedMapStage", {key, parts, s}, attrs);
  Add("take", "OrderedMapUnstage", {key, parts}, attrs);
  Add("peek", "OrderedMapPeek", {key, parts}, attrs);
  Add("any", "OrderedMapUnstageNoKey", {parts}, attrs);
  AttrMap one = attrs;
  one.Set("dtypes", std::vector<DataType>{DT_STRING});
  Add("take_s", "OrderedMapUnstage", {key, parts}, one);
  AttrMap none = attrs;
  none.Set("dtypes", std::vector<DataType>{});
  Add("size", "OrderedMapSize", {}, none);
  Add("incomplete", "OrderedMapIncompleteSize", {}, none);
  Start();
  const Tensor both = MakeTensor<int32_t>({2}, {0, 1});
  const Tensor first = MakeTensor<int32_t>({1}, {0});
  const Tensor second = MakeTensor<int32_t>({1}, {1});
  const auto put = [&](int64_t k) {
    return Run({{"key:0", L(k)},
                {"parts:0", both},
                {"x:0", F({static_cast<float>(k)})},
                {"s:0", S({std::to_string(k)})}},
               {"put"});
  };
  ASSERT_EQ(put(5), OkStatus());
  ASSERT_EQ(put(3), OkStatus());
  ASSERT_EQ(put(3), OkStatus());  // keeps the first
  ASSERT_EQ(
      Run({{"key:0", L(1)}, {"parts:0", second}, {"s:0", S({"1"})}}, {"put_s"}),
      OkStatus());
  ExpectError(
      Run({{"key:0", L(1)}, {"parts:0", second}, {"s:0", S({"1"})}}, {"put_s"}),
      StatusCode::kInvalidArgument, "was already initialized");
  EXPECT_EQ(Count("size:0"), 2);
  EXPECT_EQ(Count("incomplete:0"), 1);
  std::vector<Tensor> out;
  std::thread completes([&] {
    absl::SleepFor(absl::Milliseconds(5));
    EXPECT_EQ(
        Run({{"key:0", L(1)}, {"parts:0", first}, {"x:0", F({1})}}, {"put_x"}),
        OkStatus());
  });
  ASSERT_EQ(
      Run({{"key:0", L(1)}, {"parts:0", both}}, {"peek:0", "peek:1"}, &out),
      OkStatus());
  completes.join();
  ExpectEqual(out[0], F({1}));
  ExpectEqual(out[1], S({"1"}));
  // The smallest key, then by key, in two parts.
  ASSERT_EQ(Run({{"parts:0", both}}, {"any:0", "any:1"}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<int64_t>(), 1);
  ASSERT_EQ(Run({{"key:0", L(5)}, {"parts:0", second}}, {"take_s:0"}, &out),
            OkStatus());
  ExpectEqual(out[0], S({"5"}));
  ExpectError(Run({{"key:0", L(5)}, {"parts:0", both}}, {"take:0"}, &out),
              StatusCode::kInvalidArgument, "has already been removed");
  ExpectError(Run({{"key:0", L(3)}, {"parts:0", first}}, {"take_s:0"}, &out),
              StatusCode::kInvalidArgument, "this node wants string");
  ExpectError(
      Run({{"key:0", L(3)}, {"parts:0", MakeTensor<int32_t>({2}, {1, 0})}},
          {"take:0"}, &out),
      StatusCode::kInvalidArgument, "Indices are not strictly ordered");
  ExpectError(Run({{"key:0", L(8)}, {"parts:0", both}}, {"take:0"}, &out, 20),
              StatusCode::kDeadlineExceeded, "for key '8' in staging area");
  EXPECT_EQ(Count("size:0"), 2);  // 3, and the rest of 5
}

using MutexTest = StateOpsTest;

TEST_F(MutexTest, ALockIsHeldUntilItsLastReaderIsThrough) {
  const Endpoint mutex =
      Add("mutex", "MutexV2", {}, {{"shared_name", std::string("m")}});
  const Endpoint lock = Add("lock", "MutexLock", {mutex});
  const Endpoint area_in = Placeholder("x", DT_FLOAT);
  const AttrMap attrs = {{"dtypes", std::vector<DataType>{DT_FLOAT}},
                         {"shared_name", std::string("gate")}};
  Add("open", "Stage", {area_in}, attrs);
  const Node* gate = AddNode("gate", "Unstage", {}, attrs, {lock.node});
  AddNode("holds", "ConsumeMutexLock", {lock}, {}, {const_cast<Node*>(gate)});
  AddNode("takes", "ConsumeMutexLock", {lock});
  Start();
  std::thread holder([&] { EXPECT_EQ(Run({}, {"holds"}), OkStatus()); });
  absl::SleepFor(absl::Milliseconds(10));
  ExpectError(Run({}, {"takes"}, nullptr, 20), StatusCode::kDeadlineExceeded,
              "node 'lock' (MutexLock) for mutex 'm'");
  ASSERT_EQ(Run({{"x:0", F({1})}}, {"open"}), OkStatus());
  holder.join();
  EXPECT_EQ(Run({}, {"takes"}), OkStatus());
}

TEST_F(MutexTest, AStepThatFailsLetsItsLockGo) {
  const Endpoint mutex =
      Add("mutex", "MutexV2", {}, {{"shared_name", std::string("m")}});
  const Endpoint lock = Add("lock", "MutexLock", {mutex});
  const Node* waits =
      AddNode("waits", "Unstage", {},
              {{"dtypes", std::vector<DataType>{DT_FLOAT}}}, {lock.node});
  AddNode("holds", "ConsumeMutexLock", {lock}, {}, {const_cast<Node*>(waits)});
  AddNode("takes", "ConsumeMutexLock", {lock});
  Start();
  ExpectError(Run({}, {"holds"}, nullptr, 20), StatusCode::kDeadlineExceeded,
              "node 'waits'");
  EXPECT_EQ(Run({}, {"takes"}, nullptr, 5000), OkStatus());
}

using SessionHandleTest = StateOpsTest;

TEST_F(SessionHandleTest, KeepsWhatIsFetched) {
  const Endpoint x = Placeholder("x", DT_FLOAT);
  Add("keep", "GetSessionHandle", {x});
  Add("keep2", "GetSessionHandleV2", {x});
  const Endpoint handle = Placeholder("handle", DT_STRING);
  Add("get", "GetSessionTensor", {handle}, {{"dtype", DT_FLOAT}});
  Add("get_int", "GetSessionTensor", {handle}, {{"dtype", DT_INT32}});
  Add("delete", "DeleteSessionTensor", {handle});
  Start();
  std::vector<Tensor> out, kept;
  ASSERT_EQ(Run({{"x:0", F({1, 2})}}, {"keep:0"}, &kept), OkStatus());
  ASSERT_EQ(Run({{"handle:0", kept[0]}}, {"get:0"}, &out), OkStatus());
  ExpectEqual(out[0], F({1, 2}));
  ExpectError(Run({{"handle:0", kept[0]}}, {"get_int:0"}, &out),
              StatusCode::kInvalidArgument, "is of float, wanted int32");
  ASSERT_EQ(Run({{"x:0", F({3})}}, {"keep2:0"}, &out), OkStatus());
  const Tensor second =
      Tensor::Scalar<tstring>(tstring(out[0].scalar<ResourceHandle>().name));
  ASSERT_EQ(Run({{"handle:0", second}}, {"get:0"}, &out), OkStatus());
  ExpectEqual(out[0], F({3}));
  ASSERT_EQ(Run({{"handle:0", kept[0]}}, {"delete"}), OkStatus());
  ExpectError(Run({{"handle:0", kept[0]}}, {"get:0"}, &out),
              StatusCode::kInvalidArgument, "is not in the session store");
  ExpectError(Run({{"handle:0", kept[0]}}, {"delete"}),
              StatusCode::kInvalidArgument, "is not in the session store");
}

TEST_F(SessionHandleTest, WhatNobodyFetchedIsNotKept) {
  Add("keep", "GetSessionHandle", {Placeholder("x", DT_FLOAT)});
  Add("get", "GetSessionTensor", {Placeholder("handle", DT_STRING)},
      {{"dtype", DT_FLOAT}});
  Start();
  std::vector<Tensor> out;
  ASSERT_EQ(Run({{"x:0", F({1})}}, {"keep"}), OkStatus());
  ASSERT_EQ(Run({{"x:0", F({1})}}, {"keep:0"}, &out), OkStatus());
  std::string handle(out[0].scalar<tstring>());
  handle.replace(handle.find(";1;"), 3, ";0;");  // the one before
  ExpectError(Run({{"handle:0", Tensor::Scalar<tstring>(tstring(handle))}},
                  {"get:0"}, &out),
              StatusCode::kInvalidArgument, "is not in the session store");
}

}  // namespace
}  // namespace headrace
