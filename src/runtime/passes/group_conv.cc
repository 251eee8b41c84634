// Runs convolutions of the parts of an image's channels, as networks spell
// convolutions in groups, as one:
//
//   parts of x -> Conv2D each -> [BiasAdd] -> [activation] -> ConcatV2
//
// Parts are outputs of Split and SplitV, or slices. The filters, and the
// biases, are constants, which are put together. Groups of many channels stay:
// Winograd's algorithm has none.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr int kRank = 4, kChannelDim = 3;  // NHWC
constexpr int64_t kMostChannels = 32;      // of a group, in and out

// Channels [begin, begin + size) of `from`.
struct Part {
  Endpoint from = {nullptr, 0};
  int64_t begin = 0, size = 0;
};

int64_t Channels(const Edge& e) {
  const PartialTensorShape& shape = e.src()->output_shape(e.src_output());
  return shape.dims() == kRank ? shape.dim_size(kChannelDim) : -1;
}

bool IsChannelDim(const Node& n, int input) {
  const auto axis = IntegerInput(n, input);
  return axis.has_value() && axis->size() == 1 &&
         (axis->front() == kChannelDim || axis->front() == kChannelDim - kRank);
}

// A slice x[:, :, :, a:b] or x[..., a:b].
std::optional<Part> PartOfStrides(const Node& n, int64_t channels) {
  const auto begin = IntegerInput(n, 1), end = IntegerInput(n, 2),
             strides = IntegerInput(n, 3);
  int64_t begin_mask = 0, end_mask = 0, ellipsis = 0, more = 0, shrink = 0;
  if (!begin || !end || !strides ||
      !n.attrs().Get("begin_mask", &begin_mask).ok() ||
      !n.attrs().Get("end_mask", &end_mask).ok() ||
      !n.attrs().Get("ellipsis_mask", &ellipsis).ok() ||
      !n.attrs().Get("new_axis_mask", &more).ok() ||
      !n.attrs().Get("shrink_axis_mask", &shrink).ok() || more != 0 ||
      shrink != 0 || begin->size() != end->size() ||
      begin->size() != strides->size() ||
      std::count(strides->begin(), strides->end(), 1) !=
          static_cast<int64_t>(strides->size())) {
    return std::nullopt;
  }
  constexpr int64_t kOthers = (1 << kChannelDim) - 1;
  const bool whole = ellipsis == 0
                         ? begin->size() == kRank &&
                               (begin_mask & end_mask & kOthers) == kOthers
                         : ellipsis == 1 && begin->size() == 2;
  if (!whole) return std::nullopt;
  const int last = static_cast<int>(begin->size()) - 1;
  const auto place = [&](int64_t mask, int64_t at, int64_t without) {
    if ((mask >> last & 1) != 0) return without;
    return std::clamp<int64_t>(at < 0 ? at + channels : at, 0, channels);
  };
  Part part;
  part.begin = place(begin_mask, begin->back(), 0);
  part.size = place(end_mask, end->back(), channels) - part.begin;
  return part;
}

std::optional<Part> PartOfSlice(const Node& n, int64_t channels) {
  const auto begin = IntegerInput(n, 1), size = IntegerInput(n, 2);
  const PartialTensorShape& shape =
      n.input_edge(0)->src()->output_shape(n.input_edge(0)->src_output());
  if (!begin || !size || begin->size() != kRank || size->size() != kRank) {
    return std::nullopt;
  }
  for (int d = 0; d < kChannelDim; ++d) {
    const int64_t wanted = (*size)[d];
    if ((*begin)[d] != 0 ||
        (wanted != -1 && (wanted < 0 || wanted != shape.dim_size(d)))) {
      return std::nullopt;
    }
  }
  Part part;
  part.begin = begin->back();
  part.size = size->back() == -1 ? channels - part.begin : size->back();
  return part;
}

