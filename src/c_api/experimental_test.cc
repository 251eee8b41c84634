// c_api_experimental.h, changes of graphs, documentation of ops.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "base/env.h"
#include "c_api/c_api_test_util.h"
#include "headrace/api_def.pb.h"
#include "headrace/config.pb.h"
#include "headrace/cpp_shape_inference.pb.h"
#include "headrace/graph.pb.h"
#include "io/tensor_bundle.h"
#include "tensorflow/c/c_api_experimental.h"

namespace c_api_test {
namespace {

namespace pb = headrace::pb;

class ExperimentalTest : public CApiTest {
 protected:
  TF_Code code() { return TF_GetCode(s()); }
  // Sets an attr of an existing node.
  TF_Code SetAttr(TF_Operation* op, const char* name, const pb::AttrValue& v) {
    const std::string bytes = v.SerializeAsString();
    const Buffer buffer(TF_NewBufferFromString(bytes.data(), bytes.size()));
    TF_SetAttr(g(), op, name, buffer.get(), s());
    return code();
  }
};

TEST_F(ExperimentalTest, NodesAreChanged) {
  TF_Operation *const a = Const("a", 1), *const b = Const("b", 2);
  TF_AddOperationControlInput(g(), a, b);
  TF_AddOperationControlInput(g(), a, b);
  EXPECT_EQ(TF_OperationNumControlInputs(a), 1);
  TF_RemoveAllControlInputs(g(), a);
  EXPECT_EQ(TF_OperationNumControlInputs(a), 0);
  TF_SetRequestedDevice(g(), a, "/cpu:0");
  EXPECT_STREQ(TF_OperationDevice(a), "/cpu:0");

  pb::AttrValue v;
  v.set_i(3);
  EXPECT_EQ(SetAttr(a, "_mine", v), TF_OK) << message();
  int64_t got = 0;
  TF_OperationGetAttrInt(a, "_mine", &got, s());
  EXPECT_EQ(got, 3);
  TF_ClearAttr(g(), a, "_mine", s());
  EXPECT_EQ(code(), TF_OK) << message();
  TF_OperationGetAttrInt(a, "_mine", &got, s());
  EXPECT_EQ(code(), TF_NOT_FOUND);
  TF_ClearAttr(g(), a, "_mine", s());  // is not there
  EXPECT_EQ(code(), TF_OK) << message();

  // What edges depend on stays.
  EXPECT_EQ(SetAttr(a, "dtype", v), TF_INVALID_ARGUMENT);
  v.set_type(pb::DT_FLOAT);
  EXPECT_EQ(SetAttr(a, "dtype", v), TF_INVALID_ARGUMENT);
  v.set_type(pb::DT_INT32);
  EXPECT_EQ(SetAttr(a, "dtype", v), TF_OK) << message();
  TF_ClearAttr(g(), a, "dtype", s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TF_AddWhileInputHack(g(), {a, 0}, b, s());
  EXPECT_EQ(code(), TF_INTERNAL);
  TF_SetRequireShapeInferenceFns(g(), true);
  TF_SetFullType(g(), a, nullptr);
  TF_Session* const session = NewSession();
  TF_ExtendSession(session, s());
  EXPECT_EQ(code(), TF_OK);
  EXPECT_EQ(Value(Run(session, nullptr, nullptr, a).get()), 1) << message();
  TF_DeleteSession(session, s());
}

TEST_F(ExperimentalTest, HandlesOfResources) {
  TF_Operation* const x = Placeholder("x", TF_RESOURCE);
  const auto get = [&] {
    pb::CppShapeInferenceResult::HandleData data;
    const Buffer buffer(TF_GetHandleShapeAndType(g(), {x, 0}));
    if (buffer != nullptr) {
      EXPECT_TRUE(data.ParseFromString(Bytes(buffer.get())));
    }
    return data;
  };
  EXPECT_EQ(TF_GetHandleShapeAndType(g(), {x, 0}), nullptr);
  pb::CppShapeInferenceResult::HandleData data;
  data.set_is_set(true);
  data.add_shape_and_type()->set_dtype(pb::DT_FLOAT);
  data.mutable_shape_and_type(0)->mutable_shape()->add_dim()->set_size(3);
  const std::string bytes = data.SerializeAsString();
  TF_SetHandleShapeAndType(g(), {x, 0}, bytes.data(), bytes.size(), s());
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(get().SerializeAsString(), bytes);
  // A reader of the variable knows its shape.
  TF_OperationDescription* const d =
      TF_NewOperation(g(), "ReadVariableOp", "read");
  TF_AddInput(d, {x, 0});
  TF_SetAttrType(d, "dtype", TF_FLOAT);
  TF_Operation* const read = Finish(d);
  int64_t dim = 0;
  TF_GraphGetTensorShape(g(), {read, 0}, &dim, 1, s());
  EXPECT_EQ(dim, 3) << message();

  TF_SetHandleShapeAndType(g(), {x, 1}, bytes.data(), bytes.size(), s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TF_SetHandleShapeAndType(g(), {x, 0}, "\xff", 1, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_GetHandleShapeAndType(g(), {nullptr, 0}), nullptr);
}

TEST_F(ExperimentalTest, ConstantsAreComputed) {
  TF_Operation* const sum = Add("sum", Const("a", 2), Const("b", 3));
  TF_Operation* const open = Add("open", sum, Placeholder("x"));
  TF_Tensor* result = nullptr;
  EXPECT_EQ(TF_TryEvaluateConstant(g(), {sum, 0}, &result, s()), 1);
  EXPECT_EQ(Value(result), 5) << message();
  TF_DeleteTensor(result);
  EXPECT_EQ(TF_TryEvaluateConstant(g(), {open, 0}, &result, s()), 0);
  EXPECT_EQ(code(), TF_OK);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(TF_TryEvaluateConstant(g(), {sum, 7}, &result, s()), 0);
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TF_TryEvaluateConstant(g(), {sum, 0}, nullptr, s()), 0);
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
}

TEST_F(ExperimentalTest, MessagesAndTexts) {
  pb::ConfigProto config;
  Buffer b(TF_CreateConfig(1, 1, 3));
  ASSERT_TRUE(config.ParseFromString(Bytes(b.get())));
  EXPECT_EQ(config.graph_options().optimizer_options().global_jit_level(),
            pb::OptimizerOptions::ON_1);
  EXPECT_TRUE(config.gpu_options().allow_growth());
  EXPECT_EQ(config.device_count().at("CPU"), 3);
  b.reset(TF_CreateConfig(0, 0, 1));
  ASSERT_TRUE(config.ParseFromString(Bytes(b.get())));
  EXPECT_EQ(config.graph_options().optimizer_options().global_jit_level(),
            pb::OptimizerOptions::OFF);
  for (const bool full : {true, false}) {
    pb::RunOptions options;
    b.reset(TF_CreateRunOptions(full));
    ASSERT_TRUE(options.ParseFromString(Bytes(b.get())));
    EXPECT_EQ(options.trace_level() == pb::RunOptions::FULL_TRACE, full);
  }
  Const("a_node", 1);
  size_t length = 0;
  const char* const text = TF_GraphDebugString(g(), &length);
  EXPECT_EQ(std::string(text).size(), length);
  EXPECT_NE(std::string(text).find("name: \"a_node\""), std::string::npos);
  std::free(const_cast<char*>(text));
  TF_MakeInternalErrorStatus(s(), "mine");
  EXPECT_EQ(code(), TF_INTERNAL);
  EXPECT_EQ(message(), "mine");
  EXPECT_GT(TF_PickUnusedPortOrDie(), 0);
  TF_InitMain("usage", nullptr, nullptr);
}

TEST_F(ExperimentalTest, SettingsOfTheCompilerAreKept) {
  EXPECT_EQ(TF_SetXlaEnableLazyCompilation(0), 1);
  EXPECT_EQ(TF_SetXlaEnableLazyCompilation(1), 0);
  TF_SetTfXlaCpuGlobalJit(0);
  EXPECT_EQ(TF_SetTfXlaCpuGlobalJit(1), 0);
  EXPECT_EQ(TF_SetTfXlaCpuGlobalJit(0), 1);
  const struct {
    const char* mode;
    int enabled;
  } kModes[] = {{"0", 0}, {"nonsense", 0},      {"2", 1},       {nullptr, 1},
                {"0", 0}, {"single-gpu(1)", 1}, {"fusible", 1}, {"0", 0}};
  for (const auto& m : kModes) {
    TF_SetXlaAutoJitMode(m.mode);
    EXPECT_EQ(TF_GetXlaAutoJitEnabled(), m.enabled);
  }
  TF_SetXlaConstantFoldingDisabled(1);
  EXPECT_EQ(TF_GetXlaConstantFoldingDisabled(), 1);
  TF_SetXlaConstantFoldingDisabled(0);
  EXPECT_EQ(TF_GetXlaConstantFoldingDisabled(), 0);
  TF_SetXlaMinClusterSize(1);
  TF_SessionOptions* const options = TF_NewSessionOptions();
  TF_EnableXLACompilation(options, 1);
  TF_Session* const session = TF_NewSession(g(), options, s());
  EXPECT_EQ(code(), TF_OK) << message();
  TF_DeleteSession(session, s());
  TF_DeleteSessionOptions(options);
}

TEST_F(ExperimentalTest, OpsAndKernelsAreAskedFor) {
  EXPECT_EQ(TF_OpIsStateful("VarHandleOp", s()), 1);
  EXPECT_EQ(TF_OpIsStateful("MatMul", s()), 0);
  EXPECT_EQ(code(), TF_OK);
  TF_OpIsStateful("NoSuchOp", s());
  EXPECT_EQ(code(), TF_NOT_FOUND);
  EXPECT_STREQ(TF_GetNumberAttrForOpListInput("ConcatV2", 0, s()), "N");
  EXPECT_EQ(TF_GetNumberAttrForOpListInput("ConcatV2", 1, s()), nullptr);
  EXPECT_EQ(code(), TF_NOT_FOUND);
  EXPECT_EQ(TF_GetNumberAttrForOpListInput("ConcatV2", 2, s()), nullptr);
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  const struct {
    const char* op;
    TF_DataType type;
    const char* device;
    TF_Code code;
  } kCases[] = {{"MatMul", TF_FLOAT, "CPU", TF_OK},
                {"MatMul", TF_STRING, "CPU", TF_NOT_FOUND},
                {"MatMul", TF_FLOAT, "NONE", TF_NOT_FOUND},
                {"NoSuchOp", TF_FLOAT, "CPU", TF_NOT_FOUND},
                {nullptr, TF_FLOAT, "CPU", TF_NOT_FOUND},
                {"MatMul", TF_FLOAT, nullptr, TF_INVALID_ARGUMENT}};
  for (const auto& c : kCases) {
    TF_AttrBuilder* const b = TF_NewAttrBuilder(c.op);
    TF_AttrBuilderSetType(b, "T", c.type);
    TF_AttrBuilderCheckCanRunOnDevice(b, c.device, s());
    EXPECT_EQ(code(), c.code) << message();
    TF_DeleteAttrBuilder(b);
  }
  TF_AttrBuilder* const b = TF_NewAttrBuilder("IdentityN");
  const TF_DataType types[] = {TF_FLOAT, TF_INT32};
  TF_AttrBuilderSetTypeList(b, "T", types, 2);
  TF_AttrBuilderCheckCanRunOnDevice(b, "CPU", s());
  EXPECT_EQ(code(), TF_OK) << message();
  TF_AttrBuilderSetTypeList(b, "T", nullptr, 2);
  TF_AttrBuilderCheckCanRunOnDevice(b, "CPU", s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TF_DeleteAttrBuilder(b);
}

TEST_F(ExperimentalTest, CheckpointsAreRead) {
  const std::string prefix = testing::TempDir() + "/c_api_checkpoint";
  auto writer = headrace::BundleWriter::Open(headrace::Env::Default(), prefix);
  ASSERT_TRUE(writer.ok());
  const float values[] = {1, 2, 3};
  ASSERT_TRUE(
      (*writer)
          ->Add("b/w", headrace::Tensor::Vector(absl::MakeConstSpan(values)))
          .ok());
  ASSERT_TRUE((*writer)->Add("a", headrace::Tensor::Scalar<int32_t>(7)).ok());
  ASSERT_TRUE((*writer)->Finish().ok());

  TF_CheckpointReader* const r = TF_NewCheckpointReader(prefix.c_str(), s());
  ASSERT_NE(r, nullptr) << message();
  ASSERT_EQ(TF_CheckpointReaderSize(r), 2);
  EXPECT_STREQ(TF_CheckpointReaderGetVariable(r, 0), "a");
  EXPECT_STREQ(TF_CheckpointReaderGetVariable(r, 1), "b/w");
  EXPECT_EQ(TF_CheckpointReaderGetVariable(r, 2), nullptr);
  EXPECT_EQ(TF_CheckpointReaderGetVariable(r, -1), nullptr);
  EXPECT_EQ(TF_CheckpointReaderHasTensor(r, "a"), 1);
  EXPECT_EQ(TF_CheckpointReaderHasTensor(r, ""), 0);
  EXPECT_EQ(TF_CheckpointReaderGetVariableDataType(r, "b/w"), TF_FLOAT);
  EXPECT_EQ(TF_CheckpointReaderGetVariableNumDims(r, "b/w"), 1);
  int64_t dim = 0;
  TF_CheckpointReaderGetVariableShape(r, "b/w", &dim, 1, s());
  EXPECT_EQ(dim, 3) << message();
  const Tensor a(TF_CheckpointReaderGetTensor(r, "a", s()));
  EXPECT_EQ(Value(a.get()), 7) << message();

  TF_CheckpointReaderGetVariableShape(r, "b/w", &dim, 2, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TF_CheckpointReaderGetVariableShape(r, "none", &dim, 1, s());
  EXPECT_EQ(code(), TF_NOT_FOUND);
  EXPECT_EQ(TF_CheckpointReaderGetTensor(r, "none", s()), nullptr);
  EXPECT_EQ(code(), TF_NOT_FOUND);
  EXPECT_EQ(TF_CheckpointReaderGetTensor(r, nullptr, s()), nullptr);
  EXPECT_EQ(TF_CheckpointReaderGetVariableNumDims(r, "none"), -1);
  TF_DeleteCheckpointReader(r);
  EXPECT_EQ(TF_NewCheckpointReader("/nonexistent/model", s()), nullptr);
  EXPECT_EQ(code(), TF_NOT_FOUND) << message();
  EXPECT_EQ(TF_NewCheckpointReader(nullptr, s()), nullptr);
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
}

TEST_F(ExperimentalTest, QueuesByNumber) {
  const auto node = [&](const char* op, const char* name,
                        std::vector<TF_Operation*> inputs) {
    TF_OperationDescription* const d = TF_NewOperation(g(), op, name);
    TF_AddInput(d, {inputs[0], 0});
    if (inputs.size() > 1) {
      const TF_Output list[] = {{inputs[1], 0}};
      TF_AddInputList(d, list, 1);
    } else {
      const TF_DataType types[] = {TF_INT32};
      TF_SetAttrTypeList(d, "component_types", types, 1);
    }
    return Finish(d);
  };
  TF_OperationDescription* const d = TF_NewOperation(g(), "FIFOQueueV2", "q");
  const TF_DataType types[] = {TF_INT32};
  TF_SetAttrTypeList(d, "component_types", types, 1);
  TF_Operation* const queue = Finish(d);
  node("QueueEnqueueV2", "fifo_queue_enqueue_4",
       {queue, Placeholder("arg_tensor_enqueue_4")});
  node("QueueDequeueV2", "fifo_queue_dequeue_4", {queue});
  TF_Session* const session = NewSession();
  TF_EnqueueNamedTensor(session, 4, Scalar(17).get(), s());
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(Value(Tensor(TF_DequeueNamedTensor(session, 4, s())).get()), 17)
      << message();
  EXPECT_EQ(TF_DequeueNamedTensor(session, 5, s()), nullptr);
  EXPECT_EQ(code(), TF_INTERNAL);
  TF_EnqueueNamedTensor(session, 4, nullptr, s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TF_EnqueueNamedTensor(nullptr, 4, Scalar(1).get(), s());
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
  TF_DeleteSession(session, s());
}

TEST_F(ExperimentalTest, ListsOfShapes) {
  TF_ShapeAndTypeList* const list = TF_NewShapeAndTypeList(2);
  ASSERT_EQ(list->num_items, 2);
  EXPECT_EQ(list->items[1].num_dims, -1);
  const int64_t dims[] = {2, -1};
  TF_ShapeAndTypeListSetShape(list, 0, dims, 2);
  TF_ShapeAndTypeListSetShape(list, 0, dims, 1);
  EXPECT_EQ(list->items[0].num_dims, 1);
  EXPECT_EQ(list->items[0].dims[0], 2);
  TF_ShapeAndTypeListSetDtype(list, 0, TF_INT64);
  EXPECT_EQ(list->items[0].dtype, TF_INT64);
  TF_ShapeAndTypeListSetUnknownShape(list, 0);
  EXPECT_EQ(list->items[0].num_dims, -1);
  TF_ShapeAndTypeListSetShape(list, 1, dims, 2);
  for (const int out : {-1, 2}) {  // no effect
    TF_ShapeAndTypeListSetShape(list, out, dims, 2);
    TF_ShapeAndTypeListSetUnknownShape(list, out);
    TF_ShapeAndTypeListSetDtype(list, out, TF_FLOAT);
  }
  TF_ShapeAndTypeListSetShape(list, 1, nullptr, 2);
  TF_ShapeAndTypeListSetShape(list, 1, dims, -3);
  EXPECT_EQ(list->items[1].num_dims, 2);
  auto** const array = new TF_ShapeAndTypeList* [2] { list, nullptr };
  TF_DeleteShapeAndTypeListArray(array, 2);
  EXPECT_EQ(TF_NewShapeAndTypeList(-1), nullptr);
}

TEST_F(ExperimentalTest, DocumentationOfOps) {
  const Buffer ops(TF_GetAllOpList());
  const auto get = [&](TF_ApiDefMap* map, const char* name) {
    pb::ApiDef def;
    const Buffer b(TF_ApiDefMapGet(map, name, strlen(name), s()));
    EXPECT_TRUE(b == nullptr || def.ParseFromString(Bytes(b.get())));
    return def;
  };
  TF_ApiDefMap* map = TF_NewApiDefMap(ops.get(), s());
  ASSERT_NE(map, nullptr) << message();
  const std::string text =
      "op {\n  graph_op_name: \"MatMul\"\n  endpoint { name: \"mul\" }\n"
      "  in_arg { name: \"a\" rename_to: \"left\" }\n"
      "  summary: \"Multiplies.\"\n  description: <<END\nTwo \"lines\",\n"
      "of text.\nEND\n}\nop { graph_op_name: \"NotAnOp\" }\n";
  TF_ApiDefMapPut(map, text.data(), text.size(), s());
  EXPECT_EQ(code(), TF_OK) << message();
  const struct {
    const char* text;
    TF_Code code;
  } kBad[] = {{"op {", TF_INVALID_ARGUMENT},
              {"op { nonsense: 1 }", TF_INVALID_ARGUMENT},
              {"op {\n description: <<END\n no end", TF_INVALID_ARGUMENT},
              {"op { graph_op_name: 'MatMul' in_arg { name: 'zz' } }",
               TF_FAILED_PRECONDITION},
              {"op { graph_op_name: 'MatMul' arg_order: 'a' }",
               TF_FAILED_PRECONDITION}};
  for (const auto& c : kBad) {
    TF_ApiDefMapPut(map, c.text, strlen(c.text), s());
    EXPECT_EQ(code(), c.code) << c.text << ": " << message();
  }
  const pb::ApiDef def = get(map, "MatMul");
  EXPECT_EQ(def.endpoint_size(), 1);
  EXPECT_EQ(def.endpoint(0).name(), "mul");
  EXPECT_EQ(def.in_arg(0).rename_to(), "left");
  EXPECT_EQ(def.in_arg(1).rename_to(), "b");
  EXPECT_EQ(def.summary(), "Multiplies.");
  EXPECT_EQ(def.description(), "Two \"lines\",\nof text.");
  EXPECT_EQ(def.arg_order_size(), 2);
  EXPECT_EQ(TF_ApiDefMapGet(map, "NotAnOp", 7, s()), nullptr);
  EXPECT_EQ(code(), TF_OK);
  TF_ApiDefMapPut(map, "", 0, s());
  EXPECT_EQ(code(), TF_FAILED_PRECONDITION);
  TF_DeleteApiDefMap(map);
  const Buffer bad(TF_NewBufferFromString("\xff", 1));
  EXPECT_EQ(TF_NewApiDefMap(bad.get(), s()), nullptr);
  EXPECT_EQ(code(), TF_INVALID_ARGUMENT);
}

TEST_F(ExperimentalTest, PrintsGoToListeners) {
  static std::string* printed = new std::string;
  TF_RegisterLogListener([](const char* text) { *printed += text; });
  TF_RegisterLogListener(nullptr);
  TF_OperationDescription* d = TF_NewOperation(g(), "Placeholder", "text");
  TF_SetAttrType(d, "dtype", TF_STRING);
  TF_Operation* const text = Finish(d);
  d = TF_NewOperation(g(), "PrintV2", "print");
  TF_AddInput(d, {text, 0});
  TF_Operation* const print = Finish(d);
  TF_Session* const session = NewSession();
  const Tensor value(TF_AllocateTensor(TF_STRING, nullptr, 0, 24));
  TF_StringCopy(static_cast<TF_TString*>(TF_TensorData(value.get())), "hello",
                5);
  const TF_Output in = {text, 0};
  TF_Tensor* const feed = value.get();
  TF_SessionRun(session, nullptr, &in, &feed, 1, nullptr, nullptr, 0, &print, 1,
                nullptr, s());
  EXPECT_EQ(code(), TF_OK) << message();
  EXPECT_EQ(*printed, "hello\n");
  TF_DeleteSession(session, s());
}

TEST_F(ExperimentalTest, WhatIsNotSupportedSaysSo) {
  const struct {
    const char* words;
    std::function<void()> call;
  } kCases[] = {
      {"plug.so", [&] { TF_LoadPluggableDeviceLibrary("plug.so", s()); }},
      {"files.so", [&] { TF_RegisterFilesystemPlugin("files.so", s()); }},
      {"serialize it",
       [&] {
         TF_GraphImportGraphDefWithResultsNoSerialization(g(), nullptr, nullptr,
                                                          s());
       }},
  };
  for (const auto& c : kCases) {
    c.call();
    EXPECT_EQ(code(), TF_UNIMPLEMENTED);
    EXPECT_NE(message().find(c.words), message().npos) << message();
  }
}

}  // namespace
}  // namespace c_api_test
