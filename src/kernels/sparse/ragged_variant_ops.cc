// RaggedTensorToVariant, RaggedTensorFromVariant,
// RaggedTensorToVariantGradient: a ragged tensor as one variant, or
// (batched_input) each of its rows as one, so that map functions and datasets
// can hand rows around. A row of a tensor without splits is a plain tensor of
// one dimension fewer.
//
// From variants of any rank: the dimensions before the last are splits of equal
// rows; the last one's splits have one row for each variant. Without any splits
// in or out the variants' tensors are stacked, whatever the variants' rank.
#include <utility>
#include <vector>

#include "framework/tensor/borrowed_buffer.h"
#include "framework/tensor/variant.h"
#include "kernels/lib/element.h"
#include "kernels/lib/row_splits.h"
#include "kernels/lib/segment_loops.h"
#include "kernels/lib/variant_math.h"

namespace headrace {
namespace {

struct RaggedVariant {
  std::vector<Tensor> splits;
  Tensor values;

  int rank() const { return static_cast<int>(splits.size()); }
};
constexpr char kRaggedTypeName[] = "RaggedTensorVariant";

const VariantMathRegistrar ragged_math(
    kRaggedTypeName,
    {[](const Variant& v, int depth, Variant* out) {
       RaggedVariant zeros = *v.Get<RaggedVariant>();
       HR_RETURN_IF_ERROR(ZerosLikeTensor(v.Get<RaggedVariant>()->values, depth,
                                          &zeros.values));
       *out = Variant::Of(std::move(zeros), kRaggedTypeName);
       return OkStatus();
     },
     [](const Variant& a, const Variant& b, int depth, Variant* out) {
       RaggedVariant sum = *a.Get<RaggedVariant>();
       const RaggedVariant& other = *b.Get<RaggedVariant>();
       bool same = sum.rank() == other.rank();
       for (int i = 0; same && i < sum.rank(); ++i) {
         same = sum.splits[i].dtype() == other.splits[i].dtype() &&
                sum.splits[i].tensor_data() == other.splits[i].tensor_data();
       }
       if (!same) {
         return errors::InvalidArgument(
             "ragged tensors of different row splits cannot be added");
       }
       const Tensor values = sum.values;
       HR_RETURN_IF_ERROR(AddTensors(values, other.values, depth, &sum.values));
       *out = Variant::Of(std::move(sum), kRaggedTypeName);
       return OkStatus();
     }});

class RaggedTensorToVariantOp : public OpKernel {
 public:
  explicit RaggedTensorToVariantOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("batched_input", &batched_));
  }

  void Compute(OpKernelContext* ctx) override {
    std::vector<const Tensor*> inputs;
    OP_REQUIRES_OK(ctx, ctx->input_list("rt_nested_splits", &inputs));
    RaggedVariant whole;
    whole.values = ctx->input(ctx->num_inputs() - 1);
    OP_REQUIRES_OK(ctx, OwnBytes(&whole.values));
    std::vector<std::vector<int64_t>> splits;
    if (batched_ || !inputs.empty()) {
      OP_REQUIRES_OK(ctx, ReadNestedSplits(inputs, whole.values,
                                           "rt_nested_splits", &splits));
    }
    Tensor* encoded = nullptr;
    if (!batched_) {
      for (const Tensor* s : inputs) whole.splits.push_back(*s);
      OP_REQUIRES_OK(ctx, OwnBytes(&whole.splits));
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &encoded));
      encoded->scalar<Variant>() =
          Variant::Of(std::move(whole), kRaggedTypeName);
      return;
    }
    const int64_t rows = splits.empty()
                             ? whole.values.dim_size(0)
                             : static_cast<int64_t>(splits[0].size()) - 1;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows}, &encoded));
    for (int64_t r = 0; r < rows; ++r) {
      RaggedVariant row;
      if (splits.empty()) {
        row.values = whole.values.SubSlice(r);
      } else {
        OP_REQUIRES_OK(ctx, TakeRow(ctx, splits, inputs[0]->dtype(),
                                    whole.values, r, &row));
      }
      encoded->data<Variant>()[r] =
          Variant::Of(std::move(row), kRaggedTypeName);
    }
  }

 private:
  // Row `r` of the outermost splits; its own splits begin with 0 again.
  static Status TakeRow(OpKernelContext* ctx,
                        const std::vector<std::vector<int64_t>>& splits,
                        DataType type, const Tensor& values, int64_t r,
                        RaggedVariant* row) {
    int64_t begin = splits[0][r], end = splits[0][r + 1];
    for (size_t l = 1; l < splits.size(); ++l) {
      Tensor t;
      HR_RETURN_IF_ERROR(ctx->allocate_temp(type, {end - begin + 1}, &t));
      const int64_t first = splits[l][begin];
      for (int64_t i = begin; i <= end; ++i) {
        const int64_t at = splits[l][i] - first;
        if (type == DT_INT32) {
          t.data<int32_t>()[i - begin] = static_cast<int32_t>(at);
        } else {
          t.data<int64_t>()[i - begin] = at;
        }
      }
      begin = first;
      end = splits[l][end];
      row->splits.push_back(std::move(t));
    }
    row->values = values.Slice(begin, end);
    return OkStatus();
  }

  bool batched_ = false;
};
REGISTER_KERNEL_BUILDER(Name("RaggedTensorToVariant").Device(DEVICE_CPU),
                        RaggedTensorToVariantOp);

