// What a ConfigProto says to a session, checked once.
#ifndef HEADRACE_SESSION_SESSION_OPTIONS_H_
#define HEADRACE_SESSION_SESSION_OPTIONS_H_

#include <string>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "headrace/config.pb.h"

namespace headrace {

struct SessionOptions {
  int num_cpu_devices = 1;
  // 0: the process-wide pool.
  int intra_op_threads = 0;
  int inter_op_threads = 0;
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  int64_t operation_timeout_ms = 0;  // 0: none
  // Names of graph passes that are switched off: by graph_options, and by the
  // environment variable HEADRACE_DISABLE_PASSES ("cse,constant_folding",
  // "all").
  absl::flat_hash_set<std::string> disabled_passes;

  // InvalidArgument for numbers that make no sense and unknown pass names.
  static Status FromConfig(const pb::ConfigProto& config, SessionOptions* out);
};

}  // namespace headrace

#endif  // HEADRACE_SESSION_SESSION_OPTIONS_H_
