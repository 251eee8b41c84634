// Partial evaluation of integer scalars and vectors, element by element. What
// an op does with them, its schema says
// (framework/shape_fns/shape_value_fns.h). The walk backwards is bounded by a
// budget of nodes, since a hostile graph can name one input twice at every
// level, and by a depth, since it recurses.
#include "graph/shape_value.h"

#include "framework/shape_fns/shape_value_fns.h"
#include "graph/constant_eval.h"

namespace headrace {
namespace {

constexpr int kMaxDepth = 64;
constexpr int kMaxVisits = 500;
constexpr ConstantEvalLimits kSmall{.max_elements = ShapeValue::kMaxElements,
                                    .max_nodes = 100};

bool IsIndexType(DataType t) {
  return t == DT_INT32 || t == DT_INT64 || t == DT_INT16;
}

MaybeShapeValue FromTensor(const Tensor& t) {
  if (t.dims() > 1 || t.NumElements() > ShapeValue::kMaxElements)
    return std::nullopt;
  ShapeValue v{.is_scalar = t.dims() == 0};
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    switch (t.dtype()) {
      case DT_INT16:
        v.elements.push_back(t.data<int16_t>()[i]);
        break;
      case DT_INT32:
        v.elements.push_back(t.data<int32_t>()[i]);
        break;
      case DT_INT64:
        v.elements.push_back(t.data<int64_t>()[i]);
        break;
      default:
        return std::nullopt;
    }
  }
  return v;
}

class Evaluator {
 public:
  MaybeShapeValue Evaluate(const Endpoint& e, int depth = 0);
  // The elements of a matrix that was stacked of vectors or reshaped from one,
  // row by row.
  MaybeShapeValue EvaluateMatrix(const Endpoint& e, int depth = 0);
  // Output `e` if the shapes of its inputs tell it.
  static MaybeShapeValue OfShapes(const Endpoint& e);

 private:
  class Context;
  int visits_ = 0;
};

class Evaluator::Context final : public ShapeValueContext {
 public:
  Context(Evaluator* evaluator, const Endpoint& e, int depth)
      : evaluator_(evaluator), n_(*e.node), output_(e.index), depth_(depth) {}

  int num_inputs() const override { return n_.num_inputs(); }
  const AttrMap& attrs() const override { return n_.attrs(); }
  int output() const override { return output_; }
  DataType output_type() const override { return n_.output_type(output_); }
  const PartialTensorShape& output_shape() const override {
    return n_.output_shape(output_);
  }
  const PartialTensorShape* input_shape(int i) const override {
    const Edge* const e = InputEdge(i);
    return e == nullptr ? nullptr : &e->src()->output_shape(e->src_output());
  }
  MaybeShapeValue input(int i) const override {
    const Edge* const e = InputEdge(i);
    if (e == nullptr || evaluator_ == nullptr) return std::nullopt;
    return evaluator_->Evaluate({e->src(), e->src_output()}, depth_ + 1);
  }
  MaybeShapeValue matrix_input(int i) const override {
    const Edge* const e = InputEdge(i);
    if (e == nullptr || evaluator_ == nullptr) return std::nullopt;
    return evaluator_->EvaluateMatrix({e->src(), e->src_output()}, depth_ + 1);
  }
  MaybeShapeValue invariant_input(int i) const override {
    const Edge* const e = InputEdge(i);
    if (e == nullptr || evaluator_ == nullptr) return std::nullopt;
    return evaluator_->Evaluate(SourceOfInvariant({e->src(), e->src_output()}),
                                depth_ + 1);
  }

 private:
  const Edge* InputEdge(int i) const {
    return i < 0 || i >= n_.num_inputs() ? nullptr : n_.input_edge(i);
  }

  Evaluator* const evaluator_;  // null: shapes alone
  const Node& n_;
  const int output_, depth_;
};

MaybeShapeValue Evaluator::Evaluate(const Endpoint& e, int depth) {
  const Node& n = *e.node;
  if (!IsIndexType(n.output_type(e.index)) || depth > kMaxDepth ||
      ++visits_ > kMaxVisits) {
    return std::nullopt;
  }
  if (const Tensor* t = ConstantValue(n)) return FromTensor(*t);
  if (const ShapeValueFn fn = n.traits().shape_value_fn) {
    return fn(Context(this, e, depth));
  }
  Tensor t;
  if (EvaluateConstant(e, &t, kSmall)) return FromTensor(t);
  return std::nullopt;
}

MaybeShapeValue Evaluator::EvaluateMatrix(const Endpoint& e, int depth) {
  const ShapeValueFn fn = e.node->traits().shape_matrix_fn;
  if (fn == nullptr || depth > kMaxDepth || ++visits_ > kMaxVisits ||
      !IsIndexType(e.node->output_type(e.index))) {
    return std::nullopt;
  }
  return fn(Context(this, e, depth));
}

MaybeShapeValue Evaluator::OfShapes(const Endpoint& e) {
  const OpTraits& traits = e.node->traits();
  if (!traits.value_is_of_shapes) return std::nullopt;
  return traits.shape_value_fn(Context(nullptr, e, 0));
}

Tensor ToTensor(const ShapeValue& v, DataType dtype) {
  const auto n = static_cast<int64_t>(v.elements.size());
  Tensor t(dtype, v.is_scalar ? TensorShape() : TensorShape({n}));
  for (int64_t i = 0; i < n; ++i) {
    if (dtype == DT_INT64) {
      t.data<int64_t>()[i] = v.elements[i];
    } else {
      t.data<int32_t>()[i] = static_cast<int32_t>(v.elements[i]);
    }
  }
  return t;
}

bool FitsType(const ShapeValue& v, DataType dtype) {
  if (dtype != DT_INT32 && dtype != DT_INT64) return false;
  for (int64_t x : v.elements) {
    if (x == ShapeValue::kUnknown ||
        (dtype == DT_INT32 && x != static_cast<int32_t>(x))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool StaticShapeValue(const Endpoint& e, Tensor* out) {
  const MaybeShapeValue v = Evaluator::OfShapes(e);
  const DataType dtype = e.node->output_type(e.index);
  if (!v || !FitsType(*v, dtype)) return false;
  *out = ToTensor(*v, dtype);
  return true;
}

bool EvaluateShapeValue(const Endpoint& e, Tensor* out) {
  const MaybeShapeValue v = Evaluator().Evaluate(e);
  const DataType dtype = e.node->output_type(e.index);
  if (!v || !FitsType(*v, dtype)) return false;
  *out = ToTensor(*v, dtype);
  return true;
}

bool EvaluateAsShape(const Endpoint& e, PartialTensorShape* out) {
  Evaluator evaluator;
  const MaybeShapeValue v = e.node->output_shape(e.index).dims() == 2
                                ? evaluator.EvaluateMatrix(e)
                                : evaluator.Evaluate(e);
  if (!v || v->is_scalar) return false;
  DimVector dims;
  for (int64_t x : v->elements) {
    if (x != ShapeValue::kUnknown && x < -1) return false;
    dims.push_back(x == ShapeValue::kUnknown ? -1 : x);
  }
  return PartialTensorShape::Build(dims, out).ok();
}

}  // namespace headrace
