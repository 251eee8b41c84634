// Makes one node of a chain of element-wise ones, which then passes over memory
// once. A chain begins anywhere and goes on while the value has one reader, is
// not asked for by the step, and keeps its shape and type: the other operand of
// a binary op must surely have the chain's shape, be one element, or be a row
// that is repeated. Results keep every bit. An op whose library registered no
// loops (headrace/elementwise.h) stays out.
//
// A chain that ends in an update of a variable by reference (Assign, AssignAdd,
// AssignSub) takes it in: what sparse updates of optimizers and moving averages
// consist of. Such a chain may read references. The node reads them later than
// the chain's nodes did, but nothing can be ordered between the two: who waits
// for a node of the chain waits for all of it.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "headrace/elementwise_loops.h"
#include "runtime/passes/expression.h"
#include "runtime/passes/rewrite.h"
#include "runtime/passes/symbolic_shape.h"

namespace headrace {
namespace {

constexpr char kFusedElementwise[] = "_FusedElementwise";
constexpr char kFusedAssign[] = "_FusedAssign";
// Ops of a chain: more gain little, and the node's loop over them stays short.
constexpr size_t kMaxChain = 32;

class Chains {
 public:
  Chains(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph_, &order));
    std::vector<int> candidates;  // ids: nodes go while chains are made
    bool assigns = false;
    for (const Node* n : order) {
      if (IsCandidate(*n, /*refs=*/true)) candidates.push_back(n->id());
      assigns |= IsAssign(*n);
    }
    const auto may_begin = [this](int id) {
      const Node& n = *graph_->node(id);
      return !IsFew(n, 0) || (n.num_inputs() > 1 && !IsFew(n, 1));
    };
    if (candidates.size() + assigns < 2 ||
        absl::c_none_of(candidates, may_begin)) {
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(SymbolicShapes::Make(*graph_, &shapes_));
    absl::flat_hash_set<int> gone;
    for (const int id : candidates) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      if (gone.contains(id)) continue;
      Chain chain = Grow(graph_->node(id), /*refs=*/true);
      if (chain.assign == nullptr && chain.reads_refs) {
        chain = Grow(graph_->node(id), /*refs=*/false);
      }
      if (chain.nodes.size() < 2) continue;
      for (const Node* n : chain.nodes) gone.insert(n->id());
      HR_RETURN_IF_ERROR(Merge(chain, changes));
    }
    return OkStatus();
  }

 private:
  struct Chain {
    std::vector<Node*> nodes;
    std::vector<std::string> ops;
    std::vector<int64_t> sides;
    std::vector<Endpoint> inputs;  // what it begins with, then args
    bool reads_refs = false;
    Node* assign = nullptr;  // the last of `nodes`, if it is one
  };

  // As an op that the fused node knows; "" if it is none.
  static std::string OpOf(const Node& n) {
    if (n.traits().elementwise != Elementwise::kNo) return n.type_string();
    // Along the last dim a bias is a row that is repeated.
    std::string format;
    const bool is_sum = n.traits().arithmetic == ArithmeticOp::kBiasAdd &&
                        n.attrs().Get("data_format", &format).ok() &&
                        format == "NHWC";
    return is_sum ? "Add" : "";
  }

  static bool IsAssign(const Node& n) {
    return n.traits().variable_update != VariableUpdate::kNone;
  }
  // As _FusedAssign's attr "update" names it.
  static const char* UpdateOf(const Node& n) {
    switch (n.traits().variable_update) {
      case VariableUpdate::kAdd:
        return "AssignAdd";
      case VariableUpdate::kSubtract:
        return "AssignSub";
      default:
        return "Assign";
    }
  }

  // `refs`: it may read references.
  static bool IsCandidate(const Node& n, bool refs) {
    if (n.num_outputs() != 1 || n.num_inputs() < 1 || n.num_inputs() > 2 ||
        (n.output_type(0) != DT_FLOAT && n.output_type(0) != DT_DOUBLE) ||
        n.attrs().Find("_kernel") != nullptr || OpOf(n).empty()) {
      return false;
    }
    for (const Edge* e : n.data_inputs()) {
      // What a reference refers to is read when the node runs, not later.
      if (e == nullptr) return false;
      const DataType type = e->src()->output_type(e->src_output());
      if ((refs ? RemoveRefType(type) : type) != n.output_type(0)) return false;
    }
    return n.traits().elementwise == Elementwise::kNo ||
           HasLoop(n.op_def(), n.output_type(0));
  }
  static bool ReadsRefs(const Node& n) { return !IsCandidate(n, false); }

  // Kernels of scalars are quick: no chain begins with one.
  static bool IsFew(const Node& n, int i) {
    const PartialTensorShape& shape = ShapeOf(InputOf(n, i));
    return shape.IsFullyDefined() && shape.num_elements() <= 1;
  }

