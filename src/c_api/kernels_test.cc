// kernels.h and ops.h: ops, shape functions and kernels that clients define.
#include "tensorflow/c/kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "c_api/c_api_test_util.h"
#include "tensorflow/c/ops.h"

namespace c_api_test {
namespace {

using ComputeFn = void (*)(void*, TF_OpKernelContext*);
using ComputeAsyncFn = void (*)(void*, TF_OpKernelContext*,
                                TF_AsyncOpKernelDoneCallback*);
using CreateFn = void* (*)(TF_OpKernelConstruction*);
using ShapeFn = void (*)(TF_ShapeInferenceContext*, TF_Status*);

struct OpSpecs {
  std::vector<const char*> attrs, inputs, outputs;
};

std::string Text(TF_StringView v) { return std::string(v.data, v.len); }

class KernelsTest : public CApiTest {
 protected:
  void RegisterOp(const char* name, const OpSpecs& specs,
                  ShapeFn shape = nullptr) {
    TF_OpDefinitionBuilder* const b = TF_NewOpDefinitionBuilder(name);
    for (const char* a : specs.attrs) TF_OpDefinitionBuilderAddAttr(b, a);
    for (const char* i : specs.inputs) TF_OpDefinitionBuilderAddInput(b, i);
    for (const char* o : specs.outputs) TF_OpDefinitionBuilderAddOutput(b, o);
    if (shape != nullptr) {
      TF_OpDefinitionBuilderSetShapeInferenceFunction(b, shape);
    }
    TF_OpDefinitionBuilderSetIsStateful(b, true);  // runs as often as asked
    TF_RegisterOpDefinition(b, s());
    ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  }
  void RegisterKernel(const char* op, CreateFn create, ComputeFn compute,
                      void (*destroy)(void*) = nullptr) {
    TF_RegisterKernelBuilder(
        op, TF_NewKernelBuilder(op, "CPU", create, compute, destroy), s());
    ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  }
  TF_Operation* Node(const char* op, std::vector<TF_Operation*> inputs) {
    TF_OperationDescription* const d = TF_NewOperation(g(), op, op);
    for (TF_Operation* i : inputs) TF_AddInput(d, {i, 0});
    return Finish(d);
  }
  // The op's result on an int32 scalar, or an error.
  int32_t RunOn(int32_t x, TF_Operation* in, TF_Operation* out) {
    TF_Session* const session = NewSession();
    const Tensor result = Run(session, in, Scalar(x).get(), out);
    TF_Status* const ignored = TF_NewStatus();
    TF_DeleteSession(session, ignored);
    TF_DeleteStatus(ignored);
    return result == nullptr ? -1 : Value(result.get());
  }
};

// Adds 1 to an int32 scalar, if everything that it looks at is as it should be.
void AddOne(void*, TF_OpKernelContext* ctx) {
  TF_Status* const s = TF_NewStatus();
  TF_Tensor* x = nullptr;
  TF_GetInput(ctx, 0, &x, s);
  TF_Tensor* const y =
      TF_AllocateOutput(ctx, 0, TF_INT32, nullptr, 0, sizeof(int32_t), s);
  if (TF_GetCode(s) == TF_OK) {
    *static_cast<int32_t*>(TF_TensorData(y)) =
        *static_cast<int32_t*>(TF_TensorData(x)) + 1;
  } else {
    TF_OpKernelContext_Failure(ctx, s);
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(s);
}

TEST_F(KernelsTest, AKernelRunsAndItsStateIsDeletedOnce) {
  static std::atomic<int> made, deleted;
  RegisterOp("TestCAddOne", {{}, {"x: int32"}, {"y: int32"}});
  RegisterKernel(
      "TestCAddOne",
      [](TF_OpKernelConstruction*) -> void* {
        ++made;
        return &made;
      },
      [](void* state, TF_OpKernelContext* ctx) {
        if (state == &made) AddOne(state, ctx);
      },
      [](void* state) {
        EXPECT_EQ(state, &made);
        ++deleted;
      });
  TF_Operation* const x = Placeholder("x");
  EXPECT_EQ(RunOn(41, x, Node("TestCAddOne", {x})), 42) << message();
  EXPECT_EQ(made, 1);
  // The thread of the run may still hold what it ran.
  for (int i = 0; i < 1000 && deleted == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(deleted, 1);
}

// Written by kernels of the tests below, which run one at a time.
std::string* seen = nullptr;
void See(const std::string& what) { *seen += what + ";"; }
void SeeCode(const char* what, TF_Status* s) {
  See(std::string(what) + "=" + std::to_string(TF_GetCode(s)));
}

TEST_F(KernelsTest, AttrsOfEveryKind) {
  RegisterOp("TestCAttrs",
             {{"s: string = 'text'", "i: int = 7", "big: int = 5000000000",
               "f: float = 0.5", "b: bool = true", "t: type = DT_INT64",
               "shape: shape = {dim {size: 2} dim {size: 3}}",
               "sl: list(string) = ['ab', 'c']", "il: list(int) = [1, 2, 3]",
               "fl: list(float) = [0.5, 1.5]", "bl: list(bool) = [true, false]",
               "tl: list(type) = [DT_INT32, DT_FLOAT]", "el: list(int) = []",
               "tensor: tensor"},
              {"x: int32"},
              {"y: int32"}});
  std::string log;
  seen = &log;
  RegisterKernel(
      "TestCAttrs",
      [](TF_OpKernelConstruction* c) -> void* {
        TF_Status* const s = TF_NewStatus();
        char text[8] = "";
        int32_t i32[4] = {}, size = 0, total = 0;
        int64_t i64[4] = {};
        float f[3] = {};
        TF_Bool b[3] = {};
        TF_DataType t[3] = {};
        char* strings[3] = {};
        size_t lengths[3] = {};
        char storage[8] = {};
        TF_Tensor* tensor = nullptr;
        See(Text(TF_OpKernelConstruction_GetName(c)));
        TF_OpKernelConstruction_GetAttrString(c, "s", text, 8, s);
        See(text);
        TF_OpKernelConstruction_GetAttrInt32(c, "i", i32, s);
        See(std::to_string(i32[0]));
        TF_OpKernelConstruction_GetAttrInt32(c, "big", i32, s);
        SeeCode("big", s);
        TF_OpKernelConstruction_GetAttrInt64(c, "big", i64, s);
        See(std::to_string(i64[0]));
        TF_OpKernelConstruction_GetAttrFloat(c, "f", f, s);
        TF_OpKernelConstruction_GetAttrBool(c, "b", b, s);
        TF_OpKernelConstruction_GetAttrType(c, "t", t, s);
        See(std::to_string(f[0]) + std::to_string(b[0]) + std::to_string(t[0]));
        TF_OpKernelConstruction_GetAttrStringList(c, "sl", strings, lengths, 3,
                                                  storage, 8, s);
        See(std::string(strings[0], lengths[0]) +
            std::string(strings[1], lengths[1]));
        TF_OpKernelConstruction_GetAttrStringList(c, "sl", strings, lengths, 3,
                                                  storage, 2, s);
        SeeCode("storage", s);
        TF_OpKernelConstruction_GetAttrInt32List(c, "il", i32, 2, s);
        TF_OpKernelConstruction_GetAttrInt64List(c, "il", i64, 4, s);
        TF_OpKernelConstruction_GetAttrFloatList(c, "fl", f, 3, s);
        TF_OpKernelConstruction_GetAttrBoolList(c, "bl", b, 3, s);
        TF_OpKernelConstruction_GetAttrTypeList(c, "tl", t, 3, s);
        See(std::to_string(i32[1]) + std::to_string(i32[2]) +
            std::to_string(i64[2]) + std::to_string(f[1]) +
            std::to_string(b[1]) + std::to_string(t[1]));
        for (const char* name : {"s", "sl", "il", "shape", "f", "el"}) {
          TF_OpKernelConstruction_GetAttrSize(c, name, &size, &total, s);
          See(std::string(name) + std::to_string(size) + "," +
              std::to_string(total));
        }
        TF_OpKernelConstruction_GetAttrTensor(c, "tensor", &tensor, s);
        See(std::to_string(Value(tensor)));
        TF_DeleteTensor(tensor);
        See(std::to_string(TF_OpKernelConstruction_HasAttr(c, "s", s)) +
            std::to_string(TF_OpKernelConstruction_HasAttr(c, "none", s)));
        TF_OpKernelConstruction_GetAttrFloat(c, "none", f, s);
        SeeCode("none", s);
        TF_OpKernelConstruction_GetAttrFloat(c, "i", f, s);
        SeeCode("type", s);
        TF_OpKernelConstruction_GetAttrFloat(c, "f", nullptr, s);
        SeeCode("null", s);
        TF_OpKernelConstruction_GetAttrFloatList(c, "fl", f, -1, s);
        SeeCode("count", s);
        const Buffer def(TF_OpKernelConstruction_GetNodeDef(c, s));
        See(std::to_string(Bytes(def.get()).find("TestCAttrs") !=
                           std::string::npos));
        TF_DeleteStatus(s);
        return nullptr;
      },
      &AddOne);
  TF_Operation* const x = Placeholder("x");
  TF_OperationDescription* const d = TF_NewOperation(g(), "TestCAttrs", "node");
  TF_AddInput(d, {x, 0});
  TF_SetAttrTensor(d, "tensor", Scalar(11).get(), s());
  EXPECT_EQ(RunOn(1, x, Finish(d)), 2) << message();
  EXPECT_EQ(
      log,
      "node;text;7;big=3;5000000000;0.50000019;abc;storage=3;2031.50000001"
      ";s-1,4;sl2,3;il3,-1;shape-1,2;f-1,-1;el0,-1;11;10;none=5;type=3;"
      "null=3;count=3;1;");
}

TEST_F(KernelsTest, TheContextAndWhatItRefuses) {
  RegisterOp("TestCContext",
             {{"N: int >= 1"}, {"x: int32", "more: N * int32"}, {"y: int32"}});
  std::string log;
  seen = &log;
  RegisterKernel("TestCContext", nullptr, [](void*, TF_OpKernelContext* c) {
    TF_Status* const s = TF_NewStatus();
    TF_Tensor* t = nullptr;
    See(std::to_string(TF_NumInputs(c)) + std::to_string(TF_NumOutputs(c)) +
        std::to_string(TF_InputDatatype(c, 0)) +
        std::to_string(TF_InputDatatype(c, 9)) +
        std::to_string(TF_ExpectedOutputDataType(c, 0)) +
        std::to_string(TF_ExpectedOutputDataType(c, -1)));
    TF_InputRange_Args range = {TF_InputRange_Args_STRUCT_SIZE, nullptr, 0, 0,
                                s};
    TF_InputRange(c, "more", &range);
    See(std::to_string(range.start) + "-" + std::to_string(range.stop));
    TF_InputRange(c, "none", &range);
    SeeCode("range", s);
    See(Text(TF_GetOpKernelName(c)) + Text(TF_GetDeviceName(c)) +
        Text(TF_GetResourceMgrDefaultContainerName(c)));
    See(std::to_string(TF_GetDeviceId(c)) + std::to_string(TF_GetFrameId(c)) +
        std::to_string(TF_GetIterId(c)) +
        std::to_string(TF_StepId(c) == TF_GetStepId(c)) +
        std::to_string(TF_IsHostMemoryInput(c, 0, s)) +
        std::to_string(TF_IsHostMemoryOutput(c, 0, s)));
    TF_GetInput(c, 3, &t, s);
    SeeCode("input", s);
    TF_GetInput(c, 0, nullptr, s);
    SeeCode("null", s);
    const int64_t negative = -2, many[] = {1, 2};
    See(std::to_string(TF_AllocateOutput(c, 1, TF_INT32, nullptr, 0, 4, s) ==
                       nullptr));
    SeeCode("output", s);
    TF_AllocateOutput(c, 0, TF_FLOAT, nullptr, 0, 4, s);
    SeeCode("type", s);
    TF_AllocateOutput(c, 0, TF_INT32, &negative, 1, 4, s);
    SeeCode("dims", s);
    TF_AllocateOutput(c, 0, TF_INT32, nullptr, 2, 4, s);
    SeeCode("nulldims", s);
    const int candidate = 17;
    TF_ForwardInputOrAllocateOutput(c, &candidate, 1, 0, nullptr, 0, nullptr,
                                    s);
    SeeCode("candidate", s);
    See(std::to_string(TF_GetMutableOutput(c, 0, s) == nullptr));
    Tensor wrong(TF_AllocateTensor(TF_FLOAT, nullptr, 0, 4));
    TF_SetOutput(c, 0, wrong.get(), s);
    SeeCode("set", s);
    TF_SetOutput(c, 0, nullptr, s);
    SeeCode("setnull", s);
    TF_AllocatorAttributes attributes = {1, 1};
    TF_AllocateTemp(c, TF_INT32, many, 2, &attributes, s);
    SeeCode("temp", s);
    attributes.struct_size = TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE;
    const Tensor temp(TF_AllocateTemp(c, TF_INT32, many, 2, &attributes, s));
    See(std::to_string(TF_TensorElementCount(temp.get())));
    const Buffer buffer(TF_NewBuffer());
    TF_GetSerializedConfigProto(c, buffer.get(), s);
    SeeCode("config", s);
    TF_GetSerializedFunctionDefLibrary(c, buffer.get(), s);
    SeeCode("functions", s);
    TF_GetSerializedResourceHandleProto(c, 0, buffer.get(), s);
    SeeCode("resource", s);
    TF_GetStream(c, s);
    SeeCode("stream", s);
    TF_DecNumDeferredOps(c);  // without one: nothing
    const Tensor result = Scalar(5);
    TF_SetOutput(c, 0, result.get(), s);
    SeeCode("ok", s);
    const Tensor same(TF_GetMutableOutput(c, 0, s));
    ++*static_cast<int32_t*>(TF_TensorData(same.get()));
    TF_DeleteStatus(s);
  });
  TF_Operation* const x = Placeholder("x");
  TF_OperationDescription* const d =
      TF_NewOperation(g(), "TestCContext", "node");
  TF_AddInput(d, {x, 0});
  const TF_Output more[] = {{x, 0}, {x, 0}};
  TF_AddInputList(d, more, 2);
  EXPECT_EQ(RunOn(1, x, Finish(d)), 6) << message();
  EXPECT_EQ(log,
            "313030;1-3;range=3;node/job:localhost/replica:0/task:0/device:CPU:"
            "0localhost;000111;input=11;null=3;1;output=11;type=3;dims=3;"
            "nulldims=3;candidate=11;1;set=3;setnull=3;temp=3;2;config=12;"
            "functions=12;resource=3;stream=12;ok=0;");
}

TEST_F(KernelsTest, FailuresNameTheNode) {
  RegisterOp("TestCFails", {{}, {"x: int32"}, {"y: int32"}});
  RegisterKernel("TestCFails", nullptr, [](void*, TF_OpKernelContext* ctx) {
    TF_Status* const s = TF_NewStatus();
    TF_SetStatus(s, TF_DATA_LOSS, "it fails");
    TF_OpKernelContext_Failure(ctx, s);
    TF_OpKernelContext_Failure(ctx, nullptr);
    TF_DeleteStatus(s);
  });
  RegisterOp("TestCUnset", {{}, {"x: int32"}, {"y: int32"}});
  RegisterKernel("TestCUnset", nullptr, [](void*, TF_OpKernelContext*) {});
  RegisterOp("TestCUnmade", {{}, {"x: int32"}, {"y: int32"}});
  RegisterKernel(
      "TestCUnmade",
      [](TF_OpKernelConstruction* ctx) -> void* {
        TF_Status* const s = TF_NewStatus();
        TF_SetStatus(s, TF_OUT_OF_RANGE, "it is not made");
        TF_OpKernelConstruction_Failure(ctx, s);
        TF_DeleteStatus(s);
        return nullptr;
      },
      &AddOne);
  const struct {
    const char* op;
    TF_Code code;
    const char* words;
  } kCases[] = {{"TestCFails", TF_DATA_LOSS, "it fails"},
                {"TestCUnset", TF_INTERNAL, "Missing 0-th output"},
                {"TestCUnmade", TF_OUT_OF_RANGE, "it is not made"}};
  TF_Operation* const x = Placeholder("x");
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.op);
    EXPECT_EQ(RunOn(1, x, Node(c.op, {x})), -1);
    EXPECT_EQ(TF_GetCode(s()), c.code) << message();
    EXPECT_NE(message().find(c.words), message().npos) << message();
    EXPECT_NE(message().find(c.op), message().npos) << message();
  }
}

TEST_F(KernelsTest, AnAsynchronousKernelMayCallBackLaterAndTwice) {
  RegisterOp("TestCAsync", {{}, {"x: int32"}, {"y: int32"}});
  const ComputeAsyncFn compute = [](void* state, TF_OpKernelContext* ctx,
                                    TF_AsyncOpKernelDoneCallback* done) {
    std::thread([=] {
      AddOne(state, ctx);
      TF_RunAsyncOpKernelDoneCallback(done);
      TF_RunAsyncOpKernelDoneCallback(done);
    }).detach();
  };
  TF_RegisterKernelBuilder(
      "async",
      TF_NewAsyncKernelBuilder("TestCAsync", "CPU", nullptr, compute, nullptr),
      s());
  TF_Operation* const x = Placeholder("x");
  TF_Operation* const y = Node("TestCAsync", {x});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(RunOn(i, x, y), i + 1) << message();
  TF_RunAsyncOpKernelDoneCallback(nullptr);
}

TEST_F(KernelsTest, AStepWaitsForDeferredWork) {
  static std::atomic<bool> ended;
  ended = false;
  RegisterOp("TestCDeferred", {{}, {"x: int32"}, {"y: int32"}});
  RegisterKernel("TestCDeferred", nullptr,
                 [](void* state, TF_OpKernelContext* ctx) {
                   AddOne(state, ctx);
                   TF_IncNumDeferredOps(ctx);
                   std::thread([ctx] {
                     std::this_thread::sleep_for(std::chrono::milliseconds(20));
                     ended = true;
                     TF_DecNumDeferredOps(ctx);
                   }).detach();
                 });
  TF_Operation* const x = Placeholder("x");
  EXPECT_EQ(RunOn(1, x, Node("TestCDeferred", {x})), 2) << message();
  EXPECT_TRUE(ended);
}

void Constant(TF_OpKernelContext* ctx, int32_t v) {
  TF_Status* const s = TF_NewStatus();
  TF_SetOutput(ctx, 0, Scalar(v).get(), s);
  TF_DeleteStatus(s);
}

TEST_F(KernelsTest, PriorityLabelAndDefinitionChooseTheKernel) {
  RegisterOp("TestCChoice", {{"T: {int32, float}"}, {"x: T"}, {"y: int32"}});
  const auto add = [&](ComputeFn compute, const char* label, int priority,
                       TF_DataType type) {
    TF_KernelBuilder* const b =
        TF_NewKernelBuilder("TestCChoice", "CPU", nullptr, compute, nullptr);
    TF_KernelBuilder_TypeConstraint(b, "T", type, s());
    if (label != nullptr) TF_KernelBuilder_Label(b, label);
    TF_KernelBuilder_Priority(b, priority);
    TF_KernelBuilder_HostMemory(b, "x");
    TF_RegisterKernelBuilder("choice", b, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  };
  add([](void*, TF_OpKernelContext* c) { Constant(c, 1); }, nullptr, 1,
      TF_INT32);
  add([](void*, TF_OpKernelContext* c) { Constant(c, 2); }, nullptr, 2,
      TF_INT32);
  add([](void*, TF_OpKernelContext* c) { Constant(c, 3); }, "special", 9,
      TF_INT32);
  // KernelDef{label: "defined", constraint: {T: int32}}.
  TF_RegisterKernelBuilderWithKernelDef(
      "\x1a\x0a\x0a\x01T\x12\x05\x0a\x03\x32\x01\x03\x2a\x07"
      "defined",
      "defined",
      TF_NewKernelBuilder(
          "TestCChoice", "CPU", nullptr,
          [](void*, TF_OpKernelContext* c) { Constant(c, 4); }, nullptr),
      s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  const struct {
    const char* label;
    int32_t value;
  } kCases[] = {{"", 2}, {"special", 3}, {"defined", 4}, {"other", -1}};
  TF_Operation* const x = Placeholder("x");
  for (const auto& c : kCases) {
    const std::string name = std::string("node") + c.label;
    TF_OperationDescription* const d =
        TF_NewOperation(g(), "TestCChoice", name.c_str());
    TF_AddInput(d, {x, 0});
    if (*c.label != '\0') {
      TF_SetAttrString(d, "_kernel", c.label, strlen(c.label));
    }
    EXPECT_EQ(RunOn(1, x, Finish(d)), c.value) << name << ": " << message();
  }
  const Buffer kernels(TF_GetRegisteredKernelsForOp("TestCChoice", s()));
  EXPECT_GT(kernels->length, 0u);
}

TEST_F(KernelsTest, WhatRegistrationRefuses) {
  const struct {
    const char* name;
    OpSpecs specs;
    TF_Code code;
    const char* words;
  } kOps[] = {
      {nullptr, {}, TF_INVALID_ARGUMENT, "CamelCase"},
      {"lower", {}, TF_INVALID_ARGUMENT, "lower"},
      {"TestCBad", {{"T: nonsense"}, {}, {}}, TF_INVALID_ARGUMENT, "nonsense"},
      {"TestCBad", {{}, {"x"}, {}}, TF_INVALID_ARGUMENT, "\"x\""},
      {"TestCBad", {{}, {"x: T"}, {}}, TF_INVALID_ARGUMENT, "T"},
      {"TestCBad",
       {{}, {"x: int32"}, {"x: int32"}},
       TF_INVALID_ARGUMENT,
       "twice"},
      {"TestCBad",
       {{"a: int", "a: int"}, {}, {}},
       TF_INVALID_ARGUMENT,
       "twice"},
      {"MatMul", {}, TF_ALREADY_EXISTS, "MatMul"},
  };
  for (const auto& c : kOps) {
    TF_OpDefinitionBuilder* const b = TF_NewOpDefinitionBuilder(c.name);
    for (const char* a : c.specs.attrs) TF_OpDefinitionBuilderAddAttr(b, a);
    for (const char* i : c.specs.inputs) TF_OpDefinitionBuilderAddInput(b, i);
    for (const char* o : c.specs.outputs) TF_OpDefinitionBuilderAddOutput(b, o);
    TF_RegisterOpDefinition(b, s());
    EXPECT_EQ(TF_GetCode(s()), c.code) << message();
    EXPECT_NE(message().find(c.words), message().npos) << message();
  }
  const auto compute = [](void*, TF_OpKernelContext*) {};
  const struct {
    const char* op;
    const char* device;
    ComputeFn compute;
  } kKernels[] = {{nullptr, "CPU", compute},
                  {"MatMul", nullptr, compute},
                  {"MatMul", "CPU", nullptr}};
  for (const auto& c : kKernels) {
    TF_RegisterKernelBuilder(
        "bad", TF_NewKernelBuilder(c.op, c.device, nullptr, c.compute, nullptr),
        s());
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  }
  for (const char* def : {"\xff\xff",
                          "\x0a\x03"
                          "Abs",
                          "\x1a\x03\x0a\x01T"}) {
    TF_RegisterKernelBuilderWithKernelDef(
        def, "bad",
        TF_NewKernelBuilder("MatMul", "CPU", nullptr, compute, nullptr), s());
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  }
  TF_KernelBuilder* const b =
      TF_NewKernelBuilder("MatMul", "CPU", nullptr, compute, nullptr);
  TF_KernelBuilder_TypeConstraint(b, "T", static_cast<TF_DataType>(999), s());
  EXPECT_EQ(TF_GetCode(s()), TF_UNIMPLEMENTED) << message();
  TF_KernelBuilder_TypeConstraint(b, nullptr, TF_FLOAT, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  TF_DeleteKernelBuilder(b);
}

TEST_F(KernelsTest, ShapeFunctions) {
  // Output 0: the first dimension of input 0, then input 1. Output 1: 7.
  RegisterOp(
      "TestCShape",
      {{"T: type = DT_INT32"},
       {"a: int32", "b: int32"},
       {"y: int32", "v: int32"}},
      [](TF_ShapeInferenceContext* ctx, TF_Status* s) {
        TF_ShapeHandle *a = TF_NewShapeHandle(), *b = TF_NewShapeHandle();
        TF_DimensionHandle* d = TF_NewDimensionHandle();
        TF_DataType type;
        See(std::to_string(TF_ShapeInferenceContextNumInputs(ctx)));
        TF_ShapeInferenceContext_GetAttrType(ctx, "T", &type, s);
        See(std::to_string(type));
        TF_ShapeInferenceContext_GetAttrType(ctx, "none", &type, s);
        SeeCode("attr", s);
        TF_ShapeInferenceContextGetInput(ctx, 2, a, s);
        SeeCode("input", s);
        TF_ShapeInferenceContextSetOutput(ctx, -1, a, s);
        SeeCode("output", s);
        TF_ShapeInferenceContextGetInput(ctx, 0, a, s);
        TF_ShapeInferenceContextGetInput(ctx, 1, b, s);
        See(std::to_string(TF_ShapeInferenceContextRankKnown(ctx, a)) +
            std::to_string(TF_ShapeInferenceContextRank(ctx, a)));
        TF_ShapeInferenceContextDim(ctx, a, -1, d);
        See(std::to_string(TF_DimensionHandleValueKnown(d)) +
            std::to_string(TF_DimensionHandleValue(d)));
        TF_ShapeInferenceContextWithRankAtLeast(ctx, b, 9, b, s);
        SeeCode("atleast", s);
        TF_ShapeInferenceContextWithRankAtMost(ctx, b, 0, b, s);
        SeeCode("atmost", s);
        TF_ShapeInferenceContextWithRank(ctx, b, -4, b, s);
        SeeCode("negative", s);
        TF_ShapeInferenceContextSubshape(ctx, a, 9, 1, b, s);
        SeeCode("subshape", s);
        TF_ShapeInferenceContextSetUnknownShape(ctx, s);
        TF_ShapeHandle* const v =
            TF_ShapeInferenceContextVectorFromSize(ctx, 7);
        TF_ShapeHandle* const scalar = TF_ShapeInferenceContextScalar(ctx);
        See(std::to_string(TF_ShapeInferenceContextRank(ctx, scalar)));
        TF_ShapeInferenceContextSetOutput(ctx, 1, v, s);
        TF_DeleteShapeHandle(v);
        TF_DeleteShapeHandle(scalar);
        TF_ShapeInferenceContextWithRank(ctx, a, 2, a, s);
        if (TF_GetCode(s) == TF_OK) {
          TF_ShapeInferenceContextSubshape(ctx, a, 0, 1, a, s);
        }
        if (TF_GetCode(s) == TF_OK) {
          TF_ShapeInferenceContextConcatenateShapes(ctx, a, b, a, s);
          TF_ShapeInferenceContextSetOutput(ctx, 0, a, s);
        }
        TF_DeleteShapeHandle(a);
        TF_DeleteShapeHandle(b);
        TF_DeleteDimensionHandle(d);
      });
  std::string log;
  seen = &log;
  TF_Operation *const a = Placeholder("a"), *const b = Placeholder("b");
  const int64_t two[] = {4, -1}, one[] = {5};
  TF_GraphSetTensorShape(g(), {a, 0}, two, 2, s());
  TF_GraphSetTensorShape(g(), {b, 0}, one, 1, s());
  TF_Operation* const y = Node("TestCShape", {a, b});
  EXPECT_EQ(log,
            "2;3;attr=3;input=3;output=3;12;0-1;atleast=3;atmost=3;negative=3;"
            "subshape=3;0;");
  int64_t dims[2] = {};
  TF_GraphGetTensorShape(g(), {y, 0}, dims, 2, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(dims[0], 4);
  EXPECT_EQ(dims[1], 5);
  TF_GraphGetTensorShape(g(), {y, 1}, dims, 1, s());
  EXPECT_EQ(dims[0], 7);
  // The function's error is the node's.
  TF_OperationDescription* const d = TF_NewOperation(g(), "TestCShape", "bad");
  TF_AddInput(d, {b, 0});
  TF_AddInput(d, {b, 0});
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("Shape must be rank 2 but is rank 1"),
            message().npos)
      << message();
}

}  // namespace
}  // namespace c_api_test
