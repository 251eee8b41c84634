// Folds SpaceToBatchND, a VALID convolution and BatchToSpaceND into one
// convolution with dilations and explicit padding: the image is neither cut
// into phases nor put together again.
//
//   image -> [Pad] -> [SpaceToBatchND] -> [ExpandDims] -> convolution
//         -> [Squeeze] -> [bias, activation]... -> [BatchToSpaceND]
//
// ExpandDims and Squeeze are there for convolutions of one dim. A Pad before
// them (causal convolutions) is folded with SpaceToBatchND or alone; fold_pad
// folds those right before a convolution.
//
// With b the block, p the padding and c the crops of a dim, phase r of the
// padded image has its elements r, r + b, r + 2b... A stride of 1 in a phase is
// a dilation of b in the image. What is cropped at the begin would have read c
// elements of the padding, so p - c are left.
//
// Winograd's algorithm computes phases, but not dilations. Where it wins, the
// phases stay.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr int kSpatial = 2;

// A constant of integers of this shape, in row-major order.
std::optional<std::vector<int64_t>> IntegersOfShape(const Node& n, int input,
                                                    const TensorShape& shape) {
  const Tensor* const t = ConstantInput(n, input);
  return t == nullptr || t->shape() != shape ? std::nullopt : Integers(t);
}

bool IsZero(const Tensor* t) {
  if (t == nullptr || t->NumElements() != 1) return false;
  return t->dtype() == DT_FLOAT    ? t->data<float>()[0] == 0
         : t->dtype() == DT_DOUBLE ? t->data<double>()[0] == 0
                                   : false;
}

const PartialTensorShape& ShapeOf(const Edge& e) {
  return e.src()->output_shape(e.src_output());
}

// A spatial dim of the image.
struct Dim {
  int64_t size = -1;
  int64_t block = 1;
  int64_t before = 0, after = 0;  // zeros around the image
  int64_t crop_before = 0, crop_after = 0;
};

