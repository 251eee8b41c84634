// Values that are known before a run: nodes that depend on constants alone,
// computed by the kernels that a step would use. Shape inference asks for what
// a shape function needs; the constant-folding pass for whatever pays.
//
// The functions may be called from any thread; the graph must not change
// meanwhile.
#ifndef HEADRACE_GRAPH_CONSTANT_EVAL_H_
#define HEADRACE_GRAPH_CONSTANT_EVAL_H_

#include <vector>

#include "headrace/graph.h"

namespace headrace {

struct ConstantEvalLimits {
  int64_t max_elements = int64_t{1} << 20;  // of any tensor on the way
  int max_nodes = 1000;
};

// The value of a Const node; null if `n` has none.
const Tensor* ConstantValue(const Node& n);

// True if the node's outputs depend on its inputs' values alone and may be
// computed at any time: no state, no files, no randomness, no control flow, no
// functions, nothing that a feed is meant to replace, no references or objects.
bool IsPure(const Node& n);

// Runs the node's CPU kernel on these values. Not for asynchronous kernels:
// Unimplemented. Whether IsPure(n) is the caller's to check.
Status EvaluateNode(const Node& n, absl::Span<const Tensor> inputs,
                    std::vector<Tensor>* outputs);

// The value of `e` if all that it depends on is constant (or the shape of
// something whose shape is known) and pure, and stays within the limits.
bool EvaluateConstant(const Endpoint& e, Tensor* out,
                      const ConstantEvalLimits& limits = {});

}  // namespace headrace

#endif  // HEADRACE_GRAPH_CONSTANT_EVAL_H_
