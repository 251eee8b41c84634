// MemoryTypesOfNodes: in which memory of a device the kernels of nodes have
// their inputs and outputs, for graphs that are partitioned. Used by one
// thread.
#ifndef HEADRACE_RUNTIME_MEMORY_TYPES_H_
#define HEADRACE_RUNTIME_MEMORY_TYPES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "headrace/device.h"
#include "headrace/graph.h"
#include "headrace/op_kernel.h"

namespace headrace {

class MemoryTypesOfNodes {
 public:
  explicit MemoryTypesOfNodes(const std::vector<Device*>& devices);
  // False if the memory of every device is the host's.
  bool are_needed() const { return !own_memory_.empty(); }
  // DEVICE_MEMORY on a device whose memory is the host's, and for a node that
  // has no kernel there.
  MemoryType Of(const Node& n, const std::string& device, bool is_output,
                int index);

 private:
  using Types = absl::InlinedVector<MemoryType, 4>;
  struct Known {
    std::string device;
    Types inputs, outputs;
  };
  static MemoryType Pick(const Known& known, bool is_output, int index);

  // Types of devices with a memory of their own, by the device's name.
  absl::flat_hash_map<std::string, std::string> own_memory_;
  absl::flat_hash_map<const Node*, Known> known_;
};

// For PartitionOptions.memory_of: null if the memory of every device is the
// host's. The nodes outlive it; copies share what is known of them.
std::function<MemoryType(const Node& n, const std::string& device,
                         bool is_output, int index)>
MemoryOfNodes(const std::vector<Device*>& devices);

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_MEMORY_TYPES_H_
