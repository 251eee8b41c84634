// Computes gradients of weights as soon as they can be, before the step goes on
// to earlier layers. Nothing but an update reads such a gradient, so it could
// wait for the end of the step; what it is computed from, a layer's activations
// and the gradient of its result, would then stay in memory, and no plan of the
// memory could give their place to others.
//
// The longest way from a value leads through the node after it that has the
// most nodes after it in turn. Where others read the value, side work begins:
//
//   dy2 -> input gradient -> ... -> dy1 -> input gradient -> ...   the way
//      \-> filter gradient -> update                               side work
//
// Side work that ends sooner than the way at its next fork does is begun before
// the way goes on there: a control edge leads from its first node to the one
// after the next fork that is on the way. So one fork's side work may run
// beside the way to the next. If it is large, it does not: its own loops keep
// all threads at work, and its temporary memory would be needed beside the
// way's.
#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

// Bytes of the sets of nodes; with more the graph stays as it is.
constexpr int64_t kMostBytes = int64_t{64} << 20;

// An edge makes a node wait for what the other one waits for. It must not be
// for anything that ends only if the node runs: a queue, a feed of a partial
// run.
bool MayWait(const Node& n) {
  constexpr Effect kNever = Effect::kReadsState | Effect::kRandom |
                            Effect::kReadsClock | Effect::kStops |
                            Effect::kPrints;
  return !n.IsConstant() && !n.IsNoOp() && HasAny(n.effects(), ~kNever) &&
         n.traits().variable_use != VariableUse::kHolds;
}

bool WritesState(const Node& n) {
  return HasAny(n.effects(), Effect::kWritesState) &&
         n.traits().variable_use != VariableUse::kHolds;
}

class Forks {
 public:
  explicit Forks(Graph* graph) : graph_(graph) {}

