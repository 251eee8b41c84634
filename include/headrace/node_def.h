// NodeDef: a node as a GraphDef describes it, in our own form, so that graphs
// of 10,000 nodes are built without touching protobuf.
#ifndef HEADRACE_NODE_DEF_H_
#define HEADRACE_NODE_DEF_H_

#include <string>
#include <vector>

#include "headrace/attr_value.h"

namespace headrace {

struct NodeDef {
  std::string name;
  std::string op;
  std::string device;               // as requested; "" for any
  std::vector<std::string> inputs;  // "a", "a:1", then "^b"
  AttrMap attrs;
  // Where the user made the node: "train.py:12 in build_model"; for messages.
  std::string source;
};

// "{{node name}}" with the source line when there is one: the tail of messages.
std::string NodeErrorSuffix(const NodeDef& node);

// "[op=Conv2D, T=float, ...]".
std::string SummarizeNodeDef(const NodeDef& node);

}  // namespace headrace

#endif  // HEADRACE_NODE_DEF_H_
