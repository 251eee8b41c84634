// TensorShape: the dims of a tensor, all known. PartialTensorShape: what is
// known before a run; dims or the rank may be unknown.
//
// Overflow is always detected. Build returns it as a Status. A constructor that
// gets a negative dim, or dims whose product overflows int64, makes an invalid
// shape: IsValid() is false and num_elements() is -1. Every allocation refuses
// an invalid shape. A kernel may therefore compute output shapes without checks
// and let allocate_output report the error.
//
// Value types, thread-compatible.
#ifndef HEADRACE_TENSOR_SHAPE_H_
#define HEADRACE_TENSOR_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "headrace/status.h"

namespace headrace {

using DimVector = absl::InlinedVector<int64_t, 4>;

constexpr int kMaxTensorRank = 254;

// a * b, or -1 if either is negative or the product overflows.
inline int64_t MultiplyWithoutOverflow(int64_t a, int64_t b) {
  int64_t r;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r)) return -1;
  return r;
}
// a + b, or -1 if either is negative or the sum overflows.
inline int64_t AddWithoutOverflow(int64_t a, int64_t b) {
  int64_t r;
  if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &r)) return -1;
  return r;
}

class TensorShape {
 public:
  TensorShape() = default;  // a scalar
  TensorShape(std::initializer_list<int64_t> dims)
      : TensorShape(absl::MakeConstSpan(dims.begin(), dims.size())) {}
  explicit TensorShape(absl::Span<const int64_t> dims)
      : dims_(dims.begin(), dims.end()) {
    Recompute();
  }

  // InvalidArgument for too many dims, a negative dim, or an overflow of the
  // product.
  static Status Build(absl::Span<const int64_t> dims, TensorShape* out);
  static StatusOr<TensorShape> Build(absl::Span<const int64_t> dims);

  int dims() const { return static_cast<int>(dims_.size()); }
  int64_t dim_size(int i) const { return dims_[i]; }
  absl::Span<const int64_t> dim_sizes() const { return dims_; }
  int64_t num_elements() const { return num_elements_; }
  bool IsValid() const { return num_elements_ >= 0; }

  // These keep num_elements() up to date. The result may be invalid.
  void AddDim(int64_t size);
  void InsertDim(int at, int64_t size);
  void set_dim(int i, int64_t size);
  void RemoveDim(int i);
  void RemoveLastDims(int n);
  void AppendShape(const TensorShape& other);

  bool IsSameSize(const TensorShape& o) const { return dims_ == o.dims_; }
  friend bool operator==(const TensorShape& a, const TensorShape& b) {
    return a.dims_ == b.dims_;
  }
  friend bool operator!=(const TensorShape& a, const TensorShape& b) {
    return !(a == b);
  }
  // The product of dims [begin, end). -1 on overflow.
  int64_t ProductOf(int begin, int end) const;

  std::string DebugString() const;  // "[2,3]"

 private:
  void Recompute();

  DimVector dims_;
  int64_t num_elements_ = 1;
};

class PartialTensorShape {
 public:
  PartialTensorShape() = default;  // unknown rank
  PartialTensorShape(std::initializer_list<int64_t> dims)
      : PartialTensorShape(absl::MakeConstSpan(dims.begin(), dims.size())) {}
  // -1 is an unknown dim. Other negative values count as unknown, too.
  explicit PartialTensorShape(absl::Span<const int64_t> dims);
  PartialTensorShape(const TensorShape& s)  // NOLINT: widening is lossless
      : known_rank_(true), dims_(s.dim_sizes().begin(), s.dim_sizes().end()) {}

  // InvalidArgument for a dim below -1, too many dims, or an overflow of the
  // product.
  static Status Build(absl::Span<const int64_t> dims, PartialTensorShape* out);

  static PartialTensorShape UnknownRank() { return PartialTensorShape(); }
  static PartialTensorShape Scalar() {
    return PartialTensorShape(absl::Span<const int64_t>());
  }
  static PartialTensorShape UnknownDims(int rank) {
    return PartialTensorShape(DimVector(rank, -1));
  }

  bool unknown_rank() const { return !known_rank_; }
  int dims() const {  // -1 for unknown rank
    return known_rank_ ? static_cast<int>(dims_.size()) : -1;
  }
  // -1 if the dim or the rank is unknown.
  int64_t dim_size(int i) const { return known_rank_ ? dims_[i] : -1; }
  absl::Span<const int64_t> dim_sizes() const { return dims_; }
  bool IsFullyDefined() const;
  // The product of the dims. -1 if the rank or a dim is unknown.
  int64_t num_elements() const;
  // False if the shape is not fully defined or its product overflows.
  bool AsTensorShape(TensorShape* out) const;

  // True if a tensor can have both shapes.
  bool IsCompatibleWith(const PartialTensorShape& o) const;
  bool IsCompatibleWith(const TensorShape& o) const;
  // *out gets what either shape knows. InvalidArgument if they contradict each
  // other.
  Status MergeWith(const PartialTensorShape& o, PartialTensorShape* out) const;

  void AddDim(int64_t size);
  void set_dim(int i, int64_t size) { dims_[i] = size < 0 ? -1 : size; }
  PartialTensorShape Concatenate(const PartialTensorShape& o) const;

  friend bool operator==(const PartialTensorShape& a,
                         const PartialTensorShape& b) {
    return a.known_rank_ == b.known_rank_ && a.dims_ == b.dims_;
  }
  friend bool operator!=(const PartialTensorShape& a,
                         const PartialTensorShape& b) {
    return !(a == b);
  }
  std::string DebugString() const;  // "[2,?]", "<unknown>"

 private:
  bool known_rank_ = false;
  DimVector dims_;
};

}  // namespace headrace

#endif  // HEADRACE_TENSOR_SHAPE_H_
