// Device names: "/job:worker/replica:0/task:1/device:GPU:2", every part
// optional; formats.md, section 3.
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

  // Accepts full, partial, legacy ("/cpu:0") and local ("CPU:0") forms and "*"
  // for an unset part. InvalidArgument "Malformed device specification '...'".
  static Status Parse(absl::string_view s, DeviceName* out);

  // "/job:a/replica:0/task:0/device:CPU:0", only the parts that are set.
  std::string ToString() const;
  bool IsFull() const {
    return has_job && has_replica && has_task && has_type && has_id;
  }
  bool Empty() const {
    return !(has_job || has_replica || has_task || has_type || has_id);
  }
  // True if every part set here has the same value in `full`.
  bool Matches(const DeviceName& full) const;
  // Adds the parts of `o`. Conflicts: InvalidArgument "Cannot merge devices
  // with incompatible types: ..."; with `allow_soft` a conflict of type clears
  // type and id, one of id clears id.
  Status Merge(const DeviceName& o, bool allow_soft = false);
  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

}  // namespace headrace

#endif  // HEADRACE_DEVICE_NAME_H_
