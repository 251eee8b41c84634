// Several tasks in one process: steps, loops, failures and collective ops that
// cross them. Once the tasks call each other directly, and once over
// connections, as tasks of several processes do.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "distributed/near_worker.h"
#include "distributed/server_test_util.h"
#include "distributed/task_server.h"
#include "distributed/worker.h"
#include "graph/graph_test_util.h"
#include "headrace/clock.h"
#include "headrace/importer.h"
#include "headrace/op_kernel.h"
#include "headrace/session.h"

namespace headrace {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(20);

// What kernels of the tests share.
struct Meeting {
  Mutex mu;
  CondVar changed;
  std::thread::id client GUARDED_BY(mu);
  bool client_has_left GUARDED_BY(mu) = false;
  int inside GUARDED_BY(mu) = 0;
  bool met GUARDED_BY(mu) = false;

  static Meeting* Get() {
    static Meeting* const m = new Meeting;
    return m;
  }
  void Begin() {
    MutexLock lock(&mu);
    client = std::this_thread::get_id();
    client_has_left = met = false;
  }
  // Until so many are inside.
  void WaitFor(int n) {
    const absl::Time end = Now() + kDeadline;
    MutexLock lock(&mu);
    while (inside != n && Now() < end) {
      changed.WaitWithTimeout(&mu, absl::Milliseconds(100));
    }
    EXPECT_EQ(inside, n);
  }
};

// The output says whether two of these ran at once.
REGISTER_OP("TasksTestMeet").Output("met: bool").SetIsStateful();
class MeetOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({}), &out));
    Meeting* const m = Meeting::Get();
    const absl::Time end = Now() + kDeadline;
    MutexLock lock(&m->mu);
    if (++m->inside == 2) m->met = true;
    m->changed.SignalAll();
    while (!m->met && Now() < end) {
      m->changed.WaitWithTimeout(&m->mu, absl::Milliseconds(100));
    }
    --m->inside;
    out->scalar<bool>() = m->met;
  }
};
REGISTER_KERNEL_BUILDER(Name("TasksTestMeet").Device(DEVICE_CPU), MeetOp);

// Of two, the one on the client's thread ends first, and that thread has
// nothing left to run.
REGISTER_OP("TasksTestClientLeaves").SetIsStateful();
class ClientLeavesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {
    Meeting* const m = Meeting::Get();
    {
      const absl::Time end = Now() + kDeadline;
      MutexLock lock(&m->mu);
      if (m->client == std::this_thread::get_id()) {
        m->client_has_left = true;
        m->changed.SignalAll();
        return;
      }
      while (!m->client_has_left && Now() < end) {
        m->changed.WaitWithTimeout(&m->mu, absl::Milliseconds(100));
      }
    }
    absl::SleepFor(absl::Milliseconds(50));  // until it waits
  }
};
REGISTER_KERNEL_BUILDER(Name("TasksTestClientLeaves").Device(DEVICE_CPU),
                        ClientLeavesOp);

std::vector<int> FreePorts(int n) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < n; ++i) {
    sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    EXPECT_EQ(bind(sockets.back(), reinterpret_cast<sockaddr*>(&at), length),
              0);
    getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&at), &length);
    ports.push_back(ntohs(at.sin_port));
  }
  for (const int s : sockets) close(s);
  return ports;
}

std::string CpuOf(int task) {
  return StrCat("/job:worker/task:", task, "/device:CPU:0");
}

// The tasks call each other directly, or over connections.
enum Way { kNear, kFar };

