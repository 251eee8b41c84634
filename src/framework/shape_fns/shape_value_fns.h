// Functions that tell the elements of small integer outputs as far as they
// follow from shapes and constants: [batch, 28 * 28] is half known when only
// the batch size is not. They are registered with the op (OpSpec::ShapeValue)
// and asked by graph/shape_value.h.
#ifndef HEADRACE_FRAMEWORK_SHAPE_FNS_SHAPE_VALUE_FNS_H_
#define HEADRACE_FRAMEWORK_SHAPE_FNS_SHAPE_VALUE_FNS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "headrace/attr_value.h"
#include "headrace/op_traits.h"
#include "headrace/tensor_shape.h"
#include "headrace/types.h"

namespace headrace {

// A scalar (one element) or a vector; or a matrix, row by row.
struct ShapeValue {
  // An element that is not known. No shape contains it.
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
  // Longer vectors are no shapes.
  static constexpr int64_t kMaxElements = 2 * kMaxTensorRank;

  bool is_scalar = false;
  std::vector<int64_t> elements;
};
using MaybeShapeValue = std::optional<ShapeValue>;

// One output of one node, as such a function sees it. Asking for an input's
// value walks the graph; there is a bound on how far. Not thread-safe.
class ShapeValueContext {
 public:
  virtual int num_inputs() const = 0;
  virtual const AttrMap& attrs() const = 0;
  virtual int output() const = 0;  // which one is asked for
  virtual DataType output_type() const = 0;
  virtual const PartialTensorShape& output_shape() const = 0;
  // Null if the input is not connected.
  virtual const PartialTensorShape* input_shape(int i) const = 0;
  // What is known of input `i`, a scalar or a vector; and of a matrix.
  virtual MaybeShapeValue input(int i) const = 0;
  virtual MaybeShapeValue matrix_input(int i) const = 0;
  // As `input`, but of a value that entered a loop and does not change in it,
  // what is known of it outside. Ops that TensorFlow's shape functions look
  // through loops for ask this, so that static shapes are TensorFlow's.
  virtual MaybeShapeValue invariant_input(int i) const = 0;

  // Input `i` if every element of it is known.
  MaybeShapeValue known_input(int i) const;
  int64_t int_attr(absl::string_view name, int64_t otherwise) const;

 protected:
  ~ShapeValueContext() = default;
};

// Of shapes alone.
MaybeShapeValue ShapeOfInput(const ShapeValueContext& c);  // Shape, ShapeN
MaybeShapeValue SizeOfInput(const ShapeValueContext& c);
MaybeShapeValue RankOfInput(const ShapeValueContext& c);

MaybeShapeValue ForwardedValue(const ShapeValueContext& c);
MaybeShapeValue CastValue(const ShapeValueContext& c);
MaybeShapeValue PackValue(const ShapeValueContext& c);
MaybeShapeValue ConcatValue(const ShapeValueContext& c);    // the axis is first
MaybeShapeValue ConcatV2Value(const ShapeValueContext& c);  // the axis is last
MaybeShapeValue StridedSliceValue(const ShapeValueContext& c);
MaybeShapeValue SliceValue(const ShapeValueContext& c);
MaybeShapeValue GatherValue(const ShapeValueContext& c);
// Reshape, ExpandDims, Squeeze: the same elements as a scalar or a vector.
MaybeShapeValue ReshapedValue(const ShapeValueContext& c);
MaybeShapeValue ProdValue(const ShapeValueContext& c);
MaybeShapeValue AddValue(const ShapeValueContext& c);
MaybeShapeValue SubValue(const ShapeValueContext& c);
MaybeShapeValue MulValue(const ShapeValueContext& c);
// Any division, of numbers that are not negative.
MaybeShapeValue DivValue(const ShapeValueContext& c);
MaybeShapeValue MaximumValue(const ShapeValueContext& c);
MaybeShapeValue MinimumValue(const ShapeValueContext& c);

// Matrices.
MaybeShapeValue ForwardedMatrix(const ShapeValueContext& c);
MaybeShapeValue ReshapedMatrix(const ShapeValueContext& c);
MaybeShapeValue PackedMatrix(const ShapeValueContext& c);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_SHAPE_FNS_SHAPE_VALUE_FNS_H_
