#include "headrace/shape_inference.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/exceptions.h"

namespace headrace {

InferenceContext::InferenceContext(
    const OpDef* def, const AttrMap* attrs, std::vector<Shape> inputs,
    std::vector<const Tensor*> input_values,
    std::vector<Shape> input_values_as_shapes,
    std::vector<std::vector<DtypeAndShape>> input_handles, int num_outputs)
    : def_(def),
      attrs_(attrs),
      inputs_(std::move(inputs)),
      input_values_(std::move(input_values)),
      input_values_as_shapes_(std::move(input_values_as_shapes)),
      input_handles_(std::move(input_handles)) {
  input_values_.resize(inputs_.size());
  input_values_as_shapes_.resize(inputs_.size());
  input_handles_.resize(inputs_.size());
  requested_tensor_.resize(inputs_.size());
  requested_shape_.resize(inputs_.size());
  if (num_outputs < 0) {
    std::vector<ArgRange> ranges;
    num_outputs = 0;
    if (ArgRanges(def->outputs, *def, *attrs, &ranges).ok() &&
        !ranges.empty()) {
      num_outputs = ranges.back().end;
    }
  }
  outputs_.resize(num_outputs);
  output_handles_.resize(num_outputs);
}

Status InferenceContext::Run(ShapeFn fn) {
  if (fn == nullptr) return OkStatus();
  return CatchExceptions([&] { return fn(this); });
}

Status InferenceContext::input(absl::string_view name,
                               std::vector<Shape>* out) const {
  std::vector<ArgRange> ranges;
  HR_RETURN_IF_ERROR(ArgRanges(def_->inputs, *def_, *attrs_, &ranges));
  const int i = def_->FindInput(name);
  if (i < 0) {
    return errors::InvalidArgument("op ", def_->name, " has no input ", name);
  }
  out->assign(inputs_.begin() + ranges[i].begin,
              inputs_.begin() + ranges[i].end);
  return OkStatus();
}

const Tensor* InferenceContext::input_tensor(int i) {
  requested_tensor_[i] = 1;
  return input_values_[i];
}

namespace {
// The elements of an integer tensor; false for another type.
bool ReadInts(const Tensor& t, std::vector<int64_t>* out) {
  out->clear();
  if (t.dtype() == DT_INT16) {
    for (int16_t v : t.span<int16_t>()) out->push_back(v);
  } else if (t.dtype() == DT_INT32) {
    for (int32_t v : t.span<int32_t>()) out->push_back(v);
  } else if (t.dtype() == DT_INT64) {
    for (int64_t v : t.span<int64_t>()) out->push_back(v);
  } else {
    return false;
  }
  return true;
}
}  // namespace

bool InferenceContext::IntInputs(int i, std::vector<int64_t>* out) {
  const Tensor* t = input_tensor(i);
  return t != nullptr && ReadInts(*t, out);
}

bool InferenceContext::ScalarInput(int i, int64_t* out) {
  std::vector<int64_t> v;
  if (!IntInputs(i, &v) || v.size() != 1) return false;
  *out = v[0];
  return true;
}

Status InferenceContext::MakeShapeFromInput(int i, Shape* out) {
  requested_shape_[i] = 1;
  std::vector<int64_t> dims;
  if (IntInputs(i, &dims)) {
    if (input_values_[i]->dims() == 0 && dims.size() == 1 && dims[0] == -1) {
      *out = Shape::UnknownRank();
      return OkStatus();
    }
    if (input_values_[i]->dims() != 1) {
      return errors::InvalidArgument("Input tensor must be rank 1, but was ",
                                     input_values_[i]->dims());
    }
    return Shape::Build(dims, out);
  }
  const Shape& partial = input_values_as_shapes_[i];
  if (!partial.unknown_rank()) {
    *out = partial;
    return OkStatus();
  }
  Shape vector;
  HR_RETURN_IF_ERROR(WithRank(input(i), 1, &vector));
  if (vector.unknown_rank()) {
    *out = Shape::UnknownRank();
    return OkStatus();
  }
  const int64_t rank = vector.dim_size(0);
  if (rank > kMaxTensorRank) {
    return errors::InvalidArgument("Shape has ", rank,
                                   " dimensions, more than the ",
                                   kMaxTensorRank, " supported");
  }
  *out = rank < 0 ? Shape::UnknownRank()
                  : Shape::UnknownDims(static_cast<int>(rank));
  return OkStatus();
}

Status InferenceContext::MakeDimForScalarInput(int i, int64_t* out) {
  Shape s;
  HR_RETURN_IF_ERROR(WithRank(input(i), 0, &s));
  *out = -1;
  int64_t v = 0;
  if (!ScalarInput(i, &v)) return OkStatus();
  if (v < 0) {
    return errors::InvalidArgument("Dimension size, given by scalar input ", i,
                                   ", must be non-negative but is ", v);
  }
  *out = v;
  return OkStatus();
}

Status InferenceContext::WithRank(const Shape& s, int rank, Shape* out) const {
  if (s.unknown_rank()) {
    *out = Shape::UnknownDims(rank);
    return OkStatus();
  }
  if (s.dims() != rank) {
    return errors::InvalidArgument("Shape must be rank ", rank, " but is rank ",
                                   s.dims(), ". Shape is ", s.DebugString());
  }
  *out = s;
  return OkStatus();
}

Status InferenceContext::WithRankAtLeast(const Shape& s, int rank,
                                         Shape* out) const {
  if (!s.unknown_rank() && s.dims() < rank) {
    return errors::InvalidArgument("Shape must be at least rank ", rank,
                                   " but is rank ", s.dims(), ". Shape is ",
                                   s.DebugString());
  }
  *out = s;
  return OkStatus();
}

Status InferenceContext::WithRankAtMost(const Shape& s, int rank,
                                        Shape* out) const {
  if (!s.unknown_rank() && s.dims() > rank) {
    return errors::InvalidArgument("Shape must be at most rank ", rank,
                                   " but is rank ", s.dims(), ". Shape is ",
                                   s.DebugString());
  }
  *out = s;
  return OkStatus();
}

Status InferenceContext::WithValue(int64_t dim, int64_t value,
                                   int64_t* out) const {
  if (dim >= 0 && dim != value) {
    return errors::InvalidArgument("Dimension must be ", value, " but is ",
                                   dim);
  }
  *out = value;
  return OkStatus();
}

Status InferenceContext::Merge(const Shape& a, const Shape& b,
                               Shape* out) const {
  return a.MergeWith(b, out);
}

Status InferenceContext::MergeDims(int64_t a, int64_t b, int64_t* out) const {
  if (a >= 0 && b >= 0 && a != b) {
    return errors::InvalidArgument("Dimensions must be equal, but are ", a,
                                   " and ", b);
  }
  *out = a >= 0 ? a : b;
  return OkStatus();
}

Status InferenceContext::MergePrefix(const Shape& s, const Shape& prefix,
                                     Shape* s_out, Shape* prefix_out) const {
  *s_out = s;
  *prefix_out = prefix;
  if (s.unknown_rank() || prefix.unknown_rank()) return OkStatus();
  Shape checked;
  HR_RETURN_IF_ERROR(WithRankAtLeast(s, prefix.dims(), &checked));
  for (int i = 0; i < prefix.dims(); ++i) {
    int64_t d = 0;
    HR_RETURN_IF_ERROR(MergeDims(s.dim_size(i), prefix.dim_size(i), &d));
    s_out->set_dim(i, d);
    prefix_out->set_dim(i, d);
  }
  return OkStatus();
}

Status InferenceContext::Subshape(const Shape& s, int64_t begin,
                                  Shape* out) const {
  return Subshape(s, begin, INT64_MAX, out);
}

Status InferenceContext::Subshape(const Shape& s, int64_t begin, int64_t end,
                                  Shape* out) const {
  if (s.unknown_rank()) {
    *out = Shape::UnknownRank();
    return OkStatus();
  }
  const int64_t rank = s.dims();
  if (end > rank) end = rank;
  if (begin < 0) begin += rank;
  if (end < 0) end += rank;
  if (begin > rank) begin = rank;
  if (begin < 0 || end < 0 || begin > end) {
    return errors::InvalidArgument("Subshape [", begin, ", ", end,
                                   ") is out of range of shape ",
                                   s.DebugString());
  }
  *out = Shape(s.dim_sizes().subspan(begin, end - begin));
  return OkStatus();
}

Status InferenceContext::Concatenate(const Shape& a, const Shape& b,
                                     Shape* out) const {
  *out = a.Concatenate(b);
  return OkStatus();
}

Status InferenceContext::ReplaceDim(const Shape& s, int64_t at, int64_t dim,
                                    Shape* out) const {
  *out = s;
  if (s.unknown_rank()) return OkStatus();
  if (at < 0) at += s.dims();
  if (at < 0 || at >= s.dims()) {
    return errors::InvalidArgument("Out of range dim_index ", at,
                                   " for shape with ", s.dims(), " dimensions");
  }
  out->set_dim(static_cast<int>(at), dim);
  return OkStatus();
}

Status InferenceContext::Divide(int64_t dim, int64_t by, bool must_be_exact,
                                int64_t* out) const {
  if (by <= 0) {
    return errors::InvalidArgument("Divisor must be positive but is ", by);
  }
  if (dim < 0) {
    *out = -1;
    return OkStatus();
  }
  if (must_be_exact && dim % by != 0) {
    return errors::InvalidArgument(
        "Dimension size must be evenly divisible by ", by, " but is ", dim);
  }
  *out = dim / by;
  return OkStatus();
}

Status InferenceContext::Add(int64_t a, int64_t b, int64_t* out) const {
  *out = -1;
  if (a < 0 || b < 0) return OkStatus();
  *out = AddWithoutOverflow(a, b);
  if (*out < 0) {
    return errors::InvalidArgument("Dimension size overflow from adding ", a,
                                   " and ", b);
  }
  return OkStatus();
}

Status InferenceContext::Subtract(int64_t a, int64_t b, int64_t* out) const {
  *out = -1;
  if (a < 0 || b < 0) return OkStatus();
  if (a < b) {
    return errors::InvalidArgument(
        "Negative dimension size caused by subtracting ", b, " from ", a);
  }
  *out = a - b;
  return OkStatus();
}

Status InferenceContext::Multiply(int64_t a, int64_t b, int64_t* out) const {
  if (a == 0 || b == 0) {
    *out = 0;
    return OkStatus();
  }
  *out = -1;
  if (a < 0 || b < 0) return OkStatus();
  *out = MultiplyWithoutOverflow(a, b);
  if (*out < 0) {
    return errors::InvalidArgument("Dimension size overflow from multiplying ",
                                   a, " and ", b);
  }
  return OkStatus();
}

const std::vector<DtypeAndShape>* InferenceContext::input_handle(int i) const {
  return input_handles_[i].empty() ? nullptr : &input_handles_[i];
}

void InferenceContext::set_output_handle(int i, std::vector<DtypeAndShape> h) {
  output_handles_[i] = std::move(h);
}

}  // namespace headrace
