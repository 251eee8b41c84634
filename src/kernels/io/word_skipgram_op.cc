// Skipgram: pairs of a word of a text and one of its neighbours, as indices
// into a vocabulary sorted by decreasing frequency. Index 0 means all words
// that are too rare. The reach of each word's neighbours is random, and
// frequent words may be skipped, with TensorFlow's draws.
//
// Pairs are made kAhead at a time. The epoch and the count of words are those
// of the last pair made. Of equally frequent words, the first in the text has
// the smaller index.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/env.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/growing_table.h"
#include "kernels/lib/uniform_below.h"

namespace headrace {
namespace {

constexpr int64_t kAhead = 3000;
constexpr int64_t kSentence = 1000;  // words that can be neighbours
// Words that may be left out one after the other: if frequent ones are hardly
// ever kept, there is no end to it.
constexpr int64_t kMaxDropped = int64_t{1} << 24;

class SkipgramOp : public OpKernel {
 public:
  explicit SkipgramOp(OpKernelConstruction* ctx)
      : OpKernel(ctx), random_(Philox(0, 0)) {
    std::string filename;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("filename", &filename));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("batch_size", &batch_size_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("window_size", &window_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("min_count", &min_count_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("subsample", &subsample_));
    OP_REQUIRES(ctx, batch_size_ > 0 && window_ > 0,
                errors::InvalidArgument(
                    "batch_size and window_size must be positive, got ",
                    batch_size_, " and ", window_));
    OP_REQUIRES_OK(ctx, ReadCorpus(filename));
  }

  void Compute(OpKernelContext* ctx) override {
    Tensor *examples = nullptr, *labels = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(5, {batch_size_}, &examples));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(6, {batch_size_}, &labels));
    ctx->set_output(0, words_);
    ctx->set_output(1, counts_);
    ctx->set_output(2, MakeScalarOf<int64_t>(corpus_.size()));
    MutexLock lock(&mu_);
    for (int64_t i = 0; i < batch_size_; ++i) {
      if (next_ == pairs_.size()) OP_REQUIRES_OK(ctx, MakePairs(ctx));
      examples->data<int32_t>()[i] = pairs_[next_].first;
      labels->data<int32_t>()[i] = pairs_[next_].second;
      ++next_;
    }
    if (next_ == pairs_.size()) OP_REQUIRES_OK(ctx, MakePairs(ctx));
    ctx->set_output(3, MakeScalarOf<int32_t>(epoch_));
    ctx->set_output(4, MakeScalarOf<int64_t>(processed_));
  }

 private:
  template <typename T>
  static Tensor MakeScalarOf(uint64_t v) {
    return Tensor::Scalar<T>(static_cast<T>(v));
  }

