// SparseReduceSum and SparseReduceMax: along the dims that are named (none at
// all changes nothing), over the entries that there are; where a group has none
// the dense result is 0 and the sparse result has no entry.
#include <vector>

#include "kernels/lib/element.h"
#include "kernels/lib/elementwise.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

struct Reduction {
  std::vector<int> kept;  // dims that stay, ascending
  DimVector shape;        // of the result
};

Status ReadReduction(const SparseView& s, const Tensor& axes, bool keep_dims,
                     Reduction* out) {
  DimVector named;
  HR_RETURN_IF_ERROR(ReadIntegers(axes, "reduction_axes", &named));
  std::vector<bool> reduced(s.rank);
  for (int64_t axis : named) {
    if (axis < -s.rank || axis >= s.rank) {
      return errors::InvalidArgument("Invalid reduction dimension ", axis,
                                     ", for input with ", s.rank,
                                     " dimensions.");
    }
    reduced[axis < 0 ? axis + s.rank : axis] = true;
  }
  for (int d = 0; d < s.rank; ++d) {
    if (!reduced[d]) {
      out->kept.push_back(d);
      out->shape.push_back(s.dims[d]);
    } else if (keep_dims) {
      out->shape.push_back(1);
    }
  }
  return OkStatus();
}

// What does not depend on the type of the values.
class SparseReduceBase : public OpKernel {
 public:
  explicit SparseReduceBase(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep_dims", &keep_dims_));
  }

  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "input", &s));
    OP_REQUIRES_OK(ctx, CheckBounds(s, "input"));
    Reduction r;
    OP_REQUIRES_OK(ctx, ReadReduction(s, ctx->input(3), keep_dims_, &r));
    // Entries of one group follow each other; each run becomes one value.
    const std::vector<int64_t> order = SortedEntries(s, r.kept);
    std::vector<int64_t> first;  // of each run, in `order`
    for (int64_t i = 0; i < s.n; ++i) {
      bool same = i > 0;
      for (size_t k = 0; same && k < r.kept.size(); ++k) {
        same = s.at(order[i], r.kept[k]) == s.at(order[i - 1], r.kept[k]);
      }
      if (!same) first.push_back(i);
    }
    const int64_t groups = first.size();
    first.push_back(s.n);
    const auto reduce = [&](int64_t g, Tensor* out, int64_t at) {
      Reduce(s.values, order.data() + first[g], order.data() + first[g + 1],
             out, at);
    };
    if (ctx->num_outputs() == 1) {
      TensorShape shape;
      OP_REQUIRES_OK(ctx, TensorShape::Build(r.shape, &shape));
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
      ZeroElements(out);
      for (int64_t g = 0; g < groups; ++g) {
        int64_t at = 0;
        for (int d : r.kept) at = at * s.dims[d] + s.at(order[first[g]], d);
        reduce(g, out, at);
      }
      return;
    }
    const int64_t rank = r.shape.size();
    Tensor *indices = nullptr, *values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {groups, rank}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {groups}, &values));
    ZeroElements(indices);
    for (int64_t g = 0; g < groups; ++g) {
      int64_t* row = indices->data<int64_t>() + g * rank;
      for (size_t k = 0; k < r.kept.size(); ++k) {
        row[keep_dims_ ? r.kept[k] : k] = s.at(order[first[g]], r.kept[k]);
      }
      reduce(g, values, g);
    }
    OP_REQUIRES_OK(ctx, SetShapeOutput(ctx, 2, r.shape));
  }

 private:
  // Of the values that [begin, end) names, at least one, to element `at`.
  virtual void Reduce(const Tensor& values, const int64_t* begin,
                      const int64_t* end, Tensor* out, int64_t at) const = 0;

  bool keep_dims_ = false;
};

template <typename T, bool kMax>
class SparseReduceOp : public SparseReduceBase {
 public:
  using SparseReduceBase::SparseReduceBase;

 private:
  void Reduce(const Tensor& values, const int64_t* begin, const int64_t* end,
              Tensor* out, int64_t at) const override {
    using Acc = ComputeType<T>;
    const T* const x = values.data<T>();
    Acc acc = static_cast<Acc>(x[*begin]);
    while (++begin != end) {
      const Acc v = static_cast<Acc>(x[*begin]);
      if constexpr (kMax) {
        acc = acc < v ? v : acc;
      } else {
        acc = WrapAdd(acc, v);
      }
    }
    out->data<T>()[at] = static_cast<T>(acc);
  }
};
#define HR_REGISTER(T, NAME, MAX)                                    \
  REGISTER_KERNEL_BUILDER(                                           \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"),          \
      SparseReduceOp<T, MAX>);                                       \
  REGISTER_KERNEL_BUILDER(                                           \
      Name(NAME "Sparse").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SparseReduceOp<T, MAX>);
#define HR_REGISTER_SUM(T) HR_REGISTER(T, "SparseReduceSum", false)
#define HR_REGISTER_MAX(T) HR_REGISTER(T, "SparseReduceMax", true)
HR_CALL_NUMBER_TYPES(HR_REGISTER_SUM)
HR_CALL_REAL_NUMBER_TYPES(HR_REGISTER_MAX)
#undef HR_REGISTER_SUM
#undef HR_REGISTER_MAX
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
