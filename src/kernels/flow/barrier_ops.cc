// Barriers: elements of several components, put together by key from parts that
// come one by one. A complete element goes to a queue, from which
// BarrierTakeMany takes those first whose first part came first.
//
// A closed barrier takes no new key, but still the missing parts of the keys
// that it has; when it has none left its queue is closed, and takes that wait
// for more than there is fail. Takes that allow a small batch wait for no more
// once the barrier is closed: they get what is complete, or fail if nothing is.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "framework/tensor/borrowed_buffer.h"
#include "kernels/flow/priority_queue.h"
#include "kernels/lib/element.h"
#include "kernels/lib/growing_table.h"
#include "kernels/lib/resource_op.h"

namespace headrace {
namespace {

// Thread-safe.
class Barrier : public ResourceBase {
 public:
  Barrier(std::string name, DataTypeVector types,
          std::vector<PartialTensorShape> shapes)
      : name_(std::move(name)),
        types_(std::move(types)),
        shapes_(std::move(shapes)),
        full_shapes_(!shapes_.empty() &&
                     std::all_of(shapes_.begin(), shapes_.end(),
                                 [](const PartialTensorShape& s) {
                                   return s.IsFullyDefined();
                                 })) {
    QueueBase::Options options;
    options.type = "Barrier";
    options.name = name_;
    options.component_types = {DT_INT64, DT_STRING};
    options.component_types.insert(options.component_types.end(),
                                   types_.begin(), types_.end());
    if (full_shapes_) {
      options.component_shapes = {PartialTensorShape::Scalar(),
                                  PartialTensorShape::Scalar()};
      options.component_shapes.insert(options.component_shapes.end(),
                                      shapes_.begin(), shapes_.end());
    }
    ready_ = MakeRef<PriorityQueue>(std::move(options));
  }

  std::string DebugString() const override {
    return absl::StrCat("Barrier '", name_, "'");
  }
  const DataTypeVector& types() const { return types_; }
  const std::vector<PartialTensorShape>& shapes() const { return shapes_; }
  int64_t ready_size() { return ready_->size(); }
  int64_t incomplete_size() {
    MutexLock lock(&mu_);
    return static_cast<int64_t>(incomplete_.size());
  }

  // Failures are put into `ctx`.
  void InsertMany(OpKernelContext* ctx, const Tensor& keys,
                  const Tensor& values, int component) {
    std::vector<QueueBase::Tuple> complete;
    {
      MutexLock lock(&mu_);
      OP_REQUIRES_OK(ctx, Insert(keys, values, component, &complete));
      ++inserting_;
    }
    // Enqueue without the lock: the queue calls back requests that wait for
    // elements.
    for (QueueBase::Tuple& e : complete) {
      ready_->Enqueue(ctx, std::move(e), [] {});
    }
    bool close_queue = false, no_more = false;
    {
      MutexLock lock(&mu_);
      --inserting_;
      close_queue = TimeToCloseQueue();
      no_more = NoMoreForSmallBatches();
    }
    if (no_more) ready_->StopWaitingForMore();
    if (close_queue) ready_->Close(ctx, false, [] {});
  }

  void TakeMany(OpKernelContext* ctx, int64_t n, bool allow_small_batch,
                AsyncOpKernel::DoneCallback done) {
    {
      MutexLock lock(&mu_);
      if (closed_) {
        int64_t available = ready_->size();
        int64_t wanted = n;
        if (allow_small_batch) {
          wanted = std::min(n, available);
        } else {
          available += static_cast<int64_t>(incomplete_.size());
        }
        if (inserting_ == 0 && available < std::max<int64_t>(wanted, 1)) {
          ctx->CtxFailure(errors::OutOfRange(
              DebugString(),
              " is closed and has insufficient elements (requested ", wanted,
              ", total size ", available, ")"));
        }
      }
    }
    if (!ctx->status().ok()) {
      done();
      return;
    }
    ready_->Dequeue(
        ctx, n, allow_small_batch,
        [ctx, self = RefPtr<Barrier>::NewRef(this)](
            std::vector<QueueBase::Tuple> elements) {
          QueueBase::Tuple batch;
          OP_REQUIRES_OK(ctx, self->Batch(ctx, elements, &batch));
          for (size_t i = 0; i < batch.size(); ++i) {
            ctx->set_output(static_cast<int>(i), std::move(batch[i]));
          }
        },
        std::move(done));
  }

