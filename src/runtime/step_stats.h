// What a traced step tells: for each node when it ran, on which thread, what
// its kernel was and which algorithm it chose, and what it put out.
#ifndef HEADRACE_RUNTIME_STEP_STATS_H_
#define HEADRACE_RUNTIME_STEP_STATS_H_

#include <string>
#include <vector>

#include "framework/memory/allocation_trace.h"
#include "headrace/config.pb.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"
#include "headrace/step_stats.pb.h"

namespace headrace {

// Collects from the executors of one step. Thread-safe.
class StepStatsCollector {
 public:
  struct NodeRecord {
    const OpKernel* kernel = nullptr;
    int64_t scheduled_ns = 0;  // when it became ready
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    uint32_t thread_id = 0;
    std::string algorithm;
    struct Output {
      int slot;
      DataType dtype;
      TensorShape shape;
      int64_t bytes;
      int64_t made_here = 0;  // of the bytes that the node itself took
    };
    std::vector<Output> outputs;
    // Of the thread that called the kernel. An asynchronous kernel has none: it
    // goes on elsewhere.
    AllocationTrace::Counts memory;
  };

  void Add(const Device* device, NodeRecord record);
  // "4000000 bytes by node 'a' (MatMul), ...": the largest tensors put out so
  // far, whether they are still alive or not.
  std::string LargestOutputs();
  // In the order of start times. The timeline label of a node is
  // "KernelClass [algorithm]". `counters` are the sums over the nodes.
  void Finish(pb::StepStats* out, pb::RunCounters* counters);

 private:
  Mutex mu_;
  std::vector<std::pair<const Device*, NodeRecord>> records_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_STEP_STATS_H_
