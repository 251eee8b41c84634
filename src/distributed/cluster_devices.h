// The tasks of a cluster that a session uses, and their devices.
#ifndef HEADRACE_DISTRIBUTED_CLUSTER_DEVICES_H_
#define HEADRACE_DISTRIBUTED_CLUSTER_DEVICES_H_

#include <map>
#include <string>
#include <vector>

#include "distributed/worker_cache.h"
#include "headrace/worker.pb.h"

namespace headrace {

// The tasks that a session with these filters uses; the master's own always.
StatusOr<std::vector<std::string>> FilterTasks(
    const WorkerCache& workers,
    const google::protobuf::RepeatedPtrField<std::string>& filters);

// What the cluster of a session's ConfigProto.cluster_def calls the server that
// clients reach as `target`; `own` if the client does not say where that is.
// InvalidArgument if it is no task of the cluster.
StatusOr<std::string> TaskAtTarget(const ClusterSpec& cluster,
                                   absl::string_view target,
                                   const std::string& own);

// The name of a device in a cluster that calls its task `task`, whatever the
// task calls itself. InvalidArgument if `device` is no full name.
StatusOr<std::string> DeviceOfTask(const std::string& device,
                                   const std::string& task);

// Asks all `tasks` for their devices. Waits for those that do not answer, says
// so on stderr every ten seconds, and gives up when `options` do: the error
// then names them.
Status AskForDevices(const CallOptions& options, WorkerCache* workers,
                     const std::vector<std::string>& tasks,
                     std::map<std::string, pb::GetStatusResponse>* devices);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_CLUSTER_DEVICES_H_
