// FlatMapDataset and the Interleave datasets: f makes a dataset of each
// element, whose elements follow each other, or take turns: `block_length` of
// each of `cycle_length` datasets. The parallel ones prepare the elements of
// all open datasets in the background, and give them in the same order, unless
// they may be sloppy: then a dataset that is not ready lets the others pass.
#include <algorithm>
#include <utility>

#include "base/thread_pool.h"
#include "kernels/data/captured_function.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/parallel_map_dataset.h"
#include "kernels/data/prefetcher.h"

namespace headrace {
namespace {

using Function = std::shared_ptr<const CapturedFunction>;

// How many datasets are opened before their turn.
constexpr int64_t kMaxOpenAhead = 64;
// More slots than this are never filled.
constexpr int64_t kMaxCycleLength = int64_t{1} << 24;
// Elements that are prepared of each.
constexpr int64_t kMaxElementsAhead = 64;

class InterleaveDataset : public Dataset {
 public:
  struct Options {
    int64_t cycle_length = 1;
    int64_t block_length = 1;
    int64_t elements_ahead = 0;  // 0: not parallel
    bool sloppy = false;         // only where parallel
  };

  InterleaveDataset(ElementSpec spec, RefPtr<const Dataset> input, Function f,
                    Options options)
      : Dataset(std::move(spec), {std::move(input)}),
        f_(std::move(f)),
        options_(options) {
    Calls(f_);
  }

  class Iterator : public InputIterator<InterleaveDataset> {
   public:
    using InputIterator::InputIterator;

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      const Options& o = dataset().options_;
      const bool parallel = o.elements_ahead > 0;
      if (parallel && !input_end_) {
        while (static_cast<int64_t>(slots_.size()) <
                   std::min(o.cycle_length, kMaxOpenAhead) &&
               !input_end_) {
          OpenAt(ctx, slots_.size());
        }
      }
      while (!input_end_ || open_ > 0) {
        if (at_ >= slots_.size() && input_end_) {
          NextSlot();
          continue;
        }
        if (at_ >= slots_.size() || slots_[at_].empty()) {
          if (input_end_) {
            NextSlot();
          } else {
            HR_RETURN_IF_ERROR(ctx.CheckCancelled());
            OpenAt(ctx, at_);
          }
          continue;
        }
        if (o.sloppy) HR_RETURN_IF_ERROR(GoToReady(ctx));
        Slot& slot = slots_[at_];
        if (!slot.status.ok()) {
          const Status s = std::move(slot.status);
          Close(&slot);
          return s;
        }
        bool slot_end = false;
        HR_RETURN_IF_ERROR(slot.iterator->GetNext(Inside(ctx), out, &slot_end));
        if (slot_end) {
          Close(&slot);
          NextSlot();
          continue;
        }
        if (++in_block_ >= o.block_length) NextSlot();
        return OkStatus();
      }
      *end = true;
      return OkStatus();
    }

    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      const int64_t longest = dataset().options_.cycle_length;
      int64_t slots = static_cast<int64_t>(slots_.size());
      HR_RETURN_IF_ERROR(state->Int("Interleave:slots", &slots, 0, longest));
      for (int64_t i = 0; i < slots; ++i) {
        if (state->restoring()) slots_.emplace_back();
        HR_RETURN_IF_ERROR(
            SaveOrRestoreSlot(StrCat("Interleave[", i, "]"), ctx, state, i));
      }
      HR_RETURN_IF_ERROR(state->Index("Interleave:at", &at_,
                                      static_cast<size_t>(longest) - 1));
      HR_RETURN_IF_ERROR(state->Int("Interleave:in_block", &in_block_));
      HR_RETURN_IF_ERROR(state->Bool("Interleave:input_end", &input_end_));
      return state->Input("Interleave", ctx, dataset().input(), &input_);
    }

   private:
    // Open if it has an iterator or the failure to make one.
    struct Slot {
      TensorTuple args;  // of which the dataset was made
      std::unique_ptr<DatasetIterator> iterator;
      Prefetcher* prefetcher = nullptr;  // the iterator, where parallel
      Status status;
      bool empty() const { return iterator == nullptr && status.ok(); }
    };

