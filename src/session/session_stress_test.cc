// Eight clients on shared sessions: runs, extends, partial runs, cancellations,
// deadlines and closes at random. Nothing may hang or crash, every answer must
// be right or say why there is none, and no element of a queue may be lost or
// appear twice. HEADRACE_STRESS_SECONDS says how long; 2 by default.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "graph/graph_test_util.h"
#include "headrace/mutex.h"
#include "headrace/session.h"

namespace headrace {
namespace {

constexpr int kClients = 8;
constexpr int64_t kCapacity = 16;

Tensor F(float v) { return Tensor::Scalar<float>(v); }
Tensor I(int32_t v) { return Tensor::Scalar<int32_t>(v); }

// What every client uses; nodes are only ever added.
struct SharedGraph {
  SharedGraph() {
    Graph* g = graph.get();
    MutexLock lock(&g->mu());
    x = Placeholder(g, "x", DT_FLOAT);
    y = Placeholder(g, "y", DT_FLOAT);
    sum = {AddOp(g, "sum", "AddV2", {x, y}), 0};
    product = {AddOp(g, "product", "Mul", {sum, y}), 0};
    const Endpoint one = Const(g, "one", F(1));
    const PartialTensorShape scalar = PartialTensorShape::Scalar();
    const Endpoint v = {AddOp(g, "v", "VariableV2", {},
                              {{"dtype", DT_FLOAT}, {"shape", scalar}}),
                        0};
    init = AddOp(g, "v/Assign", "Assign", {v, Const(g, "zero", F(0))});
    increment =
        AddOp(g, "increment", "AssignAdd", {v, one}, {{"use_locking", true}});
    read = {AddOp(g, "read", "Identity", {v}), 0};
    const std::vector<DataType> types = {DT_FLOAT};
    const Endpoint q = {
        AddOp(g, "q", "FIFOQueueV2", {},
              {{"component_types", types}, {"capacity", kCapacity}}),
        0};
    const Endpoint never = {
        AddOp(g, "never", "FIFOQueueV2", {}, {{"component_types", types}}), 0};
    put = AddOp(g, "put", "QueueEnqueueV2", {q, x}, {{"Tcomponents", types}});
    take = {
        AddOp(g, "take", "QueueDequeueV2", {q}, {{"component_types", types}}),
        0};
    size = {AddOp(g, "size", "QueueSizeV2", {q}), 0};
    wait = {AddOp(g, "wait", "QueueDequeueV2", {never},
                  {{"component_types", types}}),
            0};
    AddLoop(g);
  }

  // loop = 0, +1 while below the int32 `limit`.
  void AddLoop(Graph* g) {
    const AttrMap frame = {{"frame_name", std::string("loop")}};
    AttrMap constant = frame;
    constant.Set("is_constant", true);
    limit = Placeholder(g, "limit", DT_INT32, PartialTensorShape::Scalar());
    const Endpoint bound = {AddOp(g, "loop/bound", "Enter", {limit}, constant),
                            0};
    const Endpoint enter = {
        AddOp(g, "loop/enter", "Enter", {Const(g, "start", I(0))}, frame), 0};
    NodeDef def;
    def.name = "loop/merge";
    def.op = "Merge";
    def.attrs.Set("T", DT_INT32);
    def.attrs.Set("N", int64_t{2});
    StatusOr<Node*> made = g->AddUnconnectedNode(std::move(def));
    ASSERT_TRUE(made.ok()) << made.status();
    Node* merge = *made;
    ASSERT_EQ(g->AddEdge(enter, merge, 0), OkStatus());
    const Endpoint i = {merge, 0};
    const Endpoint more = {
        AddOp(g, "loop/cond", "LoopCond",
              {{AddOp(g, "loop/less", "Less", {i, bound}), 0}}),
        0};
    Node* branch = AddOp(g, "loop/switch", "Switch", {i, more});
    const Endpoint body = {branch, 1};
    Node* step = AddOp(g, "loop/one", "Identity", {body});
    const Endpoint increment_by = {
        AddOp(g, "loop/by", "Const", {}, {{"dtype", DT_INT32}, {"value", I(1)}},
              {step}),
        0};
    Node* next =
        AddOp(g, "loop/next", "NextIteration",
              {{AddOp(g, "loop/add", "AddV2", {{step, 0}, increment_by}), 0}});
    ASSERT_EQ(g->AddEdge({next, 0}, merge, 1), OkStatus());
    loop = {AddOp(g, "loop/exit", "Exit", {{branch, 0}}), 0};
  }

  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Endpoint x, y, sum, product, read, take, size, wait, limit, loop;
  Node *init = nullptr, *increment = nullptr, *put = nullptr;
};

class Stress {
 public:
  Stress() {
    stable_ = NewOne();
    victim_ = NewOne();
    EXPECT_EQ(Run(*stable_, {}, {}, {shared_.init}, nullptr), OkStatus());
  }

