// The C API: sessions and their runs.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "c_api/c_api_test_util.h"

namespace c_api_test {
namespace {

TEST_F(CApiTest, RunsAnAdd) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* sum = Add("sum", x, Const("two", 2));
  TF_Session* session = NewSession();
  for (int v : {3, 40}) {
    Tensor out = Run(session, x, Scalar(v).get(), sum);
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    EXPECT_EQ(Value(out.get()), v + 2);
  }
  // Nodes that come later are seen.
  TF_Operation* more = Add("more", sum, sum);
  EXPECT_EQ(Value(Run(session, x, Scalar(1).get(), more).get()), 6);
  TF_CloseSession(session, s());
  EXPECT_EQ(Run(session, x, Scalar(1).get(), sum), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_CANCELLED);
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, ATokenStopsRuns) {
  TF_OperationDescription* d = TF_NewOperation(g(), "FIFOQueueV2", "queue");
  const TF_DataType types[] = {TF_INT32};
  TF_SetAttrTypeList(d, "component_types", types, 1);
  TF_Operation* queue = Finish(d);
  d = TF_NewOperation(g(), "QueueDequeueV2", "take");
  TF_AddInput(d, {queue, 0});
  TF_SetAttrTypeList(d, "component_types", types, 1);
  const TF_Output take = {Finish(d), 0};
  const TF_Output x = {Placeholder("x"), 0};
  const TF_Output sum = {Add("sum", x.oper, Const("two", 2)), 0};
  TF_Session* session = NewSession();

  using Token = std::unique_ptr<HR_CancellationManager, Deleter>;
  Token token(HR_NewCancellationManager());
  auto run = [&](const TF_Output& fetch, const TF_Output* in, TF_Tensor* value,
                 HR_CancellationManager* with) {
    TF_Tensor* result = nullptr;
    HR_SessionRunCancellable(session, nullptr, in, &value, in != nullptr,
                             &fetch, &result, 1, nullptr, 0, nullptr, with,
                             s());
    return Tensor(result);
  };
  HR_CancellationManager* const none = nullptr;
  for (HR_CancellationManager* t : {token.get(), none}) {
    EXPECT_EQ(Value(run(sum, &x, Scalar(5).get(), t).get()), 7) << message();
  }
  EXPECT_FALSE(HR_CancellationManagerIsCancelled(token.get()));
  std::thread other([&token] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    HR_CancellationManagerStartCancel(token.get());
  });
  EXPECT_EQ(run(take, nullptr, nullptr, token.get()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_CANCELLED) << message();
  EXPECT_NE(message().find("take"), std::string::npos) << message();
  other.join();
  EXPECT_TRUE(HR_CancellationManagerIsCancelled(token.get()));
  HR_CancellationManagerStartCancel(token.get());
  run(take, nullptr, nullptr, token.get());
  EXPECT_EQ(TF_GetCode(s()), TF_CANCELLED) << message();

  // A partial run: by its deadline, and by a token.
  const std::string one_ms("\x10\x01", 2);  // RunOptions.timeout_in_ms
  Buffer options(TF_NewBufferFromString(one_ms.data(), one_ms.size()));
  for (bool by_deadline : {true, false}) {
    const char* handle = nullptr;
    TF_SessionPRunSetup(session, nullptr, 0, &take, 1, nullptr, 0, &handle,
                        s());
    ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
    TF_Tensor* result = nullptr;
    HR_SessionPRunCancellable(session, handle,
                              by_deadline ? options.get() : nullptr, nullptr,
                              nullptr, 0, &take, &result, 1,
                              by_deadline ? nullptr : token.get(), s());
    EXPECT_EQ(TF_GetCode(s()),
              by_deadline ? TF_DEADLINE_EXCEEDED : TF_CANCELLED)
        << message();
    EXPECT_EQ(result, nullptr);
    TF_DeletePRunHandle(handle);
  }
  token.reset();
  HR_CancellationManagerStartCancel(nullptr);
  EXPECT_FALSE(HR_CancellationManagerIsCancelled(nullptr));
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, APartialRunGoesOn) {
  TF_Operation *const a = Placeholder("a"), *const b = Placeholder("b");
  TF_Operation* const sum = Add("sum", a, Const("two", 2));
  TF_Operation* const all = Add("all", sum, b);
  const TF_Output in[] = {{a, 0}, {b, 0}}, out[] = {{sum, 0}, {all, 0}};
  TF_Session* const session = NewSession();
  const char* handle = nullptr;
  TF_SessionPRunSetup(session, in, 2, out, 2, nullptr, 0, &handle, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  const auto go_on = [&](int i, int32_t value, int fetch) {
    const Tensor fed = Scalar(value);
    TF_Tensor* const values[] = {fed.get()};
    TF_Tensor* result = nullptr;
    TF_SessionPRun(session, handle, &in[i], values, 1, &out[fetch], &result, 1,
                   nullptr, 0, s());
    return Tensor(result);
  };
  EXPECT_EQ(Value(go_on(0, 5, 0).get()), 7) << message();
  EXPECT_EQ(go_on(0, 5, 1), nullptr);  // fed before
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  EXPECT_EQ(Value(go_on(1, 10, 1).get()), 17) << message();
  EXPECT_EQ(go_on(1, 10, 1), nullptr);  // it is over
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  TF_DeletePRunHandle(handle);
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, RunRefuses) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* sum = Add("sum", x, x);
  TF_Session* session = NewSession();
  struct {
    const char* name;
    TF_Output feed;
    TF_Tensor* value;
    TF_Output fetch;
    int nfetch;
    const char* says;
    TF_Code code = TF_INVALID_ARGUMENT;
  } const cases[] = {
      {"feed of NULL", {nullptr, 0}, Scalar(1).release(), {sum, 0}, 1, "NULL"},
      {"feed of no output",
       {x, 1},
       Scalar(1).release(),
       {sum, 0},
       1,
       "Node 'x' (type: 'Placeholder', num of outputs: 1) does not have output "
       "1",
       TF_OUT_OF_RANGE},
      {"no value", {x, 0}, nullptr, {sum, 0}, 1, "'x:0'"},
      {"fetch of no output",
       {x, 0},
       Scalar(1).release(),
       {sum, 3},
       1,
       "Node 'sum' (type: 'Add', num of outputs: 1) does not have output 3",
       TF_OUT_OF_RANGE},
      {"negative index", {x, 0}, Scalar(1).release(), {sum, -1}, 1, "'sum'"},
      {"nothing to do", {x, 0}, Scalar(1).release(), {sum, 0}, 0, ""},
      {"wrong type",
       {x, 0},
       TF_AllocateTensor(TF_FLOAT, nullptr, 0, 4),
       {sum, 0},
       1,
       "float"},
  };
  for (const auto& c : cases) {
    TF_Tensor* out = c.value;  // must become NULL
    TF_SessionRun(session, nullptr, &c.feed, &c.value, 1, &c.fetch, &out,
                  c.nfetch, nullptr, 0, nullptr, s());
    EXPECT_EQ(TF_GetCode(s()), c.code) << c.name << message();
    EXPECT_NE(message().find(c.says), std::string::npos) << message();
    if (c.nfetch > 0) {
      EXPECT_EQ(out, nullptr) << c.name;
    }
    TF_DeleteTensor(c.value);
  }
  EXPECT_EQ(Run(session, nullptr, nullptr, sum), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "nothing was fed";
  EXPECT_NE(message().find("x"), std::string::npos);
  TF_SessionRun(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0,
                nullptr, 0, nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_DeleteSession(session, s());
}

// Nodes are numbered in their graph; those of another one must not be mistaken
// for its own.
TEST_F(CApiTest, NodesOfAnotherGraphAreRefused) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* sum = Add("sum", x, x);
  std::unique_ptr<TF_Graph, Deleter> other(TF_NewGraph());
  TF_Session* session = TF_NewSession(other.get(), nullptr, s());
  EXPECT_EQ(Run(session, x, Scalar(1).get(), sum), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("another graph"), std::string::npos) << message();
  TF_OperationDescription* d = TF_NewOperation(other.get(), "Identity", "y");
  TF_AddInput(d, {x, 0});
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_NE(message().find("another graph"), std::string::npos) << message();
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, RunOptionsAndMetadataAreBuffers) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* sum = Add("sum", x, x);
  TF_Session* session = NewSession();
  const TF_Output in = {x, 0}, out = {sum, 0};
  Tensor value = Scalar(4);
  TF_Tensor *feed = value.get(), *result = nullptr;
  // trace_level: FULL_TRACE, output_partition_graphs: true.
  Buffer options(TF_NewBufferFromString("\x08\x03\x28\x01", 4));
  Buffer metadata(TF_NewBuffer());
  TF_SessionRun(session, options.get(), &in, &feed, 1, &out, &result, 1,
                nullptr, 0, metadata.get(), s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(Value(result), 8);
  TF_DeleteTensor(result);
  EXPECT_NE(Bytes(metadata.get()).find("sum"), std::string::npos);
  TF_SessionRun(session, nullptr, &in, &feed, 1, &out, &result, 1, nullptr, 0,
                metadata.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "metadata is not empty";
  Buffer broken(TF_NewBufferFromString("\x08", 1));
  TF_SessionRun(session, broken.get(), &in, &feed, 1, &out, &result, 1, nullptr,
                0, nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(result, nullptr);
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, SeveralSessionsOutliveTheGraphHandle) {
  TF_Graph* graph = TF_NewGraph();
  TF_OperationDescription* d = TF_NewOperation(graph, "Const", "c");
  TF_SetAttrType(d, "dtype", TF_INT32);
  TF_SetAttrTensor(d, "value", Scalar(5).get(), s());
  TF_Operation* c = Finish(d);
  TF_Session* a = TF_NewSession(graph, nullptr, s());
  TF_Session* b = TF_NewSession(graph, nullptr, s());
  TF_DeleteGraph(graph);
  EXPECT_EQ(Value(Run(a, nullptr, nullptr, c).get()), 5) << message();
  TF_DeleteSession(a, s());
  EXPECT_EQ(Value(Run(b, nullptr, nullptr, c).get()), 5) << message();
  TF_DeleteSession(b, s());
}

TEST_F(CApiTest, RunsWhileAnotherThreadExtends) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* sum = Add("sum", x, x);
  TF_Session* session = NewSession();
  std::thread extender([&] {
    TF_Status* status = TF_NewStatus();
    for (int i = 0; i < 200; ++i) {
      TF_OperationDescription* d = TF_NewOperation(
          g(), "Identity", ("extra" + std::to_string(i)).c_str());
      TF_AddInput(d, {sum, 0});
      TF_FinishOperation(d, status);
      EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
    }
    TF_DeleteStatus(status);
  });
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(Value(Run(session, x, Scalar(i).get(), sum).get()), 2 * i);
    const std::string extra = "extra" + std::to_string(i);
    if (TF_Operation* op = TF_GraphOperationByName(g(), extra.c_str())) {
      EXPECT_EQ(Value(Run(session, x, Scalar(i).get(), op).get()), 2 * i);
    }
  }
  extender.join();
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, SessionOptionsAndDevices) {
  TF_SessionOptions* o = TF_NewSessionOptions();
  TF_SetConfig(o,
               "\x0a\x07\x0a\x03"
               "CPU\x10\x02",
               9, s());  // CPU: 2
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_Session* session = TF_NewSession(g(), o, s());
  ASSERT_NE(session, nullptr) << message();
  std::unique_ptr<TF_DeviceList, Deleter> list(
      TF_SessionListDevices(session, s()));
  ASSERT_EQ(TF_DeviceListCount(list.get()), 2);
  EXPECT_STREQ(TF_DeviceListName(list.get(), 1, s()),
               "/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT_STREQ(TF_DeviceListType(list.get(), 1, s()), "CPU");
  EXPECT_GT(TF_DeviceListMemoryBytes(list.get(), 1, s()), 0);
  EXPECT_NE(TF_DeviceListIncarnation(list.get(), 0, s()), 0u);
  EXPECT_EQ(TF_DeviceListName(list.get(), 2, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_DeleteSession(session, s());

  TF_SetConfig(o, "\x0a\xff", 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_SetTarget(o, "nowhere://x");
  EXPECT_EQ(TF_NewSession(g(), o, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  TF_DeleteSessionOptions(o);
}

TEST_F(CApiTest, DeprecatedSessionsRunByName) {
  Add("sum", Placeholder("x"), Const("two", 2));
  Buffer def(TF_NewBuffer());
  TF_GraphToGraphDef(g(), def.get(), s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_DeprecatedSession* old = TF_NewDeprecatedSession(nullptr, s());
  TF_ExtendGraph(old, def->data, def->length, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  std::unique_ptr<TF_DeviceList, Deleter> devices(
      TF_DeprecatedSessionListDevices(old, s()));
  ASSERT_NE(devices, nullptr) << message();
  EXPECT_EQ(TF_DeviceListCount(devices.get()), 1);
  EXPECT_STREQ(TF_DeviceListType(devices.get(), 0, s()), "CPU");
  const char *in = "x:0", *out = "sum:0", *nowhere = "nowhere";
  Tensor value = Scalar(40);
  TF_Tensor *feed = value.get(), *result = nullptr;
  TF_Run(old, nullptr, &in, &feed, 1, &out, &result, 1, nullptr, 0, nullptr,
         s());
  EXPECT_EQ(Value(result), 42) << message();
  TF_DeleteTensor(result);
  TF_Run(old, nullptr, &in, &feed, 1, &nowhere, &result, 1, nullptr, 0, nullptr,
         s());
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  EXPECT_EQ(result, nullptr);

  const char* handle = nullptr;
  TF_PRunSetup(old, &in, 1, &out, 1, nullptr, 0, &handle, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_PRun(old, handle, nullptr, nullptr, 0, &out, &result, 1, nullptr, 0, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(result, nullptr);
  TF_PRun(old, handle, &in, &feed, 1, &out, &result, 1, nullptr, 0, s());
  EXPECT_EQ(Value(result), 42) << message();
  TF_DeleteTensor(result);
  TF_DeletePRunHandle(handle);
  TF_PRunSetup(old, &nowhere, 1, &out, 1, nullptr, 0, &handle, s());
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  EXPECT_EQ(handle, nullptr);
  TF_PRunSetup(nullptr, nullptr, 0, nullptr, 0, nullptr, 0, &handle, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);

  TF_Reset(nullptr, nullptr, 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_SessionOptions* remote = TF_NewSessionOptions();
  TF_SetTarget(remote, "nowhere://x");
  TF_Reset(remote, nullptr, 0, s());
  EXPECT_EQ(TF_GetCode(s()), TF_UNIMPLEMENTED);
  TF_DeleteSessionOptions(remote);
  const char* container = "other";
  TF_Reset(nullptr, &container, 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_Run(old, nullptr, &in, &feed, 1, &out, &result, 1, nullptr, 0, nullptr,
         s());
  EXPECT_EQ(TF_GetCode(s()), TF_CANCELLED) << message();
  EXPECT_EQ(result, nullptr);
  TF_CloseDeprecatedSession(old, s());
  TF_DeleteDeprecatedSession(old, s());
}

// The bytes of a GraphDef with what is in `g` from the node `first` on.
std::string NodesFrom(TF_Graph* g, const char* first, TF_Status* s) {
  std::string def;
  size_t pos = 0;
  bool begun = false;
  while (TF_Operation* op = TF_GraphNextOperation(g, &pos)) {
    begun = begun || std::strcmp(TF_OperationName(op), first) == 0;
    if (!begun) continue;
    Buffer node(TF_NewBuffer());
    TF_OperationToNodeDef(op, node.get(), s);
    EXPECT_LT(node->length, 128u);
    def += std::string("\x0a") + static_cast<char>(node->length) +
           Bytes(node.get());
  }
  return def + std::string("\x22\x02\x08\x16", 4);  // versions: producer 22
}

// As every session of a front end does that sends its graph bit by bit.
TEST_F(CApiTest, ALaterGraphNamesNodesOfEarlierOnes) {
  TF_DeprecatedSession* old = TF_NewDeprecatedSession(nullptr, s());
  const auto extend = [&](const std::string& def) {
    TF_ExtendGraph(old, def.data(), def.size(), s());
  };
  const auto run = [&](const char* fetch, int32_t fed) {
    const char* in = "x:0";
    Tensor value = Scalar(fed);
    TF_Tensor *feed = value.get(), *result = nullptr;
    TF_Run(old, nullptr, &in, &feed, 1, &fetch, &result, 1, nullptr, 0, nullptr,
           s());
    return Value(Tensor(result).get());
  };
  TF_Operation* x = Placeholder("x");
  TF_Operation* two = Const("two", 2);
  extend(NodesFrom(g(), "x", s()));
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_OperationDescription* d = TF_NewOperation(g(), "Add", "sum");
  TF_AddInput(d, {x, 0});
  TF_AddInput(d, {two, 0});
  TF_AddControlInput(d, x);
  TF_ColocateWith(d, two);
  Finish(d);
  extend(NodesFrom(g(), "sum", s()));
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(run("sum", 40), 42) << message();

  extend(NodesFrom(g(), "sum", s()));
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("GraphDef argument to Extend includes node 'sum', "
                           "which was created by a previous call"),
            std::string::npos)
      << message();
  TF_Operation* more = Add("more", TF_GraphOperationByName(g(), "sum"), two);
  Add("last", more, two);
  extend(NodesFrom(g(), "last", s()));
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "'more' was not sent";
  EXPECT_NE(message().find("'last': Unknown input node 'more'"),
            std::string::npos)
      << message();
  extend(NodesFrom(g(), "more", s()));
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(run("last", 40), 46) << message();
  EXPECT_EQ(run("sum:3", 40), -1);
  EXPECT_EQ(TF_GetCode(s()), TF_OUT_OF_RANGE) << message();
  TF_CloseDeprecatedSession(old, s());
  TF_DeleteDeprecatedSession(old, s());
}

// TensorFlow's C library looks at the type of a feed, not at its shape.
TEST_F(CApiTest, AFeedMayHaveAnotherShapeThanTheGraphSays) {
  const int64_t static_dims[] = {2, 5}, fed_dims[] = {3};
  TF_OperationDescription* d = TF_NewOperation(g(), "Placeholder", "x");
  TF_SetAttrType(d, "dtype", TF_INT32);
  TF_SetAttrShape(d, "shape", static_dims, 2);
  TF_Operation* x = Finish(d);
  d = TF_NewOperation(g(), "Shape", "shape");
  TF_AddInput(d, {x, 0});
  TF_Operation* shape = Finish(d);
  TF_Session* session = NewSession();
  Tensor value(TF_AllocateTensor(TF_INT32, fed_dims, 1, 12));
  std::memset(TF_TensorData(value.get()), 0, 12);
  Tensor out = Run(session, x, value.get(), shape);
  ASSERT_NE(out, nullptr) << message();
  EXPECT_EQ(TF_TensorElementCount(out.get()), 1);
  EXPECT_EQ(Value(out.get()), 3);
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, NullHandlesAndWhatIsNotSupportedSaySo) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Output out = {x, 0}, dy = {x, 5};
  TF_SessionRun(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0,
                nullptr, 0, nullptr, nullptr);  // no status is fine
  const char* handle = "";
  TF_SessionPRunSetup(nullptr, nullptr, 0, nullptr, 0, nullptr, 0, &handle,
                      s());
  EXPECT_NE(TF_GetCode(s()), TF_OK);
  EXPECT_EQ(handle, nullptr);
  TF_DeletePRunHandle(handle);
  TF_AddGradients(g(), &out, 1, &out, 1, nullptr, s(), &dy);
  if (TF_GetCode(s()) == TF_UNIMPLEMENTED) {
    EXPECT_EQ(dy.oper, nullptr);
  }
}

}  // namespace
}  // namespace c_api_test
