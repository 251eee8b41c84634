// Datasets that choose among the elements of others and leave them as they
// are.
#include <algorithm>

#include "kernels/data/iterator_state.h"
#include "kernels/data/shuffle_dataset.h"

namespace headrace {
namespace {

Status CountInput(const OpKernelContext& ctx, int64_t* count) {
  return ScalarInput(ctx, "count", count);
}

// D, made of a dataset and the input "count".
template <typename D>
class CountDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    int64_t count = 0;
    HR_RETURN_IF_ERROR(CountInput(*ctx, &count));
    *out = MakeRef<D>(std::move(input), count);
    return OkStatus();
  }
};

// The input `count` times; for ever if that is negative.
class RepeatDataset : public Dataset {
 public:
  RepeatDataset(RefPtr<const Dataset> input, int64_t count)
      : Dataset(input->spec(), {input}), count_(count) {}

  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (count_ == 0 || n == 0) return 0;
    if (n < 0) return n;
    if (count_ < 0) return kInfiniteCardinality;
    const int64_t product = MultiplyWithoutOverflow(n, count_);
    return product < 0 ? kUnknownCardinality : product;
  }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const RepeatDataset> dataset)
        : dataset_(std::move(dataset)) {}
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      for (;;) {
        if (input_ == nullptr) {
          if (dataset_->count_ >= 0 && round_ >= dataset_->count_) break;
          HR_RETURN_IF_ERROR(dataset_->input().NewIterator(ctx, &input_));
          first_ = true;
        }
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, &input_end));
        if (!input_end) {
          first_ = false;
          return OkStatus();
        }
        input_ = nullptr;
        if (dataset_->count_ >= 0) {
          ++round_;
        } else if (first_) {
          break;  // nothing to repeat
        }
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
      }
      *end = true;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(state->Int("Repeat:round", &round_));
      HR_RETURN_IF_ERROR(state->Bool("Repeat:first", &first_));
      // Before the first element too, the seeds of the input are a part of it.
      if (!state->restoring() && input_ == nullptr && round_ == 0 &&
          dataset_->count_ != 0 && first_) {
        HR_RETURN_IF_ERROR(dataset_->input().NewIterator(ctx, &input_));
      }
      return state->InputOrNull("Repeat", ctx, dataset_->input(), &input_);
    }

   private:
    const RefPtr<const RepeatDataset> dataset_;
    std::unique_ptr<DatasetIterator> input_;
    bool first_ = true;  // nothing came from input_ yet
    int64_t round_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    if (ctx.fuses_shuffles) {
      const RefPtr<const Dataset> one = ShuffledAndRepeated(input(), count_);
      if (one != nullptr) return one->NewIterator(ctx, out);
    }
    *out =
        std::make_unique<Iterator>(RefPtr<const RepeatDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const int64_t count_;
};

REGISTER_KERNEL_BUILDER(Name("RepeatDataset").Device(DEVICE_CPU),
                        CountDatasetOp<RepeatDataset>);

// The first `count` elements; all if that is negative.
class TakeDataset : public Dataset {
 public:
  TakeDataset(RefPtr<const Dataset> input, int64_t count)
      : Dataset(input->spec(), {input}), count_(count) {}

  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (count_ < 0 || n == kUnknownCardinality) return n;
    return n == kInfiniteCardinality ? count_ : std::min(n, count_);
  }

  class Iterator : public InputIterator<TakeDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      if (input_ == nullptr ||
          (dataset().count_ >= 0 && taken_ >= dataset().count_)) {
        input_ = nullptr;
        *end = true;
        return OkStatus();
      }
      HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, end));
      if (*end) {
        input_ = nullptr;
      } else {
        ++taken_;
      }
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(state->Int("Take:taken", &taken_));
      return state->InputOrNull("Take", ctx, dataset().input(), &input_);
    }

   private:
    int64_t taken_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const int64_t count_;
};

REGISTER_KERNEL_BUILDER(Name("TakeDataset").Device(DEVICE_CPU),
                        CountDatasetOp<TakeDataset>);

