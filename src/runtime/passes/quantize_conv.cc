// Marks convolutions whose image and filter are fake-quantised to 8 bits or
// less: attr kFakeQuantAttr has the levels and ranges (kernels/conv
// byte_levels.h says in which order). Their kernels may then multiply bytes,
// which gives the same values up to rounding. The image may have been reshaped
// since; the filter is a constant. Runs before constants are folded, which
// takes the filter's levels away.
#include <cmath>
#include <string>
#include <vector>

#include "graph/algorithm.h"
#include "headrace/op_traits.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr int kMostBits = 8;

// The levels and ranges of a fake quantisation.
struct Quantization {
  float low_level = 0, high_level = 0;
  std::vector<float> low, high;  // one, or one for each channel
};

bool ReadConstant(const Node& n, int input, std::vector<float>* out) {
  const Tensor* const t = ConstantInput(n, input);
  if (t == nullptr || t->dtype() != DT_FLOAT) return false;
  out->assign(t->data<float>(), t->data<float>() + t->NumElements());
  return true;
}

// What `n` quantises to; false if it does not, or to what is not known.
bool Read(const Node& n, Quantization* out) {
  const std::string& op = n.type_string();
  if (op == "FakeQuantWithMinMaxArgs") {
    out->low.resize(1);
    out->high.resize(1);
    if (!n.attrs().Get("min", &out->low[0]).ok() ||
        !n.attrs().Get("max", &out->high[0]).ok()) {
      return false;
    }
  } else if (op != "FakeQuantWithMinMaxVars" &&
             op != "FakeQuantWithMinMaxVarsPerChannel") {
    return false;
  } else if (!ReadConstant(n, 1, &out->low) ||
             !ReadConstant(n, 2, &out->high)) {
    return false;
  }
  int64_t bits = 0;
  bool narrow = false;
  if (!n.attrs().Get("num_bits", &bits).ok() ||
      !n.attrs().Get("narrow_range", &narrow).ok() || bits < 2 ||
      bits > kMostBits || out->low.empty() ||
      out->low.size() != out->high.size()) {
    return false;
  }
  out->low_level = narrow ? 1 : 0;
  out->high_level = static_cast<float>((1 << bits) - 1);
  return true;
}

// The node that computed the values of input `i`, whatever their shape was.
const Node* ValuesOf(const Node& n, int i) {
  const Edge* e = n.input_edge(i);
  while (e != nullptr) {
    const Node& from = *e->src();
    const OutputBuffer buffer = from.traits().output_buffer;
    if (e->src_output() != 0 ||
        (buffer != OutputBuffer::kInput && buffer != OutputBuffer::kView)) {
      return &from;
    }
    const Edge* const before = from.input_edge(0);
    if (before == nullptr || before->src()->output_type(before->src_output()) !=
                                 from.output_type(0)) {
      return &from;
    }
    e = before;
  }
  return nullptr;
}

bool IsWithoutNan(const std::vector<float>& values) {
  for (const float v : values) {
    if (std::isnan(v)) return false;
  }
  return true;
}

// The value of the attr; false if `n` cannot be marked.
bool LevelsOf(const Node& n, std::vector<float>* levels) {
  const LayerTraits& layer = n.traits().layer;
  if (layer.kind != LayerKind::kConv2D || !layer.is_plain() ||
      n.output_type(0) != DT_FLOAT) {
    return false;
  }
  Quantization image, filter;
  const Node* const image_from = ValuesOf(n, 0);
  if (image_from == nullptr || !Read(*image_from, &image) ||
      image.low.size() != 1 || n.input_edge(1) == nullptr) {
    return false;
  }
  const Node& filter_from = *n.input_edge(1)->src();
  std::vector<float> weights;
  if (!Read(filter_from, &filter) || !ReadConstant(filter_from, 0, &weights) ||
      !IsWithoutNan(weights)) {
    return false;
  }
  *levels = {image.low_level, image.high_level, image.low[0],
             image.high[0],   filter.low_level, filter.high_level};
  for (size_t c = 0; c < filter.low.size(); ++c) {
    levels->insert(levels->end(), {filter.low[c], filter.high[c]});
  }
  return true;
}

}  // namespace

Status QuantizeConv(const GraphPassContext&, Graph* graph, int* changes) {
  graph->ForEachNode([&](Node* n) {
    std::vector<float> levels;
    if (!LevelsOf(*n, &levels)) return;
    graph->SetNodeAttr(n, kFakeQuantAttr, std::move(levels));
    ++*changes;
  });
  return OkStatus();
}

}  // namespace headrace
