// Staging areas: state between steps, without a handle; nodes of one container
// and shared_name work on one area.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using shape_inference::NoOutputs;
using shape_inference::ScalarShape;
using shape_inference::UnknownShape;

// What names an area and bounds it, the same for all of its nodes, around the
// attr dtypes; ops that only look at the area take no types.
#define STAGING_OP(NAME, DTYPES)                \
  REGISTER_OP(NAME)                             \
      .Attr("capacity: int >= 0 = 0")           \
      .Attr("memory_limit: int >= 0 = 0")       \
          DTYPES.Attr("container: string = ''") \
      .Attr("shared_name: string = ''")         \
      .SetIsStateful()
#define SOME .Attr("dtypes: list(type) >= 1")
#define ANY .Attr("dtypes: list(type)")

STAGING_OP("Stage", SOME)
    .Input("values: dtypes")
    .SetShapeFn(NoOutputs)
    .WritesState();
STAGING_OP("Unstage", SOME)
    .Output("values: dtypes")
    .SetShapeFn(UnknownShape)
    .WritesState();
STAGING_OP("StagePeek", SOME)
    .Input("index: int32")
    .Output("values: dtypes")
    .SetShapeFn(UnknownShape)
    .ReadsState();
STAGING_OP("StageSize", ANY)
    .Output("size: int32")
    .SetShapeFn(ScalarShape)
    .ReadsState();
STAGING_OP("StageClear", ANY).SetShapeFn(NoOutputs).WritesState();

// Maps of tuples by key; an ordered one gives out the smallest key first.
#define MAP_OPS(MAP)                                                \
  STAGING_OP(MAP "Stage", ANY.Attr("fake_dtypes: list(type) >= 1")) \
      .WritesState()                                                \
      .Input("key: int64")                                          \
      .Input("indices: int32")                                      \
      .Input("values: fake_dtypes")                                 \
      .SetShapeFn(NoOutputs);                                       \
  STAGING_OP(MAP "Peek", SOME)                                      \
      .ReadsState()                                                 \
      .Input("key: int64")                                          \
      .Input("indices: int32")                                      \
      .Output("values: dtypes")                                     \
      .SetShapeFn(UnknownShape);                                    \
  STAGING_OP(MAP "Unstage", SOME)                                   \
      .WritesState()                                                \
      .Input("key: int64")                                          \
      .Input("indices: int32")                                      \
      .Output("values: dtypes")                                     \
      .SetShapeFn(UnknownShape);                                    \
  STAGING_OP(MAP "UnstageNoKey", SOME)                              \
      .WritesState()                                                \
      .Input("indices: int32")                                      \
      .Output("key: int64")                                         \
      .Output("values: dtypes")                                     \
      .SetShapeFn(UnknownShape);                                    \
  STAGING_OP(MAP "Size", ANY)                                       \
      .ReadsState()                                                 \
      .Output("size: int32")                                        \
      .SetShapeFn(ScalarShape);                                     \
  STAGING_OP(MAP "IncompleteSize", ANY)                             \
      .ReadsState()                                                 \
      .Output("size: int32")                                        \
      .SetShapeFn(ScalarShape);                                     \
  STAGING_OP(MAP "Clear", ANY).WritesState().SetShapeFn(NoOutputs);
MAP_OPS("Map")
MAP_OPS("OrderedMap")
#undef MAP_OPS
#undef ANY
#undef SOME
#undef STAGING_OP

}  // namespace
}  // namespace headrace
