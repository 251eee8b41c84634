// The part of a client's graph that one step needs. Fed tensors become _Arg
// nodes, fetched tensors become _Retval nodes. Nodes that no fetch and no
// target needs are removed.
#ifndef HEADRACE_GRAPH_CLIENT_GRAPH_H_
#define HEADRACE_GRAPH_CLIENT_GRAPH_H_

#include <memory>
#include <vector>

#include "headrace/graph.h"

namespace headrace {

// The caller holds graph.mu(). In the copy _Arg i is feed i and _Retval i is
// fetch i, both on `client_device`. The nodes keep their names. InvalidArgument
// if a tensor is fed twice or both fed and fetched, if there is a cycle (its
// nodes are named), if there is neither fetch nor target, or if the graph has a
// node with a malformed name.
StatusOr<std::unique_ptr<Graph>> BuildClientGraph(
    const Graph& graph, absl::Span<const Endpoint> feeds,
    absl::Span<const Endpoint> fetches, absl::Span<Node* const> targets,
    const std::string& client_device);

// The _Arg of each feed and the _Retval of each fetch of a client graph, by
// index. InvalidArgument, naming the node, if the client's graph has more such
// nodes: they would stand for no feed, or for one twice.
Status FindArgsAndRetvals(const Graph& client, size_t num_feeds,
                          size_t num_fetches, std::vector<Node*>* args,
                          std::vector<Node*>* retvals);

// Makes the static shapes of a client graph valid for feeds of any shape:
// clears the shapes of the _Args and infers all dependent shapes again.
Status ForgetFedShapes(Graph* client);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_CLIENT_GRAPH_H_
