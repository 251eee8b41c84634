// Makes one node of each layer normalization that the graph spells out, in any
// order and form of its arithmetic:
//
//   m = Mean(x);  r = Rsqrt(Mean((x - m)^2) + epsilon)
//   y = (x - m) r scale + offset
//
// over the last dims of x, with or without scale and offset. Both have fixed
// shapes that x's shape ends with, so neither can be a second tensor that is
// added. float only.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "runtime/passes/expression.h"

namespace headrace {
namespace {

constexpr char kFusedLayerNorm[] = "_FusedLayerNorm";

// Atoms. Scale and offset have the numbers from kParameter on.
constexpr int kNormX = 0, kMean = 1, kReciprocal = 2, kParameter = 3;

bool IsArithmetic(const Node& n) {
  return n.traits().arithmetic != ArithmeticOp::kNone;
}

class LayerNormFinder {
 public:
  LayerNormFinder(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    // No normalization has more than one root.
    return ForEachRoot(
        *graph_, [](const Node& n) { return RootOf(n) != Root::kNone; },
        [&](Node* n) { return Fuse(n, changes); });
  }

 private:
  enum class Root { kNone, kSquare, kReciprocal };

  // What is known of a normalization.
  struct Norm {
    Endpoint x;
    Node* mean = nullptr;
    Node* root = nullptr;
    double epsilon = 0;
    int axes = 0;                // the last of x's dims
    std::vector<Node*> moments;  // all before the root, and it
    std::vector<Node*> nodes;    // all
    std::vector<Endpoint> parameters;
    bool has_scale = false, has_offset = false;
  };

  static Root RootOf(const Node& n) {
    const std::string& op = n.type_string();
    if (n.num_outputs() != 1 || n.output_type(0) != DT_FLOAT) {
      return Root::kNone;
    }
    if (op == "Rsqrt") return Root::kReciprocal;
    if (op == "Sqrt") return Root::kSquare;
    if (op != "Pow") return Root::kNone;
    const std::optional<double> power = ScalarInput(n, 1, 0);
    if (power == -0.5) return Root::kReciprocal;
    return power == 0.5 ? Root::kSquare : Root::kNone;
  }

  Status Fuse(Node* root, int* changes) {
    Norm norm;
    if (!FindMoments(root, &norm) || !FindResult(&norm)) return OkStatus();
    NodeDef def;
    def.op = kFusedLayerNorm;
    def.attrs.Set("T", DT_FLOAT);
    def.attrs.Set("num_args", static_cast<int64_t>(norm.parameters.size()));
    def.attrs.Set("axes", int64_t{norm.axes});
    def.attrs.Set("epsilon", static_cast<float>(norm.epsilon));
    def.attrs.Set("has_scale", norm.has_scale);
    def.attrs.Set("has_offset", norm.has_offset);
    std::vector<Endpoint> inputs = {norm.x};
    inputs.insert(inputs.end(), norm.parameters.begin(), norm.parameters.end());
    return rewriter_.ReplaceByOne(norm.nodes, std::move(def), inputs, changes);
  }

  // How many of the last dims `mean` is of; 0 if it is not such a mean.
  static int LastAxes(const Node& mean) {
    bool keep = false;
    if (mean.type_string() != "Mean" || mean.output_type(0) != DT_FLOAT ||
        !mean.attrs().Get("keep_dims", &keep).ok() || !keep) {
      return 0;
    }
    const Endpoint x = InputOf(mean, 0);
    const int rank = x.node->output_shape(x.index).dims();
    const auto axes = IntegerInput(mean, 1);
    if (!axes || rank < 1) return 0;
    int64_t least = rank;
    std::vector<bool> seen(rank);
    int count = 0;
    for (int64_t axis : *axes) {
      if (axis < 0) axis += rank;
      if (axis < 0 || axis >= rank || seen[axis]) return 0;
      seen[axis] = true;
      least = std::min(least, axis);
      ++count;
    }
    return least + count == rank ? count : 0;
  }

  bool FindMoments(Node* root, Norm* norm) {
    norm->root = root;
    norm->moments.clear();
    const Endpoint sum = InputOf(*root, 0);
    Node* variance = sum.node;
    if (variance->traits().arithmetic == ArithmeticOp::kAdd) {
      for (int i = 0; i < 2; ++i) {
        const auto epsilon = ScalarInput(*sum.node, i, 0);
        if (!epsilon) continue;
        norm->epsilon = *epsilon;
        variance = InputOf(*sum.node, 1 - i).node;
        norm->moments.push_back(sum.node);
      }
    }
    norm->axes = LastAxes(*variance);
    if (norm->axes == 0) return false;
    norm->moments.push_back(variance);
    const Endpoint square = InputOf(*variance, 0);
    for (Node* mean : MeansBefore(square)) {
      const Endpoint x = InputOf(*mean, 0);
      if (LastAxes(*mean) != norm->axes ||
          IsRefType(x.node->output_type(x.index))) {
        continue;
      }
      Expander expander(-1, [&](const Endpoint& e) {
        return e == x ? kNormX : e == Endpoint{mean, 0} ? kMean : -1;
      });
      const auto got = expander.Expand(square);
      const Expression want = {
          {{kNormX, kNormX}, 1}, {{kNormX, kMean}, -2}, {{kMean, kMean}, 1}};
      if (!got || !IsNearly(*got, want, DT_FLOAT)) continue;
      norm->x = x;
      norm->mean = mean;
      norm->moments.push_back(mean);
      for (Node* n : expander.nodes()) norm->moments.push_back(n);
      norm->moments.push_back(root);
      return true;
    }
    return false;
  }

