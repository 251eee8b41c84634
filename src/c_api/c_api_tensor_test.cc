// The C API: statuses, strings and tensors.
#include <string>

#include "c_api/c_api_test_util.h"

namespace c_api_test {
namespace {

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
      {"no type", static_cast<TF_DataType>(31), dims, 2, data, 24, true, true},
      {"resource", TF_RESOURCE, dims, 2, data, 24, true, true},
  };
  for (const auto& c : cases) {
    int calls = 0;
    TF_Tensor* t =
        TF_NewTensor(c.type, c.dims, c.num_dims, c.data, c.len, Count, &calls);
    EXPECT_EQ(t != nullptr, c.made) << c.name;
    EXPECT_EQ(calls, c.in_place ? 0 : 1) << c.name;
    if (t != nullptr) {
      EXPECT_EQ(TF_TensorData(t) == c.data, c.in_place) << c.name;
      EXPECT_EQ(TF_TensorByteSize(t), c.len) << c.name;
      TF_Tensor* moved = TF_TensorMaybeMove(t);
      EXPECT_EQ(moved == nullptr, c.in_place) << c.name;
      if (moved != nullptr) t = moved;
    }
    TF_DeleteTensor(t);
    EXPECT_EQ(calls, 1) << c.name;
  }
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
  const int64_t fewer[] = {2};
  TF_SetShape(t.get(), fewer, 1);
  EXPECT_EQ(TF_TensorElementCount(t.get()), 2);
  EXPECT_EQ(TF_TensorByteSize(t.get()), 96u) << "the bytes stay";
  TF_SetShape(t.get(), flat, 1);
  EXPECT_EQ(TF_TensorElementCount(t.get()), 24);

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

// TensorFlow makes a tensor of whatever type; clients die of a NULL.
TEST_F(CApiTest, TensorsOfAnyTypeAndLengthAreAllocated) {
  const int64_t three[] = {3};
  struct {
    const char* name;
    int type;
    int num_dims;
    size_t len;
    bool made;
  } const cases[] = {
      {"strings of no bytes", TF_STRING, 1, 0, true},
      {"strings of few bytes", TF_STRING, 1, 10, true},
      {"strings of more bytes", TF_STRING, 1, 100, true},
      {"a resource", TF_RESOURCE, 0, 8, true},
      {"resources", TF_RESOURCE, 1, 8, true},
      {"a variant", TF_VARIANT, 0, 64, true},
      {"float_ref", 101, 1, 12, true},
      {"no bytes of float_ref", 101, 1, 0, true},
      {"an unknown type", 77, 1, 12, true},
      {"no type", 0, 1, 12, true},
      {"more bytes than needed", TF_FLOAT, 1, 20, true},
      {"too few bytes", TF_FLOAT, 1, 8, false},
  };
  for (const auto& c : cases) {
    const auto type = static_cast<TF_DataType>(c.type);
    Tensor t(TF_AllocateTensor(type, three, c.num_dims, c.len));
    ASSERT_EQ(t != nullptr, c.made) << c.name;
    if (t == nullptr) continue;
    EXPECT_EQ(TF_TensorType(t.get()), type) << c.name;
    EXPECT_EQ(TF_NumDims(t.get()), c.num_dims) << c.name;
    EXPECT_EQ(TF_TensorElementCount(t.get()), c.num_dims == 1 ? 3 : 1);
    EXPECT_EQ(TF_TensorByteSize(t.get()), c.len) << c.name;
    ASSERT_NE(TF_TensorData(t.get()), nullptr) << c.name;
    if (c.type != TF_STRING) std::memset(TF_TensorData(t.get()), 0xff, c.len);
    TF_SetShape(t.get(), three, 1);
    Tensor moved(TF_TensorMaybeMove(t.get()));
    ASSERT_NE(moved, nullptr) << c.name;
    (void)t.release();
    EXPECT_EQ(TF_TensorByteSize(moved.get()), c.len) << c.name;
  }
}

// Bytes that are no value are an error where a value is needed.
TEST_F(CApiTest, FedBytesOfResourcesVariantsAndShortStringsAreRefused) {
  const int64_t three[] = {3};
  const struct {
    TF_DataType type;
    int num_dims;
    std::string bytes;
    const char* says;
  } cases[] = {
      {TF_RESOURCE, 0, "\x0a\x7f oops",
       "Malformed TF_RESOURCE tensor: unable to parse resource handle"},
      {TF_RESOURCE, 1, "",
       "Malformed TF_RESOURCE tensor: expected a scalar, got a tensor with "
       "shape [3]"},
      {TF_VARIANT, 0, std::string(64, '\xee'), "Malformed TF_VARIANT tensor"},
      {TF_STRING, 1, std::string(40, '\xee'), "Malformed TF_STRING tensor"},
  };
  int i = 0;
  for (const auto& c : cases) {
    const std::string n = std::to_string(i++);
    TF_Operation* x = Placeholder(("x" + n).c_str(), c.type);
    TF_OperationDescription* d =
        TF_NewOperation(g(), "Identity", ("y" + n).c_str());
    TF_AddInput(d, {x, 0});
    TF_Operation* y = Finish(d);
    Tensor t(TF_AllocateTensor(c.type, three, c.num_dims, c.bytes.size()));
    ASSERT_NE(t, nullptr);
    std::memcpy(TF_TensorData(t.get()), c.bytes.data(), c.bytes.size());
    TF_Session* session = NewSession();
    EXPECT_EQ(Run(session, x, t.get(), y), nullptr);
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
    EXPECT_EQ(message().find(c.says), 0u) << message();
    TF_DeleteSession(session, s());

    d = TF_NewOperation(g(), "Const", ("c" + n).c_str());
    TF_SetAttrTensor(d, "value", t.get(), s());
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
    EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  }
}

// What a client gets of a resource are the bytes of its handle, which it may
// feed.
TEST_F(CApiTest, ResourcesAreHandedOutAsBytesAndTakenBack) {
  TF_OperationDescription* d = TF_NewOperation(g(), "VarHandleOp", "v");
  TF_SetAttrType(d, "dtype", TF_INT32);
  TF_SetAttrShape(d, "shape", nullptr, 0);
  TF_SetAttrString(d, "shared_name", "kept", 4);
  TF_Operation* v = Finish(d);
  d = TF_NewOperation(g(), "AssignVariableOp", "assign");
  TF_AddInput(d, {v, 0});
  TF_AddInput(d, {Const("five", 5), 0});
  TF_Operation* assign = Finish(d);
  TF_Operation* h = Placeholder("h", TF_RESOURCE);
  d = TF_NewOperation(g(), "ReadVariableOp", "read");
  TF_SetAttrType(d, "dtype", TF_INT32);
  TF_AddInput(d, {h, 0});
  TF_Operation* read = Finish(d);
  TF_Session* session = NewSession();
  TF_SessionRun(session, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0,
                &assign, 1, nullptr, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  Tensor handle = Run(session, nullptr, nullptr, v);
  ASSERT_NE(handle, nullptr) << message();
  EXPECT_EQ(TF_TensorType(handle.get()), TF_RESOURCE);
  const std::string bytes(static_cast<char*>(TF_TensorData(handle.get())),
                          TF_TensorByteSize(handle.get()));
  EXPECT_NE(bytes.find("kept"), std::string::npos);
  EXPECT_EQ(Value(Run(session, h, handle.get(), read).get()), 5) << message();

  // dtype: DT_RESOURCE, a scalar, resource_handle_val: what was fetched.
  ASSERT_LT(bytes.size(), 128u);
  const std::string proto = std::string("\x08\x14\x12\x00\x72", 5) +
                            static_cast<char>(bytes.size()) + bytes;
  Buffer buffer(TF_NewBufferFromString(proto.data(), proto.size()));
  Tensor parsed = Scalar(0);
  TF_TensorFromProto(buffer.get(), parsed.get(), s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(TF_TensorByteSize(parsed.get()), bytes.size());
  EXPECT_EQ(Value(Run(session, h, parsed.get(), read).get()), 5) << message();
  TF_DeleteSession(session, s());
}

// As a client does that feeds one tensor again and again.
TEST_F(CApiTest, ASmallTensorMayBeWrittenOnceItsRunHasEnded) {
  TF_Operation* x = Placeholder("x");
  TF_OperationDescription* d = TF_NewOperation(g(), "Identity", "y");
  TF_AddInput(d, {x, 0});
  TF_Operation* y = Finish(d);
  TF_Session* session = NewSession();
  Tensor fed = Scalar(1);
  Tensor out = Run(session, x, fed.get(), y);
  const int32_t two = 2;
  std::memcpy(TF_TensorData(fed.get()), &two, sizeof(two));
  EXPECT_EQ(Value(out.get()), 1) << message();
  EXPECT_EQ(Value(Run(session, x, fed.get(), y).get()), 2);
  TF_DeleteSession(session, s());
}

// A bitcast is a view: what is written to one tensor is seen in the other.
TEST_F(CApiTest, ABitcastSharesSmallBuffersToo) {
  TF_Session* session = NewSession();
  Tensor allocated = Scalar(1);
  Tensor fetched = Run(session, nullptr, nullptr, Const("c", 2));
  ASSERT_NE(fetched, nullptr) << message();
  const int64_t four[] = {4};
  for (Tensor* from : {&allocated, &fetched}) {
    void* const data = TF_TensorData(from->get());
    const int32_t value = Value(from->get());
    Tensor to = Scalar(0);
    TF_TensorBitcastFrom(from->get(), TF_UINT8, to.get(), four, 1, s());
    ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
    EXPECT_EQ(TF_TensorData(to.get()), data);
    EXPECT_EQ(TF_TensorMaybeMove(from->get()), nullptr) << "memory is shared";
    from->reset();
    EXPECT_EQ(static_cast<uint8_t*>(TF_TensorData(to.get()))[0], value)
        << "the bytes outlive the tensor that they came from";
    TF_TensorBitcastFrom(to.get(), TF_INT32, to.get(), nullptr, 0, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    EXPECT_EQ(TF_TensorData(to.get()), data) << "into itself";
  }
  const int64_t three[] = {3};
  Tensor longer(TF_AllocateTensor(TF_FLOAT, three, 1, 20)), to = Scalar(0);
  TF_TensorBitcastFrom(longer.get(), TF_INT32, to.get(), three, 1, s());
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(TF_TensorByteSize(to.get()), 20u);
  TF_DeleteSession(session, s());
}

// A string of which the struct says where its characters are, counted from
// itself, as in a file that is mapped.
struct StringsAtOffsets {
  TF_TString strings[2];
  char characters[64];
};

TEST_F(CApiTest, StringsAtOffsetsAreCopiedWhenTheyAreFed) {
  TF_Operation* x = Placeholder("x", TF_STRING);
  TF_OperationDescription* d = TF_NewOperation(g(), "Identity", "y");
  TF_AddInput(d, {x, 0});
  TF_Operation* y = Finish(d);
  TF_Session* session = NewSession();
  StringsAtOffsets block;
  const std::string words[] = {"short", std::string(40, 'z')};
  size_t at = 0;
  for (int i = 0; i < 2; ++i) {
    TF_StringInit(&block.strings[i]);
    std::memcpy(block.characters + at, words[i].data(), words[i].size());
    auto& s = block.strings[i].u.offset;
    s.size = static_cast<uint32_t>(words[i].size() << 2 | TF_TSTR_OFFSET);
    s.offset = static_cast<uint32_t>(block.characters + at -
                                     reinterpret_cast<char*>(&s));
    s.count = 1;
    at += words[i].size();
  }
  const int64_t dims[] = {2};
  Tensor in(TF_NewTensor(
      TF_STRING, dims, 1, block.strings, sizeof(block.strings),
      [](void*, size_t, void*) {}, nullptr));
  ASSERT_NE(in, nullptr);
  Tensor out = Run(session, x, in.get(), y);
  ASSERT_NE(out, nullptr) << message();
  in.reset();
  std::memset(static_cast<void*>(&block), 0, sizeof(block));
  const auto* got = static_cast<TF_TString*>(TF_TensorData(out.get()));
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(TF_StringGetType(&got[i]), TF_TSTR_OFFSET);
    EXPECT_EQ(std::string(TF_StringGetDataPointer(&got[i]),
                          TF_StringGetSize(&got[i])),
              words[i]);
  }
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

}  // namespace
}  // namespace c_api_test