class TasksTest : public ::testing::TestWithParam<Way> {
 protected:
  void Start(int n, pb::ConfigProto config = {}) {
    const std::vector<int> ports = FreePorts(n);
    for (int self = 0; self < n; ++self) {
      pb::ServerDef def;
      def.set_protocol("grpc");
      def.set_job_name("worker");
      def.set_task_index(self);
      *def.mutable_default_session_config() = config;
      pb::JobDef* const job = def.mutable_cluster()->add_job();
      job->set_name("worker");
      for (int i = 0; i < n; ++i) {
        // Under another name of this machine a task is not found to be near.
        const char* const host =
            i != self && GetParam() == kFar ? "127.0.0.1" : "localhost";
        (*job->mutable_tasks())[i] = StrCat(host, ":", ports[i]);
      }
      servers_.emplace_back();
      ASSERT_EQ(MoveTo(NewTaskServer(def), &servers_.back()), OkStatus());
    }
    for (const auto& s : servers_) ASSERT_EQ(s->Start(), OkStatus());
  }
  std::unique_ptr<Session> NewClient(pb::ConfigProto config = {},
                                     int task = 0) {
    if (config.operation_timeout_in_ms() == 0) {
      config.set_operation_timeout_in_ms(30000);
    }
    std::unique_ptr<Session> session;
    EXPECT_EQ(
        MoveTo(NewSession(config, servers_[task]->target(), graph_), &session),
        OkStatus());
    return session;
  }
  // A node on a task.
  Node* On(int task, const std::string& name, const std::string& op,
           const std::vector<Endpoint>& inputs = {}, AttrMap attrs = {},
           const std::vector<Node*>& control = {}) {
    NodeDef def;
    def.name = name;
    def.op = op;
    def.device = CpuOf(task);
    def.attrs = std::move(attrs);
    StatusOr<Node*> n = graph_->AddNode(std::move(def), inputs, control);
    EXPECT_TRUE(n.ok()) << n.status();
    return n.ok() ? *n : nullptr;
  }
  Endpoint ConstOn(int task, const std::string& name, const Tensor& value) {
    return {On(task, name, "Const", {},
               {{"dtype", value.dtype()}, {"value", value}}),
            0};
  }
  // A queue that stays empty.
  Endpoint EmptyQueueOn(int task) {
    return {On(task, "queue", "FIFOQueueV2", {},
               {{"component_types", std::vector<DataType>{DT_FLOAT}},
                {"shared_name", std::string("queue")}}),
            0};
  }
  // sum = sum_i (i + 1), each addend on another task.
  void AddSum(int n) {
    Endpoint sum = ConstOn(0, "zero", Tensor::Scalar<float>(0));
    for (int i = 0; i < n; ++i) {
      const Endpoint addend =
          ConstOn(i, StrCat("addend", i), Tensor::Scalar<float>(1.f + i));
      sum = {
          On(i, i + 1 == n ? "sum" : StrCat("sum", i), "AddV2", {sum, addend}),
          0};
    }
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::deque<std::unique_ptr<Server>> servers_;
};
INSTANTIATE_TEST_SUITE_P(Ways, TasksTest, ::testing::Values(kNear, kFar));

TEST_P(TasksTest, AStepCrossesAllTasks) {
  Start(3);
  AddSum(3);
  for (const int master : {0, 2}) {
    const auto session = NewClient({}, master);
    std::vector<Tensor> out;
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(session->Run({}, {"sum:0"}, {}, &out), OkStatus());
      EXPECT_EQ(out[0].scalar<float>(), 6);
    }
  }
}

// What was sent is the value of that time, also where a task could see later
// ones.
TEST_P(TasksTest, AVariableThatWasSentIsWrittenOver) {
  Start(2);
  const Endpoint v = {
      On(0, "v", "VariableV2", {},
         {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape({3})}}),
      0};
  const Tensor one = Tensor::Vector<float>({1, 1, 1});
  On(0, "init", "Assign", {v, ConstOn(0, "ones", one)});
  Node* const there = On(1, "there", "Neg", {v});
  Node* const sent = On(1, "sent", "Identity", {v});
  On(0, "add", "AssignAdd", {v, ConstOn(0, "by", one)}, {}, {there, sent});
  const auto session = NewClient();
  ASSERT_EQ(session->Run({}, {}, {"init"}, nullptr), OkStatus());
  std::vector<Tensor> out;
  for (int i = 1; i < 4; ++i) {
    ASSERT_EQ(session->Run({}, {"sent:0"}, {"add"}, &out), OkStatus());
    EXPECT_EQ(out[0].flat<float>()[0], static_cast<float>(i));
  }
}

