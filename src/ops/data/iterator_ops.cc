// Iterators over datasets, and optionals.
#include "ops/data/dataset_op.h"

namespace headrace {
namespace {

Status FromValueShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return OkStatus();
}

#define SCALARS_OP(NAME) \
  REGISTER_OP(NAME).SetIsStateful().SetShapeFn(DatasetShape)

#define NAMED_OP(NAME)             \
  SCALARS_OP(NAME)                 \
      .Output("handle: resource")  \
      .Attr("shared_name: string") \
      .Attr("container: string") DATASET_ELEMENTS
NAMED_OP("Iterator").WritesState();
NAMED_OP("IteratorV2").WritesState();
#undef NAMED_OP

#define ANONYMOUS_OP(NAME) \
  SCALARS_OP(NAME).Output("handle: resource") DATASET_ELEMENTS
ANONYMOUS_OP("AnonymousIterator").WritesState();
ANONYMOUS_OP("AnonymousIteratorV2").Output("deleter: variant").WritesState();
ANONYMOUS_OP("AnonymousIteratorV3").WritesState();
#undef ANONYMOUS_OP

SCALARS_OP("OneShotIterator")
    .Output("handle: resource")
    .Attr("dataset_factory: func") DATASET_ELEMENTS
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .WritesState()
    .CallsFunctions();

SCALARS_OP("IteratorToStringHandle")
    .Input("resource_handle: resource")
    .Output("string_handle: string")
    .ReadsState();
#define FROM_STRING_HANDLE_OP(NAME)               \
  SCALARS_OP(NAME)                                \
      .Input("string_handle: string")             \
      .Output("resource_handle: resource")        \
      .Attr("output_types: list(type) >= 0 = []") \
      .Attr("output_shapes: list(shape) >= 0 = []")
FROM_STRING_HANDLE_OP("IteratorFromStringHandle").ReadsState();
FROM_STRING_HANDLE_OP("IteratorFromStringHandleV2").ReadsState();
#undef FROM_STRING_HANDLE_OP

#define GET_DEVICE_OP(NAME) \
  SCALARS_OP(NAME).Input("resource: resource").Output("device: string")
GET_DEVICE_OP("IteratorGetDevice").ReadsState();
GET_DEVICE_OP("ExperimentalIteratorGetDevice").ReadsState();
#undef GET_DEVICE_OP

#define STATS_HANDLE_OP(NAME)         \
  SCALARS_OP(NAME)                    \
      .Output("handle: resource")     \
      .Attr("container: string = ''") \
      .Attr("shared_name: string = ''")
STATS_HANDLE_OP("StatsAggregatorHandle").WritesState();
STATS_HANDLE_OP("ExperimentalStatsAggregatorHandle").WritesState();
#undef STATS_HANDLE_OP
#define STATS_SUMMARY_OP(NAME) \
  SCALARS_OP(NAME).Input("iterator: resource").Output("summary: string")
STATS_SUMMARY_OP("StatsAggregatorSummary").ReadsState();
STATS_SUMMARY_OP("ExperimentalStatsAggregatorSummary").ReadsState();
#undef STATS_SUMMARY_OP

REGISTER_OP("MakeIterator")
    .Input("dataset: variant")
    .Input("iterator: resource")
    .SetIsStateful()
    .SetShapeFn(DatasetConsumerShape)
    .WritesState()
    .CallsFunctions();
SCALARS_OP("SerializeIterator")
    .Input("resource_handle: resource")
    .Output("serialized: variant")
    .ReadsState()
    .CallsFunctions();
REGISTER_OP("DeserializeIterator")
    .Input("resource_handle: resource")
    .Input("serialized: variant")
    .SetIsStateful()
    .SetShapeFn(DatasetConsumerShape)
    .WritesState()
    .CallsFunctions();
REGISTER_OP("DeleteIterator")
    .Input("handle: resource")
    .Input("deleter: variant")
    .SetIsStateful()
    .SetShapeFn(DatasetConsumerShape)
    .WritesState();

#define GET_NEXT_OP(NAME)                                                  \
  REGISTER_OP(NAME)                                                        \
      .Input("iterator: resource")                                         \
      .Output("components: output_types") DATASET_ELEMENTS.SetIsStateful() \
      .SetShapeFn(ElementShape)
GET_NEXT_OP("IteratorGetNext").WritesState();
GET_NEXT_OP("IteratorGetNextSync").WritesState();
#undef GET_NEXT_OP
SCALARS_OP("IteratorGetNextAsOptional")
    .Input("iterator: resource")
    .Output("optional: variant") DATASET_ELEMENTS.WritesState();
#undef SCALARS_OP

REGISTER_OP("OptionalNone")
    .Output("optional: variant")
    .SetShapeFn(DatasetShape);
REGISTER_OP("OptionalHasValue")
    .Input("optional: variant")
    .Output("has_value: bool")
    .SetShapeFn(DatasetShape);
REGISTER_OP("OptionalGetValue")
    .Input("optional: variant")
    .Output("components: output_types")
        DATASET_ELEMENTS.SetShapeFn(ElementShape);
REGISTER_OP("OptionalFromValue")
    .Input("components: Toutput_types")
    .Output("optional: variant")
    .Attr("Toutput_types: list(type) >= 1")
    .SetShapeFn(FromValueShape);

}  // namespace
}  // namespace headrace
