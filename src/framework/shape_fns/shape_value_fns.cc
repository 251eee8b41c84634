#include "framework/shape_fns/shape_value_fns.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr int64_t kUnknown = ShapeValue::kUnknown;
constexpr int64_t kMaxElements = ShapeValue::kMaxElements;

// `v` if every element of it is known.
MaybeShapeValue Known(MaybeShapeValue v) {
  if (v && std::count(v->elements.begin(), v->elements.end(), kUnknown) > 0) {
    return std::nullopt;
  }
  return v;
}

using InputFn = MaybeShapeValue (ShapeValueContext::*)(int) const;

MaybeShapeValue Concat(const ShapeValueContext& c, int first, int axis,
                       InputFn input) {
  const MaybeShapeValue at = Known((c.*input)(axis));
  if (!at || !at->is_scalar || (at->elements[0] != 0 && at->elements[0] != -1))
    return std::nullopt;
  ShapeValue out;
  for (int i = 0; i + 1 < c.num_inputs(); ++i) {
    const MaybeShapeValue v = (c.*input)(first + i);
    if (v) {
      if (v->is_scalar) return std::nullopt;
      out.elements.insert(out.elements.end(), v->elements.begin(),
                          v->elements.end());
    } else {
      // Unknown elements, but so many.
      const PartialTensorShape* const s = c.input_shape(first + i);
      if (s == nullptr || s->dims() != 1 || s->dim_size(0) < 0 ||
          s->dim_size(0) > kMaxElements) {
        return std::nullopt;
      }
      out.elements.insert(out.elements.end(), s->dim_size(0), kUnknown);
    }
    if (static_cast<int64_t>(out.elements.size()) > kMaxElements) {
      return std::nullopt;
    }
  }
  return out;
}

template <typename F>
MaybeShapeValue Binary(const ShapeValueContext& c, F f) {
  const MaybeShapeValue a = c.input(0);
  const MaybeShapeValue b = c.input(1);
  if (!a || !b) return std::nullopt;
  const size_t na = a->elements.size();
  const size_t nb = b->elements.size();
  if (na != nb && na != 1 && nb != 1) return std::nullopt;
  ShapeValue out{.is_scalar = a->is_scalar && b->is_scalar};
  const bool narrow = c.output_type() != DT_INT64;
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

}  // namespace

MaybeShapeValue ShapeValueContext::known_input(int i) const {
  return Known(input(i));
}

int64_t ShapeValueContext::int_attr(absl::string_view name,
                                    int64_t otherwise) const {
  int64_t v;
  return attrs().Get(name, &v).ok() ? v : otherwise;
}

MaybeShapeValue ShapeOfInput(const ShapeValueContext& c) {
  const PartialTensorShape* const s = c.input_shape(c.output());
  if (s == nullptr || s->unknown_rank()) return std::nullopt;
  ShapeValue v;
  for (int64_t d : s->dim_sizes()) v.elements.push_back(d < 0 ? kUnknown : d);
  return v;
}

MaybeShapeValue SizeOfInput(const ShapeValueContext& c) {
  const PartialTensorShape* const s = c.input_shape(0);
  if (s == nullptr || s->num_elements() < 0) return std::nullopt;
  return ShapeValue{true, {s->num_elements()}};
}

MaybeShapeValue RankOfInput(const ShapeValueContext& c) {
  const PartialTensorShape* const s = c.input_shape(0);
  if (s == nullptr || s->unknown_rank()) return std::nullopt;
  return ShapeValue{true, {s->dims()}};
}

MaybeShapeValue ForwardedValue(const ShapeValueContext& c) {
  return c.input(0);
}

MaybeShapeValue CastValue(const ShapeValueContext& c) {
  // Narrowing would have to wrap; sizes do not come so large.
  MaybeShapeValue v = c.input(0);
  if (v && c.output_type() != DT_INT64) {
    for (int64_t x : v->elements) {
      if (x != kUnknown && x != static_cast<int32_t>(x)) return std::nullopt;
    }
  }
  return v;
}

MaybeShapeValue ConcatValue(const ShapeValueContext& c) {
  return Concat(c, 1, 0, &ShapeValueContext::input);
}
MaybeShapeValue ConcatV2Value(const ShapeValueContext& c) {
  return Concat(c, 0, c.num_inputs() - 1, &ShapeValueContext::invariant_input);
}

MaybeShapeValue PackValue(const ShapeValueContext& c) {
  if (c.int_attr("axis", 0) != 0 || c.num_inputs() > kMaxElements) {
    return std::nullopt;
  }
  ShapeValue out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialTensorShape* const s = c.input_shape(i);
    if (s == nullptr || s->dims() > 0) return std::nullopt;
    const MaybeShapeValue v = c.invariant_input(i);
    if (v && !v->is_scalar) return std::nullopt;
    out.elements.push_back(v ? v->elements[0] : kUnknown);
  }
  return out;
}

