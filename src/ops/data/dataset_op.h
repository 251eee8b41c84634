// What the schemas of datasets and iterators share. Of the elements nothing is
// known but what the attrs say.
#ifndef HEADRACE_OPS_DATA_DATASET_OP_H_
#define HEADRACE_OPS_DATA_DATASET_OP_H_

#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {

// Shape functions: inputs are scalars, except lists and the few that are
// vectors by name. The outputs are scalars,
Status DatasetShape(InferenceContext* c);
// or the components of an element, whose shapes the attr output_shapes gives;
Status ElementShape(InferenceContext* c);
// or there are none.
Status DatasetConsumerShape(InferenceContext* c);

}  // namespace headrace

// Schemas begin with one of these. The attrs of an op keep their order: what
// comes before output_types is the argument FIRST, the rest follows.
#define DATASET_OP(NAME) \
  REGISTER_OP(NAME).Output("handle: variant").SetShapeFn(DatasetShape)

#define DATASET_ELEMENTS \
  .Attr("output_types: list(type) >= 1").Attr("output_shapes: list(shape) >= 1")

#define TRANSFORM_OP_AFTER(FIRST, NAME) \
  DATASET_OP(NAME).Input("input_dataset: variant") FIRST DATASET_ELEMENTS

#define TRANSFORM_OP(NAME) TRANSFORM_OP_AFTER(, NAME)

#endif  // HEADRACE_OPS_DATA_DATASET_OP_H_
