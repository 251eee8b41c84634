// Makes one factor and one bias for each channel of what follows a convolution
// with a constant filter: batch norm for inference, and scales and shifts by
// constants (Mul, RealDiv, Add, Sub, BiasAdd).
//
//   norm(conv(x, w)) = conv(x, w) * s + t
//
// The filter itself stays as it is: sessions, and signatures of one, go on
// sharing it and what is prepared of it. fuse_conv then puts both into the
// convolution. A scale and a shift that the graph spells out stay the two nodes
// that they are; products of several are computed in double. Left alone where a
// factor or bias is not finite. float and double only: half would lose digits
// that the graph as written keeps.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

// The value of channel c is value * scale[c] + shift[c].
struct Affine {
  std::vector<double> scale, shift;
  int scales = 0, shifts = 0;  // nodes that do
};

// What is folded into. The channel of filter element i is i % channels.
struct Linear {
  Node* node = nullptr;
  Tensor filter;
  bool nchw = false;
  int64_t channels = 0;
  int channel_dim() const { return nchw ? 1 : 3; }
};
constexpr int kRank = 4;

bool IsNchw(const Node& n) {
  std::string format;
  return n.attrs().Get("data_format", &format).ok() && format[0] == 'N' &&
         format[1] == 'C';
}

// Values of a float or double tensor.
std::vector<double> Values(const Tensor& t) {
  std::vector<double> v(t.NumElements());
  for (size_t i = 0; i < v.size(); ++i) {
    v[i] = t.dtype() == DT_FLOAT ? t.data<float>()[i] : t.data<double>()[i];
  }
  return v;
}

bool FindLinear(Node* n, Linear* out) {
  const LayerTraits& layer = n->traits().layer;
  if (!layer.convolves() || !layer.is_plain()) return false;
  const bool depthwise = layer.kind == LayerKind::kDepthwiseConv2D;
  const Tensor* const filter = ConstantInput(*n, 1);
  if (filter == nullptr || filter->NumElements() == 0 || filter->dims() != 4 ||
      (filter->dtype() != DT_FLOAT && filter->dtype() != DT_DOUBLE)) {
    return false;
  }
  out->node = n;
  out->filter = *filter;
  out->channels = filter->dim_size(3) * (depthwise ? filter->dim_size(2) : 1);
  out->nchw = IsNchw(*n);
  return true;
}

// Constant input `i` of an element-wise op, as one value a channel.
bool PerChannel(const Linear& l, const Node& n, int i,
                std::vector<double>* out) {
  const Tensor* const t = ConstantInput(n, i);
  if (t == nullptr || t->dtype() != l.filter.dtype() || t->dims() > kRank) {
    return false;
  }
  // Dims are aligned at the end.
  for (int d = 0; d < t->dims(); ++d) {
    const int at = kRank - t->dims() + d;
    if (t->dim_size(d) != 1 &&
        (at != l.channel_dim() || t->dim_size(d) != l.channels)) {
      return false;
    }
  }
  *out = Values(*t);
  if (out->size() == 1) out->resize(l.channels, out->front());
  return true;
}

bool ApplyBatchNorm(const Linear& l, const Node& n, Affine* a) {
  bool training = true;
  float epsilon = 0;
  if (!n.attrs().Get("is_training", &training).ok() || training ||
      !n.attrs().Get("epsilon", &epsilon).ok() || IsNchw(n) != l.nchw ||
      absl::c_any_of(n.out_edges(),
                     [](const Edge* e) { return e->src_output() > 0; })) {
    return false;
  }
  std::vector<double> v[4];  // scale, offset, mean, variance
  for (int i = 0; i < 4; ++i) {
    const Tensor* const t = ConstantInput(n, i + 1);
    if (t == nullptr || t->shape() != TensorShape({l.channels}) ||
        (t->dtype() != DT_FLOAT && t->dtype() != DT_DOUBLE)) {
      return false;
    }
    v[i] = Values(*t);
  }
  for (int64_t c = 0; c < l.channels; ++c) {
    double factor = v[0][c] / std::sqrt(v[3][c] + epsilon);
    // The op computes in float.
    factor = static_cast<float>(factor);
    a->scale[c] *= factor;
    a->shift[c] = (a->shift[c] - v[2][c]) * factor + v[1][c];
  }
  ++a->scales;
  ++a->shifts;
  return true;
}

bool IsLinear(ArithmeticOp what) {
  return what == ArithmeticOp::kAdd || what == ArithmeticOp::kSub ||
         what == ArithmeticOp::kMul || what == ArithmeticOp::kDiv;
}

