#include "kernels/data/parallel_map_dataset.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "base/exceptions.h"
#include "base/fork.h"
#include "base/thread_pool.h"
#include "headrace/mutex.h"
#include "kernels/data/cancellable_wait.h"
#include "kernels/data/element_bytes.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/prefetcher.h"
#include "kernels/data/stats_aggregator.h"

namespace headrace {
namespace {

using Function = std::shared_ptr<const CapturedFunction>;

// Results beyond these bytes are not made ahead.
constexpr int64_t kMaxBytesAhead = int64_t{256} << 20;
constexpr int64_t kMaxParallelism = 256;

class ParallelMapDataset : public Dataset {
 public:
  ParallelMapDataset(ElementSpec spec, RefPtr<const Dataset> input, Function f,
                     const ParallelMapOptions& options)
      : Dataset(std::move(spec), {std::move(input)}),
        f_(std::move(f)),
        options_(options) {
    Calls(f_);
  }

  int64_t Cardinality() const override {
    return options_.preserve_cardinality ? input().Cardinality()
                                         : kUnknownCardinality;
  }

  class Iterator;

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override;

 private:
  const Function f_;
  const ParallelMapOptions options_;
};

// The consumer takes elements from the input and has workers of the pool call
// f; the call that it waits for it makes itself, if no worker has come to it.
class ParallelMapDataset::Iterator : public InputIterator<ParallelMapDataset> {
 public:
  using InputIterator::InputIterator;

  ~Iterator() override {
    if (shared_->fork_gate.IsAbandoned()) return;
    shared_->cancellation.StartCancel(
        errors::Cancelled("the iterator was destroyed"));
    MutexLock lock(&shared_->mu);
    while (shared_->running > 0) shared_->changed.Wait(&shared_->mu);
  }

  Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                 bool* end) override {
    if (shared_->fork_gate.IsAbandoned()) return ForkedWhilePreparing();
    FillUp(ctx);
    if (ctx.stats != nullptr) Tell(*ctx.stats);
    if (calls_.empty()) {
      *end = true;
      return OkStatus();
    }
    const size_t candidates = dataset().options_.sloppy ? calls_.size() : 1;
    StartOne(ctx, candidates);
    std::shared_ptr<Call> call;
    {
      CancellableWait wait(ctx.cancellation, &shared_->mu, &shared_->changed);
      MutexLock lock(&shared_->mu);
      for (;;) {
        const auto end_of_candidates = calls_.begin() + candidates;
        const auto done = std::find_if(calls_.begin(), end_of_candidates,
                                       [](const auto& c) { return c->done; });
        if (done != end_of_candidates) {
          call = *done;
          calls_.erase(done);
          break;
        }
        if (wait.cancelled()) return ctx.cancellation->status();
        shared_->changed.Wait(&shared_->mu);
      }
      shared_->bytes -= call->bytes;
    }
    if (!errors::IsOutOfRange(call->status) || call->of_input) {
      *out = std::move(call->element);
      return call->status;
    }
    if (dataset().options_.preserve_cardinality) {
      return errors::InvalidArgument(
          "Function invocation produced OutOfRangeError: ",
          call->status.message());
    }
    *end = true;
    return OkStatus();
  }

  // The calls in progress end first; their results are a part of the place.
  Status SaveOrRestore(const IteratorContext& ctx,
                       IteratorState* state) override {
    if (shared_->fork_gate.IsAbandoned()) return ForkedWhilePreparing();
    if (!state->restoring()) HR_RETURN_IF_ERROR(FinishCalls(ctx));
    int64_t n = static_cast<int64_t>(calls_.size());
    HR_RETURN_IF_ERROR(state->Int("ParallelMap:calls", &n));
    for (int64_t i = 0; i < n; ++i) {
      const std::string name = StrCat("ParallelMap[", i, "]");
      auto call = state->restoring() ? std::make_shared<Call>() : calls_[i];
      HR_RETURN_IF_ERROR(
          state->StatusValue(StrCat(name, "_status"), &call->status));
      HR_RETURN_IF_ERROR(
          state->Bool(StrCat(name, "_of_input"), &call->of_input));
      HR_RETURN_IF_ERROR(
          state->Element(name, call->status.ok() ? &dataset().spec() : nullptr,
                         &call->element));
      if (!state->restoring()) continue;
      call->claimed = true;
      call->done = true;
      call->bytes = call->of_input ? 0 : ElementBytes(call->element);
      MutexLock lock(&shared_->mu);
      shared_->bytes += call->bytes;
      calls_.push_back(std::move(call));
    }
    HR_RETURN_IF_ERROR(state->Bool("ParallelMap:input_end", &input_end_));
    return state->Input("ParallelMap", ctx, dataset().input(), &input_);
  }

