// Removes control edges that order nothing. Gradients are full of them: a group
// of dependencies waits for all gradients of a node before any is used, and
// keeps neighbours from becoming one node.
//
// An edge from u to v orders what u waited for, and u, before v. It may go if v
// waits for the same effects by its other edges: those that u and what u
// depends on have on state, and their reads of it. Values that share a
// variable's buffer are reads where they are used. Likewise for control flow:
// v must be dead whenever u was. Both are sets of bits, a node's being the
// union of those of its inputs and its own.
//
// Nor does a node that gives a shape need an edge from u if all that read it
// have one themselves. It may then run, and let its inputs go, before u.
//
// What has no effects could still fail, and somebody may wait for that: u must
// be needed for its value as well, or be a float's arithmetic of known shapes,
// which does not fail and is removed if nobody needs it then. What has effects
// itself keeps its edges.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "graph/control_flow.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

// Bytes of all sets; with more the graph stays as it is.
constexpr int64_t kMostReachableBytes = int64_t{64} << 20;
// Control edges of a node that are compared with each other.
constexpr size_t kMostCompared = 64;

bool IsFlow(const Node& n) {
  return n.IsControlFlow() || n.IsSend() || n.IsRecv();
}

class Orders {
 public:
  Orders(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    if (!HasCandidates()) return OkStatus();
    // A graph that is wrong stays so: whoever runs it says what is wrong.
    ControlFlow flow;
    if (!AnalyzeControlFlow(*graph_, &flow).ok()) return OkStatus();
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph_, &order_));
    if (!NumberBits()) return OkStatus();
    FindWhatCannotFail();
    for (Node* n : order_) {
      if (n->traits().value_is_of_shapes) LeaveToReaders(n, changes);
    }
    for (Node* n : order_) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      if (own_[n->id()] < 0) RemoveFrom(n, changes);
      Collect(*n);
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      Node* const n = *it;
      if (n->IsNoOp() && n->out_edges().empty() && rewriter_.MayRemove(*n)) {
        graph_->RemoveNode(n);
      } else if (cannot_fail_[n->id()] && n->out_edges().empty() &&
                 rewriter_.MayRemove(*n)) {
        graph_->RemoveNode(n);
        ++*changes;
      }
    }
    return OkStatus();
  }

 private:
  // Arithmetic of floats and doubles whose shapes fit, as is known.
  static bool NeverFails(const Node& n) {
    if (n.num_outputs() != 1 || n.num_inputs() == 0 ||
        (n.output_type(0) != DT_FLOAT && n.output_type(0) != DT_DOUBLE) ||
        !n.output_shape(0).IsFullyDefined() ||
        n.attrs().Find("_kernel") != nullptr) {
      return false;
    }
    for (const Edge* e : n.data_inputs()) {
      if (e == nullptr ||
          !e->src()->output_shape(e->src_output()).IsFullyDefined() ||
          (e->src()->output_type(e->src_output()) != n.output_type(0) &&
           ConstantInput(n, e->dst_input()) == nullptr)) {
        return false;
      }
    }
    return n.traits().floats_never_fail ||
           n.traits().elementwise != Elementwise::kNo;
  }

  // Nodes that do not fail, nor does what is there for them alone.
  void FindWhatCannotFail() {
    // What other nodes need for their values, whoever waits for these.
    std::vector<bool> needed(own_.size(), false);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const Node& n = **it;
      if (!needed[n.id()] && own_[n.id()] < 0 && NeverFails(n)) continue;
      for (const Edge* e : n.data_inputs()) {
        if (e != nullptr) needed[e->src()->id()] = true;
      }
    }
    cannot_fail_.assign(own_.size(), false);
    for (const Node* n : order_) {
      bool good = own_[n->id()] < 0 && NeverFails(*n);
      for (const Edge* e : n->data_inputs()) {
        if (!good) break;
        const Node& from = *e->src();
        good = from.IsConstant() || from.IsArg() || from.IsPlaceholder() ||
               needed[from.id()] || cannot_fail_[from.id()];
      }
      cannot_fail_[n->id()] = good;
    }
  }

  bool HasCandidates() const {
    bool found = false;
    graph_->ForEachNode([&](const Node* n) {
      found |= !n->control_inputs().empty() && !IsFlow(*n);
    });
    return found;
  }

  // Its value may be bytes of a variable.
  bool MayShare(const Edge& e) const {
    return IsRefType(e.src()->output_type(e.src_output())) ||
           shares_[e.src()->id()];
  }

  bool HasEffects(const Node& n) const {
    if (n.IsArg() || n.IsPlaceholder() || n.IsConstant() || n.IsNoOp()) {
      return false;
    }
    if (IsFlow(n) || EffectsOf(n.op_def()) != Effect::kNone) return true;
    return std::any_of(n.data_inputs().begin(), n.data_inputs().end(),
                       [this](const Edge* e) { return MayShare(*e); });
  }

  // False if there would be too many.
  bool NumberBits() {
    int64_t ids = 0;
    for (const Node* n : order_) ids = std::max<int64_t>(ids, n->id() + 1);
    shares_.assign(ids, false);
    own_.assign(ids, -1);
    safe_.assign(ids, false);
    int bits = 0;
    for (const Node* n : order_) {
      const OutputBuffer buffer = n->traits().output_buffer;
      const bool hands_on = IsFlow(*n) || buffer == OutputBuffer::kInput ||
                            buffer == OutputBuffer::kEachInput ||
                            buffer == OutputBuffer::kView ||
                            buffer == OutputBuffer::kPart;
      for (const Edge* e : n->data_inputs()) {
        if (hands_on && MayShare(*e)) shares_[n->id()] = true;
      }
      if (HasEffects(*n)) own_[n->id()] = bits++;
    }
    effect_words_ = (bits + 63) / 64;
    // Of a Switch, a bit an output; of other control flow, one.
    int alive = effect_words_ * 64;
    alive_.assign(ids, -1);
    for (const Node* n : order_) {
      if (!IsFlow(*n)) continue;
      alive_[n->id()] = alive;
      alive += std::max(1, n->num_outputs());
    }
    words_ = (alive + 63) / 64;
    if (ids * words_ * int64_t{8} > kMostReachableBytes) return false;
    sets_.assign(ids * words_, 0);
    return true;
  }

  // Empty if nothing has effects.
  uint64_t* SetOf(const Node& n) { return sets_.data() + n.id() * words_; }
  static void SetBit(uint64_t* set, int bit) {
    set[bit / 64] |= uint64_t{1} << (bit % 64);
  }

  void Unite(const Edge& e, uint64_t* to) {
    const Node& src = *e.src();
    const uint64_t* const from = SetOf(src);
    for (int64_t i = 0; i < words_; ++i) to[i] |= from[i];
    if (alive_[src.id()] >= 0 && !e.IsControlEdge()) {
      SetBit(to, alive_[src.id()] + e.src_output());
    }
  }

  void Collect(const Node& n) {
    uint64_t* const set = SetOf(n);
    for (const Edge* e : n.data_inputs()) Unite(*e, set);
    for (const Edge* e : n.control_inputs()) Unite(*e, set);
    const OpClass c = n.traits().op_class;
    // Alive if one of its inputs is, or in another frame.
    if (c == OpClass::kMerge || c == OpClass::kExit) {
      std::fill(set + effect_words_, set + words_, 0);
    }
    if (own_[n.id()] >= 0) SetBit(set, own_[n.id()]);
    if (alive_[n.id()] >= 0 && c != OpClass::kSwitch) {
      SetBit(set, alive_[n.id()]);
    }
    bool safe = own_[n.id()] >= 0 || cannot_fail_[n.id()];
    if (n.IsNoOp()) {
      safe = true;
      for (const Edge* e : n.control_inputs()) {
        safe = safe && safe_[e->src()->id()];
      }
    }
    for (const Edge* e : n.out_edges()) safe = safe || !e->IsControlEdge();
    safe_[n.id()] = safe;
  }

  bool IsWithin(const Node& n, const std::vector<uint64_t>& all) {
    const uint64_t* const set = SetOf(n);
    for (int64_t i = 0; i < words_; ++i) {
      if ((set[i] & ~all[i]) != 0) return false;
    }
    return true;
  }

  void RemoveFrom(Node* v, int* changes) {
    std::vector<const Edge*> controls;
    for (const Edge* e : v->control_inputs()) {
      if (safe_[e->src()->id()] && !IsFlow(*e->src())) controls.push_back(e);
    }
    if (controls.empty()) return;
    std::vector<uint64_t> data(words_);
    for (const Edge* e : v->data_inputs()) Unite(*e, data.data());
    std::erase_if(controls, [&](const Edge* e) {
      if (v->data_inputs().empty() || !IsWithin(*e->src(), data)) return false;
      Remove(e, changes);
      return true;
    });
    if (v->control_inputs().size() > kMostCompared) return;
    std::vector<uint64_t> others;
    for (const Edge* e : controls) {
      others = data;
      // A node that waits for nothing would run at once, in any frame.
      bool is_last = v->data_inputs().empty();
      for (const Edge* other : v->control_inputs()) {
        if (other == e) continue;
        Unite(*other, others.data());
        is_last = false;
      }
      if (!is_last && IsWithin(*e->src(), others)) Remove(e, changes);
    }
  }

  void LeaveToReaders(Node* v, int* changes) {
    if (v->control_inputs().empty() || own_[v->id()] >= 0 ||
        !rewriter_.MayReplace(*v)) {
      return;
    }
    // By node, the readers that wait for it.
    absl::flat_hash_map<const Node*, size_t> waiting;
    absl::flat_hash_set<const Node*> readers;
    for (const Edge* e : v->out_edges()) {
      if (IsFlow(*e->dst()) || e->IsControlEdge()) return;
      if (!readers.insert(e->dst()).second) continue;
      for (const Edge* c : e->dst()->control_inputs()) ++waiting[c->src()];
    }
    if (readers.empty()) return;
    std::vector<const Edge*> controls(v->control_inputs().begin(),
                                      v->control_inputs().end());
    for (const Edge* e : controls) {
      const auto it = waiting.find(e->src());
      if (it != waiting.end() && it->second == readers.size() &&
          !IsFlow(*e->src())) {
        Remove(e, changes);
      }
    }
  }

  void Remove(const Edge* e, int* changes) {
    graph_->RemoveEdge(e);
    ++*changes;
  }

  Graph* const graph_;
  Rewriter rewriter_;
  std::vector<Node*> order_;
  // By id.
  std::vector<bool> shares_;  // its outputs may be bytes of a variable
  std::vector<int> own_;      // its bit among the effects, or -1
  std::vector<int> alive_;    // its first bit of those of control flow, or -1
  std::vector<bool> safe_;    // it runs without its control edges as well
  std::vector<bool> cannot_fail_;
  std::vector<uint64_t> sets_;
  int64_t words_ = 0, effect_words_ = 0;  // of a set; those of effects
};

}  // namespace

Status RemoveControls(const GraphPassContext& context, Graph* graph,
                      int* changes) {
  return Orders(context, graph).Run(changes);
}

}  // namespace headrace
