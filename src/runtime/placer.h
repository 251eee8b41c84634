// Placement: gives every node a device, from what the client asked for, what
// has kernels where, and what must stay together (colocation groups,
// references, resources).
#ifndef HEADRACE_RUNTIME_PLACER_H_
#define HEADRACE_RUNTIME_PLACER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "headrace/device.h"
#include "headrace/graph.h"

namespace headrace {

struct PlacerOptions {
  bool allow_soft_placement = false;
  bool log_placement = false;  // each node to stderr, as TF 1.x does
};

// Where the nodes with state (variables, tables, queues) of a session's graph
// are. Steps are placed one by one, each with the nodes that it needs, but
// state has one place: the device that suits all nodes of the graph which share
// it. Not thread-safe.
class StatePlaces {
 public:
  struct Place {
    std::string op;
    Device* device = nullptr;
    std::string reason;
  };

  // Gives a device to the nodes with state that have none, if `graph` has grown
  // since the last call. A device once given stays. Nodes that cannot be placed
  // get none; a step that needs them fails in PlaceGraph. Does nothing if there
  // is only one device. Errors: the interrupt's.
  Status Extend(const PlacerOptions& options,
                const std::vector<Device*>& devices, const Graph& graph);

  bool empty() const { return places_.empty(); }

  // Null if `n` has none.
  const Place* Find(const Node& n) const;

 private:
  int known_ids_ = 0;                               // of the graph's nodes
  absl::flat_hash_map<std::string, Place> places_;  // by node name
};

// `devices` in order of preference for equal types; types rank by
// DeviceFactories::PriorityOf.
// Sets assigned_device and placement_reason of every node that has none. Nodes
// with state go where `state` has them.
// InvalidArgument "Cannot assign a device for operation ..." with the reason.
Status PlaceGraph(const PlacerOptions& options,
                  const std::vector<Device*>& devices, const StatePlaces& state,
                  Graph* graph);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PLACER_H_
