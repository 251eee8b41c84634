// Folds a Pad with zeros into the VALID convolutions that read it, which then
// have EXPLICIT padding: the padded image is never made. Only if all of its
// readers can take it; batch and channels must not be padded.
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/algorithm.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

bool IsZero(const Tensor& t) {
  switch (t.dtype()) {
    case DT_FLOAT:
      return t.NumElements() == 1 && t.data<float>()[0] == 0;
    case DT_DOUBLE:
      return t.NumElements() == 1 && t.data<double>()[0] == 0;
    default:
      return false;
  }
}

// Rows and columns that a Pad with zeros adds: before and after each dim.
bool Paddings(const Node& pad, std::vector<int64_t>* out) {
  if (pad.type_string() == "PadV2") {
    const Tensor* fill = ConstantInput(pad, 2);
    if (fill == nullptr || !IsZero(*fill)) return false;
  } else if (pad.type_string() != "Pad") {
    return false;
  }
  const Tensor* t = ConstantInput(pad, 1);
  if (t == nullptr || t->shape() != TensorShape({4, 2})) return false;
  const auto sizes = Integers(t);
  if (!sizes) return false;
  *out = *sizes;
  return absl::c_all_of(*out, [](int64_t size) { return size >= 0; });
}

bool CanPad(const Edge& e, const std::vector<int64_t>& paddings) {
  const Node& n = *e.dst();
  const LayerTraits& layer = n.traits().layer;
  if (e.IsControlEdge() || e.dst_input() != 0 || !layer.convolves() ||
      !layer.is_plain() || !HasAttr(n.op_def(), "explicit_paddings") ||
      !Rewriter::SamePlace(*e.src(), n)) {
    return false;
  }
  std::string padding, format;
  if (!n.attrs().Get("padding", &padding).ok() || padding != "VALID" ||
      !n.attrs().Get("data_format", &format).ok()) {
    return false;
  }
  const int channel = format == "NCHW" ? 1 : 3;
  return paddings[0] == 0 && paddings[1] == 0 && paddings[2 * channel] == 0 &&
         paddings[2 * channel + 1] == 0;
}

}  // namespace

Status FoldPad(const GraphPassContext& context, Graph* graph, int* changes) {
  Rewriter rewriter(context, graph);
  std::vector<Node*> pads;
  graph->ForEachNode([&](Node* n) {
    if (n->type_string() == "Pad" || n->type_string() == "PadV2") {
      pads.push_back(n);
    }
  });
  for (Node* pad : pads) {
    std::vector<int64_t> paddings;
    if (!rewriter.MayRemove(*pad) || !Paddings(*pad, &paddings)) continue;
    const Edge* const image = pad->input_edge(0);
    const std::vector<const Edge*> out(pad->out_edges().begin(),
                                       pad->out_edges().end());
    bool all = image != nullptr && !out.empty();
    for (const Edge* e : out) all = all && CanPad(*e, paddings);
    if (!all) continue;
    const Endpoint source = {image->src(), image->src_output()};
    for (const Edge* e : out) {
      Node* const conv = e->dst();
      graph->SetNodeAttr(conv, "padding", "EXPLICIT");
      graph->SetNodeAttr(conv, "explicit_paddings", paddings);
      HR_RETURN_IF_ERROR(graph->ReplaceInput(conv, 0, source));
      for (const Edge* c : pad->control_inputs()) {
        graph->AddControlEdge(c->src(), conv);
      }
    }
    graph->RemoveNode(pad);
    ++*changes;
  }
  return OkStatus();
}

}  // namespace headrace