  void Client(int seed) {
    std::mt19937 random(seed);
    while (!stop_.load()) {
      const auto session =
          random() % 4 == 0 ? Victim() : std::shared_ptr<Session>(stable_);
      const bool may_close = session != stable_;
      Status s;
      switch (random() % 10) {
        case 0:
        case 1:
          s = Compute(*session, random);
          break;
        case 2:
          s = Increment(*session, !may_close);
          break;
        case 3:
          s = Put(*session, random, !may_close);
          break;
        case 4:
          s = Take(*session, random, !may_close);
          break;
        case 5:
          s = Extend(*session, random);
          break;
        case 6:
          s = PartialRun(*session, random);
          break;
        case 7:
          s = Cancel(*session, random);
          break;
        case 8:
          s = Loop(*session, random);
          break;
        default:
          if (random() % 8 == 0) CloseVictim();
      }
      ++done_;
      if (s.ok() || (may_close && errors::IsCancelled(s))) continue;
      ADD_FAILURE() << s;
      stop_ = true;
    }
  }

  void RunFor(double seconds) {
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([this, i] { Client(i); });
    }
    for (int i = 0; i < seconds * 20 && !stop_; ++i) {
      absl::SleepFor(absl::Milliseconds(50));
    }
    stop_ = true;
    for (std::thread& t : clients) t.join();
  }

  void CheckState() {
    std::vector<Tensor> out;
    ASSERT_EQ(Run(*stable_, {}, {shared_.read, shared_.size}, {}, &out),
              OkStatus());
    EXPECT_EQ(out[0].scalar<float>(), static_cast<float>(increments_.load()));
    int64_t left = 0;
    const int n = out[1].scalar<int32_t>();
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(Run(*stable_, {}, {shared_.take}, {}, &out), OkStatus());
      left += static_cast<int64_t>(out[0].scalar<float>());
    }
    EXPECT_EQ(put_.load(), taken_.load() + left);
    EXPECT_GT(done_.load(), kClients);
    ::testing::Test::RecordProperty("operations", std::to_string(done_.load()));
  }

 private:
  using Random = std::mt19937;

  std::shared_ptr<Session> NewOne() {
    std::unique_ptr<Session> made;
    pb::ConfigProto config;
    (*config.mutable_device_count())["CPU"] = 2;
    EXPECT_EQ(MoveTo(NewSession(config, "", shared_.graph), &made), OkStatus());
    return made;
  }
  std::shared_ptr<Session> Victim() {
    MutexLock lock(&mu_);
    return victim_;
  }
  void CloseVictim() {
    std::shared_ptr<Session> fresh = NewOne(), old;
    {
      MutexLock lock(&mu_);
      old = std::move(victim_);
      victim_ = std::move(fresh);
    }
    EXPECT_EQ(old->Close(), OkStatus());
  }

  static Status Run(Session& session, std::vector<Session::Feed> feeds,
                    std::vector<Endpoint> fetches, std::vector<Node*> targets,
                    std::vector<Tensor>* out, int64_t timeout_ms = 0,
                    CancellationManager* cancellation = nullptr) {
    pb::RunOptions options;
    options.set_timeout_in_ms(timeout_ms);
    return session.Run(options, feeds, fetches, targets, out, nullptr,
                       cancellation);
  }

  Status Compute(Session& session, Random& random) {
    const float a = static_cast<float>(random() % 100);
    const float b = static_cast<float>(random() % 100);
    std::vector<Tensor> out;
    HR_RETURN_IF_ERROR(Run(session, {{shared_.x, F(a)}, {shared_.y, F(b)}},
                           {shared_.product, shared_.sum}, {}, &out));
    EXPECT_EQ(out[0].scalar<float>(), (a + b) * b);
    EXPECT_EQ(out[1].scalar<float>(), a + b);
    return OkStatus();
  }

  Status Increment(Session& session, bool counts) {
    if (!counts) return OkStatus();  // not initialized there
    HR_RETURN_IF_ERROR(Run(session, {}, {}, {shared_.increment}, nullptr));
    ++increments_;
    return OkStatus();
  }

