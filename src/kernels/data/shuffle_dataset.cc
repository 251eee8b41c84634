// ShuffleDataset and ShuffleAndRepeatDataset: each element is drawn from a
// buffer that is refilled from the input. For equal seeds the draws are
// TensorFlow's.
//
// The buffer is a ring that contains the rounds of a repeated input one after
// the other. A round is drawn from until it is empty. The first element of the
// round moves to the place of the drawn one, so the remaining elements stay
// contiguous.
#include "kernels/data/shuffle_dataset.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/data/element_buffer.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/owned_handle.h"
#include "kernels/data/seeds.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {
namespace {

// Rounds in the buffer, except the one that is drawn from.
constexpr size_t kMaxRoundsAhead = 3;

class ShuffleDataset : public Dataset {
 public:
  ShuffleDataset(RefPtr<const Dataset> input, int64_t buffer_size,
                 int64_t count, RefPtr<SeedGenerator> seeds,
                 std::optional<SeedPair> repeat_seeds, bool one_stream)
      : Dataset(input->spec(), {input}),
        buffer_size_(buffer_size),
        count_(count),
        seeds_(std::move(seeds)),
        repeat_seeds_(repeat_seeds),
        one_stream_(one_stream) {}

  // The same repeated `count` times, as one op would do it. Null if this is
  // not what ShuffleDataset makes, or draws alike in each round.
  RefPtr<const Dataset> Repeated(int64_t count) const {
    if (!repeat_seeds_.has_value() || count == 0) return nullptr;
    return MakeRef<ShuffleDataset>(
        RefPtr<const Dataset>::NewRef(&input()), buffer_size_, count,
        MakeRef<SeedGenerator>(*repeat_seeds_, false), std::nullopt, true);
  }

  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (count_ == 1 || n <= 0) return n;
    if (count_ < 0) return kInfiniteCardinality;
    const int64_t product = MultiplyWithoutOverflow(n, count_);
    return product < 0 ? kUnknownCardinality : product;
  }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const ShuffleDataset> dataset)
        : dataset_(std::move(dataset)),
          words_(dataset_->seeds_->Next().Words()),
          budget_("a shuffle buffer") {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      HR_RETURN_IF_ERROR(Fill(ctx));
      if (left_ == 0) {
        *end = true;
        return OkStatus();
      }
      while (rounds_.front().begin == rounds_.front().end) {
        rounds_.pop_front();
        if (!dataset_->one_stream_) {
          words_ = dataset_->seeds_->Next().Words();
        }
      }
      Round& round = rounds_.front();
      const int64_t drawn =
          round.begin +
          words_() % static_cast<uint64_t>(round.end - round.begin);
      TensorTuple& e = At(drawn);
      *out = std::move(e);
      budget_.Remove(*out);
      if (drawn != round.begin) e = std::move(At(round.begin));
      ++round.begin;
      --left_;
      return OkStatus();
    }

    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(
          dataset_->seeds_->SaveOrRestore("Shuffle:generator", state));
      HR_RETURN_IF_ERROR(state->Words("Shuffle:words", &words_));
      // Before the first element too, the seeds of the input are a part of it.
      if (!state->restoring() && round_ == 0 && dataset_->count_ != 0) {
        HR_RETURN_IF_ERROR(BeginRound(ctx));
      }
      HR_RETURN_IF_ERROR(state->Int("Shuffle:round", &round_));
      HR_RETURN_IF_ERROR(state->Bool("Shuffle:any", &any_));
      // The elements of each round, the first of them at position 0.
      const ElementSpec& spec = dataset_->spec();
      int64_t rounds = static_cast<int64_t>(rounds_.size());
      HR_RETURN_IF_ERROR(state->Int("Shuffle:rounds", &rounds));
      for (int64_t r = 0; r < rounds; ++r) {
        const std::string name = StrCat("Shuffle:round[", r, "]");
        std::vector<TensorTuple> elements;
        if (!state->restoring()) {
          for (int64_t i = rounds_[r].begin; i < rounds_[r].end; ++i) {
            elements.push_back(At(i));
          }
        }
        HR_RETURN_IF_ERROR(state->Elements(name, &spec, &elements));
        if (!state->restoring()) continue;
        rounds_.push_back({next_, next_});
        for (TensorTuple& e : elements) {
          if (next_ == dataset_->buffer_size_) {
            return state->Wrong(StrCat(name, "_size"),
                                "is more than the buffer holds");
          }
          HR_RETURN_IF_ERROR(budget_.Add(e));
          ring_.push_back(std::move(e));
          rounds_.back().end = ++next_;
          ++left_;
        }
      }
      HR_RETURN_IF_ERROR(
          state->InputOrNull("Shuffle", ctx, dataset_->input(), &input_));
      if (input_ != nullptr && rounds == 0) {
        return state->Wrong("Shuffle:rounds", "is 0, and there is an input");
      }
      return OkStatus();
    }

   private:
    // Positions in the sequence of all rounds.
    struct Round {
      int64_t begin, end;
    };

    TensorTuple& At(int64_t position) {
      return ring_[position % dataset_->buffer_size_];
    }

    bool WantsMore() const {
      if (input_ == nullptr && dataset_->count_ >= 0 &&
          round_ >= dataset_->count_) {
        return false;
      }
      if (rounds_.size() > kMaxRoundsAhead && left_ > 0) return false;
      return left_ < dataset_->buffer_size_;
    }

    Status BeginRound(const IteratorContext& ctx) {
      HR_RETURN_IF_ERROR(dataset_->input().NewIterator(ctx, &input_));
      const int64_t begin = rounds_.empty() ? next_ : rounds_.back().end;
      rounds_.push_back({begin, begin});
      ++round_;
      return OkStatus();
    }

    Status Fill(const IteratorContext& ctx) {
      while (WantsMore()) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        if (input_ == nullptr) HR_RETURN_IF_ERROR(BeginRound(ctx));
        TensorTuple e;
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, &e, &input_end));
        if (input_end) {
          input_ = nullptr;
          if (!any_ && dataset_->count_ < 0) {
            return OkStatus();  // nothing to repeat
          }
          continue;
        }
        HR_RETURN_IF_ERROR(budget_.Add(e));
        // The ring grows as long as it has never been full.
        if (next_ == static_cast<int64_t>(ring_.size()) &&
            next_ < dataset_->buffer_size_) {
          ring_.push_back(std::move(e));
        } else {
          At(next_) = std::move(e);
        }
        rounds_.back().end = ++next_;
        ++left_;
        any_ = true;
      }
      return OkStatus();
    }

    const RefPtr<const ShuffleDataset> dataset_;
    std::unique_ptr<DatasetIterator> input_;
    int64_t round_ = 0;  // how many were begun
    std::vector<TensorTuple> ring_;
    std::deque<Round> rounds_;
    int64_t next_ = 0;  // the position of the next element
    int64_t left_ = 0;
    bool any_ = false;  // the input has an element
    PhiloxWords words_;
    BufferBudget budget_;
  };

 protected:
  SeedGenerator* seed_generator() const override { return seeds_.get(); }
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out =
        std::make_unique<Iterator>(RefPtr<const ShuffleDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const int64_t buffer_size_;
  const int64_t count_;
  const RefPtr<SeedGenerator> seeds_;
  // Of what Repeated makes; none if it makes nothing.
  const std::optional<SeedPair> repeat_seeds_;
  const bool one_stream_;  // the draws of all rounds are of one stream
};

