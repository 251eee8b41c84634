// A server as its clients see it: what it answers, and what it refuses.
#include "distributed/services.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "base/thread_pool.h"
#include "base/wait_hook.h"
#include "distributed/cluster_spec.h"
#include "distributed/server_test_util.h"
#include "distributed/step_rendezvous.h"
#include "distributed/task_server.h"
#include "distributed/worker_session.h"
#include "framework/op/tensor_proto.h"
#include "graph/graph_test_util.h"
#include "headrace/device_factory.h"
#include "headrace/importer.h"
#include "headrace/session.h"

namespace headrace {
namespace {

constexpr char kCpu[] = "/job:local/replica:0/task:0/device:CPU:0";

class ServicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(MoveTo(NewTaskServer(LocalServer()), &server_), OkStatus());
    ASSERT_EQ(server_->Start(), OkStatus());
    ASSERT_EQ(MoveTo(NewRpcChannel(server_->target().substr(7)), &channel_),
              OkStatus());
  }

  Status Call(const std::string& method, WireBytes request,
              WireBytes* response = nullptr) {
    CallOptions options;
    options.timeout = absl::Seconds(20);
    WireBytes ignored;
    return channel_->Call("/tensorflow." + method, std::move(request), options,
                          response == nullptr ? &ignored : response);
  }
  template <typename Response>
  Response Ask(const std::string& method,
               const google::protobuf::MessageLite& request) {
    WireBytes bytes;
    Response response;
    EXPECT_EQ(Call(method, ToWire(request), &bytes), OkStatus()) << method;
    EXPECT_EQ(FromWire(method, bytes, &response), OkStatus());
    return response;
  }
  // Graph x: 1 + 2 on the CPU, sent to the client as "x:0".
  std::string RegisterSum() {
    Graph g;
    const Endpoint a = Const(&g, "a", Tensor::Scalar<float>(1));
    const Endpoint b = Const(&g, "b", Tensor::Scalar<float>(2));
    const Endpoint x = {AddOp(&g, "x", "AddV2", {a, b}), 0};
    AddOp(&g, "send", "_Send", {x},
          {{"tensor_name", "x:0"},
           {"send_device", kCpu},
           {"send_device_incarnation", int64_t{5}},
           {"recv_device", kCpu},
           {"client_terminated", true}});
    g.ForEachNode([&](Node* n) { n->set_assigned_device(kCpu); });
    pb::RegisterGraphRequest request;
    GraphToGraphDef(g, request.mutable_graph_def());
    return Ask<pb::RegisterGraphResponse>("WorkerService/RegisterGraph",
                                          request)
        .graph_handle();
  }
  static std::string SumKey() {
    return Rendezvous::CreateKey(kCpu, 5, kCpu, "x:0");
  }
  uint64_t Incarnation() {
    return Ask<pb::GetStatusResponse>("WorkerService/GetStatus",
                                      pb::GetStatusRequest())
        .device_attributes(0)
        .incarnation();
  }
  // For a tensor of a step that nobody sends.
  pb::RecvTensorRequest Unsent(int64_t step_id) {
    pb::RecvTensorRequest request;
    request.set_step_id(step_id);
    request.set_rendezvous_key(
        Rendezvous::CreateKey(kCpu, Incarnation(), kCpu, "x"));
    return request;
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<RpcChannel> channel_;
};

constexpr const char* kMethods[] = {"MasterService/CreateSession",
                                    "MasterService/ExtendSession",
                                    "MasterService/PartialRunSetup",
                                    "MasterService/RunStep",
                                    "MasterService/CloseSession",
                                    "MasterService/ListDevices",
                                    "MasterService/Reset",
                                    "MasterService/MakeCallable",
                                    "MasterService/RunCallable",
                                    "MasterService/ReleaseCallable",
                                    "WorkerService/GetStatus",
                                    "WorkerService/CreateWorkerSession",
                                    "WorkerService/DeleteWorkerSession",
                                    "WorkerService/RegisterGraph",
                                    "WorkerService/DeregisterGraph",
                                    "WorkerService/RunGraph",
                                    "WorkerService/CleanupGraph",
                                    "WorkerService/CleanupAll",
                                    "WorkerService/RecvTensor",
                                    "WorkerService/Logging",
                                    "WorkerService/Tracing"};

TEST_F(ServicesTest, GetStatusTellsTheDevices) {
  const auto status = Ask<pb::GetStatusResponse>("WorkerService/GetStatus",
                                                 pb::GetStatusRequest());
  ASSERT_EQ(status.device_attributes_size(), 1);
  EXPECT_EQ(status.device_attributes(0).name(), kCpu);
  EXPECT_NE(status.device_attributes(0).incarnation(), 0u);
}

TEST_F(ServicesTest, AWorkerRunsAGraphAndForgetsIt) {
  const std::string graph = RegisterSum();
  for (int64_t step : {1, 2}) {
    pb::RunGraphRequest request;
    request.set_graph_handle(graph);
    request.set_step_id(step);
    request.add_recv_key(SumKey());
    const auto response =
        Ask<pb::RunGraphResponse>("WorkerService/RunGraph", request);
    ASSERT_EQ(response.recv_size(), 1);
    EXPECT_EQ(response.recv(0).name(), SumKey());
    EXPECT_EQ(response.recv(0).tensor().float_val_size() +
                  response.recv(0).tensor().tensor_content().size(),
              4u);
  }
  pb::DeregisterGraphRequest gone;
  gone.set_graph_handle(graph);
  EXPECT_EQ(Call("WorkerService/DeregisterGraph", ToWire(gone)), OkStatus());
  const Status again = Call("WorkerService/DeregisterGraph", ToWire(gone));
  EXPECT_TRUE(errors::IsAborted(again)) << again;
}

TEST_F(ServicesTest, ATensorThatNobodySendsIsNoHang) {
  pb::RunGraphRequest request;
  request.set_graph_handle(RegisterSum());
  request.set_step_id(3);
  request.add_recv_key(Rendezvous::CreateKey(kCpu, 5, kCpu, "y:0"));
  const Status s = Call("WorkerService/RunGraph", ToWire(request));
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
}

TEST_F(ServicesTest, ARequestThatComesTwiceIsServedOnce) {
  pb::RunGraphRequest request;
  request.set_graph_handle(RegisterSum());
  request.set_step_id(4);
  request.set_request_id(77);
  EXPECT_EQ(Call("WorkerService/RunGraph", ToWire(request)), OkStatus());
  const Status s = Call("WorkerService/RunGraph", ToWire(request));
  EXPECT_TRUE(errors::IsAborted(s)) << s;
}

TEST_F(ServicesTest, RecvTensorOfWhatCannotCome) {
  const uint64_t incarnation = Incarnation();
  const struct {
    std::string key;
    absl::StatusCode code;
  } cases[] = {
      {"", absl::StatusCode::kInvalidArgument},
      {";;;;", absl::StatusCode::kInvalidArgument},
      {Rendezvous::CreateKey("/job:a/replica:0/task:0/device:CPU:0",
                             incarnation, kCpu, "x"),
       absl::StatusCode::kInvalidArgument},
      {Rendezvous::CreateKey(kCpu, incarnation + 1, kCpu, "x"),
       absl::StatusCode::kAborted},
  };
  for (const auto& c : cases) {
    pb::RecvTensorRequest request;
    request.set_step_id(9);
    request.set_rendezvous_key(c.key);
    EXPECT_EQ(Call("WorkerService/RecvTensor", ToWire(request)).code(), c.code)
        << c.key;
  }
  // Of a step that ends meanwhile, and of one that has ended.
  const pb::RecvTensorRequest request = Unsent(10);
  Notification done;
  Status s;
  channel_->Call("/tensorflow.WorkerService/RecvTensor", ToWire(request),
                 CallOptions(), [&](const Status& status, const WireBytes&) {
                   s = status;
                   done.Notify();
                 });
  absl::SleepFor(absl::Milliseconds(50));
  pb::CleanupGraphRequest cleanup;
  cleanup.set_step_id(10);
  EXPECT_EQ(Call("WorkerService/CleanupGraph", ToWire(cleanup)), OkStatus());
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(20)));
  EXPECT_TRUE(errors::IsAborted(s)) << s;
  EXPECT_TRUE(
      errors::IsAborted(Call("WorkerService/RecvTensor", ToWire(request))));
}

