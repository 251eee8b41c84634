// Splits a placed graph by device, or by groups of devices such as tasks; a
// pure function. An edge between parts becomes a _Send and a _Recv with one
// rendezvous key. A tensor has one pair for each destination part, however many
// consumers are there.
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
  // The part to which a device belongs; empty: every device is a part. Nodes of
  // one part keep their edges, also between its devices.
  std::function<std::string(const std::string& device)> part_of;
  // In which memory of `device` an output or an input of a node is. Where the
  // memory of a device is the host's, all are DEVICE_MEMORY. A tensor is copied
  // between the memories of one device as between devices; its ends in the
  // host's memory are _HostSend and _HostRecv. Null: memories are not told
  // apart.
  std::function<MemoryType(const Node& node, const std::string& device,
                           bool is_output, int index)>
      memory_of;
};

// Every node must have an assigned device. A reference edge must not cross
// parts. `parts` is by name: that of the device, or what part_of says.
Status PartitionGraph(const PartitionOptions& options, const Graph& graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts);
// The same, but a graph of one part is moved instead of copied.
Status PartitionGraph(const PartitionOptions& options,
                      std::unique_ptr<Graph> graph,
                      std::map<std::string, std::unique_ptr<Graph>>* parts);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_PARTITION_H_
