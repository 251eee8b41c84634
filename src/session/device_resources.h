// What all devices of a session have in common.
#ifndef HEADRACE_SESSION_DEVICE_RESOURCES_H_
#define HEADRACE_SESSION_DEVICE_RESOURCES_H_

#include <utility>

#include "headrace/device.h"
#include "headrace/resource_mgr.h"

namespace headrace {

// Puts it where the device's kernels look for it, unless it is null or the
// device has one.
template <typename T>
void ShareWith(Device* device, RefPtr<T> resource) {
  if (resource == nullptr) return;
  device->resource_manager()
      ->Create<T>(T::kContainer, T::kName, std::move(resource))
      .IgnoreError();
}

}  // namespace headrace

#endif  // HEADRACE_SESSION_DEVICE_RESOURCES_H_