  Status Run(int* changes) {
    if (!IsTraining()) return OkStatus();
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph_, &order_));
    const int64_t words = (static_cast<int64_t>(order_.size()) + 63) / 64;
    if (static_cast<int64_t>(order_.size()) * words * 8 > kMostBytes) {
      return OkStatus();
    }
    FindHeights();
    Schedule();
    FindBefore(words);
    for (Node* n : order_) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      OrderReaders(*n, changes);
    }
    return OkStatus();
  }

 private:
  // Something is updated, and nothing decides at run time what runs: an edge
  // from a branch that does not run would stop what waits for it.
  bool IsTraining() const {
    bool writes = false, flows = false;
    graph_->ForEachNode([&](const Node* n) {
      writes |= WritesState(*n);
      flows |= n->IsControlFlow() || n->IsSend() || n->IsRecv();
    });
    return writes && !flows;
  }

  void FindHeights() {
    height_.assign(graph_->num_node_ids(), 0);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      int& height = height_[(*it)->id()];
      for (const Edge* e : (*it)->out_edges()) {
        height = std::max(height, height_[e->dst()->id()] + 1);
      }
    }
  }

  // Of the nodes that could run next always the one that leads to the end
  // soonest. New edges follow this order, so they make no cycle.
  void Schedule() {
    std::vector<int> waits(graph_->num_node_ids());
    const auto later = [&](const Node* a, const Node* b) {
      return std::make_pair(height_[a->id()], a->id()) >
             std::make_pair(height_[b->id()], b->id());
    };
    std::priority_queue<Node*, std::vector<Node*>, decltype(later)> ready(
        later);
    for (Node* n : order_) {
      waits[n->id()] = static_cast<int>(n->data_inputs().size() +
                                        n->control_inputs().size());
      if (waits[n->id()] == 0) ready.push(n);
    }
    position_.assign(graph_->num_node_ids(), 0);
    order_.clear();
    while (!ready.empty()) {
      Node* const n = ready.top();
      ready.pop();
      position_[n->id()] = static_cast<int>(order_.size());
      order_.push_back(n);
      for (const Edge* e : n->out_edges()) {
        if (--waits[e->dst()->id()] == 0) ready.push(e->dst());
      }
    }
  }

  // For each node the set of those before it, and itself. A node's bit is its
  // position.
  void FindBefore(int64_t words) {
    words_ = words;
    before_.assign(order_.size() * words, 0);
    may_wait_.assign(words, 0);
    for (const Node* n : order_) {
      const int at = position_[n->id()];
      if (MayWait(*n)) may_wait_[at / 64] |= Bit(at);
      for (const Edge* e : n->data_inputs()) Unite(*e->src(), *n);
      for (const Edge* e : n->control_inputs()) Unite(*e->src(), *n);
      Before(*n)[at / 64] |= Bit(at);
    }
  }
  static uint64_t Bit(int at) { return uint64_t{1} << (at % 64); }
  uint64_t* Before(const Node& n) {
    return before_.data() + position_[n.id()] * words_;
  }
  void Unite(const Node& from, const Node& to) {
    const uint64_t* const a = Before(from);
    uint64_t* const b = Before(to);
    for (int64_t i = 0; i < words_; ++i) b[i] |= a[i];
  }

  // The node on the longest way that waits for `n`, and whether there are
  // several that read it.
  Node* Next(const Node& n, bool* is_fork) const {
    Node* next = nullptr;
    const Node* reader = nullptr;
    *is_fork = false;
    for (const Edge* e : n.out_edges()) {
      if (next == nullptr || height_[e->dst()->id()] > height_[next->id()]) {
        next = e->dst();
      }
      if (e->IsControlEdge()) continue;
      *is_fork |= reader != nullptr && reader != e->dst();
      reader = e->dst();
    }
    return next;
  }

  void OrderReaders(const Node& n, int* changes) {
    bool is_fork = false;
    Node* const way = Next(n, &is_fork);
    if (!is_fork) return;
    Node* next = way;
    for (is_fork = false; next != nullptr && !is_fork;) {
      next = Next(*next, &is_fork);
    }
    for (const Edge* e : n.out_edges()) {
      if (e->IsControlEdge() || e->dst() == way) continue;
      if (IsLarge(*e->dst()) && EndsEarly(*e->dst(), *way) &&
          MayOrder(*e->dst(), *way)) {
        found_.emplace_back(e->dst(), way);
      } else if (next != nullptr && MayOrder(*e->dst(), *next)) {
        found_.emplace_back(e->dst(), next);
      }
    }
    for (const auto& [side, reader] : found_) {
      graph_->AddControlEdge(side, reader);
      ++*changes;
    }
    found_.clear();
  }

  // Much before the way does; branches of a layer do not.
  bool EndsEarly(const Node& side, const Node& way) const {
    return 3 * height_[side.id()] <= 2 * height_[way.id()];
  }

  // What it reads or gives takes memory that counts.
  static bool IsLarge(const Node& n) {
    for (const Edge* e : n.data_inputs()) {
      if (IsLarge(e->src()->output_shape(e->src_output()))) return true;
    }
    for (int i = 0; i < n.num_outputs(); ++i) {
      if (IsLarge(n.output_shape(i))) return true;
    }
    return false;
  }
  static bool IsLarge(const PartialTensorShape& shape) {
    if (shape.unknown_rank()) return true;
    constexpr double kLarge = 1 << 16;  // elements
    constexpr double kBatch = 16;       // for a size that is not known
    double elements = 1;
    for (int i = 0; i < shape.dims(); ++i) {
      const int64_t size = shape.dim_size(i);
      elements *= size < 0 ? kBatch : static_cast<double>(size);
    }
    return elements >= kLarge;
  }

  bool MayOrder(const Node& side, const Node& next) {
    const int at = position_[side.id()];
    if (height_[side.id()] >= height_[next.id()] ||
        at >= position_[next.id()] || (Before(next)[at / 64] & Bit(at)) != 0 ||
        !IsUsedSoon(side, next) ||
        side.requested_device() != next.requested_device()) {
      return false;
    }
    const uint64_t* const a = Before(side);
    const uint64_t* const b = Before(next);
    for (int64_t i = 0; i < words_; ++i) {
      if ((a[i] & ~b[i] & may_wait_[i]) != 0) return false;
    }
    return true;
  }

  // Before the way goes on from the next fork after `next`. Else what `side`
  // gives would only be there for longer.
  bool IsUsedSoon(const Node& side, const Node& next) const {
    // What it gives is small, and what it reads may go.
    if (side.traits().value_is_of_shapes) return true;
    bool is_fork = false, is_read = false;
    const Node* after = &next;
    while (after != nullptr && !is_fork) after = Next(*after, &is_fork);
    for (const Edge* e : side.out_edges()) {
      if (e->IsControlEdge()) continue;
      if (after == nullptr ||
          position_[e->dst()->id()] < position_[after->id()]) {
        return true;
      }
      is_read = true;
    }
    return !is_read;
  }

  Graph* const graph_;
  std::vector<Node*> order_;
  std::vector<int> height_, position_;  // by id
  std::vector<std::pair<Node*, Node*>> found_;
  int64_t words_ = 0;  // of a set
  std::vector<uint64_t> before_, may_wait_;
};

}  // namespace

Status OrderGradients(const GraphPassContext&, Graph* graph, int* changes) {
  return Forks(graph).Run(changes);
}

}  // namespace headrace
