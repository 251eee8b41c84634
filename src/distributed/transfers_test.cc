// How tensors and bytes get from task to task: requests that come again, large
// tensors in pieces, buffers of collective ops, groups, and ids of steps.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "distributed/clock_offset.h"
#include "distributed/response_cache.h"
#include "distributed/server_test_util.h"
#include "distributed/task_server.h"
#include "distributed/tensor_pieces.h"
#include "distributed/waits_report.h"
#include "distributed/worker_interface.h"
#include "framework/kernel/rendezvous.h"
#include "graph/graph_test_util.h"
#include "headrace/importer.h"
#include "headrace/server.h"
#include "runtime/local_collectives.h"

namespace headrace {
namespace {

constexpr char kCpu[] = "/job:local/replica:0/task:0/device:CPU:0";
constexpr char kOther[] = "/job:local/replica:0/task:1/device:CPU:0";

Tensor Floats(int64_t n) {
  Tensor t(DT_FLOAT, TensorShape({n}));
  for (int64_t i = 0; i < n; ++i) t.data<float>()[i] = static_cast<float>(i);
  return t;
}

// A task that sends tensors to another one.
class TransfersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pb::ServerDef def = LocalServer();
    def.mutable_default_session_config()
        ->mutable_experimental()
        ->set_recv_buf_max_chunk(max_chunk());
    ASSERT_EQ(MoveTo(NewTaskServer(def), &server_), OkStatus());
    ASSERT_EQ(server_->Start(), OkStatus());
    ASSERT_EQ(MoveTo(NewRpcChannel(server_->target().substr(7)), &channel_),
              OkStatus());
    worker_ = NewRemoteWorker(channel_, "the task");
    pb::GetStatusResponse status;
    ASSERT_EQ(Ask("GetStatus", pb::GetStatusRequest(), &status), OkStatus());
    incarnation_ = status.device_attributes(0).incarnation();
  }

  virtual int64_t max_chunk() const { return 10000; }

  Status Ask(const std::string& method,
             const google::protobuf::MessageLite& request,
             google::protobuf::MessageLite* response,
             absl::Duration timeout = absl::Seconds(20)) {
    CallOptions options;
    options.timeout = timeout;
    WireBytes bytes;
    HR_RETURN_IF_ERROR(channel_->Call("/tensorflow.WorkerService/" + method,
                                      ToWire(request), options, &bytes));
    return FromWire(method, bytes, response);
  }

  std::string Key() const {
    return Rendezvous::CreateKey(kCpu, incarnation_, kOther, "x");
  }
  // Sends `value` under Key().
  Status Send(int64_t step, const Tensor& value) {
    Graph g;
    AddOp(&g, "send", "_Send", {Const(&g, "a", value)},
          {{"tensor_name", "x"},
           {"send_device", kCpu},
           {"send_device_incarnation", static_cast<int64_t>(incarnation_)},
           {"recv_device", kOther}});
    g.ForEachNode([&](Node* n) { n->set_assigned_device(kCpu); });
    pb::RegisterGraphRequest request;
    GraphToGraphDef(g, request.mutable_graph_def());
    pb::RegisterGraphResponse registered;
    HR_RETURN_IF_ERROR(Ask("RegisterGraph", request, &registered));
    pb::RunGraphRequest run;
    run.set_graph_handle(registered.graph_handle());
    run.set_step_id(step);
    pb::RunGraphResponse response;
    return Ask("RunGraph", run, &response);
  }
  pb::RecvTensorRequest Request(int64_t step, int64_t id) const {
    pb::RecvTensorRequest request;
    request.set_step_id(step);
    request.set_rendezvous_key(Key());
    request.set_request_id(id);
    return request;
  }
  Status EndStep(int64_t step) {
    pb::CleanupGraphRequest request;
    request.set_step_id(step);
    pb::CleanupGraphResponse response;
    return Ask("CleanupGraph", request, &response);
  }
  StatusOr<Tensor> Receive(WorkerInterface* worker, int64_t step, int64_t id) {
    Notification done;
    Status status;
    Tensor got;
    worker->RecvTensor(CallOptions(), step, Key(), id,
                       [&](const Status& s, const Tensor& value, bool) {
                         status = s;
                         got = value;
                         done.Notify();
                       });
    done.WaitForNotification();
    if (!status.ok()) return status;
    return got;
  }

