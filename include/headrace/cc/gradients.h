// Gradients of a graph that a Scope built.
#ifndef HEADRACE_CC_GRADIENTS_H_
#define HEADRACE_CC_GRADIENTS_H_

#include <vector>

#include "headrace/cc/scope.h"

namespace headrace {

// A gradient: one tensor, or slices along the first dimension of what it is
// the gradient of. Slices at the same index add up.
struct GradientOutput {
  Output dense;
  Output values, indices, dense_shape;  // of slices; `dense` is then empty

  bool IsNone() const { return dense.empty() && values.empty(); }
  bool IsSparse() const { return !values.empty(); }
};

// Adds nodes for the sums of the derivatives of all `ys` by each of `xs`.
// Returns InvalidArgument if a gradient does not fit or an x has no influence
// on any y, NotFound if an op on the way has no gradient; it does not become
// the scope's error. `grad_ys`, if given, are the gradients of `ys`.
Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& ys,
                            const std::vector<Output>& xs,
                            std::vector<Output>* grad_xs);
Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& ys,
                            const std::vector<Output>& xs,
                            const std::vector<Output>& grad_ys,
                            std::vector<Output>* grad_xs);
// The same, with slices as they are. An x without influence has none. `gate`:
// the gradients of one node's inputs are used when all are computed, so that an
// update of one does not change what another is computed from.
Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& ys,
                            const std::vector<Output>& xs,
                            const std::vector<Output>& grad_ys,
                            std::vector<GradientOutput>* grad_xs,
                            bool gate = false);

}  // namespace headrace

#endif  // HEADRACE_CC_GRADIENTS_H_
