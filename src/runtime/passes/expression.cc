#include "runtime/passes/expression.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"

namespace headrace {
namespace {

// What is longer is no formula that a pass looks for.
constexpr int kMaxVisits = 64;
constexpr size_t kMaxTerms = 16;
constexpr size_t kMaxFactors = 8;

void AddTo(const Expression& e, double factor, Expression* sum) {
  for (const auto& [product, f] : e) {
    double& there = (*sum)[product];
    there += factor * f;
    if (there == 0) sum->erase(product);
  }
}

std::optional<Expression> Sum(const std::optional<Expression>& a,
                              const std::optional<Expression>& b,
                              double factor = 1) {
  if (!a || !b) return std::nullopt;
  Expression sum = *a;
  AddTo(*b, factor, &sum);
  if (sum.size() > kMaxTerms) return std::nullopt;
  return sum;
}

std::optional<Expression> Product(const std::optional<Expression>& a,
                                  const std::optional<Expression>& b) {
  if (!a || !b || a->size() * b->size() > 4 * kMaxTerms) return std::nullopt;
  Expression result;
  for (const auto& [p, f] : *a) {
    for (const auto& [q, g] : *b) {
      std::vector<int> pq;
      absl::c_merge(p, q, std::back_inserter(pq));
      if (pq.size() > kMaxFactors) return std::nullopt;
      AddTo({{pq, f * g}}, 1, &result);
    }
  }
  if (result.size() > kMaxTerms) return std::nullopt;
  return result;
}

}  // namespace

bool IsNearly(const Expression& got, const Expression& want, DataType dtype) {
  const double tolerance = dtype == DT_FLOAT ? 3e-7 : 2e-15;
  return absl::c_equal(got, want, [&](const auto& a, const auto& b) {
    return a.first == b.first &&
           std::abs(a.second - b.second) <= tolerance * std::abs(b.second);
  });
}

std::optional<double> ScalarInput(const Node& n, int i, int rank) {
  const Tensor* const t = ConstantInput(n, i);
  if (t == nullptr || t->NumElements() != 1 ||
      (t->dims() > 0 && t->dims() > rank)) {
    return std::nullopt;
  }
  double value = 0;
  if (t->dtype() == DT_FLOAT) {
    value = t->data<float>()[0];
  } else if (t->dtype() == DT_DOUBLE) {
    value = t->data<double>()[0];
  } else {
    return std::nullopt;
  }
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<Expression> Expander::Expand(const Endpoint& e) {
  if (++visits_ > kMaxVisits) return std::nullopt;
  if (const int atom = atom_(e); atom >= 0) return Expression{{{atom}, 1.0}};
  const Node& n = *e.node;
  if (e.index != 0 || n.num_outputs() != 1 ||
      n.attrs().Find("_kernel") != nullptr) {
    return std::nullopt;
  }
  for (const Edge* in : n.data_inputs()) {
    if (in == nullptr ||
        in->src()->output_type(in->src_output()) != n.output_type(0)) {
      return std::nullopt;
    }
  }
  if (n.num_inputs() == 0) return std::nullopt;
  std::optional<Expression> result = ExpandNode(n);
  if (result && !absl::c_linear_search(nodes_, e.node)) {
    nodes_.push_back(e.node);
  }
  return result;
}

// Operand `i`, which may be a constant.
std::optional<Expression> Expander::Operand(const Node& n, int i) {
  if (const std::optional<double> value = ScalarInput(n, i, rank_)) {
    if (*value == 0) return Expression();
    return Expression{{{}, *value}};
  }
  return Expand(InputOf(n, i));
}

std::optional<Expression> Expander::ExpandNode(const Node& n) {
  switch (n.traits().arithmetic) {
    case ArithmeticOp::kBiasAdd: {
      // Along the last dim it is an addition.
      std::string format;
      if (!n.attrs().Get("data_format", &format).ok() || format != "NHWC") {
        return std::nullopt;
      }
      return Sum(Operand(n, 0), Operand(n, 1));
    }
    case ArithmeticOp::kAdd:
      return Sum(Operand(n, 0), Operand(n, 1));
    case ArithmeticOp::kSub:
      return Sum(Operand(n, 0), Operand(n, 1), -1);
    case ArithmeticOp::kMul:
      return Product(Operand(n, 0), Operand(n, 1));
    case ArithmeticOp::kDiv: {
      Expression by;
      if (const int atom = reciprocal_(InputOf(n, 1)); atom >= 0) {
        by = {{{atom}, 1.0}};
      } else if (const std::optional<double> value = ScalarInput(n, 1, rank_);
                 value && *value != 0) {
        by = {{{}, 1 / *value}};
      } else {
        return std::nullopt;
      }
      return Product(Operand(n, 0), by);
    }
    case ArithmeticOp::kNegate:
      return Product(Operand(n, 0), Expression{{{}, -1.0}});
    case ArithmeticOp::kSquare: {
      const auto x = Operand(n, 0);
      return Product(x, x);
    }
    case ArithmeticOp::kSquaredDifference: {
      const auto d = Sum(Operand(n, 0), Operand(n, 1), -1);
      return Product(d, d);
    }
    case ArithmeticOp::kPower: {
      const std::optional<double> power = ScalarInput(n, 1, rank_);
      if (!power || (*power != 2 && *power != 3)) return std::nullopt;
      const auto x = Operand(n, 0);
      const auto square = Product(x, x);
      return *power == 2 ? square : Product(square, x);
    }
    case ArithmeticOp::kNone:
      break;
  }
  return std::nullopt;
}

bool MayBecomeOne(Rewriter* rewriter, const std::vector<Node*>& nodes,
                  const Node& last, const std::vector<Node*>& readers) {
  return absl::c_all_of(nodes, [&](const Node* n) {
    if (!Rewriter::SamePlace(*n, last)) return false;
    if (n == &last) return rewriter->MayRemove(*n);
    return rewriter->MayRemove(*n) &&
           absl::c_all_of(n->out_edges(), [&](const Edge* e) {
             return !e->IsControlEdge() &&
                    (absl::c_linear_search(nodes, e->dst()) ||
                     absl::c_linear_search(readers, e->dst()));
           });
  });
}

Status ForEachRoot(const Graph& graph,
                   const std::function<bool(const Node&)>& is_root,
                   const std::function<Status(Node*)>& fuse) {
  // Most graphs have none, and an order of all nodes is expensive.
  bool has_roots = false;
  graph.ForEachNode(
      [&](const Node* n) { has_roots = has_roots || is_root(*n); });
  if (!has_roots) return CheckInterrupt();
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(graph, &order));
  std::erase_if(order, [&](const Node* n) { return !is_root(*n); });
  for (Node* n : order) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    HR_RETURN_IF_ERROR(fuse(n));
  }
  return OkStatus();
}

}  // namespace headrace