  std::unique_ptr<Server> server_;
  std::shared_ptr<RpcChannel> channel_;
  std::unique_ptr<WorkerInterface> worker_;
  uint64_t incarnation_ = 0;
};

TEST_F(TransfersTest, ARequestThatComesAgainGetsTheSameTensor) {
  ASSERT_EQ(Send(1, Floats(3)), OkStatus());
  pb::RecvTensorResponse first, again;
  ASSERT_EQ(Ask("RecvTensor", Request(1, 5), &first), OkStatus());
  ASSERT_EQ(Ask("RecvTensor", Request(1, 5), &again), OkStatus());
  EXPECT_EQ(first.tensor().SerializeAsString(),
            again.tensor().SerializeAsString());
  // It was sent once.
  const Status more =
      Ask("RecvTensor", Request(1, 6), &again, absl::Milliseconds(200));
  EXPECT_TRUE(errors::IsDeadlineExceeded(more)) << more;
  const Status other = Ask("RecvTensor", Request(2, 5), &again);
  EXPECT_TRUE(errors::IsInvalidArgument(other)) << other;
  ASSERT_EQ(EndStep(1), OkStatus());
  const Status late = Ask("RecvTensor", Request(1, 5), &again);
  EXPECT_TRUE(errors::IsAborted(late)) << late;
}

TEST_F(TransfersTest, ARequestWhoseClientWasGoneIsServedWhenItComesAgain) {
  pb::RecvTensorResponse response;
  const Status gone =
      Ask("RecvTensor", Request(3, 7), &response, absl::Milliseconds(100));
  EXPECT_TRUE(errors::IsDeadlineExceeded(gone)) << gone;
  ASSERT_EQ(Send(3, Floats(4)), OkStatus());
  ASSERT_EQ(Ask("RecvTensor", Request(3, 7), &response), OkStatus());
  EXPECT_EQ(response.tensor().tensor_shape().dim(0).size(), 4);
}

TEST_F(TransfersTest, LargeTensorsComeInPieces) {
  for (const int64_t n : {2500, 2501, 100000}) {  // the limit, and beyond
    const Tensor sent = Floats(n);
    ASSERT_EQ(Send(n, sent), OkStatus());
    StatusOr<Tensor> got = Receive(worker_.get(), n, 9 + n);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->shape(), sent.shape());
    EXPECT_EQ(got->tensor_data(), sent.tensor_data());
    ASSERT_EQ(EndStep(n), OkStatus());
  }
}

// Of a server whose config says nothing of it.
class WholeTransfersTest : public TransfersTest {
 protected:
  int64_t max_chunk() const override { return 0; }
  pb::RecvTensorResponse Ask(int64_t bytes) {
    EXPECT_EQ(Send(bytes, Floats(bytes / 4)), OkStatus());
    pb::RecvTensorRequest request = Request(bytes, bytes);
    request.mutable_transport_options()->set_type_url(kPiecesUrl);
    pb::RecvTensorResponse response;
    EXPECT_EQ(TransfersTest::Ask("RecvTensor", request, &response), OkStatus());
    return response;
  }
};

TEST_F(WholeTransfersTest, TensorsAboveEightMegabytesComeInPieces) {
  constexpr int64_t kWhole = int64_t{8} << 20;
  const pb::RecvTensorResponse whole = Ask(kWhole), large = Ask(kWhole + 4);
  EXPECT_EQ(whole.tensor().tensor_content().size(), kWhole);
  EXPECT_FALSE(large.has_tensor());
  pb::TensorPiecesResponse pieces;
  ASSERT_TRUE(pieces.ParseFromString(large.transport_options().value()));
  EXPECT_EQ(pieces.piece_bytes(), 2 << 20);
  const Tensor sent = Floats(5000001);
  ASSERT_EQ(Send(1, sent), OkStatus());
  StatusOr<Tensor> got = Receive(worker_.get(), 1, 2);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->tensor_data(), sent.tensor_data());
}

