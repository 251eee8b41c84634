// Common-subexpression elimination: two pure nodes of one op with equal attrs,
// the same inputs and the same requested device compute the same; the later one
// gives its consumers to the earlier. The operands of a commutative op may be
// in either order. One walk in topological order finds whole equal subgraphs,
// since inputs have been merged before their consumers.
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "graph/constant_eval.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {
namespace {

// Larger constants are not compared: weights are seldom equal.
constexpr int64_t kMaxComparedBytes = 64 << 10;

// Whether x op y is y op x, to the last bit.
bool Commutes(const Node& n) {
  if (n.num_inputs() != 2 || n.num_outputs() != 1) return false;
  // Add joins strings, too, so its schema cannot say that it is commutative.
  return n.op_def().is_commutative ||
         (n.traits().arithmetic == ArithmeticOp::kAdd &&
          n.output_type(0) != DT_STRING);
}

// The operand that is compared as the i-th.
Endpoint Operand(const Node& n, int i) {
  const auto at = [&](int k) {
    const Edge* const e = n.input_edge(k);
    return Endpoint{e->src(), e->src_output()};
  };
  if (!Commutes(n)) return at(i);
  const auto order = [](const Endpoint& e) {
    return std::make_pair(e.node->id(), e.index);
  };
  return order(at(0)) <= order(at(1)) ? at(i) : at(1 - i);
}

bool Comparable(const Node& n) {
  for (const auto& [name, value] : n.attrs()) {
    const Tensor* t = value.Get<Tensor>();
    if (t != nullptr &&
        static_cast<int64_t>(t->TotalBytes()) > kMaxComparedBytes) {
      return false;
    }
  }
  return true;
}

size_t HashNode(const Node& n) {
  size_t h =
      absl::HashOf(n.type_string(), n.attrs().size(), n.requested_device());
  for (int i = 0; i < n.num_inputs(); ++i) {
    const Endpoint e = Operand(n, i);
    h = absl::HashOf(h, e.node->id(), e.index);
  }
  if (const AttrValue* v = n.attrs().Find("value")) {
    const Tensor* t = v->Get<Tensor>();
    if (t != nullptr && DataTypeCanUseMemcpy(t->dtype())) {
      h = absl::HashOf(h, t->dtype(), t->tensor_data());
    }
  }
  return h;
}

bool SameComputation(const Node& a, const Node& b) {
  if (a.type_string() != b.type_string() ||
      a.requested_device() != b.requested_device() ||
      a.num_inputs() != b.num_inputs()) {
    return false;
  }
  for (int i = 0; i < a.num_inputs(); ++i) {
    if (Operand(a, i) != Operand(b, i)) return false;
  }
  return a.attrs() == b.attrs();
}

// A node in the table of those that are kept.
struct Kept {
  Node* node;
  size_t hash;
};
struct KeptHash {
  size_t operator()(const Kept& k) const { return k.hash; }
};
struct KeptEqual {
  bool operator()(const Kept& a, const Kept& b) const {
    return a.hash == b.hash && SameComputation(*a.node, *b.node);
  }
};

}  // namespace

Status MergeCommonSubexpressions(const GraphPassContext& context, Graph* graph,
                                 int* changes) {
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(*graph, &order));
  absl::flat_hash_set<Kept, KeptHash, KeptEqual> seen;
  seen.reserve(order.size());
  for (Node* n : order) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    if (!IsPure(*n) || !n->control_inputs().empty() ||
        context.targets.contains(n->name()) || !Comparable(*n)) {
      continue;
    }
    bool connected = true;
    for (const Edge* e : n->data_inputs()) connected &= e != nullptr;
    if (!connected) continue;
    const auto [kept, is_first] = seen.insert({n, HashNode(*n)});
    if (is_first) continue;
    Node* const twin = kept->node;
    const std::vector<const Edge*> out(n->out_edges().begin(),
                                       n->out_edges().end());
    for (const Edge* e : out) {
      if (e->IsControlEdge()) {
        graph->AddControlEdge(twin, e->dst());
      } else {
        HR_RETURN_IF_ERROR(graph->ReplaceInput(e->dst(), e->dst_input(),
                                               {twin, e->src_output()}));
      }
    }
    graph->RemoveNode(n);
    ++*changes;
  }
  return OkStatus();
}

}  // namespace headrace