MaybeShapeValue StridedSliceValue(const ShapeValueContext& c) {
  const InputFn input = c.output_shape().dims() == 1
                            ? &ShapeValueContext::invariant_input
                            : &ShapeValueContext::input;
  const MaybeShapeValue in = (c.*input)(0);
  const MaybeShapeValue begin = Known((c.*input)(1));
  const MaybeShapeValue end = Known((c.*input)(2));
  const MaybeShapeValue strides = Known((c.*input)(3));
  if (!in || in->is_scalar || !begin || !end || !strides ||
      begin->elements.size() != 1 || end->elements.size() != 1 ||
      strides->elements.size() != 1 || c.int_attr("ellipsis_mask", 0) != 0 ||
      c.int_attr("new_axis_mask", 0) != 0) {
    return std::nullopt;
  }
  const auto size = static_cast<int64_t>(in->elements.size());
  const int64_t stride = strides->elements[0];
  if (stride == 0) return std::nullopt;
  int64_t b = begin->elements[0];
  if (c.int_attr("shrink_axis_mask", 0) & 1) {
    if (b < 0) b += size;
    if (b < 0 || b >= size) return std::nullopt;
    return ShapeValue{true, {in->elements[b]}};
  }
  // As Python slices: positions out of range are clamped.
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? size : size - 1;
  const auto clamp = [&](int64_t i) {
    if (i < 0) i += size;
    return std::clamp(i, low, high);
  };
  b = c.int_attr("begin_mask", 0) & 1 ? (stride > 0 ? low : high) : clamp(b);
  const int64_t e = c.int_attr("end_mask", 0) & 1 ? (stride > 0 ? high : low)
                                                  : clamp(end->elements[0]);
  // A stride beyond the size takes one element, as the size itself does.
  const int64_t step = std::clamp(stride, -size - 1, size + 1);
  ShapeValue out;
  for (int64_t i = b; stride > 0 ? i < e : i > e; i += step) {
    out.elements.push_back(in->elements[i]);
  }
  return out;
}

MaybeShapeValue SliceValue(const ShapeValueContext& c) {
  const MaybeShapeValue in = c.input(0);
  const MaybeShapeValue begin = c.known_input(1);
  const MaybeShapeValue size = c.known_input(2);
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
  return ShapeValue{false, {from, from + count}};
}

MaybeShapeValue GatherValue(const ShapeValueContext& c) {
  const MaybeShapeValue in = c.input(0);
  const MaybeShapeValue indices = c.known_input(1);
  if (!in || in->is_scalar || !indices || c.int_attr("batch_dims", 0) != 0) {
    return std::nullopt;
  }
  if (c.num_inputs() > 2) {
    const MaybeShapeValue axis = c.known_input(2);
    if (!axis || !axis->is_scalar || axis->elements[0] != 0) {
      return std::nullopt;
    }
  }
  ShapeValue out{.is_scalar = indices->is_scalar};
  for (int64_t i : indices->elements) {
    if (i < 0 || i >= static_cast<int64_t>(in->elements.size())) {
      return std::nullopt;
    }
    out.elements.push_back(in->elements[i]);
  }
  return out;
}

// The same elements as a scalar or a vector.
MaybeShapeValue ReshapedValue(const ShapeValueContext& c) {
  MaybeShapeValue v = c.input(0);
  const PartialTensorShape& s = c.output_shape();
  if (!v || s.unknown_rank() || s.dims() > 1 ||
      (s.dims() == 0 && v->elements.size() != 1)) {
    return std::nullopt;
  }
  v->is_scalar = s.dims() == 0;
  return v;
}

MaybeShapeValue ProdValue(const ShapeValueContext& c) {
  const MaybeShapeValue in = c.input(0);
  const MaybeShapeValue axes = c.known_input(1);
  bool keep_dims = false;
  if (!in || in->is_scalar || !axes || axes->elements.size() != 1 ||
      (axes->elements[0] != 0 && axes->elements[0] != -1) ||
      !c.attrs().Get("keep_dims", &keep_dims).ok()) {
    return std::nullopt;
  }
  int64_t product = 1;
  for (int64_t x : in->elements) {
    if (x == kUnknown || __builtin_mul_overflow(product, x, &product)) {
      product = kUnknown;
      break;
    }
  }
  return ShapeValue{!keep_dims, {product}};
}

MaybeShapeValue AddValue(const ShapeValueContext& c) {
  return Binary(c, [](int64_t a, int64_t b) {
    int64_t r;
    return __builtin_add_overflow(a, b, &r) ? kUnknown : r;
  });
}
MaybeShapeValue SubValue(const ShapeValueContext& c) {
  return Binary(c, [](int64_t a, int64_t b) {
    int64_t r;
    return __builtin_sub_overflow(a, b, &r) ? kUnknown : r;
  });
}
MaybeShapeValue MulValue(const ShapeValueContext& c) {
  return Binary(c, [](int64_t a, int64_t b) {
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) ? kUnknown : r;
  });
}
MaybeShapeValue DivValue(const ShapeValueContext& c) {
  return Binary(c, [](int64_t a, int64_t b) {
    return a < 0 || b <= 0 ? kUnknown : a / b;
  });
}
MaybeShapeValue MaximumValue(const ShapeValueContext& c) {
  return Binary(c, [](int64_t a, int64_t b) { return std::max(a, b); });
}
MaybeShapeValue MinimumValue(const ShapeValueContext& c) {
  return Binary(c, [](int64_t a, int64_t b) { return std::min(a, b); });
}

MaybeShapeValue ForwardedMatrix(const ShapeValueContext& c) {
  return c.matrix_input(0);
}

MaybeShapeValue ReshapedMatrix(const ShapeValueContext& c) {
  MaybeShapeValue v = c.input(0);
  if (v) v->is_scalar = false;
  return v;
}

MaybeShapeValue PackedMatrix(const ShapeValueContext& c) {
  if (c.int_attr("axis", 0) != 0) return std::nullopt;
  ShapeValue out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    // Rows that are not known have unknown elements, but so many.
    const PartialTensorShape& row = c.output_shape();
    const int64_t columns = row.dims() == 2 ? row.dim_size(1) : -1;
    if (columns < 0 || columns > kMaxElements) return std::nullopt;
    const MaybeShapeValue v = c.invariant_input(i);
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

}  // namespace headrace
