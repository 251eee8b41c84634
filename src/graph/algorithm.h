// Topological order and reachability. The graph must not change during a call.
#ifndef HEADRACE_GRAPH_ALGORITHM_H_
#define HEADRACE_GRAPH_ALGORITHM_H_

#include <vector>

#include "headrace/graph.h"

namespace headrace {

// Orders the nodes along all edges except those from NextIteration to Merge;
// ties are in order of id. InvalidArgument, with the nodes, for a cycle.
Status TopologicalOrder(const Graph& graph, std::vector<Node*>* order);
// The same for these nodes of one graph. Edges from other nodes are ignored.
Status TopologicalOrder(absl::Span<Node* const> nodes,
                        std::vector<Node*>* order);

// Marks (by id) all nodes that `roots` depend on, and `roots`.
std::vector<bool> ReachableBackwards(const Graph& graph,
                                     absl::Span<Node* const> roots,
                                     bool along_control = true);
// Removes the nodes that are not marked. True if it removed any.
bool RemoveUnmarked(Graph* graph, const std::vector<bool>& keep);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_ALGORITHM_H_
