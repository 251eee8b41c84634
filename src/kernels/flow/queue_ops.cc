// Ops on queues: asynchronous kernels around QueueBase, which says how waiting,
// closing and cancellation work. Input 0 is the queue's handle.
#include <utility>
#include <vector>

#include "framework/tensor/borrowed_buffer.h"
#include "kernels/flow/queue_base.h"
#include "kernels/lib/element.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {
namespace {

class QueueAccessOp : public AsyncOpKernel {
 public:
  explicit QueueAccessOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    int64_t timeout = -1;
    if (ctx->HasAttr("timeout_ms")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("timeout_ms", &timeout));
    }
    // Use the run's deadline instead (RunOptions.timeout_in_ms).
    OP_REQUIRES(
        ctx, timeout == -1,
        errors::InvalidArgument("Timeout not supported yet: timeout_ms is ",
                                timeout, ", wanted -1"));
    expensive_ = false;
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) final {
    RefPtr<QueueBase> queue;
    Status s = LookupInput<QueueBase>(*ctx, 0, ctx->resource_manager(), &queue);
    if (s.ok()) s = Start(ctx, queue, &done);
    OP_REQUIRES_OK_ASYNC(ctx, s, done);
  }

  std::string WaitsFor(OpKernelContext* ctx) const final {
    RefPtr<QueueBase> queue;
    if (!LookupInput<QueueBase>(*ctx, 0, ctx->resource_manager(), &queue)
             .ok()) {
      return "";
    }
    const int64_t capacity = queue->options().capacity;
    return absl::StrCat(
        Wanted(ctx), " ", queue->DebugString(), ", which has ", queue->size(),
        capacity < 0 ? "" : absl::StrCat(" of at most ", capacity));
  }

 protected:
  // "an element of"
  virtual std::string Wanted(OpKernelContext* ctx) const = 0;
  // Hands *done on to the queue, or fails and leaves it.
  virtual Status Start(OpKernelContext* ctx, const RefPtr<QueueBase>& queue,
                       DoneCallback* done) = 0;
};

template <bool kMany>
class EnqueueOp : public QueueAccessOp {
 public:
  using QueueAccessOp::QueueAccessOp;

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<QueueBase>& queue,
               DoneCallback* done) override {
    QueueBase::Tuple tuple;
    for (int i = 1; i < ctx->num_inputs(); ++i) tuple.push_back(ctx->input(i));
    HR_RETURN_IF_ERROR(queue->Validate(tuple, kMany));
    HR_RETURN_IF_ERROR(OwnBytes(&tuple));
    if (kMany) {
      queue->EnqueueMany(ctx, std::move(tuple), std::move(*done));
    } else {
      queue->Enqueue(ctx, std::move(tuple), std::move(*done));
    }
    *done = nullptr;
    return OkStatus();
  }
  std::string Wanted(OpKernelContext*) const override { return "room in"; }
};
REGISTER_KERNEL_BUILDER(Name("QueueEnqueue").Device(DEVICE_CPU),
                        EnqueueOp<false>);
REGISTER_KERNEL_BUILDER(Name("QueueEnqueueV2").Device(DEVICE_CPU),
                        EnqueueOp<false>);
REGISTER_KERNEL_BUILDER(Name("QueueEnqueueMany").Device(DEVICE_CPU),
                        EnqueueOp<true>);
REGISTER_KERNEL_BUILDER(Name("QueueEnqueueManyV2").Device(DEVICE_CPU),
                        EnqueueOp<true>);

Status CheckTypes(const OpKernel& kernel, const QueueBase& queue) {
  if (kernel.output_types() == queue.options().component_types) {
    return OkStatus();
  }
  return errors::InvalidArgument(
      queue.DebugString(), " has component types ",
      DataTypeSliceString(queue.options().component_types),
      ", but the types asked for are ",
      DataTypeSliceString(kernel.output_types()));
}

void SetOutputs(OpKernelContext* ctx, QueueBase::Tuple tuple) {
  for (size_t i = 0; i < tuple.size(); ++i) {
    ctx->set_output(static_cast<int>(i), std::move(tuple[i]));
  }
}

class DequeueOp : public QueueAccessOp {
 public:
  using QueueAccessOp::QueueAccessOp;

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<QueueBase>& queue,
               DoneCallback* done) override {
    HR_RETURN_IF_ERROR(CheckTypes(*this, *queue));
    queue->Dequeue(
        ctx, 1, false,
        [ctx](std::vector<QueueBase::Tuple> elements) {
          SetOutputs(ctx, std::move(elements[0]));
        },
        std::move(*done));
    *done = nullptr;
    return OkStatus();
  }
  std::string Wanted(OpKernelContext*) const override {
    return "an element of";
  }
};
REGISTER_KERNEL_BUILDER(Name("QueueDequeue").Device(DEVICE_CPU), DequeueOp);
REGISTER_KERNEL_BUILDER(Name("QueueDequeueV2").Device(DEVICE_CPU), DequeueOp);

