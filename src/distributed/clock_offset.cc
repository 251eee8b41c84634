#include "distributed/clock_offset.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace headrace {

void MoveClock(absl::Time begin, absl::Time end, pb::StepStats* stats) {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const pb::DeviceStepStats& d : stats->dev_stats()) {
    for (const pb::NodeExecStats& n : d.node_stats()) {
      first = std::min<int64_t>(first, n.all_start_micros());
      last = std::max<int64_t>(last,
                               n.all_start_micros() + n.all_end_rel_micros());
    }
  }
  if (first > last) return;  // nothing ran
  const int64_t sent = absl::ToUnixMicros(begin);
  const int64_t got = absl::ToUnixMicros(end);
  // Numbers have whole microseconds.
  if (first >= sent - 1 && last <= got + 1) return;
  const int64_t offset = sent + (got - sent) / 2 - (first + (last - first) / 2);
  for (pb::DeviceStepStats& d : *stats->mutable_dev_stats()) {
    for (pb::NodeExecStats& n : *d.mutable_node_stats()) {
      n.set_all_start_micros(n.all_start_micros() + offset);
      if (n.all_start_nanos() != 0) {
        n.set_all_start_nanos(n.all_start_nanos() + offset * 1000);
      }
      n.set_scheduled_micros(n.scheduled_micros() + offset);
      if (n.scheduled_nanos() != 0) {
        n.set_scheduled_nanos(n.scheduled_nanos() + offset * 1000);
      }
    }
  }
}

}  // namespace headrace
