// A GraphDef taken apart into nodes in our own form. From bytes this happens
// without making messages of the nodes, and large constants go from the bytes
// straight into their tensors.
#ifndef HEADRACE_GRAPH_GRAPH_DEF_READER_H_
#define HEADRACE_GRAPH_GRAPH_DEF_READER_H_

#include <vector>

#include "headrace/graph.pb.h"
#include "headrace/node_def.h"
#include "headrace/tensor.h"

namespace headrace {

struct GraphDefParts {
  struct Node {
    NodeDef def;
    Status status;  // what is wrong with its attrs; the def is then incomplete
  };
  std::vector<Node> nodes;
  pb::GraphDef rest;  // versions and library: all but the nodes
};

// Binary. InvalidArgument, with the place, if the bytes are no GraphDef;
// ResourceExhausted, with the node, if its constants take more than `max_bytes`
// of memory (0: more than the machine has free).
Status ReadGraphDefParts(absl::string_view bytes, GraphDefParts* parts,
                         int64_t max_bytes = 0);

// The same, but large constants become views of the bytes and keep them alive:
// all of them if the bytes are a mapped file, else only if one is so large that
// this pays. See framework/tensor/stored_constant.h for what it asks of their
// readers.
Status ReadGraphDefParts(const RefPtr<TensorBuffer>& bytes,
                         GraphDefParts* parts, int64_t max_bytes = 0);

// The same from a message.
Status GraphDefPartsFromProto(const pb::GraphDef& def, GraphDefParts* parts,
                              int64_t max_bytes = 0);

// Where the fields of a GraphDef break off, in words; for messages.
std::string DescribeBrokenGraphDef(absl::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_GRAPH_DEF_READER_H_
