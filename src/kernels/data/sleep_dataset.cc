// SleepDataset: delays each element of its input by a time after the request. A
// cancellation ends the sleep.
#include <algorithm>

#include "headrace/clock.h"
#include "headrace/mutex.h"
#include "kernels/data/cancellable_wait.h"
#include "kernels/data/iterator_state.h"

namespace headrace {
namespace {

class SleepDataset : public Dataset {
 public:
  SleepDataset(const RefPtr<const Dataset>& input, int64_t micros)
      : Dataset(input->spec(), {input}), micros_(micros) {
    set_may_wait();
  }

  int64_t Cardinality() const override { return input().Cardinality(); }

  class Iterator : public InputIterator<SleepDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      HR_RETURN_IF_ERROR(Sleep(ctx));
      return input_->GetNext(ctx, out, end);
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      return state->Input("Sleep", ctx, dataset().input(), &input_);
    }

   private:
    Status Sleep(const IteratorContext& ctx) {
      const absl::Time until = Now() + absl::Microseconds(dataset().micros_);
      CancellableWait wait(ctx.cancellation, &mu_, &changed_);
      MutexLock lock(&mu_);
      while (!wait.cancelled()) {
        const absl::Duration left = until - Now();
        if (left <= absl::ZeroDuration()) return OkStatus();
        changed_.WaitWithTimeout(&mu_, std::min(left, absl::Hours(1)));
      }
      return ctx.cancellation->status();
    }

    Mutex mu_;
    CondVar changed_;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const int64_t micros_;
};

class SleepDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    int64_t micros = 0;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "sleep_microseconds", &micros));
    if (micros < 0) {
      return errors::InvalidArgument("sleep_microseconds must be >= 0, got ",
                                     micros);
    }
    *out = MakeRef<SleepDataset>(input, micros);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("SleepDataset").Device(DEVICE_CPU),
                        SleepDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ExperimentalSleepDataset").Device(DEVICE_CPU),
                        SleepDatasetOp);

}  // namespace
}  // namespace headrace
