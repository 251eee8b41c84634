// The four queues: what differs between them is the order in which elements
// come out, and that PaddingFIFOQueue makes batches of elements of differing
// shapes.
#include <deque>
#include <utility>

#include "framework/kernel/philox.h"
#include "kernels/flow/priority_queue.h"
#include "kernels/flow/queue_base.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"
#include "kernels/lib/resource_op.h"

namespace headrace {
namespace {

class FifoQueue : public QueueBase {
 public:
  using QueueBase::QueueBase;

 protected:
  int64_t SizeLocked() const override REQUIRES(mu_) {
    return static_cast<int64_t>(elements_.size());
  }
  void PushLocked(Tuple e) override REQUIRES(mu_) {
    elements_.push_back(std::move(e));
  }
  Tuple PopLocked() override REQUIRES(mu_) {
    Tuple e = std::move(elements_.front());
    elements_.pop_front();
    return e;
  }
  void PutBackLocked(Tuple e) override REQUIRES(mu_) {
    elements_.push_front(std::move(e));
  }

 private:
  std::deque<Tuple> elements_ GUARDED_BY(mu_);
};

// Component shapes may be partly unknown: a batch is as large as its largest
// element in each unknown dimension, zeros where others are smaller.
class PaddingFifoQueue : public FifoQueue {
 public:
  using FifoQueue::FifoQueue;

  Status Batch(OpKernelContext* ctx, const std::vector<Tuple>& elements,
               Tuple* batch) const override {
    batch->clear();
    for (size_t c = 0; c < options().component_types.size(); ++c) {
      const PartialTensorShape& known = options().component_shapes[c];
      TensorShape shape({static_cast<int64_t>(elements.size())});
      for (int d = 0; d < known.dims(); ++d) {
        int64_t size = std::max<int64_t>(known.dim_size(d), 0);
        for (const Tuple& e : elements) {
          size = std::max(size, e[c].dim_size(d));
        }
        shape.AddDim(size);
      }
      Tensor out;
      HR_RETURN_IF_ERROR(
          ctx->allocate_temp(options().component_types[c], shape, &out));
      ZeroElements(&out);
      const DimVector to = RowMajorStrides(shape.dim_sizes());
      for (size_t i = 0; i < elements.size(); ++i) {
        const Tensor& e = elements[i][c];
        if (e.NumElements() == 0) continue;
        const DimVector from = RowMajorStrides(e.shape().dim_sizes());
        BoxCopy copy;
        for (int d = 0; d < e.dims(); ++d) {
          copy.AddDim(e.dim_size(d), from[d], to[d + 1]);
        }
        copy.Run(ctx, e, 0, &out, static_cast<int64_t>(i) * to[0]);
      }
      batch->push_back(std::move(out));
    }
    return OkStatus();
  }
};

// An element is drawn at random; the last one takes its place. As long as the
// queue is open, min_after_dequeue elements stay in it, to mix with.
class RandomShuffleQueue : public QueueBase {
 public:
  RandomShuffleQueue(Options options, int64_t min_after_dequeue,
                     const Philox& stream)
      : QueueBase(std::move(options)),
        min_after_dequeue_(min_after_dequeue),
        words_(stream) {}

 protected:
  int64_t SizeLocked() const override REQUIRES(mu_) {
    return static_cast<int64_t>(elements_.size());
  }
  int64_t AvailableLocked(bool closed) const override REQUIRES(mu_) {
    return closed ? SizeLocked() : SizeLocked() - min_after_dequeue_;
  }
  void PushLocked(Tuple e) override REQUIRES(mu_) {
    elements_.push_back(std::move(e));
  }
  Tuple PopLocked() override REQUIRES(mu_) {
    const size_t i = words_() % elements_.size();
    std::swap(elements_[i], elements_.back());
    Tuple e = std::move(elements_.back());
    elements_.pop_back();
    return e;
  }
  void PutBackLocked(Tuple e) override REQUIRES(mu_) {
    PushLocked(std::move(e));
  }

 private:
  const int64_t min_after_dequeue_;
  PhiloxWords words_ GUARDED_BY(mu_);
  std::vector<Tuple> elements_ GUARDED_BY(mu_);
};

class QueueOp : public ResourceOp<QueueBase> {
 public:
  explicit QueueOp(OpKernelConstruction* ctx, const char* type)
      : ResourceOp(ctx) {
    options_.type = type;
    options_.name = resource_name();
    std::vector<DataType> types;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("component_types", &types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shapes", &options_.component_shapes));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("capacity", &options_.capacity));
    options_.component_types.assign(types.begin(), types.end());
    OP_REQUIRES(ctx,
                options_.component_shapes.empty() ||
                    options_.component_shapes.size() == types.size(),
                errors::InvalidArgument(
                    "Different number of component types. Types: ",
                    DataTypeSliceString(types),
                    ", shapes: ", options_.component_shapes.size()));
  }

 protected:
  // A queue that takes whole shapes only.
  void RequireFullShapes(OpKernelConstruction* ctx) {
    for (const PartialTensorShape& s : options_.component_shapes) {
      OP_REQUIRES(ctx, s.IsFullyDefined(),
                  errors::InvalidArgument("shapes must be fully defined, got ",
                                          s.DebugString()));
    }
  }

  Status Verify(const OpKernelContext& ctx, const QueueBase& q) override {
    const QueueBase::Options& o = q.options();
    if (std::string_view(o.type) != options_.type ||
        o.component_types != options_.component_types ||
        o.component_shapes != options_.component_shapes ||
        o.capacity != options_.capacity) {
      return errors::InvalidArgument(
          "Shared queue '", resource_name(), "' is a ", o.type, " of ",
          DataTypeSliceString(o.component_types), " with capacity ", o.capacity,
          ", which does not match this node's type, component_types, shapes "
          "and capacity");
    }
    return OkStatus();
  }

  QueueBase::Options options_;
};

class FifoQueueOp : public QueueOp {
 public:
  explicit FifoQueueOp(OpKernelConstruction* ctx) : QueueOp(ctx, "FIFOQueue") {
    RequireFullShapes(ctx);
  }

