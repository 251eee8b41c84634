// Splits a placed graph by device, as a pure function: an edge that crosses
// becomes a _Send and a _Recv with one rendezvous key, one pair for a tensor
// and destination device however many consumers it has there; formats.md,
// section 8.
#ifndef HEADRACE_GRAPH_PARTITION_H_
#define HEADRACE_GRAPH_PARTITION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "headrace/graph.h"

namespace headrace {

struct PartitionOptions {
  // Incarnation of a device, by full name.
  std::function<uint64_t(const std::string& device)> incarnation;
};

// Every node must have an assigned device. A reference edge may not cross.
Status PartitionGraph(const PartitionOptions& options, const Graph& graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts);
// The same; a graph on one device is taken as it is.
Status PartitionGraph(const PartitionOptions& options,
                      std::unique_ptr<Graph> graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_PARTITION_H_
