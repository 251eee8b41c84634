// The staging area: a queue between nodes of different steps, first in, first
// out, with room for a number of elements or bytes. Stage waits for room,
// Unstage and StagePeek for an element.
#include <deque>

#include "framework/tensor/borrowed_buffer.h"
#include "kernels/flow/staging.h"

namespace headrace {
namespace {

using Tuple = std::vector<Tensor>;

// Thread-safe.
class StagingBuffer : public WaitingResource {
 public:
  StagingBuffer(std::string name, StagingLimits limits, DataTypeVector dtypes)
      : name_(std::move(name)), limits_(limits), dtypes_(std::move(dtypes)) {}

  std::string DebugString() const override {
    return absl::StrCat("staging area '", name_, "'");
  }
  const DataTypeVector& dtypes() const { return dtypes_; }
  const StagingLimits& limits() const { return limits_; }
  int64_t size() {
    MutexLock lock(&mu_);
    return static_cast<int64_t>(elements_.size());
  }

  void Put(OpKernelContext* ctx, Tuple tuple,
           AsyncOpKernel::DoneCallback done) {
    const int64_t bytes = BytesOf(tuple);
    Run(
        ctx,
        [this, bytes, tuple = std::move(tuple)]() REQUIRES(mu_) mutable {
          if (!limits_.HasRoom(static_cast<int64_t>(elements_.size()), bytes_,
                               bytes)) {
            return false;
          }
          elements_.push_back(std::move(tuple));
          bytes_ += bytes;
          return true;
        },
        std::move(done));
  }
  void Take(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
    Run(
        ctx,
        [this, ctx]() REQUIRES(mu_) {
          if (elements_.empty()) return false;
          Tuple tuple = std::move(elements_.front());
          elements_.pop_front();
          bytes_ -= BytesOf(tuple);
          SetOutputs(ctx, tuple);
          return true;
        },
        std::move(done));
  }
  // Element `index` stays.
  void Peek(OpKernelContext* ctx, int64_t index,
            AsyncOpKernel::DoneCallback done) {
    Run(
        ctx,
        [this, ctx, index]() REQUIRES(mu_) {
          if (index >= static_cast<int64_t>(elements_.size())) return false;
          SetOutputs(ctx, elements_[static_cast<size_t>(index)]);
          return true;
        },
        std::move(done));
  }
  void Clear(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
    Run(
        ctx,
        [this]() REQUIRES(mu_) {
          elements_.clear();
          bytes_ = 0;
          return true;
        },
        std::move(done));
  }

 private:
  static void SetOutputs(OpKernelContext* ctx, const Tuple& tuple) {
    for (size_t i = 0; i < tuple.size(); ++i) {
      ctx->set_output(static_cast<int>(i), tuple[i]);
    }
  }

  const std::string name_;
  const StagingLimits limits_;
  const DataTypeVector dtypes_;
  std::deque<Tuple> elements_ GUARDED_BY(mu_);
  int64_t bytes_ GUARDED_BY(mu_) = 0;
};

using BufferOp = StagingOp<StagingBuffer>;
using Buffer = RefPtr<StagingBuffer>;

class StageOp : public BufferOp {
 public:
  using BufferOp::BufferOp;

 protected:
  Status Start(OpKernelContext* ctx, const Buffer& buffer,
               DoneCallback* done) override {
    Tuple tuple;
    for (int i = 0; i < ctx->num_inputs(); ++i) tuple.push_back(ctx->input(i));
    HR_RETURN_IF_ERROR(buffer->limits().CheckSize(BytesOf(tuple)));
    HR_RETURN_IF_ERROR(OwnBytes(&tuple));
    buffer->Put(ctx, std::move(tuple), std::move(*done));
    return OkStatus();
  }
  std::string Wanted(OpKernelContext*) const override { return "room in"; }
};
REGISTER_KERNEL_BUILDER(Name("Stage").Device(DEVICE_CPU), StageOp);

class UnstageOp : public BufferOp {
 public:
  using BufferOp::BufferOp;

 protected:
  Status Start(OpKernelContext* ctx, const Buffer& buffer,
               DoneCallback* done) override {
    buffer->Take(ctx, std::move(*done));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("Unstage").Device(DEVICE_CPU), UnstageOp);

class StagePeekOp : public BufferOp {
 public:
  using BufferOp::BufferOp;

 protected:
  Status Start(OpKernelContext* ctx, const Buffer& buffer,
               DoneCallback* done) override {
    int64_t index = 0;
    HR_RETURN_IF_ERROR(ReadInteger(ctx->input(0), "index", &index));
    if (index < 0) {
      return errors::InvalidArgument("StagePeek: index is ", index,
                                     ", wanted at least 0");
    }
    buffer->Peek(ctx, index, std::move(*done));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("StagePeek").Device(DEVICE_CPU), StagePeekOp);

class StageSizeOp : public BufferOp {
 public:
  using BufferOp::BufferOp;

 protected:
  Status Start(OpKernelContext* ctx, const Buffer& buffer,
               DoneCallback* done) override {
    ctx->set_output(
        0, Tensor::Scalar<int32_t>(static_cast<int32_t>(buffer->size())));
    (*done)();
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("StageSize").Device(DEVICE_CPU), StageSizeOp);

class StageClearOp : public BufferOp {
 public:
  using BufferOp::BufferOp;

 protected:
  Status Start(OpKernelContext* ctx, const Buffer& buffer,
               DoneCallback* done) override {
    buffer->Clear(ctx, std::move(*done));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("StageClear").Device(DEVICE_CPU), StageClearOp);

}  // namespace
}  // namespace headrace