    Status SaveOrRestoreSlot(const std::string& name,
                             const IteratorContext& ctx, IteratorState* state,
                             int64_t i) {
      Slot& slot = slots_[i];
      bool empty = slot.empty();
      HR_RETURN_IF_ERROR(state->Bool(StrCat(name, "_empty"), &empty));
      if (empty) return OkStatus();
      HR_RETURN_IF_ERROR(
          state->StatusValue(StrCat(name, "_status"), &slot.status));
      if (state->restoring()) ++open_;
      if (!slot.status.ok()) return OkStatus();
      HR_RETURN_IF_ERROR(state->Element(StrCat(name, "_args"),
                                        &dataset().input().spec(), &slot.args));
      if (state->restoring()) HR_RETURN_IF_ERROR(Open(ctx, &slot));
      return state->Inside(name, Inside(ctx), slot.iterator.get());
    }

    IteratorContext Inside(const IteratorContext& ctx) const {
      return ctx.Below(dataset().depth());
    }

    // Leaves the slot, which is open, for one that is ready, if it is not;
    // waits if none is.
    Status GoToReady(const IteratorContext& ctx) {
      for (;;) {
        const uint64_t seen = signal_->count();
        for (size_t i = 0; i < slots_.size(); ++i) {
          const size_t s = (at_ + i) % slots_.size();
          const Slot& slot = slots_[s];
          if (slot.empty()) continue;
          if (slot.status.ok() && !slot.prefetcher->ReadyOrStart()) continue;
          if (s != at_) in_block_ = 0;
          at_ = s;
          return OkStatus();
        }
        HR_RETURN_IF_ERROR(signal_->WaitBeyond(seen, ctx.cancellation));
      }
    }

    void NextSlot() {
      in_block_ = 0;
      ++at_;
      // Slots beyond those that were ever opened are empty.
      if (static_cast<int64_t>(at_) >= dataset().options_.cycle_length ||
          (input_end_ && at_ >= slots_.size())) {
        at_ = 0;
      }
    }

    void Close(Slot* slot) {
      *slot = Slot();
      --open_;
    }

    // Takes an element of the input and opens its dataset, unless there is
    // none.
    void OpenAt(const IteratorContext& ctx, size_t i) {
      Slot slot;
      bool end = false;
      slot.status = input_->GetNext(ctx, &slot.args, &end);
      if (slot.status.ok() && end) {
        input_end_ = true;
        return;
      }
      if (slot.status.ok()) {
        slot.status = Open(ctx, &slot);
      }
      if (i >= slots_.size()) slots_.resize(i + 1);
      slots_[i] = std::move(slot);
      ++open_;
    }

    Status Open(const IteratorContext& ctx, Slot* out) const {
      TensorTuple results;
      HR_RETURN_IF_ERROR(dataset().f_->Run(ctx, out->args, &results));
      RefPtr<const Dataset> made;
      HR_RETURN_IF_ERROR(DatasetFromTensor(
          results[0], StrCat("result of function '", dataset().f_->name(), "'"),
          &made));
      if (made->spec().dtypes != dataset().spec().dtypes) {
        return errors::InvalidArgument(
            "function '", dataset().f_->name(), "' made a dataset of types ",
            DataTypeSliceString(made->spec().dtypes), ", wanted ",
            DataTypeSliceString(dataset().spec().dtypes));
      }
      std::unique_ptr<DatasetIterator> iterator;
      HR_RETURN_IF_ERROR(made->NewIterator(Inside(ctx), &iterator));
      const int64_t ahead = dataset().options_.elements_ahead;
      if (ahead > 0) {
        auto prefetcher = std::make_unique<Prefetcher>(
            std::move(iterator), ahead, ctx.Below(dataset().depth()), signal_);
        out->prefetcher = prefetcher.get();
        iterator = std::move(prefetcher);
      }
      out->iterator = std::move(iterator);
      return OkStatus();
    }

