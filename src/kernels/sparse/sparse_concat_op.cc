// SparseConcat: sparse tensors behind each other along one dim, sorted. The
// other dims are equal. SparseSplit cuts one up again: the first dim % n slices
// have an index more; entries keep their order.
#include <numeric>

#include "kernels/lib/element.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

class SparseConcatOp : public OpKernel {
 public:
  explicit SparseConcatOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("concat_dim", &axis_));
  }

  void Compute(OpKernelContext* ctx) override {
    const int n = ctx->num_inputs() / 3;
    std::vector<SparseView> in(n);
    int64_t axis = 0, total = 0;
    DimVector shape;
    for (int i = 0; i < n; ++i) {
      OP_REQUIRES_OK(
          ctx, ReadSparse(ctx->input(i), ctx->input(n + i),
                          ctx->input(2 * n + i), StrCat("input ", i), &in[i]));
      total += in[i].n;
      if (i == 0) {
        OP_REQUIRES_OK(ctx,
                       NormalizeAxis(axis_, in[0].rank, "concat_dim", &axis));
        shape = in[0].dims;
        continue;
      }
      OP_REQUIRES_OK(ctx, Append(in[i], i, axis, &shape));
    }
    std::vector<int64_t> all;
    all.reserve(total * shape.size());
    Tensor values;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_temp(in[0].values.dtype(), {total}, &values));
    uint64_t offset = 0;
    int64_t at = 0;
    for (const SparseView& s : in) {
      for (int64_t i = 0; i < s.n; ++i) {
        all.insert(all.end(), s.row(i), s.row(i) + s.rank);
        int64_t& moved = all[all.size() - s.rank + axis];
        moved = static_cast<int64_t>(static_cast<uint64_t>(moved) + offset);
      }
      CopyElements(s.values, 0, &values, at, s.n);
      at += s.n;
      offset += static_cast<uint64_t>(s.dims[axis]);
    }
    SparseView joined;
    joined.n = total;
    joined.rank = static_cast<int>(shape.size());
    joined.indices = all.data();
    std::vector<int> dims(joined.rank);
    std::iota(dims.begin(), dims.end(), 0);
    const std::vector<int64_t> order = SortedEntries(joined, dims);
    Tensor *indices = nullptr, *sorted = nullptr;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(0, {total, joined.rank}, &indices));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {total}, &sorted));
    int64_t* row = indices->data<int64_t>();
    for (int64_t i : order) row = std::copy_n(joined.row(i), joined.rank, row);
    GatherElements(values, order, sorted);
    OP_REQUIRES_OK(ctx, SetShapeOutput(ctx, 2, shape));
  }

 private:
  // Adds s, number i, to the shape of those before it.
  static Status Append(const SparseView& s, int i, int64_t axis,
                       DimVector* shape) {
    if (static_cast<size_t>(s.rank) != shape->size()) {
      return errors::InvalidArgument(
          "Ranks of all input tensors must match: expected ", shape->size(),
          " but got ", s.rank, " at position ", i);
    }
    for (int d = 0; d < s.rank; ++d) {
      if (d == axis) {
        (*shape)[d] = AddWithoutOverflow((*shape)[d], s.dims[d]);
        if ((*shape)[d] < 0) {
          return errors::InvalidArgument("SparseConcat: dimension ", d,
                                         " of the result overflows int64");
        }
      } else if ((*shape)[d] != s.dims[d]) {
        return errors::InvalidArgument(
            "Input shapes must match: expected ", (*shape)[d],
            " for dimension ", d, " but got ", s.dims[d], " at position ", i);
      }
    }
    return OkStatus();
  }

  int64_t axis_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("SparseConcat").Device(DEVICE_CPU),
                        SparseConcatOp);

class SparseSplitOp : public OpKernel {
 public:
  explicit SparseSplitOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_split", &num_split_));
  }

  void Compute(OpKernelContext* ctx) override {
    int64_t axis;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(0), "split_dim", &axis));
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 1, "", &s));
    OP_REQUIRES_OK(ctx, NormalizeAxis(axis, s.rank, "split_dim", &axis));
    const int64_t n = num_split_, size = s.dims[axis];
    OP_REQUIRES(ctx, n >= 1 && n <= size,
                errors::InvalidArgument(
                    "Input num_split should be between 1 and the splitting "
                    "dimension size (",
                    size, "), got ", n));
    const int64_t each = size / n, longer = size % n;
    const auto begin_of = [&](int64_t k) {
      return k * each + std::min(k, longer);
    };
    std::vector<std::vector<int64_t>> parts(n);
    for (int64_t i = 0; i < s.n; ++i) {
      const int64_t at = s.at(i, axis);
      OP_REQUIRES(ctx, at >= 0 && at < size,
                  errors::InvalidArgument(
                      "indices[", i, "] = ", IndexString(s.row(i), s.rank),
                      " is out of bounds in dim ", axis, " of size ", size));
      const int64_t in_longer = longer * (each + 1);
      parts[at < in_longer ? at / (each + 1) : longer + (at - in_longer) / each]
          .push_back(i);
    }
    for (int64_t k = 0; k < n; ++k) {
      const std::vector<int64_t>& part = parts[k];
      const int64_t count = part.size();
      Tensor *indices = nullptr, *values = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(k, {count, s.rank}, &indices));
      OP_REQUIRES_OK(ctx, ctx->allocate_output(n + k, {count}, &values));
      int64_t* row = indices->data<int64_t>();
      for (int64_t i : part) {
        std::copy_n(s.row(i), s.rank, row);
        row[axis] -= begin_of(k);
        row += s.rank;
      }
      GatherElements(s.values, part, values);
      DimVector dims = s.dims;
      dims[axis] = begin_of(k + 1) - begin_of(k);
      OP_REQUIRES_OK(ctx, SetShapeOutput(ctx, 2 * n + k, dims));
    }
  }

 private:
  int64_t num_split_ = 1;
};
REGISTER_KERNEL_BUILDER(Name("SparseSplit").Device(DEVICE_CPU), SparseSplitOp);

}  // namespace
}  // namespace headrace