  Chain Grow(Node* first, bool refs) {
    Chain chain;
    if (!IsCandidate(*first, refs)) return chain;
    for (int i = 0; i < first->num_inputs() && chain.nodes.empty(); ++i) {
      if (IsFew(*first, i)) continue;
      chain.inputs = {InputOf(*first, i)};
      Append(first, i, &chain);
    }
    while (!chain.nodes.empty() && chain.nodes.size() < kMaxChain) {
      const Edge* e = rewriter_.OnlyReader(*chain.nodes.back());
      if (e == nullptr || e->IsControlEdge()) break;
      if (EndsIn(*e, chain)) {
        chain.assign = e->dst();
        chain.nodes.push_back(chain.assign);
        break;
      }
      if (!IsCandidate(*e->dst(), refs) ||
          e->dst()->output_type(0) != first->output_type(0) ||
          !Rewriter::SamePlace(*first, *e->dst()) ||
          !Append(e->dst(), e->dst_input(), &chain)) {
        break;
      }
    }
    return chain;
  }

  // The chain's value, which `e` leads from, is assigned to a variable of its
  // shape.
  bool EndsIn(const Edge& e, const Chain& chain) const {
    const Node& n = *e.dst();
    if (!IsAssign(n) || e.dst_input() != 1 ||
        n.requested_device() != chain.nodes[0]->requested_device() ||
        n.attrs().Find("_kernel") != nullptr ||
        OpRegistry::Global()->Find(kFusedAssign) == nullptr) {
      return false;
    }
    const Endpoint ref = InputOf(n, 0);
    if (ref.node->output_type(ref.index) !=
        MakeRefType(chain.nodes[0]->output_type(0))) {
      return false;
    }
    const PartialTensorShape& a = ShapeOf(ref);
    const PartialTensorShape& b = ShapeOf(chain.inputs[0]);
    return a.IsFullyDefined() && b.IsFullyDefined() && a.num_elements() > 1 &&
           a == b;
  }

  // Adds `n`, whose operand `i` is the chain's value, if it keeps the shape.
  bool Append(Node* n, int i, Chain* chain) const {
    if (n->num_inputs() == 2) {
      const Endpoint arg = InputOf(*n, 1 - i);
      if (!IsStretchedTo(arg, chain->inputs[0])) return false;
      chain->inputs.push_back(arg);
      chain->sides.push_back(i == 0 ? 1 : 2);
    } else {
      chain->sides.push_back(0);
    }
    chain->reads_refs |= ReadsRefs(*n);
    chain->nodes.push_back(n);
    chain->ops.push_back(OpOf(*n));
    return true;
  }

  bool IsStretchedTo(const Endpoint& arg, const Endpoint& x) const {
    if (shapes_.SurelyEqual(arg, x)) return true;
    const PartialTensorShape& a = ShapeOf(arg);
    const PartialTensorShape& s = ShapeOf(x);
    if (!a.IsFullyDefined()) return false;
    if (a.dims() == 0) return true;
    if (s.unknown_rank() || a.dims() > s.dims()) return false;
    int d = 0;
    while (d < a.dims() && a.dim_size(d) == 1) ++d;
    for (; d < a.dims(); ++d) {
      const int64_t size = s.dim_size(s.dims() - a.dims() + d);
      if (size < 0 || size != a.dim_size(d)) return false;
    }
    return true;
  }

  Status Merge(const Chain& chain, int* changes) {
    NodeDef def;
    def.op = kFusedElementwise;
    def.attrs.Set("T", chain.nodes[0]->output_type(0));
    def.attrs.Set("num_args", static_cast<int64_t>(chain.inputs.size()) - 1);
    def.attrs.Set("ops", chain.ops);
    def.attrs.Set("sides", chain.sides);
    std::vector<Endpoint> inputs = chain.inputs;
    if (chain.assign != nullptr) {
      def.op = kFusedAssign;
      def.attrs.Set("update", UpdateOf(*chain.assign));
      bool validates = true;
      if (chain.assign->attrs().Get("validate_shape", &validates).ok()) {
        def.attrs.Set("validate_shape", validates);
      }
      inputs.insert(inputs.begin(), InputOf(*chain.assign, 0));
    }
    const int id = chain.nodes[0]->id();
    const int merged = static_cast<int>(chain.nodes.size());
    HR_ASSIGN_OR_RETURN(Node * done,
                        rewriter_.Merge(chain.nodes, std::move(def), inputs));
    if (done == nullptr) return OkStatus();
    if (chain.assign == nullptr) shapes_.SetEqual(done->id(), id);
    *changes += merged - 1;
    return OkStatus();
  }

  static const PartialTensorShape& ShapeOf(const Endpoint& e) {
    return e.node->output_shape(e.index);
  }

  Graph* const graph_;
  Rewriter rewriter_;
  SymbolicShapes shapes_;
};

}  // namespace

Status FuseElementwise(const GraphPassContext& context, Graph* graph,
                       int* changes) {
  if (OpRegistry::Global()->Find(kFusedElementwise) == nullptr)
    return OkStatus();
  return Chains(context, graph).Run(changes);
}

}  // namespace headrace
