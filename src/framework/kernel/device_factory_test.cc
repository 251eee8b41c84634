#include "headrace/device_factory.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/thread_pool.h"
#include "framework/kernel/host_device.h"
#include "headrace/types.h"

namespace headrace {
namespace {

// Does what the test at hand says; nothing otherwise.
std::function<Status(const DeviceOptions&,
                     std::vector<std::unique_ptr<Device>>*)>
    make_devices;

class TestFactory : public DeviceFactory {
 public:
  Status CreateDevices(const DeviceOptions& options,
                       std::vector<std::unique_ptr<Device>>* devices) override {
    return make_devices ? make_devices(options, devices) : OkStatus();
  }
};
REGISTER_DEVICE_FACTORY("TESTFACTORY", 70, TestFactory);

class NeverFactory : public DeviceFactory {
 public:
  Status CreateDevices(const DeviceOptions&,
                       std::vector<std::unique_ptr<Device>>*) override {
    return errors::Internal("a factory of lower priority was asked");
  }
};
REGISTER_DEVICE_FACTORY("TESTFACTORY", 69, NeverFactory);
REGISTER_DEVICE_FACTORY("TESTFACTORY", 70, NeverFactory);

// The library's own is in device/cpu/, which is not linked here.
class TestCpuFactory : public DeviceFactory {
 public:
  Status CreateDevices(const DeviceOptions& options,
                       std::vector<std::unique_ptr<Device>>* devices) override {
    for (int i = 0; i < options.CountOf(DEVICE_CPU, 1); ++i) {
      devices->push_back(std::make_unique<HostDevice>(
          MakeDeviceAttributes(options, DEVICE_CPU, i), options.pool));
    }
    return OkStatus();
  }
};
REGISTER_DEVICE_FACTORY(DEVICE_CPU, kCpuDevicePriority, TestCpuFactory);

class DeviceFactoryTest : public testing::Test {
 protected:
  DeviceFactoryTest() {
    options_.name_prefix = "/job:a/replica:0/task:1";
    options_.pool = ThreadPool::Global();
  }
  ~DeviceFactoryTest() override { make_devices = nullptr; }

  static std::unique_ptr<Device> Make(DeviceAttributes a) {
    return std::make_unique<HostDevice>(std::move(a), ThreadPool::Global());
  }
  Status Create() {
    return DeviceFactories::CreateDevices(options_, &devices_);
  }

  DeviceOptions options_;
  std::vector<std::unique_ptr<Device>> devices_;
};

TEST_F(DeviceFactoryTest, CpusComeFirstWhateverTheirPriority) {
  make_devices = [](const DeviceOptions& o, auto* devices) {
    devices->push_back(Make(MakeDeviceAttributes(o, "TESTFACTORY", 0)));
    return OkStatus();
  };
  options_.counts[DEVICE_CPU] = 2;
  ASSERT_EQ(Create(), OkStatus());
  ASSERT_EQ(devices_.size(), 3u);
  EXPECT_EQ(devices_[0]->name(), "/job:a/replica:0/task:1/device:CPU:0");
  EXPECT_EQ(devices_[1]->name(), "/job:a/replica:0/task:1/device:CPU:1");
  EXPECT_EQ(devices_[2]->name(),
            "/job:a/replica:0/task:1/device:TESTFACTORY:0");
  EXPECT_NE(devices_[0]->attributes().incarnation, 0u);
  EXPECT_NE(devices_[0]->attributes().incarnation,
            devices_[1]->attributes().incarnation);
}

TEST_F(DeviceFactoryTest, TheFactoryOfHighestPriorityCountsThenTheFirst) {
  EXPECT_EQ(DeviceFactories::PriorityOf("TESTFACTORY"), 70);
  EXPECT_EQ(Create(), OkStatus());
}

TEST_F(DeviceFactoryTest, TheCpuRanksBehindATypeOfWhichNothingIsKnown) {
  EXPECT_EQ(DeviceFactories::PriorityOf(DEVICE_CPU), kCpuDevicePriority);
  EXPECT_GT(DeviceFactories::PriorityOf("NOFACTORY"), kCpuDevicePriority);
}

TEST_F(DeviceFactoryTest, ADeviceOfAnotherTypeOrATakenNameIsRefused) {
  for (const char* type : {"CPU", "OTHER"}) {
    make_devices = [type](const DeviceOptions& o, auto* devices) {
      devices->push_back(Make(MakeDeviceAttributes(o, type, 7)));
      return OkStatus();
    };
    EXPECT_EQ(Create().code(), absl::StatusCode::kInvalidArgument) << type;
  }
  make_devices = [](const DeviceOptions& o, auto* devices) {
    for (int i = 0; i < 2; ++i) {
      devices->push_back(Make(MakeDeviceAttributes(o, "TESTFACTORY", 0)));
    }
    return OkStatus();
  };
  EXPECT_EQ(Create().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(devices_.empty());
}

TEST_F(DeviceFactoryTest, WhatAFactoryThrowsIsAnError) {
  make_devices = [](const DeviceOptions&, auto*) -> Status {
    throw std::bad_alloc();
  };
  const Status s = Create();
  EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(s.message().find("TESTFACTORY"), absl::string_view::npos) << s;
}

}  // namespace
}  // namespace headrace
