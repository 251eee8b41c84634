// What a ConfigProto says to a session, checked once.
#ifndef HEADRACE_SESSION_SESSION_OPTIONS_H_
#define HEADRACE_SESSION_SESSION_OPTIONS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "framework/tuning/algorithm_tuner.h"
#include "headrace/config.pb.h"
#include "headrace/device_factory.h"
#include "headrace/status.h"

namespace headrace {

struct SessionOptions {
  // ConfigProto.device_count: by device type, how many at most. CPU is there.
  std::map<std::string, int> device_counts;
  // 0: the process-wide pool.
  int intra_op_threads = 0;
  int inter_op_threads = 0;
  struct InterOpPool {
    int threads = 0;  // 0: as many as there are processors
    std::string global_name;
  };
  // If not empty, instead of inter_op_threads.
  std::vector<InterOpPool> inter_op_pools;
  GpuOptions gpu;  // ConfigProto.gpu_options
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  int64_t operation_timeout_ms = 0;  // 0: none
  // Of each combination's runs after the first `after` every n-th reports a
  // cost graph; 0: none does.
  int64_t cost_graph_every = 0, cost_graph_after = 0;
  // Names of graph passes that are switched off: by graph_options, and by the
  // environment variable HEADRACE_DISABLE_PASSES ("cse,constant_folding",
  // "all").
  absl::flat_hash_set<std::string> disabled_passes;
  // Whether and how convolutions are measured, or measured choices read: by
  // ConfigProto.headrace, and where that says nothing by HEADRACE_CONV_TUNING
  // ("off", "background") and HEADRACE_CONV_CACHE (a path).
  AlgorithmTuner::Options tuning;
  bool wants_tuner = false;
  int64_t memory_budget = 0;  // of a run, in bytes; 0: none

  // InvalidArgument for numbers that make no sense and unknown pass names.
  static Status FromConfig(const pb::ConfigProto& config, SessionOptions* out);
  // Switches off the passes that are for the host if a device has a memory of
  // its own.
  void AdaptTo(const std::vector<std::unique_ptr<Device>>& devices);
};

// Of a run's options. Two, because masters check them at different moments.
Status CheckDebugOptions(const pb::RunOptions& options);
Status CheckMemoryBudget(const pb::RunOptions& options);

}  // namespace headrace

#endif  // HEADRACE_SESSION_SESSION_OPTIONS_H_
