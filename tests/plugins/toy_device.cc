// A plug-in library with a type of device, TOY, and kernels for it. A session
// has TOYs if its device_count asks for some, up to kMachineHas. They compute
// in the host's memory, and count what they compute.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "framework/kernel/host_device.h"
#include "headrace/device_factory.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

constexpr char kType[] = "TOY";
constexpr int kMachineHas = 4;

std::atomic<int> calls{0};

class ToyFactory : public DeviceFactory {
 public:
  Status CreateDevices(const DeviceOptions& options,
                       std::vector<std::unique_ptr<Device>>* devices) override {
    const int count = options.CountOf(kType, 0);
    if (count > kMachineHas) {
      return errors::InvalidArgument("device_count of TOY is ", count,
                                     ", this machine has ", kMachineHas);
    }
    for (int i = 0; i < count; ++i) {
      DeviceAttributes a = MakeDeviceAttributes(options, kType, i);
      a.physical_device_desc = "a toy";
      devices->push_back(
          std::make_unique<HostDevice>(std::move(a), options.pool));
    }
    return OkStatus();
  }
};
REGISTER_DEVICE_FACTORY(kType, 100, ToyFactory);

// An op that runs nowhere else.
REGISTER_OP("ToyTriple")
    .Input("x: int32")
    .Output("y: int32")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      return OkStatus();
    });

template <int kFactor>
class MultiplyOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      y->data<int32_t>()[i] = kFactor * x.data<int32_t>()[i];
    }
    ++calls;
  }
};
REGISTER_KERNEL_BUILDER(Name("ToyTriple").Device(kType), MultiplyOp<3>);
REGISTER_KERNEL_BUILDER(Name("Neg").Device(kType).TypeConstraint<int32_t>("T"),
                        MultiplyOp<-1>);

class FailOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->CtxFailure(errors::DataLoss("a toy broke"));
  }
};
REGISTER_KERNEL_BUILDER(Name("Abs").Device(kType).TypeConstraint<int32_t>("T"),
                        FailOp);

// What carries a control edge from or to the device.
class TokenOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, Tensor(DT_FLOAT));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("Const").Device(kType).TypeConstraint<float>("dtype"), TokenOp);
class PassOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("Identity").Device(kType), PassOp);

}  // namespace
}  // namespace headrace

extern "C" int toy_device_calls() { return headrace::calls.load(); }