    const std::shared_ptr<ReadySignal> signal_ =
        dataset().options_.sloppy ? std::make_shared<ReadySignal>() : nullptr;
    std::vector<Slot> slots_;
    size_t at_ = 0;
    int64_t in_block_ = 0;
    int64_t open_ = 0;
    bool input_end_ = false;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const Function f_;
  const Options options_;
};

class FlatMapDatasetOp : public FunctionDatasetOp {
 public:
  explicit FlatMapDatasetOp(OpKernelConstruction* ctx)
      : FunctionDatasetOp(ctx, "f") {}

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input, Function f,
              RefPtr<const Dataset>* out) override {
    HR_RETURN_IF_ERROR(f->CheckResults({DT_VARIANT}));
    InterleaveDataset::Options options;
    HR_RETURN_IF_ERROR(Read(ctx, &options));
    *out = MakeRef<InterleaveDataset>(spec(), std::move(input), std::move(f),
                                      options);
    return OkStatus();
  }
  virtual Status Read(OpKernelContext*, InterleaveDataset::Options*) {
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("FlatMapDataset").Device(DEVICE_CPU),
                        FlatMapDatasetOp);

class InterleaveDatasetOp : public FlatMapDatasetOp {
 public:
  using FlatMapDatasetOp::FlatMapDatasetOp;

 protected:
  Status Read(OpKernelContext* ctx,
              InterleaveDataset::Options* options) override {
    HR_RETURN_IF_ERROR(
        ScalarInput(*ctx, "cycle_length", &options->cycle_length));
    HR_RETURN_IF_ERROR(
        ScalarInput(*ctx, "block_length", &options->block_length));
    if (options->cycle_length == -1) {
      options->cycle_length = ctx->thread_pool()->NumThreads();
    }
    if (options->cycle_length <= 0) {
      return errors::InvalidArgument("cycle_length must be greater than zero.");
    }
    if (options->cycle_length > kMaxCycleLength) {
      return errors::InvalidArgument("cycle_length is ", options->cycle_length,
                                     ", the limit is ", kMaxCycleLength);
    }
    if (options->block_length <= 0) {
      return errors::InvalidArgument("block_length must be greater than zero.");
    }
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("InterleaveDataset").Device(DEVICE_CPU),
                        InterleaveDatasetOp);

class ParallelInterleaveDatasetOp : public InterleaveDatasetOp {
 public:
  explicit ParallelInterleaveDatasetOp(OpKernelConstruction* ctx)
      : InterleaveDatasetOp(ctx) {
    OP_REQUIRES_OK(ctx, ReadSloppiness(ctx, &sloppy_));
  }

 protected:
  Status Read(OpKernelContext* ctx,
              InterleaveDataset::Options* options) override {
    HR_RETURN_IF_ERROR(InterleaveDatasetOp::Read(ctx, options));
    options->elements_ahead =
        std::min(options->block_length, kMaxElementsAhead);
    options->sloppy = sloppy_;
    if (type_string() == "ParallelInterleaveDataset" ||
        type_string() == "ExperimentalParallelInterleaveDataset") {
      HR_RETURN_IF_ERROR(ScalarInput(*ctx, "sloppy", &options->sloppy));
    }
    if (type_string() == "ParallelInterleaveDatasetV2" ||
        type_string() == "ParallelInterleaveDatasetV3" ||
        type_string() == "ParallelInterleaveDatasetV4") {
      int64_t unused = 0;
      HR_RETURN_IF_ERROR(ReadParallelism(ctx, &unused));
    }
    return OkStatus();
  }

 private:
  bool sloppy_ = false;  // by attr
};
#define HR_REGISTER_PARALLEL(op)                       \
  REGISTER_KERNEL_BUILDER(Name(op).Device(DEVICE_CPU), \
                          ParallelInterleaveDatasetOp)
HR_REGISTER_PARALLEL("ParallelInterleaveDataset");
HR_REGISTER_PARALLEL("ExperimentalParallelInterleaveDataset");
HR_REGISTER_PARALLEL("LegacyParallelInterleaveDatasetV2");
HR_REGISTER_PARALLEL("ParallelInterleaveDatasetV2");
HR_REGISTER_PARALLEL("ParallelInterleaveDatasetV3");
HR_REGISTER_PARALLEL("ParallelInterleaveDatasetV4");
#undef HR_REGISTER_PARALLEL

}  // namespace
}  // namespace headrace