template <bool kRepeat>
class ShuffleDatasetOp : public UnaryDatasetOp {
 public:
  explicit ShuffleDatasetOp(OpKernelConstruction* ctx) : UnaryDatasetOp(ctx) {
    if (ctx->HasAttr("reshuffle_each_iteration")) {
      OP_REQUIRES_OK(ctx,
                     ctx->GetAttr("reshuffle_each_iteration", &reshuffle_));
    }
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    int64_t buffer_size = 0, count = 1;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "buffer_size", &buffer_size));
    if (buffer_size == kUnknownCardinality) {
      buffer_size = std::numeric_limits<int64_t>::max();
    }
    if (buffer_size <= 0) {
      return errors::InvalidArgument(
          "buffer_size must be greater than zero, got ", buffer_size);
    }
    if (kRepeat) {
      HR_RETURN_IF_ERROR(ScalarInput(*ctx, "count", &count));
      if (count <= 0 && count != -1) {
        return errors::InvalidArgument(
            "count must be greater than zero or equal to -1, got ", count);
      }
    }
    RefPtr<SeedGenerator> seeds;
    HR_RETURN_IF_ERROR(GeneratorInput(*ctx, &seeds));
    SeedPair pair = {RandomSeed64(), RandomSeed64()};
    const bool own_seeds = seeds == nullptr;
    if (own_seeds) {
      const Tensor* seed = nullptr;
      if (ctx->input("seed", &seed).ok()) {
        HR_RETURN_IF_ERROR(ReadSeeds(*ctx, &pair));
      }
      seeds = MakeRef<SeedGenerator>(pair, reshuffle_ && !kRepeat);
    }
    std::optional<SeedPair> repeat_seeds;
    if (type_string() == "ShuffleDataset" && reshuffle_) repeat_seeds = pair;
    *out = MakeRef<ShuffleDataset>(std::move(input), buffer_size, count,
                                   std::move(seeds), repeat_seeds,
                                   kRepeat && own_seeds && reshuffle_);
    return OkStatus();
  }

 private:
  bool reshuffle_ = true;
};
REGISTER_KERNEL_BUILDER(Name("ShuffleDataset").Device(DEVICE_CPU),
                        ShuffleDatasetOp<false>);
REGISTER_KERNEL_BUILDER(Name("ShuffleDatasetV2").Device(DEVICE_CPU),
                        ShuffleDatasetOp<false>);
REGISTER_KERNEL_BUILDER(Name("ShuffleDatasetV3").Device(DEVICE_CPU),
                        ShuffleDatasetOp<false>);
REGISTER_KERNEL_BUILDER(Name("ShuffleAndRepeatDataset").Device(DEVICE_CPU),
                        ShuffleDatasetOp<true>);
REGISTER_KERNEL_BUILDER(Name("ShuffleAndRepeatDatasetV2").Device(DEVICE_CPU),
                        ShuffleDatasetOp<true>);

}  // namespace

RefPtr<const Dataset> ShuffledAndRepeated(const Dataset& dataset,
                                          int64_t count) {
  const auto* shuffle = dynamic_cast<const ShuffleDataset*>(&dataset);
  return shuffle == nullptr ? nullptr : shuffle->Repeated(count);
}

}  // namespace headrace