// The elements after the first `count`. None if `count` is negative.
class SkipDataset : public Dataset {
 public:
  SkipDataset(RefPtr<const Dataset> input, int64_t count)
      : Dataset(input->spec(), {input}), count_(count) {}

  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (count_ < 0) return 0;
    return n < 0 ? n : std::max<int64_t>(0, n - count_);
  }

  class Iterator : public InputIterator<SkipDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      if (dataset().count_ < 0) input_ = nullptr;
      for (; input_ != nullptr && skipped_ < dataset().count_; ++skipped_) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, &input_end));
        if (input_end) input_ = nullptr;
      }
      if (input_ != nullptr) {
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, end));
        if (*end) input_ = nullptr;
      }
      *end = input_ == nullptr;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(state->Int("Skip:skipped", &skipped_));
      return state->InputOrNull("Skip", ctx, dataset().input(), &input_);
    }

   private:
    int64_t skipped_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const int64_t count_;
};

REGISTER_KERNEL_BUILDER(Name("SkipDataset").Device(DEVICE_CPU),
                        CountDatasetOp<SkipDataset>);

// Every num_shards-th element, from `index` on.
class ShardDataset : public Dataset {
 public:
  ShardDataset(RefPtr<const Dataset> input, int64_t num_shards, int64_t index,
               bool require_non_empty)
      : Dataset(input->spec(), {input}),
        num_shards_(num_shards),
        index_(index),
        require_non_empty_(require_non_empty) {}

  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    return n < 0 ? n : n / num_shards_ + (index_ < n % num_shards_ ? 1 : 0);
  }

  class Iterator : public InputIterator<ShardDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      const int64_t shards = dataset().num_shards_;
      while (input_ != nullptr) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, &input_end));
        if (input_end) {
          input_ = nullptr;
        } else if (next_++ % shards == dataset().index_) {
          return OkStatus();
        }
      }
      if (dataset().require_non_empty_ && next_ < shards) {
        return errors::InvalidArgument(
            "Could not apply FilterByShard: there are fewer elements (", next_,
            ") than shards (", shards, ")");
      }
      *end = true;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(state->Int("Shard:next", &next_));
      return state->InputOrNull("Shard", ctx, dataset().input(), &input_);
    }

   private:
    int64_t next_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const int64_t num_shards_, index_;
  const bool require_non_empty_;
};

class ShardDatasetOp : public UnaryDatasetOp {
 public:
  explicit ShardDatasetOp(OpKernelConstruction* ctx) : UnaryDatasetOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("require_non_empty", &non_empty_));
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    int64_t num_shards = 0, index = 0;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "num_shards", &num_shards));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "index", &index));
    if (num_shards < 1) {
      return errors::InvalidArgument(
          "Number of shards must be greater than zero (currently num_shards = ",
          num_shards, ").");
    }
    if (index < 0 || index >= num_shards) {
      return errors::InvalidArgument("Index must be between 0 and ",
                                     num_shards - 1,
                                     " (currently index = ", index, ").");
    }
    *out =
        MakeRef<ShardDataset>(std::move(input), num_shards, index, non_empty_);
    return OkStatus();
  }

 private:
  bool non_empty_ = false;
};
REGISTER_KERNEL_BUILDER(Name("ShardDataset").Device(DEVICE_CPU),
                        ShardDatasetOp);

// One dataset, then the other.
class ConcatenateDataset : public Dataset {
 public:
  ConcatenateDataset(ElementSpec spec, RefPtr<const Dataset> first,
                     RefPtr<const Dataset> second)
      : Dataset(std::move(spec), {std::move(first), std::move(second)}) {}

  int64_t Cardinality() const override {
    const int64_t a = input(0).Cardinality(), b = input(1).Cardinality();
    if (a == kInfiniteCardinality || b == kInfiniteCardinality) {
      return kInfiniteCardinality;
    }
    const int64_t sum = AddWithoutOverflow(a, b);
    return sum < 0 ? kUnknownCardinality : sum;
  }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const ConcatenateDataset> dataset)
        : dataset_(std::move(dataset)) {}
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      while (which_ < dataset_->num_inputs()) {
        if (input_ == nullptr) {
          HR_RETURN_IF_ERROR(dataset_->input(which_).NewIterator(ctx, &input_));
        }
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, &input_end));
        if (!input_end) return OkStatus();
        input_ = nullptr;
        ++which_;
      }
      *end = true;
      return OkStatus();
    }

    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      int64_t which = which_;
      HR_RETURN_IF_ERROR(
          state->Int("Concatenate:which", &which, 0, dataset_->num_inputs()));
      which_ = static_cast<int>(which);
      if (which_ == dataset_->num_inputs()) return OkStatus();
      return state->InputOrNull("Concatenate", ctx, dataset_->input(which_),
                                &input_);
    }

   private:
    const RefPtr<const ConcatenateDataset> dataset_;
    std::unique_ptr<DatasetIterator> input_;
    int which_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out = std::make_unique<Iterator>(
        RefPtr<const ConcatenateDataset>::NewRef(this));
    return OkStatus();
  }
};

class ConcatenateDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    RefPtr<const Dataset> another;
    HR_RETURN_IF_ERROR(DatasetInput(*ctx, "another_dataset", &another));
    if (input->spec().dtypes != another->spec().dtypes) {
      return errors::InvalidArgument(
          "input dataset and dataset to concatenate have different "
          "output_types ",
          DataTypeSliceString(input->spec().dtypes), " and ",
          DataTypeSliceString(another->spec().dtypes));
    }
    *out = MakeRef<ConcatenateDataset>(
        ElementSpec{input->spec().dtypes, spec().shapes}, std::move(input),
        std::move(another));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("ConcatenateDataset").Device(DEVICE_CPU),
                        ConcatenateDatasetOp);

// The elements that can be had; those that fail are left out.
class IgnoreErrorsDataset : public Dataset {
 public:
  explicit IgnoreErrorsDataset(RefPtr<const Dataset> input)
      : Dataset(input->spec(), {input}) {}

  class Iterator : public InputIterator<IgnoreErrorsDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      for (;;) {
        *end = false;
        const Status s = input_->GetNext(ctx, out, end);
        if (s.ok()) return s;
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        // After the session's end or without memory, the next element would
        // fail, too.
        if (errors::IsCancelled(s) || errors::IsResourceExhausted(s)) return s;
      }
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      return state->Input("IgnoreErrors", ctx, dataset().input(), &input_);
    }
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }
};

class IgnoreErrorsDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext*, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    *out = MakeRef<IgnoreErrorsDataset>(std::move(input));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("IgnoreErrorsDataset").Device(DEVICE_CPU),
                        IgnoreErrorsDatasetOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalIgnoreErrorsDataset").Device(DEVICE_CPU),
    IgnoreErrorsDatasetOp);

// The components of all inputs side by side; ends with the shortest.
class ZipDataset : public Dataset {
 public:
  ZipDataset(ElementSpec spec, std::vector<RefPtr<const Dataset>> inputs)
      : Dataset(std::move(spec), std::move(inputs)) {}

  int64_t Cardinality() const override {
    int64_t least = kInfiniteCardinality;
    for (int i = 0; i < num_inputs(); ++i) {
      const int64_t n = input(i).Cardinality();
      if (n == kUnknownCardinality) return n;
      if (n == kInfiniteCardinality) continue;
      least = least == kInfiniteCardinality ? n : std::min(least, n);
    }
    return least;
  }

  class Iterator : public DatasetIterator {
   public:
    Iterator(RefPtr<const ZipDataset> dataset,
             std::vector<std::unique_ptr<DatasetIterator>> inputs)
        : dataset_(std::move(dataset)), inputs_(std::move(inputs)) {}
    // Every input advances, also when one fails: they stay in step.
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      out->clear();
      Status status;
      *end = inputs_.empty();
      for (auto& input : inputs_) {
        TensorTuple part;
        bool input_end = false;
        const Status s = input->GetNext(ctx, &part, &input_end);
        if (s.ok() && input_end) {
          *end = true;
          break;
        }
        if (!s.ok() && status.ok()) status = s;
        for (Tensor& t : part) out->push_back(std::move(t));
      }
      if (*end) {
        inputs_.clear();
        return OkStatus();
      }
      return status;
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      bool ended = inputs_.empty();
      HR_RETURN_IF_ERROR(state->Bool("Zip:ended", &ended));
      if (ended) inputs_.clear();
      for (size_t i = 0; i < inputs_.size(); ++i) {
        HR_RETURN_IF_ERROR(state->Input(StrCat("Zip[", i, "]"), ctx,
                                        dataset_->input(static_cast<int>(i)),
                                        &inputs_[i]));
      }
      return OkStatus();
    }

