// Folds views around matrix products:
//
//   fold_transpose   a Transpose of matrices into the product that reads it,
//                    which then reads them transposed
//   fold_tensordot   Reshape, MatMul, Reshape into one BatchMatMulV2, where the
//                    last Reshape brings back the dims that the first put into
//                    one. tf.tensordot makes such nodes, and with it dense
//                    layers of three and more dims. Their sizes are often known
//                    at run only, so the nodes that compute them are followed.
#include <optional>
#include <vector>

#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr int kMaxSteps = 12;

// Of a scalar or a vector.
std::optional<std::vector<int64_t>> List(const Tensor* t) {
  return t == nullptr || t->dims() > 1 ? std::nullopt : Integers(t);
}

// The order in which a Transpose puts the dims of input 0; empty if it is not
// constant.
std::vector<int64_t> OrderOf(const Node& n) {
  if (n.type_string() != "Transpose") return {};
  std::vector<int64_t> order =
      List(ConstantInput(n, 1)).value_or(std::vector<int64_t>());
  std::vector<bool> seen(order.size(), false);
  for (const int64_t d : order) {
    if (d < 0 || d >= static_cast<int64_t>(order.size()) || seen[d]) return {};
    seen[d] = true;
  }
  return order;
}

bool KeepsFirst(absl::Span<const int64_t> order, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// `order` swaps the last two dims alone.
bool SwapsMatrix(absl::Span<const int64_t> order) {
  const size_t rank = order.size();
  return rank >= 2 && KeepsFirst(order, rank - 2) &&
         order[rank - 1] == static_cast<int64_t>(rank) - 2;
}

// The attrs of a product that say whether it reads input 0 and 1 transposed;
// null if `n` is none, or if they conjugate, too.
const char* const* TransposeAttrs(const Node& n) {
  static constexpr const char* kMatMul[] = {"transpose_a", "transpose_b"};
  static constexpr const char* kBatch[] = {"adj_x", "adj_y"};
  if (n.traits().layer.kind != LayerKind::kMatMul) return nullptr;
  if (HasAttr(n.op_def(), kMatMul[0])) return kMatMul;
  const DataType type = n.output_type(0);
  return type == DT_COMPLEX64 || type == DT_COMPLEX128 ? nullptr : kBatch;
}

// One element of a vector of sizes: a number, or a dim of a tensor.
struct Size {
  int64_t number = -1;
  Endpoint of = {nullptr, 0};
  int dim = 0;
};
using Sizes = std::vector<Size>;

std::optional<Sizes> SizesOf(const Edge* e, int steps = kMaxSteps);

std::optional<Sizes> SizesOfSlice(const Node& n, int steps) {
  std::optional<Sizes> in = SizesOf(n.input_edge(0), steps);
  int64_t begin_mask = 0, end_mask = 0, shrink = 0, others[2] = {1, 1};
  const auto begin = List(ConstantInput(n, 1));
  const auto end = List(ConstantInput(n, 2));
  const auto stride = List(ConstantInput(n, 3));
  if (!in || !begin || !end || !stride || begin->size() != 1 ||
      end->size() != 1 || stride->size() != 1 || (*stride)[0] != 1 ||
      !n.attrs().Get("begin_mask", &begin_mask).ok() ||
      !n.attrs().Get("end_mask", &end_mask).ok() ||
      !n.attrs().Get("shrink_axis_mask", &shrink).ok() ||
      !n.attrs().Get("ellipsis_mask", &others[0]).ok() ||
      !n.attrs().Get("new_axis_mask", &others[1]).ok() || others[0] != 0 ||
      others[1] != 0) {
    return std::nullopt;
  }
  const int64_t size = static_cast<int64_t>(in->size());
  const auto position = [&](int64_t at) { return at < 0 ? at + size : at; };
  int64_t from = begin_mask != 0 ? 0 : position((*begin)[0]);
  int64_t to = end_mask != 0 ? size : position((*end)[0]);
  if (shrink != 0) {
    from = position((*begin)[0]);
    to = from + 1;
  }
  if (from < 0 || from > to || to > size) return std::nullopt;
  return Sizes(in->begin() + from, in->begin() + to);
}

// What a vector or scalar of integers holds, if that are sizes.
std::optional<Sizes> SizesOf(const Edge* e, int steps) {
  if (e == nullptr || e->src_output() != 0 || --steps < 0) return std::nullopt;
  const Node& n = *e->src();
  if (const auto values = List(FreeConstant(n))) {
    Sizes sizes;
    for (const int64_t v : *values) sizes.push_back({.number = v});
    return sizes;
  }
  const std::string& op = n.type_string();
  const auto is_zero = [&](int input) {
    const auto v = List(ConstantInput(n, input));
    return v.has_value() && v->size() == 1 && (*v)[0] == 0;
  };
  if (op == "Shape") {
    const Edge* const of = n.input_edge(0);
    if (of == nullptr) return std::nullopt;
    const PartialTensorShape& shape = of->src()->output_shape(of->src_output());
    if (shape.unknown_rank()) return std::nullopt;
    Sizes sizes;
    for (int d = 0; d < shape.dims(); ++d) {
      sizes.push_back(
          {shape.dim_size(d), Endpoint{of->src(), of->src_output()}, d});
    }
    return sizes;
  }
  if (op == "GatherV2") {
    const auto in = SizesOf(n.input_edge(0), steps);
    const auto indices = List(ConstantInput(n, 1));
    int64_t batch_dims = 0;
    if (!in || !indices || !is_zero(2) ||
        !n.attrs().Get("batch_dims", &batch_dims).ok() || batch_dims != 0) {
      return std::nullopt;
    }
    Sizes sizes;
    for (const int64_t i : *indices) {
      if (i < 0 || i >= static_cast<int64_t>(in->size())) return std::nullopt;
      sizes.push_back((*in)[i]);
    }
    return sizes;
  }
  if (op == "ConcatV2" || op == "Pack") {
    const bool concat = op == "ConcatV2";
    int64_t axis = 0;
    const int parts = n.num_inputs() - (concat ? 1 : 0);
    if (concat ? !is_zero(parts)
               : !n.attrs().Get("axis", &axis).ok() || axis != 0) {
      return std::nullopt;
    }
    Sizes sizes;
    for (int i = 0; i < parts; ++i) {
      const auto part = SizesOf(n.input_edge(i), steps);
      if (!part || (!concat && part->size() != 1)) return std::nullopt;
      sizes.insert(sizes.end(), part->begin(), part->end());
    }
    return sizes;
  }
  if (op == "StridedSlice") return SizesOfSlice(n, steps);
  return std::nullopt;
}

class TensordotFolder {
 public:
  TensordotFolder(const GraphPassContext& context, Graph* graph)
      : rewriter_(context, graph) {}

  Status Fold(Node* product, int* changes) {
    bool transpose_a = true, transpose_b = true;
    if (product->type_string() != "MatMul" ||
        !product->attrs().Get("transpose_a", &transpose_a).ok() ||
        !product->attrs().Get("transpose_b", &transpose_b).ok() ||
        transpose_a || IsComplex(product->output_type(0))) {
      return OkStatus();
    }
    const Edge* const out = rewriter_.OnlyReader(*product);
    const Edge* const rows = product->input_edge(0);
    const Edge* const weights = product->input_edge(1);
    if (out == nullptr || out->IsControlEdge() || out->dst_input() != 0 ||
        !IsReshape(*out->dst()) || rows == nullptr || weights == nullptr ||
        !IsReshape(*rows->src()) || !rows->src()->control_inputs().empty() ||
        !Rewriter::SamePlace(*product, *out->dst())) {
      return OkStatus();
    }
    // Back to what is reshaped, past transposes that change nothing.
    const Edge* x = rows->src()->input_edge(0);
    std::vector<Endpoint> same;  // tensors of the shape of x
    while (x != nullptr && same.size() < kMaxSteps) {
      same.push_back({x->src(), x->src_output()});
      const std::vector<int64_t> order = OrderOf(*x->src());
      if (order.empty() || !KeepsFirst(order, order.size()) ||
          !x->src()->control_inputs().empty()) {
        break;
      }
      x = x->src()->input_edge(0);
    }
    if (x == nullptr || same.back() != Endpoint{x->src(), x->src_output()} ||
        !KeepsAllButLast(same, *product, *out->dst())) {
      return OkStatus();
    }
    NodeDef def;
    def.op = "BatchMatMulV2";
    def.attrs.Set("T", product->output_type(0));
    def.attrs.Set("adj_x", false);
    def.attrs.Set("adj_y", transpose_b);
    const std::vector<Node*> chain = {product, out->dst()};
    HR_ASSIGN_OR_RETURN(
        Node * done,
        rewriter_.Merge(
            chain, std::move(def),
            {same.back(), {weights->src(), weights->src_output()}}));
    if (done != nullptr) *changes += 2;
    return OkStatus();
  }

 private:
  static bool IsComplex(DataType t) {
    return t == DT_COMPLEX64 || t == DT_COMPLEX128;
  }
  static bool IsReshape(const Node& n) { return n.type_string() == "Reshape"; }

  // The result of `reshape` has the dims of x, except the last, which are the
  // product's columns; the product's rows are x's without its last dim.
  bool KeepsAllButLast(absl::Span<const Endpoint> x, const Node& product,
                       const Node& reshape) const {
    const Node& source = *x.back().node;
    const PartialTensorShape& in = source.output_shape(x.back().index);
    const PartialTensorShape& rows =
        product.input_edge(0)->src()->output_shape(0);
    const PartialTensorShape& columns = product.output_shape(0);
    if (in.unknown_rank() || in.dims() < 3 || rows.dims() != 2 ||
        columns.dims() != 2 || columns.dim_size(1) < 1 ||
        in.dim_size(in.dims() - 1) < 1 ||
        rows.dim_size(1) != in.dim_size(in.dims() - 1)) {
      return false;
    }
    const std::optional<Sizes> sizes = SizesOf(reshape.input_edge(1));
    const int last = in.dims() - 1;
    if (!sizes || static_cast<int>(sizes->size()) != last + 1) return false;
    // One size may be left to the Reshape: it is what the others leave.
    int open = 0;
    for (int i = 0; i <= last; ++i) {
      const Size& s = (*sizes)[i];
      const int64_t want = i < last ? in.dim_size(i) : columns.dim_size(1);
      if (want > 0 && s.number == want) continue;
      bool found = false;
      for (const Endpoint& e : x) {
        found = found || (i < last && s.of == e && s.dim == i);
      }
      if (found) continue;
      if (s.number == -1 && s.of.node == nullptr && ++open == 1) continue;
      return false;
    }
    return true;
  }

  Rewriter rewriter_;
};

}  // namespace

