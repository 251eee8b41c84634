// Splits a placed graph by device; a pure function. An edge between devices
// becomes a _Send and a _Recv with one rendezvous key. A tensor has one pair
// for each destination device, however many consumers are there.
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
  // The incarnation of a device, by its full name.
  std::function<uint64_t(const std::string& device)> incarnation;
};

// Every node must have an assigned device. A reference edge must not cross
// devices.
Status PartitionGraph(const PartitionOptions& options, const Graph& graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts);
// The same, but a graph on one device is moved instead of copied.
Status PartitionGraph(const PartitionOptions& options,
                      std::unique_ptr<Graph> graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_PARTITION_H_
