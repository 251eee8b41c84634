// BatchDataset, MapAndBatchDataset and UnbatchDataset: elements stacked along
// a new first dimension, and taken apart along the first.
#include <utility>

#include "kernels/data/batching_dataset.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/parallel_map_dataset.h"

namespace headrace {
namespace {

ElementSpec BatchedSpec(const ElementSpec& spec, const BatchOptions& options) {
  ElementSpec out;
  out.dtypes = spec.dtypes;
  const int64_t rows = options.drop_remainder ? options.size : -1;
  for (const PartialTensorShape& s : spec.shapes) {
    out.shapes.push_back(PartialTensorShape({rows}).Concatenate(s));
  }
  return out;
}

class BatchDataset : public BatchingDataset {
 public:
  BatchDataset(const RefPtr<const Dataset>& input, const BatchOptions& options)
      : BatchingDataset(BatchedSpec(input->spec(), options), input, options) {}

 protected:
  Status Stack(const std::vector<TensorTuple>& elements,
               TensorTuple* out) const override {
    return StackElements(elements, out);
  }
};

class BatchDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    BatchOptions options;
    HR_RETURN_IF_ERROR(ReadBatchOptions(ctx, &options));
    *out = MakeRef<BatchDataset>(std::move(input), options);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("BatchDataset").Device(DEVICE_CPU),
                        BatchDatasetOp);
REGISTER_KERNEL_BUILDER(Name("BatchDatasetV2").Device(DEVICE_CPU),
                        BatchDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ParallelBatchDataset").Device(DEVICE_CPU),
                        BatchDatasetOp);

class MapAndBatchDatasetOp : public FunctionDatasetOp {
 public:
  explicit MapAndBatchDatasetOp(OpKernelConstruction* ctx)
      : FunctionDatasetOp(ctx, "f") {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("preserve_cardinality", &preserve_));
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              std::shared_ptr<const CapturedFunction> f,
              RefPtr<const Dataset>* out) override {
    BatchOptions options;
    int64_t parallelism = 0;
    HR_RETURN_IF_ERROR(ReadBatchOptions(ctx, &options));
    HR_RETURN_IF_ERROR(ReadParallelism(ctx, &parallelism));
    HR_RETURN_IF_ERROR(f->CheckResults(spec().dtypes));
    ElementSpec rows = spec();
    for (PartialTensorShape& s : rows.shapes) {
      s = s.dims() > 0 ? PartialTensorShape(s.dim_sizes().subspan(1))
                       : PartialTensorShape();
    }
    *out = MakeRef<BatchDataset>(
        MakeParallelMapDataset(std::move(rows), std::move(input), std::move(f),
                               {.parallelism = parallelism,
                                .preserve_cardinality = preserve_,
                                .op = "MapAndBatchDataset"}),
        options);
    return OkStatus();
  }

 private:
  bool preserve_ = false;
};
REGISTER_KERNEL_BUILDER(Name("MapAndBatchDataset").Device(DEVICE_CPU),
                        MapAndBatchDatasetOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalMapAndBatchDataset").Device(DEVICE_CPU),
    MapAndBatchDatasetOp);

// The slices of the elements.
class UnbatchDataset : public Dataset {
 public:
  UnbatchDataset(ElementSpec spec, RefPtr<const Dataset> input)
      : Dataset(std::move(spec), {std::move(input)}) {}

  class Iterator : public InputIterator<UnbatchDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      while (next_ >= size_) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        if (input_ == nullptr) {
          *end = true;
          return OkStatus();
        }
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, &batch_, &input_end));
        if (input_end) {
          input_ = nullptr;
          batch_.clear();
          next_ = size_ = 0;
          continue;
        }
        next_ = size_ = 0;
        HR_RETURN_IF_ERROR(SetSize());
      }
      out->clear();
      for (const Tensor& t : batch_) out->push_back(t.SubSlice(next_));
      ++next_;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(state->Element("Unbatch:batch", nullptr, &batch_));
      if (state->restoring()) HR_RETURN_IF_ERROR(SetSize());
      HR_RETURN_IF_ERROR(state->Int("Unbatch:next", &next_, 0, size_));
      return state->InputOrNull("Unbatch", ctx, dataset().input(), &input_);
    }

   private:
    // Of the batch, whose components are to have the same.
    Status SetSize() {
      for (size_t c = 0; c < batch_.size(); ++c) {
        if (batch_[c].dims() == 0) {
          return errors::InvalidArgument(
              "Input element must have a non-scalar value in component ", c,
              ".");
        }
        if (batch_[c].dim_size(0) != batch_[0].dim_size(0)) {
          return errors::InvalidArgument(
              "Input element must have the same batch size in each "
              "component. Component 0 had size ",
              batch_[0].dim_size(0), " but component ", c, " had size, ",
              batch_[c].dim_size(0), ".");
        }
      }
      size_ = batch_.empty() ? 0 : batch_[0].dim_size(0);
      return OkStatus();
    }

    TensorTuple batch_;
    int64_t next_ = 0, size_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }
};

class UnbatchDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext*, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    ElementSpec rows;
    rows.dtypes = input->spec().dtypes;
    for (const PartialTensorShape& s : input->spec().shapes) {
      if (s.dims() == 0) {
        return errors::InvalidArgument(
            "Cannot unbatch an input with scalar components.");
      }
      rows.shapes.push_back(s.dims() > 0
                                ? PartialTensorShape(s.dim_sizes().subspan(1))
                                : PartialTensorShape());
    }
    *out = MakeRef<UnbatchDataset>(std::move(rows), std::move(input));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("UnbatchDataset").Device(DEVICE_CPU),
                        UnbatchDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ExperimentalUnbatchDataset").Device(DEVICE_CPU),
                        UnbatchDatasetOp);

}  // namespace
}  // namespace headrace