  Status ReadCorpus(const std::string& filename) {
    std::string text;
    HR_RETURN_IF_ERROR(Env::Default()->ReadFile(filename, &text));
    struct Word {
      absl::string_view text;
      int64_t count;
    };
    std::vector<Word> words;
    std::vector<size_t> corpus;  // as numbers of `words`
    GrowingMap<absl::string_view, size_t> known;
    for (absl::string_view w : absl::StrSplit(
             text, absl::ByAnyChar(" \t\n\v\f\r"), absl::SkipEmpty())) {
      const auto [it, is_new] = InsertIntoMap(&known, false, w, words.size());
      if (is_new) words.push_back({w, 0});
      ++words[it->second].count;
      corpus.push_back(it->second);
    }
    const auto n = static_cast<int64_t>(corpus.size());
    if (n / 10 < window_ || n > std::numeric_limits<int32_t>::max()) {
      return errors::InvalidArgument(
          "The text file ", filename, " contains ", n,
          " words, wanted at least 10 times window_size, ", window_,
          ", and at most 2^31 - 1");
    }
    std::vector<size_t> order;
    int64_t rare = n;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].count < min_count_) continue;
      order.push_back(i);
      rare -= words[i].count;
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return words[a].count > words[b].count;
    });
    const auto size = static_cast<int64_t>(order.size()) + 1;
    words_ = Tensor(DT_STRING, TensorShape({size}));
    counts_ = Tensor(DT_INT32, TensorShape({size}));
    words_.data<tstring>()[0] = tstring("UNK");
    counts_.data<int32_t>()[0] = static_cast<int32_t>(rare);
    std::vector<int32_t> numbers(words.size(), 0);
    for (int64_t i = 1; i < size; ++i) {
      const Word& word = words[order[i - 1]];
      words_.data<tstring>()[i] = tstring(word.text);
      counts_.data<int32_t>()[i] = static_cast<int32_t>(word.count);
      numbers[order[i - 1]] = static_cast<int32_t>(i);
    }
    for (const size_t w : corpus) corpus_.push_back(numbers[w]);
    return OkStatus();
  }

  // True if this word is kept. The probability falls with its frequency.
  bool Keep(int32_t word) REQUIRES(mu_) {
    if (!(subsample_ > 0)) return true;
    const auto count = static_cast<float>(counts_.data<int32_t>()[word]);
    const float wanted = subsample_ * static_cast<float>(corpus_.size());
    const float odds = (std::sqrt(count / wanted) + 1) * wanted / count;
    return UniformFloat(random_()) <= odds;
  }

  Status ReadSentence(OpKernelContext* ctx) REQUIRES(mu_) {
    sentence_.clear();
    at_ = 0;
    for (int64_t dropped = 0;
         static_cast<int64_t>(sentence_.size()) < kSentence;) {
      if (dropped % kSentence == 0 && ctx->cancellation_manager() != nullptr &&
          ctx->cancellation_manager()->IsCancelled()) {
        return errors::Cancelled("the step was cancelled");
      }
      if (read_ == corpus_.size()) {
        read_ = 0;
        ++epoch_;
      }
      const int32_t word = corpus_[read_++];
      if (Keep(word)) {
        sentence_.push_back(word);
      } else if (++dropped > kMaxDropped) {
        return errors::FailedPrecondition("subsample ", subsample_,
                                          " leaves out nearly every word");
      }
    }
    return OkStatus();
  }

  Status MakePairs(OpKernelContext* ctx) REQUIRES(mu_) {
    pairs_.clear();
    next_ = 0;
    while (static_cast<int64_t>(pairs_.size()) < kAhead) {
      if (neighbour_ < end_) {
        if (neighbour_ != at_ - 1) {
          pairs_.emplace_back(sentence_[at_ - 1], sentence_[neighbour_]);
        }
        ++neighbour_;
        continue;
      }
      const auto length = static_cast<int64_t>(sentence_.size());
      if (at_ == length) {
        HR_RETURN_IF_ERROR(ReadSentence(ctx));
        continue;
      }
      const auto reach = 1 + static_cast<int64_t>(UniformBelow(
                                 static_cast<uint32_t>(window_), &random_));
      neighbour_ = std::max<int64_t>(0, at_ - reach);
      end_ = std::min(length, at_ + reach + 1);
      ++at_;
      ++processed_;
    }
    return OkStatus();
  }

  int64_t batch_size_ = 0, window_ = 0, min_count_ = 0;
  float subsample_ = 0;
  Tensor words_, counts_;
  std::vector<int32_t> corpus_;

  Mutex mu_;
  PhiloxWords random_ GUARDED_BY(mu_);
  size_t read_ GUARDED_BY(mu_) = 0;  // the corpus's next word
  uint64_t epoch_ GUARDED_BY(mu_) = 0, processed_ GUARDED_BY(mu_) = 0;
  std::vector<int32_t> sentence_ GUARDED_BY(mu_);
  // The word behind the one whose neighbours from `neighbour_` to `end_` are
  // still to be paired with it.
  int64_t at_ GUARDED_BY(mu_) = 0;
  int64_t neighbour_ GUARDED_BY(mu_) = 0, end_ GUARDED_BY(mu_) = 0;
  std::vector<std::pair<int32_t, int32_t>> pairs_ GUARDED_BY(mu_);
  size_t next_ GUARDED_BY(mu_) = 0;
};
REGISTER_KERNEL_BUILDER(Name("Skipgram").Device(DEVICE_CPU), SkipgramOp);

}  // namespace
}  // namespace headrace
