// Every function of the C API is called with NULL and 0 for all arguments, with
// a status and without one. It returns, and says what is wrong. Then the wrong
// order of calls: use after close, and so on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "c_api/c_api_test_util.h"
#include "c_api/misuse_test_util.h"

// No header of TensorFlow's declares it.
extern "C" void TF_GraphRemoveFunction(TF_Graph*, const char*, TF_Status*);

namespace c_api_test {
namespace {

const std::vector<Function> kFunctions = {
    CALL(TF_NewStatus),
    CALL(TF_DeleteStatus),
    CALL(TF_SetStatus),
    CALL(TF_SetPayload),
    CALL(TF_ForEachPayload),
    CALL(TF_SetStatusFromIOError),
    CALL(TF_GetCode),
    CALL(TF_Message),
    CALL(TF_DataTypeSize),
    CALL(TF_NewBufferFromString),
    CALL(TF_NewBuffer),
    CALL(TF_DeleteBuffer),
    CALL(TF_GetBuffer),
    CALL(TF_NewTensor),
    CALL(TF_TensorDefaultAlignment),
    CALL(TF_AllocateTensor),
    CALL(TF_TensorMaybeMove),
    CALL(TF_DeleteTensor),
    CALL(TF_TensorType),
    CALL(TF_SetShape),
    CALL(TF_NumDims),
    CALL(TF_Dim),
    CALL(TF_TensorByteSize),
    CALL(TF_TensorData),
    CALL(TF_TensorElementCount),
    CALL(TF_TensorBitcastFrom),
    CALL(TF_TensorIsAligned),
    CALL(TF_StringInit),
    CALL(TF_StringCopy),
    CALL(TF_StringAssignView),
    CALL(TF_StringGetDataPointer),
    CALL(TF_StringGetType),
    CALL(TF_StringGetSize),
    CALL(TF_StringGetCapacity),
    CALL(TF_StringDealloc),
    CALL(TF_Version),
    CALL(TF_TensorFromProto),
    CALL(TF_NewSessionOptions),
    CALL(TF_SetTarget),
    CALL(TF_SetConfig),
    CALL(TF_DeleteSessionOptions),
    CALL(TF_NewGraph),
    CALL(TF_DeleteGraph),
    CALL(TF_GraphSetTensorShape),
    CALL(TF_GraphGetTensorNumDims),
    CALL(TF_GraphGetTensorShape),
    CALL(TF_NewOperationLocked),
    CALL(TF_NewOperation),
    CALL(TF_SetDevice),
    CALL(TF_AddInput),
    CALL(TF_AddInputList),
    CALL(TF_AddControlInput),
    CALL(TF_ColocateWith),
    CALL(TF_SetAttrString),
    CALL(TF_SetAttrStringList),
    CALL(TF_SetAttrInt),
    CALL(TF_SetAttrIntList),
    CALL(TF_SetAttrFloat),
    CALL(TF_SetAttrFloatList),
    CALL(TF_SetAttrBool),
    CALL(TF_SetAttrBoolList),
    CALL(TF_SetAttrType),
    CALL(TF_SetAttrTypeList),
    CALL(TF_SetAttrPlaceholder),
    CALL(TF_SetAttrFuncName),
    CALL(TF_SetAttrShape),
    CALL(TF_SetAttrShapeList),
    CALL(TF_SetAttrTensorShapeProto),
    CALL(TF_SetAttrTensorShapeProtoList),
    CALL(TF_SetAttrTensor),
    CALL(TF_SetAttrTensorList),
    CALL(TF_SetAttrValueProto),
    CALL(TF_FinishOperationLocked),
    CALL(TF_FinishOperation),
    CALL(TF_OperationName),
    CALL(TF_OperationOpType),
    CALL(TF_OperationDevice),
    CALL(TF_OperationNumOutputs),
    CALL(TF_OperationOutputType),
    CALL(TF_OperationOutputListLength),
    CALL(TF_OperationNumInputs),
    CALL(TF_OperationInputType),
    CALL(TF_OperationInputListLength),
    CALL(TF_OperationInput),
    CALL(TF_OperationAllInputs),
    CALL(TF_OperationOutputNumConsumers),
    CALL(TF_OperationOutputConsumers),
    CALL(TF_OperationNumControlInputs),
    CALL(TF_OperationGetControlInputs),
    CALL(TF_OperationNumControlOutputs),
    CALL(TF_OperationGetControlOutputs),
    CALL(TF_OperationGetAttrMetadata),
    CALL(TF_OperationGetAttrString),
    CALL(TF_OperationGetAttrStringList),
    CALL(TF_OperationGetAttrInt),
    CALL(TF_OperationGetAttrIntList),
    CALL(TF_OperationGetAttrFloat),
    CALL(TF_OperationGetAttrFloatList),
    CALL(TF_OperationGetAttrBool),
    CALL(TF_OperationGetAttrBoolList),
    CALL(TF_OperationGetAttrType),
    CALL(TF_OperationGetAttrTypeList),
    CALL(TF_OperationGetAttrShape),
    CALL(TF_OperationGetAttrShapeList),
    CALL(TF_OperationGetAttrTensorShapeProto),
    CALL(TF_OperationGetAttrTensorShapeProtoList),
    CALL(TF_OperationGetAttrTensor),
    CALL(TF_OperationGetAttrTensorList),
    CALL(TF_OperationGetAttrValueProto),
    CALL(TF_OperationGetNumAttrs),
    CALL(TF_OperationGetAttrNameLength),
    CALL(TF_OperationGetAttrName),
    CALL(TF_GraphOperationByName),
    CALL(TF_GraphNextOperation),
    CALL(TF_GraphToGraphDef),
    CALL(TF_GraphGetOpDef),
    CALL(TF_GraphVersions),
    CALL(TF_NewImportGraphDefOptions),
    CALL(TF_DeleteImportGraphDefOptions),
    CALL(TF_ImportGraphDefOptionsSetPrefix),
    CALL(TF_ImportGraphDefOptionsSetDefaultDevice),
    CALL(TF_ImportGraphDefOptionsSetUniquifyNames),
    CALL(TF_ImportGraphDefOptionsSetUniquifyPrefix),
    CALL(TF_ImportGraphDefOptionsAddInputMapping),
    CALL(TF_ImportGraphDefOptionsRemapControlDependency),
    CALL(TF_ImportGraphDefOptionsAddControlDependency),
    CALL(TF_ImportGraphDefOptionsAddReturnOutput),
    CALL(TF_ImportGraphDefOptionsNumReturnOutputs),
    CALL(TF_ImportGraphDefOptionsAddReturnOperation),
    CALL(TF_ImportGraphDefOptionsNumReturnOperations),
    CALL(TF_ImportGraphDefResultsReturnOutputs),
    CALL(TF_ImportGraphDefResultsReturnOperations),
    CALL(TF_ImportGraphDefResultsMissingUnusedInputMappings),
    CALL(TF_DeleteImportGraphDefResults),
    CALL(TF_GraphImportGraphDefWithResults),
    CALL(TF_GraphImportGraphDefWithResultsNoSerialization),
    CALL(TF_GraphImportGraphDefWithReturnOutputs),
    CALL(TF_GraphImportGraphDef),
    CALL(TF_GraphCopyFunction),
    CALL(TF_GraphNumFunctions),
    CALL(TF_GraphGetFunctions),
    CALL(TF_OperationToNodeDef),
    CALL(TF_NewWhile),
    CALL(TF_FinishWhile),
    CALL(TF_AbortWhile),
    CALL(TF_AddGradients),
    CALL(TF_AddGradientsWithPrefix),
    CALL(TF_GraphToFunction),
    CALL(TF_GraphToFunctionWithControlOutputs),
    CALL(TF_GraphRemoveFunction),
    CALL(TF_FunctionName),
    CALL(TF_FunctionToFunctionDef),
    CALL(TF_FunctionImportFunctionDef),
    CALL(TF_FunctionSetAttrValueProto),
    CALL(TF_FunctionGetAttrValueProto),
    CALL(TF_DeleteFunction),
    CALL(TF_TryEvaluateConstant),
    CALL(TF_NewSession),
    CALL(TF_LoadSessionFromSavedModel),
    CALL(TF_CloseSession),
    CALL(TF_DeleteSession),
    CALL(TF_SessionRun),
    CALL(TF_SessionPRunSetup),
    CALL(TF_SessionPRun),
    CALL(TF_DeletePRunHandle),
    CALL(TF_NewDeprecatedSession),
    CALL(TF_CloseDeprecatedSession),
    CALL(TF_DeleteDeprecatedSession),
    CALL(TF_Reset),
    CALL(TF_ExtendGraph),
    CALL(TF_Run),
    CALL(TF_PRunSetup),
    CALL(TF_PRun),
    CALL(TF_SessionListDevices),
    CALL(TF_DeprecatedSessionListDevices),
    CALL(TF_DeleteDeviceList),
    CALL(TF_DeviceListCount),
    CALL(TF_DeviceListName),
    CALL(TF_DeviceListType),
    CALL(TF_DeviceListMemoryBytes),
    CALL(TF_DeviceListIncarnation),
    CALL(TF_LoadLibrary),
    CALL(TF_GetOpList),
    CALL(TF_DeleteLibraryHandle),
    CALL(TF_GetAllOpList),
    CALL(TF_NewApiDefMap),
    CALL(TF_DeleteApiDefMap),
    CALL(TF_ApiDefMapPut),
    CALL(TF_ApiDefMapGet),
    CALL(TF_GetAllRegisteredKernels),
    CALL(TF_GetRegisteredKernelsForOp),
    CALL(TF_UpdateEdge),
    CALL(TF_NewServer),
    CALL(TF_ServerStart),
    CALL(TF_ServerStop),
    CALL(TF_ServerJoin),
    CALL(TF_ServerTarget),
    CALL(TF_DeleteServer),
    CALL(TF_RegisterLogListener),
    CALL(TF_RegisterFilesystemPlugin),
    CALL(TF_AddOperationControlInput),
    CALL(TF_SetAttr),
    CALL(TF_ClearAttr),
    CALL(TF_SetFullType),
    CALL(TF_SetRequestedDevice),
    CALL(TF_RemoveAllControlInputs),
    CALL(TF_SetRequireShapeInferenceFns),
    CALL(TF_ExtendSession),
    CALL(TF_GetHandleShapeAndType),
    CALL(TF_SetHandleShapeAndType),
    CALL(TF_AddWhileInputHack),
    CALL(TF_EnableXLACompilation),
    CALL(TF_SetXlaEnableLazyCompilation),
    CALL(TF_SetTfXlaCpuGlobalJit),
    CALL(TF_SetXlaAutoJitMode),
    CALL(TF_GetXlaAutoJitEnabled),
    CALL(TF_SetXlaMinClusterSize),
    CALL(TF_GetXlaConstantFoldingDisabled),
    CALL(TF_SetXlaConstantFoldingDisabled),
    CALL(TF_CreateConfig),
    CALL(TF_CreateRunOptions),
    CALL(TF_GraphDebugString),
    CALL(TF_FunctionDebugString),
    CALL(TF_DequeueNamedTensor),
    CALL(TF_EnqueueNamedTensor),
    CALL(TF_MakeInternalErrorStatus),
    CALL(TF_NewCheckpointReader),
    CALL(TF_DeleteCheckpointReader),
    CALL(TF_CheckpointReaderHasTensor),
    CALL(TF_CheckpointReaderGetVariable),
    CALL(TF_CheckpointReaderSize),
    CALL(TF_CheckpointReaderGetVariableDataType),
    CALL(TF_CheckpointReaderGetVariableShape),
    CALL(TF_CheckpointReaderGetVariableNumDims),
    CALL(TF_CheckpointReaderGetTensor),
    CALL(TF_NewAttrBuilder),
    CALL(TF_DeleteAttrBuilder),
    CALL(TF_AttrBuilderSetType),
    CALL(TF_AttrBuilderSetTypeList),
    CALL(TF_AttrBuilderCheckCanRunOnDevice),
    CALL(TF_GetNumberAttrForOpListInput),
    CALL(TF_OpIsStateful),
    CALL(TF_InitMain),
    CALL(TF_PickUnusedPortOrDie),
    CALL(TF_NewShapeAndTypeList),
    CALL(TF_ShapeAndTypeListSetShape),
    CALL(TF_ShapeAndTypeListSetUnknownShape),
    CALL(TF_ShapeAndTypeListSetDtype),
    CALL(TF_DeleteShapeAndTypeList),
    CALL(TF_DeleteShapeAndTypeListArray),
    CALL(TF_ImportGraphDefOptionsSetValidateColocationConstraints),
    CALL(TF_LoadPluggableDeviceLibrary),
    CALL(TF_DeletePluggableDeviceLibraryHandle),
    CALL(TF_RunAsyncOpKernelDoneCallback),
    CALL(TF_NewKernelBuilder),
    CALL(TF_NewAsyncKernelBuilder),
    CALL(TF_KernelBuilder_TypeConstraint),
    CALL(TF_KernelBuilder_HostMemory),
    CALL(TF_KernelBuilder_Priority),
    CALL(TF_KernelBuilder_Label),
    CALL(TF_RegisterKernelBuilder),
    CALL(TF_RegisterKernelBuilderWithKernelDef),
    CALL(TF_DeleteKernelBuilder),
    CALL(TF_GetStream),
    CALL(TF_NumInputs),
    CALL(TF_NumOutputs),
    CALL(TF_GetInput),
    CALL(TF_InputRange),
    CALL(TF_InputDatatype),
    CALL(TF_SetOutput),
    CALL(TF_GetMutableOutput),
    CALL(TF_GetSerializedFunctionDefLibrary),
    CALL(TF_GetSerializedConfigProto),
    CALL(TF_GetSerializedResourceHandleProto),
    CALL(TF_OpKernelConstruction_Failure),
    CALL(TF_OpKernelContext_Failure),
    CALL(TF_ExpectedOutputDataType),
    CALL(TF_IsHostMemoryInput),
    CALL(TF_IsHostMemoryOutput),
    CALL(TF_StepId),
    CALL(TF_OpKernelConstruction_GetNodeDef),
    CALL(TF_GetFrameId),
    CALL(TF_GetIterId),
    CALL(TF_GetStepId),
    CALL(TF_GetDeviceId),
    CALL(TF_GetDeviceName),
    CALL(TF_GetRendezvous),
    CALL(TF_GetGraphDefVersion),
    CALL(TF_GetOpKernelName),
    CALL(TF_GetResourceMgrDefaultContainerName),
    CALL(TF_GetOpKernelRequestedInput),
    CALL(TF_OpKernelConstruction_GetAttrSize),
    CALL(TF_OpKernelConstruction_GetAttrType),
    CALL(TF_OpKernelConstruction_GetAttrInt32),
    CALL(TF_OpKernelConstruction_GetAttrInt64),
    CALL(TF_OpKernelConstruction_GetAttrFloat),
    CALL(TF_OpKernelConstruction_GetAttrBool),
    CALL(TF_OpKernelConstruction_GetAttrString),
    CALL(TF_OpKernelConstruction_GetAttrTensor),
    CALL(TF_OpKernelConstruction_GetAttrTypeList),
    CALL(TF_OpKernelConstruction_GetAttrInt32List),
    CALL(TF_OpKernelConstruction_GetAttrInt64List),
    CALL(TF_OpKernelConstruction_GetAttrFloatList),
    CALL(TF_OpKernelConstruction_GetAttrBoolList),
    CALL(TF_OpKernelConstruction_GetAttrStringList),
    CALL(TF_OpKernelConstruction_GetAttrTensorList),
    CALL(TF_OpKernelConstruction_GetAttrFunction),
    CALL(TF_OpKernelConstruction_HasAttr),
    CALL(TF_OpKernelConstruction_GetName),
    CALL(TF_AllocateOutput),
    CALL(TF_ForwardInputOrAllocateOutput),
    CALL(TF_AllocateTemp),
    CALL(TF_IncNumDeferredOps),
    CALL(TF_DecNumDeferredOps),
    CALL(TF_NewOpDefinitionBuilder),
    CALL(TF_RegisterOpDefinition),
    CALL(TF_DeleteOpDefinitionBuilder),
    CALL(TF_OpDefinitionBuilderAddAttr),
    CALL(TF_OpDefinitionBuilderAddInput),
    CALL(TF_OpDefinitionBuilderAddOutput),
    CALL(TF_OpDefinitionBuilderSetIsCommutative),
    CALL(TF_OpDefinitionBuilderSetIsAggregate),
    CALL(TF_OpDefinitionBuilderSetIsStateful),
    CALL(TF_OpDefinitionBuilderSetAllowsUninitializedInput),
    CALL(TF_OpDefinitionBuilderDeprecated),
    CALL(TF_OpDefinitionBuilderSetShapeInferenceFunction),
    CALL(TF_ShapeInferenceContextNumInputs),
    CALL(TF_NewShapeHandle),
    CALL(TF_ShapeInferenceContextGetInput),
    CALL(TF_ShapeInferenceContextSetOutput),
    CALL(TF_ShapeInferenceContextScalar),
    CALL(TF_ShapeInferenceContextVectorFromSize),
    CALL(TF_NewDimensionHandle),
    CALL(TF_ShapeInferenceContext_GetAttrType),
    CALL(TF_ShapeInferenceContextRank),
    CALL(TF_ShapeInferenceContextRankKnown),
    CALL(TF_ShapeInferenceContextWithRank),
    CALL(TF_ShapeInferenceContextWithRankAtLeast),
    CALL(TF_ShapeInferenceContextWithRankAtMost),
    CALL(TF_ShapeInferenceContextDim),
    CALL(TF_ShapeInferenceContextSubshape),
    CALL(TF_ShapeInferenceContextSetUnknownShape),
    CALL(TF_DimensionHandleValueKnown),
    CALL(TF_DimensionHandleValue),
    CALL(TF_ShapeInferenceContextConcatenateShapes),
    CALL(TF_DeleteShapeHandle),
    CALL(TF_DeleteDimensionHandle),
    CALL(TF_CreateDir),
    CALL(TF_DeleteDir),
    CALL(TF_DeleteRecursively),
    CALL(TF_FileStat),
    CALL(TF_NewWritableFile),
    CALL(TF_CloseWritableFile),
    CALL(TF_SyncWritableFile),
    CALL(TF_FlushWritableFile),
    CALL(TF_AppendWritableFile),
    CALL(TF_DeleteFile),
    CALL(TF_StringStreamNext),
    CALL(TF_StringStreamDone),
    CALL(TF_GetChildren),
    CALL(TF_GetLocalTempDirectories),
    CALL(TF_GetTempFileName),
    CALL(TF_NowNanos),
    CALL(TF_NowMicros),
    CALL(TF_NowSeconds),
    CALL(TF_DefaultThreadOptions),
    CALL(TF_StartThread),
    CALL(TF_JoinThread),
    CALL(TF_LoadSharedLibrary),
    CALL(TF_GetSymbolFromLibrary),
};

// Nothing is wrong with NULL there.
const std::set<std::string> kFine = {
    // Arguments of defaults.
    "TF_NewDeprecatedSession", "TF_Reset", "TF_GetAllRegisteredKernels",
    "TF_GetRegisteredKernelsForOp",
    // Deleting nothing, and a sum over nothing.
    "TF_DeleteSession", "TF_DeleteDeprecatedSession", "TF_GraphGetFunctions",
    // A message of no bytes is an empty one.
    "TF_FunctionImportFunctionDef",
    // The status is what they are given.
    "TF_OpKernelConstruction_Failure", "TF_OpKernelContext_Failure"};

TEST(MisuseTest, NullIsNoCrashAndAnErrorWhereThereIsAStatus) {
  CallAllWithNulls(kFunctions, kFine);
}

TEST(MisuseTest, TheTableHasAllFunctions) {
  // Strings of the old kind are libtensorflow.so.1's alone.
  ExpectComplete(
      kFunctions, "TF_",
      {"TF_StringEncode", "TF_StringDecode", "TF_StringEncodedSize"});
}

class OrderTest : public CApiTest {};

TEST_F(OrderTest, ASessionIsUsedAfterItsEnd) {
  TF_Operation* const c = Const("c", 1);
  TF_Session* const session = NewSession();
  EXPECT_EQ(Value(Run(session, nullptr, nullptr, c).get()), 1);
  TF_CloseSession(session, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(Run(session, nullptr, nullptr, c), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_CANCELLED) << message();
  TF_CloseSession(session, s());  // again
  TF_ExtendSession(session, s());
  EXPECT_EQ(TF_DequeueNamedTensor(session, 1, s()), nullptr);
  EXPECT_NE(TF_GetCode(s()), TF_OK);
  TF_DeleteSession(session, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
}

TEST_F(OrderTest, DescriptionsAreFinishedOnce) {
  TF_OperationDescription* const d = TF_NewOperation(g(), "NoOp", "x");
  Finish(d);
  EXPECT_EQ(TF_FinishOperation(d, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("finished before"), message().npos) << message();

  TF_Graph* const other = TF_NewGraph();
  TF_OperationDescription* const late = TF_NewOperation(other, "NoOp", "late");
  TF_DeleteGraph(other);
  TF_DeleteGraph(other);
  EXPECT_EQ(TF_FinishOperation(late, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("the graph of operation 'late' was deleted"),
            message().npos)
      << message();
}

// TensorFlow's own parts use these names while they hold the graph's lock.
TEST_F(OrderTest, LockedNamesDoTheSame) {
  TF_OperationDescription* const d = TF_NewOperationLocked(g(), "NoOp", "x");
  TF_Operation* const x = TF_FinishOperationLocked(d, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(x, TF_GraphOperationByName(g(), "x"));
  EXPECT_EQ(TF_FinishOperationLocked(d, s()), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
}

TEST_F(OrderTest, SessionsAreDeletedOnce) {
  TF_Session* const session = NewSession();
  TF_DeleteSession(session, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  TF_CloseSession(session, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  TF_DeleteSession(session, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
}

TEST_F(OrderTest, ALoopIsFinishedOrAbortedOnce) {
  const TF_Output in = {Placeholder("a"), 0};
  TF_Output inputs[] = {in}, outputs[1];
  for (const bool by_finishing : {false, true}) {
    TF_WhileParams p = TF_NewWhile(g(), inputs, 1, s());
    ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
    if (by_finishing) {  // without a condition: an error, and used up as well
      TF_FinishWhile(&p, s(), outputs);
      EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
    } else {
      TF_AbortWhile(&p);
    }
    TF_AbortWhile(&p);
    TF_FinishWhile(&p, s(), outputs);
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
    EXPECT_NE(message().find("TF_NewWhile"), message().npos) << message();
  }
}

// The run waits on a queue to which nobody adds.
TEST_F(OrderTest, SessionsEndWhileTheyRun) {
  TF_OperationDescription* d = TF_NewOperation(g(), "FIFOQueueV2", "queue");
  const TF_DataType types[] = {TF_INT32};
  TF_SetAttrTypeList(d, "component_types", types, 1);
  TF_Operation* const queue = Finish(d);
  d = TF_NewOperation(g(), "QueueDequeueV2", "take");
  TF_AddInput(d, {queue, 0});
  TF_SetAttrTypeList(d, "component_types", types, 1);
  TF_Operation* const take = Finish(d);
  for (const bool by_closing : {true, false}) {
    TF_Session* const session = NewSession();
    TF_Code code = TF_OK;
    std::atomic<bool> starts{false};
    std::thread run([&] {
      TF_Status* const status = TF_NewStatus();
      const TF_Output fetch = {take, 0};
      TF_Tensor* result = nullptr;
      starts = true;
      TF_SessionRun(session, nullptr, nullptr, nullptr, 0, &fetch, &result, 1,
                    nullptr, 0, nullptr, status);
      code = TF_GetCode(status);
      EXPECT_EQ(result, nullptr);
      TF_DeleteStatus(status);
    });
    while (!starts) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (by_closing) TF_CloseSession(session, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    if (by_closing) run.join();
    TF_DeleteSession(session, s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    if (!by_closing) run.join();
    EXPECT_EQ(code, TF_CANCELLED);
  }
}

TEST_F(OrderTest, PlacesForResultsMayBeNull) {
  TF_Operation* const c = Const("c", 1);
  TF_Operation* const sum = Add("sum", c, c);
  TF_AddOperationControlInput(g(), sum, c);
  TF_OperationAllInputs(sum, nullptr, 9);
  EXPECT_EQ(TF_OperationOutputConsumers({c, 0}, nullptr, 9), 2);
  EXPECT_EQ(TF_OperationGetControlInputs(sum, nullptr, 9), 1);
  EXPECT_EQ(TF_OperationGetControlOutputs(c, nullptr, 9), 1);
  EXPECT_EQ(TF_GraphGetFunctions(g(), nullptr, 9, s()), 0);
  TF_OperationDescription* const d = TF_NewOperation(g(), "Identity", "all");
  TF_AddInput(d, {c, 0});
  TF_SetAttrString(d, "_s", "text", 4);
  const void* const strings[] = {"a", "b"};
  const size_t lengths[] = {1, 1};
  TF_SetAttrStringList(d, "_sl", strings, lengths, 2);
  TF_SetAttrInt(d, "_i", 1);
  const int64_t ints[] = {1, 2};
  TF_SetAttrIntList(d, "_il", ints, 2);
  TF_SetAttrShape(d, "_shape", ints, 2);
  const int64_t* const dims[] = {ints};
  const int num_dims[] = {2};
  TF_SetAttrShapeList(d, "_shapes", dims, num_dims, 1);
  TF_SetAttrTensor(d, "_t", Scalar(1).get(), s());
  TF_Tensor* const tensors[] = {Scalar(1).release()};
  TF_SetAttrTensorList(d, "_tl", tensors, 1, s());
  TF_DeleteTensor(tensors[0]);
  TF_Operation* const all = Finish(d);
  const std::pair<const char*, std::function<void()>> kCalls[] = {
      {"String",
       [&] { TF_OperationGetAttrString(all, "_s", nullptr, 9, s()); }},
      {"StringList",
       [&] {
         TF_OperationGetAttrStringList(all, "_sl", nullptr, nullptr, 9, nullptr,
                                       9, s());
       }},
      {"Int", [&] { TF_OperationGetAttrInt(all, "_i", nullptr, s()); }},
      {"IntList",
       [&] { TF_OperationGetAttrIntList(all, "_il", nullptr, 9, s()); }},
      {"Shape",
       [&] { TF_OperationGetAttrShape(all, "_shape", nullptr, 9, s()); }},
      {"ShapeList",
       [&] {
         TF_OperationGetAttrShapeList(all, "_shapes", nullptr, nullptr, 9,
                                      nullptr, 9, s());
       }},
      {"ShapeProto",
       [&] {
         TF_OperationGetAttrTensorShapeProto(all, "_shape", nullptr, s());
       }},
      {"ShapeProtoList",
       [&] {
         TF_OperationGetAttrTensorShapeProtoList(all, "_shapes", nullptr, 9,
                                                 s());
       }},
      {"Tensor", [&] { TF_OperationGetAttrTensor(all, "_t", nullptr, s()); }},
      {"TensorList",
       [&] { TF_OperationGetAttrTensorList(all, "_tl", nullptr, 9, s()); }},
      {"ValueProto",
       [&] { TF_OperationGetAttrValueProto(all, "_i", nullptr, s()); }},
      {"Name", [&] { TF_OperationGetAttrName(all, 0, nullptr, s()); }},
      {"NodeDef", [&] { TF_OperationToNodeDef(all, nullptr, s()); }},
      {"GraphDef", [&] { TF_GraphToGraphDef(g(), nullptr, s()); }},
      {"OpDef", [&] { TF_GraphGetOpDef(g(), "Add", nullptr, s()); }},
      {"Versions", [&] { TF_GraphVersions(g(), nullptr, s()); }},
  };
  for (const auto& [name, call] : kCalls) {
    call();
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << name << message();
  }
}

TEST_F(OrderTest, NodesOfAnotherGraphAreRefused) {
  TF_Operation* const mine = Const("c", 1);
  TF_Graph* const other = TF_NewGraph();
  TF_Tensor* result = nullptr;
  TF_TryEvaluateConstant(other, {mine, 0}, &result, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  TF_ClearAttr(other, mine, "x", s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  TF_SetHandleShapeAndType(other, {mine, 0}, nullptr, 0, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  EXPECT_EQ(TF_GetHandleShapeAndType(other, {mine, 0}), nullptr);
  TF_AddOperationControlInput(other, mine, mine);
  TF_RemoveAllControlInputs(other, mine);
  TF_SetRequestedDevice(other, mine, "/gpu:7");
  EXPECT_EQ(TF_OperationNumControlInputs(mine), 0);
  EXPECT_STREQ(TF_OperationDevice(mine), "");
  TF_DeleteGraph(other);
}

TEST_F(OrderTest, ArgumentsOfAFunctionAreChecked) {
  TF_Operation *const a = Placeholder("a"), *const y = Add("y", a, a);
  TF_Graph* const other = TF_NewGraph();
  struct Case {
    const char* what;
    TF_Graph* graph = nullptr;  // else g()
    const char* name = "f";
    int num_opers = -1, ninputs = 1, noutputs = 1, ncontrol = 0;
    bool has_lists = true;
    int index = 0;
    TF_Code code = TF_INVALID_ARGUMENT;
  };
  for (const Case& c : std::vector<Case>{
           {.what = "no name", .name = nullptr},
           {.what = "fewer than no nodes", .num_opers = -2},
           {.what = "no list of nodes", .num_opers = 1},
           {.what = "fewer than no inputs", .ninputs = -1},
           {.what = "fewer than no outputs", .noutputs = -1},
           {.what = "fewer than no control outputs", .ncontrol = -1},
           {.what = "no list of control outputs", .ncontrol = 1},
           {.what = "no lists", .has_lists = false},
           {.what = "an output too many", .index = 1, .code = TF_OUT_OF_RANGE},
           {.what = "an output before the first",
           .index = -1,
           .code = TF_OUT_OF_RANGE},
           {.what = "another graph's nodes", .graph = other},
       }) {
    SCOPED_TRACE(c.what);
    const TF_Output in = {a, 0}, out = {y, c.index};
    TF_Function* const f = TF_GraphToFunctionWithControlOutputs(
        c.graph == nullptr ? g() : c.graph, c.name, 0, c.num_opers, nullptr,
        c.ninputs, c.has_lists ? &in : nullptr, c.noutputs,
        c.has_lists ? &out : nullptr, nullptr, c.ncontrol, nullptr, nullptr,
        nullptr, nullptr, s());
    EXPECT_EQ(f, nullptr);
    EXPECT_EQ(TF_GetCode(s()), c.code) << message();
    EXPECT_NE(message(), "");
    TF_DeleteFunction(f);
  }
  TF_DeleteGraph(other);
}

TEST_F(OrderTest, AFunctionIsRemovedOnce) {
  TF_Operation *const a = Placeholder("a"), *const y = Add("y", a, a);
  const TF_Output in = {a, 0}, out = {y, 0};
  TF_Function* const f = TF_GraphToFunctionWithControlOutputs(
      g(), "twice", 0, -1, nullptr, 1, &in, 1, &out, nullptr, 0, nullptr,
      nullptr, nullptr, nullptr, s());
  ASSERT_NE(f, nullptr) << message();
  TF_GraphRemoveFunction(g(), "twice", s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << "it was not copied";
  TF_GraphCopyFunction(g(), f, nullptr, s());
  EXPECT_EQ(TF_GraphNumFunctions(g()), 1);
  TF_GraphRemoveFunction(g(), nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  TF_GraphRemoveFunction(g(), "twice", s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(TF_GraphNumFunctions(g()), 0);
  TF_GraphRemoveFunction(g(), "twice", s());
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  // The handle is a copy of its own, and may come back.
  TF_GraphCopyFunction(g(), f, nullptr, s());
  EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(TF_GraphNumFunctions(g()), 1);
  TF_DeleteFunction(f);
}

TEST_F(OrderTest, ACycleOfControlEdgesIsAnErrorOfTheRun) {
  TF_Operation *const a = Const("a", 1), *const b = Const("b", 2);
  TF_AddOperationControlInput(g(), a, b);
  TF_AddOperationControlInput(g(), b, a);
  TF_AddOperationControlInput(g(), b, b);
  TF_Session* const session = NewSession();
  EXPECT_EQ(Run(session, nullptr, nullptr, a), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  TF_DeleteSession(session, s());
}

}  // namespace
}  // namespace c_api_test
