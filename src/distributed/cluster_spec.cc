#include "distributed/cluster_spec.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "distributed/rpc.h"
#include "headrace/device_name.h"

namespace headrace {
namespace {

bool IsJobName(absl::string_view name) {
  if (name.empty() || !absl::ascii_isalpha(name[0])) return false;
  for (char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return true;
}

}  // namespace

std::string TaskName(absl::string_view job, int task) {
  return StrCat("/job:", job, "/replica:0/task:", task);
}

Status TaskOfDevice(absl::string_view device, std::string* task) {
  DeviceName name;
  HR_RETURN_IF_ERROR(DeviceName::Parse(device, &name));
  if (!name.has_job || !name.has_task) {
    return errors::InvalidArgument("device '", device,
                                   "' names no job and task");
  }
  *task =
      StrCat("/job:", name.job, "/replica:", name.replica, "/task:", name.task);
  return OkStatus();
}

StatusOr<ClusterSpec> ClusterSpec::FromProto(const pb::ClusterDef& def) {
  ClusterSpec spec;
  std::set<std::string> jobs;
  std::map<std::string, std::string> by_address;
  for (const pb::JobDef& job : def.job()) {
    if (!IsJobName(job.name())) {
      return errors::InvalidArgument(
          "ClusterDef: '", job.name(),
          "' is no name of a job; wanted letters, digits and _");
    }
    if (!jobs.insert(job.name()).second) {
      return errors::InvalidArgument("ClusterDef: job '", job.name(),
                                     "' is there twice");
    }
    const std::map<int, std::string> tasks(job.tasks().begin(),
                                           job.tasks().end());
    for (const auto& [index, address] : tasks) {
      Task task{job.name(), index, address, TaskName(job.name(), index)};
      if (index < 0) {
        return errors::InvalidArgument("ClusterDef: job '", job.name(),
                                       "' has a task ", index);
      }
      std::string host;
      int port = 0;
      HR_RETURN_IF_ERROR(Annotate(SplitAddress(address, &host, &port),
                                  StrCat(" (ClusterDef, ", task.name, ")")));
      const auto [other, is_new] = by_address.emplace(address, task.name);
      if (!is_new && port != 0) {
        return errors::InvalidArgument("ClusterDef: ", task.name, " and ",
                                       other->second, " have one address, ",
                                       address);
      }
      spec.tasks_.push_back(std::move(task));
    }
  }
  return spec;
}

const ClusterSpec::Task* ClusterSpec::Find(absl::string_view name) const {
  for (const Task& t : tasks_) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

}  // namespace headrace