// What a server frees, it has for the next message without page faults.
TEST_F(WholeTransfersTest, FreedMemoryIsKept) {
#if defined(HEADRACE_TSAN) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer has a malloc of its own";
#endif
  int64_t faults = 0;
  std::thread([&] {  // which has an arena other than main's
    const auto touch_and_free = [] {
      std::vector<std::unique_ptr<char[]>> blocks;
      for (int i = 0; i < 256; ++i) {
        blocks.emplace_back(new char[65536]);
        for (int at = 0; at < 65536; at += 4096) {
          *const_cast<volatile char*>(&blocks.back()[at]) = 1;
        }
      }
    };
    touch_and_free();
    rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < 4; ++i) touch_and_free();
    getrusage(RUSAGE_THREAD, &after);
    faults = after.ru_minflt - before.ru_minflt;
  })
      .join();
  EXPECT_LT(faults, 256 * 16) << "of " << 4 * 256 * 16 << " pages";
}

TEST_F(TransfersTest, WhoDoesNotKnowPiecesGetsTheWholeTensor) {
  ASSERT_EQ(Send(20, Floats(100000)), OkStatus());
  pb::RecvTensorResponse response;
  ASSERT_EQ(Ask("RecvTensor", Request(20, 10), &response), OkStatus());
  EXPECT_EQ(response.tensor().tensor_content().size(), 400000u);
}

TEST_F(TransfersTest, PiecesThatAreNotThere) {
  ASSERT_EQ(Send(21, Floats(100000)), OkStatus());
  pb::RecvTensorRequest request = Request(21, 11);
  request.mutable_transport_options()->set_type_url(kPiecesUrl);
  pb::RecvTensorResponse response;
  ASSERT_EQ(Ask("RecvTensor", request, &response), OkStatus());
  pb::TensorPiecesResponse pieces;
  ASSERT_TRUE(pieces.ParseFromString(response.transport_options().value()));
  const std::string id = StrCat(pieces.id());
  const struct {
    std::string key;
    int64_t step, bytes;
    absl::StatusCode code;
  } cases[] = {
      {"tensor:" + id + ":0", 21, 10000, absl::StatusCode::kOk},
      {"tensor:" + id + ":399999", 21, 2, absl::StatusCode::kInvalidArgument},
      {"tensor:" + id + ":-1", 21, 2, absl::StatusCode::kInvalidArgument},
      {"tensor:" + id + ":0", 21, -1, absl::StatusCode::kInvalidArgument},
      {"tensor:" + id, 21, 1, absl::StatusCode::kInvalidArgument},
      {"tensor:" + id + ":0", 22, 1, absl::StatusCode::kAborted},
      {"tensor:77:0", 21, 1, absl::StatusCode::kAborted},
      {"tensor:" + id + ":0", 21, 0, absl::StatusCode::kOk},  // lets go
      {"tensor:" + id + ":0", 21, 1, absl::StatusCode::kAborted},
  };
  for (const auto& c : cases) {
    pb::RecvBufRequest buf;
    buf.set_step_id(c.step);
    buf.set_buf_rendezvous_key(c.key);
    buf.set_num_bytes(c.bytes);
    pb::RecvBufResponse got;
    EXPECT_EQ(Ask("RecvBuf", buf, &got).code(), c.code) << c.key << c.bytes;
  }
}

