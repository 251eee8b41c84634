// LoadPolicy: which ops a server runs for clients of other processes, by the
// effects that their schemas state (docs/design/0010-op-traits.md).
//
// A graph that comes from the network may name any op. Those that touch files
// only do so in folders that the server allows: a node _AllowedPath looks at
// the name that an op gets, whatever computes it. Those that run code, use the
// network or may do anything are refused unless the server allows them.
#ifndef HEADRACE_DISTRIBUTED_LOAD_POLICY_H_
#define HEADRACE_DISTRIBUTED_LOAD_POLICY_H_

#include <string>
#include <vector>

#include "headrace/graph.pb.h"
#include "headrace/status.h"

namespace headrace {

// A value; thread-compatible.
struct LoadPolicy {
  bool all_folders = true;
  std::vector<std::string> folders;  // absolute, without links
  bool code = false;                 // Python functions of the server's process
  bool network = false;
  bool custom = true;  // ops of loaded libraries that state no effects

  // From HEADRACE_ALLOW_FOLDERS, folders separated by colons, or "*"; and
  // HEADRACE_ALLOW_OPS, words of "code,network,custom". What is not set is as
  // above for a server that only this machine reaches, else false.
  static StatusOr<LoadPolicy> FromEnvironment(bool is_loopback);

  // Refuses what the graph and the functions that it calls may not do:
  // PermissionDenied, with op, node and what would allow it. Adds nodes that
  // look at paths. Functions that nothing calls go.
  Status Apply(pb::GraphDef* graph) const;
  // As Apply, of what a master may run while it takes a graph in.
  Status CheckImport(const pb::GraphDef& graph) const;
};

// OK if `path`, or the nearest folder above it that there is, lies in one of
// `folders`, and if it has no "..". `inside`: the folder itself is not enough.
Status CheckAllowedPath(const std::string& path,
                        const std::vector<std::string>& folders, bool inside);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_LOAD_POLICY_H_