TEST_F(ServicesTest, ACallThatIsCancelledEnds) {
  const pb::RecvTensorRequest request = Unsent(11);
  CancellationManager cancellation;
  CallOptions options;
  options.cancellation = &cancellation;
  Notification done;
  Status s;
  channel_->Call("/tensorflow.WorkerService/RecvTensor", ToWire(request),
                 options, [&](const Status& status, const WireBytes&) {
                   s = status;
                   done.Notify();
                 });
  cancellation.StartCancel();
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(20)));
  EXPECT_TRUE(errors::IsCancelled(s)) << s;
}

// A thread that waits for its own calls polls for all of them.
TEST_F(ServicesTest, ThreadsThatWaitForTheirCalls) {
  struct Hook : WaitHook {
    int polls = 0;
    std::function<void()> then;
    void Poll() override {
      if (++polls == 2) then();
    }
  };
  const pb::RecvTensorRequest request = Unsent(12);
  const auto call = [&](const CallOptions& options) {
    WireBytes response;
    return channel_->Call("/tensorflow.WorkerService/RecvTensor",
                          ToWire(request), options, &response);
  };
  CallOptions short_call;
  short_call.timeout = absl::Milliseconds(200);
  EXPECT_TRUE(errors::IsDeadlineExceeded(call(short_call)));
  // One waits while others come and go, and calls are made by its hook.
  CancellationManager cancellation;
  Hook hook;
  CallOptions long_call;
  long_call.cancellation = &cancellation;
  long_call.waits = &hook;
  hook.then = [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          EXPECT_EQ(Ask<pb::GetStatusResponse>("WorkerService/GetStatus",
                                               pb::GetStatusRequest())
                        .device_attributes_size(),
                    1);
        }
      });
    }
    for (std::thread& t : threads) t.join();
    cancellation.StartCancel();
  };
  const Status cancelled = call(long_call);
  EXPECT_TRUE(errors::IsCancelled(cancelled)) << cancelled;
  EXPECT_GE(hook.polls, 2);
  const Status late = call(long_call);  // it is cancelled already
  EXPECT_TRUE(errors::IsCancelled(late)) << late;
}

