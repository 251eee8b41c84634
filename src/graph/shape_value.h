// What is known of an integer tensor whose value depends on shapes: the vector
// [batch, 28 * 28] is half known when only the batch size is not. Such tensors
// come from Shape and go through slicing, packing and arithmetic into Reshape.
#ifndef HEADRACE_GRAPH_SHAPE_VALUE_H_
#define HEADRACE_GRAPH_SHAPE_VALUE_H_

#include "headrace/graph.h"

namespace headrace {

// Output `e` if its node looks at shapes alone (Shape, ShapeN, Size, Rank) and
// what is known of them tells it.
bool StaticShapeValue(const Endpoint& e, Tensor* out);

// The value of an int32 or int64 scalar or vector if all of it is known.
bool EvaluateShapeValue(const Endpoint& e, Tensor* out);

// What is known of an int32 or int64 vector read as a shape, or of a matrix
// read row by row; false if nothing is, not even its length.
bool EvaluateAsShape(const Endpoint& e, PartialTensorShape* out);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_SHAPE_VALUE_H_
