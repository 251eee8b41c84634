// MasterStep: a combination of feeds, fetches and targets, registered with the
// tasks that run its parts.
#ifndef HEADRACE_DISTRIBUTED_MASTER_STEP_H_
#define HEADRACE_DISTRIBUTED_MASTER_STEP_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "distributed/idle_watch.h"
#include "distributed/worker.h"
#include "headrace/graph.h"
#include "runtime/placer.h"

namespace headrace {

// Const once it is built, except `runs` and `used`. Its end deregisters its
// parts, with calls to tasks: not under a lock.
struct MasterStep {
  // What a client asks for, by name.
  struct Request {
    std::vector<std::string> feeds, fetches, targets;
  };
  // What outlives the session while a step does.
  struct Session {
    std::string handle;
    std::shared_ptr<const std::atomic<bool>> open;
    std::shared_ptr<Worker> worker;
    std::shared_ptr<WorkerCache> workers;
  };
  struct Part {
    std::string task;
    WorkerInterface* worker = nullptr;
    std::string graph_handle;
    bool is_client = false;  // has the feeds and fetches
  };
  struct Fed {
    std::string name, key;
    DataType dtype = DT_INVALID;
  };
  struct Fetched {
    std::string name, key;
    std::vector<int> needs;  // of the feeds
  };
  MasterStep() = default;
  MasterStep(const MasterStep&) = delete;
  MasterStep& operator=(const MasterStep&) = delete;
  ~MasterStep();

  Session session;
  std::vector<Part> parts;
  std::vector<Fed> feeds;
  std::vector<Fetched> fetches;
  int64_t graph_key = 0;                 // 0: no collective ops
  mutable std::atomic<int64_t> runs{0};  // of which costs could be asked
  // Runs in a row that took less than kQuickRun.
  mutable std::atomic<int> quick_runs{0};
  mutable LastUse used;
};

// What `request` needs of the session's graph, whose lock is taken: pruned,
// with a _Recv on `client` for each feed and a _Send for each fetch. Fills
// feeds, fetches and graph_key of the step.
StatusOr<std::unique_ptr<Graph>> BuildStepGraph(
    Graph* graph, const MasterStep::Request& request, const Device& client,
    MasterStep* step);

PlacerOptions PlacerOptionsOf(const pb::ConfigProto& config);

// Places the graph on `devices` and splits it by task.
Status PlaceAndSplit(const pb::ConfigProto& config,
                     const std::vector<Device*>& devices,
                     const StatePlaces& state, std::unique_ptr<Graph> graph,
                     std::map<std::string, std::unique_ptr<Graph>>* parts);

// Registers the parts with their tasks and fills the step's, with those that
// were registered also when it fails. `from_network`: see CallOptions.
Status RegisterParts(const CallOptions& options, const pb::ConfigProto& config,
                     bool from_network, bool control_flow,
                     std::map<std::string, std::unique_ptr<Graph>> graphs,
                     MasterStep* step);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_MASTER_STEP_H_
