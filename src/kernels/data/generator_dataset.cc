// GeneratorDataset: state = init_func(); elements are next_func(state) until
// that is OutOfRange; then finalize_func(state).
#include <utility>

#include "kernels/data/captured_function.h"
#include "kernels/data/iterator_state.h"

namespace headrace {
namespace {

using Function = std::shared_ptr<const CapturedFunction>;

class GeneratorDataset : public Dataset {
 public:
  GeneratorDataset(ElementSpec spec, Function init, Function next,
                   Function finalize)
      : Dataset(std::move(spec)),
        init_(std::move(init)),
        next_(std::move(next)),
        finalize_(std::move(finalize)) {
    for (const Function* f : {&init_, &next_, &finalize_}) Calls(*f);
  }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const GeneratorDataset> dataset)
        : dataset_(std::move(dataset)) {}
    ~Iterator() override {
      if (phase_ != kRunning) return;
      // Tells the generator that its iterator ends. Nobody would receive its
      // error.
      CancellationManager none;
      Finalize({&none, 0, scope_}).IgnoreError();
    }

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      if (phase_ == kNew) {
        HR_RETURN_IF_ERROR(dataset_->init_->Run(ctx, {}, &state_));
        phase_ = kRunning;
        scope_ = ctx.scope;
      }
      if (phase_ == kEnded) {
        *end = true;
        return OkStatus();
      }
      const Status s = dataset_->next_->Run(ctx, state_, out);
      if (!errors::IsOutOfRange(s)) return s;
      *end = true;
      return Finalize(ctx);
    }

    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      int64_t phase = phase_;
      HR_RETURN_IF_ERROR(state->Int("Generator:phase", &phase, kNew, kEnded));
      ElementSpec spec;
      spec.dtypes = dataset_->init_->ret_types();
      HR_RETURN_IF_ERROR(state->Element(
          "Generator:state", phase == kRunning ? &spec : nullptr, &state_));
      phase_ = static_cast<decltype(phase_)>(phase);
      scope_ = ctx.scope;
      return OkStatus();
    }

   private:
    Status Finalize(const IteratorContext& ctx) {
      phase_ = kEnded;
      TensorTuple unused;
      return dataset_->finalize_->Run(ctx, std::move(state_), &unused);
    }

    const RefPtr<const GeneratorDataset> dataset_;
    enum { kNew, kRunning, kEnded } phase_ = kNew;
    TensorTuple state_;
    FunctionScope* scope_ = nullptr;
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out = std::make_unique<Iterator>(
        RefPtr<const GeneratorDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const Function init_, next_, finalize_;
};

class GeneratorDatasetOp : public DatasetOp {
 public:
  explicit GeneratorDatasetOp(OpKernelConstruction* ctx) : DatasetOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("init_func", &init_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("next_func", &next_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("finalize_func", &finalize_));
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    Function init, next, finalize;
    HR_RETURN_IF_ERROR(
        CapturedFunction::Create(ctx, init_, "init_func_other_args", &init));
    HR_RETURN_IF_ERROR(
        CapturedFunction::Create(ctx, next_, "next_func_other_args", &next));
    HR_RETURN_IF_ERROR(CapturedFunction::Create(
        ctx, finalize_, "finalize_func_other_args", &finalize));
    HR_RETURN_IF_ERROR(next->CheckResults(spec().dtypes));
    *out = MakeRef<GeneratorDataset>(spec(), std::move(init), std::move(next),
                                     std::move(finalize));
    return OkStatus();
  }

 private:
  NameAttrList init_, next_, finalize_;
};
REGISTER_KERNEL_BUILDER(Name("GeneratorDataset").Device(DEVICE_CPU),
                        GeneratorDatasetOp);

}  // namespace
}  // namespace headrace