class DilationFolder {
 public:
  DilationFolder(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Fold(Node* conv, int* changes) {
    conv_ = conv;
    for (Dim& d : dims_) d = {};
    between_.clear();
    merged_.clear();
    expand_ = space_to_batch_ = batch_to_space_ = nullptr;
    if (!IsPlain(*conv) || !MatchBefore() || !MatchAfter()) return OkStatus();
    std::vector<int64_t> paddings = {0, 0}, dilations = {1};
    for (const Dim& d : dims_) {
      if (!Consistent(d)) return OkStatus();
      paddings.push_back(d.before - d.crop_before);
      paddings.push_back(d.after - d.crop_after);
      dilations.push_back(d.block);
    }
    if (space_to_batch_ != nullptr && PhasesAreFaster()) return OkStatus();
    paddings.insert(paddings.end(), {0, 0});
    dilations.push_back(1);
    return Apply(std::move(paddings), std::move(dilations), changes);
  }

 private:
  // A convolution that SpaceToBatchND may be folded into.
  static bool IsPlain(const Node& n) {
    const LayerTraits& layer = n.traits().layer;
    std::string padding, format;
    std::vector<int64_t> strides, dilations;
    const auto all_one = [](const std::vector<int64_t>& v) {
      for (const int64_t i : v) {
        if (i != 1) return false;
      }
      return v.size() == kSpatial + 2;
    };
    return layer.convolves() && layer.is_plain() &&
           HasAttr(n.op_def(), "explicit_paddings") &&
           n.attrs().Get("padding", &padding).ok() && padding == "VALID" &&
           n.attrs().Get("data_format", &format).ok() && format == "NHWC" &&
           n.attrs().Get("strides", &strides).ok() && all_one(strides) &&
           n.attrs().Get("dilations", &dilations).ok() && all_one(dilations);
  }

  // Which of dims_ dim `d` of a tensor before ExpandDims is; -1 for the batch
  // and the channels.
  int Spatial(int d, int rank) const {
    if (d == 0 || d == rank - 1) return -1;
    return rank == kSpatial + 2 ? d - 1 : expanded_ == 1 ? 1 : 0;
  }

  bool MatchBefore() {
    source_ = conv_->input_edge(0);
    if (source_ == nullptr) return false;
    if (source_->src()->type_string() == "ExpandDims" && IsNext(source_)) {
      Node* const n = source_->src();
      const auto axis = IntegerInput(*n, 1);
      if (!axis || axis->size() != 1) return false;
      const int64_t a = axis->front();
      expanded_ = static_cast<int>(a < 0 ? a + kSpatial + 2 : a);
      if (a < -kSpatial - 2 || (expanded_ != 1 && expanded_ != 2)) return false;
      expand_ = n;
      source_ = n->input_edge(0);
    }
    if (source_ == nullptr) return false;
    const int rank = expand_ == nullptr ? kSpatial + 2 : kSpatial + 1;
    if (source_->src()->type_string() == "SpaceToBatchND" && IsNext(source_)) {
      if (!MatchSpaceToBatch(rank)) return false;
      space_to_batch_ = source_->src();
      source_ = space_to_batch_->input_edge(0);
    }
    if (source_ != nullptr && MatchPad(rank)) {
      merged_.insert(merged_.begin(), source_->src());
      source_ = source_->src()->input_edge(0);
    } else if (space_to_batch_ == nullptr) {
      return false;
    }
    if (source_ == nullptr) return false;
    const PartialTensorShape& shape = ShapeOf(*source_);
    if (shape.dims() != rank) return false;
    for (int d = 1; d < rank - 1; ++d) {
      dims_[Spatial(d, rank)].size = shape.dim_size(d);
    }
    if (expand_ != nullptr) {
      dims_[expanded_ - 1].size = 1;
      merged_.push_back(expand_);
    }
    merged_.push_back(conv_);
    return true;
  }

  // Nodes from which a value goes to the convolution alone.
  bool IsNext(const Edge* e) {
    return rewriter_.OnlyReader(*e->src()) == e &&
           e->src()->control_inputs().empty() &&
           Rewriter::SamePlace(*e->src(), *conv_);
  }

  bool MatchSpaceToBatch(int rank) {
    const Node& n = *source_->src();
    const Tensor* const block = ConstantInput(n, 1);
    if (block == nullptr || block->dims() != 1) return false;
    const int64_t m = block->NumElements();
    if (m < 1 || m > rank - 2) return false;
    const auto blocks = IntegersOfShape(n, 1, TensorShape({m}));
    const auto paddings = IntegersOfShape(n, 2, TensorShape({m, 2}));
    if (!blocks || !paddings) return false;
    for (int64_t i = 0; i < m; ++i) {
      Dim& d = dims_[Spatial(static_cast<int>(i) + 1, rank)];
      d.block = (*blocks)[i];
      d.before = (*paddings)[2 * i];
      d.after = (*paddings)[2 * i + 1];
      if (d.block < 1 || d.before < 0 || d.after < 0) return false;
    }
    merged_.push_back(source_->src());
    return true;
  }

  bool MatchPad(int rank) {
    const Node& n = *source_->src();
    const bool with_value = n.type_string() == "PadV2";
    if ((n.type_string() != "Pad" && !with_value) || !IsNext(source_) ||
        (with_value && !IsZero(ConstantInput(n, 2)))) {
      return false;
    }
    const auto paddings = IntegersOfShape(n, 1, TensorShape({rank, 2}));
    if (!paddings) return false;
    for (int d = 0; d < rank; ++d) {
      const int64_t before = (*paddings)[2 * d], after = (*paddings)[2 * d + 1];
      if (before < 0 || after < 0 ||
          (Spatial(d, rank) < 0 && (before != 0 || after != 0))) {
        return false;
      }
    }
    for (int d = 1; d < rank - 1; ++d) {
      dims_[Spatial(d, rank)].before += (*paddings)[2 * d];
      dims_[Spatial(d, rank)].after += (*paddings)[2 * d + 1];
    }
    return true;
  }

  // To BatchToSpaceND, which must undo SpaceToBatchND except for crops.
  bool MatchAfter() {
    if (space_to_batch_ == nullptr) return true;
    int rank = kSpatial + 2;
    Node* n = conv_;
    for (;;) {
      const Edge* const e = rewriter_.OnlyReader(*n);
      if (e == nullptr || e->IsControlEdge() || e->dst_input() != 0 ||
          !Rewriter::SamePlace(*conv_, *e->dst())) {
        return false;
      }
      n = e->dst();
      const std::string& op = n->type_string();
      if (op == "BatchToSpaceND") break;
      std::string format;
      if (op == "Squeeze" && expand_ != nullptr && rank == kSpatial + 2) {
        std::vector<int64_t> axes;
        if (!n->attrs().Get("squeeze_dims", &axes).ok() || axes.size() != 1 ||
            (axes[0] < 0 ? axes[0] + rank : axes[0]) != expanded_) {
          return false;
        }
        --rank;
      } else if (n->traits().activation.kind == ActivationTraits::kNone &&
                 (n->traits().arithmetic != ArithmeticOp::kBiasAdd ||
                  (n->attrs().Get("data_format", &format).ok() &&
                   format != "NHWC"))) {
        return false;
      }
      between_.push_back(n);
    }
    batch_to_space_ = n;
    const bool squeezed = rank == kSpatial + 1;
    if (!rewriter_.MayRemove(*n) || squeezed != (expand_ != nullptr)) {
      return false;
    }
    const Tensor* const block = ConstantInput(*n, 1);
    if (block == nullptr || block->dims() != 1) return false;
    const int64_t m = block->NumElements();
    if (m < 1 || m > rank - 2) return false;
    const auto blocks = IntegersOfShape(*n, 1, TensorShape({m}));
    const auto crops = IntegersOfShape(*n, 2, TensorShape({m, 2}));
    if (!blocks || !crops) return false;
    std::vector<int64_t> undone(kSpatial, 1);
    for (int64_t i = 0; i < m; ++i) {
      const int s = Spatial(static_cast<int>(i) + 1, rank);
      undone[s] = (*blocks)[i];
      dims_[s].crop_before = (*crops)[2 * i];
      dims_[s].crop_after = (*crops)[2 * i + 1];
    }
    for (int s = 0; s < kSpatial; ++s) {
      if (undone[s] != dims_[s].block) return false;
    }
    return true;
  }

  // The dim's sizes are known and fit each other, so that the nodes would have
  // run; and the crops take nothing but padding.
  static bool Consistent(const Dim& d) {
    if (d.block == 1 && d.crop_before == 0 && d.crop_after == 0) return true;
    return d.size >= 0 && (d.size + d.before + d.after) % d.block == 0 &&
           d.crop_before >= 0 && d.crop_after >= 0 &&
           d.crop_before <= d.before && d.crop_after <= d.after;
  }

  // True if Winograd's algorithm may compute the convolution of the phases and
  // saves more than cutting the image costs: measured, up to half the time for
  // phases of 4 and more results a side.
  bool PhasesAreFaster() const {
    constexpr int64_t kFewestChannels = 8, kSmallestSide = 4;
    const Edge* const filter = conv_->input_edge(1);
    if (conv_->traits().layer.kind != LayerKind::kConv2D || filter == nullptr ||
        ShapeOf(*filter).dims() != kSpatial + 2) {
      return false;
    }
    const PartialTensorShape& f = ShapeOf(*filter);
    const int64_t height = f.dim_size(0), width = f.dim_size(1);
    const int64_t line = height == 1 ? width : width == 1 ? height : 0;
    if ((height != 3 || width != 3) && line != 3 && line != 5 && line != 7) {
      return false;
    }
    if (f.dim_size(2) < kFewestChannels || f.dim_size(3) < kFewestChannels) {
      return false;
    }
    for (int i = 0; i < kSpatial; ++i) {
      const Dim& d = dims_[i];
      const int64_t results =
          (d.size + d.before + d.after) / d.block - f.dim_size(i) + 1;
      if (f.dim_size(i) > 1 && results < kSmallestSide) return false;
    }
    return true;
  }

  Status Apply(std::vector<int64_t> paddings, std::vector<int64_t> dilations,
               int* changes) {
    std::vector<std::string> names;
    for (const Node* n : merged_) names.push_back(n->name());
    const AttrMap old = conv_->attrs();
    const Endpoint source = {source_->src(), source_->src_output()};
    Node* const reader = expand_ != nullptr ? expand_ : conv_;
    const Edge* const was = reader->input_edge(0);
    const Endpoint before = {was->src(), was->src_output()};
    HR_RETURN_IF_ERROR(graph_->ReplaceInput(reader, 0, source));
    graph_->SetNodeAttr(conv_, "padding", "EXPLICIT");
    graph_->SetNodeAttr(conv_, "explicit_paddings", std::move(paddings));
    graph_->SetNodeAttr(conv_, "dilations", std::move(dilations));
    // The nodes' shapes are others now.
    std::vector<Node*> changed;
    if (expand_ != nullptr) changed.push_back(expand_);
    changed.push_back(conv_);
    changed.insert(changed.end(), between_.begin(), between_.end());
    bool fits = true;
    for (Node* n : changed) {
      graph_->SetOutputShape(n, 0, PartialTensorShape());
      fits = fits && graph_->InferShapes(n).ok();
    }
    if (!fits) {
      HR_RETURN_IF_ERROR(graph_->ReplaceInput(reader, 0, before));
      for (const char* name : {"padding", "explicit_paddings", "dilations"}) {
        graph_->SetNodeAttr(conv_, name, *old.Find(name));
      }
      for (Node* n : changed) HR_RETURN_IF_ERROR(graph_->InferShapes(n));
      return OkStatus();
    }
    if (batch_to_space_ != nullptr) {
      names.push_back(batch_to_space_->name());
      Node* const last = changed.back();
      const std::vector<const Edge*> out(batch_to_space_->out_edges().begin(),
                                         batch_to_space_->out_edges().end());
      for (const Edge* e : out) {
        if (e->IsControlEdge()) {
          graph_->AddControlEdge(last, e->dst());
        } else {
          HR_RETURN_IF_ERROR(
              graph_->ReplaceInput(e->dst(), e->dst_input(), {last, 0}));
        }
      }
      for (const Edge* e : batch_to_space_->control_inputs()) {
        graph_->AddControlEdge(e->src(), last);
      }
      graph_->RemoveNode(batch_to_space_);
    }
    graph_->SetNodeAttr(conv_, kMergedNodesAttr, std::move(names));
    for (Node* n : merged_) {
      if (n == conv_ || n == expand_) continue;
      graph_->RemoveNode(n);
      ++*changes;
    }
    if (batch_to_space_ != nullptr) ++*changes;
    return OkStatus();
  }

  Graph* const graph_;
  Rewriter rewriter_;
  // Of the convolution at hand.
  Node* conv_ = nullptr;
  Node* expand_ = nullptr;
  Node* space_to_batch_ = nullptr;
  Node* batch_to_space_ = nullptr;
  int expanded_ = 0;  // the dim that ExpandDims adds
  const Edge* source_ = nullptr;
  Dim dims_[kSpatial];
  std::vector<Node*> between_;  // from the convolution to BatchToSpaceND
  std::vector<Node*> merged_;   // up to the convolution
};

}  // namespace

Status FoldDilation(const GraphPassContext& context, Graph* graph,
                    int* changes) {
  std::vector<Node*> convs;
  graph->ForEachNode([&](Node* n) {
    if (n->traits().layer.convolves()) convs.push_back(n);
  });
  DilationFolder folder(context, graph);
  for (Node* n : convs) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    HR_RETURN_IF_ERROR(folder.Fold(n, changes));
  }
  return OkStatus();
}

}  // namespace headrace