  // InvalidArgument if `n` elements cannot become one.
  Status CheckBatch(int64_t n) const {
    if (n < 0) {
      return errors::InvalidArgument("BarrierTakeMany: num_elements is ", n,
                                     ", wanted at least 0");
    }
    if (n == 0 && !full_shapes_) {
      return errors::InvalidArgument(
          DebugString(),
          " was made without full shapes: no elements have no shape");
    }
    return OkStatus();
  }

  void Close(OpKernelContext* ctx, bool cancel_pending,
             AsyncOpKernel::DoneCallback done) {
    bool close_queue = false, no_more = false;
    {
      MutexLock lock(&mu_);
      // After a close that still waits for parts, one that does not is fine.
      if (closed_ && (cancelled_ || !cancel_pending)) {
        ctx->CtxFailure(
            errors::Cancelled(DebugString(), " is already closed."));
      } else {
        closed_ = true;
        cancelled_ = cancel_pending;
        if (cancelled_) incomplete_.clear();
        close_queue = TimeToCloseQueue();
        no_more = NoMoreForSmallBatches();
      }
    }
    if (no_more) ready_->StopWaitingForMore();
    if (close_queue) {
      ready_->Close(ctx, false, std::move(done));
    } else {
      done();
    }
  }

 private:
  // The parts of a key, by component; what has not come is not initialized.
  struct Incomplete {
    int64_t index = 0;
    QueueBase::Tuple parts;
    size_t missing = 0;
  };

  Status Insert(const Tensor& keys, const Tensor& values, int component,
                std::vector<QueueBase::Tuple>* complete) REQUIRES(mu_) {
    HR_RETURN_IF_ERROR(Check(keys, values, component));
    Tensor own = values;
    HR_RETURN_IF_ERROR(OwnBytes(&own));
    const int64_t n = keys.NumElements();
    if (closed_ && (cancelled_ || (n > 0 && incomplete_.empty()))) {
      return errors::Cancelled(
          "Barrier ", name_,
          " is closed.  Pending enqueues cancelled: ", cancelled_,
          ".  Number of new insertions: ", n,
          ".  Number of incomplete keys: ", incomplete_.size(), ".");
    }
    // First look whether all can be inserted, so that none is if not all are.
    GrowingMap<std::string, bool> seen;
    for (int64_t i = 0; i < n; ++i) {
      const std::string key(keys.data<tstring>()[i]);
      auto it = incomplete_.find(key);
      if (it == incomplete_.end() && closed_) {
        return errors::Cancelled(
            "Barrier ", name_,
            " is closed, but attempted to insert a brand new key: ", key,
            ".  Pending enqueues cancelled: ", cancelled_,
            ".  Insertion index: ", i,
            ".  Number of incomplete keys: ", incomplete_.size(), ".");
      }
      const bool twice =
          types_.size() > 1 && !InsertIntoMap(&seen, false, key, true).second;
      if (twice || (it != incomplete_.end() &&
                    it->second.parts[component].IsInitialized())) {
        return errors::InvalidArgument("Key ", key,
                                       " already has a value for component ",
                                       component, " in barrier ", name_);
      }
    }
    bool new_keys = false;
    for (int64_t i = 0; i < n; ++i) {
      const std::string key(keys.data<tstring>()[i]);
      auto [it, is_new] = InsertIntoMap(&incomplete_, true, key);
      Incomplete& e = it->second;
      if (is_new) {
        new_keys = true;
        e.index = next_index_;
        e.parts.resize(types_.size());
        e.missing = types_.size();
      }
      e.parts[component] = own.SubSlice(i);
      if (--e.missing > 0) continue;
      QueueBase::Tuple element = {Tensor::Scalar<int64_t>(e.index),
                                  Tensor::Scalar<tstring>(tstring(key))};
      for (Tensor& t : e.parts) element.push_back(std::move(t));
      complete->push_back(std::move(element));
      incomplete_.erase(it);
    }
    if (new_keys) ++next_index_;
    return OkStatus();
  }

