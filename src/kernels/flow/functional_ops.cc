// Kernels that call one function: calls, branches, gradients. Values go into a
// function and come out of it; a reference is read when the call is made. A
// branch that is not taken is not even compiled.
#include "headrace/mutex.h"
#include "headrace/tstring.h"
#include "kernels/flow/function_call.h"

namespace headrace {
namespace {

// output = f(args).
class CallOp : public FunctionCallKernel {
 public:
  explicit CallOp(OpKernelConstruction* ctx) : FunctionCallKernel(ctx) {
    OP_REQUIRES_OK(ctx, f_.Init(ctx, "f"));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    const FunctionRuntime::Function* f;
    OP_REQUIRES_OK_ASYNC(ctx, f_.Get(ctx, &f), done);
    CallForOutputs(ctx, *f, CopyInputs(ctx, 0), std::move(done));
  }

 private:
  FunctionAttr f_;
};
REGISTER_KERNEL_BUILDER(Name("PartitionedCall").Device(DEVICE_DEFAULT), CallOp);
REGISTER_KERNEL_BUILDER(Name("StatefulPartitionedCall").Device(DEVICE_DEFAULT),
                        CallOp);

// output = f(args), on the device that `target` names.
class RemoteCallOp : public FunctionCallKernel {
 public:
  explicit RemoteCallOp(OpKernelConstruction* ctx) : FunctionCallKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("f", &f_));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    const Tensor& target = ctx->input(0);
    OP_REQUIRES_ASYNC(ctx, target.dims() == 0,
                      errors::InvalidArgument("target must be a scalar, got ",
                                              target.shape().DebugString()),
                      done);
    OP_REQUIRES_ASYNC(
        ctx, ctx->functions() != nullptr,
        errors::FailedPrecondition("function '", f_.name,
                                   "' cannot be called outside a session"),
        done);
    const FunctionRuntime::Function* f;
    OP_REQUIRES_OK_ASYNC(ctx,
                         ctx->functions()->Instantiate(
                             f_, std::string(target.scalar<tstring>()), &f),
                         done);
    OP_REQUIRES_OK_ASYNC(ctx, CheckResults(*ctx, *f), done);
    CopyBetween(ctx->device(), f->device(), CopyInputs(ctx, 1),
                [ctx, f, done = std::move(done)](const Status& s,
                                                 std::vector<Tensor> args) {
                  if (!s.ok()) return EndCallKernel(ctx, s, {}, done);
                  CallThere(ctx, *f, std::move(args), done);
                });
  }

 private:
  static void CallThere(OpKernelContext* ctx,
                        const FunctionRuntime::Function& f,
                        std::vector<Tensor> args, const DoneCallback& done) {
    ctx->functions()->Call(
        f, ctx->op_kernel(), std::move(args),
        [ctx, there = f.device(), done](const Status& s,
                                        std::vector<Tensor> results) {
          if (!s.ok()) return EndCallKernel(ctx, s, {}, done);
          CopyBetween(there, ctx->device(), std::move(results),
                      [ctx, done](const Status& s, std::vector<Tensor> here) {
                        EndCallKernel(ctx, s, std::move(here), done);
                      });
        });
  }

  NameAttrList f_;
};
REGISTER_KERNEL_BUILDER(
    Name("RemoteCall").Device(DEVICE_DEFAULT).HostMemory("target"),
    RemoteCallOp);

// output = then_branch(input) if cond holds, else_branch(input) otherwise.
class IfOp : public FunctionCallKernel {
 public:
  explicit IfOp(OpKernelConstruction* ctx) : FunctionCallKernel(ctx) {
    OP_REQUIRES_OK(ctx, then_.Init(ctx, "then_branch"));
    OP_REQUIRES_OK(ctx, else_.Init(ctx, "else_branch"));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    bool cond;
    OP_REQUIRES_OK_ASYNC(ctx, TensorAsBool(ctx->input(0), &cond), done);
    const FunctionRuntime::Function* f;
    OP_REQUIRES_OK_ASYNC(ctx, (cond ? then_ : else_).Get(ctx, &f), done);
    CallForOutputs(ctx, *f, CopyInputs(ctx, 1), std::move(done));
  }

