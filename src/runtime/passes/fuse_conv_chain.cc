// Makes one node of [a 1x1 convolution that widens the image,] a depthwise 3x3
// convolution and a 1x1 convolution, with what is fused with each: what lies
// between them then need not go through memory. Float images in NHWC, filters
// that are constant, and nobody else who reads what is in between.
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr char kChain[] = "_FusedConvChain";
// A first 1x1 that widens by less costs too much to compute twice where bands
// of the image overlap.
constexpr int64_t kWidens = 3;

struct Convolution {
  Node* node = nullptr;
  bool depthwise = false;
  TensorShape filter;
  int64_t stride = 1;
  std::string padding;
  std::vector<int64_t> explicit_paddings;
  std::vector<std::string> ops;
  bool adds() const { return absl::c_linear_search(ops, "Add"); }
};

// The vector code of a chain can do what is fused: factors, sums and bounds.
bool Applies(const std::string& fused) {
  const OpDef* const op = OpRegistry::Global()->Find(fused);
  if (op == nullptr) return false;
  switch (op->traits->arithmetic) {
    case ArithmeticOp::kMul:
    case ArithmeticOp::kAdd:
    case ArithmeticOp::kBiasAdd:
      return true;
    default:
      const ActivationTraits::Kind kind = op->traits->activation.kind;
      return kind == ActivationTraits::kRelu ||
             kind == ActivationTraits::kRelu6;
  }
}

// False if `n` is no convolution, or one that a chain cannot have.
bool Read(Node* n, Convolution* out) {
  const LayerTraits& layer = n->traits().layer;
  if (!layer.convolves()) return false;
  out->node = n;
  out->depthwise = layer.kind == LayerKind::kDepthwiseConv2D;
  const Tensor* const filter = ConstantInput(*n, 1);
  std::string format = "NHWC";
  std::vector<int64_t> strides, dilations = {1, 1, 1, 1};
  if (filter == nullptr || filter->dims() != 4 ||
      n->output_type(0) != DT_FLOAT ||
      !n->attrs().Get("strides", &strides).ok() || strides.size() != 4 ||
      !n->attrs().Get("padding", &out->padding).ok()) {
    return false;
  }
  if (out->padding == "EXPLICIT" &&
      !n->attrs().Get("explicit_paddings", &out->explicit_paddings).ok()) {
    return false;
  }
  (void)n->attrs().Get("data_format", &format).ok();
  (void)n->attrs().Get("dilations", &dilations).ok();
  (void)n->attrs().Get("fused_ops", &out->ops).ok();
  if (format != "NHWC" || strides[1] != strides[2] ||
      dilations != std::vector<int64_t>({1, 1, 1, 1})) {
    return false;
  }
  for (const std::string& fused : out->ops) {
    if (!Applies(fused)) return false;
  }
  out->filter = filter->shape();
  out->stride = strides[1];
  return true;
}

bool IsPointwise(const Convolution& c) {
  return !c.depthwise && c.filter.dim_size(0) == 1 &&
         c.filter.dim_size(1) == 1 && c.stride == 1 && c.padding != "EXPLICIT";
}

bool IsMiddle(const Convolution& c) {
  return c.depthwise && c.filter.dim_size(0) == 3 &&
         c.filter.dim_size(1) == 3 && c.filter.dim_size(3) == 1 &&
         c.stride <= 2 && !c.adds();
}

// What `n` hands on to the input of one node alone, its image; else null.
Node* ImageReader(Rewriter* rewriter, const Node& n) {
  const Edge* const e = rewriter->OnlyReader(n);
  return e != nullptr && !e->IsControlEdge() && e->dst_input() == 0 &&
                 Rewriter::SamePlace(n, *e->dst())
             ? e->dst()
             : nullptr;
}

}  // namespace

Status FuseConvChain(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  Rewriter rewriter(context, graph);
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(*graph, &order));
  std::vector<int> middles;  // ids: nodes go while chains are made
  for (Node* n : order) {
    Convolution c;
    if (Read(n, &c) && IsMiddle(c)) middles.push_back(n->id());
  }
  for (const int id : middles) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    Convolution first, middle, last;
    if (!Read(graph->node(id), &middle)) continue;
    Node* const after = ImageReader(&rewriter, *middle.node);
    if (after == nullptr || !Read(after, &last) || !IsPointwise(last)) continue;
    std::vector<Convolution> chain;
    Node* const before = middle.node->input_edge(0)->src();
    if (ImageReader(&rewriter, *before) == middle.node &&
        Read(before, &first) && IsPointwise(first) && !first.adds() &&
        first.filter.dim_size(3) >= kWidens * first.filter.dim_size(2)) {
      chain.push_back(first);
    }
    chain.push_back(middle);
    chain.push_back(last);

    std::vector<Node*> nodes;
    std::vector<bool> depthwise;
    std::vector<int64_t> strides, explicit_paddings;
    std::vector<std::string> paddings, ops;
    const Edge* const image = chain[0].node->input_edge(0);
    std::vector<Endpoint> inputs = {{image->src(), image->src_output()}}, args;
    for (const Convolution& c : chain) {
      nodes.push_back(c.node);
      depthwise.push_back(c.depthwise);
      strides.push_back(c.stride);
      paddings.push_back(c.padding);
      explicit_paddings.insert(explicit_paddings.end(),
                               c.explicit_paddings.begin(),
                               c.explicit_paddings.end());
      ops.push_back(absl::StrJoin(c.ops, ","));
      int i = 0;
      for (const Edge* e : c.node->data_inputs()) {
        const Endpoint from = {e->src(), e->src_output()};
        if (i == 1) inputs.push_back(from);
        if (i > 1) args.push_back(from);
        ++i;
      }
    }
    inputs.insert(inputs.end(), args.begin(), args.end());
    NodeDef def;
    def.op = kChain;
    def.attrs.Set("T", DT_FLOAT);
    def.attrs.Set("num_convs", static_cast<int64_t>(chain.size()));
    def.attrs.Set("num_args", static_cast<int64_t>(args.size()));
    def.attrs.Set("depthwise", std::move(depthwise));
    def.attrs.Set("strides", std::move(strides));
    def.attrs.Set("paddings", std::move(paddings));
    def.attrs.Set("explicit_paddings", std::move(explicit_paddings));
    def.attrs.Set("fused_ops", std::move(ops));
    const int merged = static_cast<int>(chain.size()) - 1;
    HR_ASSIGN_OR_RETURN(Node * done,
                        rewriter.Merge(nodes, std::move(def), inputs));
    if (done != nullptr) *changes += merged;
  }
  return OkStatus();
}

}  // namespace headrace