TEST_F(ServicesTest, UnknownHandlesAndMethods) {
  pb::RunStepRequest step;
  step.set_session_handle("none");
  EXPECT_TRUE(errors::IsAborted(Call("MasterService/RunStep", ToWire(step))));
  pb::RunGraphRequest run;
  run.set_graph_handle("none");
  EXPECT_TRUE(errors::IsAborted(Call("WorkerService/RunGraph", ToWire(run))));
  pb::RegisterGraphRequest graph;
  graph.set_session_handle("none");
  graph.set_create_worker_session_called(true);
  EXPECT_TRUE(
      errors::IsAborted(Call("WorkerService/RegisterGraph", ToWire(graph))));
  EXPECT_TRUE(errors::IsUnimplemented(Call("WorkerService/Other", {})));
  EXPECT_TRUE(errors::IsUnimplemented(Call("OtherService/RunStep", {})));
}

TEST_F(ServicesTest, GraphsThatAreNotRegistered) {
  pb::RegisterGraphRequest request;
  EXPECT_TRUE(errors::IsInvalidArgument(
      Call("WorkerService/RegisterGraph", ToWire(request))));
  pb::NodeDef* const node = request.mutable_graph_def()->add_node();
  node->set_name("a");
  node->set_op("NoOp");
  for (const char* device :
       {"", "/job:other/task:0/device:CPU:0", "/device:TPU:0", "junk"}) {
    node->set_device(device);
    EXPECT_FALSE(Call("WorkerService/RegisterGraph", ToWire(request)).ok())
        << device;
  }
  node->set_device(kCpu);
  EXPECT_EQ(Call("WorkerService/RegisterGraph", ToWire(request)), OkStatus());
  node->set_op("NoSuchOp");
  EXPECT_FALSE(Call("WorkerService/RegisterGraph", ToWire(request)).ok());
}

