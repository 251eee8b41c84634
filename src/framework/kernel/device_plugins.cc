#include "framework/kernel/device_plugins.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/log.h"
#include "base/own_folder.h"
#include "headrace/device_factory.h"
#include "headrace/types.h"

namespace headrace {
namespace {

bool HasGpuFactory() {
  const std::vector<std::string> types = DeviceFactories::Types();
  return std::find(types.begin(), types.end(), DEVICE_GPU) != types.end();
}

void LoadGpuLibrary() {
  if (HasGpuFactory()) return;  // linked, or loaded by the client
  const char* const platform = std::getenv("HEADRACE_GPU_PLATFORM");
  const bool on_host = platform != nullptr && std::string(platform) == "host";
  const std::string path = OwnFolder() + (on_host ? "libheadrace_gpu_host.so"
                                                  : "libheadrace_cuda.so");
  if (access(path.c_str(), R_OK) != 0) return;
  // The driver comes with the machine, not with us.
  if (!on_host && dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    return;
  }
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* const why = dlerror();
    HR_LOG(WARNING) << "GPUs are not used: "
                    << (why == nullptr ? path.c_str() : why);
  }
}

}  // namespace

void LoadDevicePlugins() {
  [[maybe_unused]] static const bool loaded = (LoadGpuLibrary(), true);
}

}  // namespace headrace
