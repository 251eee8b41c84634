// What is known of an integer tensor whose value depends on shapes. The vector
// [batch, 28 * 28] is half known if only the batch size is unknown. Such
// tensors come from Shape, pass through slices, packs and arithmetic, and end
// in Reshape.
#ifndef HEADRACE_GRAPH_SHAPE_VALUE_H_
#define HEADRACE_GRAPH_SHAPE_VALUE_H_

#include "headrace/graph.h"

namespace headrace {

// The value of output `e` of a node that uses only shapes (Shape, ShapeN, Size,
// Rank). Returns false if the known shapes do not determine it.
bool StaticShapeValue(const Endpoint& e, Tensor* out);

// The value of an int32 or int64 scalar or vector. Returns false unless all of
// it is known.
bool EvaluateShapeValue(const Endpoint& e, Tensor* out);

// What is known of an int32 or int64 vector read as a shape, or of a matrix
// read row by row. Returns false if not even its length is known.
bool EvaluateAsShape(const Endpoint& e, PartialTensorShape* out);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_SHAPE_VALUE_H_
