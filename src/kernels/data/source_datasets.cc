// Datasets of what is in memory: tensors, their slices, numbers.
#include <limits>

#include "framework/kernel/philox.h"
#include "framework/tensor/borrowed_buffer.h"
#include "framework/tensor/variant.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/seeds.h"

namespace headrace {
namespace {

ElementSpec SpecOf(const TensorTuple& components, bool slices) {
  ElementSpec spec;
  for (const Tensor& t : components) {
    spec.dtypes.push_back(t.dtype());
    TensorShape shape = t.shape();
    if (slices) shape.RemoveDim(0);
    spec.shapes.push_back(shape);
  }
  return spec;
}

// The components as one element, or each of their slices.
template <bool kSlices>
class TensorsDataset : public Dataset {
 public:
  explicit TensorsDataset(TensorTuple components)
      : Dataset(SpecOf(components, kSlices)),
        components_(std::move(components)) {
    CountHeld(components_);
  }

  int64_t Cardinality() const override {
    return kSlices ? components_[0].dim_size(0) : 1;
  }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const TensorsDataset> dataset)
        : dataset_(std::move(dataset)) {}
    Status GetNext(const IteratorContext&, TensorTuple* out,
                   bool* end) override {
      if (next_ >= dataset_->Cardinality()) {
        *end = true;
        return OkStatus();
      }
      out->clear();
      for (const Tensor& t : dataset_->components_) {
        out->push_back(kSlices ? t.SubSlice(next_) : t);
      }
      ++next_;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext&,
                         IteratorState* state) override {
      return state->Int(kSlices ? "TensorSlices:next" : "Tensors:next", &next_,
                        0, dataset_->Cardinality());
    }

   private:
    const RefPtr<const TensorsDataset> dataset_;
    int64_t next_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out =
        std::make_unique<Iterator>(RefPtr<const TensorsDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const TensorTuple components_;
};

template <bool kSlices>
class TensorsDatasetOp : public DatasetOp {
 public:
  using DatasetOp::DatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    std::vector<const Tensor*> inputs;
    HR_RETURN_IF_ERROR(ctx->input_list("components", &inputs));
    TensorTuple components;
    for (const Tensor* t : inputs) {
      if (kSlices && t->dims() == 0) {
        return errors::InvalidArgument(
            type_string(),
            ": components must have at least one dimension, "
            "component ",
            components.size(), " is a scalar");
      }
      if (kSlices && t->dim_size(0) != inputs[0]->dim_size(0)) {
        return errors::InvalidArgument(
            type_string(),
            ": components must have the same size in the 0th "
            "dimension. Component 0 has ",
            inputs[0]->dim_size(0), ", and component ", components.size(),
            " has ", t->dim_size(0));
      }
      components.push_back(*t);
    }
    HR_RETURN_IF_ERROR(OwnBytes(&components));
    auto made = MakeRef<TensorsDataset<kSlices>>(std::move(components));
    HR_RETURN_IF_ERROR(spec().CheckAccepts(made->spec(), type_string()));
    *out = std::move(made);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("TensorDataset").Device(DEVICE_CPU),
                        TensorsDatasetOp<false>);
REGISTER_KERNEL_BUILDER(Name("TensorSliceDataset").Device(DEVICE_CPU),
                        TensorsDatasetOp<true>);

// The rows of a SparseTensor, each as indices, values and dense_shape.
class SparseTensorSliceDataset : public Dataset {
 public:
  SparseTensorSliceDataset(Tensor indices, Tensor values, Tensor shape)
      : Dataset(RowSpec(values.dtype(), shape.NumElements())),
        indices_(std::move(indices)),
        values_(std::move(values)),
        shape_(std::move(shape)) {}

  static ElementSpec RowSpec(DataType dtype, int64_t rank) {
    ElementSpec spec;
    spec.dtypes = {DT_INT64, dtype, DT_INT64};
    spec.shapes = {PartialTensorShape({-1, rank - 1}), PartialTensorShape({-1}),
                   PartialTensorShape({rank - 1})};
    return spec;
  }
  int64_t Cardinality() const override { return shape_.data<int64_t>()[0]; }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const SparseTensorSliceDataset> dataset)
        : dataset_(std::move(dataset)) {}
    Status GetNext(const IteratorContext&, TensorTuple* out,
                   bool* end) override {
      if (row_ >= dataset_->Cardinality()) {
        *end = true;
        return OkStatus();
      }
      const Tensor& indices = dataset_->indices_;
      const int64_t rank = indices.dim_size(1);
      const int64_t begin = entry_;
      while (entry_ < indices.dim_size(0) &&
             indices.data<int64_t>()[entry_ * rank] == row_) {
        ++entry_;
      }
      const int64_t n = entry_ - begin;
      Tensor row_indices(DT_INT64, TensorShape({n, rank - 1}));
      for (int64_t i = 0; i < n; ++i) {
        CopyElements(indices, (begin + i) * rank + 1, &row_indices,
                     i * (rank - 1), rank - 1);
      }
      *out = {std::move(row_indices), dataset_->values_.Slice(begin, entry_),
              dataset_->shape_.Slice(1, rank)};
      ++row_;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext&,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(state->Int("SparseTensorSlices:row", &row_, 0,
                                    dataset_->Cardinality()));
      return state->Int("SparseTensorSlices:entry", &entry_, 0,
                        dataset_->values_.NumElements());
    }

