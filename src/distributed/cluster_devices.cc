#include "distributed/cluster_devices.h"

#include <memory>

#include "distributed/rpc.h"
#include "distributed/task_calls.h"
#include "headrace/device.h"

namespace headrace {

StatusOr<std::vector<std::string>> FilterTasks(
    const WorkerCache& workers,
    const google::protobuf::RepeatedPtrField<std::string>& filters) {
  std::vector<DeviceName> parsed;
  for (const std::string& f : filters) {
    parsed.emplace_back();
    HR_RETURN_IF_ERROR(Annotate(DeviceName::Parse(f, &parsed.back()),
                                " (ConfigProto.device_filters)"));
  }
  std::vector<std::string> tasks{workers.local_name()};
  for (const ClusterSpec::Task& t : workers.spec().tasks()) {
    if (t.name == workers.local_name()) continue;
    DeviceName task;
    HR_RETURN_IF_ERROR(DeviceName::Parse(t.name, &task));
    bool fits = parsed.empty();
    for (DeviceName f : parsed) {
      f.has_type = f.has_id = false;
      fits |= f.Matches(task);
    }
    if (fits) tasks.push_back(t.name);
  }
  return tasks;
}

StatusOr<std::string> TaskAtTarget(const ClusterSpec& cluster,
                                   absl::string_view target,
                                   const std::string& own) {
  if (target.empty()) {
    if (cluster.Find(own) != nullptr) return own;
    return errors::InvalidArgument(
        "ConfigProto.cluster_def: the cluster has no ", own,
        ", the session's master");
  }
  const std::string address = AddressOf(target);
  std::string tasks;
  for (const ClusterSpec::Task& t : cluster.tasks()) {
    if (t.address == address) return t.name;
    StrAppend(&tasks, tasks.empty() ? "" : ", ", t.name, " at ", t.address);
  }
  return errors::InvalidArgument(
      "ConfigProto.cluster_def: the master (current machine) is not included "
      "in the provided cluster_def: none of its tasks is at ",
      address, ", the session's target; it has ", tasks);
}

StatusOr<std::string> DeviceOfTask(const std::string& device,
                                   const std::string& task) {
  DeviceName name;
  HR_RETURN_IF_ERROR(DeviceName::Parse(device, &name));
  if (!name.IsFull()) {
    return errors::InvalidArgument("device '", device, "' has no full name");
  }
  if (TaskName(name.job, name.task) == task) return device;
  return StrCat(task, "/device:", name.type, ":", name.id);
}

Status AskForDevices(const CallOptions& options, WorkerCache* workers,
                     const std::vector<std::string>& tasks,
                     std::map<std::string, pb::GetStatusResponse>* devices) {
  struct Answers : TaskCalls {
    std::map<std::string, pb::GetStatusResponse> responses;
  };
  auto answers = std::make_shared<Answers>();
  // All are found before the first is asked: the calls wait for ever.
  std::map<std::string, WorkerInterface*> found;
  for (const std::string& task : tasks) {
    answers->responses[task];
    HR_ASSIGN_OR_RETURN(found[task], workers->Find(task));
  }
  for (const std::string& task : tasks) {
    CallOptions call;
    call.cancellation = answers->cancellation();
    call.wait_for_ready = true;
    found[task]->GetStatus(
        call, &answers->responses[task],
        [answers, task](const Status& s) { answers->End(task, s); });
  }
  HR_RETURN_IF_ERROR(answers->Wait("CreateSession", options, options.timeout,
                                   tasks, *workers));
  *devices = answers->responses;
  return OkStatus();
}

}  // namespace headrace