TEST_P(TasksTest, ALoopCrossesTasks) {
  Start(2);
  const AttrMap frame = {{"frame_name", std::string("loop")}};
  AttrMap constant = frame;
  constant.Set("is_constant", true);
  Graph* const g = graph_.get();
  const Endpoint limit = ConstOn(0, "limit", Tensor::Scalar<int32_t>(5));
  const Endpoint bound = {On(0, "bound", "Enter", {limit}, constant), 0};
  const Endpoint enter = {
      On(0, "enter", "Enter", {ConstOn(0, "start", Tensor::Scalar<int32_t>(0))},
         frame),
      0};
  NodeDef def;
  def.name = "merge";
  def.op = "Merge";
  def.device = CpuOf(0);
  def.attrs.Set("T", DT_INT32);
  def.attrs.Set("N", int64_t{2});
  StatusOr<Node*> made = g->AddUnconnectedNode(std::move(def));
  ASSERT_TRUE(made.ok()) << made.status();
  Node* const merge = *made;
  ASSERT_EQ(g->AddEdge(enter, merge, 0), OkStatus());
  const Endpoint i = {merge, 0};
  const Endpoint more = {
      On(0, "cond", "LoopCond", {{On(0, "less", "Less", {i, bound}), 0}}), 0};
  Node* const branch = On(0, "switch", "Switch", {i, more});
  // The body is on the other task.
  Node* const step = On(1, "step", "Identity", {{branch, 1}});
  const Endpoint one = {
      On(1, "one", "Const", {},
         {{"dtype", DT_INT32}, {"value", Tensor::Scalar<int32_t>(1)}}, {step}),
      0};
  Node* const next = On(0, "next", "NextIteration",
                        {{On(1, "add", "AddV2", {{step, 0}, one}), 0}});
  ASSERT_EQ(g->AddEdge({next, 0}, merge, 1), OkStatus());
  On(0, "exit", "Exit", {{branch, 0}});
  const auto session = NewClient();
  std::vector<Tensor> out;
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(session->Run({}, {"exit:0"}, {}, &out), OkStatus());
    EXPECT_EQ(out[0].scalar<int32_t>(), 5);
  }
}

// Task 1 fails; task 2 waits for task 1's tensor, task 0 for both.
TEST_P(TasksTest, AStepFailsWithItsFirstCause) {
  Start(3);
  const Endpoint bad = ConstOn(1, "bad", Tensor::Vector<float>({1, NAN}));
  Node* const check = On(1, "check", "CheckNumerics", {bad},
                         {{"message", std::string("the cause")}});
  Node* const there = On(2, "there", "Neg", {{check, 0}});
  Node* const taken =
      On(2, "taken", "QueueDequeueV2", {EmptyQueueOn(2)},
         {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  On(0, "all", "AddV2", {{there, 0}, {taken, 0}});
  AddSum(3);
  const auto session = NewClient();
  std::vector<Tensor> out;
  for (int run = 0; run < 2; ++run) {
    const Status s = session->Run({}, {"all:0"}, {}, &out);
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), "the cause")) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), "task:1")) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), "check")) << s;
    ASSERT_EQ(session->Run({}, {"sum:0"}, {}, &out), OkStatus());
  }
}