  // Means that arithmetic makes `e` of.
  static std::vector<Node*> MeansBefore(const Endpoint& e) {
    std::vector<Node*> found, seen = {e.node};
    for (size_t i = 0; i < seen.size() && seen.size() < kMaxNodes; ++i) {
      if (!IsArithmetic(*seen[i])) continue;
      for (const Edge* in : seen[i]->data_inputs()) {
        if (in == nullptr || absl::c_linear_search(seen, in->src())) continue;
        seen.push_back(in->src());
        if (in->src()->type_string() == "Mean") found.push_back(in->src());
      }
    }
    return found;
  }

  // Arithmetic that depends on `n`, nearest first.
  static std::vector<Node*> ArithmeticAfter(Node* n) {
    std::vector<Node*> found = {n};
    for (size_t i = 0; i < found.size() && found.size() < kMaxNodes; ++i) {
      for (const Edge* e : found[i]->out_edges()) {
        if (e->IsControlEdge() || !IsArithmetic(*e->dst()) ||
            absl::c_linear_search(found, e->dst())) {
          continue;
        }
        found.push_back(e->dst());
      }
    }
    found.erase(found.begin());
    return found;
  }

  // One value for each element that is normalized, or for each of the last dims
  // of these.
  static bool IsParameter(const Norm& norm, const Endpoint& e) {
    const PartialTensorShape& p = e.node->output_shape(e.index);
    const PartialTensorShape& x = norm.x.node->output_shape(norm.x.index);
    if (e.node->output_type(e.index) != DT_FLOAT || !p.IsFullyDefined() ||
        p.dims() < 1 || p.dims() > x.dims()) {
      return false;
    }
    int d = 0;
    while (d < p.dims() && p.dim_size(d) == 1) ++d;
    if (p.dims() - d > norm.axes) return false;
    for (; d < p.dims(); ++d) {
      if (x.dim_size(x.dims() - p.dims() + d) != p.dim_size(d)) return false;
    }
    return p.num_elements() > 1;
  }

  // The last node that gives the normalized value, scaled and shifted or not.
  bool FindResult(Norm* norm) {
    const Root root = RootOf(*norm->root);
    const std::vector<Node*> after_mean = ArithmeticAfter(norm->mean);
    const std::vector<Node*> after_root = ArithmeticAfter(norm->root);
    const auto depends = [&](const Node* n) {
      return absl::c_linear_search(after_mean, n) ||
             absl::c_linear_search(after_root, n);
    };
    const int rank = norm->x.node->output_shape(norm->x.index).dims();
    bool found = false;
    for (Node* last : after_root) {
      std::vector<Endpoint> parameters;
      const auto atom = [&](const Endpoint& e) {
        if (e == norm->x) return kNormX;
        if (e == Endpoint{norm->mean, 0}) return kMean;
        if (e == Endpoint{norm->root, 0} && root == Root::kReciprocal) {
          return kReciprocal;
        }
        if (depends(e.node) || !IsParameter(*norm, e)) return -1;
        const auto at = absl::c_find(parameters, e);
        const int i = static_cast<int>(at - parameters.begin());
        if (at == parameters.end()) parameters.push_back(e);
        return kParameter + i;
      };
      Expander expander(rank, atom, [&](const Endpoint& e) {
        return e == Endpoint{norm->root, 0} && root == Root::kSquare
                   ? kReciprocal
                   : -1;
      });
      const auto got = expander.Expand({last, 0});
      if (!got || !IsResult(*got, parameters, norm)) continue;
      std::vector<Node*> nodes = norm->moments;
      for (Node* n : expander.nodes()) {
        if (!absl::c_linear_search(nodes, n)) nodes.push_back(n);
      }
      if (!MayBecomeOne(&rewriter_, nodes, *last)) continue;
      found = true;
      norm->nodes = std::move(nodes);
      norm->parameters = std::move(chosen_);
      norm->has_scale = chosen_scale_;
      norm->has_offset = norm->parameters.size() > (chosen_scale_ ? 1u : 0u);
    }
    return found;
  }

  // Sets chosen_ and chosen_scale_ if so.
  bool IsResult(const Expression& got, const std::vector<Endpoint>& parameters,
                Norm* norm) {
    const int count = static_cast<int>(parameters.size());
    if (count > 2) return false;
    for (int scale = -1; scale < count; ++scale) {
      for (int offset = -1; offset < count; ++offset) {
        Expression want;
        std::vector<int> x = {kNormX, kReciprocal}, mean = {kMean, kReciprocal};
        chosen_.clear();
        chosen_scale_ = scale >= 0;
        if (scale >= 0) {
          x.push_back(kParameter + scale);
          mean.push_back(kParameter + scale);
          chosen_.push_back(parameters[scale]);
        }
        want[x] = 1;
        want[mean] = -1;
        if (offset >= 0) {
          want[{kParameter + offset}] = 1;
          chosen_.push_back(parameters[offset]);
        }
        if (IsNearly(got, want, DT_FLOAT)) return true;
      }
    }
    return false;
  }

  static constexpr size_t kMaxNodes = 24;

  Graph* const graph_;
  Rewriter rewriter_;
  std::vector<Endpoint> chosen_;  // scale, offset
  bool chosen_scale_ = false;
};

}  // namespace

Status FuseLayerNorm(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  if (OpRegistry::Global()->Find(kFusedLayerNorm) == nullptr) return OkStatus();
  return LayerNormFinder(context, graph).Run(changes);
}

}  // namespace headrace
