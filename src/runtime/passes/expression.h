// What a graph spells out by element-wise nodes, multiplied out: a sum of
// products of values. Two spellings of one formula give the same sum, so a pass
// recognises a formula by its sum, whatever the order and form of its nodes.
//
//   0.5 * x * (1 + erf(y))   is   {x: 0.5, x erf(y): 0.5}
//   x * s + (b - m * s)      is   {x s: 1, m s: -1, b: 1}
//
// Thread-compatible.
#ifndef HEADRACE_RUNTIME_PASSES_EXPRESSION_H_
#define HEADRACE_RUNTIME_PASSES_EXPRESSION_H_

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "runtime/passes/rewrite.h"

namespace headrace {

// Products of atoms, by number and in order; their factors. No factor is 0.
using Expression = std::map<std::vector<int>, double>;

// True if both have the same products, and factors that differ as roundings of
// the constants of a graph of type `dtype` do.
bool IsNearly(const Expression& got, const Expression& want, DataType dtype);

// The value of a constant of one element that a float or double of rank `rank`
// (-1: any) may be combined with and keep its shape. Nothing if it is none.
std::optional<double> ScalarInput(const Node& n, int i, int rank);

class Expander {
 public:
  // `atom` says the number of a value that is not taken apart, or -1.
  // `reciprocal` says the same of a value whose reciprocal is one.
  using Atoms = std::function<int(const Endpoint&)>;
  Expander(
      int rank, Atoms atom,
      Atoms reciprocal = [](const Endpoint&) { return -1; })
      : rank_(rank),
        atom_(std::move(atom)),
        reciprocal_(std::move(reciprocal)) {}

  // Nothing if `e` is no sum of products of atoms and constants, or a long one.
  std::optional<Expression> Expand(const Endpoint& e);

  // The nodes that were taken apart, each once, readers last.
  const std::vector<Node*>& nodes() const { return nodes_; }

 private:
  std::optional<Expression> ExpandNode(const Node& n);
  std::optional<Expression> Operand(const Node& n, int i);

  const int rank_;
  const Atoms atom_, reciprocal_;
  std::vector<Node*> nodes_;
  int visits_ = 0;
};

// Nobody but `nodes` and `readers` reads outputs of those of `nodes` that are
// not `last`, which no step asks for. All of them may become one node.
bool MayBecomeOne(Rewriter* rewriter, const std::vector<Node*>& nodes,
                  const Node& last, const std::vector<Node*>& readers = {});

// Calls `fuse` for each node for which `is_root` is true, in topological order.
// A call may remove any other node but a root. Errors: those of `fuse`, and
// CheckInterrupt's, which is asked before each call.
Status ForEachRoot(const Graph& graph,
                   const std::function<bool(const Node&)>& is_root,
                   const std::function<Status(Node*)>& fuse);

// The data input `i`.
inline Endpoint InputOf(const Node& n, int i) {
  const Edge* const e = n.input_edge(i);
  return {e->src(), e->src_output()};
}

}  // namespace headrace

#endif  // HEADRACE_RUNTIME_PASSES_EXPRESSION_H_