// A client chooses the names in its requests.
TEST_F(ServicesTest, NamesWithSeparatorsAreNoOtherStep) {
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT);
  const Endpoint y = Placeholder(&g, "y", DT_FLOAT);
  AddOp(&g, "z", "AddV2", {x, y});
  pb::CreateSessionRequest create;
  GraphToGraphDef(g, create.mutable_graph_def());
  pb::RunStepRequest step;
  step.set_session_handle(
      Ask<pb::CreateSessionResponse>("MasterService/CreateSession", create)
          .session_handle());
  for (const char* name : {"x:0", "y:0"}) {
    pb::NamedTensorProto* const feed = step.add_feed();
    feed->set_name(name);
    TensorToProto(Tensor::Scalar<float>(1), feed->mutable_tensor());
  }
  step.add_fetch("z:0");
  EXPECT_EQ(
      Ask<pb::RunStepResponse>("MasterService/RunStep", step).tensor_size(), 1);
  pb::RunStepRequest joined = step;
  joined.mutable_feed(0)->set_name("x:0,y:0");
  joined.mutable_feed()->RemoveLast();
  Status s = Call("MasterService/RunStep", ToWire(joined));
  EXPECT_TRUE(errors::IsNotFound(s) || errors::IsInvalidArgument(s)) << s;
  joined = step;
  joined.mutable_feed(1)->set_name("y:0;z:0;");
  joined.clear_fetch();
  s = Call("MasterService/RunStep", ToWire(joined));
  EXPECT_FALSE(s.ok());
  EXPECT_FALSE(errors::IsUnavailable(s)) << s;
}

TEST_F(ServicesTest, ArgsAndRetvalsOfAClientsGraph) {
  for (const int64_t index : {0, 1, 1000000}) {
    Graph g;
    const Endpoint x = Placeholder(&g, "x", DT_FLOAT);
    const AttrMap attrs = {{"T", DT_FLOAT}, {"index", index}};
    const Endpoint a = {AddOp(&g, "a", "_Arg", {}, attrs), 0};
    AddOp(&g, "z", "AddV2", {x, a});
    AddOp(&g, "r", "_Retval", {x}, attrs);
    pb::CreateSessionRequest create;
    GraphToGraphDef(g, create.mutable_graph_def());
    pb::RunStepRequest step;
    step.set_session_handle(
        Ask<pb::CreateSessionResponse>("MasterService/CreateSession", create)
            .session_handle());
    pb::NamedTensorProto* const feed = step.add_feed();
    feed->set_name("x:0");
    TensorToProto(Tensor::Scalar<float>(1), feed->mutable_tensor());
    step.add_fetch("z:0");
    Status s = Call("MasterService/RunStep", ToWire(step));
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
    step.clear_fetch();
    step.add_target("r");
    s = Call("MasterService/RunStep", ToWire(step));
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
  }
}