 private:
  Status Make(OpKernelContext*, RefPtr<QueueBase>* out) override {
    *out = MakeRef<FifoQueue>(options_);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("FIFOQueue").Device(DEVICE_CPU), FifoQueueOp);
REGISTER_KERNEL_BUILDER(Name("FIFOQueueV2").Device(DEVICE_CPU), FifoQueueOp);

class PaddingFifoQueueOp : public QueueOp {
 public:
  explicit PaddingFifoQueueOp(OpKernelConstruction* ctx)
      : QueueOp(ctx, "PaddingFIFOQueue") {
    OP_REQUIRES(
        ctx,
        options_.component_shapes.size() == options_.component_types.size(),
        errors::InvalidArgument("PaddingFIFOQueue needs a shape for each of ",
                                options_.component_types.size(),
                                " components, got ",
                                options_.component_shapes.size()));
    for (const PartialTensorShape& s : options_.component_shapes) {
      OP_REQUIRES(ctx, !s.unknown_rank(),
                  errors::InvalidArgument(
                      "PaddingFIFOQueue needs shapes of known rank"));
    }
  }

 private:
  Status Make(OpKernelContext*, RefPtr<QueueBase>* out) override {
    *out = MakeRef<PaddingFifoQueue>(options_);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("PaddingFIFOQueue").Device(DEVICE_CPU),
                        PaddingFifoQueueOp);
REGISTER_KERNEL_BUILDER(Name("PaddingFIFOQueueV2").Device(DEVICE_CPU),
                        PaddingFifoQueueOp);

class RandomShuffleQueueOp : public QueueOp {
 public:
  explicit RandomShuffleQueueOp(OpKernelConstruction* ctx)
      : QueueOp(ctx, "RandomShuffleQueue") {
    RequireFullShapes(ctx);
    OP_REQUIRES_OK(ctx, ctx->GetAttr("min_after_dequeue", &min_after_dequeue_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed", &seed_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed2", &seed2_));
    OP_REQUIRES(ctx, min_after_dequeue_ >= 0,
                errors::InvalidArgument("min_after_dequeue ",
                                        min_after_dequeue_, " must be >= 0"));
    OP_REQUIRES(
        ctx, options_.capacity < 0 || min_after_dequeue_ < options_.capacity,
        errors::InvalidArgument("min_after_dequeue ", min_after_dequeue_,
                                " must be < capacity ", options_.capacity));
  }

 private:
  Status Make(OpKernelContext*, RefPtr<QueueBase>* out) override {
    GuardedPhilox random;
    random.Init(seed_, seed2_);
    *out = MakeRef<RandomShuffleQueue>(options_, min_after_dequeue_,
                                       random.Reserve(0));
    return OkStatus();
  }

  int64_t min_after_dequeue_ = 0, seed_ = 0, seed2_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("RandomShuffleQueue").Device(DEVICE_CPU),
                        RandomShuffleQueueOp);
REGISTER_KERNEL_BUILDER(Name("RandomShuffleQueueV2").Device(DEVICE_CPU),
                        RandomShuffleQueueOp);

// The attrs do not name the priority, which is an int64 scalar before the
// others.
class PriorityQueueOp : public QueueOp {
 public:
  explicit PriorityQueueOp(OpKernelConstruction* ctx)
      : QueueOp(ctx, "PriorityQueue") {
    RequireFullShapes(ctx);
    const bool has_shapes =
        !options_.component_shapes.empty() || options_.component_types.empty();
    options_.component_types.insert(options_.component_types.begin(), DT_INT64);
    options_.component_shapes.insert(options_.component_shapes.begin(),
                                     PartialTensorShape::Scalar());
    // Without shapes, only the priority is known to be a scalar.
    if (!has_shapes) {
      options_.component_shapes.resize(options_.component_types.size());
    }
  }

 private:
  Status Make(OpKernelContext*, RefPtr<QueueBase>* out) override {
    *out = MakeRef<PriorityQueue>(options_);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("PriorityQueue").Device(DEVICE_CPU),
                        PriorityQueueOp);
REGISTER_KERNEL_BUILDER(Name("PriorityQueueV2").Device(DEVICE_CPU),
                        PriorityQueueOp);

}  // namespace
}  // namespace headrace
