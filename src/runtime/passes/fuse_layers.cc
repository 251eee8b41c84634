// Fuses what follows a convolution or matrix product into it: a factor for each
// channel (convolutions alone), a bias, a second tensor to add (convolutions
// alone: the shortcut of a residual network), an activation, each optional, in
// this order. Nobody else may read what is in between.
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

struct Layer {
  const char* op;
  const char* fused;
  bool convolves;  // takes a factor and a second tensor
};
constexpr Layer kConvolutions[] = {
    {"Conv2D", "_FusedConv2D", true},
    {"DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative", true}};
constexpr Layer kMatMuls[] = {{"MatMul", "_FusedMatMul", false}};

bool IsActivation(const std::string& op) {
  return op == "Relu" || op == "Relu6" || op == "Elu" || op == "LeakyRelu" ||
         op == "Sigmoid" || op == "Tanh";
}

// What is fused into a node.
struct Match {
  std::vector<Node*> chain;
  std::vector<std::string> ops;
  std::vector<Endpoint> args;
  float leaky_alpha = 0.2f;
};

class Fuser {
 public:
  Fuser(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(absl::Span<const Layer> layers, int* changes) {
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph_, &order));
    struct Candidate {
      Node* node;
      const Layer* layer;
    };
    std::vector<Candidate> found;
    std::vector<int> depth(graph_->num_node_ids(), 0);
    for (Node* n : order) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      for (const Edge* e : n->data_inputs()) {
        if (e != nullptr) {
          depth[n->id()] = std::max(depth[n->id()], depth[e->src()->id()] + 1);
        }
      }
      for (const Layer& l : layers) {
        if (n->type_string() == l.op) found.push_back({n, &l});
      }
    }
    if (found.empty()) return OkStatus();
    // The deepest first: what is ready later takes in what is ready before.
    absl::c_stable_sort(found, [&](const Candidate& a, const Candidate& b) {
      return depth[a.node->id()] > depth[b.node->id()];
    });
    HR_RETURN_IF_ERROR(SymbolicShapes::Make(*graph_, &shapes_));
    for (const Candidate& c : found) {
      HR_RETURN_IF_ERROR(Fuse(c.node, *c.layer, changes));
    }
    return OkStatus();
  }

 private:
  Status Fuse(Node* n, const Layer& layer, int* changes) {
    Match m;
    m.chain.push_back(n);
    if (layer.convolves) HR_RETURN_IF_ERROR(MatchScale(&m));
    HR_RETURN_IF_ERROR(MatchBias(&m));
    if (layer.convolves) MatchAdd(&m);
    MatchActivation(&m);
    const OpDef* found = nullptr;
    if (m.chain.size() == 1 ||
        !OpRegistry::Global()->LookUp(layer.fused, &found).ok()) {
      return OkStatus();
    }
    const OpDef& fused = *found;
    NodeDef def;
    def.op = fused.name;
    for (const auto& [name, value] : n->attrs()) {
      if (HasAttr(fused, name)) {
        def.attrs.Set(name, value);
      } else if (name[0] != '_' && !IsDefault(*n, name, value)) {
        return OkStatus();  // something that the fused op cannot do
      }
    }
    const int num_args = static_cast<int>(m.args.size());
    def.attrs.Set("fused_ops", m.ops);
    def.attrs.Set("num_args", num_args);
    def.attrs.Set("leakyrelu_alpha", m.leaky_alpha);
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
    if (e == nullptr || e->dst()->type_string() != "Mul" ||
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
    if (n->type_string() == "BiasAdd" || n->type_string() == "BiasAddV1") {
      const Edge* const b = n->input_edge(1);
      if (e->dst_input() != 0 || b == nullptr || b->src() == e->src() ||
          Format(*n) != Format(*m->chain[0])) {
        return OkStatus();
      }
      bias = {b->src(), b->src_output()};
    } else if (IsAdd(*n)) {
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
    if (e == nullptr || !IsAdd(*e->dst())) return;
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
    if (e == nullptr || !IsActivation(e->dst()->type_string())) return;
    const std::string& op = e->dst()->type_string();
    if (op == "LeakyRelu" &&
        !e->dst()->attrs().Get("alpha", &m->leaky_alpha).ok()) {
      return;
    }
    m->chain.push_back(e->dst());
    m->ops.push_back(op);
  }

  static bool IsAdd(const Node& n) {
    return n.type_string() == "Add" || n.type_string() == "AddV2";
  }
  static bool IsDefault(const Node& n, absl::string_view name,
                        const AttrValue& value) {
    const int i = n.op_def().FindAttr(name);
    return i >= 0 && n.op_def().attrs[i].default_value.has_value() &&
           *n.op_def().attrs[i].default_value == value;
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
  return Fuser(context, graph).Run(kConvolutions, changes);
}

Status FuseMatMul(const GraphPassContext& context, Graph* graph, int* changes) {
  return Fuser(context, graph).Run(kMatMuls, changes);
}

}  // namespace headrace