TEST_P(TasksTest, ATaskThatStopsEndsTheStep) {
  Start(3);
  Node* const taken =
      On(2, "taken", "QueueDequeueV2", {EmptyQueueOn(2)},
         {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  Node* const there = On(1, "there", "Neg", {{taken, 0}});
  On(0, "all", "Neg", {{there, 0}});
  AddSum(2);
  const auto session = NewClient();
  std::vector<Tensor> out;
  ASSERT_EQ(session->Run({}, {"sum:0"}, {}, &out), OkStatus());
  std::thread client([&] {
    std::vector<Tensor> none;
    const Status s = session->Run({}, {"all:0"}, {}, &none);
    EXPECT_TRUE(errors::IsUnavailable(s) || errors::IsCancelled(s) ||
                errors::IsAborted(s))
        << s;
  });
  absl::SleepFor(absl::Milliseconds(100));
  EXPECT_EQ(servers_[2]->Stop(), OkStatus());
  client.join();
  // The others go on.
  EXPECT_EQ(session->Run({}, {"sum:0"}, {}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), 3);
}

TEST_P(TasksTest, ACollectiveOpOfAllTasks) {
  constexpr int kTasks = 3;
  Start(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    const Tensor value = Tensor::Vector<float>({1.f + i, 10.f});
    On(i, StrCat("reduce", i), "CollectiveReduce",
       {ConstOn(i, StrCat("value", i), value)},
       {{"group_size", int64_t{kTasks}},
        {"group_key", int64_t{1}},
        {"instance_key", int64_t{1}},
        {"merge_op", std::string("Add")},
        {"final_op", std::string("Id")},
        {"subdiv_offsets", std::vector<int64_t>{0}}});
  }
  const auto session = NewClient();
  std::vector<Tensor> out;
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(
        session->Run({}, {"reduce0:0", "reduce1:0", "reduce2:0"}, {}, &out),
        OkStatus());
    for (const Tensor& t : out) {
      EXPECT_EQ(t.flat<float>()[0], 6);
      EXPECT_EQ(t.flat<float>()[1], 30);
    }
  }
}

// Two threads: one of the pool, and who stands in for the caller.
TEST_P(TasksTest, StepsHaveTheThreadsOfTheirPoolAndOneMore) {
  pb::ConfigProto config;
  config.set_inter_op_parallelism_threads(2);
  Start(2, config);
  for (const int task : {0, 1}) {
    On(task, StrCat("a", task), "TasksTestMeet");
    On(task, StrCat("b", task), "TasksTestMeet");
  }
  Node* const first = On(0, "first", "TasksTestClientLeaves");
  Node* const second = On(0, "second", "TasksTestClientLeaves");
  On(0, "c", "TasksTestMeet", {}, {}, {first, second});
  On(0, "d", "TasksTestMeet", {}, {}, {first, second});
  const auto session = NewClient();
  std::vector<Tensor> out;
  const std::vector<std::string> fetches[] = {
      {"a0:0", "b0:0"}, {"a1:0", "b1:0"}, {"c:0", "d:0"}};
  for (const auto& names : fetches) {
    for (int run = 0; run < 2; ++run) {
      Meeting::Get()->Begin();
      ASSERT_EQ(session->Run({}, names, {}, &out), OkStatus());
      EXPECT_TRUE(out[0].scalar<bool>() && out[1].scalar<bool>()) << names[0];
    }
  }
}

// The caller of a partial run waits for some tensors of a step that goes on.
TEST_P(TasksTest, NoKernelKeepsAPartialRunsCaller) {
  Start(2);
  for (const int task : {0, 1}) {
    const Endpoint a = {On(task, StrCat("a", task), "TasksTestMeet"), 0};
    const Endpoint b = {On(task, StrCat("b", task), "TasksTestMeet"), 0};
    const Endpoint quick =
        ConstOn(task, StrCat("quick", task), Tensor::Scalar<float>(3));
    const auto session = NewClient();
    Meeting* const m = Meeting::Get();
    m->Begin();
    std::string handle;
    ASSERT_EQ(MoveTo(session->PRunSetup({}, {quick, a}, {}), &handle),
              OkStatus());
    std::vector<Tensor> out;
    ASSERT_EQ(session->PRun(handle, {}, {}, {quick}, &out), OkStatus());
    EXPECT_EQ(out[0].scalar<float>(), 3);
    m->WaitFor(1);  // it has not ended, and the call has
    ASSERT_EQ(session->Run({}, {b.node->name() + ":0"}, {}, &out), OkStatus());
    EXPECT_TRUE(out[0].scalar<bool>());
    ASSERT_EQ(session->PRun(handle, {}, {}, {a}, &out), OkStatus());
    EXPECT_TRUE(out[0].scalar<bool>());
  }
}

TEST_P(TasksTest, OptionsOfPartialRuns) {
  Start(2);
  Placeholder(graph_.get(), "x", DT_FLOAT);
  const Endpoint x = {graph_->FindNode("x"), 0};
  const Endpoint y = {On(1, "y", "Neg", {x}), 0};
  const auto session = NewClient();
  std::string handle;
  ASSERT_EQ(MoveTo(session->PRunSetup({x}, {y}, {}), &handle), OkStatus());
  const Tensor one = Tensor::Scalar<float>(1);
  std::vector<Tensor> out;
  pb::RunOptions budget, watched;
  budget.mutable_headrace()->set_memory_budget_bytes(1000);
  watched.mutable_debug_options()->add_debug_tensor_watch_opts();
  Status s = session->PRun(handle, budget, {{x, one}}, {y}, &out);
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
  s = session->PRun(handle, watched, {{x, one}}, {y}, &out);
  EXPECT_TRUE(errors::IsUnimplemented(s)) << s;
  // Nothing has happened yet.
  ASSERT_EQ(session->PRun(handle, {}, {{x, one}}, {y}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), -1);
}

// What a session's config and a run's options ask, on tasks of its cluster.
TEST_P(TasksTest, SettingsOfHeadraceReachTheTasks) {
  Start(2);
  Tensor x(DT_FLOAT, TensorShape({8, 8}));
  for (int i = 0; i < 64; ++i) x.data<float>()[i] = 1.f / (3 + i);
  Placeholder(graph_.get(), "x", DT_FLOAT);
  const Endpoint fed = {graph_->FindNode("x"), 0};
  On(1, "y", "MatMul", {fed, fed});
  const auto run = [&](const pb::ConfigProto& config,
                       const pb::RunOptions& options, std::vector<Tensor>* out,
                       pb::RunMetadata* metadata) {
    return NewClient(config)->Run(options, {{"x:0", x}}, {"y:0"}, {}, out,
                                  metadata);
  };
  std::vector<Tensor> plain, rounded;
  pb::RunOptions traced;
  traced.set_trace_level(pb::RunOptions::FULL_TRACE);
  pb::ConfigProto config;
  config.mutable_headrace()->set_precision("bfloat16");
  config.mutable_headrace()->add_disabled_passes("cse");
  config.mutable_graph_options()->set_build_cost_model(1);
  pb::RunMetadata metadata;
  ASSERT_EQ(run({}, {}, &plain, nullptr), OkStatus());
  ASSERT_EQ(run(config, traced, &rounded, &metadata), OkStatus());
  EXPECT_NE(plain[0].flat<float>()[0], rounded[0].flat<float>()[0]);
  EXPECT_NEAR(plain[0].flat<float>()[0], rounded[0].flat<float>()[0], 1e-2);
  int passes = 0, off = 0;
  for (const pb::GraphPassReport& p : metadata.headrace_passes()) {
    ++passes;
    off += p.off();
    EXPECT_EQ(p.off(), p.name() == "cse") << p.name();
  }
  EXPECT_GT(passes, 1);
  EXPECT_EQ(off, 1);
  int costs = 0;
  for (const auto& n : metadata.cost_graph().node()) costs += n.name() == "y";
  EXPECT_EQ(costs, 1);
  EXPECT_GT(metadata.headrace_counters().nodes(), 0);

  config.Clear();
  config.mutable_headrace()->set_memory_budget_bytes(100);
  Status s = run(config, {}, &plain, nullptr);
  EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;
  pb::RunOptions more;
  more.mutable_headrace()->set_memory_budget_bytes(100000);
  EXPECT_EQ(run(config, more, &plain, nullptr), OkStatus());
  more.mutable_headrace()->set_memory_budget_bytes(-1);
  s = run(config, more, &plain, nullptr);
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;

  config.Clear();
  config.mutable_headrace()->set_precision("float8");
  s = run(config, {}, &plain, nullptr);
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
  config.mutable_headrace()->set_precision("");
  config.mutable_headrace()->set_conv_cache("/tmp/choices");
  s = run(config, {}, &plain, nullptr);
  EXPECT_TRUE(errors::IsUnimplemented(s)) << s;
}

// Servers that know nothing of each other are the tasks of a session's cluster.
class BroughtClusterTest : public TasksTest {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i) {
      servers_.emplace_back();
      ASSERT_EQ(MoveTo(NewTaskServer(LocalServer()), &servers_.back()),
                OkStatus());
      ASSERT_EQ(servers_.back()->Start(), OkStatus());
    }
  }
  // /job:worker/task:i is the server `at[i]`. The master is known by the
  // client's target.
  pb::ConfigProto Bring(const std::vector<int>& at, int master = 0) {
    pb::ConfigProto config;
    pb::JobDef* const job = config.mutable_cluster_def()->add_job();
    job->set_name("worker");
    for (size_t i = 0; i < at.size(); ++i) {
      std::string address = servers_[at[i]]->target().substr(strlen("grpc://"));
      if (GetParam() == kFar && at[i] != master) {
        address.replace(0, strlen("localhost"), "127.0.0.1");
      }
      (*job->mutable_tasks())[static_cast<int>(i)] = address;
    }
    return config;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, BroughtClusterTest,
                         ::testing::Values(kNear, kFar));

