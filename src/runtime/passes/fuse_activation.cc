// Makes one node of each activation that the graph spells out, in any order and
// form of its arithmetic:
//
//   _Gelu             x / 2 (1 + erf(x / sqrt(2))), x / 2 erfc(-x / sqrt(2))
//   _ApproximateGelu  x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
//   _Swish            x sigmoid(x)
//   _HardSwish        x relu6(x + 3) / 6
//   _Mish             x tanh(softplus(x))
//
// Each begins at the one node that is no arithmetic, the function. These nodes
// are activations themselves: what fuses those takes them in. float and double
// only: narrower types round after each node.
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "runtime/passes/expression.h"

namespace headrace {
namespace {

// Atoms.
constexpr int kX = 0, kFunction = 1;

struct Formula {
  const char* fused;
  const char* function;
  const char* inner;  // another function, of which that one is; or null
  Expression argument, result;
};

const std::vector<Formula>& Formulas() {
  constexpr double kSlope = 0.79788456080286535588;  // sqrt(2 / pi)
  const Expression x = {{{kX}, 1}};
  const Expression product = {{{kX, kFunction}, 1}};
  const Expression half = {{{kX}, 0.5}, {{kX, kFunction}, 0.5}};
  static const auto* const formulas = new std::vector<Formula>{
      {"_Gelu", "Erf", nullptr, {{{kX}, M_SQRT1_2}}, half},
      {"_Gelu",
       "Erfc",
       nullptr,
       {{{kX}, -M_SQRT1_2}},
       {{{kX, kFunction}, 0.5}}},
      {"_ApproximateGelu",
       "Tanh",
       nullptr,
       {{{kX}, kSlope}, {{kX, kX, kX}, kSlope * 0.044715}},
       half},
      {"_Swish", "Sigmoid", nullptr, x, product},
      {"_HardSwish",
       "Relu6",
       nullptr,
       {{{}, 3}, {{kX}, 1}},
       {{{kX, kFunction}, 1. / 6}}},
      {"_Mish", "Tanh", "Softplus", x, product}};
  return *formulas;
}

class ActivationFinder {
 public:
  ActivationFinder(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    // Of a formula only its function is a root.
    return ForEachRoot(
        *graph_,
        [](const Node& n) {
          return IsReal(n) && absl::c_any_of(Formulas(), [&](const Formula& f) {
                   return n.type_string() == f.function;
                 });
        },
        [&](Node* n) { return Fuse(n, changes); });
  }

 private:
  struct Match {
    std::vector<Node*> nodes;
    Endpoint x;
    const char* fused = nullptr;
  };

  static bool IsReal(const Node& n) {
    return n.num_inputs() == 1 && n.input_edge(0) != nullptr &&
           !n.output_types().empty() &&
           (n.output_type(0) == DT_FLOAT || n.output_type(0) == DT_DOUBLE) &&
           n.input_edge(0)->src()->output_type(n.input_edge(0)->src_output()) ==
               n.output_type(0);
  }

  Status Fuse(Node* function, int* changes) {
    Match m;
    for (const Formula& f : Formulas()) {
      if (function->type_string() == f.function && Find(function, f, &m)) break;
    }
    if (m.fused == nullptr) return OkStatus();
    NodeDef def;
    def.op = m.fused;
    def.attrs.Set("T", function->output_type(0));
    return rewriter_.ReplaceByOne(m.nodes, std::move(def), {m.x}, changes);
  }

  bool Find(Node* function, const Formula& f, Match* m) {
    const Node* begin = function;
    if (f.inner != nullptr) {
      begin = function->input_edge(0)->src();
      if (begin->type_string() != f.inner || !IsReal(*begin)) return false;
    }
    // x is before the function; the result after it.
    for (const Endpoint& x : Before(InputOf(*begin, 0))) {
      const int rank = x.node->output_shape(x.index).dims();
      Expander of_x(rank, [&](const Endpoint& e) { return e == x ? kX : -1; });
      const auto argument = of_x.Expand(InputOf(*begin, 0));
      if (!argument ||
          !IsNearly(*argument, f.argument, function->output_type(0))) {
        continue;
      }
      Node* last = function;
      for (int i = 0; i < kMaxAfter; ++i) {
        const Edge* const e = rewriter_.OnlyReader(*last);
        if (e == nullptr || e->IsControlEdge()) break;
        last = e->dst();
        Expander expander(rank, [&](const Endpoint& e) {
          return e == x ? kX : e == Endpoint{function, 0} ? kFunction : -1;
        });
        const auto result = expander.Expand({last, 0});
        if (!result) continue;
        if (!IsNearly(*result, f.result, function->output_type(0))) continue;
        m->nodes = of_x.nodes();
        if (begin != function) m->nodes.push_back(const_cast<Node*>(begin));
        m->nodes.push_back(function);
        for (Node* n : expander.nodes()) {
          if (!absl::c_linear_search(m->nodes, n)) m->nodes.push_back(n);
        }
        if (!MayBecomeOne(&rewriter_, m->nodes, *last)) continue;
        m->x = x;
        m->fused = f.fused;
        return true;
      }
    }
    return false;
  }

  // `e` and what arithmetic makes it of, the nearest first.
  static std::vector<Endpoint> Before(const Endpoint& e) {
    std::vector<Endpoint> found = {e};
    for (size_t i = 0; i < found.size() && found.size() < kMaxBefore; ++i) {
      const Node& n = *found[i].node;
      if (n.traits().arithmetic == ArithmeticOp::kNone) continue;
      for (const Edge* in : n.data_inputs()) {
        if (in == nullptr) continue;
        const Endpoint from = {in->src(), in->src_output()};
        if (!from.node->IsConstant() && !absl::c_linear_search(found, from)) {
          found.push_back(from);
        }
      }
    }
    return found;
  }
  static constexpr size_t kMaxBefore = 12;
  static constexpr int kMaxAfter = 6;

  Graph* const graph_;
  Rewriter rewriter_;
};

}  // namespace

Status FuseActivation(const GraphPassContext& context, Graph* graph,
                      int* changes) {
  if (OpRegistry::Global()->Find("_Gelu") == nullptr) return OkStatus();
  return ActivationFinder(context, graph).Run(changes);
}

}  // namespace headrace
