// EditDistance: Levenshtein's, between the sequences of two sparse tensors. A
// sequence is what shares all coordinates but the last; one that has no entries
// is empty. Normalised by the truth's length, a non-empty hypothesis against an
// empty truth is infinitely far away.
#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

// Row numbers of the entries of each sequence, by its flat output position.
using Sequences = std::map<int64_t, std::vector<int64_t>>;

Status ReadSequences(const Tensor& indices, const Tensor& values,
                     const Tensor& shape, const TensorShape& out,
                     Sequences* sequences) {
  const int rank = out.dims() + 1;
  if (indices.dims() != 2 || values.dims() != 1 ||
      indices.dim_size(0) != values.dim_size(0) ||
      indices.dim_size(1) != rank) {
    return errors::InvalidArgument(
        "indices must be [n, ", rank, "] and values [n], got ",
        indices.shape().DebugString(), " and ", values.shape().DebugString());
  }
  const int64_t* at = indices.data<int64_t>();
  const int64_t* dims = shape.data<int64_t>();
  for (int64_t i = 0; i < values.dim_size(0); ++i, at += rank) {
    int64_t flat = 0;
    for (int d = 0; d < rank; ++d) {
      if (at[d] < 0 || at[d] >= dims[d]) {
        return errors::InvalidArgument("indices[", i, ",", d, "] = ", at[d],
                                       " is not in [0, ", dims[d], ")");
      }
      if (d < rank - 1) flat = flat * out.dim_size(d) + at[d];
    }
    (*sequences)[flat].push_back(i);
  }
  return OkStatus();
}

template <typename T>
int64_t Levenshtein(const T* a, const std::vector<int64_t>& as, const T* b,
                    const std::vector<int64_t>& bs) {
  std::vector<int64_t> row(bs.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 0; i < as.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < bs.size(); ++j) {
      const int64_t replaced = diagonal + !(a[as[i]] == b[bs[j]]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// What does not depend on the type of the values.
class EditDistanceBase : public OpKernel {
 public:
  explicit EditDistanceBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("normalize", &normalize_));
  }
  void Compute(OpKernelContext* ctx) override {
    DimVector hypothesis_dims, truth_dims;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(2), "hypothesis_shape",
                                          &hypothesis_dims));
    OP_REQUIRES_OK(
        ctx, ReadIntegerVector(ctx->input(5), "truth_shape", &truth_dims));
    OP_REQUIRES(
        ctx,
        hypothesis_dims.size() == truth_dims.size() && truth_dims.size() >= 1,
        errors::InvalidArgument(
            "hypothesis_shape and truth_shape must be equally long and "
            "not empty, got ",
            hypothesis_dims.size(), " and ", truth_dims.size()));
    DimVector dims;
    for (size_t i = 0; i + 1 < truth_dims.size(); ++i) {
      dims.push_back(std::max(hypothesis_dims[i], truth_dims[i]));
    }
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    Sequences hypotheses, truths;
    OP_REQUIRES_OK(ctx, ReadSequences(ctx->input(0), ctx->input(1),
                                      ctx->input(2), shape, &hypotheses));
    OP_REQUIRES_OK(ctx, ReadSequences(ctx->input(3), ctx->input(4),
                                      ctx->input(5), shape, &truths));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    ZeroElements(out);
    float* to = out->data<float>();
    const std::vector<int64_t> empty;
    for (const auto& [at, truth] : truths) {
      const auto it = hypotheses.find(at);
      const auto& hypothesis = it == hypotheses.end() ? empty : it->second;
      const auto distance = static_cast<float>(
          Distance(ctx->input(4), truth, ctx->input(1), hypothesis));
      to[at] =
          normalize_ ? distance / static_cast<float>(truth.size()) : distance;
    }
    for (const auto& [at, hypothesis] : hypotheses) {
      if (truths.contains(at)) continue;
      to[at] = normalize_ ? std::numeric_limits<float>::infinity()
                          : static_cast<float>(hypothesis.size());
    }
  }

 private:
  // Between those values of `t` and of `h` that the sequences name.
  virtual int64_t Distance(const Tensor& t, const std::vector<int64_t>& truth,
                           const Tensor& h,
                           const std::vector<int64_t>& hypothesis) const = 0;

  bool normalize_ = true;
};

template <typename T>
class EditDistanceOp : public EditDistanceBase {
 public:
  using EditDistanceBase::EditDistanceBase;

 private:
  int64_t Distance(const Tensor& t, const std::vector<int64_t>& truth,
                   const Tensor& h,
                   const std::vector<int64_t>& hypothesis) const override {
    return Levenshtein<T>(t.data<T>(), truth, h.data<T>(), hypothesis);
  }
};
#define REGISTER(T)                                                   \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("EditDistance").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      EditDistanceOp<T>);
HR_CALL_POD_TYPES(REGISTER)
REGISTER(tstring)
#undef REGISTER

}  // namespace
}  // namespace headrace
