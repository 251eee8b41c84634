// The C API as a client sees it: nothing but its headers.
#include "headrace/c_api.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace {

struct Deleter {
  void operator()(TF_Status* s) const { TF_DeleteStatus(s); }
  void operator()(TF_Graph* g) const { TF_DeleteGraph(g); }
  void operator()(TF_Tensor* t) const { TF_DeleteTensor(t); }
  void operator()(TF_Buffer* b) const { TF_DeleteBuffer(b); }
  void operator()(TF_DeviceList* l) const { TF_DeleteDeviceList(l); }
  void operator()(TF_Function* f) const { TF_DeleteFunction(f); }
  void operator()(TF_CancellationManager* m) const {
    TF_DeleteCancellationManager(m);
  }
};
using Tensor = std::unique_ptr<TF_Tensor, Deleter>;
using Buffer = std::unique_ptr<TF_Buffer, Deleter>;

Tensor Scalar(int32_t v) {
  Tensor t(TF_AllocateTensor(TF_INT32, nullptr, 0, sizeof(v)));
  std::memcpy(TF_TensorData(t.get()), &v, sizeof(v));
  return t;
}
int32_t Value(TF_Tensor* t) {
  int32_t v = -1;
  if (t != nullptr) std::memcpy(&v, TF_TensorData(t), sizeof(v));
  return v;
}
std::string Bytes(const TF_Buffer* b) {
  return std::string(static_cast<const char*>(b->data), b->length);
}

class CApiTest : public testing::Test {
 protected:
  TF_Status* s() { return status_.get(); }
  TF_Graph* g() { return graph_.get(); }
  std::string message() { return TF_Message(s()); }

