// InferenceContext: what a shape function sees of a node while the graph is
// built. It has the attrs, the input shapes as far as they are known, and the
// values of inputs that are constant. The shape function sets the shape of each
// output. It returns InvalidArgument for inputs that cannot work.
//
// Shapes are values (PartialTensorShape); the dim -1 is unknown. Not
// thread-safe: one thread uses a context. The context does not own the OpDef,
// the attrs and the values given to it; they must outlive it.
#ifndef HEADRACE_SHAPE_INFERENCE_H_
#define HEADRACE_SHAPE_INFERENCE_H_

#include <string>
#include <vector>

#include "headrace/op_def.h"
#include "headrace/resource_handle.h"
#include "headrace/tensor.h"

namespace headrace {

class InferenceContext {
 public:
  using Shape = PartialTensorShape;

  // `input_values[i]` is the value of input i, or null if it is not known; the
  // list may be shorter than the inputs. `input_values_as_shapes[i]`, if
  // present, is what is known of input i read as a shape (see
  // MakeShapeFromInput). `input_handles[i]` describes what a resource input
  // refers to.
  InferenceContext(const OpDef* def, const AttrMap* attrs,
                   std::vector<Shape> inputs,
                   std::vector<const Tensor*> input_values,
                   std::vector<Shape> input_values_as_shapes = {},
                   std::vector<std::vector<DtypeAndShape>> input_handles = {},
                   int num_outputs = -1);

  // Runs the op's shape function. Without one, returns OK and leaves the
  // outputs unknown.
  Status Run(ShapeFn fn);

  const OpDef& op_def() const { return *def_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& input(int i) const { return inputs_[i]; }
  // The shapes of a named input; several for a list input.
  Status input(absl::string_view name, std::vector<Shape>* out) const;
  const Shape& output(int i) const { return outputs_[i]; }
  void set_output(int i, Shape s) { outputs_[i] = std::move(s); }
  void set_input(int i, Shape s) { inputs_[i] = std::move(s); }

  // The value of input i, or null if it is not known yet. The request is
  // recorded: the graph then evaluates the constant subgraph at that input and
  // runs the shape function again.
  const Tensor* input_tensor(int i);
  bool requested_input_tensor(int i) const { return requested_tensor_[i]; }
  bool requested_input_as_shape(int i) const { return requested_shape_[i]; }

  // Reads the int32 or int64 vector at input i as a shape. Unknown dims become
  // -1. Unknown rank if nothing is known.
  Status MakeShapeFromInput(int i, Shape* out);
  // Reads the integer scalar at input i as a dim; -1 if it is not known.
  // InvalidArgument if it is negative.
  Status MakeDimForScalarInput(int i, int64_t* out);
  // Reads an integer input of one element. Returns false if it is not known.
  bool ScalarInput(int i, int64_t* out);
  // Reads the elements of an int32 or int64 input. Returns false if they are
  // not known.
  bool IntInputs(int i, std::vector<int64_t>* out);

  template <typename T>
  Status GetAttr(absl::string_view name, T* v) const {
    return attrs_->Get(name, v);
  }
  const AttrMap& attrs() const { return *attrs_; }

  // InvalidArgument on a contradiction; else *out is what both facts together
  // tell. The messages are TensorFlow's: "Shape must be rank 2 but is rank 1".
  Status WithRank(const Shape& s, int rank, Shape* out) const;
  Status WithRankAtLeast(const Shape& s, int rank, Shape* out) const;
  Status WithRankAtMost(const Shape& s, int rank, Shape* out) const;
  Status WithValue(int64_t dim, int64_t value, int64_t* out) const;
  Status Merge(const Shape& a, const Shape& b, Shape* out) const;
  Status MergeDims(int64_t a, int64_t b, int64_t* out) const;
  Status MergePrefix(const Shape& s, const Shape& prefix, Shape* s_out,
                     Shape* prefix_out) const;

  static Shape Scalar() { return Shape::Scalar(); }
  static Shape UnknownShape() { return Shape::UnknownRank(); }
  static Shape UnknownShapeOfRank(int r) { return Shape::UnknownDims(r); }
  static Shape Vector(int64_t n) { return Shape({n}); }
  static Shape Matrix(int64_t m, int64_t n) { return Shape({m, n}); }
  // The dim i of `s`; a negative i counts from the end. -1 if the rank is
  // unknown.
  static int64_t Dim(const Shape& s, int i) {
    if (s.unknown_rank()) return -1;
    if (i < 0) i += s.dims();
    return i < 0 || i >= s.dims() ? -1 : s.dim_size(i);
  }
  static int Rank(const Shape& s) { return s.dims(); }
  static bool RankKnown(const Shape& s) { return !s.unknown_rank(); }
  // s[begin:end], as Python slices: negative indices count from the end.
  Status Subshape(const Shape& s, int64_t begin, Shape* out) const;
  Status Subshape(const Shape& s, int64_t begin, int64_t end, Shape* out) const;
  Status Concatenate(const Shape& a, const Shape& b, Shape* out) const;
  Status ReplaceDim(const Shape& s, int64_t at, int64_t dim, Shape* out) const;

  // Arithmetic on dims; -1 is an unknown dim. InvalidArgument on overflow or a
  // negative result.
  Status Divide(int64_t dim, int64_t by, bool must_be_exact,
                int64_t* out) const;
  Status Add(int64_t a, int64_t b, int64_t* out) const;
  Status Subtract(int64_t a, int64_t b, int64_t* out) const;
  Status Multiply(int64_t a, int64_t b, int64_t* out) const;

  // What the resource handle at an input or output refers to.
  const std::vector<DtypeAndShape>* input_handle(int i) const;
  void set_output_handle(int i, std::vector<DtypeAndShape> h);
  const std::vector<std::vector<DtypeAndShape>>& output_handles() const {
    return output_handles_;
  }

 private:
  const OpDef* def_;
  const AttrMap* attrs_;
  std::vector<Shape> inputs_;
  std::vector<const Tensor*> input_values_;
  std::vector<Shape> input_values_as_shapes_;
  std::vector<std::vector<DtypeAndShape>> input_handles_;
  std::vector<Shape> outputs_;
  std::vector<std::vector<DtypeAndShape>> output_handles_;
  std::vector<char> requested_tensor_, requested_shape_;
};

}  // namespace headrace

#endif  // HEADRACE_SHAPE_INFERENCE_H_