  Status Check(const Tensor& keys, const Tensor& values, int component) const {
    if (component < 0 || component >= static_cast<int>(types_.size())) {
      return errors::InvalidArgument("The component ID is out of range ",
                                     component,
                                     " > num_components = ", types_.size());
    }
    if (values.dtype() != types_[component]) {
      return errors::InvalidArgument("component ", component, " of ",
                                     DebugString(), " is ",
                                     DataTypeString(types_[component]),
                                     ", got ", DataTypeString(values.dtype()));
    }
    if (keys.dims() != 1 || values.dims() < 1 ||
        values.dim_size(0) != keys.dim_size(0)) {
      return errors::InvalidArgument(
          "keys must be a vector and values have a row for each: keys ",
          keys.shape().DebugString(), ", values ",
          values.shape().DebugString());
    }
    if (keys.NumElements() > 0 && values.NumElements() == 0) {
      return errors::InvalidArgument(
          "Tensors with no elements are not supported ", name_,
          ": received shape ", values.shape().DebugString());
    }
    TensorShape element = values.shape();
    element.RemoveDim(0);
    if (!shapes_.empty() && !shapes_[component].IsCompatibleWith(element)) {
      return errors::InvalidArgument(
          "Shape mismatch in tuple component ", component, ". Expected ",
          shapes_[component].DebugString(), ", got ", element.DebugString());
    }
    return OkStatus();
  }

  // True once.
  bool TimeToCloseQueue() REQUIRES(mu_) {
    if (!closed_ || queue_closed_ || inserting_ > 0 || !incomplete_.empty()) {
      return false;
    }
    queue_closed_ = true;
    return true;
  }

  // True while that is so: elements that are complete are all in the queue.
  bool NoMoreForSmallBatches() const REQUIRES(mu_) {
    return closed_ && inserting_ == 0;
  }

  Status Batch(OpKernelContext* ctx,
               const std::vector<QueueBase::Tuple>& elements,
               QueueBase::Tuple* batch) const {
    if (full_shapes_) return ready_->Batch(ctx, elements, batch);
    for (size_t c = 0; c < elements[0].size(); ++c) {
      const TensorShape& element = elements[0][c].shape();
      TensorShape shape({static_cast<int64_t>(elements.size())});
      shape.AppendShape(element);
      Tensor out;
      HR_RETURN_IF_ERROR(
          ctx->allocate_temp(elements[0][c].dtype(), shape, &out));
      const int64_t n = element.num_elements();
      for (size_t i = 0; i < elements.size(); ++i) {
        const Tensor& t = elements[i][c];
        if (t.shape() != element) {
          return errors::InvalidArgument(
              DebugString(), ": elements of shapes ", element.DebugString(),
              " and ", t.shape().DebugString(), " cannot become one");
        }
        CopyElements(t, 0, &out, static_cast<int64_t>(i) * n, n);
      }
      batch->push_back(std::move(out));
    }
    return OkStatus();
  }

  const std::string name_;
  const DataTypeVector types_;
  const std::vector<PartialTensorShape> shapes_;  // empty: any
  const bool full_shapes_;                        // all are fully defined
  // Elements are {index, key, components...}.
  RefPtr<PriorityQueue> ready_;
  Mutex mu_;  // before the queue's
  GrowingMap<std::string, Incomplete> incomplete_ GUARDED_BY(mu_);
  // The index for the next insertion with new keys.
  int64_t next_index_ GUARDED_BY(mu_) = std::numeric_limits<int64_t>::min();
  int inserting_ GUARDED_BY(mu_) = 0;  // on their way to the queue
  bool closed_ GUARDED_BY(mu_) = false;
  bool cancelled_ GUARDED_BY(mu_) = false;
  bool queue_closed_ GUARDED_BY(mu_) = false;
};

class BarrierOp : public ResourceOp<Barrier> {
 public:
  explicit BarrierOp(OpKernelConstruction* ctx) : ResourceOp<Barrier>(ctx) {
    int64_t capacity = -1;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("component_types", &types_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shapes", &shapes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("capacity", &capacity));
    OP_REQUIRES(ctx, capacity < 0,
                errors::InvalidArgument(
                    "Barrier only accepts capacity=-1.  Feed the inputs to "
                    "your Barrier through a queue to enforce a limited "
                    "capacity."));
    OP_REQUIRES(ctx, shapes_.empty() || shapes_.size() == types_.size(),
                errors::InvalidArgument(
                    "All of the component shapes must be specified: ",
                    shapes_.size(), " shapes for ", types_.size(), " types"));
  }

 protected:
  Status Make(OpKernelContext*, RefPtr<Barrier>* out) override {
    *out = MakeRef<Barrier>(resource_name(), types_, shapes_);
    return OkStatus();
  }
  Status Verify(const OpKernelContext&, const Barrier& b) override {
    if (b.types() == types_ && b.shapes() == shapes_) return OkStatus();
    return errors::InvalidArgument(
        "the shared ", b.DebugString(), " has component types ",
        DataTypeSliceString(b.types()), ", this node wants ",
        DataTypeSliceString(types_), ", or other shapes");
  }

 private:
  DataTypeVector types_;
  std::vector<PartialTensorShape> shapes_;
};
REGISTER_KERNEL_BUILDER(Name("Barrier").Device(DEVICE_CPU), BarrierOp);

Status GetBarrier(OpKernelContext* ctx, RefPtr<Barrier>* out) {
  return LookupInput<Barrier>(*ctx, 0, ctx->resource_manager(), out);
}

class BarrierInsertManyOp : public OpKernel {
 public:
  explicit BarrierInsertManyOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("component_index", &component_));
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Barrier> barrier;
    OP_REQUIRES_OK(ctx, GetBarrier(ctx, &barrier));
    barrier->InsertMany(ctx, ctx->input(1), ctx->input(2), component_);
  }