 private:
  FunctionAttr then_, else_;
};
REGISTER_KERNEL_BUILDER(Name("If").Device(DEVICE_DEFAULT).HostMemory("cond"),
                        IfOp);
REGISTER_KERNEL_BUILDER(
    Name("StatelessIf").Device(DEVICE_DEFAULT).HostMemory("cond"), IfOp);
REGISTER_KERNEL_BUILDER(Name("_If").Device(DEVICE_DEFAULT).HostMemory("cond"),
                        IfOp);

// output = branches[branch_index](input); any other index, negative ones too,
// means the last branch.
class CaseOp : public FunctionCallKernel {
 public:
  explicit CaseOp(OpKernelConstruction* ctx) : FunctionCallKernel(ctx) {
    std::vector<NameAttrList> branches;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("branches", &branches));
    OP_REQUIRES(ctx, !branches.empty(),
                errors::InvalidArgument("there must be a branch"));
    for (NameAttrList& f : branches) branches_.emplace_back(std::move(f));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    const Tensor& index = ctx->input(0);
    OP_REQUIRES_ASYNC(
        ctx, index.dims() == 0,
        errors::InvalidArgument("branch_index must be a scalar, got ",
                                index.shape().DebugString()),
        done);
    const auto count = static_cast<int32_t>(branches_.size());
    int32_t branch = index.scalar<int32_t>();
    if (branch < 0 || branch >= count) branch = count - 1;
    const FunctionRuntime::Function* f;
    OP_REQUIRES_OK_ASYNC(ctx, branches_[branch].Get(ctx, &f), done);
    CallForOutputs(ctx, *f, CopyInputs(ctx, 1), std::move(done));
  }

 private:
  std::vector<FunctionAttr> branches_;
};
REGISTER_KERNEL_BUILDER(
    Name("Case").Device(DEVICE_DEFAULT).HostMemory("branch_index"), CaseOp);
REGISTER_KERNEL_BUILDER(
    Name("StatelessCase").Device(DEVICE_DEFAULT).HostMemory("branch_index"),
    CaseOp);

// The gradients of f at its arguments, given those of its results: by the
// function that the library names for it, or one that is made of it.
class SymbolicGradientOp : public FunctionCallKernel {
 public:
  explicit SymbolicGradientOp(OpKernelConstruction* ctx)
      : FunctionCallKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("f", &f_));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    OP_REQUIRES_ASYNC(
        ctx, ctx->functions() != nullptr,
        errors::FailedPrecondition("function '", f_.name,
                                   "' has no gradient outside a session"),
        done);
    StatusOr<const FunctionRuntime::Function*> f = Gradient(ctx);
    OP_REQUIRES_OK_ASYNC(ctx, f.status(), done);
    CallForOutputs(ctx, **f, CopyInputs(ctx, 0), std::move(done));
  }

 private:
  // Made when it is asked for the first time.
  StatusOr<const FunctionRuntime::Function*> Gradient(OpKernelContext* ctx) {
    MutexLock lock(&mu_);
    if (gradient_ == nullptr) {
      HR_ASSIGN_OR_RETURN(const NameAttrList gradient,
                          ctx->functions()->Gradient(f_));
      HR_RETURN_IF_ERROR(ctx->functions()->Instantiate(
          gradient, ctx->device()->name(), &gradient_));
    }
    return gradient_;
  }

  NameAttrList f_;
  Mutex mu_;
  const FunctionRuntime::Function* gradient_ GUARDED_BY(mu_) = nullptr;
};
REGISTER_KERNEL_BUILDER(Name("SymbolicGradient").Device(DEVICE_DEFAULT),
                        SymbolicGradientOp);

}  // namespace
}  // namespace headrace
