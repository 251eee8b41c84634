// A mutex between nodes, what tf.CriticalSection is made of. MutexLock waits
// without a thread; its output holds the lock until the last copy of it is
// gone. ConsumeMutexLock is there so that somebody reads it to the end.
#include <memory>

#include "framework/tensor/variant.h"
#include "kernels/lib/resource_op.h"
#include "kernels/lib/waiting_resource.h"

namespace headrace {
namespace {

// Thread-safe.
class MutexResource : public WaitingResource {
 public:
  explicit MutexResource(std::string name) : name_(std::move(name)) {}
  std::string DebugString() const override {
    return absl::StrCat("mutex '", name_, "'");
  }

  // The lock, held as long as the object lives.
  class Holder {
   public:
    explicit Holder(RefPtr<MutexResource> mutex) : mutex_(std::move(mutex)) {}
    ~Holder() { mutex_->Release(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

   private:
    const RefPtr<MutexResource> mutex_;
  };

  void Acquire(OpKernelContext* ctx, AsyncOpKernel::DoneCallback done) {
    Run(
        ctx,
        [this, ctx]() REQUIRES(mu_) {
          if (is_locked_) return false;
          is_locked_ = true;
          Tensor lock(DT_VARIANT, TensorShape());
          lock.scalar<Variant>() = Variant::Of(
              std::make_shared<Holder>(RefPtr<MutexResource>::NewRef(this)),
              "tensorflow::MutexLock");
          ctx->set_output(0, std::move(lock));
          return true;
        },
        std::move(done));
  }

 private:
  void Release() {
    Change([this]() REQUIRES(mu_) { is_locked_ = false; });
  }

  const std::string name_;
  bool is_locked_ GUARDED_BY(mu_) = false;
};

class MutexOp : public ResourceOp<MutexResource> {
 public:
  using ResourceOp<MutexResource>::ResourceOp;

 protected:
  Status Make(OpKernelContext*, RefPtr<MutexResource>* out) override {
    *out = MakeRef<MutexResource>(resource_name());
    return OkStatus();
  }
  Status Verify(const OpKernelContext&, const MutexResource&) override {
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("MutexV2").Device(DEVICE_CPU), MutexOp);

class MutexLockOp : public AsyncOpKernel {
 public:
  explicit MutexLockOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    expensive_ = false;
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<MutexResource> mutex;
    OP_REQUIRES_OK_ASYNC(
        ctx,
        LookupInput<MutexResource>(*ctx, 0, ctx->resource_manager(), &mutex),
        done);
    mutex->Acquire(ctx, std::move(done));
  }
  std::string WaitsFor(OpKernelContext* ctx) const override {
    RefPtr<MutexResource> mutex;
    return LookupInput<MutexResource>(*ctx, 0, ctx->resource_manager(), &mutex)
                   .ok()
               ? mutex->DebugString()
               : "";
  }
};
REGISTER_KERNEL_BUILDER(Name("MutexLock").Device(DEVICE_CPU), MutexLockOp);

class ConsumeMutexLockOp : public OpKernel {
 public:
  explicit ConsumeMutexLockOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& lock = ctx->input(0);
    OP_REQUIRES(
        ctx,
        lock.NumElements() == 1 &&
            lock.data<Variant>()[0]
                    .Get<std::shared_ptr<MutexResource::Holder>>() != nullptr,
        errors::InvalidArgument("mutex_lock must be the output of MutexLock"));
  }
};
REGISTER_KERNEL_BUILDER(Name("ConsumeMutexLock").Device(DEVICE_CPU),
                        ConsumeMutexLockOp);

}  // namespace
}  // namespace headrace
