#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "device/gpu/host/host_platform.h"
#include "device/gpu/launch.h"
#include "device/gpu/stream_executor.h"
#include "headrace/mutex.h"

namespace headrace::gpu {
namespace {

struct Registered {
  const char* name = nullptr;
  Platform* (*create)() = nullptr;
};
constinit Registered g_registered;  // set while the library is loaded

int64_t NumberFrom(const char* variable, int64_t otherwise) {
  const char* const text = std::getenv(variable);
  int64_t value;
  return text != nullptr && absl::SimpleAtoi(text, &value) && value > 0
             ? value
             : otherwise;
}

Platform* Choose() {
  const char* const wanted = std::getenv("HEADRACE_GPU_PLATFORM");
  if (wanted != nullptr && std::string(wanted) == "host") {
    HostPlatformOptions options;
    options.device_count = static_cast<int>(
        std::min<int64_t>(64, NumberFrom("HEADRACE_GPU_HOST_DEVICES", 1)));
    options.memory_bytes =
        std::min<int64_t>(NumberFrom("HEADRACE_GPU_HOST_MEMORY_MB", 1024),
                          int64_t{1} << 20)
        << 20;
    return NewHostPlatform(options).release();
  }
  return g_registered.create == nullptr ? nullptr : g_registered.create();
}

}  // namespace

Platform* CurrentPlatform() {
  static Platform* const platform = Choose();
  return platform;
}

PlatformRegistrar::PlatformRegistrar(const char* name, Platform* (*create)()) {
  g_registered = {name, create};
}

LaunchDims ElementsDims(const DeviceDescription& device, int64_t count) {
  constexpr int64_t kThreads = 256;
  const int64_t most = int64_t{std::max(device.multiprocessors, 1)} * 32;
  LaunchDims dims;
  dims.block.x = kThreads;
  dims.grid.x = static_cast<uint32_t>(
      std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, most));
  return dims;
}

}  // namespace headrace::gpu