template <bool kAllowFewer>
class DequeueManyOp : public QueueAccessOp {
 public:
  using QueueAccessOp::QueueAccessOp;

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<QueueBase>& queue,
               DoneCallback* done) override {
    HR_RETURN_IF_ERROR(CheckTypes(*this, *queue));
    int64_t n = 0;
    HR_RETURN_IF_ERROR(ReadInteger(ctx->input(1), "n", &n));
    if (n < 0) {
      return errors::InvalidArgument(type_string(), " requested ", n,
                                     " < 0 elements");
    }
    // Refuses here, before anything is taken, a queue whose elements cannot be
    // put into one tensor.
    QueueBase::Tuple none;
    HR_RETURN_IF_ERROR(queue->Batch(ctx, {}, &none));
    if (n == 0) {
      SetOutputs(ctx, std::move(none));
      (*done)();
      return OkStatus();
    }
    queue->Dequeue(
        ctx, n, kAllowFewer,
        [ctx, queue](std::vector<QueueBase::Tuple> elements) {
          QueueBase::Tuple batch;
          OP_REQUIRES_OK(ctx, queue->Batch(ctx, elements, &batch));
          SetOutputs(ctx, std::move(batch));
        },
        std::move(*done));
    *done = nullptr;
    return OkStatus();
  }
  std::string Wanted(OpKernelContext* ctx) const override {
    int64_t n = 0;
    ReadInteger(ctx->input(1), "n", &n).IgnoreError();  // Start read it
    return absl::StrCat(n, " elements of");
  }
};
REGISTER_KERNEL_BUILDER(Name("QueueDequeueMany").Device(DEVICE_CPU),
                        DequeueManyOp<false>);
REGISTER_KERNEL_BUILDER(Name("QueueDequeueManyV2").Device(DEVICE_CPU),
                        DequeueManyOp<false>);
REGISTER_KERNEL_BUILDER(Name("QueueDequeueUpTo").Device(DEVICE_CPU),
                        DequeueManyOp<true>);
REGISTER_KERNEL_BUILDER(Name("QueueDequeueUpToV2").Device(DEVICE_CPU),
                        DequeueManyOp<true>);

class QueueCloseOp : public QueueAccessOp {
 public:
  explicit QueueCloseOp(OpKernelConstruction* ctx) : QueueAccessOp(ctx) {
    OP_REQUIRES_OK(ctx,
                   ctx->GetAttr("cancel_pending_enqueues", &cancel_pending_));
  }

 protected:
  Status Start(OpKernelContext* ctx, const RefPtr<QueueBase>& queue,
               DoneCallback* done) override {
    queue->Close(ctx, cancel_pending_, std::move(*done));
    *done = nullptr;
    return OkStatus();
  }
  std::string Wanted(OpKernelContext*) const override {
    return "the enqueues before it on";
  }

 private:
  bool cancel_pending_ = false;
};
REGISTER_KERNEL_BUILDER(Name("QueueClose").Device(DEVICE_CPU), QueueCloseOp);
REGISTER_KERNEL_BUILDER(Name("QueueCloseV2").Device(DEVICE_CPU), QueueCloseOp);

class QueueSizeOp : public OpKernel {
 public:
  explicit QueueSizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<QueueBase> queue;
    OP_REQUIRES_OK(
        ctx, LookupInput<QueueBase>(*ctx, 0, ctx->resource_manager(), &queue));
    ctx->set_output(
        0, Tensor::Scalar<int32_t>(static_cast<int32_t>(queue->size())));
  }
};
REGISTER_KERNEL_BUILDER(Name("QueueSize").Device(DEVICE_CPU), QueueSizeOp);
REGISTER_KERNEL_BUILDER(Name("QueueSizeV2").Device(DEVICE_CPU), QueueSizeOp);

class QueueIsClosedOp : public OpKernel {
 public:
  explicit QueueIsClosedOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<QueueBase> queue;
    OP_REQUIRES_OK(
        ctx, LookupInput<QueueBase>(*ctx, 0, ctx->resource_manager(), &queue));
    ctx->set_output(0, Tensor::Scalar<bool>(queue->is_closed()));
  }
};
REGISTER_KERNEL_BUILDER(Name("QueueIsClosed").Device(DEVICE_CPU),
                        QueueIsClosedOp);
REGISTER_KERNEL_BUILDER(Name("QueueIsClosedV2").Device(DEVICE_CPU),
                        QueueIsClosedOp);

// The old kind of handle for a queue of the new kind.
class FakeQueueOp : public OpKernel {
 public:
  explicit FakeQueueOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const ResourceHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, HandleInput(*ctx, 0, &handle));
    MutexLock lock(&mu_);
    if (!handle_.IsInitialized()) {
      handle_ = MakeStringHandle(handle->container, handle->name);
    }
    ctx->set_output_ref(0, &mu_, &handle_);
  }

 private:
  Mutex mu_;
  Tensor handle_ GUARDED_BY(mu_);
};
REGISTER_KERNEL_BUILDER(Name("FakeQueue").Device(DEVICE_CPU), FakeQueueOp);

}  // namespace
}  // namespace headrace
