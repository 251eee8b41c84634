// Accumulator: the common part of conditional accumulators. Workers add
// gradients. A take waits until enough gradients have come. A gradient is
// stale, and is dropped, if its step is before the accumulator's step. Every
// take advances the accumulator by one step.
//
// Takes wait like dequeues: without a thread and in order of arrival, until
// they are served or their step is cancelled. Thread-safe.
#ifndef HEADRACE_KERNELS_FLOW_ACCUMULATOR_H_
#define HEADRACE_KERNELS_FLOW_ACCUMULATOR_H_

#include <list>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "kernels/lib/element.h"
#include "kernels/lib/resource_op.h"

namespace headrace {

class Accumulator : public ResourceBase {
 public:
  struct Options {
    std::string name;
    DataType dtype = DT_INVALID;
    PartialTensorShape shape;
    bool mean = true;
    friend bool operator==(const Options& a, const Options& b) {
      return a.dtype == b.dtype && a.shape == b.shape && a.mean == b.mean;
    }
  };
  explicit Accumulator(Options options) : options_(std::move(options)) {}

  const Options& options() const { return options_; }
  std::string DebugString() const override {
    return absl::StrCat("accumulator '", options_.name, "' of ",
                        DataTypeString(options_.dtype));
  }

  // Waits until `wanted` or more gradients have come, sets the outputs of `ctx`
  // to the result, then calls `done`.
  void Take(OpKernelContext* ctx, int64_t wanted,
            AsyncOpKernel::DoneCallback done);
  void SetGlobalStep(int64_t step);
  int64_t count();

 protected:
  // Counts a gradient of `local_step` unless it is stale. Calls `add` with mu_
  // held to add it to the sum.
  Status Add(int64_t local_step, absl::FunctionRef<Status()> add);
  // Moves out the sum, or the mean, of `count` gradients.
  virtual Status TakeLocked(int64_t count, std::vector<Tensor>* result)
      REQUIRES(mu_) = 0;

  Mutex mu_;

 private:
  struct Taker {
    int64_t id = 0;
    OpKernelContext* ctx = nullptr;
    AsyncOpKernel::DoneCallback done;
    int64_t wanted = 0;
    CancellationManager::Token token = 0;
    bool registered = false;
    Status status;
    std::vector<Tensor> result;
  };
  using TakerList = std::list<Taker>;

  void Serve(TakerList* ended) REQUIRES(mu_);
  void Cancel(int64_t id);
  static void Finish(TakerList* ended);

  const Options options_;
  int64_t count_ GUARDED_BY(mu_) = 0;
  int64_t global_step_ GUARDED_BY(mu_) = 0;
  int64_t next_id_ GUARDED_BY(mu_) = 0;
  TakerList takers_ GUARDED_BY(mu_);
};

// Creates an A, a subclass of Accumulator.
template <typename A>
class AccumulatorOp : public ResourceOp<Accumulator> {
 public:
  explicit AccumulatorOp(OpKernelConstruction* ctx)
      : ResourceOp<Accumulator>(ctx) {
    std::string reduction;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &options_.dtype));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &options_.shape));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("reduction_type", &reduction));
    options_.mean = reduction == "MEAN";
    options_.name = resource_name();
  }

 protected:
  Status Make(OpKernelContext*, RefPtr<Accumulator>* out) override {
    *out = MakeRef<A>(options_);
    return OkStatus();
  }
  Status Verify(const OpKernelContext&, const Accumulator& a) override {
    if (dynamic_cast<const A*>(&a) != nullptr && a.options() == options_) {
      return OkStatus();
    }
    return errors::InvalidArgument(
        "the shared ", a.DebugString(), " of shape ",
        a.options().shape.DebugString(),
        " does not match this node's kind, dtype, shape and reduction_type");
  }

 private:
  Accumulator::Options options_;
};

// Finds the accumulator of input 0. InvalidArgument if it is no A.
template <typename A>
Status LookupAccumulator(OpKernelContext* ctx, RefPtr<A>* out) {
  RefPtr<Accumulator> found;
  HR_RETURN_IF_ERROR(
      LookupInput<Accumulator>(*ctx, 0, ctx->resource_manager(), &found));
  Accumulator& any = *found;
  auto* a = dynamic_cast<A*>(&any);
  if (a == nullptr) {
    return errors::InvalidArgument(ctx->op_kernel().type_string(), ": the ",
                                   any.DebugString(), " is of another kind");
  }
  *out = RefPtr<A>::NewRef(a);
  return OkStatus();
}

// The take kernel of both kinds.
template <typename A>
class TakeGradientOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<A> a;
    OP_REQUIRES_OK_ASYNC(ctx, LookupAccumulator<A>(ctx, &a), done);
    DataType dtype = DT_INVALID;
    OP_REQUIRES_OK_ASYNC(ctx, def().attrs.Get("dtype", &dtype), done);
    OP_REQUIRES_ASYNC(
        ctx, a->options().dtype == dtype,
        errors::InvalidArgument("the ", a->DebugString(), " was asked for ",
                                DataTypeString(dtype)),
        done);
    int64_t wanted = 0;
    OP_REQUIRES_OK_ASYNC(
        ctx, ReadInteger(ctx->input(1), "num_required", &wanted), done);
    OP_REQUIRES_ASYNC(ctx, wanted > 0,
                      errors::InvalidArgument("Argument num_required (", wanted,
                                              ") must be positive"),
                      done);
    a->Take(ctx, wanted, std::move(done));
  }

  std::string WaitsFor(OpKernelContext* ctx) const override {
    RefPtr<A> a;
    int64_t wanted = 0;
    if (!LookupAccumulator<A>(ctx, &a).ok() ||
        !ReadInteger(ctx->input(1), "num_required", &wanted).ok()) {
      return "";
    }
    return absl::StrCat(wanted, " gradients in the ", a->DebugString(),
                        ", which has ", a->count());
  }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_ACCUMULATOR_H_
