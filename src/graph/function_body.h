// The body of a function as a graph: arguments are _Arg nodes, results _Retval.
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
  // What a call runs though no result needs it: nodes that the function names
  // as control results, and those with side effects.
  std::vector<Node*> effects;
};

// Function `name` of the library with `attrs` (those beginning with "_" are not
// regarded). Every node is checked as in a graph, and shapes are inferred,
// those of arguments being unknown. NotFound if there is no such function;
// otherwise errors name it.
StatusOr<FunctionBody> BuildFunctionBody(
    const std::shared_ptr<FunctionLibrary>& library, const std::string& name,
    const AttrMap& attrs, const GraphVersions& versions);

// True of a node whose op changes something that others see: most ops with
// state, but not those that only read it or make a handle.
bool HasSideEffect(const Node& n);

// The function that a node's op is: a node of op "f" calls function f. False if
// the op is an ordinary one.
bool IsFunctionCall(const Node& n);

}  // namespace headrace

#endif  // HEADRACE_GRAPH_FUNCTION_BODY_H_