// Kernels with state are shared by all graphs of a session, and masters that
// create no session share one.
TEST_F(ServicesTest, AStatefulNodeWithTheNameOfAnother) {
  const struct {
    const char* op;
    AttrMap attrs;
    int inputs;
  } nodes[] = {
      {"VarHandleOp", {{"dtype", DT_FLOAT}, {"shape", TensorShape({2})}}, 0},
      {"RandomUniform", {{"T", DT_INT32}, {"dtype", DT_FLOAT}}, 1},
      {"RandomUniform", {{"T", DT_INT32}, {"dtype", DT_DOUBLE}}, 1},
  };
  int64_t id = 50;
  for (const auto& n : nodes) {
    Graph g;
    Tensor shape(DT_INT32, TensorShape({1}));
    shape.data<int32_t>()[0] = 1000;
    std::vector<Endpoint> inputs;
    for (int i = 0; i < n.inputs; ++i) {
      inputs.push_back(Const(&g, "shape", shape));
    }
    const Endpoint x = {AddOp(&g, "same", n.op, inputs, n.attrs), 0};
    AddOp(&g, "send", "_Send", {x},
          {{"tensor_name", "x:0"},
           {"send_device", kCpu},
           {"send_device_incarnation", int64_t{5}},
           {"recv_device", kCpu},
           {"client_terminated", true}});
    g.ForEachNode([&](Node* node) { node->set_assigned_device(kCpu); });
    pb::RegisterGraphRequest request;
    GraphToGraphDef(g, request.mutable_graph_def());
    pb::RunGraphRequest run;
    run.set_graph_handle(
        Ask<pb::RegisterGraphResponse>("WorkerService/RegisterGraph", request)
            .graph_handle());
    run.set_step_id(++id);
    run.add_recv_key(SumKey());
    const auto got = Ask<pb::RunGraphResponse>("WorkerService/RunGraph", run);
    ASSERT_EQ(got.recv_size(), 1);
    EXPECT_EQ(static_cast<int>(got.recv(0).tensor().dtype()),
              static_cast<int>(x.node->output_type(0)));
  }
}

// Both calls wait for the end of the run; both are answered.
TEST_F(ServicesTest, TheLastPartOfAPartialRunTwice) {
  const auto attrs = [](const char* name, const char* type) {
    return AttrMap{
        {type, DT_FLOAT},      {"tensor_name", name},
        {"send_device", kCpu}, {"send_device_incarnation", int64_t{5}},
        {"recv_device", kCpu}, {"client_terminated", true}};
  };
  const auto key = [](const char* name) {
    return Rendezvous::CreateKey(kCpu, 5, kCpu, name);
  };
  Graph g;
  const Endpoint x = {AddOp(&g, "x", "_Recv", {}, attrs("x", "tensor_type")),
                      0};
  AddOp(&g, "never", "_Recv", {}, attrs("never", "tensor_type"));
  AddOp(&g, "y", "_Send", {x}, attrs("y", "T"));
  AddOp(&g, "z", "_Send", {x}, attrs("z", "T"));
  g.ForEachNode([&](Node* n) { n->set_assigned_device(kCpu); });
  pb::RegisterGraphRequest request;
  GraphToGraphDef(g, request.mutable_graph_def());
  pb::RunGraphRequest run;
  run.set_graph_handle(
      Ask<pb::RegisterGraphResponse>("WorkerService/RegisterGraph", request)
          .graph_handle());
  run.set_step_id(70);
  run.set_is_partial(true);
  pb::RunGraphRequest begin = run;
  Ask<pb::RunGraphResponse>("WorkerService/RunGraph", begin);
  struct Answer {
    Notification done;
    Status status;
  };
  Answer answers[2];
  run.set_is_last_partial_run(true);
  for (int i : {0, 1}) {
    run.clear_recv_key();
    run.add_recv_key(key(i == 0 ? "y" : "z"));
    channel_->Call("/tensorflow.WorkerService/RunGraph", ToWire(run),
                   CallOptions(),
                   [a = &answers[i]](const Status& s, const WireBytes&) {
                     a->status = s;
                     a->done.Notify();
                   });
  }
  absl::SleepFor(absl::Milliseconds(100));
  pb::NamedTensorProto* const fed = begin.add_send();
  fed->set_name(key("x"));
  TensorToProto(Tensor::Scalar<float>(1), fed->mutable_tensor());
  Ask<pb::RunGraphResponse>("WorkerService/RunGraph", begin);
  absl::SleepFor(absl::Milliseconds(100));
  pb::CleanupGraphRequest cleanup;
  cleanup.set_step_id(70);
  EXPECT_EQ(Call("WorkerService/CleanupGraph", ToWire(cleanup)), OkStatus());
  for (Answer& a : answers) {
    ASSERT_TRUE(a.done.WaitForNotificationWithTimeout(absl::Seconds(20)));
    EXPECT_TRUE(errors::IsAborted(a.status)) << a.status;
  }
}

