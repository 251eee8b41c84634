// Eager execution as a client of the C API sees it: contexts, values, ops.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "c_api/eager_test_util.h"
#include "headrace/config.pb.h"
#include "headrace/step_stats.pb.h"

namespace eager_test {
namespace {

using testing::Test;

TEST_F(EagerTest, ExecutesAnOpWhoseTypeFollowsFromItsInputs) {
  const Handle a = Values<float>({1, 2, 3}, {3}), b = Scalar(10.0f);
  const Handle sum = Get("AddV2", {a.get(), b.get()});
  EXPECT_EQ(Read<float>(sum.get()), (std::vector<float>{11, 12, 13}));
  EXPECT_EQ(TFE_TensorHandleDataType(sum.get()), TF_FLOAT);
  EXPECT_EQ(TFE_TensorHandleNumDims(sum.get(), s()), 1);
  EXPECT_EQ(TFE_TensorHandleDim(sum.get(), 0, s()), 3);
  EXPECT_EQ(TFE_TensorHandleNumElements(sum.get(), s()), 3);
  EXPECT_STREQ(TFE_TensorHandleDeviceName(sum.get(), s()),
               "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_STREQ(TFE_TensorHandleBackingDeviceName(sum.get(), s()),
               "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_STREQ(TFE_TensorHandleDeviceType(sum.get(), s()), "CPU");
  EXPECT_EQ(TFE_TensorHandleDeviceID(sum.get(), s()), 0);
  TFE_TensorHandleGetStatus(sum.get(), s());
  EXPECT_EQ(code(), TF_OK);
}

// A kernel may write over an input that nobody else has; a handle counts.
TEST_F(EagerTest, LeavesItsInputsAsTheyAre) {
  const Handle a = Values<float>(std::vector<float>(100, 2), {100});
  const Handle b = Get("Neg", {a.get()});
  const Handle c = Get("Exp", {b.get()});
  EXPECT_EQ(Read<float>(a.get()), std::vector<float>(100, 2));
  EXPECT_EQ(Read<float>(b.get()), std::vector<float>(100, -2));
  const Handle small = Scalar(3.0f);
  const Handle negative = Get("Neg", {small.get()});
  EXPECT_EQ(ReadScalar<float>(small), 3);
  EXPECT_EQ(ReadScalar<float>(negative), -3);
}

TEST_F(EagerTest, AnOpCanBeExecutedAgainAndReset) {
  const Handle a = Scalar<int32_t>(3), b = Scalar<int32_t>(4);
  Op op = NewOp("Mul", {a.get(), b.get()});
  for (int i = 0; i < 3; ++i) {
    const Handles out = Execute(op.get());
    ASSERT_EQ(out.size(), 1u) << message();
    EXPECT_EQ(ReadScalar<int32_t>(out[0]), 12);
  }
  TFE_OpReset(op.get(), "Neg", "/cpu:0", s());
  ASSERT_EQ(code(), TF_OK) << message();
  EXPECT_STREQ(TFE_OpGetName(op.get(), s()), "Neg");
  EXPECT_STREQ(TFE_OpGetDevice(op.get(), s()), "/device:CPU:0");
  EXPECT_EQ(TFE_OpGetFlatInputCount(op.get(), s()), 0);
  TFE_OpAddInput(op.get(), a.get(), s());
  EXPECT_EQ(ReadScalar<int32_t>(Execute(op.get())[0]), -3);
  TFE_OpReset(op.get(), "NoSuchOp", nullptr, s());
  EXPECT_EQ(code(), TF_NOT_FOUND);
}

TEST_F(EagerTest, TheOpKeepsItsInputs) {
  Op op;
  {
    const Handle a = Scalar<int32_t>(3);
    op = NewOp("Neg", {a.get()});
    EXPECT_EQ(TFE_OpGetFlatInput(op.get(), 0, s()), a.get());
  }
  EXPECT_EQ(ReadScalar<int32_t>(Execute(op.get())[0]), -3);
}

TEST_F(EagerTest, ListsOfInputsAndOutputs) {
  const Handle a = Values<int32_t>({1, 2}, {2}), b = Values<int32_t>({3}, {1});
  const Handle axis = Scalar<int32_t>(0);
  TFE_TensorHandle* list[] = {a.get(), b.get()};
  Op concat = NewOp("ConcatV2");
  TFE_OpAddInputList(concat.get(), list, 2, s());
  TFE_OpAddInput(concat.get(), axis.get(), s());
  ASSERT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(TFE_OpGetInputLength(concat.get(), "values", s()), 2);
  EXPECT_EQ(TFE_OpGetInputLength(concat.get(), "axis", s()), 1);
  EXPECT_EQ(TFE_OpGetOutputLength(concat.get(), "output", s()), 1);
  EXPECT_EQ(TFE_OpGetFlatInputCount(concat.get(), s()), 3);
  const Handles joined = Execute(concat.get());
  ASSERT_EQ(joined.size(), 1u) << message();
  EXPECT_EQ(Read<int32_t>(joined[0].get()), (std::vector<int32_t>{1, 2, 3}));

  Op split = NewOp("Split", {axis.get(), joined[0].get()});
  EXPECT_EQ(TFE_OpGetOutputLength(split.get(), "output", s()), -1);
  EXPECT_EQ(code(), TF_NOT_FOUND) << message();
  TFE_OpSetAttrInt(split.get(), "num_split", 3);
  EXPECT_EQ(TFE_OpGetOutputLength(split.get(), "output", s()), 3);
  const Handles parts = Execute(split.get());
  ASSERT_EQ(parts.size(), 3u) << message();
  EXPECT_EQ(Read<int32_t>(parts[2].get()), (std::vector<int32_t>{3}));

  // Element by element, as clients of old versions add a list.
  Op singly = NewOp("ConcatV2", {a.get(), b.get(), axis.get()});
  TFE_OpSetAttrInt(singly.get(), "N", 2);
  const Handles same = Execute(singly.get());
  ASSERT_EQ(same.size(), 1u) << message();
  EXPECT_EQ(Read<int32_t>(same[0].get()), (std::vector<int32_t>{1, 2, 3}));
}

TEST_F(EagerTest, TypeListsFollowFromTheirInputs) {
  const Handle a = Scalar<int32_t>(1), b = Scalar(2.0f);
  TFE_TensorHandle* list[] = {a.get(), b.get()};
  Op op = NewOp("IdentityN");
  TFE_OpAddInputList(op.get(), list, 2, s());
  const Handles out = Execute(op.get());
  ASSERT_EQ(out.size(), 2u) << message();
  EXPECT_EQ(ReadScalar<int32_t>(out[0]), 1);
  EXPECT_EQ(ReadScalar<float>(out[1]), 2);
}

TEST_F(EagerTest, AttrsOfEveryKind) {
  // type, tensor
  const int64_t two = 2;
  Tensor value(TF_AllocateTensor(TF_FLOAT, &two, 1, 8));
  static_cast<float*>(TF_TensorData(value.get()))[0] = 1.5f;
  static_cast<float*>(TF_TensorData(value.get()))[1] = -2.5f;
  const Handle c = Get("Const", {}, [&](TFE_Op* op) {
    TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
    TFE_OpSetAttrTensor(op, "value", value.get(), s());
    EXPECT_EQ(code(), TF_OK) << message();
    // The op has a copy.
    static_cast<float*>(TF_TensorData(value.get()))[0] = 0;
  });
  EXPECT_EQ(Read<float>(c.get()), (std::vector<float>{1.5f, -2.5f}));
  EXPECT_EQ(Read<int32_t>(
                Get("Cast", {c.get()},
                    [](TFE_Op* op) { TFE_OpSetAttrType(op, "DstT", TF_INT32); })
                    .get()),
            (std::vector<int32_t>{1, -2}));
  // bool, float
  const Handle m = Values<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Handle product = Get("MatMul", {m.get(), m.get()}, [](TFE_Op* op) {
    TFE_OpSetAttrBool(op, "transpose_b", 1);
  });
  EXPECT_EQ(Read<float>(product.get()), (std::vector<float>{14, 32, 32, 77}));
  EXPECT_EQ(
      Read<float>(Get("LeakyRelu", {c.get()},
                      [](TFE_Op* op) { TFE_OpSetAttrFloat(op, "alpha", 0.5f); })
                      .get()),
      (std::vector<float>{1.5f, -1.25f}));
  // int list, string
  const Handle image = Values<float>({1, 2, 3, 4}, {1, 2, 2, 1});
  const Handle filter = Values<float>({10}, {1, 1, 1, 1});
  const Handle conv =
      Get("Conv2D", {image.get(), filter.get()}, [](TFE_Op* op) {
        const int64_t strides[] = {1, 2, 2, 1};
        TFE_OpSetAttrIntList(op, "strides", strides, 4);
        TFE_OpSetAttrString(op, "padding", "VALID", 5);
      });
  EXPECT_EQ(Read<float>(conv.get()), (std::vector<float>{10}));
  // float list
  const Handle buckets = Get("Bucketize", {image.get()}, [](TFE_Op* op) {
    const float boundaries[] = {1.5f, 3.5f};
    TFE_OpSetAttrFloatList(op, "boundaries", boundaries, 2);
  });
  EXPECT_EQ(Read<int32_t>(buckets.get()), (std::vector<int32_t>{0, 1, 1, 2}));
  // shape
  const Handle checked = Get("EnsureShape", {c.get()}, [&](TFE_Op* op) {
    const int64_t dims[] = {-1};
    TFE_OpSetAttrShape(op, "shape", dims, 1, s());
    EXPECT_EQ(code(), TF_OK) << message();
  });
  EXPECT_EQ(Read<float>(checked.get()).size(), 2u);
  Run("EnsureShape", {c.get()}, [&](TFE_Op* op) {
    const int64_t dims[] = {3};
    TFE_OpSetAttrShape(op, "shape", dims, 1, s());
  });
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT) << message();
  // type list, shape list, string
  const Handle queue = Get("FIFOQueueV2", {}, [&](TFE_Op* op) {
    const TF_DataType types[] = {TF_FLOAT, TF_INT32};
    const int64_t two_dims[] = {2};
    const int64_t* shapes[] = {two_dims, nullptr};
    const int ranks[] = {1, 0};
    TFE_OpSetAttrTypeList(op, "component_types", types, 2);
    TFE_OpSetAttrShapeList(op, "shapes", shapes, ranks, 2, s());
    TFE_OpSetAttrString(op, "shared_name", "q", 1);
  });
  const Handle one = Scalar<int32_t>(1);
  TFE_TensorHandle* element[] = {c.get(), one.get()};
  Op enqueue = NewOp("QueueEnqueueV2", {queue.get()});
  TFE_OpAddInputList(enqueue.get(), element, 2, s());
  Execute(enqueue.get());
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(ReadScalar<int32_t>(Get("QueueSizeV2", {queue.get()})), 1);
  // A message.
  const Handle cast = Get("Cast", {c.get()}, [&](TFE_Op* op) {
    headrace::pb::AttrValue proto;
    proto.set_type(headrace::pb::DT_INT64);
    const std::string bytes = proto.SerializeAsString();
    TFE_OpSetAttrValueProto(op, "DstT", bytes.data(), bytes.size(), s());
    EXPECT_EQ(code(), TF_OK) << message();
  });
  EXPECT_EQ(TFE_TensorHandleDataType(cast.get()), TF_INT64);
}

TEST_F(EagerTest, AttrsCanBeCopiedAndSerialized) {
  const Handle a = Scalar(1.5f);
  Op from = NewOp("Cast", {a.get()});
  TFE_OpSetAttrType(from.get(), "DstT", TF_INT32);
  Op to = NewOp("Cast", {a.get()});
  TFE_OpAddAttrs(to.get(), TFE_OpGetAttrs(from.get()));
  EXPECT_EQ(TFE_TensorHandleDataType(Execute(to.get())[0].get()), TF_INT32);
  Owned<TF_Buffer> buffer(TF_NewBuffer());
  TFE_OpAttrsSerialize(TFE_OpGetAttrs(from.get()), buffer.get(), s());
  headrace::pb::NameAttrList list;
  ASSERT_TRUE(list.ParseFromArray(buffer->data, buffer->length));
  EXPECT_EQ(list.name(), "Cast");
  EXPECT_EQ(list.attr().at("DstT").type(), headrace::pb::DT_INT32);
}

// An attr that newer versions have must not stop a client that sets it.
TEST_F(EagerTest, AnAttrThatTheOpDoesNotHaveIsIgnored) {
  const Handle a = Values<float>({2}, {1, 1});
  const Handle product = Get("MatMul", {a.get(), a.get()}, [](TFE_Op* op) {
    TFE_OpSetAttrBool(op, "grad_a", 1);
  });
  EXPECT_EQ(Read<float>(product.get()), (std::vector<float>{4}));
}

TEST_F(EagerTest, KindsOfAttrs) {
  const struct {
    const char *op, *attr;
    TF_AttrType type;
    bool is_list;
  } cases[] = {{"Reshape", "T", TF_ATTR_TYPE, false},
               {"IdentityN", "T", TF_ATTR_TYPE, true},
               {"Conv2D", "strides", TF_ATTR_INT, true},
               {"Conv2D", "padding", TF_ATTR_STRING, false},
               {"If", "then_branch", TF_ATTR_FUNC, false},
               {"Case", "branches", TF_ATTR_FUNC, true},
               {"Const", "value", TF_ATTR_TENSOR, false},
               {"MatMul", "transpose_a", TF_ATTR_BOOL, false},
               {"LeakyRelu", "alpha", TF_ATTR_FLOAT, false},
               {"Placeholder", "shape", TF_ATTR_SHAPE, false}};
  for (const auto& c : cases) {
    unsigned char is_list = 7;
    EXPECT_EQ(TFE_OpNameGetAttrType(ctx(), c.op, c.attr, &is_list, s()), c.type)
        << c.op << " " << c.attr;
    EXPECT_EQ(code(), TF_OK);
    EXPECT_EQ(is_list, c.is_list ? 1 : 0) << c.op << " " << c.attr;
    is_list = 7;
    EXPECT_EQ(TFE_OpGetAttrType(NewOp(c.op).get(), c.attr, &is_list, s()),
              c.type);
    EXPECT_EQ(is_list, c.is_list ? 1 : 0);
  }
  TFE_OpNameGetAttrType(ctx(), "Reshape", "zz", nullptr, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TFE_OpNameGetAttrType(ctx(), "NoSuchOp", "T", nullptr, s());
  EXPECT_EQ(code(), TF_NOT_FOUND);
}

// What an execution refuses: the code, and words of the message.
TEST_F(EagerTest, Refusals) {
  const Handle i = Scalar<int32_t>(1), f = Scalar(1.0f);
  const Handle v = Values<float>({1, 2}, {2});
  using Attrs = std::function<void(TFE_Op*)>;
  const struct {
    const char* op;
    std::vector<TFE_TensorHandle*> inputs;
    Attrs attrs;
    TF_Code code;
    const char* words;
  } cases[] = {
      {"AddV2",
       {i.get(), f.get()},
       nullptr,
       TF_INVALID_ARGUMENT,
       "cannot compute AddV2 as input #1(zero-based) was expected to be a "
       "int32 tensor but is a float tensor"},
      {"AddV2",
       {i.get()},
       nullptr,
       TF_INVALID_ARGUMENT,
       "expected 2 inputs, got 1"},
      {"AddV2", {}, nullptr, TF_INVALID_ARGUMENT, "expected 2 inputs, got 0"},
      {"AddV2",
       {i.get(), i.get(), i.get()},
       nullptr,
       TF_INVALID_ARGUMENT,
       "AddV2"},
      {"AddV2",
       {i.get(), i.get()},
       [](TFE_Op* op) { TFE_OpSetAttrType(op, "T", TF_FLOAT); },
       TF_INVALID_ARGUMENT,
       "expected to be a float tensor but is a int32"},
      {"AddV2",
       {i.get(), i.get()},
       [](TFE_Op* op) { TFE_OpSetAttrInt(op, "T", 3); },
       TF_INVALID_ARGUMENT,
       "'T'"},
      {"AddV2",
       {i.get(), i.get()},
       [](TFE_Op* op) {
         TFE_OpSetAttrType(op, "T", static_cast<TF_DataType>(9999));
       },
       TF_INVALID_ARGUMENT,
       "9999"},
      {"Cast", {i.get()}, nullptr, TF_INVALID_ARGUMENT, "DstT"},
      {"Conv2D",
       {f.get(), f.get()},
       [](TFE_Op* op) { TFE_OpSetAttrIntList(op, "strides", nullptr, 4); },
       TF_INVALID_ARGUMENT,
       "strides"},
      {"Conv2D",
       {f.get(), f.get()},
       [](TFE_Op* op) { TFE_OpSetAttrString(op, "padding", "ODD", 3); },
       TF_INVALID_ARGUMENT,
       "padding"},
      {"MatMul", {v.get(), v.get()}, nullptr, TF_INVALID_ARGUMENT, "MatMul"},
      {"Placeholder",
       {},
       [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); },
       TF_INVALID_ARGUMENT,
       "Placeholder"},
      {"Assign", {f.get(), f.get()}, nullptr, TF_INVALID_ARGUMENT, "reference"},
      {"Bitcast",
       {f.get()},
       [](TFE_Op* op) {
         const float values[] = {1};
         TFE_OpSetAttrFloatList(op, "type", values, 1);
       },
       TF_INVALID_ARGUMENT,
       "type"},
      {"AddV2",
       {i.get(), i.get()},
       [this](TFE_Op* op) { TFE_OpSetDevice(op, "/gpu:0", s()); },
       TF_INVALID_ARGUMENT,
       "Could not satisfy device specification"},
      {"AddV2",
       {i.get(), i.get()},
       [this](TFE_Op* op) { TFE_OpSetDevice(op, "/cpu:7", s()); },
       TF_INVALID_ARGUMENT,
       "Could not satisfy device specification"},
      {"_Arg",
       {},
       [](TFE_Op* op) {
         TFE_OpSetAttrType(op, "T", TF_FLOAT);
         TFE_OpSetAttrInt(op, "index", 0);
       },
       TF_INTERNAL,
       "call frame"},
      {"PartitionedCall",
       {},
       [this](TFE_Op* op) {
         TFE_OpSetAttrFunctionName(op, "f", "gone", 4);
         TFE_OpSetAttrTypeList(op, "Tin", nullptr, 0);
         TFE_OpSetAttrTypeList(op, "Tout", nullptr, 0);
         (void)this;
       },
       TF_NOT_FOUND,
       "gone"},
  };
  for (const auto& c : cases) {
    Run(c.op, c.inputs, c.attrs);
    EXPECT_EQ(code(), c.code) << c.op << ": " << message();
    EXPECT_NE(message().find(c.words), std::string::npos)
        << c.op << ": " << message();
  }
}

TEST_F(EagerTest, RoomForResults) {
  const Handle i = Scalar<int32_t>(1);
  Op op = NewOp("Neg", {i.get()});
  TFE_TensorHandle* out[2] = {nullptr, nullptr};
  for (int room : {0, -1}) {
    int n = room;
    TFE_Execute(op.get(), out, &n, s());
    EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
    EXPECT_EQ(out[0], nullptr);
  }
  int n = 2;
  TFE_Execute(op.get(), out, &n, s());
  EXPECT_EQ(n, 1);
  TFE_DeleteTensorHandle(out[0]);
  TFE_Execute(op.get(), nullptr, &n, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TFE_Execute(op.get(), out, nullptr, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  n = 0;
  TFE_Execute(NewOp("NoOp").get(), nullptr, &n, s());
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(n, 0);
}

TEST_F(EagerTest, NullArguments) {
  const Handle i = Scalar<int32_t>(1);
  Op op = NewOp("Neg");
  TFE_TensorHandle* none[] = {nullptr};
  unsigned char is_list;
  size_t zero = 0;
  int n = 1;
  const std::vector<std::function<void()>> calls = {
      [&] { TFE_ContextOptionsSetConfig(nullptr, nullptr, 0, s()); },
      [&] { TFE_NewOp(nullptr, "Neg", s()); },
      [&] { TFE_NewOp(ctx(), nullptr, s()); },
      [&] { TFE_NewTensorHandle(nullptr, s()); },
      [&] { TFE_TensorHandleNumDims(nullptr, s()); },
      [&] { TFE_TensorHandleNumElements(nullptr, s()); },
      [&] { TFE_TensorHandleDim(nullptr, 0, s()); },
      [&] { TFE_TensorHandleDim(i.get(), 0, s()); },
      [&] { TFE_TensorHandleDim(i.get(), -1, s()); },
      [&] { TFE_TensorHandleDeviceName(nullptr, s()); },
      [&] { TFE_TensorHandleBackingDeviceName(nullptr, s()); },
      [&] { TFE_TensorHandleCopySharingTensor(nullptr, s()); },
      [&] { TFE_TensorHandleResolve(nullptr, s()); },
      [&] { TFE_TensorHandleCopyToDevice(nullptr, ctx(), "", s()); },
      [&] { TFE_TensorHandleCopyToDevice(i.get(), nullptr, "", s()); },
      [&] { TFE_TensorHandleCopyToDevice(i.get(), ctx(), "/gpu:0", s()); },
      [&] { TFE_TensorHandleCopyToDevice(i.get(), ctx(), "rubbish", s()); },
      [&] { TFE_TensorHandleTensorDebugInfo(nullptr, s()); },
      [&] { TFE_OpGetName(nullptr, s()); },
      [&] { TFE_OpGetContext(nullptr, s()); },
      [&] { TFE_OpSetDevice(nullptr, "", s()); },
      [&] { TFE_OpSetDevice(op.get(), "rubbish", s()); },
      [&] { TFE_OpGetDevice(nullptr, s()); },
      [&] { TFE_OpAddInput(nullptr, i.get(), s()); },
      [&] { TFE_OpAddInput(op.get(), nullptr, s()); },
      [&] { TFE_OpAddInputList(op.get(), none, 1, s()); },
      [&] { TFE_OpAddInputList(op.get(), nullptr, 1, s()); },
      [&] { TFE_OpAddInputList(op.get(), none, -1, s()); },
      [&] { TFE_OpGetFlatInputCount(nullptr, s()); },
      [&] { TFE_OpGetFlatInput(op.get(), 0, s()); },
      [&] { TFE_OpGetFlatInput(op.get(), -1, s()); },
      [&] { TFE_OpGetFlatInput(nullptr, 0, s()); },
      [&] { TFE_OpGetAttrType(nullptr, "T", &is_list, s()); },
      [&] { TFE_OpGetAttrType(op.get(), nullptr, &is_list, s()); },
      [&] { TFE_OpNameGetAttrType(nullptr, "Neg", "T", &is_list, s()); },
      [&] { TFE_OpSetAttrShape(op.get(), "s", nullptr, 2, s()); },
      [&] { TFE_OpSetAttrShape(nullptr, "s", nullptr, 0, s()); },
      [&] { TFE_OpSetAttrShapeList(op.get(), "s", nullptr, nullptr, 2, s()); },
      [&] { TFE_OpSetAttrTensor(op.get(), "t", nullptr, s()); },
      [&] { TFE_OpSetAttrValueProto(op.get(), "t", "rubbish", 7, s()); },
      [&] { TFE_OpGetInputLength(nullptr, "x", s()); },
      [&] { TFE_OpGetInputLength(op.get(), nullptr, s()); },
      [&] { TFE_OpGetOutputLength(op.get(), nullptr, s()); },
      [&] { TFE_OpGetOutputLength(nullptr, "y", s()); },
      [&] { TFE_Execute(nullptr, none, &n, s()); },
      [&] { TFE_OpReset(nullptr, "Neg", nullptr, s()); },
      [&] { TFE_OpReset(op.get(), nullptr, nullptr, s()); },
      [&] { TFE_OpAttrsSerialize(nullptr, nullptr, s()); },
      [&] { TFE_OpSetCancellationManager(nullptr, nullptr, s()); },
      [&] { TFE_ContextListDevices(nullptr, s()); },
      [&] { TFE_ContextAddFunctionDef(nullptr, "", 0, s()); },
      [&] { TFE_ContextAddFunctionDef(ctx(), nullptr, 5, s()); },
      [&] { TFE_ContextAddFunctionDef(ctx(), "rubbish", 7, s()); },
      [&] { TFE_ContextAddFunction(ctx(), nullptr, s()); },
      [&] { TFE_ContextRemoveFunction(ctx(), nullptr, s()); },
      [&] { TFE_ContextRemoveFunction(ctx(), "zz", s()); },
      [&] { TFE_ContextExportRunMetadata(nullptr, nullptr, s()); },
      [&] { TFE_ContextExportRunMetadata(ctx(), nullptr, s()); },
      [&] { TFE_ContextAsyncWait(nullptr, s()); },
      [&] { TFE_ExecutorWaitForAllPendingNodes(nullptr, s()); },
      [&] { TFE_NewTensorHandleFromScalar(TF_FLOAT, nullptr, 4, s()); },
      [&] { TFE_NewTensorHandleFromScalar(TF_FLOAT, &zero, 3, s()); },
      [&] { TFE_NewTensorHandleFromScalar(TF_STRING, &zero, 8, s()); },
      [&] {
        TFE_NewTensorHandleFromScalar(static_cast<TF_DataType>(-1), &zero, 8,
                                      s());
      },
      [&] { TFE_AllocateHostTensor(ctx(), TF_FLOAT, nullptr, 2, s()); },
      [&] { TFE_TensorHandleDevicePointer(nullptr, s()); },
      [&] { TFE_TensorHandleDeviceMemorySize(nullptr, s()); },
      [&] { TFE_TensorHandleDeviceType(nullptr, s()); },
      [&] { TFE_TensorHandleDeviceID(nullptr, s()); },
      [&] { TFE_TensorHandleGetStatus(nullptr, s()); },
      [&] { TFE_NewTensorHandleFromTensor(ctx(), nullptr, s()); },
      [&] {
        TFE_NewTensorHandleFromDeviceMemory(nullptr, nullptr, TF_FLOAT, nullptr,
                                            2, nullptr, 0, nullptr, nullptr,
                                            s());
      },
      [&] { TFE_ContextGetFunction(nullptr, "f", s()); },
      [&] { TFE_ContextGetFunctionDef(nullptr, "f", nullptr, s()); },
      [&] { TFE_ContextSetAsyncForThread(nullptr, 1, s()); },
      [&] { TFE_ContextSetLogDevicePlacement(nullptr, 1, s()); },
      [&] { TFE_ContextSetSoftDevicePlacement(nullptr, 1, s()); },
  };
  for (size_t k = 0; k < calls.size(); ++k) {
    TF_SetStatus(s(), TF_OK, "");
    calls[k]();
    EXPECT_EQ(code(), TF_INVALID_ARGUMENT) << "call " << k << ": " << message();
    EXPECT_FALSE(message().empty()) << "call " << k;
  }
  // These have no status; nothing happens.
  TFE_DeleteContextOptions(nullptr);
  TFE_DeleteContext(nullptr);
  TFE_DeleteTensorHandle(nullptr);
  TFE_DeleteOp(nullptr);
  TFE_DeleteExecutor(nullptr);
  TFE_DeleteCancellationManager(nullptr);
  TFE_DeleteTensorDebugInfo(nullptr);
  TFE_ContextOptionsSetAsync(nullptr, 1);
  TFE_ContextOptionsSetDevicePlacementPolicy(nullptr,
                                             TFE_DEVICE_PLACEMENT_WARN);
  TFE_ContextClearCaches(nullptr);
  TFE_ContextStartStep(nullptr);
  TFE_ContextEndStep(nullptr);
  TFE_ContextEnableRunMetadata(nullptr);
  TFE_ContextDisableRunMetadata(nullptr);
  TFE_OpSetAttrInt(nullptr, "a", 1);
  TFE_OpSetAttrString(nullptr, "a", nullptr, 0);
  TFE_OpSetAttrFunction(nullptr, "a", nullptr);
  TFE_OpAddAttrs(nullptr, nullptr);
  TFE_OpSetAttrBool(nullptr, "a", 1);
  TFE_OpSetAttrFloat(nullptr, "a", 1);
  TFE_OpSetAttrType(nullptr, "a", TF_FLOAT);
  TFE_OpSetAttrIntList(nullptr, "a", nullptr, 1);
  TFE_OpSetAttrFloatList(nullptr, "a", nullptr, 1);
  TFE_OpSetAttrBoolList(nullptr, "a", nullptr, 1);
  TFE_OpSetAttrTypeList(nullptr, "a", nullptr, 1);
  TFE_OpSetAttrStringList(nullptr, "a", nullptr, nullptr, 1);
  TFE_OpSetAttrFunctionName(nullptr, "a", nullptr, 1);
  TFE_OpSetAttrFunctionList(nullptr, "a", nullptr, 1);
  TFE_OpSetXLACompilation(nullptr, 1);
  EXPECT_EQ(TFE_OpGetAttrs(nullptr), nullptr);
  TFE_ContextAsyncClearError(nullptr);
  TFE_ContextEnableGraphCollection(nullptr);
  TFE_ContextDisableGraphCollection(nullptr);
  TFE_ContextSetThreadLocalDevicePlacementPolicy(nullptr,
                                                 TFE_DEVICE_PLACEMENT_WARN);
  TFE_ContextGetDevicePlacementPolicy(nullptr);
  EXPECT_EQ(TFE_GetContextId(nullptr), 0u);
  TFE_HostAddressSpace(nullptr, nullptr);
  TFE_ExecutorClearError(nullptr);
  TFE_ExecutorIsAsync(nullptr);
  TFE_CancellationManagerStartCancel(nullptr);
  EXPECT_FALSE(TFE_CancellationManagerIsCancelled(nullptr));
  EXPECT_FALSE(TFE_CancellationManagerIsCancelling(nullptr));
  TFE_TensorHandleDataType(nullptr);
  TFE_ContextSetExecutorForThread(nullptr, nullptr);
  EXPECT_EQ(TFE_ContextGetExecutorForThread(nullptr), nullptr);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceNumDims(nullptr), -1);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceDim(nullptr, 0), -1);
  EXPECT_EQ(TFE_ContextHasFunction(nullptr, "f"), 0);
  EXPECT_EQ(TFE_ContextHasFunction(ctx(), nullptr), 0);
  // An error needs no status to go to.
  EXPECT_EQ(TFE_NewOp(ctx(), "NoSuchOp", nullptr), nullptr);
}

TEST_F(EagerTest, WhatOtherProcessesWouldDoIsUnimplemented) {
  const std::vector<std::function<void()>> calls = {
      [&] { TFE_ContextSetServerDef(ctx(), 0, "", 0, s()); },
      [&] { TFE_ContextUpdateServerDef(ctx(), 0, "", 0, s()); },
      [&] { TFE_ContextCheckAlive(ctx(), "w", s()); },
      [&] { TFE_EnableCollectiveOps(ctx(), "", 0, s()); },
      [&] { TFE_AbortCollectiveOps(ctx(), s()); },
      [&] { TFE_CollectiveOpsCheckPeerHealth(ctx(), "t", 1, s()); },
      [&] { TFE_CreatePackedTensorHandle(ctx(), nullptr, nullptr, s()); },
  };
  for (const auto& call : calls) {
    TF_SetStatus(s(), TF_OK, "");
    call();
    EXPECT_EQ(code(), TF_UNIMPLEMENTED) << message();
  }
}

TEST_F(EagerTest, OptionsOfAContext) {
  Owned<TFE_ContextOptions> options(TFE_NewContextOptions());
  TFE_ContextOptionsSetConfig(options.get(), "rubbish", 7, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  headrace::pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 2;
  const std::string bytes = config.SerializeAsString();
  TFE_ContextOptionsSetConfig(options.get(), bytes.data(), bytes.size(), s());
  TFE_ContextOptionsSetAsync(options.get(), 1);
  TFE_ContextOptionsSetDevicePlacementPolicy(
      options.get(), TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32);
  const Context context(TFE_NewContext(options.get(), s()));
  ASSERT_EQ(code(), TF_OK) << message();
  const Owned<TF_DeviceList> devices(
      TFE_ContextListDevices(context.get(), s()));
  ASSERT_EQ(TF_DeviceListCount(devices.get()), 2);
  EXPECT_STREQ(TF_DeviceListName(devices.get(), 1, s()),
               "/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT_EQ(TFE_ContextGetDevicePlacementPolicy(context.get()),
            TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32);
  const Owned<TFE_Executor> executor(
      TFE_ContextGetExecutorForThread(context.get()));
  EXPECT_TRUE(TFE_ExecutorIsAsync(executor.get()));
  EXPECT_NE(TFE_GetContextId(context.get()), TFE_GetContextId(ctx()));

  (*config.mutable_device_count())["CPU"] = 0;
  const std::string wrong = config.SerializeAsString();
  TFE_ContextOptionsSetConfig(options.get(), wrong.data(), wrong.size(), s());
  EXPECT_EQ(TFE_NewContext(options.get(), s()), nullptr);
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  const Context plain(TFE_NewContext(nullptr, s()));
  EXPECT_NE(plain, nullptr) << message();
  Owned<TF_Buffer> space(TF_NewBuffer());
  TFE_HostAddressSpace(ctx(), space.get());
  EXPECT_EQ(std::string(static_cast<const char*>(space->data), space->length),
            "/job:localhost/replica:0/task:0");
}

// Two devices of one memory: values move only as the policy says.
TEST_F(EagerTest, DevicesAndPolicies) {
  headrace::pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 2;
  context_ = NewContext(config.SerializeAsString());
  const Handle here = Values<float>({1, 2}, {2});
  const auto on = [&](const char* device) {
    return [=, this](TFE_Op* op) {
      TFE_OpSetDevice(op, device, s());
      EXPECT_EQ(code(), TF_OK) << message();
    };
  };
  const Handle there = Get("Neg", {here.get()}, on("/cpu:1"));
  EXPECT_STREQ(TFE_TensorHandleDeviceName(there.get(), s()),
               "/job:localhost/replica:0/task:0/device:CPU:1");
  TFE_ContextSetThreadLocalDevicePlacementPolicy(ctx(),
                                                 TFE_DEVICE_PLACEMENT_EXPLICIT);
  Run("Neg", {there.get()}, on("/device:CPU:0"));
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("conflicting devices"), std::string::npos)
      << message();
  const Handle moved(
      TFE_TensorHandleCopyToDevice(there.get(), ctx(), "CPU:0", s()));
  EXPECT_EQ(Read<float>(Get("Neg", {moved.get()}, on("/cpu:0")).get()),
            (std::vector<float>{1, 2}));
  // The policy is the thread's.
  std::thread other([&] {
    Status own(TF_NewStatus());
    EXPECT_EQ(TFE_ContextGetDevicePlacementPolicy(ctx()),
              TFE_DEVICE_PLACEMENT_SILENT);
    Op op(TFE_NewOp(ctx(), "Neg", own.get()));
    TFE_OpAddInput(op.get(), there.get(), own.get());
    TFE_OpSetDevice(op.get(), "/cpu:0", own.get());
    TFE_TensorHandle* out = nullptr;
    int n = 1;
    TFE_Execute(op.get(), &out, &n, own.get());
    EXPECT_EQ(TF_GetCode(own.get()), TF_OK) << TF_Message(own.get());
    TFE_DeleteTensorHandle(out);
  });
  other.join();
  TFE_ContextSetThreadLocalDevicePlacementPolicy(
      ctx(), TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32);
  const Handle count = Get("Neg", {Scalar<int32_t>(1).get()}, on("/cpu:0"));
  EXPECT_EQ(ReadScalar<int32_t>(Get("Neg", {count.get()}, on("/cpu:1"))), 1);
  Run("Neg", {here.get()}, on("/cpu:1"));
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  // An op with a resource runs where that is.
  const Handle variable = Get("VarHandleOp", {}, [&](TFE_Op* op) {
    TFE_OpSetAttrType(op, "dtype", TF_INT32);
    TFE_OpSetAttrShape(op, "shape", nullptr, 0, s());
    TFE_OpSetDevice(op, "/cpu:1", s());
  });
  Run("AssignVariableOp", {variable.get(), count.get()});
  EXPECT_EQ(code(), TF_OK) << message();
  Op read = NewOp("ReadVariableOp", {variable.get()});
  TFE_OpSetAttrType(read.get(), "dtype", TF_INT32);
  const Handles value = Execute(read.get());
  ASSERT_EQ(value.size(), 1u) << message();
  EXPECT_STREQ(TFE_OpGetDevice(read.get(), s()),
               "/job:localhost/replica:0/task:0/device:CPU:1");
  // With soft placement a device that is not there is any device.
  TFE_ContextSetSoftDevicePlacement(ctx(), 1, s());
  EXPECT_EQ(ReadScalar<int32_t>(Get("Neg", {count.get()}, on("/gpu:0"))), 1);
}

TEST_F(EagerTest, MemoryOfTheClient) {
  alignas(8) float data[] = {1, 2, 3, 4};
  static std::atomic<int> deleted{0};
  deleted = 0;
  const auto free = [](void*, size_t, void*) { ++deleted; };
  const int64_t dims[] = {2, 2};
  Handle h(TFE_NewTensorHandleFromDeviceMemory(ctx(), "CPU:0", TF_FLOAT, dims,
                                               2, data, sizeof(data), free,
                                               nullptr, s()));
  ASSERT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(TFE_TensorHandleDevicePointer(h.get(), s()), data);
  EXPECT_EQ(TFE_TensorHandleDeviceMemorySize(h.get(), s()), sizeof(data));
  const Handle sum = Get("AddV2", {h.get(), h.get()});
  EXPECT_EQ(Read<float>(sum.get()), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(data[0], 1);
  EXPECT_EQ(deleted, 0);
  h.reset();
  EXPECT_EQ(deleted, 1);
  // The deallocator is called on errors, too.
  const struct {
    const char* device;
    TF_DataType type;
    size_t length;
    int num_dims;
  } wrong[] = {{"GPU:0", TF_FLOAT, 16, 2},
               {"CPU:0", TF_STRING, 16, 2},
               {"CPU:0", TF_FLOAT, 15, 2},
               {"CPU:0", TF_FLOAT, 16, -1}};
  for (const auto& c : wrong) {
    deleted = 0;
    EXPECT_EQ(TFE_NewTensorHandleFromDeviceMemory(ctx(), c.device, c.type, dims,
                                                  c.num_dims, data, c.length,
                                                  free, nullptr, s()),
              nullptr);
    EXPECT_EQ(code(), TF_INVALID_ARGUMENT) << message();
    EXPECT_EQ(deleted, 1);
  }
  const Tensor host(TFE_AllocateHostTensor(ctx(), TF_STRING, dims, 2, s()));
  EXPECT_EQ(TF_TensorElementCount(host.get()), 4);
  const Owned<TFE_TensorDebugInfo> info(
      TFE_TensorHandleTensorDebugInfo(sum.get(), s()));
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceNumDims(info.get()), 2);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceDim(info.get(), 1), 2);
  EXPECT_EQ(TFE_TensorDebugInfoOnDeviceDim(info.get(), 2), -1);
}

TEST_F(EagerTest, OpsAndValuesOutliveTheirContext) {
  const Handle a = Scalar<int32_t>(5);
  Op op = NewOp("Neg", {a.get()});
  const Handle b = std::move(Execute(op.get())[0]);
  EXPECT_EQ(TFE_OpGetContext(op.get(), s()), ctx());
  context_.reset();
  EXPECT_EQ(ReadScalar<int32_t>(Execute(op.get())[0]), -5);
  op.reset();
  EXPECT_EQ(ReadScalar<int32_t>(b), -5);
  const Handle c(TFE_TensorHandleCopySharingTensor(b.get(), s()));
  EXPECT_EQ(ReadScalar<int32_t>(c), -5);
}

TEST_F(EagerTest, ManyThreadsUseOneContext) {
  const Handle one = Values<float>({1, 1, 1, 1}, {2, 2});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Status own(TF_NewStatus());
      for (int k = 0; k < 200; ++k) {
        Op op(
            TFE_NewOp(ctx(), (k + t) % 2 == 0 ? "MatMul" : "AddV2", own.get()));
        TFE_OpAddInput(op.get(), one.get(), own.get());
        TFE_OpAddInput(op.get(), one.get(), own.get());
        TFE_TensorHandle* out = nullptr;
        int n = 1;
        TFE_Execute(op.get(), &out, &n, own.get());
        const Handle h(out);
        if (TF_GetCode(own.get()) != TF_OK ||
            Read<float>(h.get()) != std::vector<float>(4, 2)) {
          ++wrong;
        }
        if (k % 50 == 0) TFE_ContextClearCaches(ctx());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(EagerTest, RunMetadataNamesWhatRan) {
  const Handle m = Values<float>({1, 2, 3, 4}, {2, 2});
  Get("MatMul", {m.get(), m.get()});
  TFE_ContextEnableRunMetadata(ctx());
  Get("MatMul", {m.get(), m.get()});
  Get("Neg", {m.get()});
  TFE_ContextDisableRunMetadata(ctx());
  Get("Exp", {m.get()});
  TFE_ContextClearCaches(ctx());
  const auto nodes = [&] {
    Owned<TF_Buffer> buffer(TF_NewBuffer());
    TFE_ContextExportRunMetadata(ctx(), buffer.get(), s());
    EXPECT_EQ(code(), TF_OK) << message();
    headrace::pb::RunMetadata metadata;
    EXPECT_TRUE(metadata.ParseFromArray(buffer->data, buffer->length));
    std::vector<std::string> names;
    for (const auto& d : metadata.step_stats().dev_stats()) {
      for (const auto& n : d.node_stats()) names.push_back(n.node_name());
    }
    return names;
  };
  EXPECT_EQ(nodes(), (std::vector<std::string>{"MatMul", "Neg"}));
  EXPECT_TRUE(nodes().empty());
}

TEST_F(EagerTest, RandomOpsGoOnUntilTheCachesAreCleared) {
  const Handle shape = Values<int32_t>({2}, {1});
  const auto draw = [&] {
    return Read<float>(Get("RandomUniform", {shape.get()}, [](TFE_Op* op) {
                         TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
                         TFE_OpSetAttrInt(op, "seed", 3);
                         TFE_OpSetAttrInt(op, "seed2", 4);
                       }).get());
  };
  const std::vector<float> first = draw(), second = draw();
  EXPECT_NE(first, second);
  TFE_ContextClearCaches(ctx());
  EXPECT_EQ(draw(), first);
}

TEST_F(EagerTest, ExecutorsAreAcceptedAndRunAtOnce) {
  const Owned<TFE_Executor> async(TFE_NewExecutor(true, false, 0));
  EXPECT_TRUE(TFE_ExecutorIsAsync(async.get()));
  TFE_ContextSetExecutorForThread(ctx(), async.get());
  const Handle a = Scalar<int32_t>(1);
  EXPECT_EQ(ReadScalar<int32_t>(Get("Neg", {a.get()})), -1);
  TFE_ExecutorWaitForAllPendingNodes(async.get(), s());
  EXPECT_EQ(code(), TF_OK);
  TFE_ContextAsyncWait(ctx(), s());
  EXPECT_EQ(code(), TF_OK);
  const Owned<TFE_Executor> again(TFE_ContextGetExecutorForThread(ctx()));
  EXPECT_TRUE(TFE_ExecutorIsAsync(again.get()));
  TFE_ContextSetAsyncForThread(ctx(), 0, s());
  const Owned<TFE_Executor> sync(TFE_ContextGetExecutorForThread(ctx()));
  EXPECT_FALSE(TFE_ExecutorIsAsync(sync.get()));
}

}  // namespace
}  // namespace eager_test
