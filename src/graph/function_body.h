// The body of a function as a graph. Arguments are _Arg nodes, results are
// _Retval nodes.
#ifndef HEADRACE_GRAPH_FUNCTION_BODY_H_
#define HEADRACE_GRAPH_FUNCTION_BODY_H_

#include <memory>
#include <vector>

#include "graph/function_library.h"
#include "headrace/graph.h"

namespace headrace {

struct FunctionBody {
  std::unique_ptr<Graph> graph;
  DataTypeVector arg_types, ret_types;
  std::vector<Node*> args;  // by index
  std::vector<Node*> rets;  // by index
  // Nodes that a call runs even if no result needs them: the function's control
  // results, and nodes with side effects.
  std::vector<Node*> effects;
};

// Builds the body of function `name` for `attrs`; attrs that begin with "_" are
// ignored. Nodes are checked as in any graph. Shapes are inferred; those of
// arguments are unknown. NotFound if there is no such function. Other errors
// contain its name.
StatusOr<FunctionBody> BuildFunctionBody(
    const std::shared_ptr<FunctionLibrary>& library, const std::string& name,
    const AttrMap& attrs, const GraphVersions& versions);

// True if the node changes something visible outside. This holds for most
// stateful ops, but not for those that only read state or create a handle.
bool HasSideEffect(const Node& n);

// True if the node's op is a function: a node of op "f" calls function f.
bool IsFunctionCall(const Node& n);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_FUNCTION_BODY_H_
