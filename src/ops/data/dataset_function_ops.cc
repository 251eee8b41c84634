// Datasets that call functions on the elements of another one.
#include "ops/data/dataset_op.h"

namespace headrace {
namespace {

#define FUNCTION .Attr("f: func").CallsFunctions()
#define PREDICATE .Attr("predicate: func").CallsFunctions()
#define DETERMINISTIC .Attr("deterministic: string = 'default'")

#define FUNCTION_OP(ATTRS, NAME)                                      \
  TRANSFORM_OP_AFTER(ATTRS.Attr("Targuments: list(type) >= 0"), NAME) \
      .Input("other_arguments: Targuments")

#define MAP_OP(NAME)                                 \
  FUNCTION_OP(FUNCTION, NAME)                        \
      .Attr("use_inter_op_parallelism: bool = true") \
      .Attr("preserve_cardinality: bool = false")    \
      .Attr("force_synchronous: bool = false")
MAP_OP("MapDataset").Attr("metadata: string = ''");
MAP_OP("ExperimentalMapDataset");
#undef MAP_OP
FUNCTION_OP(FUNCTION, "ParallelMapDataset")
    .Input("num_parallel_calls: int32")
    .Attr("use_inter_op_parallelism: bool = true")
    .Attr("sloppy: bool = false")
    .Attr("preserve_cardinality: bool = false")
    .Attr("metadata: string = ''");
FUNCTION_OP(FUNCTION, "ParallelMapDatasetV2")
    .Input("num_parallel_calls: int64")
    .Attr("use_inter_op_parallelism: bool = true")
    .Attr("deterministic: string = 'default'")
    .Attr("preserve_cardinality: bool = false")
    .Attr("use_unbounded_threadpool: bool = false")
    .Attr("metadata: string = ''");

#define MAP_AND_BATCH_OP(NAME)            \
  FUNCTION_OP(FUNCTION, NAME)             \
      .Input("batch_size: int64")         \
      .Input("num_parallel_calls: int64") \
      .Input("drop_remainder: bool")      \
      .Attr("preserve_cardinality: bool = false")
MAP_AND_BATCH_OP("MapAndBatchDataset").Attr("metadata: string = ''");
MAP_AND_BATCH_OP("ExperimentalMapAndBatchDataset");
#undef MAP_AND_BATCH_OP

FUNCTION_OP(PREDICATE, "FilterDataset").Attr("metadata: string = ''");
FUNCTION_OP(PREDICATE DETERMINISTIC, "ParallelFilterDataset")
    .Input("num_parallel_calls: int64")
    .Attr("metadata: string = ''");
FUNCTION_OP(PREDICATE, "TakeWhileDataset").Attr("metadata: string = ''");
FUNCTION_OP(PREDICATE, "ExperimentalTakeWhileDataset");

FUNCTION_OP(FUNCTION, "FlatMapDataset").Attr("metadata: string = ''");

#define INTERLEAVE_OP(ATTRS, NAME)  \
  FUNCTION_OP(ATTRS, NAME)          \
      .Input("cycle_length: int64") \
      .Input("block_length: int64")
INTERLEAVE_OP(FUNCTION, "InterleaveDataset").Attr("metadata: string = ''");
INTERLEAVE_OP(FUNCTION, "ParallelInterleaveDatasetV2")
    .Input("num_parallel_calls: int64")
    .Attr("sloppy: bool = false")
    .Attr("metadata: string = ''");
INTERLEAVE_OP(FUNCTION DETERMINISTIC, "ParallelInterleaveDatasetV3")
    .Input("num_parallel_calls: int64")
    .Attr("metadata: string = ''");
INTERLEAVE_OP(FUNCTION DETERMINISTIC, "ParallelInterleaveDatasetV4")
    .Input("buffer_output_elements: int64")
    .Input("prefetch_input_elements: int64")
    .Input("num_parallel_calls: int64")
    .Attr("metadata: string = ''");
INTERLEAVE_OP(FUNCTION DETERMINISTIC, "LegacyParallelInterleaveDatasetV2")
    .Input("buffer_output_elements: int64")
    .Input("prefetch_input_elements: int64")
    .Attr("metadata: string = ''");
#define SLOPPY_INTERLEAVE_OP(NAME)            \
  INTERLEAVE_OP(FUNCTION, NAME)               \
      .Input("sloppy: bool")                  \
      .Input("buffer_output_elements: int64") \
      .Input("prefetch_input_elements: int64")
SLOPPY_INTERLEAVE_OP("ParallelInterleaveDataset").Attr("metadata: string = ''");
SLOPPY_INTERLEAVE_OP("ExperimentalParallelInterleaveDataset");
#undef SLOPPY_INTERLEAVE_OP
#undef INTERLEAVE_OP
#undef FUNCTION_OP

#define STATEFUL_FUNCTION \
  FUNCTION.Attr("Tstate: list(type) >= 1").Attr("Targuments: list(type) >= 0")
#define SCAN_OP(NAME)                         \
  TRANSFORM_OP_AFTER(STATEFUL_FUNCTION, NAME) \
      .Input("initial_state: Tstate")         \
      .Input("other_arguments: Targuments")   \
      .Attr("preserve_cardinality: bool = false")
SCAN_OP("ScanDataset")
    .Attr("use_default_device: bool = true")
    .Attr("metadata: string = ''");
SCAN_OP("ExperimentalScanDataset");
#undef SCAN_OP

REGISTER_OP("ReduceDataset")
    .Input("input_dataset: variant")
    .Input("initial_state: Tstate")
    .Input("other_arguments: Targuments")
    .Output("components: output_types") STATEFUL_FUNCTION DATASET_ELEMENTS
    .Attr("use_inter_op_parallelism: bool = true")
    .Attr("metadata: string = ''")
    .SetIsStateful()
    .SetShapeFn(ElementShape);
#undef STATEFUL_FUNCTION
#undef DETERMINISTIC
#undef PREDICATE
#undef FUNCTION

#define WINDOW_FUNCTIONS                                     \
  .CallsFunctions()                                          \
      .Attr("key_func: func")                                \
      .Attr("reduce_func: func")                             \
      .Attr("window_size_func: func")                        \
      .Attr("Tkey_func_other_arguments: list(type) >= 0")    \
      .Attr("Treduce_func_other_arguments: list(type) >= 0") \
      .Attr("Twindow_size_func_other_arguments: list(type) >= 0")
#define GROUP_BY_WINDOW_OP(NAME)                                          \
  TRANSFORM_OP_AFTER(WINDOW_FUNCTIONS, NAME)                              \
      .Input("key_func_other_arguments: Tkey_func_other_arguments")       \
      .Input("reduce_func_other_arguments: Treduce_func_other_arguments") \
      .Input(                                                             \
          "window_size_func_other_arguments: "                            \
          "Twindow_size_func_other_arguments")
GROUP_BY_WINDOW_OP("GroupByWindowDataset").Attr("metadata: string = ''");
GROUP_BY_WINDOW_OP("ExperimentalGroupByWindowDataset");
#undef GROUP_BY_WINDOW_OP
#undef WINDOW_FUNCTIONS

}  // namespace
}  // namespace headrace
