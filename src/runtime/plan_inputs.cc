#include "runtime/plan_inputs.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "graph/control_flow.h"

namespace headrace {
namespace {

// What must have run, alive, before a node can: found backwards from its
// inputs. Constants are no evidence, since they may be bound themselves.
class Evidence {
 public:
  Evidence(const Node& reader, const Node& constant) {
    Look(reader, &constant);
    while (!stack_.empty() && alive_.size() < kMaxNodes) {
      const Node* const n = stack_.back();
      stack_.pop_back();
      if (NeedsItsInputs(*n)) Look(*n, nullptr);
    }
  }

  // True if `n` need not be waited for: it is among what must have run; or it
  // has no effect, and its inputs are.
  bool Covers(const Node& n, int depth = 0) {
    if (alive_.contains(&n)) return true;
    if (depth > kMaxDepth || ++covers_asked_ > kMaxCovers ||
        !(n.IsSwitch() || n.IsLoopCond() || n.IsIdentity() || n.IsNoOp())) {
      return false;
    }
    for (const Edge* e : n.data_inputs()) {
      if (!Covers(*e, depth)) return false;
    }
    for (const Edge* e : n.control_inputs()) {
      if (!Covers(*e->src(), depth + 1)) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMaxNodes = 64;
  static constexpr size_t kMaxInputs = 256;
  static constexpr int kMaxDepth = 8;
  static constexpr int kMaxCovers = 1000;
  static constexpr int kMaxIdentities = 64;  // before a predicate
  using Branch = std::pair<Endpoint, int>;   // predicate, output of the Switch

  // False where inputs may be dead, or are in other frames and iterations.
  static bool NeedsItsInputs(const Node& n) {
    return !n.IsMerge() && !n.IsEnter() && !n.IsExit() &&
           !n.IsNextIteration() &&
           n.node_class() != Node::Class::kControlTrigger;
  }

  static Branch BranchOf(const Edge& e) {
    const Edge* pred = e.src()->input_edge(1);
    for (int i = 0; i < kMaxIdentities && pred->src()->IsIdentity(); ++i) {
      pred = pred->src()->input_edge(0);
    }
    return {{pred->src(), pred->src_output()}, e.src_output()};
  }

  // At some of its inputs, if it has very many.
  void Look(const Node& n, const Node* without) {
    const auto look = [&](const Edge* e) {
      if (e->src() == without || e->src()->IsConstant()) return;
      if (e->src()->IsSwitch() && !e->IsControlEdge()) {
        branches_.insert(BranchOf(*e));
      }
      if (alive_.insert(e->src()).second) stack_.push_back(e->src());
    };
    size_t left = kMaxInputs;
    for (const Edge* e : n.data_inputs()) {
      if (left-- == 0) return;
      look(e);
    }
    for (const Edge* e : n.control_inputs()) {
      if (left-- == 0) return;
      look(e);
    }
  }

  bool Covers(const Edge& e, int depth) {
    return Covers(*e.src(), depth + 1) &&
           (!e.src()->IsSwitch() || branches_.contains(BranchOf(e)));
  }

  absl::flat_hash_set<const Node*> alive_;
  absl::flat_hash_set<Branch> branches_;
  std::vector<const Node*> stack_;
  int covers_asked_ = 0;
};

}  // namespace

PlanInputs::PlanInputs(const Graph& graph, absl::Span<Node* const> order)
    : bound_(graph.num_node_ids()), passed_by_(graph.num_node_ids()) {
  graph.ForEachNode([&](Node* n) {
    if (n->IsConstant()) bound_[n->id()] = CanBeBound(*n);
  });
  PassByEntersOfConstants(order);
  graph.ForEachNode([&](Node* n) {
    if (n->IsIdentity()) passed_by_[n->id()] = CanBePassedBy(*n);
  });
}

bool PlanInputs::CanBeBound(const Node& n) const {
  const Node* last_reader = nullptr;
  for (const Edge* e : n.out_edges()) {
    const Node& reader = *e->dst();
    if (reader.IsMerge()) return false;
    if (n.control_inputs().empty()) continue;
    if (e->IsControlEdge()) return false;
    if (&reader == last_reader) continue;
    last_reader = &reader;
    Evidence evidence(reader, n);
    for (const Edge* c : n.control_inputs()) {
      if (!evidence.Covers(*c->src())) return false;
    }
  }
  return true;
}

// A constant that a loop is given is there, and alive, in every iteration. It
// need not arrive if all that read it in the loop have something else to wait
// for.
void PlanInputs::PassByEntersOfConstants(absl::Span<Node* const> order) {
  const auto is_enter = [](const Node* n) { return IsConstantEnter(*n); };
  if (absl::c_none_of(order, is_enter)) return;
  // What hands on its input, and nothing but that.
  const auto hands_on = [](const Node& n) {
    return n.control_inputs().empty() && (n.IsIdentity() || IsConstantEnter(n));
  };
  // Values that are no evidence of an iteration.
  std::vector<bool> invariant(bound_.size());
  for (const Node* n : order) {
    invariant[n->id()] =
        n->IsConstant() || IsConstantEnter(*n) ||
        (hands_on(*n) && invariant[n->input_edge(0)->src()->id()]);
  }
  std::vector<bool> readers_wait(bound_.size());
  for (auto n = order.rbegin(); n != order.rend(); ++n) {
    if (!hands_on(**n)) continue;
    const auto waits = [&](const Edge* e) {
      const Node& reader = *e->dst();
      if (e->IsControlEdge() || reader.IsMerge()) return false;
      if (hands_on(reader)) return static_cast<bool>(readers_wait[reader.id()]);
      return absl::c_any_of(reader.data_inputs(), [&](const Edge* in) {
        return !invariant[in->src()->id()];
      });
    };
    readers_wait[(*n)->id()] =
        !(*n)->out_edges().empty() && absl::c_all_of((*n)->out_edges(), waits);
  }
  std::vector<bool> brings(bound_.size());
  for (const Node* n : order) {
    if (!hands_on(*n) || !readers_wait[n->id()]) continue;
    const Node& from = *n->input_edge(0)->src();
    brings[n->id()] =
        brings[from.id()] || (IsConstantEnter(*n) && IsBound(from));
    if (n->IsEnter()) passed_by_[n->id()] = brings[n->id()];
  }
}

bool PlanInputs::CanBePassedBy(const Node& n) const {
  const Edge* const in = n.input_edge(0);
  if (in == nullptr || !n.control_inputs().empty() || IsBound(*in->src()) ||
      IsRefType(in->src()->output_type(in->src_output()))) {
    return false;
  }
  bool is_read = false;
  for (const Edge* e : n.out_edges()) {
    is_read |= !e->IsControlEdge();
    if (e->IsControlEdge() && !IsBound(*e->dst())) return false;
  }
  return is_read;
}

Endpoint PlanInputs::Source(const Edge& e) const {
  const Edge* from = &e;
  while (IsPassedBy(*from->src())) from = from->src()->input_edge(0);
  return {from->src(), from->src_output()};
}

}  // namespace headrace