// A session remembers 10,000 steps. The graphs of those that it forgets go.
TEST_F(ServicesTest, GraphsOfForgottenStepsAreDeregistered) {
  constexpr int kNodes = 14;
  Graph g;
  for (int i = 0; i < kNodes; ++i) AddOp(&g, StrCat("n", i), "NoOp");
  const std::shared_ptr<Master> master = FindLocalMaster(server_->target());
  ASSERT_NE(master, nullptr);
  pb::CreateSessionRequest create;
  pb::CreateSessionResponse session;
  GraphToGraphDef(g, create.mutable_graph_def());
  ASSERT_EQ(master->CreateSession(CallOptions(), create, &session), OkStatus());
  pb::RunGraphRequest first;
  first.set_session_handle(session.session_handle());
  first.set_create_worker_session_called(true);
  first.set_graph_handle("0000000000000001");
  for (int step = 1; step <= 10001; ++step) {
    pb::MakeCallableRequest make;
    make.set_session_handle(session.session_handle());
    for (int i = 0; i < kNodes; ++i) {
      if (step >> i & 1) make.mutable_options()->add_target(StrCat("n", i));
    }
    pb::MakeCallableResponse made;
    ASSERT_EQ(master->MakeCallable(CallOptions(), make, &made), OkStatus());
    pb::ReleaseCallableRequest release;
    release.set_session_handle(session.session_handle());
    release.set_handle(made.handle());
    ASSERT_EQ(master->ReleaseCallable(CallOptions(), release), OkStatus());
    if (step > 1 && step < 10001) continue;
    first.set_step_id(step);
    const Status s = Call("WorkerService/RunGraph", ToWire(first));
    EXPECT_EQ(s.code(),
              step == 1 ? absl::StatusCode::kOk : absl::StatusCode::kAborted)
        << s;
  }
}

// gRPC ends the process if it is given 4 GB. The pieces are one buffer, many
// times.
TEST_F(ServicesTest, MessagesBeyondTheLimitAreRefused) {
  const auto piece = std::make_shared<const std::string>(1 << 24, 'x');
  WireBytes huge;
  for (int i = 0; i < 257; ++i) huge.Append(*piece, piece);
  RpcHandlers handlers;
  handlers["/huge"] = [&](const std::shared_ptr<RpcCall>& call) {
    call->Finish(OkStatus(), huge);
  };
  std::unique_ptr<RpcServer> server;
  ASSERT_EQ(MoveTo(RpcServer::Start("localhost:0", handlers), &server),
            OkStatus());
  std::shared_ptr<RpcChannel> channel;
  ASSERT_EQ(
      MoveTo(NewRpcChannel(StrCat("localhost:", server->port())), &channel),
      OkStatus());
  WireBytes response;
  Status s = channel->Call("/huge", {}, CallOptions(), &response);
  EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;
  s = channel->Call("/huge", huge, CallOptions(), &response);
  EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;
}

