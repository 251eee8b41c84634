// Makes a FunctionDef of nodes of a graph: the reverse of
// graph/function_body.h.
#ifndef HEADRACE_GRAPH_FUNCTION_DEF_H_
#define HEADRACE_GRAPH_FUNCTION_DEF_H_

#include <string>
#include <utility>
#include <vector>

#include "headrace/graph.h"
#include "headrace/graph.pb.h"

namespace headrace {

struct FunctionParts {
  std::string name;
  std::vector<Node*> body;
  // What the function takes. Nodes of the body read an input from outside, even
  // if its node is in the body.
  std::vector<Endpoint> inputs;
  std::vector<Endpoint> outputs;
  // Names of the results. Empty: the names of their nodes.
  std::vector<std::string> output_names;
  // Nodes of the body that a call runs whatever results are used, by name.
  std::vector<std::pair<std::string, Node*>> control_outputs;
};

// Arguments and results have names of lower-case letters, digits and "_", made
// of those of their nodes. InvalidArgument if an input appears twice, if a
// node or a result needs what is neither an input nor in the body, if a result
// or an input has a reference type, or if two results have the same name.
Status MakeFunctionDef(const FunctionParts& parts, pb::FunctionDef* def);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_FUNCTION_DEF_H_
