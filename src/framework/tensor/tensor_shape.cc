#include "headrace/tensor_shape.h"

#include "absl/strings/str_cat.h"

namespace headrace {
namespace {

// The product of known dims, or -1 if one is negative or it overflows. A zero
// dim does not hide an overflow among the others: such a shape could not be
// grown or reshaped safely.
int64_t CheckedProduct(absl::Span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) {
    n = MultiplyWithoutOverflow(n, d);
    if (n < 0) return -1;
  }
  return n;
}

std::string DimsString(absl::Span<const int64_t> dims) {
  std::string s = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) s += ",";
    if (dims[i] < 0) {
      s += "?";
    } else {
      absl::StrAppend(&s, dims[i]);
    }
  }
  return s + "]";
}

Status TooManyDims(size_t n) {
  return errors::InvalidArgument("Shape has ", n, " dimensions, more than the ",
                                 kMaxTensorRank, " supported");
}

}  // namespace

Status TensorShape::Build(absl::Span<const int64_t> dims, TensorShape* out) {
  if (dims.size() > kMaxTensorRank) return TooManyDims(dims.size());
  for (int64_t d : dims) {
    if (d < 0) {
      return errors::InvalidArgument("Dimension ", d, " must be >= 0");
    }
  }
  if (CheckedProduct(dims) < 0) {
    return errors::InvalidArgument("Shape ", DimsString(dims),
                                   " has more elements than fit in int64");
  }
  *out = TensorShape(dims);
  return OkStatus();
}

StatusOr<TensorShape> TensorShape::Build(absl::Span<const int64_t> dims) {
  TensorShape s;
  HR_RETURN_IF_ERROR(Build(dims, &s));
  return s;
}

void TensorShape::Recompute() {
  num_elements_ = dims_.size() > kMaxTensorRank ? -1 : CheckedProduct(dims_);
}

void TensorShape::AddDim(int64_t size) {
  dims_.push_back(size);
  num_elements_ = dims_.size() > kMaxTensorRank
                      ? -1
                      : MultiplyWithoutOverflow(num_elements_, size);
}

void TensorShape::InsertDim(int at, int64_t size) {
  dims_.insert(dims_.begin() + at, size);
  Recompute();
}

void TensorShape::set_dim(int i, int64_t size) {
  dims_[i] = size;
  Recompute();
}

void TensorShape::RemoveDim(int i) {
  dims_.erase(dims_.begin() + i);
  Recompute();
}

void TensorShape::RemoveLastDims(int n) {
  dims_.resize(n < dims() ? dims() - n : 0);
  Recompute();
}

void TensorShape::AppendShape(const TensorShape& other) {
  dims_.insert(dims_.end(), other.dims_.begin(), other.dims_.end());
  Recompute();
}

int64_t TensorShape::ProductOf(int begin, int end) const {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) {
    n = MultiplyWithoutOverflow(n, dims_[i]);
    if (n < 0) return -1;
  }
  return n;
}

std::string TensorShape::DebugString() const { return DimsString(dims_); }

PartialTensorShape::PartialTensorShape(absl::Span<const int64_t> dims)
    : known_rank_(true), dims_(dims.begin(), dims.end()) {
  for (int64_t& d : dims_) {
    if (d < 0) d = -1;
  }
}

Status PartialTensorShape::Build(absl::Span<const int64_t> dims,
                                 PartialTensorShape* out) {
  if (dims.size() > kMaxTensorRank) return TooManyDims(dims.size());
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < -1) {
      return errors::InvalidArgument("Dimension ", d, " must be >= -1");
    }
    if (d == -1) continue;
    n = MultiplyWithoutOverflow(n, d);
    if (n < 0) {
      return errors::InvalidArgument("Shape ", DimsString(dims),
                                     " has more elements than fit in int64");
    }
  }
  *out = PartialTensorShape(dims);
  return OkStatus();
}

bool PartialTensorShape::IsFullyDefined() const {
  if (!known_rank_) return false;
  for (int64_t d : dims_) {
    if (d < 0) return false;
  }
  return true;
}

int64_t PartialTensorShape::num_elements() const {
  return known_rank_ ? CheckedProduct(dims_) : -1;
}

bool PartialTensorShape::AsTensorShape(TensorShape* out) const {
  if (!IsFullyDefined()) return false;
  *out = TensorShape(dim_sizes());
  return out->IsValid();
}

bool PartialTensorShape::IsCompatibleWith(const PartialTensorShape& o) const {
  if (!known_rank_ || !o.known_rank_) return true;
  if (dims_.size() != o.dims_.size()) return false;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] >= 0 && o.dims_[i] >= 0 && dims_[i] != o.dims_[i]) {
      return false;
    }
  }
  return true;
}

bool PartialTensorShape::IsCompatibleWith(const TensorShape& o) const {
  if (!known_rank_) return true;
  if (static_cast<int>(dims_.size()) != o.dims()) return false;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] >= 0 && dims_[i] != o.dim_size(static_cast<int>(i))) {
      return false;
    }
  }
  return true;
}

Status PartialTensorShape::MergeWith(const PartialTensorShape& o,
                                     PartialTensorShape* out) const {
  if (!IsCompatibleWith(o)) {
    if (dims() != o.dims()) {
      return errors::InvalidArgument("Shapes must be equal rank, but are ",
                                     dims(), " and ", o.dims());
    }
    for (int i = 0; i < dims(); ++i) {
      if (dims_[i] >= 0 && o.dims_[i] >= 0 && dims_[i] != o.dims_[i]) {
        return errors::InvalidArgument(
            "Dimension ", i, " in both shapes must be equal, but are ",
            dims_[i], " and ", o.dims_[i], ". Shapes are ", DebugString(),
            " and ", o.DebugString(), ".");
      }
    }
  }
  if (!known_rank_) {
    *out = o;
    return OkStatus();
  }
  PartialTensorShape merged = *this;
  if (o.known_rank_) {
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (merged.dims_[i] < 0) merged.dims_[i] = o.dims_[i];
    }
  }
  *out = std::move(merged);
  return OkStatus();
}

void PartialTensorShape::AddDim(int64_t size) {
  known_rank_ = true;
  dims_.push_back(size < 0 ? -1 : size);
}

PartialTensorShape PartialTensorShape::Concatenate(
    const PartialTensorShape& o) const {
  if (!known_rank_ || !o.known_rank_) return UnknownRank();
  PartialTensorShape r = *this;
  r.dims_.insert(r.dims_.end(), o.dims_.begin(), o.dims_.end());
  return r;
}

std::string PartialTensorShape::DebugString() const {
  return known_rank_ ? DimsString(dims_) : "<unknown>";
}

}  // namespace headrace