TEST_P(BroughtClusterTest, AStepCrossesItsTasks) {
  AddSum(3);
  pb::RunOptions options;
  options.set_trace_level(pb::RunOptions::FULL_TRACE);
  for (const int master : {0, 2}) {
    const auto session = NewClient(Bring({1, 2, 0}, master), master);
    std::vector<Tensor> out;
    pb::RunMetadata metadata;
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(session->Run(options, {}, {"sum:0"}, {}, &out, &metadata),
                OkStatus());
      EXPECT_EQ(out[0].scalar<float>(), 6);
    }
    std::set<std::string> wanted, got, ran;
    for (int i = 0; i < 3; ++i) {
      wanted.insert(StrCat("/job:worker/replica:0/task:", i, "/device:CPU:0"));
    }
    for (const Device* d : session->ListDevices()) got.insert(d->name());
    for (const auto& d : metadata.step_stats().dev_stats()) {
      ran.insert(d.device());
    }
    EXPECT_EQ(got, wanted);
    EXPECT_EQ(ran, wanted);
  }
}

// Each session has its own variables, whatever it calls the task.
TEST_P(BroughtClusterTest, SessionsShareNoState) {
  const Endpoint v = {
      On(0, "v", "VariableV2", {},
         {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape({})}}),
      0};
  On(0, "init", "Assign", {v, ConstOn(0, "one", Tensor::Scalar<float>(1))});
  On(1, "there", "Neg", {v});
  const auto first = NewClient(Bring({0, 1})), same = NewClient(Bring({0, 1})),
             other = NewClient(Bring({1, 0}));
  ASSERT_EQ(first->Run({}, {}, {"init"}, nullptr), OkStatus());
  std::vector<Tensor> out;
  ASSERT_EQ(first->Run({}, {"there:0"}, {}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), -1);
  for (const auto& session : {same.get(), other.get()}) {
    const Status s = session->Run({}, {"there:0"}, {}, &out);
    EXPECT_TRUE(errors::IsFailedPrecondition(s)) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), "uninitialized value v")) << s;
  }
}

