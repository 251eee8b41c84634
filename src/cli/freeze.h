// Freezes a graph: its variables become constants, and what only training needs
// goes.
#ifndef HEADRACE_CLI_FREEZE_H_
#define HEADRACE_CLI_FREEZE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "headrace/graph.pb.h"
#include "headrace/tensor.h"

namespace headrace::cli {

struct FreezeReport {
  int nodes_before = 0;
  int unneeded = 0;   // nodes that no output needs
  int calls = 0;      // calls of functions that became their bodies
  int constants = 0;  // variables that became constants
  int removed = 0;    // identities, checks and stops of gradients
  int64_t constant_bytes = 0;
  // Tables, which a GraphDef cannot initialise, and queues and iterators.
  std::vector<std::string> stateful;
};

// Gives the values of these variables, by the names of their nodes.
using ReadVariables = std::function<Status(
    const std::vector<std::string>& names, std::map<std::string, Tensor>*)>;

// Makes `*frozen` of the part of `graph_def` that the nodes `outputs` need;
// they keep their names. NotFound for an unknown output. InvalidArgument, with
// the node, if a variable is written on the way to an output, or is read by an
// op that takes no constant.
Status Freeze(const pb::GraphDef& graph_def,
              const std::vector<std::string>& outputs,
              const ReadVariables& read, pb::GraphDef* frozen,
              FreezeReport* report);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_FREEZE_H_