class RaggedTensorFromVariantOp : public OpKernel {
 public:
  explicit RaggedTensorFromVariantOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("input_ragged_rank", &input_rank_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_ragged_rank", &output_rank_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tvalues", &values_type_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tsplits", &splits_type_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& encoded = ctx->input(0);
    const int64_t dims = encoded.dims();
    const bool stack =
        output_rank_ == 0 && (input_rank_ == 0 || input_rank_ == -1);
    int64_t rank = input_rank_;
    if (stack) {
      rank = 0;
    } else if (rank < 0) {
      rank = output_rank_ - dims;
    }
    OP_REQUIRES(ctx, stack || (rank >= 0 && output_rank_ == rank + dims),
                errors::InvalidArgument(
                    "output_ragged_rank must be equal to input_ragged_rank + "
                    "encoded_ragged.dims(); output_ragged_rank: ",
                    output_rank_, ", input_ragged_rank: ", input_rank_,
                    ", encoded_ragged.dims(): ", dims));
    std::vector<const RaggedVariant*> parts;
    OP_REQUIRES_OK(ctx, Decode(encoded, rank, &parts));
    if (dims == 0) {
      for (int i = 0; i < parts[0]->rank(); ++i) {
        ctx->set_output(i, parts[0]->splits[i]);
      }
      ctx->set_output(parts[0]->rank(), parts[0]->values);
      return;
    }
    if (!stack) {
      OP_REQUIRES_OK(ctx, BatchSplits(ctx, encoded.shape()));
      OP_REQUIRES_OK(ctx, ConcatSplits(ctx, parts, static_cast<int>(dims)));
    }
    OP_REQUIRES_OK(ctx, OutputValues(ctx, parts, stack));
  }

 private:
  Status Decode(const Tensor& encoded, int64_t rank,
                std::vector<const RaggedVariant*>* parts) const {
    for (int64_t i = 0; i < encoded.NumElements(); ++i) {
      const Variant& v = encoded.data<Variant>()[i];
      const auto* p = v.Get<RaggedVariant>();
      if (p == nullptr) {
        return errors::InvalidArgument(
            "Input Variant element at index ", i,
            " doesn't hold a RaggedTensorVariant: ",
            v.is_empty() ? "it is empty" : v.TypeName());
      }
      if (p->rank() != rank) {
        return errors::InvalidArgument(
            "Encoded input RaggedTensorVariant has ragged_rank=", p->rank(),
            ".  Expected ragged_rank=", rank, ".");
      }
      if (p->values.dtype() != values_type_) {
        return errors::InvalidArgument(
            "Expected values Tensor dtype: ", DataTypeString(values_type_),
            ", found: ", DataTypeString(p->values.dtype()));
      }
      for (const Tensor& s : p->splits) {
        if (s.dtype() != splits_type_) {
          return errors::InvalidArgument(
              "Expected row_splits Tensor dtype: ",
              DataTypeString(splits_type_),
              ", found: ", DataTypeString(s.dtype()));
        }
      }
      if (p->values.dims() == 0 && output_rank_ > 0) {
        return errors::InvalidArgument(
            "Ragged values must have rank >= 1; encoded scalar element at "
            "index ",
            i);
      }
      const Tensor& first = parts->empty() ? p->values : parts->front()->values;
      bool same = p->values.dims() == first.dims();
      for (int d = output_rank_ > 0 ? 1 : 0; same && d < first.dims(); ++d) {
        same = p->values.dim_size(d) == first.dim_size(d);
      }
      if (!same) {
        return errors::InvalidArgument(
            "All flat_values must have compatible shapes.  Shape at index 0: ",
            first.shape().DebugString(), ".  Shape at index ", i, ": ",
            p->values.shape().DebugString());
      }
      parts->push_back(p);
    }
    return OkStatus();
  }

  // The splits of all dims of the variants except the last.
  static Status BatchSplits(OpKernelContext* ctx, const TensorShape& shape) {
    for (int d = 0; d + 1 < shape.dims(); ++d) {
      const int64_t rows = shape.ProductOf(0, d + 1);
      SplitsWriter splits;
      HR_RETURN_IF_ERROR(splits.Allocate(ctx, d, rows));
      for (int64_t r = 0; r < rows; ++r) {
        HR_RETURN_IF_ERROR(splits.Add(shape.dim_size(d + 1)));
      }
    }
    return OkStatus();
  }

