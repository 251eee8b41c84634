// Computes values that are known before a run: nodes that depend only on
// constants. It uses the kernels of a step. Shape inference asks for the values
// that a shape function needs. The constant-folding pass asks for all values
// that are worth it.
//
// Thread-safe, but the graph must not change during a call.
#ifndef HEADRACE_GRAPH_CONSTANT_EVAL_H_
#define HEADRACE_GRAPH_CONSTANT_EVAL_H_

#include <vector>

#include "headrace/graph.h"

namespace headrace {

struct ConstantEvalLimits {
  int64_t max_elements = int64_t{1} << 20;  // of each tensor on the way
  int max_nodes = 1000;
};

// The value of a Const node. Null for any other node.
const Tensor* ConstantValue(const Node& n);

// True if the outputs depend only on the values of the inputs, and may be
// computed at any time. Such a node has no state, files, randomness, control
// flow, functions, references or objects, and is not meant to be fed.
bool IsPure(const Node& n);

// What enters loops as `e`, if `e` is a loop invariant: it has the same value.
// Else `e`. Shape functions look so far, and no further: as in TensorFlow, what
// is computed in a loop has no value for them if its inputs come from outside.
Endpoint SourceOfInvariant(Endpoint e);

// Runs the node's CPU kernel on these inputs. Unimplemented for an asynchronous
// kernel. The caller checks IsPure(n).
Status EvaluateNode(const Node& n, absl::Span<const Tensor> inputs,
                    std::vector<Tensor>* outputs);

// Computes the value of `e`. Returns false unless everything that it depends on
// is pure and constant (or a known shape) and within the limits.
bool EvaluateConstant(const Endpoint& e, Tensor* out,
                      const ConstantEvalLimits& limits = {});

}  // namespace headrace

#endif  // HEADRACE_GRAPH_CONSTANT_EVAL_H_
