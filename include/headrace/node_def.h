// NodeDef: the description of a node in a GraphDef, in our own form. Graphs of
// 10,000 nodes are built without protobuf.
//
// A value type, thread-compatible.
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
  std::vector<std::string> inputs;  // data ("a", "a:1"), then control ("^b")
  AttrMap attrs;
  // Where the user created the node: "train.py:12 in build_model". Used in
  // messages.
  std::string source;
};

// The end of an error message: "{{node name}}", with the source line if it is
// known.
std::string NodeErrorSuffix(const NodeDef& node);

// "[op=Conv2D, T=float, ...]".
std::string SummarizeNodeDef(const NodeDef& node);

}  // namespace headrace

#endif  // HEADRACE_NODE_DEF_H_