// Headers have a limit, and bytes beyond ASCII take three of theirs.
TEST_F(ServicesTest, ALongMessageOfAnyCharactersArrives) {
  pb::CloseSessionRequest request;
  std::string handle;
  for (int i = 0; i < 3000; ++i) handle += "\u00e9";
  request.set_session_handle(handle);
  const Status s = Call("MasterService/CloseSession", ToWire(request));
  EXPECT_TRUE(errors::IsAborted(s)) << s;
  EXPECT_TRUE(absl::EndsWith(s.message(), "\u00e9 ... [truncated]")) << s;
}

TEST(StepTableTest, AStepThatNobodyRunsEndsWithItsLastReceive) {
  StepTable steps("/job:local/replica:0/task:0");
  const auto begin = [&] {
    RefPtr<StepRendezvous> r;
    EXPECT_EQ(MoveTo(steps.BeginRecv(1), &r), OkStatus());
    return r;
  };
  const RefPtr<StepRendezvous> first = begin();
  EXPECT_EQ(begin().get(), first.get());
  steps.EndRecv(1);
  EXPECT_EQ(begin().get(), first.get());
  steps.EndRecv(1);
  steps.EndRecv(1);
  const RefPtr<StepRendezvous> second = begin();
  EXPECT_NE(second.get(), first.get());
  // One that runs is for CleanupGraph to end.
  RefPtr<StepRendezvous> run;
  EXPECT_EQ(MoveTo(steps.FindOrBegin(1), &run), OkStatus());
  EXPECT_EQ(run.get(), second.get());
  steps.EndRecv(1);
  EXPECT_EQ(begin().get(), second.get());
  steps.Cleanup(1);
  steps.EndRecv(1);
  EXPECT_TRUE(errors::IsAborted(steps.BeginRecv(1).status()));
}

// A master may give up between RunGraph's beginning and the first kernel.
TEST(GraphRunTest, CancelledBeforeItStarts) {
  constexpr char kTask[] = "/job:local/replica:0/task:0";
  DeviceOptions options;
  options.name_prefix = kTask;
  std::vector<std::unique_ptr<Device>> devices;
  ASSERT_EQ(DeviceFactories::CreateDevices(options, &devices), OkStatus());
  const auto session = std::make_shared<WorkerSession>(
      "", std::make_shared<WorkerCache>(ClusterSpec(), kTask, nullptr), nullptr,
      std::vector<Device*>{devices[0].get()},
      std::vector<std::unique_ptr<Device>>(), ThreadPool::Global(), false);
  pb::RegisterGraphRequest request;
  pb::NodeDef* const node = request.mutable_graph_def()->add_node();
  node->set_name("a");
  node->set_op("NoOp");
  node->set_device(kCpu);
  ASSERT_EQ(session->Register("g", request, 0), OkStatus());
  std::shared_ptr<RegisteredGraph> graph;
  ASSERT_EQ(session->Find("g", &graph), OkStatus());
  const auto rendezvous = MakeRef<StepRendezvous>(1, kTask);
  const auto run =
      std::make_shared<GraphRun>(graph, 1, rendezvous, pb::ExecutorOpts());
  run->Abort(errors::Cancelled("early"));
  Notification ended;
  Status status;
  run->Start(nullptr, [&](const Status& s) {
    status = s;
    ended.Notify();
  });
  ASSERT_TRUE(ended.WaitForNotificationWithTimeout(absl::Seconds(20)));
  EXPECT_TRUE(errors::IsCancelled(status)) << status;
  // Other tasks that wait for a tensor of the step learn it.
  int calls = 0;
  rendezvous->RecvLocal(Rendezvous::CreateKey(kCpu, 5, kCpu, "x"), nullptr,
                        [&](const Status& s, const Tensor&, bool) {
                          ++calls;
                          EXPECT_TRUE(errors::IsCancelled(s)) << s;
                        });
  EXPECT_EQ(calls, 1);
  session->Clear();  // graphs know their session
}