 private:
  Status FinishCalls(const IteratorContext& ctx) {
    for (const std::shared_ptr<Call>& call : calls_) {
      TryStart(shared_, dataset().f_, ctx.scope, call);
    }
    CancellableWait wait(ctx.cancellation, &shared_->mu, &shared_->changed);
    MutexLock lock(&shared_->mu);
    while (!std::all_of(calls_.begin(), calls_.end(),
                        [](const auto& c) { return c->done; })) {
      if (wait.cancelled()) return ctx.cancellation->status();
      shared_->changed.Wait(&shared_->mu);
    }
    return OkStatus();
  }

  struct Call {
    std::atomic<bool> claimed{false};
    bool of_input = false;  // the status is the input's
    // Set when `done` is: until then `element` holds the arguments.
    Status status;
    TensorTuple element;
    int64_t bytes = 0;
    bool done = false;
  };
  // State that running calls refer to.
  struct Shared {
    CancellationManager cancellation;
    ForkGate fork_gate;  // calls are inside
    Mutex mu;
    CondVar changed;
    int64_t running GUARDED_BY(mu) = 0;
    int64_t bytes GUARDED_BY(mu) = 0;  // of results nobody has taken
  };

  // Starts a call that no thread has taken yet, unless one is done. Takes the
  // last of several, because workers start with the first.
  void StartOne(const IteratorContext& ctx, size_t candidates) {
    if (candidates > 1) {
      MutexLock lock(&shared_->mu);
      for (size_t i = 0; i < candidates; ++i) {
        if (calls_[i]->done) return;
      }
    }
    for (size_t i = candidates; i-- > 0;) {
      const std::shared_ptr<Call>& call = calls_[i];
      if (TryStart(shared_, dataset().f_, ctx.scope, call)) return;
    }
  }

  void Tell(const StatsTarget& stats) {
    const ParallelMapOptions& o = dataset().options_;
    int64_t running = 0;
    {
      MutexLock lock(&shared_->mu);
      running = shared_->running;
    }
    stats.SetScalar(
        StrCat(o.op, "/_", dataset().depth(), "::thread_utilization"),
        static_cast<double>(running) / static_cast<double>(o.parallelism));
  }

  void FillUp(const IteratorContext& ctx) {
    while (!input_end_ && static_cast<int64_t>(calls_.size()) <
                              dataset().options_.parallelism) {
      if (!calls_.empty()) {
        MutexLock lock(&shared_->mu);
        if (shared_->bytes > kMaxBytesAhead) return;
      }
      auto call = std::make_shared<Call>();
      call->status = input_->GetNext(ctx, &call->element, &input_end_);
      if (call->status.ok() && input_end_) return;
      const bool failed = !call->status.ok();
      if (failed) {
        input_end_ = false;
        call->of_input = call->done = true;
        call->claimed = true;
      }
      calls_.push_back(call);
      if (failed) return;  // what is ready goes first
      if (dataset().options_.parallelism == 1) continue;
      // If it cannot be scheduled, the consumer makes the call.
      (void)dataset().f_->Schedule(
          [shared = shared_, f = dataset().f_, scope = ctx.scope, call] {
            TryStart(shared, f, scope, call);
          });
    }
  }

