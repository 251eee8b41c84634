// Folds batch norm for inference, and scales and shifts by constants around it
// (Mul, RealDiv, Add, Sub, BiasAdd), into the constant filter of the
// convolution before them and one bias.
//
//   norm(conv(x, w)) = conv(x, w * s) + t
//
// Scales without a batch norm op, as in graphs that spell it out, stay: folded,
// the result is as close to the exact one, but it differs from what the graph
// as written gives by some millionths, more than such graphs are compared with
// (mobilenet_v1_retrained_astronaut among the conformance cases). Shifts alone
// become one bias.
//
// Products of factors are computed in double; a filter with elements that are
// not finite afterwards is left alone. float and double only: folded half
// filters would lose digits that the graph as written keeps.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "runtime/rewrite.h"

namespace headrace {
namespace {

// The value of channel c is value * scale[c] + shift[c].
struct Affine {
  std::vector<double> scale, shift;
  bool scales = false;  // some scale is not 1
  bool batch_norm = false;
  int shifts = 0;  // nodes that shift
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
  const bool depthwise = n->type_string() == "DepthwiseConv2dNative";
  if (!depthwise && n->type_string() != "Conv2D") return false;
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
  a->scales = a->batch_norm = true;
  ++a->shifts;
  return true;
}

// Puts node `n`, which reads the value so far as input `input`, into `a`;
// false, `a` unchanged, if it is no scale or shift.
bool Apply(const Linear& l, const Node& n, int input, Affine* a) {
  const std::string& op = n.type_string();
  if (op == "FusedBatchNorm" || op == "FusedBatchNormV2" ||
      op == "FusedBatchNormV3") {
    return input == 0 && ApplyBatchNorm(l, n, a);
  }
  std::vector<double> v;
  if (op == "BiasAdd") {
    const Tensor* const bias = ConstantInput(n, 1);
    if (input != 0 || bias == nullptr || bias->dtype() != l.filter.dtype() ||
        bias->shape() != TensorShape({l.channels}) || IsNchw(n) != l.nchw) {
      return false;
    }
    v = Values(*bias);
  } else if (op == "Add" || op == "AddV2" || op == "Sub" || op == "Mul" ||
             op == "RealDiv") {
    if ((op == "RealDiv" && input != 0) || !PerChannel(l, n, 1 - input, &v)) {
      return false;
    }
  } else {
    return false;
  }
  const bool scales = op == "Mul" || op == "RealDiv";
  for (int64_t c = 0; c < l.channels; ++c) {
    double& s = a->scale[c];
    double& t = a->shift[c];
    if (scales) {
      const double factor = op == "Mul" ? v[c] : 1 / v[c];
      s *= factor;
      t *= factor;
    } else if (op != "Sub") {
      t += v[c];
    } else if (input == 0) {
      t -= v[c];
    } else {
      s = -s;
      t = v[c] - t;
    }
  }
  a->scales |= scales || (op == "Sub" && input == 1);
  a->shifts += !scales;
  return true;
}

template <typename T>
bool ScaleFilter(const Linear& l, const std::vector<double>& scale,
                 Tensor* out) {
  const T* const from = l.filter.data<T>();
  T* const to = out->data<T>();
  bool finite = true;
  for (int64_t i = 0, n = l.filter.NumElements(); i < n;) {
    for (int64_t c = 0; c < l.channels; ++c, ++i) {
      to[i] = static_cast<T>(from[i] * scale[c]);
      finite &= std::isfinite(to[i]);
    }
  }
  return finite;
}

// False if there is no memory or an element is not finite.
bool FoldedFilter(const Linear& l, const Affine& a, Tensor* out) {
  if (!Tensor::Allocate(CpuAllocator(), l.filter.dtype(), l.filter.shape(), out)
           .ok()) {
    return false;
  }
  return out->dtype() == DT_FLOAT ? ScaleFilter<float>(l, a.scale, out)
                                  : ScaleFilter<double>(l, a.scale, out);
}

bool Bias(const Linear& l, const Affine& a, Tensor* out) {
  *out = Tensor(l.filter.dtype(), TensorShape({l.channels}));
  bool finite = out->IsInitialized();
  for (int64_t c = 0; finite && c < l.channels; ++c) {
    if (out->dtype() == DT_FLOAT) {
      out->data<float>()[c] = static_cast<float>(a.shift[c]);
      finite = std::isfinite(out->data<float>()[c]);
    } else {
      out->data<double>()[c] = a.shift[c];
      finite = std::isfinite(a.shift[c]);
    }
  }
  return finite;
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
  // One shift alone is a bias already.
  if (a.scales ? !a.batch_norm : a.shifts < 2) return OkStatus();
  Tensor filter = l.filter, bias;
  if ((a.scales && !FoldedFilter(l, a, &filter)) || !Bias(l, a, &bias)) {
    return OkStatus();
  }
  const std::string name = l.node->name();
  const int merged = static_cast<int>(chain.size());
  Node* filter_node = l.node->input_edge(1)->src();
  if (a.scales) {
    HR_ASSIGN_OR_RETURN(
        filter_node, rewriter->AddConst(*l.node, StrCat(name, "/folded_filter"),
                                        std::move(filter)));
  }
  HR_ASSIGN_OR_RETURN(Node * bias_node,
                      rewriter->AddConst(*l.node, StrCat(name, "/folded_bias"),
                                         std::move(bias)));
  NodeDef def;
  def.op = "BiasAdd";
  def.attrs.Set("T", l.filter.dtype());
  def.attrs.Set("data_format", l.nchw ? "NCHW" : "NHWC");
  HR_ASSIGN_OR_RETURN(
      Node * done,
      rewriter->Merge(chain, std::move(def), {{l.node, 0}, {bias_node, 0}}));
  if (done == nullptr) return OkStatus();
  HR_RETURN_IF_ERROR(graph->ReplaceInput(l.node, 1, {filter_node, 0}));
  *changes += merged;
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