// A task that loses its first answers.
TEST(RetryTest, ABrokenConnectionLosesNoTensor) {
  struct State {
    Mutex mu;
    std::vector<int64_t> ids GUARDED_BY(mu);
    int failures GUARDED_BY(mu) = 0;
  } state;
  RpcHandlers handlers;
  handlers["/tensorflow.WorkerService/GetStatus"] =
      [](std::shared_ptr<RpcCall> call) {
        call->Finish(OkStatus(), ToWire(pb::GetStatusResponse()));
      };
  handlers["/tensorflow.WorkerService/RecvTensor"] =
      [&state](std::shared_ptr<RpcCall> call) {
        pb::RecvTensorRequest request;
        FromWire("test", call->request(), &request).IgnoreError();
        MutexLock lock(&state.mu);
        state.ids.push_back(request.request_id());
        if (state.failures-- > 0) {
          return call->Finish(errors::Unavailable("broken"), WireBytes());
        }
        WireWriter writer;
        writer.AddTensor(pb::RecvTensorResponse::kTensorFieldNumber, Floats(5));
        call->Finish(OkStatus(), writer.Finish());
      };
  std::unique_ptr<RpcServer> server;
  ASSERT_EQ(MoveTo(RpcServer::Start("localhost:0", handlers), &server),
            OkStatus());
  std::shared_ptr<RpcChannel> channel;
  ASSERT_EQ(
      MoveTo(NewRpcChannel(StrCat("localhost:", server->port())), &channel),
      OkStatus());
  const auto worker = NewRemoteWorker(channel, "the task");
  for (const int failures : {0, 1, 2, 3}) {
    {
      MutexLock lock(&state.mu);
      state.ids.clear();
      state.failures = failures;
    }
    Notification done;
    Status status;
    int64_t elements = -1;
    worker->RecvTensor(CallOptions(), 1, "key", 42,
                       [&](const Status& s, const Tensor& value, bool) {
                         status = s;
                         elements = value.NumElements();
                         done.Notify();
                       });
    done.WaitForNotification();
    MutexLock lock(&state.mu);
    const size_t asked = static_cast<size_t>(std::min(failures + 1, 3));
    EXPECT_EQ(state.ids, std::vector<int64_t>(asked, 42));
    if (failures < 3) {
      EXPECT_EQ(status, OkStatus());
      EXPECT_EQ(elements, 5);
    } else {
      EXPECT_TRUE(errors::IsUnavailable(status)) << status;
    }
  }
}