 private:
  int32_t component_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("BarrierInsertMany").Device(DEVICE_CPU),
                        BarrierInsertManyOp);

class BarrierTakeManyOp : public AsyncOpKernel {
 public:
  explicit BarrierTakeManyOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    int64_t timeout = -1;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("timeout_ms", &timeout));
    OP_REQUIRES(
        ctx, timeout == -1,
        errors::InvalidArgument("Timeout not supported yet: timeout_ms is ",
                                timeout, ", wanted -1"));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("component_types", &types_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("allow_small_batch", &allow_small_batch_));
    expensive_ = false;
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<Barrier> barrier;
    OP_REQUIRES_OK_ASYNC(ctx, GetBarrier(ctx, &barrier), done);
    OP_REQUIRES_ASYNC(
        ctx, barrier->types() == types_,
        errors::InvalidArgument(barrier->DebugString(), " has component types ",
                                DataTypeSliceString(barrier->types()),
                                ", but the types asked for are ",
                                DataTypeSliceString(types_)),
        done);
    int64_t n = 0;
    OP_REQUIRES_OK_ASYNC(ctx, ReadInteger(ctx->input(1), "num_elements", &n),
                         done);
    OP_REQUIRES_OK_ASYNC(ctx, barrier->CheckBatch(n), done);
    barrier->TakeMany(ctx, n, allow_small_batch_, std::move(done));
  }

  std::string WaitsFor(OpKernelContext* ctx) const override {
    RefPtr<Barrier> barrier;
    int64_t n = 0;
    if (!GetBarrier(ctx, &barrier).ok() ||
        !ReadInteger(ctx->input(1), "num_elements", &n).ok()) {
      return "";
    }
    return absl::StrCat(n, " elements of ", barrier->DebugString(),
                        ", which has ", barrier->ready_size(), " complete and ",
                        barrier->incomplete_size(), " incomplete");
  }

 private:
  DataTypeVector types_;
  bool allow_small_batch_ = false;
};
REGISTER_KERNEL_BUILDER(Name("BarrierTakeMany").Device(DEVICE_CPU),
                        BarrierTakeManyOp);

class BarrierCloseOp : public AsyncOpKernel {
 public:
  explicit BarrierCloseOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("cancel_pending_enqueues", &cancel_));
    expensive_ = false;
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<Barrier> barrier;
    OP_REQUIRES_OK_ASYNC(ctx, GetBarrier(ctx, &barrier), done);
    barrier->Close(ctx, cancel_, std::move(done));
  }

 private:
  bool cancel_ = false;
};
REGISTER_KERNEL_BUILDER(Name("BarrierClose").Device(DEVICE_CPU),
                        BarrierCloseOp);

template <bool kReady>
class BarrierSizeOp : public OpKernel {
 public:
  explicit BarrierSizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Barrier> barrier;
    OP_REQUIRES_OK(ctx, GetBarrier(ctx, &barrier));
    const int64_t n =
        kReady ? barrier->ready_size() : barrier->incomplete_size();
    ctx->set_output(0, Tensor::Scalar<int32_t>(static_cast<int32_t>(n)));
  }
};
REGISTER_KERNEL_BUILDER(Name("BarrierReadySize").Device(DEVICE_CPU),
                        BarrierSizeOp<true>);
REGISTER_KERNEL_BUILDER(Name("BarrierIncompleteSize").Device(DEVICE_CPU),
                        BarrierSizeOp<false>);

}  // namespace
}  // namespace headrace