  TF_Operation* Finish(TF_OperationDescription* d) {
    TF_Operation* op = TF_FinishOperation(d, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    return op;
  }
  TF_Operation* Placeholder(const char* name, TF_DataType t = TF_INT32) {
    TF_OperationDescription* d = TF_NewOperation(g(), "Placeholder", name);
    TF_SetAttrType(d, "dtype", t);
    return Finish(d);
  }
  TF_Operation* Const(const char* name, int32_t v) {
    TF_OperationDescription* d = TF_NewOperation(g(), "Const", name);
    TF_SetAttrType(d, "dtype", TF_INT32);
    TF_SetAttrTensor(d, "value", Scalar(v).get(), s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    return Finish(d);
  }
  TF_Operation* Add(const char* name, TF_Operation* a, TF_Operation* b) {
    TF_OperationDescription* d = TF_NewOperation(g(), "Add", name);
    TF_AddInput(d, {a, 0});
    TF_AddInput(d, {b, 0});
    return Finish(d);
  }
  TF_Session* NewSession() {
    TF_Session* session = TF_NewSession(g(), nullptr, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    return session;
  }
  // One feed, one fetch.
  Tensor Run(TF_Session* session, TF_Operation* feed, TF_Tensor* value,
             TF_Operation* fetch) {
    const TF_Output in = {feed, 0}, out = {fetch, 0};
    TF_Tensor* result = nullptr;
    TF_SessionRun(session, nullptr, &in, &value, feed ? 1 : 0, &out, &result, 1,
                  nullptr, 0, nullptr, s());
    return Tensor(result);
  }

 private:
  std::unique_ptr<TF_Status, Deleter> status_{TF_NewStatus()};
  std::unique_ptr<TF_Graph, Deleter> graph_{TF_NewGraph()};
};

TEST_F(CApiTest, StatusKeepsCodeMessageAndPayloads) {
  EXPECT_STREQ(TF_Message(s()), "");
  TF_SetStatus(s(), TF_NOT_FOUND, "no such thing");
  TF_SetPayload(s(), "where", "here");
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  EXPECT_STREQ(TF_Message(s()), "no such thing");
  std::string seen;
  TF_ForEachPayload(
      s(),
      [](const char* k, const char* v, void* out) {
        *static_cast<std::string*>(out) += std::string(k) + "=" + v;
      },
      &seen);
  EXPECT_EQ(seen, "where=here");
  TF_SetStatusFromIOError(s(), ENOENT, "opening x");
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  EXPECT_EQ(message().find("opening x; "), 0u);
  TF_SetStatus(s(), TF_OK, "dropped");
  EXPECT_STREQ(TF_Message(s()), "");
}

TEST_F(CApiTest, StringsOfEveryKind) {
  TF_TString t;
  TF_StringInit(&t);
  EXPECT_EQ(TF_StringGetSize(&t), 0u);
  EXPECT_EQ(TF_StringGetCapacity(&t), 22u);
  const std::string small(22, 'a'), large(23, 'b');
  TF_StringCopy(&t, small.data(), small.size());
  EXPECT_EQ(TF_StringGetType(&t), TF_TSTR_SMALL);
  TF_StringCopy(&t, large.data(), large.size());
  EXPECT_EQ(TF_StringGetType(&t), TF_TSTR_LARGE);
  EXPECT_EQ(TF_StringGetCapacity(&t), 31u);
  EXPECT_EQ(TF_StringGetDataPointer(&t), large);
  TF_StringAssignView(&t, small.data(), 3);
  EXPECT_EQ(TF_StringGetType(&t), TF_TSTR_VIEW);
  EXPECT_EQ(TF_StringGetSize(&t), 3u);
  EXPECT_EQ(TF_StringGetDataPointer(&t), small.data());
  TF_StringDealloc(&t);
  EXPECT_EQ(TF_StringGetSize(&t), 0u);
  EXPECT_EQ(TF_StringGetType(&t), TF_TSTR_SMALL);
}

// A deallocator that counts its calls.
void Count(void*, size_t, void* arg) { ++*static_cast<int*>(arg); }

TEST_F(CApiTest, DeallocatorIsCalledOnce) {
  alignas(64) char data[64] = {};
  const int64_t dims[] = {2, 3}, negative[] = {-1},
                huge[] = {1ll << 40, 1ll << 40};
  struct {
    const char* name;
    TF_DataType type;
    const int64_t* dims;
    int num_dims;
    char* data;
    size_t len;
    bool made, in_place;
  } const cases[] = {
      {"in place", TF_FLOAT, dims, 2, data, 24, true, true},
      {"more bytes than needed", TF_FLOAT, dims, 2, data, 64, true, true},
      {"not aligned", TF_FLOAT, dims, 2, data + 1, 24, true, false},
      {"too few bytes", TF_FLOAT, dims, 2, data, 23, false, false},
      {"negative dim", TF_FLOAT, negative, 1, data, 24, false, false},
      {"overflow", TF_FLOAT, huge, 2, data, 24, false, false},
      {"negative rank", TF_FLOAT, dims, -1, data, 24, false, false},
      {"no type", static_cast<TF_DataType>(31), dims, 2, data, 24, false,
       false},
      {"resource", TF_RESOURCE, dims, 2, data, 64, false, false},
  };
  for (const auto& c : cases) {
    int calls = 0;
    TF_Tensor* t =
        TF_NewTensor(c.type, c.dims, c.num_dims, c.data, c.len, Count, &calls);
    EXPECT_EQ(t != nullptr, c.made) << c.name;
    EXPECT_EQ(calls, c.in_place ? 0 : 1) << c.name;
    if (t != nullptr) {
      EXPECT_EQ(TF_TensorData(t) == c.data, c.in_place) << c.name;
      EXPECT_EQ(TF_TensorByteSize(t), 24u) << c.name;
      TF_Tensor* moved = TF_TensorMaybeMove(t);
      EXPECT_EQ(moved == nullptr, c.in_place) << c.name;
      if (moved != nullptr) t = moved;
    }
    TF_DeleteTensor(t);
    EXPECT_EQ(calls, 1) << c.name;
  }
}

TEST_F(CApiTest, TensorsAllocateReshapeMoveAndBitcast) {
  const int64_t dims[] = {2, 3, 4}, flat[] = {24}, wrong[] = {25};
  EXPECT_EQ(TF_AllocateTensor(TF_FLOAT, dims, 3, 95), nullptr);
  Tensor t(TF_AllocateTensor(TF_FLOAT, dims, 3, 96));
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(TF_NumDims(t.get()), 3);
  EXPECT_EQ(TF_Dim(t.get(), 2), 4);
  EXPECT_EQ(TF_Dim(t.get(), 3), -1);
  EXPECT_EQ(TF_TensorElementCount(t.get()), 24);
  EXPECT_TRUE(TF_TensorIsAligned(t.get()));
  TF_SetShape(t.get(), wrong, 1);
  EXPECT_EQ(TF_NumDims(t.get()), 3);
  TF_SetShape(t.get(), flat, 1);
  EXPECT_EQ(TF_Dim(t.get(), 0), 24);

  void* data = TF_TensorData(t.get());
  Tensor moved(TF_TensorMaybeMove(t.get()));
  ASSERT_NE(moved, nullptr);
  t.release();
  EXPECT_EQ(TF_TensorData(moved.get()), data);

  Tensor other = Scalar(0);
  TF_TensorBitcastFrom(moved.get(), TF_INT16, other.get(), flat, 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  const int64_t twice[] = {48};
  TF_TensorBitcastFrom(moved.get(), TF_INT16, other.get(), twice, 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(TF_TensorData(other.get()), data);
  EXPECT_EQ(TF_TensorMaybeMove(moved.get()), nullptr) << "memory is shared";
}

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

  using Token = std::unique_ptr<TF_CancellationManager, Deleter>;
  Token token(TF_NewCancellationManager());
  auto run = [&](const TF_Output& fetch, const TF_Output* in, TF_Tensor* value,
                 TF_CancellationManager* with) {
    TF_Tensor* result = nullptr;
    TF_SessionRunCancellable(session, nullptr, in, &value, in != nullptr,
                             &fetch, &result, 1, nullptr, 0, nullptr, with,
                             s());
    return Tensor(result);
  };
  for (TF_CancellationManager* t : {token.get(), Token().get()}) {
    EXPECT_EQ(Value(run(sum, &x, Scalar(5).get(), t).get()), 7) << message();
  }
  EXPECT_FALSE(TF_CancellationManagerIsCancelled(token.get()));
  std::thread other([&token] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    TF_CancellationManagerStartCancel(token.get());
  });
  EXPECT_EQ(run(take, nullptr, nullptr, token.get()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_CANCELLED) << message();
  EXPECT_NE(message().find("take"), std::string::npos) << message();
  other.join();
  EXPECT_TRUE(TF_CancellationManagerIsCancelled(token.get()));
  TF_CancellationManagerStartCancel(token.get());
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
    TF_SessionPRunCancellable(session, handle,
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
  TF_CancellationManagerStartCancel(nullptr);
  EXPECT_FALSE(TF_CancellationManagerIsCancelled(nullptr));
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, FeedsAreSharedUntilNobodyNeedsThem) {
  TF_Operation* x = Placeholder("x");
  TF_OperationDescription* d = TF_NewOperation(g(), "Identity", "y");
  TF_AddInput(d, {x, 0});
  TF_Operation* y = Finish(d);
  TF_Session* session = NewSession();
  alignas(64) int32_t data[32] = {7};
  const int64_t dims[] = {32};
  int calls = 0;
  TF_Tensor* t =
      TF_NewTensor(TF_INT32, dims, 1, data, sizeof(data), Count, &calls);
  Tensor out = Run(session, x, t, y);
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_DeleteTensor(t);
  EXPECT_EQ(Value(out.get()), 7);
  out.reset();
  TF_DeleteSession(session, s());
  EXPECT_EQ(calls, 1);
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
  } const cases[] = {
      {"feed of NULL", {nullptr, 0}, Scalar(1).release(), {sum, 0}, 1, "NULL"},
      {"feed of no output", {x, 1}, Scalar(1).release(), {sum, 0}, 1, "'x'"},
      {"no value", {x, 0}, nullptr, {sum, 0}, 1, "'x:0'"},
      {"fetch of no output", {x, 0}, Scalar(1).release(), {sum, 3}, 1, "'sum'"},
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
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << c.name << message();
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

TEST_F(CApiTest, StringTensorsRoundTrip) {
  TF_Operation* x = Placeholder("x", TF_STRING);
  TF_OperationDescription* d = TF_NewOperation(g(), "Identity", "y");
  TF_AddInput(d, {x, 0});
  TF_Operation* y = Finish(d);
  TF_Session* session = NewSession();
  const std::string words[] = {"", "short", std::string(100, 'z')};
  const int64_t dims[] = {3};
  EXPECT_EQ(TF_AllocateTensor(TF_STRING, dims, 1, 71), nullptr);
  Tensor in(TF_AllocateTensor(TF_STRING, dims, 1, 3 * sizeof(TF_TString)));
  auto* strings = static_cast<TF_TString*>(TF_TensorData(in.get()));
  for (int i = 0; i < 3; ++i) {
    TF_StringInit(&strings[i]);
    TF_StringCopy(&strings[i], words[i].data(), words[i].size());
  }
  Tensor out = Run(session, x, in.get(), y);
  ASSERT_NE(out, nullptr) << message();
  in.reset();
  EXPECT_EQ(TF_TensorByteSize(out.get()), 72u);
  const auto* got = static_cast<TF_TString*>(TF_TensorData(out.get()));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::string(TF_StringGetDataPointer(&got[i]),
                          TF_StringGetSize(&got[i])),
              words[i]);
  }
  TF_DeleteSession(session, s());
}

TEST_F(CApiTest, FinishOperationRefuses) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* f = Placeholder("f", TF_FLOAT);
  struct {
    const char* name;
    const char* op;
    std::vector<TF_Output> inputs;
    TF_Code code;
    const char* says;
  } const cases[] = {
      {"n1", "NoSuchOp", {}, TF_NOT_FOUND, "NoSuchOp"},
      {"x", "Add", {{x, 0}, {x, 0}}, TF_INVALID_ARGUMENT, "x"},
      {"n2", "Add", {{x, 0}}, TF_INVALID_ARGUMENT, ""},
      {"n3", "Add", {{x, 0}, {f, 0}}, TF_INVALID_ARGUMENT, ""},
      {"n4", "Add", {{x, 0}, {x, 1}}, TF_INVALID_ARGUMENT, "'x'"},
      {"n5", "Add", {{x, 0}, {nullptr, 0}}, TF_INVALID_ARGUMENT, "NULL"},
      {"bad name", "Add", {{x, 0}, {x, 0}}, TF_INVALID_ARGUMENT, "bad name"},
      {"n6", "AddN", {{x, 0}, {x, 0}}, TF_OK, ""},
  };
  for (const auto& c : cases) {
    TF_OperationDescription* d = TF_NewOperation(g(), c.op, c.name);
    for (const TF_Output& in : c.inputs) TF_AddInput(d, in);
    TF_Operation* op = TF_FinishOperation(d, s());
    if (c.code == TF_OK) continue;
    EXPECT_EQ(op, nullptr) << c.name;
    EXPECT_EQ(TF_GetCode(s()), c.code) << c.name << message();
    EXPECT_NE(message().find(c.says), std::string::npos) << message();
    EXPECT_NE(message().find(c.name), std::string::npos)
        << "the node is named: " << message();
  }
  EXPECT_EQ(TF_FinishOperation(nullptr, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_FinishOperation(TF_NewOperation(nullptr, "Add", "a"), s()),
            nullptr);
}

TEST_F(CApiTest, InputListsSetTheirAttrs) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* f = Placeholder("f", TF_FLOAT);
  const TF_Output three[] = {{x, 0}, {x, 0}, {x, 0}};
  TF_OperationDescription* d = TF_NewOperation(g(), "AddN", "sum");
  TF_AddInputList(d, three, 3);
  TF_Operation* sum = Finish(d);
  EXPECT_EQ(TF_OperationInputListLength(sum, "inputs", s()), 3);
  EXPECT_EQ(TF_OperationInputListLength(sum, "nothing", s()), -1);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  int64_t n = 0;
  TF_OperationGetAttrInt(sum, "N", &n, s());
  EXPECT_EQ(n, 3);

  const TF_Output mixed[] = {{x, 0}, {f, 0}};
  d = TF_NewOperation(g(), "IdentityN", "both");
  TF_AddInputList(d, mixed, 2);
  TF_Operation* both = Finish(d);
  EXPECT_EQ(TF_OperationOutputListLength(both, "output", s()), 2);
  EXPECT_EQ(TF_OperationOutputType({both, 1}), TF_FLOAT);

  d = TF_NewOperation(g(), "AddN", "wrong_count");
  TF_SetAttrInt(d, "N", 2);
  TF_AddInputList(d, three, 3);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_NE(message().find("'inputs'"), std::string::npos) << message();
  EXPECT_NE(message().find("'wrong_count'"), std::string::npos) << message();
  d = TF_NewOperation(g(), "Identity", "not_a_list");
  TF_AddInputList(d, three, 1);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(CApiTest, EdgesAreSeenFromBothEnds) {
  TF_Operation* x = Placeholder("x");
  TF_Operation* one = Const("one", 1);
  TF_OperationDescription* d = TF_NewOperation(g(), "Add", "sum");
  TF_SetDevice(d, "/device:CPU:0");
  TF_AddInput(d, {x, 0});
  TF_AddInput(d, {one, 0});
  TF_AddControlInput(d, x);
  TF_ColocateWith(d, one);
  TF_Operation* sum = Finish(d);
  EXPECT_STREQ(TF_OperationName(sum), "sum");
  EXPECT_STREQ(TF_OperationOpType(sum), "Add");
  EXPECT_STREQ(TF_OperationDevice(sum), "/device:CPU:0");
  ASSERT_EQ(TF_OperationNumInputs(sum), 2);
  EXPECT_EQ(TF_OperationNumOutputs(sum), 1);
  EXPECT_EQ(TF_OperationInputType({sum, 1}), TF_INT32);
  EXPECT_EQ(TF_OperationInputType({sum, 2}), 0);
  EXPECT_EQ(TF_OperationInput({sum, 1}).oper, one);
  EXPECT_EQ(TF_OperationInput({sum, 2}).oper, nullptr);
  TF_Output all[2];
  TF_OperationAllInputs(sum, all, 2);
  EXPECT_EQ(all[0].oper, x);

  EXPECT_EQ(TF_OperationOutputNumConsumers({x, 0}), 1);
  TF_Input consumer;
  EXPECT_EQ(TF_OperationOutputConsumers({x, 0}, &consumer, 1), 1);
  EXPECT_EQ(consumer.oper, sum);
  EXPECT_EQ(consumer.index, 0);
  TF_Operation* control = nullptr;
  ASSERT_EQ(TF_OperationNumControlInputs(sum), 1);
  EXPECT_EQ(TF_OperationGetControlInputs(sum, &control, 1), 1);
  EXPECT_EQ(control, x);
  ASSERT_EQ(TF_OperationNumControlOutputs(x), 1);
  EXPECT_EQ(TF_OperationGetControlOutputs(x, &control, 1), 1);
  EXPECT_EQ(control, sum);

  Buffer def(TF_NewBuffer());
  TF_OperationToNodeDef(sum, def.get(), s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  for (const char* part : {"sum", "Add", "one", "^x", "loc:@one"}) {
    EXPECT_NE(Bytes(def.get()).find(part), std::string::npos) << part;
  }

  size_t pos = 0;
  std::vector<TF_Operation*> ops;
  while (TF_Operation* op = TF_GraphNextOperation(g(), &pos)) ops.push_back(op);
  EXPECT_EQ(ops, (std::vector<TF_Operation*>{x, one, sum}));
  EXPECT_EQ(TF_GraphOperationByName(g(), "sum"), sum);
  EXPECT_EQ(TF_GraphOperationByName(g(), "nope"), nullptr);

  TF_UpdateEdge(g(), {x, 0}, {sum, 1}, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(TF_OperationInput({sum, 1}).oper, x);
}

TEST_F(CApiTest, TensorShapesAreRefined) {
  TF_Operation* x = Placeholder("x");
  EXPECT_EQ(TF_GraphGetTensorNumDims(g(), {x, 0}, s()), -1);
  const int64_t dims[] = {2, -1}, more[] = {-1, 5}, wrong[] = {3, 5};
  TF_GraphSetTensorShape(g(), {x, 0}, dims, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_GraphSetTensorShape(g(), {x, 0}, more, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_GraphSetTensorShape(g(), {x, 0}, wrong, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  int64_t got[2] = {};
  TF_GraphGetTensorShape(g(), {x, 0}, got, 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_GraphGetTensorShape(g(), {x, 0}, got, 2, s());
  EXPECT_EQ(got[0], 2);
  EXPECT_EQ(got[1], 5);
}

// Attributes that begin with "_" are free, so one node holds one of each kind.
TEST_F(CApiTest, AttrsRoundTrip) {
  TF_OperationDescription* d = TF_NewOperation(g(), "NoOp", "n");
  const void* strings[] = {"ab", "c"};
  const size_t lengths[] = {2, 1};
  const int64_t ints[] = {-1, 1ll << 40};
  const float floats[] = {0.5f, -2};
  const unsigned char bools[] = {1, 0};
  const TF_DataType types[] = {TF_HALF, TF_STRING};
  const int64_t dims[] = {3, -1};
  const int64_t* shapes[] = {dims, nullptr};
  const int ranks[] = {2, -1};
  TF_SetAttrString(d, "_s", "a\0b", 3);
  TF_SetAttrStringList(d, "_ls", strings, lengths, 2);
  TF_SetAttrInt(d, "_i", -7);
  TF_SetAttrIntList(d, "_li", ints, 2);
  TF_SetAttrFloat(d, "_f", 1.5f);
  TF_SetAttrFloatList(d, "_lf", floats, 2);
  TF_SetAttrBool(d, "_b", 1);
  TF_SetAttrBoolList(d, "_lb", bools, 2);
  TF_SetAttrType(d, "_t", TF_BOOL);
  TF_SetAttrTypeList(d, "_lt", types, 2);
  TF_SetAttrShape(d, "_shape", dims, 2);
  TF_SetAttrShapeList(d, "_lshape", shapes, ranks, 2);
  Tensor five = Scalar(5);
  TF_Tensor* tensors[] = {five.get(), five.get()};
  TF_SetAttrTensor(d, "_tensor", five.get(), s());
  TF_SetAttrTensorList(d, "_ltensor", tensors, 2, s());
  TF_SetAttrFuncName(d, "_func", "body", 4);
  TF_SetAttrValueProto(d, "_proto", "\x18\x05", 2, s());  // i: 5
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  five.reset();  // the node has copies
  TF_Operation* n = Finish(d);
  ASSERT_NE(n, nullptr);

  const struct {
    const char* name;
    unsigned char is_list;
    int64_t list_size;
    TF_AttrType type;
    int64_t total_size;
  } metadata[] = {
      {"_s", 0, -1, TF_ATTR_STRING, 3},
      {"_ls", 1, 2, TF_ATTR_STRING, 3},
      {"_i", 0, -1, TF_ATTR_INT, -1},
      {"_li", 1, 2, TF_ATTR_INT, -1},
      {"_f", 0, -1, TF_ATTR_FLOAT, -1},
      {"_lf", 1, 2, TF_ATTR_FLOAT, -1},
      {"_b", 0, -1, TF_ATTR_BOOL, -1},
      {"_lb", 1, 2, TF_ATTR_BOOL, -1},
      {"_t", 0, -1, TF_ATTR_TYPE, -1},
      {"_lt", 1, 2, TF_ATTR_TYPE, -1},
      {"_shape", 0, -1, TF_ATTR_SHAPE, 2},
      {"_lshape", 1, 2, TF_ATTR_SHAPE, 2},
      {"_tensor", 0, -1, TF_ATTR_TENSOR, -1},
      {"_ltensor", 1, 2, TF_ATTR_TENSOR, -1},
      {"_func", 0, -1, TF_ATTR_FUNC, -1},
      {"_proto", 0, -1, TF_ATTR_INT, -1},
  };
  for (const auto& want : metadata) {
    const TF_AttrMetadata m = TF_OperationGetAttrMetadata(n, want.name, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    EXPECT_EQ(m.is_list, want.is_list) << want.name;
    EXPECT_EQ(m.list_size, want.list_size) << want.name;
    EXPECT_EQ(m.type, want.type) << want.name;
    EXPECT_EQ(m.total_size, want.total_size) << want.name;
  }

  char text[3];
  TF_OperationGetAttrString(n, "_s", text, 3, s());
  EXPECT_EQ(std::string(text, 3), std::string("a\0b", 3));
  void* values[2];
  size_t sizes[2];
  TF_OperationGetAttrStringList(n, "_ls", values, sizes, 2, text, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "storage is too small";
  TF_OperationGetAttrStringList(n, "_ls", values, sizes, 2, text, 3, s());
  EXPECT_EQ(std::string(static_cast<char*>(values[1]), sizes[1]), "c");
  int64_t i = 0, li[2] = {};
  TF_OperationGetAttrInt(n, "_i", &i, s());
  EXPECT_EQ(i, -7);
  TF_OperationGetAttrInt(n, "_proto", &i, s());
  EXPECT_EQ(i, 5);
  TF_OperationGetAttrIntList(n, "_li", li, 2, s());
  EXPECT_EQ(li[1], 1ll << 40);
  float f = 0, lf[2] = {};
  TF_OperationGetAttrFloat(n, "_f", &f, s());
  EXPECT_EQ(f, 1.5f);
  TF_OperationGetAttrFloatList(n, "_lf", lf, 1, s());
  EXPECT_EQ(lf[0], 0.5f);
  EXPECT_EQ(lf[1], 0) << "only one was asked for";
  unsigned char b = 0, lb[2] = {};
  TF_OperationGetAttrBool(n, "_b", &b, s());
  EXPECT_EQ(b, 1);
  TF_OperationGetAttrBoolList(n, "_lb", lb, 2, s());
  EXPECT_EQ(lb[0], 1);
  TF_DataType t, lt[2];
  TF_OperationGetAttrType(n, "_t", &t, s());
  EXPECT_EQ(t, TF_BOOL);
  TF_OperationGetAttrTypeList(n, "_lt", lt, 2, s());
  EXPECT_EQ(lt[1], TF_STRING);
  TF_OperationGetAttrShape(n, "_shape", li, 2, s());
  EXPECT_EQ(li[0], 3);
  EXPECT_EQ(li[1], -1);
  int64_t* got_dims[2];
  int got_ranks[2];
  TF_OperationGetAttrShapeList(n, "_lshape", got_dims, got_ranks, 2, li, 2,
                               s());
  EXPECT_EQ(got_ranks[0], 2);
  EXPECT_EQ(got_ranks[1], -1);
  EXPECT_EQ(got_dims[0][0], 3);
  TF_Tensor* tensor = nullptr;
  TF_OperationGetAttrTensor(n, "_tensor", &tensor, s());
  EXPECT_EQ(Value(tensor), 5);
  TF_DeleteTensor(tensor);
  TF_Tensor* list[2] = {};
  TF_OperationGetAttrTensorList(n, "_ltensor", list, 2, s());
  EXPECT_EQ(Value(list[1]), 5);
  TF_DeleteTensor(list[0]);
  TF_DeleteTensor(list[1]);
  Buffer value(TF_NewBuffer());
  TF_OperationGetAttrValueProto(n, "_proto", value.get(), s());
  EXPECT_EQ(Bytes(value.get()), "\x18\x05");
  Buffer shape(TF_NewBuffer());
  TF_OperationGetAttrTensorShapeProto(n, "_shape", shape.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_GT(shape->length, 0u);

  ASSERT_EQ(TF_OperationGetNumAttrs(n), 16);
  EXPECT_EQ(TF_OperationGetAttrNameLength(n, 0), 2);
  char name[2];
  TF_OperationGetAttrName(n, 0, name, s());
  EXPECT_EQ(std::string(name, 2), "_b");
  EXPECT_EQ(TF_OperationGetAttrNameLength(n, 16), -1);

  TF_OperationGetAttrInt(n, "_f", &i, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("'_f' of node 'n' is a float"), std::string::npos)
      << message();
  TF_OperationGetAttrInt(n, "nope", &i, s());
  EXPECT_EQ(message(), "Operation 'n' has no attr named 'nope'.");
}

TEST_F(CApiTest, BadAttrsAreReportedAtTheEnd) {
  const int64_t dims[] = {-3};
  TF_OperationDescription* d = TF_NewOperation(g(), "NoOp", "n");
  TF_SetAttrShape(d, "_shape", dims, 1);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_NE(message().find("'_shape'"), std::string::npos) << message();
  d = TF_NewOperation(g(), "NoOp", "n");
  TF_SetAttrType(d, "_t", static_cast<TF_DataType>(77));
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  d = TF_NewOperation(g(), "NoOp", "n");
  TF_SetAttrIntList(d, "_li", nullptr, 4);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  d = TF_NewOperation(g(), "NoOp", "n");
  TF_SetAttrValueProto(d, "_v", "\x18", 1, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
}

TEST_F(CApiTest, ImportsWhatItExported) {
  Add("sum", Placeholder("x"), Const("two", 2));
  Buffer def(TF_NewBuffer());
  TF_GraphToGraphDef(g(), def.get(), s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_GraphToGraphDef(g(), def.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "the buffer is full";

  TF_GraphImportGraphDef(g(), def.get(), nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "names are taken";
  TF_Operation* y = Placeholder("y");
  TF_ImportGraphDefOptions* o = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(o, "copy");
  TF_ImportGraphDefOptionsAddInputMapping(o, "x", 0, {y, 0});
  TF_ImportGraphDefOptionsAddInputMapping(o, "none", 3, {y, 0});
  TF_ImportGraphDefOptionsAddReturnOutput(o, "sum", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(o, "two");
  TF_ImportGraphDefOptionsAddControlDependency(o, y);
  EXPECT_EQ(TF_ImportGraphDefOptionsNumReturnOutputs(o), 1);
  EXPECT_EQ(TF_ImportGraphDefOptionsNumReturnOperations(o), 1);
  TF_ImportGraphDefResults* r =
      TF_GraphImportGraphDefWithResults(g(), def.get(), o, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  int n = 0;
  TF_Output* outputs = nullptr;
  TF_Operation** operations = nullptr;
  TF_ImportGraphDefResultsReturnOutputs(r, &n, &outputs);
  ASSERT_EQ(n, 1);
  EXPECT_STREQ(TF_OperationName(outputs[0].oper), "copy/sum");
  EXPECT_EQ(TF_OperationInput({outputs[0].oper, 0}).oper, y);
  TF_ImportGraphDefResultsReturnOperations(r, &n, &operations);
  ASSERT_EQ(n, 1);
  EXPECT_STREQ(TF_OperationName(operations[0]), "copy/two");
  const char** names = nullptr;
  int* indexes = nullptr;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(r, &n, &names, &indexes);
  ASSERT_EQ(n, 1);
  EXPECT_STREQ(names[0], "none");
  EXPECT_EQ(indexes[0], 3);
  TF_DeleteImportGraphDefResults(r);
  TF_DeleteImportGraphDefOptions(o);

  Buffer broken(TF_NewBufferFromString("\x0a\xff", 2));
  TF_GraphImportGraphDef(g(), broken.get(), nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  TF_GraphImportGraphDef(g(), nullptr, nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);

  TF_DeprecatedSession* old = TF_NewDeprecatedSession(nullptr, s());
  TF_ExtendGraph(old, def->data, def->length, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
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

TEST_F(CApiTest, Functions) {
  // signature { name: "f" }
  const char def[] =
      "\x0a\x03\x0a\x01"
      "f";
  std::unique_ptr<TF_Function, Deleter> f(
      TF_FunctionImportFunctionDef(def, 5, s()));
  ASSERT_NE(f, nullptr) << message();
  EXPECT_STREQ(TF_FunctionName(f.get()), "f");
  TF_FunctionSetAttrValueProto(f.get(), "k", "\x18\x05", 2, s());
  Buffer value(TF_NewBuffer());
  TF_FunctionGetAttrValueProto(f.get(), "k", value.get(), s());
  EXPECT_EQ(Bytes(value.get()), "\x18\x05");
  TF_GraphCopyFunction(g(), f.get(), nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  ASSERT_EQ(TF_GraphNumFunctions(g()), 1);
  TF_Function* copy = nullptr;
  EXPECT_EQ(TF_GraphGetFunctions(g(), &copy, 1, s()), 1);
  EXPECT_STREQ(TF_FunctionName(copy), "f");
  TF_DeleteFunction(copy);
  EXPECT_EQ(TF_FunctionImportFunctionDef("\x0a", 1, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(CApiTest, RegistriesCanBeListed) {
  EXPECT_STREQ(TF_Version(), "1.15.5");
  Buffer ops(TF_GetAllOpList());
  EXPECT_NE(Bytes(ops.get()).find("Placeholder"), std::string::npos);
  Buffer kernels(TF_GetRegisteredKernelsForOp("Identity", s()));
  EXPECT_NE(Bytes(kernels.get()).find("CPU"), std::string::npos);
  Buffer none(TF_GetRegisteredKernelsForOp("NoSuchOp", s()));
  EXPECT_EQ(none->length, 0u);
  Buffer def(TF_NewBuffer());
  TF_GraphGetOpDef(g(), "Add", def.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  Buffer unknown(TF_NewBuffer());
  TF_GraphGetOpDef(g(), "NoSuchOp", unknown.get(), s());
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  Buffer versions(TF_NewBuffer());
  TF_GraphVersions(g(), versions.get(), s());
  EXPECT_EQ(Bytes(versions.get()), "\x08\x86\x01");  // producer: 134
  EXPECT_EQ(TF_LoadLibrary("/no/such/library.so", s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_NOT_FOUND);
  EXPECT_EQ(TF_LoadLibrary(nullptr, s()), nullptr);
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
