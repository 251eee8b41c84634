// Operations on sets. A set is a row of the last dim, of a dense tensor or of
// the entries of a sparse one; the dims before it say which row of one argument
// goes with which of the other. A value counts once however often it stands
// there. Results are sorted by row, then by value.
#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "kernels/lib/element.h"
#include "kernels/lib/sparse_tensor.h"
#include "kernels/lib/visit_type.h"

namespace headrace {
namespace {

// Integers of all types are handled as int64, strings as views of them.
template <typename V>
struct Set {
  DimVector row;  // the index without its last dim
  std::vector<V> values;
};
// The rows that are not empty, in ascending order.
template <typename V>
struct Sets {
  DimVector row_shape;
  std::vector<Set<V>> sets;
};

template <typename F>
void ForEachInteger(const Tensor& t, const F& fn) {
  VisitType<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>(
      t.dtype(), [&]<typename T>(T) {
        for (int64_t i = 0; i < t.NumElements(); ++i) fn(i, t.data<T>()[i]);
      });
}
void Read(const Tensor& t, std::vector<int64_t>* out) {
  out->resize(t.NumElements());
  ForEachInteger(t, [&](int64_t i, int64_t v) { (*out)[i] = v; });
}
void Read(const Tensor& t, std::vector<absl::string_view>* out) {
  out->assign(t.data<tstring>(), t.data<tstring>() + t.NumElements());
}

void Write(const std::vector<int64_t>& values, Tensor* t) {
  VisitType<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>(
      t->dtype(), [&]<typename T>(T) {
        for (size_t i = 0; i < values.size(); ++i) {
          t->data<T>()[i] = static_cast<T>(values[i]);
        }
      });
}
void Write(const std::vector<absl::string_view>& values, Tensor* t) {
  for (size_t i = 0; i < values.size(); ++i) t->data<tstring>()[i] = values[i];
}

template <typename V>
void SortUnique(std::vector<V>* values) {
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

template <typename V>
Status ReadDense(const Tensor& t, Sets<V>* out) {
  const int rank = t.dims();
  if (rank < 2) {
    return errors::InvalidArgument("Input rank ", rank,
                                   " < 2: sets are rows of the last dimension");
  }
  const auto dims = t.shape().dim_sizes();
  out->row_shape.assign(dims.begin(), dims.end() - 1);
  std::vector<V> values;
  Read(t, &values);
  const size_t size = dims[rank - 1];
  DimVector row(rank - 1, 0);
  for (size_t at = 0; at < values.size(); at += size) {
    Set<V> set{row, {values.begin() + at, values.begin() + at + size}};
    SortUnique(&set.values);
    out->sets.push_back(std::move(set));
    int d = rank - 2;
    while (++row[d] == dims[d] && d > 0) row[d--] = 0;
  }
  return OkStatus();
}

template <typename V>
Status ReadSparseSets(const OpKernelContext& ctx, int i, bool validate,
                      std::string_view name, Sets<V>* out) {
  SparseView s;
  HR_RETURN_IF_ERROR(ReadSparseInputs(ctx, i, name, &s));
  if (s.rank < 2) {
    return errors::InvalidArgument("Input rank ", s.rank,
                                   " < 2: sets are rows of the last dimension");
  }
  HR_RETURN_IF_ERROR(validate ? CheckOrdered(s, name) : CheckBounds(s, name));
  out->row_shape.assign(s.dims.begin(), s.dims.end() - 1);
  std::vector<V> values;
  Read(s.values, &values);
  std::vector<int> row_dims(s.rank - 1);
  for (int d = 0; d < s.rank - 1; ++d) row_dims[d] = d;
  const int64_t* previous = nullptr;
  for (int64_t e : SortedEntries(s, row_dims)) {
    if (previous == nullptr ||
        CompareIndices(previous, s.row(e), s.rank - 1) != 0) {
      out->sets.push_back({DimVector(s.row(e), s.row(e) + s.rank - 1), {}});
    }
    previous = s.row(e);
    out->sets.back().values.push_back(values[e]);
  }
  for (Set<V>& set : out->sets) SortUnique(&set.values);
  return OkStatus();
}

enum class SetOperation : uint8_t { kAMinusB, kBMinusA, kIntersection, kUnion };

Status ParseOperation(const std::string& text, SetOperation* out) {
  const std::string lower = absl::AsciiStrToLower(text);
  if (lower == "a-b") {
    *out = SetOperation::kAMinusB;
  } else if (lower == "b-a") {
    *out = SetOperation::kBMinusA;
  } else if (lower == "intersection") {
    *out = SetOperation::kIntersection;
  } else if (lower == "union") {
    *out = SetOperation::kUnion;
  } else {
    return errors::InvalidArgument(
        "Invalid set_operation ", text,
        "; wanted 'a-b', 'b-a', 'intersection' or 'union'");
  }
  return OkStatus();
}

template <typename V>
std::vector<V> Combine(SetOperation op, const std::vector<V>& a,
                       const std::vector<V>& b) {
  std::vector<V> out;
  const auto to = std::back_inserter(out);
  switch (op) {
    case SetOperation::kAMinusB:
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case SetOperation::kBMinusA:
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to);
      break;
    case SetOperation::kIntersection:
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
    case SetOperation::kUnion:
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), to);
      break;
  }
  return out;
}

