// PaddedBatchDataset: elements stacked after each component was padded at its
// ends to the padded shape, or, where that says -1, to the batch's largest.
#include <algorithm>
#include <utility>

#include "kernels/data/batching_dataset.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

// Copies `from` to the corner of the block of `to` that begins at `begin` and
// has the shape `block`.
void CopyToCorner(const Tensor& from, absl::Span<const int64_t> block,
                  int64_t begin, Tensor* to) {
  const int rank = from.dims();
  if (from.NumElements() == 0) return;
  const int64_t run = rank == 0 ? 1 : from.dim_size(rank - 1);
  DimVector at(rank, 0);
  for (int64_t done = 0; done < from.NumElements(); done += run) {
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset = offset * block[d] + at[d];
    CopyElements(from, done, to, begin + offset, run);
    for (int d = rank - 2; d >= 0 && ++at[d] == from.dim_size(d); --d) {
      at[d] = 0;
    }
  }
}

class PaddedBatchDataset : public BatchingDataset {
 public:
  PaddedBatchDataset(ElementSpec spec, RefPtr<const Dataset> input,
                     const BatchOptions& options,
                     std::vector<DimVector> padded_shapes,
                     TensorTuple padding_values)
      : BatchingDataset(std::move(spec), std::move(input), options),
        padded_shapes_(std::move(padded_shapes)),
        padding_values_(std::move(padding_values)) {}

 protected:
  Status Stack(const std::vector<TensorTuple>& elements,
               TensorTuple* out) const override {
    for (const TensorTuple& e : elements) {
      HR_RETURN_IF_ERROR(input().spec().CheckElement(e, "PaddedBatchDataset"));
    }
    out->clear();
    for (size_t c = 0; c < padded_shapes_.size(); ++c) {
      Tensor t;
      HR_RETURN_IF_ERROR(StackComponent(elements, c, &t));
      out->push_back(std::move(t));
    }
    return OkStatus();
  }

 private:
  Status StackComponent(const std::vector<TensorTuple>& elements, size_t c,
                        Tensor* out) const {
    const DimVector& wanted = padded_shapes_[c];
    const int64_t n = static_cast<int64_t>(elements.size());
    DimVector block(wanted.size(), 0);
    for (const TensorTuple& e : elements) {
      if (e[c].dims() != static_cast<int>(wanted.size())) {
        return errors::InvalidArgument(
            "All elements in a batch must have the same rank as the padded "
            "shape for component",
            c, ": expected rank ", wanted.size(), " but got element with rank ",
            e[c].dims());
      }
      for (size_t d = 0; d < wanted.size(); ++d) {
        const int64_t size = e[c].dim_size(static_cast<int>(d));
        if (wanted[d] >= 0 && size > wanted[d]) {
          return errors::DataLoss(
              "Attempted to pad to a smaller size than the input element: "
              "component ",
              c, " has shape ", e[c].shape().DebugString(),
              ", the padded shape is ",
              PartialTensorShape(wanted).DebugString());
        }
        block[d] = wanted[d] >= 0 ? wanted[d] : std::max(block[d], size);
      }
    }
    DimVector dims(1, n);
    dims.insert(dims.end(), block.begin(), block.end());
    TensorShape shape;
    HR_RETURN_IF_ERROR(TensorShape::Build(dims, &shape));
    HR_RETURN_IF_ERROR(Tensor::Allocate(
        CpuAllocator(), padding_values_[c].dtype(), shape, out));
    FillElements(padding_values_[c], out, 0, out->NumElements());
    for (int64_t i = 0; i < n; ++i) {
      CopyToCorner(elements[i][c], block, i * (out->NumElements() / n), out);
    }
    return OkStatus();
  }

  const std::vector<DimVector> padded_shapes_;
  const TensorTuple padding_values_;
};

class PaddedBatchDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    BatchOptions options;
    HR_RETURN_IF_ERROR(ReadBatchOptions(ctx, &options));
    const ElementSpec& in = input->spec();
    std::vector<const Tensor*> shapes, values;
    HR_RETURN_IF_ERROR(ctx->input_list("padded_shapes", &shapes));
    HR_RETURN_IF_ERROR(ctx->input_list("padding_values", &values));
    if (shapes.size() != in.dtypes.size() ||
        values.size() != in.dtypes.size()) {
      return errors::InvalidArgument(
          "Number of padded shapes (", shapes.size(), ") and padding values (",
          values.size(),
          ") must match the number of components in the input "
          "dataset's elements (",
          in.dtypes.size(), ")");
    }
    std::vector<DimVector> padded(shapes.size());
    TensorTuple padding;
    ElementSpec out_spec;
    const int64_t rows = options.drop_remainder ? options.size : -1;
    out_spec.dtypes = in.dtypes;
    for (size_t c = 0; c < shapes.size(); ++c) {
      if (values[c]->dims() != 0) {
        return errors::InvalidArgument(
            "All padding values must be scalars, padding_values[", c,
            "] has shape ", values[c]->shape().DebugString());
      }
      if (values[c]->dtype() != in.dtypes[c]) {
        return errors::InvalidArgument("Mismatched type between padding value ",
                                       c, " and input dataset's component ", c,
                                       ": ", DataTypeString(values[c]->dtype()),
                                       " vs. ", DataTypeString(in.dtypes[c]));
      }
      HR_RETURN_IF_ERROR(ReadIntegerVector(
          *shapes[c], StrCat("padded_shapes[", c, "]"), &padded[c]));
      PartialTensorShape shape;
      HR_RETURN_IF_ERROR(PartialTensorShape::Build(padded[c], &shape));
      padding.push_back(*values[c]);
      out_spec.shapes.push_back(PartialTensorShape({rows}).Concatenate(shape));
    }
    *out = MakeRef<PaddedBatchDataset>(std::move(out_spec), std::move(input),
                                       options, std::move(padded),
                                       std::move(padding));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("PaddedBatchDataset").Device(DEVICE_CPU),
                        PaddedBatchDatasetOp);
REGISTER_KERNEL_BUILDER(Name("PaddedBatchDatasetV2").Device(DEVICE_CPU),
                        PaddedBatchDatasetOp);

}  // namespace
}  // namespace headrace
