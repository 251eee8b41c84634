#include "distributed/waits_report.h"

#include "distributed/rpc.h"
#include "distributed/worker_interface.h"
#include "headrace/strings.h"

namespace headrace {

std::string WaitDurationText(absl::Duration waited) {
  return absl::FormatDuration(absl::Trunc(waited, absl::Milliseconds(100)));
}

std::string WaitsText(const pb::DescribeWaitsResponse& response) {
  std::string text;
  for (const pb::TaskWaitsResponse& task : response.task()) {
    StrAppend(&text, task.task(), ":");
    if (!task.error().empty()) {
      StrAppend(&text, " no answer: ", task.error(), "\n");
      continue;
    }
    StrAppend(&text, task.step_size() == 0 ? " runs no step\n" : "\n");
    for (const pb::TaskWaitsResponse::Step& step : task.step()) {
      StrAppend(&text, "  step ", step.step_id());
      // A session that brings a cluster has names of its own.
      if (!step.task().empty() && step.task() != task.task()) {
        StrAppend(&text, " of a session that calls it ", step.task());
      }
      StrAppend(&text, ", for ",
                WaitDurationText(absl::Microseconds(step.age_micros())), ": ",
                step.waits().empty() ? "computes" : step.waits(), "\n");
    }
  }
  return text;
}

StatusOr<std::string> ReportWaits(const std::string& target,
                                  double timeout_seconds) {
  HR_ASSIGN_OR_RETURN(std::shared_ptr<RpcChannel> channel,
                      NewRpcChannel(AddressOf(target)));
  pb::DescribeWaitsRequest request;
  request.set_whole_cluster(true);
  CallOptions options;
  options.timeout = absl::Seconds(timeout_seconds);
  WireBytes bytes;
  HR_RETURN_IF_ERROR(Annotate(
      channel->Call(kDescribeWaitsMethod, ToWire(request), options, &bytes),
      StrCat(" (DescribeWaits of ", target, ")")));
  pb::DescribeWaitsResponse response;
  HR_RETURN_IF_ERROR(FromWire("DescribeWaits", bytes, &response));
  return WaitsText(response);
}

}  // namespace headrace
