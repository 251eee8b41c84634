// Datasets that put the elements of others together, in another order or
// number, and those that only say how to run.
#include "ops/data/dataset_op.h"

namespace headrace {
namespace {

#define PARALLEL_COPY .Attr("parallel_copy: bool = false")

TRANSFORM_OP("BatchDataset")
    .Input("batch_size: int64")
    .Attr("metadata: string = ''");
TRANSFORM_OP_AFTER(PARALLEL_COPY, "BatchDatasetV2")
    .Input("batch_size: int64")
    .Input("drop_remainder: bool")
    .Attr("metadata: string = ''");
TRANSFORM_OP_AFTER(PARALLEL_COPY, "ParallelBatchDataset")
    .Input("batch_size: int64")
    .Input("num_parallel_calls: int64")
    .Input("drop_remainder: bool")
    .Attr("deterministic: string = 'default'")
    .Attr("metadata: string = ''");
#define PADDED_BATCH_OP(FIRST, NAME)                   \
  DATASET_OP(NAME)                                     \
      .Input("input_dataset: variant")                 \
      .Input("batch_size: int64")                      \
      .Input("padded_shapes: N * int64")               \
      .Input("padding_values: Toutput_types")          \
          FIRST.Attr("Toutput_types: list(type) >= 1") \
      .Attr("output_shapes: list(shape) >= 1")         \
      .Attr("N: int >= 1")                             \
      .Attr("metadata: string = ''")
PADDED_BATCH_OP(, "PaddedBatchDataset");
PADDED_BATCH_OP(PARALLEL_COPY, "PaddedBatchDatasetV2")
    .Input("drop_remainder: bool");
#undef PADDED_BATCH_OP
#undef PARALLEL_COPY
TRANSFORM_OP("UnbatchDataset").Attr("metadata: string = ''");
TRANSFORM_OP("ExperimentalUnbatchDataset");
TRANSFORM_OP("WindowDataset")
    .Input("size: int64")
    .Input("shift: int64")
    .Input("stride: int64")
    .Input("drop_remainder: bool")
    .Attr("metadata: string = ''");
TRANSFORM_OP_AFTER(.Attr("drop_remainder: bool = true"), "SlidingWindowDataset")
    .Input("window_size: int64")
    .Input("window_shift: int64")
    .Input("window_stride: int64");
TRANSFORM_OP("ExperimentalSlidingWindowDataset")
    .Input("window_size: int64")
    .Input("window_shift: int64")
    .Input("window_stride: int64");
TRANSFORM_OP("UniqueDataset").Attr("metadata: string = ''");
TRANSFORM_OP("ExperimentalUniqueDataset");
TRANSFORM_OP("SleepDataset").Input("sleep_microseconds: int64");
TRANSFORM_OP("ExperimentalSleepDataset").Input("sleep_microseconds: int64");

TRANSFORM_OP("LatencyStatsDataset").Input("tag: string");
TRANSFORM_OP("ExperimentalLatencyStatsDataset").Input("tag: string");
TRANSFORM_OP("BytesProducedStatsDataset").Input("tag: string");
TRANSFORM_OP("ExperimentalBytesProducedStatsDataset").Input("tag: string");
#define SET_STATS_OP(NAME)                 \
  TRANSFORM_OP(NAME)                       \
      .Input("stats_aggregator: resource") \
      .Input("tag: string")                \
      .Input("counter_prefix: string")     \
      .SetIsStateful()
SET_STATS_OP("SetStatsAggregatorDataset").ReadsState();
SET_STATS_OP("ExperimentalSetStatsAggregatorDataset").ReadsState();
#undef SET_STATS_OP

TRANSFORM_OP("RepeatDataset")
    .Input("count: int64")
    .Attr("metadata: string = ''");
TRANSFORM_OP("TakeDataset").Input("count: int64").Attr("metadata: string = ''");
TRANSFORM_OP("SkipDataset").Input("count: int64").Attr("metadata: string = ''");
TRANSFORM_OP_AFTER(.Attr("require_non_empty: bool = false"), "ShardDataset")
    .Input("num_shards: int64")
    .Input("index: int64")
    .Attr("metadata: string = ''");
TRANSFORM_OP("ConcatenateDataset")
    .Input("another_dataset: variant")
    .Attr("metadata: string = ''");
DATASET_OP("ZipDataset")
    .Input("input_datasets: N * variant") DATASET_ELEMENTS.Attr("N: int >= 1")
    .Attr("metadata: string = ''");

#define DIRECTED_INTERLEAVE_OP(NAME)             \
  DATASET_OP(NAME)                               \
      .Input("selector_input_dataset: variant")  \
      .Input("data_input_datasets: N * variant") \
          DATASET_ELEMENTS.Attr("N: int >= 1")
DIRECTED_INTERLEAVE_OP("DirectedInterleaveDataset")
    .Attr("stop_on_empty_dataset: bool = false");
DIRECTED_INTERLEAVE_OP("ExperimentalDirectedInterleaveDataset");
#undef DIRECTED_INTERLEAVE_OP

#define PARSE_EXAMPLE_OP(NAME)                               \
  REGISTER_OP(NAME)                                          \
      .Input("input_dataset: variant")                       \
      .Input("num_parallel_calls: int64")                    \
      .Input("dense_defaults: Tdense")                       \
      .Output("handle: variant")                             \
      .Attr("sparse_keys: list(string) >= 0")                \
      .Attr("dense_keys: list(string) >= 0")                 \
      .Attr("sparse_types: list({float,int64,string}) >= 0") \
      .Attr("Tdense: list({float,int64,string}) >= 0")       \
      .Attr("dense_shapes: list(shape) >= 0")                \
          DATASET_ELEMENTS.SetShapeFn(DatasetShape)
#define RAGGED                                                          \
  .Attr("ragged_keys: list(string) >= 0 = []")                          \
      .Attr("ragged_value_types: list({float,int64,string}) >= 0 = []") \
      .Attr("ragged_split_types: list({int32,int64}) >= 0 = []")
PARSE_EXAMPLE_OP("ParseExampleDataset").Attr("sloppy: bool = false") RAGGED;
PARSE_EXAMPLE_OP("ParseExampleDatasetV2")
    .Attr("deterministic: string = 'default'") RAGGED;
PARSE_EXAMPLE_OP("ExperimentalParseExampleDataset")
    .Attr("sloppy: bool = false");
#undef RAGGED
#undef PARSE_EXAMPLE_OP

#define RESHUFFLE .Attr("reshuffle_each_iteration: bool = true")
TRANSFORM_OP_AFTER(RESHUFFLE, "ShuffleDataset")
    .Input("buffer_size: int64")
    .Input("seed: int64")
    .Input("seed2: int64")
    .Attr("metadata: string = ''")
    .IsRandom();
TRANSFORM_OP("ShuffleDatasetV2")
    .Input("buffer_size: int64")
    .Input("seed_generator: resource")
    .Attr("metadata: string = ''")
    .SetIsStateful()
    .IsRandom();
TRANSFORM_OP_AFTER(RESHUFFLE, "ShuffleDatasetV3")
    .Input("buffer_size: int64")
    .Input("seed: int64")
    .Input("seed2: int64")
    .Input("seed_generator: resource")
    .Attr("metadata: string = ''")
    .SetIsStateful()
    .IsRandom();
TRANSFORM_OP("ShuffleAndRepeatDataset")
    .Input("buffer_size: int64")
    .Input("seed: int64")
    .Input("seed2: int64")
    .Input("count: int64") RESHUFFLE.Attr("metadata: string = ''")
    .IsRandom();
TRANSFORM_OP_AFTER(RESHUFFLE, "ShuffleAndRepeatDatasetV2")
    .Input("buffer_size: int64")
    .Input("seed: int64")
    .Input("seed2: int64")
    .Input("count: int64")
    .Input("seed_generator: resource")
    .Attr("metadata: string = ''")
    .SetIsStateful()
    .IsRandom();
#undef RESHUFFLE

TRANSFORM_OP("CacheDataset")
    .Input("filename: string")
    .Attr("metadata: string = ''")
    .ReadsFiles()
    .WritesFiles()
    .FileNameInput(1);
TRANSFORM_OP("CacheDatasetV2")
    .Input("filename: string")
    .Input("cache: resource")
    .Attr("metadata: string = ''")
    .SetIsStateful()
    .WritesState()
    .ReadsFiles()
    .WritesFiles()
    .FileNameInput(1);
TRANSFORM_OP("PrefetchDataset")
    .Input("buffer_size: int64")
    .Attr("slack_period: int = 0")
    .Attr("legacy_autotune: bool = true")
    .Attr("buffer_size_min: int = 0")
    .Attr("metadata: string = ''");
TRANSFORM_OP("IgnoreErrorsDataset").Attr("log_warning: bool = false");
TRANSFORM_OP("ExperimentalIgnoreErrorsDataset")
    .Attr("log_warning: bool = false");

#define BUDGETS                    \
  .Attr("algorithm: int = 0")      \
      .Attr("cpu_budget: int = 0") \
      .Attr("ram_budget: int = 0")
TRANSFORM_OP_AFTER(BUDGETS, "ModelDataset");
#undef BUDGETS
TRANSFORM_OP("OptimizeDataset")
    .Input("optimizations: string")
    .Attr("optimization_configs: list(string) = []");
TRANSFORM_OP("OptimizeDatasetV2")
    .Input("optimizations_enabled: string")
    .Input("optimizations_disabled: string")
    .Input("optimizations_default: string")
    .Attr("optimization_configs: list(string) = []");
TRANSFORM_OP_AFTER(.Attr("serialized_options: string"), "OptionsDataset")
    .Attr("metadata: string = ''");
TRANSFORM_OP_AFTER(.Attr("has_captured_ref: bool = false"), "FinalizeDataset");
TRANSFORM_OP("MaxIntraOpParallelismDataset")
    .Input("max_intra_op_parallelism: int64");
TRANSFORM_OP("ExperimentalMaxIntraOpParallelismDataset")
    .Input("max_intra_op_parallelism: int64");
TRANSFORM_OP("PrivateThreadPoolDataset").Input("num_threads: int64");
TRANSFORM_OP("ExperimentalPrivateThreadPoolDataset")
    .Input("num_threads: int64");
TRANSFORM_OP("NonSerializableDataset");
TRANSFORM_OP("ExperimentalNonSerializableDataset");

}  // namespace
}  // namespace headrace