// Without the caller's cancellation: it may come later than a new step.
TEST_F(TransfersTest, WhatAStepRunsEndsWithTheStep) {
  Graph g;
  Node* const queue =
      AddOp(&g, "queue", "FIFOQueueV2", {},
            {{"component_types", std::vector<DataType>{DT_FLOAT}},
             {"shared_name", "stays empty"}});
  AddOp(&g, "take", "QueueDequeueV2", {{queue, 0}},
        {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  g.ForEachNode([&](Node* n) { n->set_assigned_device(kCpu); });
  pb::RegisterGraphRequest request;
  GraphToGraphDef(g, request.mutable_graph_def());
  pb::RegisterGraphResponse registered;
  ASSERT_EQ(Ask("RegisterGraph", request, &registered), OkStatus());
  RunGraphCall call;
  call.header.set_graph_handle(registered.graph_handle());
  call.header.set_step_id(77);
  RunGraphResult result;
  Status status;
  Notification done;
  worker_->RunGraph(CallOptions(), std::move(call), &result,
                    [&](const Status& s) {
                      status = s;
                      done.Notify();
                    });
  const auto waiting = [&] {
    CallOptions options;
    options.timeout = absl::Seconds(20);
    WireBytes bytes;
    pb::DescribeWaitsResponse waits;
    EXPECT_EQ(
        channel_->Call(kDescribeWaitsMethod, ToWire(pb::DescribeWaitsRequest()),
                       options, &bytes),
        OkStatus());
    EXPECT_EQ(FromWire("DescribeWaits", bytes, &waits), OkStatus());
    return WaitsText(waits);
  };
  const absl::Time deadline = Now() + absl::Seconds(20);
  while (!absl::StrContains(waiting(), "'take'") && Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  ASSERT_EQ(EndStep(77), OkStatus());
  EXPECT_TRUE(absl::StrContains(waiting(), "runs no step")) << waiting();
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(absl::Seconds(20)));
  EXPECT_TRUE(errors::IsAborted(status)) << status;
}

TEST_F(TransfersTest, GroupsAndSequences) {
  pb::CompleteGroupRequest group;
  group.set_group_key(1);
  group.set_group_size(2);
  group.set_device_type("CPU");
  pb::CompleteGroupResponse response;
  EXPECT_TRUE(errors::IsInvalidArgument(
      Ask("CompleteGroup", group, &response)));  // no device
  group.add_device_name("nonsense");
  EXPECT_TRUE(
      errors::IsInvalidArgument(Ask("CompleteGroup", group, &response)));
  group.set_device_name(0, kOther);
  // Whoever gives up stays a member.
  EXPECT_TRUE(errors::IsDeadlineExceeded(
      Ask("CompleteGroup", group, &response, absl::Milliseconds(100))));
  group.set_group_size(3);
  EXPECT_TRUE(
      errors::IsInvalidArgument(Ask("CompleteGroup", group, &response)));
  group.set_group_size(-1);
  group.set_group_key(2);
  EXPECT_TRUE(
      errors::IsInvalidArgument(Ask("CompleteGroup", group, &response)));
  group.set_group_size(2);
  group.set_group_key(1);
  group.set_device_name(0, kCpu);
  group.add_incarnation(7);
  ASSERT_EQ(Ask("CompleteGroup", group, &response), OkStatus());
  EXPECT_EQ(response.num_tasks(), 2);
  ASSERT_EQ(response.device_name_size(), 2);
  EXPECT_EQ(response.device_name(0), kCpu);
  EXPECT_EQ(response.device_name(1), kOther);
  EXPECT_EQ(response.incarnation(0), 7u);
  group.set_device_name(0, "/job:local/replica:0/task:2/device:CPU:0");
  const Status full = Ask("CompleteGroup", group, &response);
  EXPECT_TRUE(absl::StrContains(full.message(), "is complete")) << full;

  pb::CompleteInstanceRequest instance;
  instance.set_type(1);
  instance.set_group_key(1);
  instance.set_group_size(2);
  instance.set_instance_key(4);
  instance.set_device_type("CPU");
  instance.set_device(kOther);
  instance.set_is_source(true);
  pb::CompleteInstanceResponse source;
  ASSERT_EQ(Ask("CompleteInstance", instance, &source), OkStatus());
  EXPECT_EQ(source.source_rank(), 1);
  instance.set_device(kCpu);
  const Status both = Ask("CompleteInstance", instance, &source);
  EXPECT_TRUE(absl::StrContains(both.message(), "both")) << both;
  instance.set_is_source(false);
  ASSERT_EQ(Ask("CompleteInstance", instance, &source), OkStatus());
  EXPECT_EQ(source.source_rank(), 1);

  pb::GetStepSequenceRequest keys;
  keys.add_graph_key(5);
  keys.add_graph_key(6);
  pb::GetStepSequenceResponse ids, again;
  ASSERT_EQ(Ask("GetStepSequence", keys, &ids), OkStatus());
  ASSERT_EQ(Ask("GetStepSequence", keys, &again), OkStatus());
  ASSERT_EQ(ids.step_sequence_size(), 2);
  EXPECT_GT(ids.step_sequence(0).next_step_id(), 0);
  EXPECT_EQ(ids.SerializeAsString(), again.SerializeAsString());
}

TEST_F(TransfersTest, RecvBufOfWhatCannotCome) {
  pb::RecvBufRequest request;
  request.set_step_id(30);
  request.set_buf_rendezvous_key("1:1:0:0:0:0:1");
  request.set_num_bytes(-4);
  pb::RecvBufResponse response;
  EXPECT_TRUE(errors::IsInvalidArgument(Ask("RecvBuf", request, &response)));
  request.set_num_bytes(4);
  request.set_src_device(kOther);
  request.set_src_incarnation(incarnation_);
  EXPECT_TRUE(errors::IsInvalidArgument(Ask("RecvBuf", request, &response)));
  request.set_src_device(kCpu);
  request.set_src_incarnation(incarnation_ + 1);
  EXPECT_TRUE(errors::IsAborted(Ask("RecvBuf", request, &response)));
  request.set_src_incarnation(incarnation_);
  EXPECT_TRUE(errors::IsDeadlineExceeded(
      Ask("RecvBuf", request, &response, absl::Milliseconds(100))));
}

TEST_F(TransfersTest, NoBytesHarmTheMethodsOfCollectives) {
  for (const char* method :
       {"RecvBuf", "CompleteGroup", "CompleteInstance", "GetStepSequence"}) {
    CallOptions options;
    options.timeout = absl::Seconds(20);
    WireBytes response;
    const Status s =
        channel_->Call(StrCat("/tensorflow.WorkerService/", method),
                       WireBytes(std::string(100, '\xff')), options, &response);
    EXPECT_TRUE(errors::IsInvalidArgument(s)) << method << s;
  }
}

TEST(BufferTest, IsWhatProtobufReadsAndWrites) {
  const auto owner = std::make_shared<const std::string>(5000, 'b');
  WireWriter writer;
  writer.AddVarint(pb::RecvBufResponse::kNumBytesFieldNumber, 5000);
  writer.AddBuffer(pb::RecvBufResponse::kTransportOptionsFieldNumber, *owner,
                   owner);
  const std::string bytes = writer.Finish().Flatten();
  pb::RecvBufResponse parsed;
  ASSERT_TRUE(parsed.ParseFromString(bytes));
  EXPECT_EQ(parsed.transport_options().type_url(),
            "type.googleapis.com/tensorflow.RecvBufRespExtra");
  std::string got(5000, ' ');
  const auto read = [&](const std::string& from, size_t size) {
    pb::RecvBufResponse rest;
    return ReadBuffer("test", WireBytes(from),
                      pb::RecvBufResponse::kTransportOptionsFieldNumber,
                      got.data(), size, &rest);
  };
  ASSERT_EQ(read(bytes, 5000), OkStatus());
  EXPECT_EQ(got, *owner);
  EXPECT_FALSE(read(bytes, 4999).ok());
  for (const size_t n : {0, 1, 10, 100, 4000}) {
    EXPECT_FALSE(read(bytes.substr(0, n), 5000).ok()) << n;
  }
}

TEST(ResponseCacheTest, KeepsNoMoreThanItsLimits) {
  ResponseCache cache(100, 8000);
  const auto get = [&](int64_t step, int64_t id) {
    Status got;
    cache.Get(
        step, id,
        [](ResponseCache::Callback done) {
          done(OkStatus(), Floats(1000), false);
        },
        [&](const Status& s, const Tensor&, bool) { got = s; });
    return got;
  };
  for (int64_t id = 1; id <= 3; ++id) EXPECT_EQ(get(1, id), OkStatus());
  EXPECT_TRUE(errors::IsAborted(get(1, 1)));  // its 4000 bytes had to go
  EXPECT_EQ(get(1, 3), OkStatus());
  cache.EndStep(1);
  EXPECT_TRUE(errors::IsAborted(get(1, 3)));
  for (int64_t id = 10; id < 300; ++id) EXPECT_EQ(get(2, id), OkStatus());
  EXPECT_EQ(get(1, 3), OkStatus());  // forgotten: as if it were new
}

TEST(ResponseCacheTest, RequestsThatEndLateAreForgottenToo) {
  ResponseCache cache(2, 8000);
  int started = 0;
  ResponseCache::Callback late;
  const auto get = [&](int64_t id, bool wait) {
    cache.Get(
        1, id,
        [&, wait](ResponseCache::Callback done) {
          ++started;
          if (wait) {
            late = std::move(done);
          } else {
            done(OkStatus(), Floats(1), false);
          }
        },
        [](const Status&, const Tensor&, bool) {});
  };
  get(1, true);
  for (const int64_t id : {2, 3, 4}) get(id, false);
  late(OkStatus(), Floats(1), false);
  for (const int64_t id : {5, 6}) get(id, false);
  EXPECT_EQ(started, 6);
  get(6, false);
  EXPECT_EQ(started, 6);  // known
  get(1, false);
  EXPECT_EQ(started, 7);  // forgotten
}

TEST(ResponseCacheTest, ARequestThatWaitsTakesThePlaceOfACancelledOne) {
  ResponseCache cache(100, 8000);
  std::deque<ResponseCache::Callback> started;
  std::vector<Status> ended;
  for (int i = 0; i < 3; ++i) {
    cache.Get(
        1, 1, [&](ResponseCache::Callback done) { started.push_back(done); },
        [&](const Status& s, const Tensor&, bool) { ended.push_back(s); });
  }
  ASSERT_EQ(started.size(), 1u);
  started[0](errors::Cancelled("gone"), Tensor(), false);
  ASSERT_EQ(started.size(), 2u);
  ASSERT_EQ(ended.size(), 1u);
  started[1](OkStatus(), Floats(1), false);
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[1], OkStatus());
  EXPECT_EQ(ended[2], OkStatus());
}

TEST(LocalCollectivesTest, CancelledWaitsEndOnce) {
  const auto c = MakeRef<LocalCollectives>();
  CancellationManager cancellation;
  int ended = 0;
  const auto end = [&](const Status& s) {
    EXPECT_TRUE(errors::IsCancelled(s)) << s;
    ++ended;
  };
  char to[4];
  c->Send(1, "a", "1234", nullptr, &cancellation, end);
  c->Recv(1, "b", kCpu, to, 4, &cancellation, end);
  c->FindGroup({1, 2, "CPU", kCpu}, &cancellation,
               [&](const Status& s, const auto&) { end(s); });
  c->FindSource({1, 2, "CPU", kCpu}, 3, false, &cancellation,
                [&](const Status& s, const auto&) { end(s); });
  EXPECT_EQ(c->DescribeGroup(1), StrCat("1 of 2 members are there: ", kCpu));
  cancellation.StartCancel();
  EXPECT_EQ(ended, 4);
  c->Send(1, "a", "1234", nullptr, &cancellation, end);
  c->Recv(1, "b", kCpu, to, 4, &cancellation, end);
  EXPECT_EQ(ended, 6);
  // Nothing is left of them.
  Status sent = errors::Internal("nobody came");
  c->Send(1, "b", "1234", nullptr, nullptr, [&](const Status& s) { sent = s; });
  Status got;
  c->Recv(1, "b", kCpu, to, 4, nullptr, [&](const Status& s) { got = s; });
  EXPECT_EQ(sent, OkStatus());
  EXPECT_EQ(got, OkStatus());
  EXPECT_EQ(absl::string_view(to, 4), "1234");
}

TEST(ClockOffsetTest, MovesTheTimesOfAnotherClockIntoTheCall) {
  const absl::Time begin = absl::FromUnixMicros(1000000);
  const absl::Time end = absl::FromUnixMicros(1000100);
  const auto moved = [&](int64_t start, int64_t length) {
    pb::StepStats stats;
    pb::NodeExecStats* const n = stats.add_dev_stats()->add_node_stats();
    n->set_all_start_micros(start);
    n->set_all_start_nanos(start * 1000);
    n->set_all_end_rel_micros(length);
    n->set_scheduled_micros(start - 1);
    MoveClock(begin, end, &stats);
    EXPECT_EQ(n->all_start_nanos(), n->all_start_micros() * 1000);
    EXPECT_EQ(n->scheduled_micros(), n->all_start_micros() - 1);
    return n->all_start_micros() - 1000000;
  };
  EXPECT_EQ(moved(1000010, 20), 10);    // within
  EXPECT_EQ(moved(5000000, 40), 30);    // ahead
  EXPECT_EQ(moved(10, 40), 30);         // behind
  EXPECT_EQ(moved(5000000, 200), -50);  // longer than the call
  pb::StepStats none;
  MoveClock(begin, end, &none);
  EXPECT_EQ(none.dev_stats_size(), 0);
}

TEST(WaitsTextTest, NamesTasksStepsAndFailures) {
  pb::DescribeWaitsResponse response;
  pb::TaskWaitsResponse* task = response.add_task();
  task->set_task("/job:a/replica:0/task:0");
  task->add_step()->set_step_id(5);
  task->mutable_step(0)->set_age_micros(20100000);
  task->mutable_step(0)->set_waits("node 'n' (_Recv) for tensor 't'");
  task->mutable_step(0)->set_task(task->task());
  *task->add_step() = task->step(0);
  task->mutable_step(1)->set_task("/job:d/replica:0/task:7");
  task = response.add_task();
  task->set_task("/job:b/replica:0/task:0");
  task->set_error("gone");
  response.add_task()->set_task("/job:c/replica:0/task:0");
  EXPECT_EQ(WaitsText(response),
            "/job:a/replica:0/task:0:\n"
            "  step 5, for 20.1s: node 'n' (_Recv) for tensor 't'\n"
            "  step 5 of a session that calls it /job:d/replica:0/task:7, for "
            "20.1s: node 'n' (_Recv) for tensor 't'\n"
            "/job:b/replica:0/task:0: no answer: gone\n"
            "/job:c/replica:0/task:0: runs no step\n");
}

}  // namespace
}  // namespace headrace