   private:
    const RefPtr<const SparseTensorSliceDataset> dataset_;
    int64_t row_ = 0, entry_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out = std::make_unique<Iterator>(
        RefPtr<const SparseTensorSliceDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const Tensor indices_, values_, shape_;
};

class SparseTensorSliceDatasetOp : public DatasetOp {
 public:
  using DatasetOp::DatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    const Tensor& indices = ctx->input(0);
    const Tensor& values = ctx->input(1);
    const Tensor& shape = ctx->input(2);
    if (indices.dims() != 2 || values.dims() != 1 || shape.dims() != 1 ||
        indices.dim_size(0) != values.dim_size(0) ||
        indices.dim_size(1) != shape.dim_size(0) || shape.dim_size(0) == 0) {
      return errors::InvalidArgument(
          "SparseTensorSliceDataset: wanted indices [n,rank], values [n] and "
          "dense_shape [rank], got shapes ",
          indices.shape().DebugString(), ", ", values.shape().DebugString(),
          " and ", shape.shape().DebugString());
    }
    int64_t row = 0;
    const int64_t rank = shape.dim_size(0);
    for (int64_t i = 0; i < indices.dim_size(0); ++i) {
      const int64_t at = indices.data<int64_t>()[i * rank];
      if (at < row) {
        return errors::Unimplemented(
            "The SparseTensor must be ordered in the batch dimension; handling "
            "arbitrarily ordered input is not currently supported.");
      }
      if (at >= shape.data<int64_t>()[0]) {
        return errors::InvalidArgument("SparseTensorSliceDataset: indices[", i,
                                       ", 0] is ", at, ", dense_shape[0] is ",
                                       shape.data<int64_t>()[0]);
      }
      row = at;
    }
    TensorTuple own = {indices, values, shape};
    HR_RETURN_IF_ERROR(OwnBytes(&own));
    *out = MakeRef<SparseTensorSliceDataset>(
        std::move(own[0]), std::move(own[1]), std::move(own[2]));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("SparseTensorSliceDataset").Device(DEVICE_CPU),
                        SparseTensorSliceDatasetOp);

// start, start + step, ... before stop.
class RangeDataset : public Dataset {
 public:
  RangeDataset(ElementSpec spec, int64_t start, int64_t stop, int64_t step)
      : Dataset(std::move(spec)), start_(start), step_(step) {
    using Wide = __int128;
    const Wide distance = Wide{stop} - start;
    if ((distance > 0) == (step > 0) && distance != 0) {
      const Wide sign = step > 0 ? 1 : -1;
      const Wide n = (distance + step - sign) / step;
      count_ = n > std::numeric_limits<int64_t>::max()
                   ? std::numeric_limits<int64_t>::max()
                   : static_cast<int64_t>(n);
    }
  }

  int64_t Cardinality() const override { return count_; }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const RangeDataset> dataset)
        : dataset_(std::move(dataset)) {}
    Status GetNext(const IteratorContext&, TensorTuple* out,
                   bool* end) override {
      if (next_ >= dataset_->count_) {
        *end = true;
        return OkStatus();
      }
      const auto value = static_cast<int64_t>(
          dataset_->start_ + static_cast<__int128>(next_) * dataset_->step_);
      ++next_;
      *out = {Number(dataset_->spec().dtypes[0], value)};
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext&,
                         IteratorState* state) override {
      return state->Int("Range:next", &next_, 0, dataset_->count_);
    }