// A worker's threads may be the last to know it.
TEST(WorkerTest, EndsOnAThreadOfItsOwnPool) {
  pb::ConfigProto config;
  config.set_inter_op_parallelism_threads(2);
  pb::ClusterDef cluster;
  cluster.add_job()->set_name("local");
  (*cluster.mutable_job(0)->mutable_tasks())[0] = "localhost:0";
  ClusterSpec spec;
  ASSERT_EQ(MoveTo(ClusterSpec::FromProto(cluster), &spec), OkStatus());
  std::unique_ptr<Worker> made;
  ASSERT_EQ(MoveTo(Worker::Create("/job:local/replica:0/task:0", spec, config),
                   &made),
            OkStatus());
  std::shared_ptr<Worker> worker = std::move(made);
  const std::weak_ptr<Worker> watched = worker;
  ThreadPool* const pool = worker->pool();
  Notification go;
  pool->Schedule([worker = std::move(worker), &go]() mutable {
    go.WaitForNotification();
    worker.reset();
  });
  go.Notify();
  for (int i = 0; i < 2000 && !watched.expired(); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_TRUE(watched.expired());
}

// No bytes harm any method; the server serves on.
TEST_F(ServicesTest, MalformedRequests) {
  pb::RunGraphRequest run;
  run.set_graph_handle(RegisterSum());
  run.set_step_id(100);
  run.add_recv_key(SumKey());
  const std::string seed = run.SerializeAsString();
  std::mt19937 random(1);
  for (const char* method : kMethods) {
    for (int i = 0; i < 30; ++i) {
      std::string bytes = seed;
      if (i == 0) {
        bytes = std::string(100, '\xff');
      } else if (i % 2 == 0) {
        for (int k = 0; k < 4; ++k) {
          bytes[random() % bytes.size()] = static_cast<char>(random());
        }
      } else {
        bytes.resize(random() % bytes.size());
      }
      const Status s = Call(method, WireBytes(bytes));
      EXPECT_FALSE(errors::IsUnavailable(s)) << method << ": " << s;
      EXPECT_FALSE(errors::IsDeadlineExceeded(s)) << method << ": " << s;
      EXPECT_TRUE(i > 0 || errors::IsInvalidArgument(s)) << method << s;
    }
  }
  Ask<pb::GetStatusResponse>("WorkerService/GetStatus", pb::GetStatusRequest());
}

// The session of a client in this process, which calls the master directly.
TEST_F(ServicesTest, ASessionOnAServerOfThisProcess) {
  auto graph = std::make_shared<Graph>();
  Endpoint x, y;
  {
    MutexLock lock(&graph->mu());
    x = Placeholder(graph.get(), "x", DT_FLOAT);
    y = {AddOp(graph.get(), "y", "AddV2", {x, x}), 0};
  }
  std::unique_ptr<Session> session;
  ASSERT_EQ(
      MoveTo(NewSession(pb::ConfigProto(), server_->target(), graph), &session),
      OkStatus());
  std::vector<Tensor> out;
  ASSERT_EQ(
      session->Run({{"x:0", Tensor::Scalar<float>(3)}}, {"y:0"}, {}, &out),
      OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), 6);
  const Status wrong =
      session->Run({{"x:0", Tensor::Scalar<int32_t>(3)}}, {"y:0"}, {}, &out);
  EXPECT_TRUE(errors::IsInvalidArgument(wrong)) << wrong;
  ASSERT_EQ(server_->Stop(), OkStatus());
  EXPECT_FALSE(
      session->Run({{"x:0", Tensor::Scalar<float>(3)}}, {"y:0"}, {}, &out)
          .ok());
  EXPECT_EQ(session->Close(), OkStatus());
  EXPECT_TRUE(errors::IsFailedPrecondition(server_->Start()));
}

}  // namespace
}  // namespace headrace
