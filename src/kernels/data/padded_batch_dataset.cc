// PaddedBatchDataset: elements stacked after each component was padded at its
// ends to the padded shape, or, where that says -1, to the batch's largest.
#include <algorithm>
#include <utility>

#include "kernels/data/element_buffer.h"
#include "kernels/element.h"

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

class PaddedBatchDataset : public Dataset {
 public:
  PaddedBatchDataset(ElementSpec spec, RefPtr<const Dataset> input,
                     int64_t batch_size, bool drop_remainder,
                     std::vector<DimVector> padded_shapes,
                     TensorTuple padding_values)
      : Dataset(std::move(spec), {std::move(input)}),
        batch_size_(batch_size),
        drop_remainder_(drop_remainder),
        padded_shapes_(std::move(padded_shapes)),
        padding_values_(std::move(padding_values)) {}

  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (n < 0) return n;
    return n / batch_size_ + (n % batch_size_ > 0 && !drop_remainder_ ? 1 : 0);
  }

  class Iterator : public InputIterator<PaddedBatchDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      ElementBuffer batch("a batch");
      while (input_ != nullptr && batch.size() < dataset().batch_size_) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        TensorTuple e;
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, &e, &input_end));
        if (input_end) {
          input_ = nullptr;
        } else {
          HR_RETURN_IF_ERROR(
              dataset().input().spec().CheckElement(e, "PaddedBatchDataset"));
          HR_RETURN_IF_ERROR(batch.Add(std::move(e)));
        }
      }
      if (batch.size() == 0 ||
          (dataset().drop_remainder_ && batch.size() < dataset().batch_size_)) {
        *end = true;
        return OkStatus();
      }
      out->clear();
      for (size_t c = 0; c < dataset().padded_shapes_.size(); ++c) {
        Tensor t;
        HR_RETURN_IF_ERROR(dataset().StackComponent(batch.elements(), c, &t));
        out->push_back(std::move(t));
      }
      return OkStatus();
    }
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
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

  const int64_t batch_size_;
  const bool drop_remainder_;
  const std::vector<DimVector> padded_shapes_;
  const TensorTuple padding_values_;
};

template <bool kHasDropRemainder>
class PaddedBatchDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    int64_t size = 0;
    bool drop_remainder = false;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "batch_size", &size));
    if (size <= 0) {
      return errors::InvalidArgument("Batch size must be greater than zero.");
    }
    if (kHasDropRemainder) {
      HR_RETURN_IF_ERROR(ScalarInput(*ctx, "drop_remainder", &drop_remainder));
    }
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
      out_spec.shapes.push_back(
          PartialTensorShape({drop_remainder ? size : -1}).Concatenate(shape));
    }
    *out = MakeRef<PaddedBatchDataset>(std::move(out_spec), std::move(input),
                                       size, drop_remainder, std::move(padded),
                                       std::move(padding));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("PaddedBatchDataset").Device(DEVICE_CPU),
                        PaddedBatchDatasetOp<false>);
REGISTER_KERNEL_BUILDER(Name("PaddedBatchDatasetV2").Device(DEVICE_CPU),
                        PaddedBatchDatasetOp<true>);

}  // namespace
}  // namespace headrace
