#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "headrace/device_factory.h"
#include "headrace/types.h"

namespace headrace {
namespace {

TEST(CpuDeviceTest, AsManyAsAreWantedOneUnlessSaid) {
  for (const int wanted : {0, 1, 3}) {
    DeviceOptions options;
    options.name_prefix = "/job:a/replica:0/task:1";
    options.pool = ThreadPool::Global();
    if (wanted > 0) options.counts[DEVICE_CPU] = wanted;
    std::vector<std::unique_ptr<Device>> devices;
    ASSERT_EQ(DeviceFactories::CreateDevices(options, &devices), OkStatus());
    ASSERT_EQ(devices.size(), wanted > 0 ? wanted : 1);
    for (size_t i = 0; i < devices.size(); ++i) {
      EXPECT_EQ(devices[i]->name(),
                StrCat(options.name_prefix, "/device:CPU:", i));
      EXPECT_TRUE(devices[i]->IsHostMemory());
      EXPECT_GT(devices[i]->attributes().memory_limit, 0);
    }
  }
}

}  // namespace
}  // namespace headrace
