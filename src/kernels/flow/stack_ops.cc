// Stacks: tensors kept by the forward pass of a loop for its backward pass,
// last in, first out. A stack belongs to the step that made it; a handle of
// the V2 ops owns it, a reference of the old ops names it in the step's
// resources. A negative max_size means no limit.
//
// swap_memory says that values may be moved off the device; on a CPU there is
// nowhere to move them.
#include <atomic>
#include <utility>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {
namespace {

constexpr char kContainer[] = "_stacks";

// Thread-safe.
class Stack : public ResourceBase {
 public:
  Stack(std::string name, DataType dtype, int64_t max_size)
      : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}

  std::string DebugString() const override {
    return absl::StrCat("Stack ", name_, " of ", DataTypeString(dtype_));
  }
  DataType dtype() const { return dtype_; }

  Status Push(const Tensor& value) {
    if (value.dtype() != dtype_) {
      return errors::InvalidArgument("Must have type ", DataTypeString(dtype_),
                                     " but got ",
                                     DataTypeString(value.dtype()));
    }
    MutexLock lock(&mu_);
    HR_RETURN_IF_ERROR(CheckOpen());
    if (max_size_ >= 0 && static_cast<int64_t>(values_.size()) >= max_size_) {
      return errors::InvalidArgument(
          "Stack[", name_, "] overflowed its max_size (", max_size_, ")");
    }
    values_.push_back(value);
    return OkStatus();
  }

  Status Pop(Tensor* value) {
    MutexLock lock(&mu_);
    HR_RETURN_IF_ERROR(CheckOpen());
    if (values_.empty()) {
      return errors::InvalidArgument("Stack[", name_,
                                     "] is empty when calling Pop().");
    }
    *value = std::move(values_.back());
    values_.pop_back();
    return OkStatus();
  }

  void Close() {
    std::vector<Tensor> gone;
    MutexLock lock(&mu_);
    closed_ = true;
    gone.swap(values_);
  }

  // As TensorArray::string_handle.
  Tensor string_handle;
  Mutex string_handle_mu;

 private:
  Status CheckOpen() const REQUIRES(mu_) {
    if (!closed_) return OkStatus();
    return errors::InvalidArgument("Stack[", name_,
                                   "] has already been closed.");
  }

  const std::string name_;
  const DataType dtype_;
  const int64_t max_size_;
  Mutex mu_;
  std::vector<Tensor> values_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
};

Status GetStack(const OpKernelContext& ctx, RefPtr<Stack>* out) {
  return LookupInput<Stack>(ctx, 0, ctx.step_resources(), out);
}

class StackOp : public OpKernel {
 public:
  explicit StackOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("elem_type", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("stack_name", &stack_name_));
    if (stack_name_.empty()) stack_name_ = name();
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    int64_t max_size = -1;
    if (ctx->num_inputs() == 1) {
      const Tensor& t = ctx->input(0);
      OP_REQUIRES(ctx, t.dims() == 0,
                  errors::InvalidArgument(
                      "Stack size must be a scalar, but had shape: ",
                      t.shape().DebugString()));
      max_size = t.scalar<int32_t>();
    }
    auto stack = MakeRef<Stack>(stack_name_, dtype_, max_size);
    static std::atomic<int64_t> counter{0};
    const std::string name =
        absl::StrCat(stack_name_, "_", counter.fetch_add(1));
    if (output_type(0) == DT_RESOURCE) {
      Tensor t(DT_RESOURCE, TensorShape());
      ResourceHandle& h = t.scalar<ResourceHandle>();
      h = ctx->step_resources()->MakeHandle<Stack>(ctx->device()->name(),
                                                   kContainer, name);
      h.resource = std::move(stack);
      ctx->set_output(0, std::move(t));
      return;
    }
    stack->string_handle = MakeStringHandle(kContainer, name);
    OP_REQUIRES_OK(ctx, ctx->step_resources()->Create(kContainer, name, stack));
    ctx->set_output_ref(0, &stack->string_handle_mu, &stack->string_handle);
  }

 private:
  DataType dtype_ = DT_INVALID;
  std::string stack_name_;
};
REGISTER_KERNEL_BUILDER(Name("Stack").Device(DEVICE_CPU), StackOp);
REGISTER_KERNEL_BUILDER(Name("StackV2").Device(DEVICE_CPU), StackOp);

class StackPushOp : public OpKernel {
 public:
  explicit StackPushOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Stack> stack;
    OP_REQUIRES_OK(ctx, GetStack(*ctx, &stack));
    OP_REQUIRES_OK(ctx, stack->Push(ctx->input(1)));
    ctx->set_output(0, ctx->input(1));
  }
};
REGISTER_KERNEL_BUILDER(Name("StackPush").Device(DEVICE_CPU), StackPushOp);
REGISTER_KERNEL_BUILDER(Name("StackPushV2").Device(DEVICE_CPU), StackPushOp);

class StackPopOp : public OpKernel {
 public:
  explicit StackPopOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Stack> stack;
    OP_REQUIRES_OK(ctx, GetStack(*ctx, &stack));
    OP_REQUIRES(ctx, stack->dtype() == output_type(0),
                errors::InvalidArgument(
                    "Must have type ", DataTypeString(stack->dtype()),
                    " but got ", DataTypeString(output_type(0))));
    Tensor value;
    OP_REQUIRES_OK(ctx, stack->Pop(&value));
    ctx->set_output(0, std::move(value));
  }
};
REGISTER_KERNEL_BUILDER(Name("StackPop").Device(DEVICE_CPU), StackPopOp);
REGISTER_KERNEL_BUILDER(Name("StackPopV2").Device(DEVICE_CPU), StackPopOp);

class StackCloseOp : public OpKernel {
 public:
  explicit StackCloseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Stack> stack;
    OP_REQUIRES_OK(ctx, GetStack(*ctx, &stack));
    stack->Close();
  }
};
REGISTER_KERNEL_BUILDER(Name("StackClose").Device(DEVICE_CPU), StackCloseOp);
REGISTER_KERNEL_BUILDER(Name("StackCloseV2").Device(DEVICE_CPU), StackCloseOp);

}  // namespace
}  // namespace headrace
