// Placement: gives every node a device, from what the client asked for, what
// has kernels where, and what must stay together (colocation groups,
// references, resources).
#ifndef HEADRACE_RUNTIME_PLACER_H_
#define HEADRACE_RUNTIME_PLACER_H_

#include <vector>

#include "headrace/device.h"
#include "headrace/graph.h"

namespace headrace {

struct PlacerOptions {
  bool allow_soft_placement = false;
  bool log_placement = false;  // each node to stderr, as TF 1.x does
};

// `devices` in order of preference for equal types; types rank by
// DeviceFactories::PriorityOf.
// Sets assigned_device and placement_reason of every node that has none.
// InvalidArgument "Cannot assign a device for operation ..." with the reason.
Status PlaceGraph(const PlacerOptions& options,
                  const std::vector<Device*>& devices, Graph* graph);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PLACER_H_