  // False if somebody else has claimed the call. From the claim until the
  // result is there, and the lock free, the thread is inside the gate.
  static bool TryStart(const std::shared_ptr<Shared>& shared, const Function& f,
                       FunctionScope* scope,
                       const std::shared_ptr<Call>& call) {
    const bool entered = shared->fork_gate.Enter();
    if (call->claimed.exchange(true)) {
      if (entered) shared->fork_gate.Leave();
      return false;
    }
    {
      MutexLock lock(&shared->mu);
      ++shared->running;
    }
    const auto done = [shared, call, entered](const Status& s,
                                              TensorTuple results) {
      {
        MutexLock lock(&shared->mu);
        call->status = s;
        call->element = std::move(results);
        call->bytes = ElementBytes(call->element);
        shared->bytes += call->bytes;
        call->done = true;
        --shared->running;
        shared->changed.SignalAll();
      }
      if (entered) shared->fork_gate.Leave();
    };
    const Status started = CatchExceptions([&] {
      f->RunAsync(&shared->cancellation, scope, std::move(call->element), done);
      return OkStatus();
    });
    if (!started.ok()) done(started, {});
    return true;
  }

  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::deque<std::shared_ptr<Call>> calls_;
  bool input_end_ = false;
};

Status ParallelMapDataset::MakeIterator(
    const IteratorContext& ctx, std::unique_ptr<DatasetIterator>* out) const {
  return Iterator::Make(this, ctx, out);
}

class ParallelMapDatasetOp : public FunctionDatasetOp {
 public:
  explicit ParallelMapDatasetOp(OpKernelConstruction* ctx)
      : FunctionDatasetOp(ctx, "f") {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("preserve_cardinality",
                                     &options_.preserve_cardinality));
    OP_REQUIRES_OK(ctx, ReadSloppiness(ctx, &options_.sloppy));
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input, Function f,
              RefPtr<const Dataset>* out) override {
    HR_RETURN_IF_ERROR(f->CheckResults(spec().dtypes));
    ParallelMapOptions options = options_;
    HR_RETURN_IF_ERROR(ReadParallelism(ctx, &options.parallelism));
    *out =
        MakeParallelMapDataset(spec(), std::move(input), std::move(f), options);
    return OkStatus();
  }

 private:
  ParallelMapOptions options_;
};
REGISTER_KERNEL_BUILDER(Name("ParallelMapDataset").Device(DEVICE_CPU),
                        ParallelMapDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ParallelMapDatasetV2").Device(DEVICE_CPU),
                        ParallelMapDatasetOp);

}  // namespace

RefPtr<const Dataset> MakeParallelMapDataset(
    ElementSpec spec, RefPtr<const Dataset> input,
    std::shared_ptr<const CapturedFunction> f,
    const ParallelMapOptions& options) {
  return MakeRef<ParallelMapDataset>(std::move(spec), std::move(input),
                                     std::move(f), options);
}

Status ReadSloppiness(OpKernelConstruction* ctx, bool* sloppy) {
  if (ctx->HasAttr("sloppy")) return ctx->GetAttr("sloppy", sloppy);
  *sloppy = false;
  if (!ctx->HasAttr("deterministic")) return OkStatus();
  std::string deterministic;
  HR_RETURN_IF_ERROR(ctx->GetAttr("deterministic", &deterministic));
  if (deterministic != "true" && deterministic != "false" &&
      deterministic != "default") {
    return errors::InvalidArgument(
        "deterministic must be 'true', 'false' or 'default', got '",
        deterministic, "'");
  }
  *sloppy = deterministic == "false";
  return OkStatus();
}

Status ReadParallelism(OpKernelContext* ctx, int64_t* parallelism) {
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(ctx->input("num_parallel_calls", &t));
  if (t->dtype() == DT_INT32) {
    int32_t n = 0;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "num_parallel_calls", &n));
    *parallelism = n;
  } else {
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "num_parallel_calls", parallelism));
  }
  if (*parallelism != -1 && *parallelism < 1) {
    return errors::InvalidArgument(
        "num_parallel_calls must be greater than zero.");
  }
  if (*parallelism == -1) *parallelism = ctx->thread_pool()->NumThreads();
  // An upper limit: fewer are as good, and each costs memory.
  *parallelism = std::min(*parallelism, kMaxParallelism);
  return OkStatus();
}

}  // namespace headrace
