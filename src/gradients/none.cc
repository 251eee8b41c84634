// Ops through which no gradient goes, and why. What depends on an x only
// through them has no gradient by it, without an error.
#include "headrace/gradients.h"

namespace headrace {
namespace {

REGISTER_NO_GRADIENTS("it is a constant", "Const");
REGISTER_NO_GRADIENTS("its gradient is stopped on purpose", "StopGradient");
REGISTER_NO_GRADIENTS("it is constant wherever it has a derivative", "ArgMax",
                      "ArgMin", "Ceil", "Floor", "FloorDiv", "LoopCond",
                      "OnesLike", "Rint", "Round", "TruncateDiv", "ZerosLike");
REGISTER_NO_GRADIENTS("it depends on the shape alone", "BroadcastGradientArgs",
                      "ConcatOffset", "Rank", "SetSize", "Shape", "ShapeN",
                      "Size", "VariableShape");
REGISTER_NO_GRADIENTS("its output is boolean", "ApproximateEqual", "Equal",
                      "Greater", "GreaterEqual", "Less", "LessEqual",
                      "LogicalAnd", "LogicalNot", "LogicalOr", "NotEqual",
                      "VarIsInitializedOp");
REGISTER_NO_GRADIENTS("it works with integers", "BitwiseAnd", "BitwiseOr",
                      "BitwiseXor", "EditDistance", "GenerateVocabRemapping",
                      "Invert", "InvertPermutation", "LeftShift",
                      "LoadAndRemapMatrix", "NonMaxSuppression",
                      "NonMaxSuppressionV2", "NonMaxSuppressionWithOverlaps",
                      "OneHot", "PopulationCount", "RightShift", "Timestamp");
REGISTER_NO_GRADIENTS(
    "its output is random, and has no derivative by its arguments",
    "Multinomial", "ParameterizedTruncatedNormal", "RandomStandardNormal",
    "RandomUniform", "SampleDistortedBoundingBox",
    "SampleDistortedBoundingBoxV2", "StatelessMultinomial",
    "StatelessRandomNormal", "StatelessRandomUniform",
    "StatelessRandomUniformInt", "StatelessTruncatedNormal", "TruncatedNormal");
REGISTER_NO_GRADIENTS("it changes a variable", "Assign", "AssignAdd",
                      "AssignSub", "ScatterAdd", "ScatterDiv", "ScatterMul",
                      "ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate",
                      "ScatterSub");
REGISTER_NO_GRADIENTS("it is not differentiated, as in TensorFlow",
                      "CTCBeamSearchDecoder", "CTCGreedyDecoder",
                      "DenseToDenseSetOperation", "DenseToSparseSetOperation",
                      "DrawBoundingBoxes", "EuclideanNorm", "ExtractGlimpse",
                      "HSVToRGB", "LinSpace", "PyFunc", "PyFuncStateless",
                      "RaggedRange", "RaggedTensorToVariant", "Range",
                      "ReduceDataset", "SparseAddGrad", "SparseConcat",
                      "SparseToSparseSetOperation");
REGISTER_NO_GRADIENTS("it works with text or bytes", "AsString", "DecodeBase64",
                      "DecodePaddedRaw", "DecodeRaw", "EncodeBase64",
                      "ParseTensor", "ReduceJoin", "RegexReplace",
                      "SerializeTensor", "StringJoin", "StringSplit",
                      "StringToHashBucket", "StringToHashBucketFast",
                      "StringToHashBucketStrong", "StringToNumber");
REGISTER_NO_GRADIENTS(
    "it is an object, or changes one", "DeleteSessionTensor",
    "FixedLengthRecordReader", "GetSessionHandle", "GetSessionHandleV2",
    "GetSessionTensor", "HashTable", "HashTableV2", "IdentityReader",
    "InitializeTable", "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2", "InitializeTableV2", "LMDBReader",
    "LookupTableFind", "LookupTableFindV2", "LookupTableInsert",
    "LookupTableInsertV2", "LookupTableSize", "LookupTableSizeV2",
    "MutableDenseHashTable", "MutableDenseHashTableV2", "MutableHashTable",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2",
    "MutableHashTableV2", "QueueClose", "QueueDequeue", "QueueDequeueMany",
    "QueueDequeueUpTo", "QueueEnqueue", "QueueEnqueueMany", "QueueSize",
    "ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderRead",
    "ReaderReadUpTo", "ReaderReset", "ReaderRestoreState",
    "ReaderSerializeState", "Stack", "StackClose", "StackPop", "StackPush",
    "TFRecordReader", "TensorArray", "TensorArrayClose", "TensorArrayCloseV2",
    "TensorArrayCloseV3", "TensorArrayGrad", "TensorArrayGradV2",
    "TensorArrayGradV3", "TensorArrayGradWithShape", "TensorArraySize",
    "TensorArraySizeV2", "TensorArraySizeV3", "TensorArrayV2", "TensorArrayV3",
    "TensorListConcatLists", "TensorListElementShape", "TensorListLength",
    "TensorListPushBackBatch", "TextLineReader", "WholeFileReader");
REGISTER_NO_GRADIENTS("it is a step of training", "SdcaFprint", "SdcaOptimizer",
                      "SdcaOptimizerV2", "SdcaShrinkL1");
REGISTER_NO_GRADIENTS("its output is for people", "Assert", "AudioSummary",
                      "AudioSummaryV2", "HistogramSummary", "ImageSummary",
                      "MergeSummary", "ScalarSummary", "TensorSummary",
                      "TensorSummaryV2");

}  // namespace
}  // namespace headrace