// What `e` brings, if that is a part of another image's channels.
std::optional<Part> PartOf(const Edge& e) {
  const Node& n = *e.src();
  const std::string& op = n.type_string();
  const Edge* const value =
      op == "Split" ? n.input_edge(1)
      : op == "SplitV" || op == "Slice" || op == "StridedSlice"
          ? n.input_edge(0)
          : nullptr;
  if (value == nullptr) return std::nullopt;
  const int64_t channels = Channels(*value);
  if (channels < 0) return std::nullopt;
  std::optional<Part> part;
  if (op == "Split") {
    if (!IsChannelDim(n, 0)) return std::nullopt;
    part.emplace();
    part->size = channels / n.num_outputs();
    part->begin = e.src_output() * part->size;
  } else if (op == "SplitV") {
    const auto sizes = IntegerInput(n, 1);
    if (!sizes || !IsChannelDim(n, 2)) return std::nullopt;
    part.emplace();
    for (int i = 0; i <= e.src_output(); ++i) {
      part->begin += part->size;
      part->size = (*sizes)[i];
      if (part->size < 0) return std::nullopt;
    }
  } else {
    part =
        op == "Slice" ? PartOfSlice(n, channels) : PartOfStrides(n, channels);
  }
  if (part.has_value()) part->from = {value->src(), value->src_output()};
  return part;
}

// What leads from a part to the concatenation.
struct Branch {
  Node* conv = nullptr;
  Node* bias = nullptr;
  Node* activation = nullptr;
};

// The ops are the same, and the attrs that they know.
bool Alike(const Node* a, const Node* b) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a->type_string() != b->type_string()) return false;
  return std::all_of(a->op_def().attrs.begin(), a->op_def().attrs.end(),
                     [&](const auto& attr) {
                       const AttrValue* const x = a->attrs().Find(attr.name);
                       const AttrValue* const y = b->attrs().Find(attr.name);
                       return x == nullptr || y == nullptr ? x == y : *x == *y;
                     });
}

bool IsNhwc(const Node& n) {
  std::string format;
  return !n.attrs().Get("data_format", &format).ok() || format == "NHWC";
}