  // With deadlines that often expire on the way: an answer must be what
  // happened.
  Status Put(Session& session, Random& random, bool counts) {
    const int value = static_cast<int>(random() % 1000);
    const Status s =
        Run(session, {{shared_.x, F(static_cast<float>(value))}}, {},
            {shared_.put}, nullptr, static_cast<int64_t>(1 + random() % 3));
    if (errors::IsDeadlineExceeded(s)) return OkStatus();
    if (s.ok() && counts) put_ += value;
    return s;
  }
  Status Take(Session& session, Random& random, bool counts) {
    std::vector<Tensor> out;
    const Status s = Run(session, {}, {shared_.take}, {}, &out,
                         static_cast<int64_t>(1 + random() % 3));
    if (errors::IsDeadlineExceeded(s)) return OkStatus();
    if (s.ok() && counts)
      taken_ += static_cast<int64_t>(out[0].scalar<float>());
    return s;
  }

  Status Extend(Session& session, Random& random) {
    const int k = static_cast<int>(random() % 10);
    Endpoint added;
    {
      Graph* g = shared_.graph.get();
      MutexLock lock(&g->mu());
      // A graph that grew without end would make later runs slow.
      if (g->num_nodes() > 3000) return OkStatus();
      const std::string name = g->UniqueName("more");
      added = {
          AddOp(g, name, "AddV2",
                {shared_.sum, Const(g, name + "/c", F(static_cast<float>(k)))}),
          0};
      if (random() % 2 == 0) {
        g->SetRequestedDevice(added.node, "/device:CPU:1");
      }
    }
    std::vector<Tensor> out;
    HR_RETURN_IF_ERROR(Run(session, {{shared_.x, F(1)}, {shared_.y, F(2)}},
                           {added}, {}, &out));
    EXPECT_EQ(out[0].scalar<float>(), static_cast<float>(3 + k));
    return OkStatus();
  }

  Status PartialRun(Session& session, Random& random) {
    std::string handle;
    HR_RETURN_IF_ERROR(
        MoveTo(session.PRunSetup({shared_.x, shared_.y},
                                 {shared_.sum, shared_.product}, {}),
               &handle));
    const pb::RunOptions options;
    std::vector<Tensor> out;
    HR_RETURN_IF_ERROR(
        session.PRun(handle, options, {{shared_.x, F(2)}}, {}, &out));
    if (random() % 3 == 0) {
      session.PRunClose(handle);
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(session.PRun(handle, options, {{shared_.y, F(3)}},
                                    {shared_.product}, &out));
    EXPECT_EQ(out[0].scalar<float>(), 15);
    HR_RETURN_IF_ERROR(session.PRun(handle, options, {}, {shared_.sum}, &out));
    EXPECT_EQ(out[0].scalar<float>(), 5);
    return OkStatus();
  }

  // A run that would wait for ever, cancelled from another thread.
  Status Cancel(Session& session, Random& random) {
    CancellationManager cancellation;
    const int64_t after = random() % 500;
    std::thread canceller([&] {
      absl::SleepFor(absl::Microseconds(after));
      cancellation.StartCancel();
    });
    std::vector<Tensor> out;
    const Status s =
        Run(session, {}, {shared_.wait}, {}, &out, 0, &cancellation);
    canceller.join();
    EXPECT_TRUE(errors::IsCancelled(s)) << s;
    return OkStatus();
  }

  Status Loop(Session& session, Random& random) {
    const int n = static_cast<int>(random() % 200);
    const bool too_long = random() % 4 == 0;
    std::vector<Tensor> out;
    const Status s =
        Run(session, {{shared_.limit, I(too_long ? INT32_MAX : n)}},
            {shared_.loop}, {}, &out, too_long ? 2 : 0);
    if (too_long && errors::IsDeadlineExceeded(s)) return OkStatus();
    HR_RETURN_IF_ERROR(s);
    EXPECT_EQ(out[0].scalar<int32_t>(), n);
    return OkStatus();
  }

  SharedGraph shared_;
  std::shared_ptr<Session> stable_;
  Mutex mu_;
  std::shared_ptr<Session> victim_ GUARDED_BY(mu_);
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> done_{0}, increments_{0}, put_{0}, taken_{0};
};

TEST(SessionStressTest, EightClients) {
  const char* seconds = std::getenv("HEADRACE_STRESS_SECONDS");
  Stress stress;
  if (::testing::Test::HasFailure()) return;
  stress.RunFor(seconds == nullptr ? 2 : std::atof(seconds));
  stress.CheckState();
}

}  // namespace
}  // namespace headrace