class SetOperationOp : public OpKernel {
 public:
  explicit SetOperationOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string text;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("set_operation", &text));
    OP_REQUIRES_OK(ctx, ParseOperation(text, &operation_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("validate_indices", &validate_));
  }

  void Compute(OpKernelContext* ctx) override {
    if (output_type(1) == DT_STRING) {
      Run<absl::string_view>(ctx);
    } else {
      Run<int64_t>(ctx);
    }
  }

 private:
  template <typename V>
  void Run(OpKernelContext* ctx) {
    Sets<V> a, b;
    if (ctx->num_inputs() == 6) {
      OP_REQUIRES_OK(ctx, ReadSparseSets(*ctx, 0, validate_, "set1", &a));
    } else {
      OP_REQUIRES_OK(ctx, ReadDense(ctx->input(0), &a));
    }
    if (ctx->num_inputs() == 2) {
      OP_REQUIRES_OK(ctx, ReadDense(ctx->input(1), &b));
    } else {
      OP_REQUIRES_OK(ctx, ReadSparseSets(*ctx, ctx->num_inputs() - 3, validate_,
                                         "set2", &b));
    }
    OP_REQUIRES(
        ctx, a.row_shape == b.row_shape,
        errors::InvalidArgument(
            "Mismatched group shapes: set1 has ",
            IndexString(a.row_shape.data(), a.row_shape.size()), " rows, set2 ",
            IndexString(b.row_shape.data(), b.row_shape.size())));
    const int rank = static_cast<int>(a.row_shape.size()) + 1;
    std::vector<int64_t> indices;
    std::vector<V> values;
    int64_t longest = 0;
    const std::vector<V> none;
    size_t i = 0, j = 0;
    while (i < a.sets.size() || j < b.sets.size()) {
      const int c = i == a.sets.size() ? 1
                    : j == b.sets.size()
                        ? -1
                        : CompareIndices(a.sets[i].row.data(),
                                         b.sets[j].row.data(), rank - 1);
      const DimVector& row = c <= 0 ? a.sets[i].row : b.sets[j].row;
      const std::vector<V> result =
          Combine(operation_, c <= 0 ? a.sets[i].values : none,
                  c >= 0 ? b.sets[j].values : none);
      for (size_t k = 0; k < result.size(); ++k) {
        indices.insert(indices.end(), row.begin(), row.end());
        indices.push_back(static_cast<int64_t>(k));
      }
      values.insert(values.end(), result.begin(), result.end());
      longest = std::max<int64_t>(longest, result.size());
      if (c <= 0) ++i;
      if (c >= 0) ++j;
    }
    const int64_t n = values.size();
    Tensor *indices_out = nullptr, *values_out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {n, rank}, &indices_out));
    std::copy(indices.begin(), indices.end(), indices_out->data<int64_t>());
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {n}, &values_out));
    Write(values, values_out);
    DimVector shape = a.row_shape;
    shape.push_back(longest);
    OP_REQUIRES_OK(ctx, SetShapeOutput(ctx, 2, shape));
  }

  SetOperation operation_ = SetOperation::kUnion;
  bool validate_ = true;
};
REGISTER_KERNEL_BUILDER(Name("DenseToDenseSetOperation").Device(DEVICE_CPU),
                        SetOperationOp);
REGISTER_KERNEL_BUILDER(Name("DenseToSparseSetOperation").Device(DEVICE_CPU),
                        SetOperationOp);
REGISTER_KERNEL_BUILDER(Name("SparseToSparseSetOperation").Device(DEVICE_CPU),
                        SetOperationOp);

class SetSizeOp : public OpKernel {
 public:
  explicit SetSizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("validate_indices", &validate_));
  }

  void Compute(OpKernelContext* ctx) override {
    if (input_type(1) == DT_STRING) {
      Run<absl::string_view>(ctx);
    } else {
      Run<int64_t>(ctx);
    }
  }

 private:
  template <typename V>
  void Run(OpKernelContext* ctx) {
    Sets<V> in;
    OP_REQUIRES_OK(ctx, ReadSparseSets(*ctx, 0, validate_, "set", &in));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(in.row_shape, &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    ZeroElements(out);
    for (const Set<V>& set : in.sets) {
      int64_t at = 0;
      for (size_t d = 0; d < set.row.size(); ++d) {
        at = at * in.row_shape[d] + set.row[d];
      }
      out->data<int32_t>()[at] = static_cast<int32_t>(set.values.size());
    }
  }

  bool validate_ = true;
};
REGISTER_KERNEL_BUILDER(Name("SetSize").Device(DEVICE_CPU), SetSizeOp);

}  // namespace
}  // namespace headrace