   private:
    const RefPtr<const ZipDataset> dataset_;
    std::vector<std::unique_ptr<DatasetIterator>> inputs_;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    std::vector<std::unique_ptr<DatasetIterator>> inputs(num_inputs());
    for (int i = 0; i < num_inputs(); ++i) {
      HR_RETURN_IF_ERROR(input(i).NewIterator(ctx, &inputs[i]));
    }
    *out = std::make_unique<Iterator>(RefPtr<const ZipDataset>::NewRef(this),
                                      std::move(inputs));
    return OkStatus();
  }
};

class ZipDatasetOp : public DatasetOp {
 public:
  using DatasetOp::DatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    std::vector<RefPtr<const Dataset>> inputs(ctx->num_inputs());
    ElementSpec joined;
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      HR_RETURN_IF_ERROR(DatasetFromTensor(
          ctx->input(i), StrCat("input_datasets[", i, "]"), &inputs[i]));
      const ElementSpec& s = inputs[i]->spec();
      joined.dtypes.insert(joined.dtypes.end(), s.dtypes.begin(),
                           s.dtypes.end());
      joined.shapes.insert(joined.shapes.end(), s.shapes.begin(),
                           s.shapes.end());
    }
    HR_RETURN_IF_ERROR(spec().CheckAccepts(joined, "ZipDataset"));
    *out = MakeRef<ZipDataset>(std::move(joined), std::move(inputs));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("ZipDataset").Device(DEVICE_CPU), ZipDatasetOp);

// Remarks about how a dataset is run, which do not change what it contains.
class SameDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext*, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    *out = std::move(input);
    return OkStatus();
  }
};

// Its input, in which a shuffle that is repeated is one dataset.
class FusedShufflesDataset : public Dataset {
 public:
  explicit FusedShufflesDataset(RefPtr<const Dataset> input)
      : Dataset(input->spec(), {input}) {}

  int64_t Cardinality() const override { return input().Cardinality(); }

  class Iterator : public InputIterator<FusedShufflesDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      return input_->GetNext(Fusing(ctx), out, end);
    }
    bool IsReady() override { return input_->IsReady(); }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      return state->Input("Fused", Fusing(ctx), dataset().input(), &input_);
    }
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, Fusing(ctx), out);
  }

 private:
  static IteratorContext Fusing(const IteratorContext& ctx) {
    IteratorContext fusing = ctx;
    fusing.fuses_shuffles = true;
    return fusing;
  }
};

// Of the optimizations, shuffle_and_repeat_fusion alone changes the elements:
// their order. It concerns the chain of inputs, not what functions make.
class OptimizeDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    const Tensor* names = nullptr;
    HR_RETURN_IF_ERROR(ctx->input("optimizations", &names));
    for (const tstring& name : names->span<tstring>()) {
      if (absl::string_view(name) == "shuffle_and_repeat_fusion") {
        *out = MakeRef<FusedShufflesDataset>(std::move(input));
        return OkStatus();
      }
    }
    *out = std::move(input);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("OptimizeDataset").Device(DEVICE_CPU),
                        OptimizeDatasetOp);

#define HR_REGISTER_SAME(op) \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_CPU), SameDatasetOp)
HR_REGISTER_SAME("ModelDataset");
HR_REGISTER_SAME("OptimizeDatasetV2");
HR_REGISTER_SAME("OptionsDataset");
HR_REGISTER_SAME("FinalizeDataset");
HR_REGISTER_SAME("MaxIntraOpParallelismDataset");
HR_REGISTER_SAME("ExperimentalMaxIntraOpParallelismDataset");
HR_REGISTER_SAME("PrivateThreadPoolDataset");
HR_REGISTER_SAME("ExperimentalPrivateThreadPoolDataset");
HR_REGISTER_SAME("NonSerializableDataset");
HR_REGISTER_SAME("ExperimentalNonSerializableDataset");
#undef HR_REGISTER_SAME

}  // namespace
}  // namespace headrace