TEST_P(BroughtClusterTest, CollectiveOpsHaveTheSessionsGroups) {
  AddSum(3);
  std::vector<std::string> fetches;
  for (int i = 0; i < 3; ++i) {
    fetches.push_back(StrCat("reduce", i, ":0"));
    On(i, StrCat("reduce", i), "CollectiveReduce",
       {{graph_->FindNode(StrCat("addend", i)), 0}},
       {{"group_size", int64_t{3}},
        {"group_key", int64_t{1}},
        {"instance_key", int64_t{1}},
        {"merge_op", std::string("Add")},
        {"final_op", std::string("Id")},
        {"subdiv_offsets", std::vector<int64_t>{0}}});
  }
  for (const int master : {0, 2}) {
    const auto session = NewClient(Bring({1, 2, 0}, master), master),
               other = NewClient(Bring({2, 1, 0}, master), master);
    for (const auto& s : {session.get(), other.get(), session.get()}) {
      std::vector<Tensor> out;
      ASSERT_EQ(s->Run({}, fetches, {}, &out), OkStatus());
      for (const Tensor& t : out) EXPECT_EQ(t.scalar<float>(), 6);
    }
  }
}

TEST_P(BroughtClusterTest, IsRefused) {
  AddSum(1);
  pb::ConfigProto twice = Bring({0});
  (*twice.mutable_cluster_def()->mutable_job(0)->mutable_tasks())[1] =
      twice.cluster_def().job(0).tasks().at(0);
  pb::ConfigProto malformed = Bring({0});
  malformed.mutable_cluster_def()->mutable_job(0)->set_name("a/b");
  pb::ConfigProto shares = Bring({0});
  shares.mutable_experimental()
      ->set_share_session_state_in_clusterspec_propagation(true);
  const struct {
    pb::ConfigProto config;
    const char* fetch;
    absl::StatusCode code;
    const char* words;
  } cases[] = {
      {Bring({1, 2}), "sum:0", absl::StatusCode::kInvalidArgument,
       "the master (current machine) is not included"},
      {twice, "sum:0", absl::StatusCode::kInvalidArgument, "have one address"},
      {malformed, "sum:0", absl::StatusCode::kInvalidArgument,
       "is no name of a job"},
      {shares, "sum:0", absl::StatusCode::kUnimplemented,
       "cannot share it with a session"},
  };
  for (const auto& c : cases) {
    std::vector<Tensor> out;
    const Status s = NewClient(c.config)->Run({}, {c.fetch}, {}, &out);
    EXPECT_EQ(s.code(), c.code) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), c.words)) << s;
  }
}

