// Partial evaluation of integer scalars and vectors, element by element. The
// walk backwards is bounded by a budget of nodes, since a hostile graph can
// name one input twice at every level, and by a depth, since it recurses.
#include "graph/shape_value.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "graph/constant_eval.h"

namespace headrace {
namespace {

// An element that is not known. No shape contains it.
constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
constexpr int kMaxDepth = 64;
constexpr int kMaxVisits = 500;
// Longer vectors are no shapes.
constexpr int64_t kMaxElements = 2 * kMaxTensorRank;
constexpr ConstantEvalLimits kSmall{.max_elements = kMaxElements,
                                    .max_nodes = 100};

// A scalar (one element) or a vector.
struct Value {
  bool is_scalar = false;
  std::vector<int64_t> elements;
};
using MaybeValue = std::optional<Value>;

bool IsIndexType(DataType t) {
  return t == DT_INT32 || t == DT_INT64 || t == DT_INT16;
}

MaybeValue FromTensor(const Tensor& t) {
  if (t.dims() > 1 || t.NumElements() > kMaxElements) return std::nullopt;
  Value v{.is_scalar = t.dims() == 0};
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

Endpoint Input(const Node& n, int i) {
  const Edge* const e = n.input_edge(i);
  return e == nullptr ? Endpoint{} : Endpoint{e->src(), e->src_output()};
}

// dims of a shape with -1 turned into kUnknown.
MaybeValue FromShape(const PartialTensorShape& s) {
  if (s.unknown_rank()) return std::nullopt;
  Value v;
  for (int64_t d : s.dim_sizes()) v.elements.push_back(d < 0 ? kUnknown : d);
  return v;
}

int64_t IntAttr(const Node& n, absl::string_view name, int64_t otherwise) {
  int64_t v;
  return n.attrs().Get(name, &v).ok() ? v : otherwise;
}

class Evaluator {
 public:
  MaybeValue Evaluate(const Endpoint& e, int depth = 0);
  // The elements of a matrix that was stacked of vectors or reshaped from one,
  // row by row.
  MaybeValue EvaluateMatrix(const Endpoint& e, int depth = 0);

 private:
  MaybeValue EvaluateInput(const Node& n, int i, int depth) {
    const Endpoint e = Input(n, i);
    return e.node == nullptr ? std::nullopt : Evaluate(e, depth + 1);
  }
  // An input whose value must be known completely.
  MaybeValue KnownInput(const Node& n, int i, int depth) {
    MaybeValue v = EvaluateInput(n, i, depth);
    if (v && std::count(v->elements.begin(), v->elements.end(), kUnknown) > 0) {
      return std::nullopt;
    }
    return v;
  }
  MaybeValue Pack(const Node& n, int depth);
  MaybeValue Concat(const Node& n, int first, int axis, int depth);
  MaybeValue StridedSlice(const Node& n, int depth);
  MaybeValue Slice(const Node& n, int depth);
  MaybeValue Gather(const Node& n, int depth);
  MaybeValue Reshaped(const Endpoint& e, int depth);
  MaybeValue Prod(const Node& n, int depth);
  template <typename F>
  MaybeValue Binary(const Node& n, int depth, F f);

  int visits_ = 0;
};

MaybeValue Evaluator::Evaluate(const Endpoint& e, int depth) {
  const Node& n = *e.node;
  if (!IsIndexType(n.output_type(e.index)) || depth > kMaxDepth ||
      ++visits_ > kMaxVisits) {
    return std::nullopt;
  }
  if (const Tensor* t = ConstantValue(n)) return FromTensor(*t);
  const std::string& op = n.type_string();
  if (op == "Shape") {
    const Endpoint in = Input(n, 0);
    if (in.node == nullptr) return std::nullopt;
    return FromShape(in.node->output_shape(in.index));
  }
  if (op == "ShapeN") {
    const Endpoint in = Input(n, e.index);
    if (in.node == nullptr) return std::nullopt;
    return FromShape(in.node->output_shape(in.index));
  }
  if (op == "Identity" || op == "StopGradient" || op == "PreventGradient" ||
      op == "Snapshot") {
    return EvaluateInput(n, 0, depth);
  }
  if (op == "Cast") {
    // Narrowing would have to wrap; sizes do not come so large.
    MaybeValue v = EvaluateInput(n, 0, depth);
    if (v && n.output_type(0) != DT_INT64) {
      for (int64_t x : v->elements) {
        if (x != kUnknown && x != static_cast<int32_t>(x)) return std::nullopt;
      }
    }
    return v;
  }
  if (op == "Pack") return Pack(n, depth);
  if (op == "ConcatV2") return Concat(n, 0, n.num_inputs() - 1, depth);
  if (op == "Concat") return Concat(n, 1, 0, depth);
  if (op == "StridedSlice") return StridedSlice(n, depth);
  if (op == "Slice") return Slice(n, depth);
  if (op == "Gather" || op == "GatherV2") return Gather(n, depth);
  if (op == "Reshape" || op == "ExpandDims" || op == "Squeeze") {
    return Reshaped(e, depth);
  }
  if (op == "Prod") return Prod(n, depth);
  if (op == "Add" || op == "AddV2") {
    return Binary(n, depth, [](int64_t a, int64_t b) {
      int64_t r;
      return __builtin_add_overflow(a, b, &r) ? kUnknown : r;
    });
  }
  if (op == "Sub") {
    return Binary(n, depth, [](int64_t a, int64_t b) {
      int64_t r;
      return __builtin_sub_overflow(a, b, &r) ? kUnknown : r;
    });
  }
  if (op == "Mul") {
    return Binary(n, depth, [](int64_t a, int64_t b) {
      int64_t r;
      return __builtin_mul_overflow(a, b, &r) ? kUnknown : r;
    });
  }
  if (op == "FloorDiv" || op == "Div" || op == "RealDiv") {
    return Binary(n, depth, [](int64_t a, int64_t b) {
      return a < 0 || b <= 0 ? kUnknown : a / b;
    });
  }
  if (op == "Maximum") {
    return Binary(n, depth,
                  [](int64_t a, int64_t b) { return std::max(a, b); });
  }
  if (op == "Minimum") {
    return Binary(n, depth,
                  [](int64_t a, int64_t b) { return std::min(a, b); });
  }
  Tensor t;
  if (EvaluateConstant(e, &t, kSmall)) return FromTensor(t);
  return std::nullopt;
}

MaybeValue Evaluator::EvaluateMatrix(const Endpoint& e, int depth) {
  const Node& n = *e.node;
  const std::string& op = n.type_string();
  if (depth > kMaxDepth || ++visits_ > kMaxVisits) return std::nullopt;
  const Endpoint in = n.num_inputs() > 0 ? Input(n, 0) : Endpoint{};
  if (in.node == nullptr || !IsIndexType(n.output_type(e.index))) {
    return std::nullopt;
  }
  if (op == "Identity") return EvaluateMatrix(in, depth + 1);
  if (op == "Reshape") {
    MaybeValue v = Evaluate(in, depth + 1);
    if (v) v->is_scalar = false;
    return v;
  }
  if (op != "Pack" || IntAttr(n, "axis", 0) != 0) return std::nullopt;
  Value out;
  for (int i = 0; i < n.num_inputs(); ++i) {
    // Rows that are not known have unknown elements, but so many.
    const PartialTensorShape& row = e.node->output_shape(e.index);
    const int64_t columns = row.dims() == 2 ? row.dim_size(1) : -1;
    if (columns < 0 || columns > kMaxElements) return std::nullopt;
    const MaybeValue v = EvaluateInput(n, i, depth);
    if (v && static_cast<int64_t>(v->elements.size()) != columns) {
      return std::nullopt;
    }
    for (int64_t k = 0; k < columns; ++k) {
      out.elements.push_back(v ? v->elements[k] : kUnknown);
    }
    if (out.elements.size() > 2 * kMaxElements) return std::nullopt;
  }
  return out;
}

MaybeValue Evaluator::Pack(const Node& n, int depth) {
  if (IntAttr(n, "axis", 0) != 0 || n.num_inputs() > kMaxElements) {
    return std::nullopt;
  }
  Value out;
  for (int i = 0; i < n.num_inputs(); ++i) {
    const Endpoint in = Input(n, i);
    if (in.node == nullptr || in.node->output_shape(in.index).dims() > 0) {
      return std::nullopt;
    }
    const MaybeValue v = EvaluateInput(n, i, depth);
    if (v && !v->is_scalar) return std::nullopt;
    out.elements.push_back(v ? v->elements[0] : kUnknown);
  }
  return out;
}

MaybeValue Evaluator::Concat(const Node& n, int first, int axis, int depth) {
  const MaybeValue at = KnownInput(n, axis, depth);
  if (!at || !at->is_scalar || (at->elements[0] != 0 && at->elements[0] != -1))
    return std::nullopt;
  Value out;
  for (int i = 0; i + 1 < n.num_inputs(); ++i) {
    const MaybeValue v = EvaluateInput(n, first + i, depth);
    if (v) {
      if (v->is_scalar) return std::nullopt;
      out.elements.insert(out.elements.end(), v->elements.begin(),
                          v->elements.end());
    } else {
      // Unknown elements, but so many.
      const Endpoint in = Input(n, first + i);
      if (in.node == nullptr) return std::nullopt;
      const PartialTensorShape& s = in.node->output_shape(in.index);
      if (s.dims() != 1 || s.dim_size(0) < 0 || s.dim_size(0) > kMaxElements) {
        return std::nullopt;
      }
      out.elements.insert(out.elements.end(), s.dim_size(0), kUnknown);
    }
    if (static_cast<int64_t>(out.elements.size()) > kMaxElements) {
      return std::nullopt;
    }
  }
  return out;
}

MaybeValue Evaluator::StridedSlice(const Node& n, int depth) {
  const MaybeValue in = EvaluateInput(n, 0, depth);
  const MaybeValue begin = KnownInput(n, 1, depth);
  const MaybeValue end = KnownInput(n, 2, depth);
  const MaybeValue strides = KnownInput(n, 3, depth);
  if (!in || in->is_scalar || !begin || !end || !strides ||
      begin->elements.size() != 1 || end->elements.size() != 1 ||
      strides->elements.size() != 1 || IntAttr(n, "ellipsis_mask", 0) != 0 ||
      IntAttr(n, "new_axis_mask", 0) != 0) {
    return std::nullopt;
  }
  const auto size = static_cast<int64_t>(in->elements.size());
  const int64_t stride = strides->elements[0];
  if (stride == 0) return std::nullopt;
  int64_t b = begin->elements[0];
  if (IntAttr(n, "shrink_axis_mask", 0) & 1) {
    if (b < 0) b += size;
    if (b < 0 || b >= size) return std::nullopt;
    return Value{true, {in->elements[b]}};
  }
  // As Python slices: positions out of range are clamped.
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? size : size - 1;
  const auto clamp = [&](int64_t i) {
    if (i < 0) i += size;
    return std::clamp(i, low, high);
  };
  b = IntAttr(n, "begin_mask", 0) & 1 ? (stride > 0 ? low : high) : clamp(b);
  const int64_t e = IntAttr(n, "end_mask", 0) & 1 ? (stride > 0 ? high : low)
                                                  : clamp(end->elements[0]);
  // A stride beyond the size takes one element, as the size itself does.
  const int64_t step = std::clamp(stride, -size - 1, size + 1);
  Value out;
  for (int64_t i = b; stride > 0 ? i < e : i > e; i += step) {
    out.elements.push_back(in->elements[i]);
  }
  return out;
}

MaybeValue Evaluator::Slice(const Node& n, int depth) {
  const MaybeValue in = EvaluateInput(n, 0, depth);
  const MaybeValue begin = KnownInput(n, 1, depth);
  const MaybeValue size = KnownInput(n, 2, depth);
  if (!in || in->is_scalar || !begin || !size || begin->elements.size() != 1 ||
      size->elements.size() != 1) {
    return std::nullopt;
  }
  const auto n_in = static_cast<int64_t>(in->elements.size());
  const int64_t b = begin->elements[0];
  int64_t count = size->elements[0];
  if (b < 0 || b > n_in) return std::nullopt;
  if (count == -1) count = n_in - b;
  if (count < 0 || count > n_in - b) return std::nullopt;
  const auto from = in->elements.begin() + b;
  return Value{false, {from, from + count}};
}

MaybeValue Evaluator::Gather(const Node& n, int depth) {
  const MaybeValue in = EvaluateInput(n, 0, depth);
  const MaybeValue indices = KnownInput(n, 1, depth);
  if (!in || in->is_scalar || !indices || IntAttr(n, "batch_dims", 0) != 0) {
    return std::nullopt;
  }
  if (n.num_inputs() > 2) {
    const MaybeValue axis = KnownInput(n, 2, depth);
    if (!axis || !axis->is_scalar || axis->elements[0] != 0) {
      return std::nullopt;
    }
  }
  Value out{.is_scalar = indices->is_scalar};
  for (int64_t i : indices->elements) {
    if (i < 0 || i >= static_cast<int64_t>(in->elements.size())) {
      return std::nullopt;
    }
    out.elements.push_back(in->elements[i]);
  }
  return out;
}

// The same elements as a scalar or a vector.
MaybeValue Evaluator::Reshaped(const Endpoint& e, int depth) {
  MaybeValue v = EvaluateInput(*e.node, 0, depth);
  const PartialTensorShape& s = e.node->output_shape(e.index);
  if (!v || s.unknown_rank() || s.dims() > 1 ||
      (s.dims() == 0 && v->elements.size() != 1)) {
    return std::nullopt;
  }
  v->is_scalar = s.dims() == 0;
  return v;
}

MaybeValue Evaluator::Prod(const Node& n, int depth) {
  const MaybeValue in = EvaluateInput(n, 0, depth);
  const MaybeValue axes = KnownInput(n, 1, depth);
  bool keep_dims = false;
  if (!in || in->is_scalar || !axes || axes->elements.size() != 1 ||
      (axes->elements[0] != 0 && axes->elements[0] != -1) ||
      !n.attrs().Get("keep_dims", &keep_dims).ok()) {
    return std::nullopt;
  }
  int64_t product = 1;
  for (int64_t x : in->elements) {
    if (x == kUnknown || __builtin_mul_overflow(product, x, &product)) {
      product = kUnknown;
      break;
    }
  }
  return Value{!keep_dims, {product}};
}

template <typename F>
MaybeValue Evaluator::Binary(const Node& n, int depth, F f) {
  const MaybeValue a = EvaluateInput(n, 0, depth);
  const MaybeValue b = EvaluateInput(n, 1, depth);
  if (!a || !b) return std::nullopt;
  const size_t na = a->elements.size();
  const size_t nb = b->elements.size();
  if (na != nb && na != 1 && nb != 1) return std::nullopt;
  Value out{.is_scalar = a->is_scalar && b->is_scalar};
  const bool narrow = n.output_type(0) != DT_INT64;
  const size_t size = na == 1 ? nb : na;
  for (size_t i = 0; i < size; ++i) {
    const int64_t x = a->elements[na == 1 ? 0 : i];
    const int64_t y = b->elements[nb == 1 ? 0 : i];
    int64_t r = x == kUnknown || y == kUnknown ? kUnknown : f(x, y);
    if (narrow && r != static_cast<int32_t>(r)) r = kUnknown;
    out.elements.push_back(r);
  }
  return out;
}

Tensor ToTensor(const Value& v, DataType dtype) {
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

bool FitsType(const Value& v, DataType dtype) {
  if (dtype != DT_INT32 && dtype != DT_INT64) return false;
  for (int64_t x : v.elements) {
    if (x == kUnknown || (dtype == DT_INT32 && x != static_cast<int32_t>(x))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool StaticShapeValue(const Endpoint& e, Tensor* out) {
  const Node& n = *e.node;
  const std::string& op = n.type_string();
  const bool is_rank = op == "Rank";
  const bool is_size = op == "Size";
  const bool is_shape_n = op == "ShapeN";
  if (!is_rank && !is_size && !is_shape_n && op != "Shape") return false;
  const Endpoint in = Input(n, is_shape_n ? e.index : 0);
  if (in.node == nullptr) return false;
  const PartialTensorShape& s = in.node->output_shape(in.index);
  Value v;
  if (is_rank) {
    if (s.unknown_rank()) return false;
    v = {true, {s.dims()}};
  } else if (is_size) {
    if (s.num_elements() < 0) return false;
    v = {true, {s.num_elements()}};
  } else {
    if (!s.IsFullyDefined()) return false;
    v.elements.assign(s.dim_sizes().begin(), s.dim_sizes().end());
  }
  const DataType dtype = n.output_type(e.index);
  if (!FitsType(v, dtype)) return false;
  *out = ToTensor(v, dtype);
  return true;
}

bool EvaluateShapeValue(const Endpoint& e, Tensor* out) {
  const MaybeValue v = Evaluator().Evaluate(e);
  const DataType dtype = e.node->output_type(e.index);
  if (!v || !FitsType(*v, dtype)) return false;
  *out = ToTensor(*v, dtype);
  return true;
}

bool EvaluateAsShape(const Endpoint& e, PartialTensorShape* out) {
  Evaluator evaluator;
  const MaybeValue v = e.node->output_shape(e.index).dims() == 2
                           ? evaluator.EvaluateMatrix(e)
                           : evaluator.Evaluate(e);
  if (!v || v->is_scalar) return false;
  DimVector dims;
  for (int64_t x : v->elements) {
    if (x != kUnknown && x < -1) return false;
    dims.push_back(x == kUnknown ? -1 : x);
  }
  return PartialTensorShape::Build(dims, out).ok();
}

}  // namespace headrace
