// Fuses what follows a convolution or matrix product into it. Which ops these
// are and what can follow, their schemas say (headrace/op_traits.h): a
// factor for each channel (convolutions alone), a bias, a second tensor to add
// (convolutions alone: the shortcut of a residual network), an activation, each
// optional, in this order. Nobody else may read what is in between.
//
// The second tensor must surely have the result's shape (symbolic_shape.h),
// since Add broadcasts and the fused node does not. Where both operands of an
// Add could take it in, the one that is ready later does.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "runtime/passes/rewrite.h"
#include "runtime/passes/symbolic_shape.h"

namespace headrace {
namespace {

// What is fused into a node. The ops are named as the fused op has them.
struct Match {
  std::vector<Node*> chain;
  std::vector<std::string> ops;
  std::vector<Endpoint> args;
  float parameter = 0.2f;  // the activation's
};

class Fuser {
 public:
  Fuser(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  // Of layers that convolve, or of the others.
  Status Run(bool convolves, int* changes) {
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph_, &order));
    std::vector<Node*> found;
    std::vector<int> depth(graph_->num_node_ids(), 0);
    for (Node* n : order) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      for (const Edge* e : n->data_inputs()) {
        if (e != nullptr) {
          depth[n->id()] = std::max(depth[n->id()], depth[e->src()->id()] + 1);
        }
      }
      const LayerTraits& layer = n->traits().layer;
      if (layer.is_plain() && layer.convolves() == convolves) {
        found.push_back(n);
      }
    }
    if (found.empty()) return OkStatus();
    // The deepest first: what is ready later takes in what is ready before.
    absl::c_stable_sort(found, [&](const Node* a, const Node* b) {
      return depth[a->id()] > depth[b->id()];
    });
    HR_RETURN_IF_ERROR(SymbolicShapes::Make(*graph_, &shapes_));
    for (Node* n : found) HR_RETURN_IF_ERROR(Fuse(n, changes));
    return OkStatus();
  }

 private:
  Status Fuse(Node* n, int* changes) {
    const LayerTraits& layer = n->traits().layer;
    Match m;
    m.chain.push_back(n);
    if (layer.convolves()) HR_RETURN_IF_ERROR(MatchScale(&m));
    HR_RETURN_IF_ERROR(MatchBias(&m));
    if (layer.convolves()) MatchAdd(&m);
    MatchActivation(&m);
    const OpDef* found = nullptr;
    if (m.chain.size() == 1 ||
        !OpRegistry::Global()->LookUp(layer.fused_op, &found).ok()) {
      return OkStatus();
    }
    const OpDef& fused = *found;
    NodeDef def;
    def.op = fused.name;
    for (const auto& [name, value] : n->attrs()) {
      if (HasAttr(fused, name) || name == kPrecisionAttr ||
          name == kFakeQuantAttr) {
        def.attrs.Set(name, value);
      } else if (name[0] != '_' && !IsDefault(n->op_def(), name, value)) {
        return OkStatus();  // something that the fused op cannot do
      }
    }
    const int num_args = static_cast<int>(m.args.size());
    def.attrs.Set("fused_ops", m.ops);
    def.attrs.Set("num_args", num_args);
    def.attrs.Set("leakyrelu_alpha", m.parameter);
    if (HasAttr(fused, "TArgs")) {
      def.attrs.Set("TArgs",
                    std::vector<DataType>(num_args, n->output_type(0)));
    }
    std::vector<Endpoint> inputs;
    for (const Edge* e : n->data_inputs()) {
      inputs.push_back({e->src(), e->src_output()});
    }
    inputs.insert(inputs.end(), m.args.begin(), m.args.end());
    const int merged = static_cast<int>(m.chain.size()) - 1;
    const int id = n->id();
    HR_ASSIGN_OR_RETURN(Node * done,
                        rewriter_.Merge(m.chain, std::move(def), inputs));
    if (done == nullptr) return OkStatus();
    shapes_.SetEqual(done->id(), id);
    *changes += merged;
    return OkStatus();
  }

  // The only reader of the chain so far, if it may be fused; else null.
  const Edge* Next(const Match& m) {
    const Edge* e = rewriter_.OnlyReader(*m.chain.back());
    return e != nullptr && !e->IsControlEdge() &&
                   Rewriter::SamePlace(*m.chain.front(), *e->dst())
               ? e
               : nullptr;
  }

  Status MatchScale(Match* m) {
    const Edge* const e = Next(*m);
    if (e == nullptr || ArithmeticOf(*e->dst()) != ArithmeticOp::kMul ||
        m->chain[0]->output_type(0) == DT_INT32) {
      return OkStatus();
    }
    Endpoint scale;
    HR_RETURN_IF_ERROR(
        ChannelConstant(*m, *e->dst(), 1 - e->dst_input(), &scale));
    if (scale.node == nullptr) return OkStatus();
    m->chain.push_back(e->dst());
    m->ops.push_back("Mul");
    m->args.push_back(scale);
    return OkStatus();
  }