Status FoldTranspose(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  Rewriter rewriter(context, graph);
  std::vector<Node*> products;
  graph->ForEachNode([&](Node* n) {
    if (TransposeAttrs(*n) != nullptr) products.push_back(n);
  });
  for (Node* n : products) {
    const char* const* const attrs = TransposeAttrs(*n);
    for (const int i : {0, 1}) {
      const Edge* const e = n->input_edge(i);
      bool transposed = false;
      // Packed weights want rows.
      if (i == 0 && ConstantInput(*n, 1) != nullptr) continue;
      if (e == nullptr || !SwapsMatrix(OrderOf(*e->src())) ||
          rewriter.OnlyReader(*e->src()) != e ||
          !n->attrs().Get(attrs[i], &transposed).ok() ||
          !Rewriter::SamePlace(*n, *e->src())) {
        continue;
      }
      Node* const transpose = e->src();
      const Edge* const from = transpose->input_edge(0);
      if (from == nullptr) continue;
      for (const Edge* c : transpose->control_inputs()) {
        graph->AddControlEdge(c->src(), n);
      }
      graph->SetNodeAttr(n, attrs[i], !transposed);
      HR_RETURN_IF_ERROR(
          graph->ReplaceInput(n, i, {from->src(), from->src_output()}));
      graph->RemoveNode(transpose);
      ++*changes;
    }
  }
  return OkStatus();
}

Status FoldTensordot(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  std::vector<Node*> products;
  graph->ForEachNode([&](Node* n) {
    if (n->type_string() == "MatMul") products.push_back(n);
  });
  TensordotFolder folder(context, graph);
  for (Node* n : products) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    HR_RETURN_IF_ERROR(folder.Fold(n, changes));
  }
  // Nodes that computed sizes read what would otherwise have one reader, and
  // could be fused.
  int pruned = 0;
  return *changes == 0 ? OkStatus() : PruneUnneeded(context, graph, &pruned);
}

}  // namespace headrace