  // Output dims - 1: a row for each variant; then the variants' own splits.
  Status ConcatSplits(OpKernelContext* ctx,
                      const std::vector<const RaggedVariant*>& parts,
                      int dims) const {
    SplitsWriter splits;
    HR_RETURN_IF_ERROR(
        splits.Allocate(ctx, dims - 1, static_cast<int64_t>(parts.size())));
    for (const RaggedVariant* p : parts) {
      HR_RETURN_IF_ERROR(splits.Add(p->splits.empty()
                                        ? p->values.dim_size(0)
                                        : p->splits[0].NumElements() - 1));
    }
    const int levels = static_cast<int>(output_rank_) - dims;
    for (int l = 0; l < levels; ++l) {
      HR_RETURN_IF_ERROR(splits.Allocate(ctx, dims + l, splits.end()));
      for (const RaggedVariant* p : parts) {
        const Tensor& s = p->splits[l];
        for (int64_t i = 1; i < s.NumElements(); ++i) {
          HR_RETURN_IF_ERROR(splits.Add(IdAt(s, i) - IdAt(s, i - 1)));
        }
      }
    }
    return OkStatus();
  }

  Status OutputValues(OpKernelContext* ctx,
                      const std::vector<const RaggedVariant*>& parts,
                      bool stack) const {
    TensorShape shape({0});
    if (!parts.empty()) {
      shape = parts[0]->values.shape();
      if (stack) {
        shape.InsertDim(0, static_cast<int64_t>(parts.size()));
      } else {
        int64_t rows = 0;
        for (const RaggedVariant* p : parts) {
          rows = AddWithoutOverflow(rows, p->values.dim_size(0));
        }
        shape.set_dim(0, rows);
      }
    }
    Tensor* out = nullptr;
    HR_RETURN_IF_ERROR(
        ctx->allocate_output(static_cast<int>(output_rank_), shape, &out));
    int64_t at = 0;
    for (const RaggedVariant* p : parts) {
      CopyElements(p->values, 0, out, at, p->values.NumElements());
      at += p->values.NumElements();
    }
    return OkStatus();
  }

  int64_t input_rank_ = 0, output_rank_ = 0;
  DataType values_type_ = DT_INVALID, splits_type_ = DT_INVALID;
};
REGISTER_KERNEL_BUILDER(Name("RaggedTensorFromVariant").Device(DEVICE_CPU),
                        RaggedTensorFromVariantOp);

// The gradients of rows as one tensor of the values' shape. An empty variant is
// a row that nothing depends on: zeros, as many as row_splits says.
class RaggedTensorToVariantGradientOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &encoded = ctx->input(0), &splits = ctx->input(1);
    DimVector dims;
    OP_REQUIRES_OK(
        ctx, ReadIntegerVector(ctx->input(2), "dense_values_shape", &dims));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    std::vector<int64_t> starts;
    if (splits.dims() > 0) {
      OP_REQUIRES_OK(
          ctx, ReadRowSplits(splits,
                             splits.dims() == 1 && splits.NumElements() > 0
                                 ? IdAt(splits, splits.NumElements() - 1)
                                 : 0,
                             "row_splits", &starts));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t row = shape.dims() > 0 ? shape.ProductOf(1, shape.dims()) : 1;
    ZeroElements(out);
    int64_t at = 0;
    for (int64_t i = 0; i < encoded.NumElements(); ++i) {
      const Variant& v = encoded.data<Variant>()[i];
      const auto* part = v.Get<RaggedVariant>();
      OP_REQUIRES(ctx, part != nullptr || v.is_empty(),
                  errors::InvalidArgument(
                      "encoded_ragged_grad[", i,
                      "] doesn't hold a RaggedTensorVariant: ", v.TypeName()));
      int64_t n = 0;
      if (part != nullptr) {
        OP_REQUIRES(ctx, part->values.dtype() == out->dtype(),
                    errors::InvalidArgument(
                        "encoded_ragged_grad[", i, "] has values of type ",
                        DataTypeString(part->values.dtype()), ", wanted ",
                        DataTypeString(out->dtype())));
        n = part->values.NumElements();
      } else {
        OP_REQUIRES(ctx, i + 1 < static_cast<int64_t>(starts.size()),
                    errors::InvalidArgument(
                        "encoded_ragged_grad[", i,
                        "] is empty and row_splits has no row for it, shape ",
                        splits.shape().DebugString()));
        n = MultiplyWithoutOverflow(starts[i + 1] - starts[i], row);
      }
      OP_REQUIRES(
          ctx, n >= 0 && n <= out->NumElements() - at,
          errors::InvalidArgument("encoded_ragged_grad has more values than "
                                  "dense_values_shape ",
                                  shape.DebugString()));
      if (part != nullptr) CopyElements(part->values, 0, out, at, n);
      at += n;
    }
    OP_REQUIRES(ctx, at == out->NumElements(),
                errors::InvalidArgument("encoded_ragged_grad has ", at,
                                        " values, but dense_values_shape is ",
                                        shape.DebugString()));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("RaggedTensorToVariantGradient").Device(DEVICE_CPU),
    RaggedTensorToVariantGradientOp);

}  // namespace
}  // namespace headrace
