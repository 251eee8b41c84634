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
#include "runtime/passes/quantization.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr int kMostBits = 8;

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
  if (image_from == nullptr || !ReadQuantization(*image_from, &image) ||
      image.bits > kMostBits || image.low.size() != 1 ||
      n.input_edge(1) == nullptr) {
    return false;
  }
  const Node& filter_from = *n.input_edge(1)->src();
  std::vector<float> weights;
  if (!ReadQuantization(filter_from, &filter) || filter.bits > kMostBits ||
      !ReadFloats(filter_from, 0, &weights) || !IsWithoutNan(weights)) {
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