class ConvGrouper {
 public:
  ConvGrouper(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Group(Node* concat, int* changes) {
    concat_ = concat;
    branches_.clear();
    if (!Match()) return OkStatus();
    return Apply(changes);
  }

 private:
  // From the concatenation's input `i` back to a convolution.
  bool MatchBranch(int i, Branch* out) {
    const Edge* e = concat_->input_edge(i);
    const auto next = [&]() -> Node* {
      Node* const n = e->src();
      return e->src_output() == 0 && rewriter_.OnlyReader(*n) == e &&
                     Rewriter::SamePlace(*n, *concat_)
                 ? n
                 : nullptr;
    };
    Node* n = e == nullptr ? nullptr : next();
    if (n == nullptr || n->output_type(0) != DT_FLOAT) return false;
    if (n->traits().activation.kind != ActivationTraits::kNone) {
      out->activation = n;
      e = n->input_edge(0);
      if (n->num_inputs() != 1 || (n = next()) == nullptr) return false;
    }
    if (n->traits().arithmetic == ArithmeticOp::kBiasAdd) {
      const Tensor* const bias = ConstantInput(*n, 1);
      if (bias == nullptr || bias->dims() != 1 || !IsNhwc(*n)) return false;
      out->bias = n;
      e = n->input_edge(0);
      if ((n = next()) == nullptr) return false;
    }
    const LayerTraits& layer = n->traits().layer;
    out->conv = n;
    return layer.kind == LayerKind::kConv2D && layer.is_plain() && IsNhwc(*n) &&
           ConstantInput(*n, 1) != nullptr;
  }

  bool Match() {
    const int count = concat_->num_inputs() - 1;
    if (count < 2 || concat_->output_type(0) != DT_FLOAT ||
        !IsChannelDim(*concat_, count)) {
      return false;
    }
    int64_t channels = 0;
    for (int i = 0; i < count; ++i) {
      Branch b;
      if (!MatchBranch(i, &b)) return false;
      const std::optional<Part> part = PartOf(*b.conv->input_edge(0));
      const TensorShape& filter = ConstantInput(*b.conv, 1)->shape();
      if (!part || filter.dims() != kRank || filter.dim_size(2) != part->size ||
          part->begin != channels) {
        return false;
      }
      channels += part->size;
      branches_.push_back(b);
      const Branch& first = branches_.front();
      if (i == 0) {
        source_ = part->from;
        filter_ = filter;
      }
      if (!(part->from == source_) || filter != filter_ ||
          !Alike(b.conv, first.conv) || !Alike(b.bias, first.bias) ||
          !Alike(b.activation, first.activation) ||
          (b.bias != nullptr &&
           ConstantInput(*b.bias, 1)->dim_size(0) != filter.dim_size(3))) {
        return false;
      }
    }
    return filter_.dim_size(2) <= kMostChannels &&
           filter_.dim_size(3) <= kMostChannels && filter_.num_elements() > 0 &&
           source_.node->output_shape(source_.index).dim_size(kChannelDim) ==
               channels;
  }

  // Constants side by side, `size` numbers of each at a time.
  StatusOr<Endpoint> SideBySide(const char* name, TensorShape shape,
                                int64_t size,
                                const std::vector<const Tensor*>& parts) {
    Tensor t(DT_FLOAT, shape);
    if (!t.IsInitialized()) {
      return errors::ResourceExhausted(concat_->name(), ": no memory for ",
                                       shape.DebugString(),
                                       " numbers of a convolution in groups");
    }
    float* to = t.data<float>();
    for (int64_t i = 0; i < parts[0]->NumElements(); i += size) {
      for (const Tensor* part : parts) {
        to = std::copy_n(part->data<float>() + i, size, to);
      }
    }
    HR_ASSIGN_OR_RETURN(
        Node * c, rewriter_.AddConst(*concat_, StrCat(concat_->name(), name),
                                     std::move(t)));
    return Endpoint{c, 0};
  }

  // What takes the place of a node of each branch.
  static NodeDef DefOf(const Node& n) {
    NodeDef def;
    def.op = n.type_string();
    for (const auto& attr : n.op_def().attrs) {
      if (const AttrValue* v = n.attrs().Find(attr.name)) {
        def.attrs.Set(attr.name, *v);
      }
    }
    return def;
  }

  Status Apply(int* changes) {
    const int64_t groups = static_cast<int64_t>(branches_.size());
    std::vector<Node*> old;
    std::vector<const Tensor*> filters, biases;
    for (const Branch& b : branches_) {
      filters.push_back(ConstantInput(*b.conv, 1));
      if (b.bias != nullptr) biases.push_back(ConstantInput(*b.bias, 1));
      for (Node* n : {b.conv, b.bias, b.activation}) {
        if (n != nullptr) old.push_back(n);
      }
    }
    old.push_back(concat_);
    const int64_t outputs = filter_.dim_size(3);
    TensorShape shape = filter_;
    shape.set_dim(3, outputs * groups);
    HR_ASSIGN_OR_RETURN(const Endpoint filter,
                        SideBySide("/filter", shape, outputs, filters));
    std::vector<std::pair<const Node*, std::vector<Endpoint>>> parts;
    const Branch& first = branches_.front();
    parts.push_back({first.conv, {source_, filter}});
    if (first.bias != nullptr) {
      HR_ASSIGN_OR_RETURN(const Endpoint bias,
                          SideBySide("/bias", TensorShape({outputs * groups}),
                                     outputs, biases));
      parts.push_back({first.bias, {Endpoint{nullptr, 0}, bias}});
    }
    if (first.activation != nullptr) {
      parts.push_back({first.activation, {Endpoint{nullptr, 0}}});
    }
    // All but the last beside the old nodes, which the last replaces.
    std::vector<Node*> added;
    for (size_t i = 0; i < parts.size(); ++i) {
      NodeDef def = DefOf(*parts[i].first);
      if (i > 0) parts[i].second[0] = {added.back(), 0};
      if (i + 1 == parts.size()) {
        const int before = *changes;
        HR_RETURN_IF_ERROR(rewriter_.ReplaceByOne(old, std::move(def),
                                                  parts[i].second, changes));
        if (*changes > before) {
          *changes -= static_cast<int>(added.size());
          return OkStatus();
        }
        break;
      }
      def.name = graph_->UniqueName(StrCat(concat_->name(), "/", def.op));
      def.device = concat_->requested_device();
      def.source = parts[i].first->def().source;
      StatusOr<Node*> n = graph_->AddNode(std::move(def), parts[i].second);
      if (!n.ok()) break;
      added.push_back(*n);
    }
    while (!added.empty()) {
      graph_->RemoveNode(added.back());
      added.pop_back();
    }
    return OkStatus();
  }

  Graph* const graph_;
  Rewriter rewriter_;
  // Of the concatenation at hand.
  Node* concat_ = nullptr;
  std::vector<Branch> branches_;
  Endpoint source_ = {nullptr, 0};
  TensorShape filter_;  // of each branch
};

}  // namespace

Status GroupConv(const GraphPassContext& context, Graph* graph, int* changes) {
  std::vector<Node*> concats;
  graph->ForEachNode([&](Node* n) {
    if (n->type_string() == "ConcatV2") concats.push_back(n);
  });
  ConvGrouper grouper(context, graph);
  for (Node* n : concats) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    HR_RETURN_IF_ERROR(grouper.Group(n, changes));
  }
  return OkStatus();
}

}  // namespace headrace
