// MapDataset, and the ops that call one function for each element: filters,
// scans.
#include <utility>

#include "framework/tensor/borrowed_buffer.h"
#include "kernels/data/captured_function.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/stats_aggregator.h"

namespace headrace {
namespace {

using Function = std::shared_ptr<const CapturedFunction>;

// f(element). An OutOfRange from f ends the sequence, as when f is a
// generator, unless as many elements are promised as the input has.
class MapDataset : public Dataset {
 public:
  MapDataset(ElementSpec spec, RefPtr<const Dataset> input, Function f,
             bool preserve_cardinality)
      : Dataset(std::move(spec), {std::move(input)}),
        f_(std::move(f)),
        preserve_cardinality_(preserve_cardinality) {
    Calls(f_);
  }

  int64_t Cardinality() const override {
    return preserve_cardinality_ ? input().Cardinality() : kUnknownCardinality;
  }

  class Iterator : public InputIterator<MapDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      TensorTuple args;
      HR_RETURN_IF_ERROR(input_->GetNext(ctx, &args, end));
      if (*end) return OkStatus();
      const Status s = dataset().f_->Run(ctx, std::move(args), out);
      if (!errors::IsOutOfRange(s)) return s;
      if (dataset().preserve_cardinality_) {
        return errors::InvalidArgument(
            "Function invocation produced OutOfRangeError: ", s.message());
      }
      *end = true;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      return state->Input("Map", ctx, dataset().input(), &input_);
    }
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const Function f_;
  const bool preserve_cardinality_;
};

class MapDatasetOp : public FunctionDatasetOp {
 public:
  explicit MapDatasetOp(OpKernelConstruction* ctx)
      : FunctionDatasetOp(ctx, "f") {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("preserve_cardinality", &preserve_));
  }

 protected:
  Status Make(OpKernelContext*, RefPtr<const Dataset> input, Function f,
              RefPtr<const Dataset>* out) override {
    HR_RETURN_IF_ERROR(f->CheckResults(spec().dtypes));
    *out =
        MakeRef<MapDataset>(spec(), std::move(input), std::move(f), preserve_);
    return OkStatus();
  }

 private:
  bool preserve_ = false;
};
REGISTER_KERNEL_BUILDER(Name("MapDataset").Device(DEVICE_CPU), MapDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ExperimentalMapDataset").Device(DEVICE_CPU),
                        MapDatasetOp);

// The elements for which the predicate holds; or those before the first for
// which it does not.
class FilterDataset : public Dataset {
 public:
  FilterDataset(RefPtr<const Dataset> input, Function predicate,
                bool take_while)
      : Dataset(input->spec(), {input}),
        predicate_(std::move(predicate)),
        take_while_(take_while) {
    Calls(predicate_);
  }

  class Iterator : public InputIterator<FilterDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      while (input_ != nullptr) {
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, &input_end));
        if (input_end) break;
        TensorTuple holds;
        HR_RETURN_IF_ERROR(dataset().predicate_->Run(ctx, *out, &holds));
        if (holds[0].NumElements() != 1) {
          return errors::InvalidArgument(
              "Filter predicate `", dataset().predicate_->name(),
              "` must return a scalar bool, got shape ",
              holds[0].shape().DebugString());
        }
        const bool is_kept = *holds[0].data<bool>();
        if (ctx.stats != nullptr && !dataset().take_while_) {
          Tell(*ctx.stats, is_kept);
        }
        if (is_kept) return OkStatus();
        if (dataset().take_while_) break;
      }
      input_ = nullptr;
      *end = true;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      return state->InputOrNull(dataset().take_while_ ? "TakeWhile" : "Filter",
                                ctx, dataset().input(), &input_);
    }

   private:
    void Tell(const StatsTarget& stats, bool is_kept) {
      const char* const what = is_kept ? "filtered" : "dropped";
      stats.SetScalar(
          StrCat("FilterDataset/_", dataset().depth(), "::", what, "_elements"),
          static_cast<double>(++(is_kept ? kept_ : dropped_)));
    }

    int64_t kept_ = 0, dropped_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const Function predicate_;
  const bool take_while_;
};

template <bool kTakeWhile>
class FilterDatasetOp : public FunctionDatasetOp {
 public:
  explicit FilterDatasetOp(OpKernelConstruction* ctx)
      : FunctionDatasetOp(ctx, "predicate") {}

