// RaggedCross: for each row all combinations of one feature of each input, as a
// ragged tensor. Inputs are ragged, sparse and dense; input_order says which
// comes when ("RSD"), the last one's features changing fastest.
#include <string>
#include <vector>

#include "kernels/lib/row_splits.h"
#include "kernels/sparse/feature_cross.h"

namespace headrace {
namespace {

class RaggedCrossOp : public OpKernel {
 public:
  explicit RaggedCrossOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    bool hashed = false;
    int64_t key = 0;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("input_order", &order_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("hashed_output", &hashed));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_buckets", &how_.num_buckets));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("hash_key", &key));
    how_.seed = static_cast<uint64_t>(key);
    const DataType type = ctx->output_type(0);
    OP_REQUIRES(ctx, hashed == (type == DT_INT64),
                errors::InvalidArgument(
                    "out_values_type must be ", hashed ? "int64" : "string",
                    " where hashed_output is ", hashed ? "true" : "false",
                    ", got ", DataTypeString(type)));
  }

  void Compute(OpKernelContext* ctx) override {
    std::vector<FeatureColumn> columns;
    int64_t rows = 0;
    OP_REQUIRES_OK(ctx, ReadColumns(ctx, &columns, &rows));
    std::vector<int64_t> counts;
    int64_t total = 0;
    OP_REQUIRES_OK(
        ctx, CountCombinations(columns, rows, type_string(), &counts, &total));
    Tensor* values = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {total}, &values));
    SplitsWriter splits;
    OP_REQUIRES_OK(ctx, splits.Allocate(ctx, 1, rows));
    for (int64_t b = 0; b < rows; ++b) {
      CrossRow(how_, columns, b, counts[b], values, splits.end());
      OP_REQUIRES_OK(ctx, splits.Add(counts[b]));
    }
  }

 private:
  struct Inputs {
    std::vector<const Tensor*> ragged_values, ragged_splits, sparse_indices,
        sparse_values, sparse_shapes, dense;
  };

  static Status ReadLists(OpKernelContext* ctx, Inputs* in) {
    HR_RETURN_IF_ERROR(ctx->input_list("ragged_values", &in->ragged_values));
    HR_RETURN_IF_ERROR(
        ctx->input_list("ragged_row_splits", &in->ragged_splits));
    HR_RETURN_IF_ERROR(ctx->input_list("sparse_indices", &in->sparse_indices));
    HR_RETURN_IF_ERROR(ctx->input_list("sparse_values", &in->sparse_values));
    HR_RETURN_IF_ERROR(ctx->input_list("sparse_shape", &in->sparse_shapes));
    HR_RETURN_IF_ERROR(ctx->input_list("dense_inputs", &in->dense));
    if (in->ragged_values.size() != in->ragged_splits.size()) {
      return errors::InvalidArgument(
          "ragged values and splits must have the same length, got ",
          in->ragged_values.size(), " and ", in->ragged_splits.size());
    }
    if (in->sparse_values.size() != in->sparse_indices.size()) {
      return errors::InvalidArgument(
          "sparse indices and values must have the same length, got ",
          in->sparse_indices.size(), " and ", in->sparse_values.size());
    }
    return OkStatus();
  }

  static Status ReadRagged(const Tensor& values, const Tensor& splits,
                           FeatureColumn* out, int64_t* rows) {
    if (values.dims() != 1) {
      return errors::InvalidArgument(
          "ragged inputs must have rank 2, their values rank 1, got ",
          values.shape().DebugString());
    }
    HR_RETURN_IF_ERROR(ReadRowSplits(splits, values.NumElements(),
                                     "ragged_row_splits", &out->first));
    out->values = values;
    *rows = static_cast<int64_t>(out->first.size()) - 1;
    for (int64_t b = 0; b < *rows; ++b) {
      out->count.push_back(out->first[b + 1] - out->first[b]);
    }
    return OkStatus();
  }

  Status ReadSparseColumn(OpKernelContext* ctx, const Inputs& in, size_t i,
                          FeatureColumn* out, int64_t* rows) const {
    SparseView s;
    HR_RETURN_IF_ERROR(ReadSparse(*in.sparse_indices[i], *in.sparse_values[i],
                                  *in.sparse_shapes[i], "sparse", &s));
    if (s.rank != 2) {
      return errors::InvalidArgument("sparse inputs must have rank 2, got ",
                                     s.rank);
    }
    *rows = s.dims[0];
    HR_RETURN_IF_ERROR(CheckRowMemory(ctx, *rows, 1));
    *out = SparseFeatures(s, *rows);
    return OkStatus();
  }

  Status ReadColumns(OpKernelContext* ctx, std::vector<FeatureColumn>* columns,
                     int64_t* rows) const {
    Inputs in;
    HR_RETURN_IF_ERROR(ReadLists(ctx, &in));
    const size_t n =
        in.ragged_values.size() + in.sparse_values.size() + in.dense.size();
    size_t ragged = 0, sparse = 0, dense = 0;
    for (size_t i = 0; i < order_.size() && i < n; ++i) {
      FeatureColumn c;
      int64_t got = 0;
      const char kind = order_[i];
      if (kind == 'R' && ragged < in.ragged_values.size()) {
        HR_RETURN_IF_ERROR(ReadRagged(*in.ragged_values[ragged],
                                      *in.ragged_splits[ragged], &c, &got));
        ++ragged;
      } else if (kind == 'S' && sparse < in.sparse_values.size()) {
        HR_RETURN_IF_ERROR(ReadSparseColumn(ctx, in, sparse++, &c, &got));
      } else if (kind == 'D' && dense < in.dense.size()) {
        const Tensor& t = *in.dense[dense++];
        if (t.dims() != 2) {
          return errors::InvalidArgument(
              "dense inputs must have rank 2, got shape ",
              t.shape().DebugString());
        }
        got = t.dim_size(0);
        HR_RETURN_IF_ERROR(CheckRowMemory(ctx, got, 1));
        c = DenseFeatures(t, got);
      } else {
        break;
      }
      if (columns->empty()) *rows = got;
      if (got != *rows) {
        return errors::InvalidArgument(
            "inputs must all have the same batch dimension size, got ", *rows,
            " and ", got);
      }
      columns->push_back(std::move(c));
    }
    if (columns->size() == n && order_.size() == n) return OkStatus();
    return errors::InvalidArgument("Invalid input_order \"", order_, "\" for ",
                                   in.ragged_values.size(), " ragged (R), ",
                                   in.sparse_values.size(), " sparse (S) and ",
                                   in.dense.size(), " dense (D) inputs");
  }

  std::string order_;
  FeatureCrossing how_;
};
REGISTER_KERNEL_BUILDER(Name("RaggedCross").Device(DEVICE_CPU), RaggedCrossOp);

}  // namespace
}  // namespace headrace
