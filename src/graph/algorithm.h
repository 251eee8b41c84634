// Orders and reachability over a Graph.
#ifndef HEADRACE_GRAPH_ALGORITHM_H_
#define HEADRACE_GRAPH_ALGORITHM_H_

#include <vector>

#include "headrace/graph.h"

namespace headrace {

// Nodes in an order that respects all edges but those from NextIteration to
// Merge; among equals by id. InvalidArgument naming the nodes of a cycle.
Status TopologicalOrder(const Graph& graph, std::vector<Node*>* order);
// The same of these nodes of a graph alone, edges from others not regarded.
Status TopologicalOrder(absl::Span<Node* const> nodes,
                        std::vector<Node*>* order);

// Marks, by id, the nodes that `roots` need, edges followed backwards.
std::vector<bool> ReachableBackwards(const Graph& graph,
                                     absl::Span<Node* const> roots);
// Removes nodes not marked; true if any was.
bool RemoveUnmarked(Graph* graph, const std::vector<bool>& keep);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_ALGORITHM_H_
