// Device names such as "/job:worker/replica:0/task:1/device:GPU:2". Every part
// is optional.
//
// A value type, thread-compatible.
#ifndef HEADRACE_DEVICE_NAME_H_
#define HEADRACE_DEVICE_NAME_H_

#include <string>

#include "absl/strings/string_view.h"
#include "headrace/status.h"

namespace headrace {

struct DeviceName {
  bool has_job = false, has_replica = false, has_task = false, has_type = false,
       has_id = false;
  std::string job;
  int replica = 0;
  int task = 0;
  std::string type;
  int id = 0;

  // Accepts full names, partial names, the legacy form "/cpu:0", the local form
  // "CPU:0", and "*" for a part that is not set. InvalidArgument "Malformed
  // device specification '...'" for anything else.
  static Status Parse(absl::string_view s, DeviceName* out);

  // Writes only the parts that are set: "/job:a/replica:0/task:0/device:CPU:0".
  std::string ToString() const;
  bool IsFull() const {
    return has_job && has_replica && has_task && has_type && has_id;
  }
  bool Empty() const {
    return !(has_job || has_replica || has_task || has_type || has_id);
  }
  // True if every part set here has the same value in `full`.
  bool Matches(const DeviceName& full) const;
  // Adds the parts that are set in `o`. A conflict gives InvalidArgument
  // "Cannot merge devices with incompatible types: ...". With `allow_soft`, a
  // conflict of types clears type and id instead, and a conflict of ids clears
  // the id.
  Status Merge(const DeviceName& o, bool allow_soft = false);
  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

}  // namespace headrace

#endif  // HEADRACE_DEVICE_NAME_H_
