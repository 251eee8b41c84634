// Kernels that a graph needs to run at all. The tests of the runtime are linked
// without the library's kernels: what they find is not a kernel's fault.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "framework/kernel/function_runtime.h"
#include "framework/tensor/stored_constant.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class TestKernel : public OpKernel {
 public:
  explicit TestKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
};

class TestConst : public TestKernel, public StoredConstant {
 public:
  explicit TestConst(OpKernelConstruction* ctx) : TestKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("value", &value_));
  }
  void Compute(OpKernelContext* ctx) override { ctx->set_output(0, value_); }
  const Tensor* const_tensor() const override {
    const Tensor* value = nullptr;
    return aligned_.Get(value_, &value).ok() ? value : nullptr;
  }
  const Tensor& stored_tensor() const override { return value_; }

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant = this;
  }

 private:
  Tensor value_;
  AlignedCopy aligned_;
};

class TestArg : public TestKernel {
 public:
  explicit TestArg(OpKernelConstruction* ctx) : TestKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("index", &index_));
  }
  void Compute(OpKernelContext* ctx) override {
    Tensor own;
    if (ctx->call_frame()->TakeArg(index_, &own)) {
      return ctx->set_output(0, std::move(own));
    }
    const Tensor* const value = ctx->call_frame()->GetArg(index_);
    OP_REQUIRES(ctx, value != nullptr,
                errors::InvalidArgument("argument ", index_, " was not given"));
    ctx->set_output(0, *value);
  }

 private:
  int32_t index_ = 0;
};

class TestRetval : public TestKernel {
 public:
  explicit TestRetval(OpKernelConstruction* ctx) : TestKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("index", &index_));
  }
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, ctx->call_frame()->SetRetval(index_, ctx->input(0)));
  }

 private:
  int32_t index_ = 0;
};

void Pass(OpKernelContext* ctx, int input, int output) {
  if (ctx->input_is_ref(input)) {
    ctx->forward_ref_input_to_ref_output(input, output);
  } else {
    ctx->set_output(output, ctx->input(input));
  }
}

class TestPass : public TestKernel {
 public:
  using TestKernel::TestKernel;
  void Compute(OpKernelContext* ctx) override { Pass(ctx, 0, 0); }
};

class TestSwitch : public TestKernel {
 public:
  using TestKernel::TestKernel;
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, ctx->input(1).dims() == 0,
                errors::InvalidArgument("The second input must be a scalar"));
    Pass(ctx, 0, ctx->input(1).scalar<bool>() ? 1 : 0);
  }
};

class TestMerge : public TestKernel {
 public:
  using TestKernel::TestKernel;
  void Compute(OpKernelContext* ctx) override {
    int i = 0;
    while (!ctx->input_is_ref(i) && !ctx->input(i).IsInitialized()) ++i;
    Pass(ctx, i, 0);
    ctx->set_output(1, Tensor::Scalar<int32_t>(i));
  }
};

class TestReshape : public TestKernel {
 public:
  using TestKernel::TestKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& sizes = ctx->input(1);
    TensorShape shape;
    for (int64_t i = 0; i < sizes.NumElements(); ++i) {
      shape.AddDim(sizes.data<int32_t>()[i]);
    }
    Tensor view;
    ASSERT_TRUE(view.CopyFrom(ctx->input(0), shape));
    ctx->set_output(0, std::move(view));
  }
};

class TestCall : public AsyncOpKernel {
 public:
  explicit TestCall(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("f", &f_));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    const FunctionRuntime::Function* f = nullptr;
    OP_REQUIRES_OK_ASYNC(
        ctx, ctx->functions()->Instantiate(f_, ctx->device()->name(), &f),
        done);
    std::vector<Tensor> args;
    for (int i = 0; i < ctx->num_inputs(); ++i) args.push_back(ctx->input(i));
    ctx->functions()->Call(
        *f, *this, std::move(args),
        [ctx, done](const Status& s, const std::vector<Tensor>& results) {
          if (!s.ok()) ctx->CtxFailure(s);
          for (size_t i = 0; s.ok() && i < results.size(); ++i) {
            ctx->set_output(static_cast<int>(i), results[i]);
          }
          done();
        });
  }

 private:
  NameAttrList f_;
};

// Of ops that tests only plan, or that the executor runs without a kernel.
class TestNeverCalled : public TestKernel {
 public:
  using TestKernel::TestKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->CtxFailure(errors::Internal(name(), " was called"));
  }
};

REGISTER_KERNEL_BUILDER(Name("Const").Device(DEVICE_CPU), TestConst);
REGISTER_KERNEL_BUILDER(Name("_Arg").Device(DEVICE_CPU), TestArg);
REGISTER_KERNEL_BUILDER(Name("_Retval").Device(DEVICE_CPU), TestRetval);
REGISTER_KERNEL_BUILDER(Name("Identity").Device(DEVICE_CPU), TestPass);
REGISTER_KERNEL_BUILDER(Name("Enter").Device(DEVICE_CPU), TestPass);
REGISTER_KERNEL_BUILDER(Name("Exit").Device(DEVICE_CPU), TestPass);
REGISTER_KERNEL_BUILDER(Name("NextIteration").Device(DEVICE_CPU), TestPass);
REGISTER_KERNEL_BUILDER(Name("LoopCond").Device(DEVICE_CPU), TestPass);
REGISTER_KERNEL_BUILDER(Name("Switch").Device(DEVICE_CPU), TestSwitch);
REGISTER_KERNEL_BUILDER(Name("Merge").Device(DEVICE_CPU), TestMerge);
REGISTER_KERNEL_BUILDER(Name("Reshape").Device(DEVICE_CPU), TestReshape);
REGISTER_KERNEL_BUILDER(Name("PartitionedCall").Device(DEVICE_CPU), TestCall);
REGISTER_KERNEL_BUILDER(Name("NoOp").Device(DEVICE_CPU), TestNeverCalled);
REGISTER_KERNEL_BUILDER(Name("ControlTrigger").Device(DEVICE_CPU),
                        TestNeverCalled);
REGISTER_KERNEL_BUILDER(Name("Fill").Device(DEVICE_CPU), TestNeverCalled);
REGISTER_KERNEL_BUILDER(Name("Neg").Device(DEVICE_CPU), TestNeverCalled);
REGISTER_KERNEL_BUILDER(Name("Shape").Device(DEVICE_CPU), TestNeverCalled);
REGISTER_KERNEL_BUILDER(Name("_Send").Device(DEVICE_CPU), TestNeverCalled);
REGISTER_KERNEL_BUILDER(Name("_Recv").Device(DEVICE_CPU), TestNeverCalled);

TEST(RuntimeTestKernelsTest, OfOthersThereAreNone) {
  for (const KernelRegistry::Info& k : KernelRegistry::Global()->All()) {
    EXPECT_TRUE(absl::StartsWith(k.kernel_class, "Test") ||
                absl::StartsWith(k.op, "Step") ||
                absl::StartsWith(k.op, "Placer") ||
                absl::StrContains(k.op, "Test"))
        << k.op << ": " << k.kernel_class;
  }
}

}  // namespace
}  // namespace headrace
