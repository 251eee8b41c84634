// Conditional accumulators: workers add gradients, and whoever takes the result
// waits until enough have come. A gradient of a step before the accumulator's
// is stale and dropped; every take moves the accumulator on by a step.
//
// Takes wait as dequeues do: without a thread, in the order in which they came,
// until they are served or their step is cancelled.
#include <list>
#include <utility>

#include "kernels/element.h"
#include "kernels/resource_op.h"
#include "kernels/tensor_sum.h"

namespace headrace {
namespace {

// Thread-safe.
class Accumulator : public ResourceBase {
 public:
  Accumulator(std::string name, DataType dtype, PartialTensorShape shape,
              bool mean)
      : name_(std::move(name)), dtype_(dtype), shape_(shape), mean_(mean) {}

  std::string DebugString() const override {
    return absl::StrCat("accumulator ", name_, " of ", DataTypeString(dtype_));
  }
  DataType dtype() const { return dtype_; }
  const PartialTensorShape& shape() const { return shape_; }
  bool mean() const { return mean_; }

  Status Apply(int64_t local_step, const Tensor& gradient) {
    if (gradient.dtype() != dtype_) {
      return errors::InvalidArgument("Wrong dtype: the ", DebugString(),
                                     " was given ",
                                     DataTypeString(gradient.dtype()));
    }
    if (!shape_.IsCompatibleWith(gradient.shape())) {
      return errors::InvalidArgument("Shape mismatch: expected ",
                                     shape_.DebugString(), ", got ",
                                     gradient.shape().DebugString());
    }
    std::list<Taker> ended;
    {
      MutexLock lock(&mu_);
      if (local_step < global_step_) return OkStatus();
      if (count_ == 0) {
        sum_ = gradient;
      } else {
        HR_RETURN_IF_ERROR(AddToTensor(gradient, &sum_));
      }
      ++count_;
      Serve(&ended);
    }
    Finish(&ended);
    return OkStatus();
  }

  void Take(OpKernelContext* ctx, int64_t wanted,
            AsyncOpKernel::DoneCallback done) {
    std::list<Taker> taker(1), ended;
    taker.front().ctx = ctx;
    taker.front().done = std::move(done);
    taker.front().wanted = wanted;
    {
      MutexLock lock(&mu_);
      const int64_t id = taker.front().id = next_id_++;
      takers_.splice(takers_.end(), taker);
      Serve(&ended);
      if (!takers_.empty() && takers_.back().id == id &&
          ctx->cancellation_manager() != nullptr) {
        Taker& t = takers_.back();
        t.token = ctx->cancellation_manager()->NextToken();
        t.registered = ctx->cancellation_manager()->RegisterCallback(
            t.token, [self = RefPtr<Accumulator>::NewRef(this), id] {
              self->Cancel(id);
            });
        if (!t.registered) {
          t.status = errors::Cancelled("the step was cancelled");
          ended.splice(ended.end(), takers_, std::prev(takers_.end()));
        }
      }
    }
    Finish(&ended);
  }

  void SetGlobalStep(int64_t step) {
    MutexLock lock(&mu_);
    global_step_ = step;
  }
  int64_t count() {
    MutexLock lock(&mu_);
    return count_;
  }

 private:
  struct Taker {
    int64_t id = 0;
    OpKernelContext* ctx = nullptr;
    AsyncOpKernel::DoneCallback done;
    int64_t wanted = 0;
    CancellationManager::Token token = 0;
    bool registered = false;
    Status status;
    Tensor value;
  };

  void Serve(std::list<Taker>* ended) REQUIRES(mu_) {
    while (!takers_.empty() && count_ >= takers_.front().wanted) {
      Taker& t = takers_.front();
      t.value = std::move(sum_);
      if (mean_) t.status = DivideTensor(count_, &t.value);
      sum_ = Tensor();
      count_ = 0;
      if (global_step_ < INT64_MAX) ++global_step_;
      ended->splice(ended->end(), takers_, takers_.begin());
    }
  }

  void Cancel(int64_t id) {
    std::list<Taker> ended;
    {
      MutexLock lock(&mu_);
      for (auto it = takers_.begin(); it != takers_.end(); ++it) {
        if (it->id != id) continue;
        it->registered = false;
        it->status = errors::Cancelled("TakeGrad operation was cancelled");
        ended.splice(ended.end(), takers_, it);
        break;
      }
      Serve(&ended);
    }
    Finish(&ended);
  }