// Puts node `n`, which reads the value so far as input `input`, into `a`;
// false, `a` unchanged, if it is no scale or shift.
bool Apply(const Linear& l, const Node& n, int input, Affine* a) {
  const std::string& op = n.type_string();
  const ArithmeticOp what = n.traits().arithmetic;
  if (op == "FusedBatchNorm" || op == "FusedBatchNormV2" ||
      op == "FusedBatchNormV3") {
    return input == 0 && ApplyBatchNorm(l, n, a);
  }
  std::vector<double> v;
  if (what == ArithmeticOp::kBiasAdd) {
    const Tensor* const bias = ConstantInput(n, 1);
    if (input != 0 || bias == nullptr || bias->dtype() != l.filter.dtype() ||
        bias->shape() != TensorShape({l.channels}) || IsNchw(n) != l.nchw) {
      return false;
    }
    v = Values(*bias);
  } else if (!IsLinear(what) || (what == ArithmeticOp::kDiv && input != 0) ||
             !PerChannel(l, n, 1 - input, &v)) {
    return false;
  }
  const bool scales = what == ArithmeticOp::kMul || what == ArithmeticOp::kDiv;
  for (int64_t c = 0; c < l.channels; ++c) {
    double& s = a->scale[c];
    double& t = a->shift[c];
    if (scales) {
      const double factor = what == ArithmeticOp::kMul ? v[c] : 1 / v[c];
      s *= factor;
      t *= factor;
    } else if (what != ArithmeticOp::kSub) {
      t += v[c];
    } else if (input == 0) {
      t -= v[c];
    } else {
      s = -s;
      t = v[c] - t;
    }
  }
  a->scales += scales || (what == ArithmeticOp::kSub && input == 1);
  a->shifts += !scales;
  return true;
}

// One value a channel, as [channels] or [channels, 1, 1]. False if a value is
// not finite.
bool Vector(const Linear& l, const std::vector<double>& values, bool upright,
            Tensor* out) {
  *out = Tensor(l.filter.dtype(), upright ? TensorShape({l.channels, 1, 1})
                                          : TensorShape({l.channels}));
  if (!out->IsInitialized()) return false;
  bool finite = true;
  for (int64_t c = 0; c < l.channels; ++c) {
    if (out->dtype() == DT_FLOAT) {
      const float v = static_cast<float>(values[c]);
      out->data<float>()[c] = v;
      finite &= std::isfinite(v);
    } else {
      out->data<double>()[c] = values[c];
      finite &= std::isfinite(values[c]);
    }
  }
  return finite;
}

// A Mul, a bias, or one after the other: what would come out.
bool IsPlain(absl::Span<Node* const> chain) {
  const auto first = [&] { return chain[0]->traits().arithmetic; };
  if (chain.size() > 1 && first() == ArithmeticOp::kMul) chain.remove_prefix(1);
  return chain.size() == 1 &&
         (first() == ArithmeticOp::kMul || first() == ArithmeticOp::kBiasAdd ||
          first() == ArithmeticOp::kAdd);
}

Status Fold(Rewriter* rewriter, Graph* graph, const Linear& l, int* changes) {
  Affine a;
  a.scale.assign(l.channels, 1.0);
  a.shift.assign(l.channels, 0.0);
  std::vector<Node*> chain;  // what follows the linear node
  const Node* last = l.node;
  while (const Edge* e = rewriter->OnlyReader(*last)) {
    if (e->IsControlEdge() || !Rewriter::SamePlace(*l.node, *e->dst()) ||
        !Apply(l, *e->dst(), e->dst_input(), &a)) {
      break;
    }
    chain.push_back(e->dst());
    last = e->dst();
  }
  if (chain.empty() || IsPlain(chain)) return OkStatus();
  Tensor scale, bias;
  if (!Vector(l, a.scale, l.nchw, &scale) ||
      !Vector(l, a.shift, false, &bias)) {
    return OkStatus();
  }
  const std::string name = l.node->name();
  const int folded = static_cast<int>(chain.size());
  Endpoint value = {l.node, 0};
  Node* mul_node = nullptr;
  if (a.scales > 0) {
    HR_ASSIGN_OR_RETURN(
        Node * scale_node,
        rewriter->AddConst(*l.node, StrCat(name, "/scale"), std::move(scale)));
    NodeDef def;
    def.op = "Mul";
    def.attrs.Set("T", l.filter.dtype());
    if (a.shifts == 0) {
      HR_ASSIGN_OR_RETURN(
          Node * done,
          rewriter->Merge(chain, std::move(def), {value, {scale_node, 0}}));
      if (done != nullptr) *changes += folded;
      return OkStatus();
    }
    def.name = graph->UniqueName(StrCat(name, "/scaled"));
    def.device = l.node->requested_device();
    def.source = l.node->def().source;
    HR_ASSIGN_OR_RETURN(
        mul_node, graph->AddNode(std::move(def), {value, {scale_node, 0}}));
    value = {mul_node, 0};
  }
  HR_ASSIGN_OR_RETURN(
      Node * bias_node,
      rewriter->AddConst(*l.node, StrCat(name, "/bias"), std::move(bias)));
  NodeDef def;
  def.op = "BiasAdd";
  def.attrs.Set("T", l.filter.dtype());
  def.attrs.Set("data_format", l.nchw ? "NCHW" : "NHWC");
  HR_ASSIGN_OR_RETURN(Node * done, rewriter->Merge(chain, std::move(def),
                                                   {value, {bias_node, 0}}));
  if (done != nullptr) {
    *changes += folded;
  } else if (mul_node != nullptr) {
    graph->RemoveNode(mul_node);
  }
  return OkStatus();
}

}  // namespace

Status FoldBatchNorm(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  Rewriter rewriter(context, graph);
  std::vector<Linear> found;
  graph->ForEachNode([&](Node* n) {
    Linear l;
    if (FindLinear(n, &l)) found.push_back(std::move(l));
  });
  for (const Linear& l : found) {
    HR_RETURN_IF_ERROR(Fold(&rewriter, graph, l, changes));
  }
  return OkStatus();
}

}  // namespace headrace