  Status MatchBias(Match* m) {
    const Edge* const e = Next(*m);
    if (e == nullptr) return OkStatus();
    Node* const n = e->dst();
    Endpoint bias;
    if (ArithmeticOf(*n) == ArithmeticOp::kBiasAdd) {
      const Edge* const b = n->input_edge(1);
      if (e->dst_input() != 0 || b == nullptr || b->src() == e->src() ||
          Format(*n) != Format(*m->chain[0])) {
        return OkStatus();
      }
      bias = {b->src(), b->src_output()};
    } else if (ArithmeticOf(*n) == ArithmeticOp::kAdd) {
      HR_RETURN_IF_ERROR(ChannelConstant(*m, *n, 1 - e->dst_input(), &bias));
    }
    if (bias.node == nullptr) return OkStatus();
    m->chain.push_back(n);
    m->ops.push_back("BiasAdd");
    m->args.push_back(bias);
    return OkStatus();
  }

  // A vector of the constant input `i` of an Add or Mul, if it has one value a
  // channel; else `out` stays null.
  Status ChannelConstant(const Match& m, const Node& n, int i, Endpoint* out) {
    const Tensor* const t = ConstantInput(n, i);
    const int64_t channels = Channels(*m.chain[0]);
    if (t == nullptr || channels < 0 || t->NumElements() != channels) {
      return OkStatus();
    }
    // Dims are aligned at the end: where does the one that is not 1 fall?
    const int rank = m.chain[0]->output_shape(0).dims();
    for (int d = 0; d < t->dims(); ++d) {
      if (t->dim_size(d) != 1 &&
          rank - t->dims() + d != ChannelAxis(*m.chain[0])) {
        return OkStatus();
      }
    }
    if (t->dims() > rank) return OkStatus();
    if (t->dims() == 1) {
      *out = {n.input_edge(i)->src(), 0};
      return OkStatus();
    }
    Tensor flat;
    if (!flat.CopyFrom(*t, TensorShape({channels}))) return OkStatus();
    HR_ASSIGN_OR_RETURN(
        out->node,
        rewriter_.AddConst(n, StrCat(n.name(), "/vector"), std::move(flat)));
    return OkStatus();
  }

  void MatchAdd(Match* m) {
    const Edge* const e = Next(*m);
    if (e == nullptr || ArithmeticOf(*e->dst()) != ArithmeticOp::kAdd) return;
    const Edge* const other = e->dst()->input_edge(1 - e->dst_input());
    if (other == nullptr || other->src() == e->src() ||
        FreeConstant(*other->src()) != nullptr) {
      return;
    }
    const Endpoint addend = {other->src(), other->src_output()};
    if (!shapes_.SurelyEqual({m->chain[0], 0}, addend)) return;
    m->chain.push_back(e->dst());
    m->ops.push_back("Add");
    m->args.push_back(addend);
  }

  void MatchActivation(Match* m) {
    const Edge* const e = Next(*m);
    if (e == nullptr) return;
    Node* const n = e->dst();
    const ActivationTraits& activation = n->traits().activation;
    if (activation.kind == ActivationTraits::kNone ||
        !rewriter_.CanFuse(*m->chain[0], n->op_def()) ||
        (activation.parameter != nullptr &&
         !n->attrs().Get(activation.parameter, &m->parameter).ok())) {
      return;
    }
    m->chain.push_back(n);
    m->ops.push_back(n->type_string());
  }

  static ArithmeticOp ArithmeticOf(const Node& n) {
    return n.traits().arithmetic;
  }
  static std::string Format(const Node& n) {
    std::string format;
    return n.attrs().Get("data_format", &format).ok() ? format : "NHWC";
  }
  static int ChannelAxis(const Node& n) {
    return Format(n) == "NCHW" ? 1 : n.output_shape(0).dims() - 1;
  }
  static int64_t Channels(const Node& n) {
    const PartialTensorShape& s = n.output_shape(0);
    return s.dims() < 2 ? -1 : s.dim_size(ChannelAxis(n));
  }

  Graph* const graph_;
  Rewriter rewriter_;
  SymbolicShapes shapes_;
};

}  // namespace

Status FuseConv(const GraphPassContext& context, Graph* graph, int* changes) {
  return Fuser(context, graph).Run(/*convolves=*/true, changes);
}

Status FuseMatMul(const GraphPassContext& context, Graph* graph, int* changes) {
  return Fuser(context, graph).Run(/*convolves=*/false, changes);
}

}  // namespace headrace
