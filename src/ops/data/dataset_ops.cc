// What is asked of datasets, and the resources that they work with: seed
// generators and caches. Datasets themselves are in dataset_source_ops.cc,
// dataset_function_ops.cc and dataset_transform_ops.cc.
#include "ops/data/dataset_op.h"

namespace headrace {
namespace {

#define CARDINALITY_OP(NAME)           \
  REGISTER_OP(NAME)                    \
      .Input("input_dataset: variant") \
      .Output("cardinality: int64")    \
      .SetShapeFn(DatasetShape)
CARDINALITY_OP("DatasetCardinality").Attr("cardinality_options: string = ''");
CARDINALITY_OP("ExperimentalDatasetCardinality");
#undef CARDINALITY_OP

#define TO_TF_RECORD_OP(NAME)            \
  REGISTER_OP(NAME)                      \
      .Input("input_dataset: variant")   \
      .Input("filename: string")         \
      .Input("compression_type: string") \
      .SetIsStateful()                   \
      .SetShapeFn(DatasetConsumerShape)
TO_TF_RECORD_OP("DatasetToTFRecord")
    .WritesFiles()
    .FileNameInput(1)
    .CallsFunctions();
TO_TF_RECORD_OP("ExperimentalDatasetToTFRecord")
    .WritesFiles()
    .FileNameInput(1)
    .CallsFunctions();
#undef TO_TF_RECORD_OP

REGISTER_OP("DatasetToSingleElement")
    .Input("dataset: variant")
    .Output("components: output_types") DATASET_ELEMENTS
    .Attr("metadata: string = ''")
    .SetIsStateful()
    .SetShapeFn(ElementShape)
    .CallsFunctions();

REGISTER_OP("GetElementAtIndex")
    .Input("dataset: variant")
    .Input("index: int64")
    .Output("components: output_types") DATASET_ELEMENTS
    .SetShapeFn(ElementShape)
    .CallsFunctions();

#define RESOURCE_OP(NAME)         \
  REGISTER_OP(NAME)               \
      .Output("handle: resource") \
      .SetIsStateful()            \
      .SetShapeFn(DatasetShape)
#define ANONYMOUS_OP(NAME) RESOURCE_OP(NAME).Output("deleter: variant")
ANONYMOUS_OP("AnonymousSeedGenerator")
    .Input("seed: int64")
    .Input("seed2: int64")
    .Input("reshuffle: bool")
    .WritesState();
ANONYMOUS_OP("AnonymousRandomSeedGenerator")
    .Input("seed: int64")
    .Input("seed2: int64")
    .WritesState();
ANONYMOUS_OP("AnonymousMemoryCache").WritesState();
RESOURCE_OP("DummySeedGenerator").ReadsState();
RESOURCE_OP("DummyMemoryCache").ReadsState();
#undef ANONYMOUS_OP
#undef RESOURCE_OP

#define DELETE_OP(NAME)          \
  REGISTER_OP(NAME)              \
      .Input("handle: resource") \
      .Input("deleter: variant") \
      .SetIsStateful()           \
      .SetShapeFn(DatasetConsumerShape)
DELETE_OP("DeleteSeedGenerator").WritesState();
DELETE_OP("DeleteRandomSeedGenerator").WritesState();
DELETE_OP("DeleteMemoryCache").WritesState();
#undef DELETE_OP

}  // namespace
}  // namespace headrace
