// ReportWaits: what the steps of a cluster wait for, for people.
#ifndef HEADRACE_DISTRIBUTED_WAITS_REPORT_H_
#define HEADRACE_DISTRIBUTED_WAITS_REPORT_H_

#include <string>

#include "absl/time/time.h"
#include "headrace/status.h"
#include "headrace/worker.pb.h"

namespace headrace {

// Who waits for a task says so this often.
inline constexpr absl::Duration kSayWhoIsMissing = absl::Seconds(10);

// headrace::DescribeWaits.
StatusOr<std::string> ReportWaits(const std::string& target,
                                  double timeout_seconds);
std::string WaitsText(const pb::DescribeWaitsResponse& response);
// "1.5s", cut to tenths of a second.
std::string WaitDurationText(absl::Duration waited);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_WAITS_REPORT_H_