   private:
    static Tensor Number(DataType type, int64_t v) {
      switch (type) {
        case DT_INT32:
          return Tensor::Scalar(static_cast<int32_t>(v));
        case DT_INT16:
          return Tensor::Scalar(static_cast<int16_t>(v));
        case DT_INT8:
          return Tensor::Scalar(static_cast<int8_t>(v));
        case DT_UINT8:
          return Tensor::Scalar(static_cast<uint8_t>(v));
        case DT_UINT16:
          return Tensor::Scalar(static_cast<uint16_t>(v));
        case DT_UINT32:
          return Tensor::Scalar(static_cast<uint32_t>(v));
        case DT_UINT64:
          return Tensor::Scalar(static_cast<uint64_t>(v));
        case DT_FLOAT:
          return Tensor::Scalar(static_cast<float>(v));
        case DT_DOUBLE:
          return Tensor::Scalar(static_cast<double>(v));
        default:
          return Tensor::Scalar(v);
      }
    }

    const RefPtr<const RangeDataset> dataset_;
    int64_t next_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out = std::make_unique<Iterator>(RefPtr<const RangeDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const int64_t start_, step_;
  int64_t count_ = 0;
};

class RangeDatasetOp : public DatasetOp {
 public:
  explicit RangeDatasetOp(OpKernelConstruction* ctx) : DatasetOp(ctx) {
    OP_REQUIRES(ctx, spec().dtypes.size() == 1,
                errors::InvalidArgument(
                    "RangeDataset has one component, output_types names ",
                    spec().dtypes.size()));
    const DataType t = spec().dtypes[0];
    OP_REQUIRES(ctx,
                t == DT_INT64 || t == DT_INT32 || t == DT_INT16 ||
                    t == DT_INT8 || t == DT_UINT8 || t == DT_UINT16 ||
                    t == DT_UINT32 || t == DT_UINT64 || t == DT_FLOAT ||
                    t == DT_DOUBLE,
                errors::InvalidArgument("RangeDataset: output_types must be a "
                                        "number's type, got ",
                                        DataTypeString(t)));
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    int64_t start = 0, stop = 0, step = 0;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "start", &start));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "stop", &stop));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "step", &step));
    if (step == 0) {
      return errors::InvalidArgument("step must be a non-zero integer.");
    }
    *out = MakeRef<RangeDataset>(
        ElementSpec{spec().dtypes, {PartialTensorShape::Scalar()}}, start, stop,
        step);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("RangeDataset").Device(DEVICE_CPU),
                        RangeDatasetOp);

// Random words, without end.
class RandomDataset : public Dataset {
 public:
  explicit RandomDataset(RefPtr<SeedGenerator> seeds)
      : Dataset(ElementSpec{{DT_INT64}, {PartialTensorShape::Scalar()}}),
        seeds_(std::move(seeds)) {}

  int64_t Cardinality() const override { return kInfiniteCardinality; }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<SeedGenerator> seeds)
        : seeds_(std::move(seeds)), words_(seeds_->Next().Words()) {}
    Status GetNext(const IteratorContext&, TensorTuple* out, bool*) override {
      *out = {Tensor::Scalar(static_cast<int64_t>(words_()))};
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext&,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(seeds_->SaveOrRestore("Random:generator", state));
      return state->Words("Random:words", &words_);
    }

   private:
    const RefPtr<SeedGenerator> seeds_;
    PhiloxWords words_;
  };

 protected:
  SeedGenerator* seed_generator() const override { return seeds_.get(); }
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out = std::make_unique<Iterator>(seeds_);
    return OkStatus();
  }

 private:
  const RefPtr<SeedGenerator> seeds_;
};

class RandomDatasetOp : public DatasetOp {
 public:
  explicit RandomDatasetOp(OpKernelConstruction* ctx) : DatasetOp(ctx) {
    if (ctx->HasAttr("rerandomize_each_iteration")) {
      OP_REQUIRES_OK(ctx,
                     ctx->GetAttr("rerandomize_each_iteration", &rerandomize_));
    }
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    RefPtr<SeedGenerator> generator;
    HR_RETURN_IF_ERROR(GeneratorInput(*ctx, &generator));
    if (generator == nullptr) {
      SeedPair seeds;
      HR_RETURN_IF_ERROR(ReadSeeds(*ctx, &seeds));
      generator = MakeRef<SeedGenerator>(seeds, rerandomize_);
    }
    *out = MakeRef<RandomDataset>(std::move(generator));
    return OkStatus();
  }

 private:
  bool rerandomize_ = false;
};
REGISTER_KERNEL_BUILDER(Name("RandomDataset").Device(DEVICE_CPU),
                        RandomDatasetOp);
REGISTER_KERNEL_BUILDER(Name("RandomDatasetV2").Device(DEVICE_CPU),
                        RandomDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ExperimentalRandomDataset").Device(DEVICE_CPU),
                        RandomDatasetOp);

}  // namespace
}  // namespace headrace
