// Converts a GraphDef into nodes in our own form. From bytes it does so without
// messages for the nodes, and copies large constants directly into their
// tensors.
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
    Status status;  // error in its attrs; the def is then incomplete
  };
  std::vector<Node> nodes;
  pb::GraphDef rest;  // versions and library: all but the nodes
};

// Reads the binary format. InvalidArgument, with the position, if the bytes are
// no GraphDef. ResourceExhausted, with the node, if the constants take more
// than `max_bytes` bytes of memory. 0: more than the machine has free.
Status ReadGraphDefParts(absl::string_view bytes, GraphDefParts* parts,
                         int64_t max_bytes = 0);

// The same, but large constants become views that keep the bytes alive. If the
// bytes are a mapped file, all large constants do; else only if one is so large
// that it pays. framework/tensor/stored_constant.h states the duties of their
// readers.
Status ReadGraphDefParts(const RefPtr<TensorBuffer>& bytes,
                         GraphDefParts* parts, int64_t max_bytes = 0);

// The same for a message.
Status GraphDefPartsFromProto(const pb::GraphDef& def, GraphDefParts* parts,
                              int64_t max_bytes = 0);

// Says in words where the fields of a GraphDef are broken. For messages.
std::string DescribeBrokenGraphDef(absl::string_view bytes);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_GRAPH_DEF_READER_H_