  static void Finish(std::list<Taker>* ended) {
    for (Taker& t : *ended) {
      if (t.registered) {
        t.ctx->cancellation_manager()->TryDeregisterCallback(t.token);
      }
      if (t.status.ok()) {
        t.ctx->set_output(0, std::move(t.value));
      } else {
        t.ctx->CtxFailure(std::move(t.status));
      }
      t.done();
    }
  }

  const std::string name_;
  const DataType dtype_;
  const PartialTensorShape shape_;
  const bool mean_;
  Mutex mu_;
  Tensor sum_ GUARDED_BY(mu_);
  int64_t count_ GUARDED_BY(mu_) = 0;
  int64_t global_step_ GUARDED_BY(mu_) = 0;
  int64_t next_id_ GUARDED_BY(mu_) = 0;
  std::list<Taker> takers_ GUARDED_BY(mu_);
};

class AccumulatorOp : public ResourceOp<Accumulator> {
 public:
  explicit AccumulatorOp(OpKernelConstruction* ctx) : ResourceOp(ctx) {
    std::string reduction;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("reduction_type", &reduction));
    mean_ = reduction == "MEAN";
  }

 protected:
  Status Make(OpKernelContext*, RefPtr<Accumulator>* out) override {
    *out = MakeRef<Accumulator>(resource_name(), dtype_, shape_, mean_);
    return OkStatus();
  }
  Status Verify(const OpKernelContext&, const Accumulator& a) override {
    if (a.dtype() == dtype_ && a.shape() == shape_ && a.mean() == mean_) {
      return OkStatus();
    }
    return errors::InvalidArgument(
        "the shared ", a.DebugString(), " of shape ", a.shape().DebugString(),
        " does not match this node's dtype, shape and reduction_type");
  }

 private:
  DataType dtype_ = DT_INVALID;
  PartialTensorShape shape_;
  bool mean_ = true;
};
REGISTER_KERNEL_BUILDER(Name("ConditionalAccumulator").Device(DEVICE_CPU),
                        AccumulatorOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceConditionalAccumulator").Device(DEVICE_CPU), AccumulatorOp);

Status GetAccumulator(OpKernelContext* ctx, RefPtr<Accumulator>* out) {
  return LookupInput<Accumulator>(*ctx, 0, ctx->resource_manager(), out);
}

class ApplyGradientOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Accumulator> a;
    OP_REQUIRES_OK(ctx, GetAccumulator(ctx, &a));
    int64_t step = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "local_step", &step));
    OP_REQUIRES_OK(ctx, a->Apply(step, ctx->input(2)));
  }
};
REGISTER_KERNEL_BUILDER(Name("AccumulatorApplyGradient").Device(DEVICE_CPU),
                        ApplyGradientOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceAccumulatorApplyGradient").Device(DEVICE_CPU),
    ApplyGradientOp);

class TakeGradientOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<Accumulator> a;
    OP_REQUIRES_OK_ASYNC(ctx, GetAccumulator(ctx, &a), done);
    OP_REQUIRES_ASYNC(
        ctx, a->dtype() == output_type(0),
        errors::InvalidArgument("the ", a->DebugString(), " was asked for ",
                                DataTypeString(output_type(0))),
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
};
REGISTER_KERNEL_BUILDER(Name("AccumulatorTakeGradient").Device(DEVICE_CPU),
                        TakeGradientOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceAccumulatorTakeGradient").Device(DEVICE_CPU), TakeGradientOp);

class NumAccumulatedOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Accumulator> a;
    OP_REQUIRES_OK(ctx, GetAccumulator(ctx, &a));
    ctx->set_output(0,
                    Tensor::Scalar<int32_t>(static_cast<int32_t>(a->count())));
  }
};
REGISTER_KERNEL_BUILDER(Name("AccumulatorNumAccumulated").Device(DEVICE_CPU),
                        NumAccumulatedOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceAccumulatorNumAccumulated").Device(DEVICE_CPU),
    NumAccumulatedOp);

class SetGlobalStepOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Accumulator> a;
    OP_REQUIRES_OK(ctx, GetAccumulator(ctx, &a));
    int64_t step = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "new_global_step", &step));
    a->SetGlobalStep(step);
  }
};
REGISTER_KERNEL_BUILDER(Name("AccumulatorSetGlobalStep").Device(DEVICE_CPU),
                        SetGlobalStepOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceAccumulatorSetGlobalStep").Device(DEVICE_CPU),
    SetGlobalStepOp);

}  // namespace
}  // namespace headrace
