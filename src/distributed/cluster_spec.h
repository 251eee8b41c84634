// ClusterSpec: the tasks of a cluster and their addresses.
#ifndef HEADRACE_DISTRIBUTED_CLUSTER_SPEC_H_
#define HEADRACE_DISTRIBUTED_CLUSTER_SPEC_H_

#include <string>
#include <vector>

#include "headrace/cluster.pb.h"
#include "headrace/status.h"

namespace headrace {

// "/job:J/replica:0/task:I", which begins the names of a task's devices.
std::string TaskName(absl::string_view job, int task);
// The task of a device: "/job:J/replica:0/task:I" of a full name.
// InvalidArgument if the name lacks one of these parts.
Status TaskOfDevice(absl::string_view device, std::string* task);

// A value; thread-compatible.
class ClusterSpec {
 public:
  struct Task {
    std::string job;
    int index = 0;
    std::string address;  // "host:port"
    std::string name;     // TaskName
    bool operator==(const Task&) const = default;
  };

  // InvalidArgument for malformed job names and addresses, negative indices,
  // jobs that are there twice, and addresses that two tasks have.
  static StatusOr<ClusterSpec> FromProto(const pb::ClusterDef& def);

  // In order of jobs as given, then of index.
  const std::vector<Task>& tasks() const { return tasks_; }
  const Task* Find(absl::string_view name) const;  // null if there is none
  bool operator==(const ClusterSpec&) const = default;

 private:
  std::vector<Task> tasks_;
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_CLUSTER_SPEC_H_