 protected:
  Status Make(OpKernelContext*, RefPtr<const Dataset> input, Function f,
              RefPtr<const Dataset>* out) override {
    HR_RETURN_IF_ERROR(f->CheckResults({DT_BOOL}));
    *out = MakeRef<FilterDataset>(std::move(input), std::move(f), kTakeWhile);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("FilterDataset").Device(DEVICE_CPU),
                        FilterDatasetOp<false>);
REGISTER_KERNEL_BUILDER(Name("ParallelFilterDataset").Device(DEVICE_CPU),
                        FilterDatasetOp<false>);
REGISTER_KERNEL_BUILDER(Name("TakeWhileDataset").Device(DEVICE_CPU),
                        FilterDatasetOp<true>);
REGISTER_KERNEL_BUILDER(Name("ExperimentalTakeWhileDataset").Device(DEVICE_CPU),
                        FilterDatasetOp<true>);

// (state, output) = f(state, element), output by output.
class ScanDataset : public Dataset {
 public:
  ScanDataset(ElementSpec spec, RefPtr<const Dataset> input, Function f,
              TensorTuple initial_state, bool preserve_cardinality)
      : Dataset(std::move(spec), {std::move(input)}),
        f_(std::move(f)),
        initial_state_(std::move(initial_state)),
        preserve_cardinality_(preserve_cardinality) {
    Calls(f_);
    CountHeld(initial_state_);
  }

  int64_t Cardinality() const override {
    return preserve_cardinality_ ? input().Cardinality() : kUnknownCardinality;
  }

  class Iterator : public InputIterator<ScanDataset> {
   public:
    Iterator(const ScanDataset* d, std::unique_ptr<DatasetIterator> input)
        : InputIterator(d, std::move(input)), state_(d->initial_state_) {}
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      TensorTuple element;
      HR_RETURN_IF_ERROR(input_->GetNext(ctx, &element, end));
      if (*end) return OkStatus();
      TensorTuple args = state_;
      for (Tensor& t : element) args.push_back(std::move(t));
      TensorTuple results;
      const Status s = dataset().f_->Run(ctx, std::move(args), &results);
      if (errors::IsOutOfRange(s)) {
        if (dataset().preserve_cardinality_) {
          return errors::InvalidArgument(
              "Function invocation produced OutOfRangeError: ", s.message());
        }
        *end = true;
        return OkStatus();
      }
      HR_RETURN_IF_ERROR(s);
      const auto outputs = results.begin() + state_.size();
      out->assign(std::make_move_iterator(outputs),
                  std::make_move_iterator(results.end()));
      results.erase(outputs, results.end());
      state_ = std::move(results);
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      ElementSpec spec;
      for (const Tensor& t : state_) spec.dtypes.push_back(t.dtype());
      HR_RETURN_IF_ERROR(state->Element("Scan:state", &spec, &state_));
      return state->Input("Scan", ctx, dataset().input(), &input_);
    }

   private:
    TensorTuple state_;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const Function f_;
  const TensorTuple initial_state_;
  const bool preserve_cardinality_;
};

class ScanDatasetOp : public FunctionDatasetOp {
 public:
  explicit ScanDatasetOp(OpKernelConstruction* ctx)
      : FunctionDatasetOp(ctx, "f") {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("preserve_cardinality", &preserve_));
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input, Function f,
              RefPtr<const Dataset>* out) override {
    std::vector<const Tensor*> initial;
    HR_RETURN_IF_ERROR(ctx->input_list("initial_state", &initial));
    TensorTuple state;
    DataTypeVector types;
    for (const Tensor* t : initial) {
      state.push_back(*t);
      types.push_back(t->dtype());
    }
    HR_RETURN_IF_ERROR(OwnBytes(&state));
    types.insert(types.end(), spec().dtypes.begin(), spec().dtypes.end());
    HR_RETURN_IF_ERROR(f->CheckResults(types));
    *out = MakeRef<ScanDataset>(spec(), std::move(input), std::move(f),
                                std::move(state), preserve_);
    return OkStatus();
  }

 private:
  bool preserve_ = false;
};
REGISTER_KERNEL_BUILDER(Name("ScanDataset").Device(DEVICE_CPU), ScanDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ExperimentalScanDataset").Device(DEVICE_CPU),
                        ScanDatasetOp);

}  // namespace
}  // namespace headrace
