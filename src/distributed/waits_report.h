// ReportWaits: what the steps of a cluster wait for, for people.
#ifndef HEADRACE_DISTRIBUTED_WAITS_REPORT_H_
#define HEADRACE_DISTRIBUTED_WAITS_REPORT_H_

#include <string>

#include "headrace/status.h"
#include "headrace/worker.pb.h"

namespace headrace {

// headrace::DescribeWaits.
StatusOr<std::string> ReportWaits(const std::string& target,
                                  double timeout_seconds);
std::string WaitsText(const pb::DescribeWaitsResponse& response);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_WAITS_REPORT_H_