// The options of a callable are those of its runs.
TEST_P(TasksTest, ACallablesOptions) {
  Start(1);
  On(0, "taken", "QueueDequeueV2", {EmptyQueueOn(0)},
     {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  AddSum(1);
  const std::shared_ptr<Master> master = FindLocalMaster(servers_[0]->target());
  pb::CreateSessionRequest create;
  pb::CreateSessionResponse session;
  GraphToGraphDef(*graph_, create.mutable_graph_def());
  ASSERT_EQ(master->CreateSession(CallOptions(), create, &session), OkStatus());
  const auto run = [&](const char* fetch, const pb::RunOptions& options,
                       RunCallableResult* result) {
    pb::MakeCallableRequest make;
    pb::MakeCallableResponse made;
    make.set_session_handle(session.session_handle());
    make.mutable_options()->add_fetch(fetch);
    *make.mutable_options()->mutable_run_options() = options;
    HR_RETURN_IF_ERROR(master->MakeCallable(CallOptions(), make, &made));
    RunCallableCall call;
    call.header.set_session_handle(session.session_handle());
    call.header.set_handle(made.handle());
    return master->RunCallable(CallOptions(), std::move(call), result);
  };
  RunCallableResult result;
  pb::RunOptions options;
  options.set_timeout_in_ms(100);
  const Status s = run("taken:0", options, &result);
  EXPECT_TRUE(errors::IsDeadlineExceeded(s)) << s;
  options.Clear();
  options.set_trace_level(pb::RunOptions::FULL_TRACE);
  ASSERT_EQ(run("sum:0", options, &result), OkStatus());
  EXPECT_GT(result.header.metadata().step_stats().dev_stats_size(), 0);
  EXPECT_EQ(result.fetches[0].scalar<float>(), 1);
  options.mutable_debug_options()->add_debug_tensor_watch_opts();
  EXPECT_TRUE(errors::IsUnimplemented(run("sum:0", options, &result)));
}

// Tasks that are near exchange no messages: none of any size arrives.
TEST_P(TasksTest, OnlyFarTasksHaveConnections) {
  const Variable limit("HEADRACE_MAX_MESSAGE_BYTES", "1024");
  Start(2);
  On(1, "y", "Neg", {ConstOn(1, "x", Tensor(DT_FLOAT, TensorShape({10000})))});
  const auto session = NewClient();
  std::vector<Tensor> out;
  const Status s = session->Run({}, {"y:0"}, {}, &out);
  EXPECT_EQ(s.code(), GetParam() == kNear
                          ? absl::StatusCode::kOk
                          : absl::StatusCode::kResourceExhausted)
      << s;
}

TEST(NearWorkersTest, ATaskIsFoundWhileItIsServed) {
  std::unique_ptr<Server> server;
  ASSERT_EQ(MoveTo(NewTaskServer(LocalServer()), &server), OkStatus());
  const std::string address = server->target().substr(7);
  EXPECT_EQ(NearWorkers()->Find(address), nullptr);
  ASSERT_EQ(server->Start(), OkStatus());
  EXPECT_NE(NearWorkers()->Find(address), nullptr);
  ASSERT_EQ(server->Stop(), OkStatus());
  EXPECT_EQ(NearWorkers()->Find(address), nullptr);
}

// Asks for what has come to its limit, until there is room again.
template <typename Ask>
void AskUntilThereIsRoom(Ask ask) {
  EXPECT_TRUE(errors::IsResourceExhausted(ask()));
  const absl::Time end = Now() + kDeadline;
  Status s;
  do {
    absl::SleepFor(absl::Milliseconds(50));
    s = ask();
  } while (errors::IsResourceExhausted(s) && Now() < end);
  EXPECT_EQ(s, OkStatus());
}

class IdleTest : public ::testing::Test {
 protected:
  void Start() {
    ASSERT_EQ(MoveTo(NewTaskServer(LocalServer()), &server_), OkStatus());
    ASSERT_EQ(server_->Start(), OkStatus());
    ASSERT_EQ(MoveTo(NewRpcChannel(server_->target().substr(7)), &channel_),
              OkStatus());
    master_ = NewRemoteMaster(channel_, server_->target());
    worker_ = NewRemoteWorker(channel_, "the task");
  }
  Status CreateSession(std::string* handle = nullptr) {
    pb::CreateSessionRequest request;
    pb::CreateSessionResponse response;
    GraphToGraphDef(*graph_, request.mutable_graph_def());
    HR_RETURN_IF_ERROR(
        master_->CreateSession(CallOptions(), request, &response));
    if (handle != nullptr) *handle = response.session_handle();
    return OkStatus();
  }
  Status Run(const std::string& session, const std::string& fetch,
             const std::string& target) {
    RunStepCall call;
    call.header.set_session_handle(session);
    if (!fetch.empty()) call.header.add_fetch(fetch);
    if (!target.empty()) call.header.add_target(target);
    RunStepResult result;
    return master_->RunStep(CallOptions(), std::move(call), &result);
  }
  Status CreateWorkerSession(const std::string& handle) {
    pb::CreateWorkerSessionRequest request;
    request.set_session_handle(handle);
    Notification done;
    Status status;
    worker_->CreateWorkerSession(CallOptions(), request, [&](const Status& s) {
      status = s;
      done.Notify();
    });
    done.WaitForNotification();
    return status;
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Server> server_;
  std::shared_ptr<RpcChannel> channel_;
  std::unique_ptr<MasterInterface> master_;
  std::unique_ptr<WorkerInterface> worker_;
};

// Clients that are gone close nothing.
TEST_F(IdleTest, SessionsThatNobodyUsesEnd) {
  const Variable ttl("HEADRACE_SESSION_TTL_S", "1"),
      sessions("HEADRACE_MAX_SESSIONS_OF_CLIENT", "2");
  Start();
  const AttrMap types = {{"component_types", std::vector<DataType>{DT_FLOAT}}};
  AttrMap shared = types;
  shared.Set("shared_name", std::string("queue"));
  const Endpoint queue = {
      AddOp(graph_.get(), "queue", "FIFOQueueV2", {}, shared), 0};
  AddOp(graph_.get(), "take", "QueueDequeueV2", {queue}, types);
  AddOp(graph_.get(), "put", "QueueEnqueueV2",
        {queue, Const(graph_.get(), "one", Tensor::Scalar<float>(1))},
        {{"Tcomponents", std::vector<DataType>{DT_FLOAT}}});
  std::string waits, used;
  ASSERT_EQ(CreateSession(&waits), OkStatus());
  std::thread client([&] { EXPECT_EQ(Run(waits, "take:0", ""), OkStatus()); });
  ASSERT_EQ(CreateSession(), OkStatus());  // and forgets it
  AskUntilThereIsRoom([&] { return CreateSession(&used); });
  // The session whose step runs is older, and is there.
  EXPECT_EQ(Run(used, "", "put"), OkStatus());
  client.join();
  EXPECT_EQ(Run(waits, "", "put"), OkStatus());
  EXPECT_EQ(Run(used, "", "put"), OkStatus());
  // The one that is longer idle ends first. Then the error says why.
  AskUntilThereIsRoom([&] { return CreateSession(); });
  const Status gone = Run(waits, "", "put");
  EXPECT_TRUE(errors::IsAborted(gone)) << gone;
  EXPECT_TRUE(absl::StrContains(gone.message(), "HEADRACE_SESSION_TTL_S"))
      << gone;
}

// Masters that are gone close nothing at their workers either.
TEST_F(IdleTest, WhatNoMasterNamesEndsAtATask) {
  const Variable ttl("HEADRACE_SESSION_TTL_S", "1"),
      sessions("HEADRACE_MAX_SESSIONS", "2");
  Start();
  AddOp(graph_.get(), "nothing", "NoOp");
  // A client of this process that does nothing for long has its session.
  std::unique_ptr<Session> session;
  ASSERT_EQ(MoveTo(NewSession({}, server_->target(), graph_), &session),
            OkStatus());
  ASSERT_EQ(session->Run({}, {}, {"nothing"}, nullptr), OkStatus());
  // Of a master without sessions: a graph, and a step that nobody cleans up.
  pb::RegisterGraphRequest graph;
  graph.mutable_graph_def()->add_node()->set_name("a");
  graph.mutable_graph_def()->mutable_node(0)->set_op("NoOp");
  graph.mutable_graph_def()->mutable_node(0)->set_device(
      "/job:local/replica:0/task:0/device:CPU:0");
  const auto ask = [&](const char* method,
                       const google::protobuf::MessageLite& request,
                       google::protobuf::MessageLite* response) {
    CallOptions options;
    options.timeout = kDeadline;
    WireBytes bytes;
    HR_RETURN_IF_ERROR(
        channel_->Call(StrCat("/tensorflow.WorkerService/", method),
                       ToWire(request), options, &bytes));
    return FromWire(method, bytes, response);
  };
  pb::RegisterGraphResponse registered;
  ASSERT_EQ(ask("RegisterGraph", graph, &registered), OkStatus());
  pb::RunGraphRequest run;
  run.set_graph_handle(registered.graph_handle());
  run.set_step_id(1);
  pb::RunGraphResponse ran;
  ASSERT_EQ(ask("RunGraph", run, &ran), OkStatus());

  ASSERT_EQ(CreateWorkerSession("a"), OkStatus());
  AskUntilThereIsRoom([&] { return CreateWorkerSession("b"); });
  // Both are older than "a" was.
  EXPECT_EQ(session->Run({}, {}, {"nothing"}, nullptr), OkStatus());
  const absl::Time end = Now() + kDeadline;
  Status gone;
  do {  // asking is no use if it comes seldom enough
    absl::SleepFor(absl::Seconds(3));
    run.set_step_id(run.step_id() + 1);
    gone = ask("RunGraph", run, &ran);
  } while (gone.ok() && Now() < end);
  EXPECT_TRUE(errors::IsAborted(gone)) << gone;
}

}  // namespace
}  // namespace headrace
