// Values on a device with a memory of its own: what is copied, and when.
#include <gtest/gtest.h>

#include <atomic>

#include "eager/op.h"
#include "headrace/device_factory.h"

namespace headrace {
namespace {

std::atomic<int> copies_in{0}, copies_out{0};

// Its memory is the host's in truth, but every crossing copies.
class FarDevice : public Device {
 public:
  using Device::Device;
  Allocator* allocator(MemoryType) override { return CpuAllocator(); }
  bool IsHostMemory() const override { return false; }
  void CopyFromHost(const Tensor& host, Tensor* device,
                    DoneCallback done) override {
    ++copies_in;
    done(host.DeepCopyTo(device));
  }
  void CopyToHost(const Tensor& device, Tensor* host,
                  DoneCallback done) override {
    ++copies_out;
    if (device.dtype() == DT_DOUBLE) {
      return done(errors::DataLoss("double is lost on the way"));
    }
    done(device.DeepCopyTo(host));
  }
};

class FarFactory : public DeviceFactory {
 public:
  Status CreateDevices(const DeviceOptions& options,
                       std::vector<std::unique_ptr<Device>>* devices) override {
    for (int i = 0; i < options.CountOf("FAR", 0); ++i) {
      devices->push_back(std::make_unique<FarDevice>(
          MakeDeviceAttributes(options, "FAR", i), options.pool));
    }
    return OkStatus();
  }
};
REGISTER_DEVICE_FACTORY("FAR", 100, FarFactory);

// x + y, whose y is in the host's memory, as is the sum for int32.
template <typename T>
class FarAddOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, Tensor::Scalar<T>(ctx->input(0).scalar<T>() +
                                         ctx->input(1).scalar<T>()));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("AddV2").Device("FAR").TypeConstraint<float>("T").HostMemory("y"),
    FarAddOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("AddV2").Device("FAR").TypeConstraint<double>("T").HostMemory("y"),
    FarAddOp<double>);
REGISTER_KERNEL_BUILDER(Name("AddV2")
                            .Device("FAR")
                            .TypeConstraint<int32_t>("T")
                            .HostMemory("x")
                            .HostMemory("y")
                            .HostMemory("z"),
                        FarAddOp<int32_t>);

class FarDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    copies_in = copies_out = 0;
    EagerContext::Options options;
    (*options.config.mutable_device_count())["FAR"] = 2;
    auto made = EagerContext::Create(options);
    ASSERT_TRUE(made.ok()) << made.status();
    context_ = std::move(*made);
  }

  template <typename T>
  RefPtr<TensorHandle> Host(T value) {
    return MakeRef<TensorHandle>(Tensor::Scalar<T>(value));
  }
  Status Add(const RefPtr<TensorHandle>& x, const RefPtr<TensorHandle>& y,
             const char* device, RefPtr<TensorHandle>* sum) {
    EagerOp op;
    HR_RETURN_IF_ERROR(op.Reset(context_, "AddV2"));
    HR_RETURN_IF_ERROR(op.SetDevice(device));
    op.AddInput(x);
    op.AddInput(y);
    std::vector<RefPtr<TensorHandle>> outputs;
    HR_RETURN_IF_ERROR(op.Execute(1, &outputs));
    *sum = outputs[0];
    return OkStatus();
  }

  std::shared_ptr<EagerContext> context_;
};

TEST_F(FarDeviceTest, OnlyWhatAKernelWantsThereIsCopied) {
  const auto a = Host<float>(1), b = Host<float>(2);
  RefPtr<TensorHandle> sum;
  // By priority it is the device for an op without one.
  ASSERT_EQ(Add(a, b, "", &sum), OkStatus());
  EXPECT_EQ(copies_in, 1);  // of x
  EXPECT_EQ(copies_out, 0);
  EXPECT_EQ(sum->DeviceName(), "/job:localhost/replica:0/task:0/device:FAR:0");
  EXPECT_EQ(sum->BackingDeviceName(), sum->DeviceName());
  // The sum is there already; as y it has to come back.
  RefPtr<TensorHandle> more;
  ASSERT_EQ(Add(sum, b, "", &more), OkStatus());
  EXPECT_EQ(copies_in, 1);
  ASSERT_EQ(Add(sum, sum, "", &more), OkStatus());
  EXPECT_EQ(copies_in, 1);
  EXPECT_EQ(copies_out, 1);
  Tensor value;
  ASSERT_EQ(more->ToHost(&value), OkStatus());
  EXPECT_EQ(value.scalar<float>(), 6);
  EXPECT_EQ(copies_out, 2);
  // From one device to another, through the host.
  ASSERT_EQ(Add(sum, b, "/device:FAR:1", &more), OkStatus());
  EXPECT_EQ(copies_in, 2);
  EXPECT_EQ(copies_out, 3);
  ASSERT_EQ(Add(sum, b, "/cpu:0", &more), OkStatus());
  EXPECT_EQ(copies_out, 4);
  EXPECT_TRUE(more->in_host_memory());
}

TEST_F(FarDeviceTest, ResultsInHostMemoryStayThere) {
  const auto a = Host<int32_t>(1), b = Host<int32_t>(2);
  RefPtr<TensorHandle> sum;
  ASSERT_EQ(Add(a, b, "", &sum), OkStatus());
  EXPECT_EQ(sum->DeviceName(), "/job:localhost/replica:0/task:0/device:FAR:0");
  EXPECT_EQ(sum->BackingDeviceName(), HostDeviceName());
  Tensor value;
  ASSERT_EQ(sum->ToHost(&value), OkStatus());
  EXPECT_EQ(value.scalar<int32_t>(), 3);
  ASSERT_EQ(Add(sum, sum, "", &sum), OkStatus());
  EXPECT_EQ(copies_in + copies_out, 0);
}

TEST_F(FarDeviceTest, PoliciesAndFailuresOfCopies) {
  context_->SetThreadPolicy(PlacementPolicy::kExplicit);
  RefPtr<TensorHandle> sum;
  const Status s = Add(Host<float>(1), Host<float>(2), "/device:FAR:0", &sum);
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
  EXPECT_EQ(copies_in, 0);
  context_->SetThreadPolicy(PlacementPolicy::kSilent);
  ASSERT_EQ(Add(Host<double>(1), Host<double>(2), "", &sum), OkStatus());
  Tensor value;
  EXPECT_EQ(sum->ToHost(&value).message(), "double is lost on the way");
  RefPtr<TensorHandle> more;
  EXPECT_EQ(Add(sum, sum, "/cpu:0", &more).message(),
            "double is lost on the way");
}

}  // namespace
}  // namespace headrace
