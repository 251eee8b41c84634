// Conditionals of Switch and Merge: which one a value belongs to. There are no
// contexts in a GraphDef, so this follows the edges.
#ifndef HEADRACE_GRADIENTS_CONDITIONAL_H_
#define HEADRACE_GRADIENTS_CONDITIONAL_H_

#include "headrace/graph.h"

namespace headrace {

// One branch of a conditional: `branch` 1 is taken if the predicate is true.
struct Branch {
  Endpoint pred;  // none: outside all conditionals
  int branch = 0;
};

// The innermost branch that `e` lies in. A value that ends a conditional (a
// Merge) lies outside it. Looks no further than the innermost loop around `e`.
Branch BranchOf(const Endpoint& e);

}  // namespace headrace

#endif  // HEADRACE_GRADIENTS_CONDITIONAL_H_
