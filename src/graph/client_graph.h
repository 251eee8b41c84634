// What one step needs of a client's graph: fed tensors become _Arg nodes,
// fetched ones _Retval nodes, and everything that neither fetches nor targets
// need is left out.
#ifndef HEADRACE_GRAPH_CLIENT_GRAPH_H_
#define HEADRACE_GRAPH_CLIENT_GRAPH_H_

#include <memory>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

// Caller holds graph.mu() at least for reading. The copy's _Arg i is feed i and
// _Retval i is fetch i, both on `client_device`. The nodes keep their names.
// InvalidArgument: fed twice, fed and fetched, a cycle (its nodes named), no
// fetch and no target, a node of the graph with a malformed name.
StatusOr<std::unique_ptr<Graph>> BuildClientGraph(
    const Graph& graph, absl::Span<const Endpoint> feeds,
    absl::Span<const Endpoint> fetches, absl::Span<Node* const> targets,
    const std::string& client_device);

// Makes the static shapes of a client graph hold for feeds of any shape: its
// _Args have none, and what follows from them is inferred anew.
Status ForgetFedShapes(Graph* client);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_CLIENT_GRAPH_H_
