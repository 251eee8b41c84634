// Makes one node of each basic LSTM cell that the graph spells out, as TF 1.x's
// BasicLSTMCell and LSTMCell do:
//
//   g = BiasAdd(MatMul(ConcatV2(x, h_prev), w), b);   i, j, f, o = Split(g)
//   cs = cs_prev * Sigmoid(f + forget_bias) + Sigmoid(i) * Tanh(j)
//   h = Tanh(cs) * Sigmoid(o)
//
// in any order of operands and gates; cs and h may have other readers. Keras'
// LSTM spells g as BiasAdd(MatMul(x, w) + MatMul(h_prev, u), b); if w and u are
// constants, the node gets one matrix of the rows of both. Then makes one node
// of cells that follow each other with the same weights, in layers of unrolled
// networks, unless an x depends on what a cell before gave or may not be there:
// the products of all x are then one.
//
// Results differ as sums do whose order changes.
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "graph/constant_eval.h"
#include "headrace/allocator.h"
#include "runtime/passes/expression.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

constexpr char kFusedLstm[] = "_FusedLSTM";

// Inputs and outputs of a node of one step.
constexpr int kCellX = 0, kHPrev = 1, kCsPrev = 2, kW = 3, kB = 4;
constexpr int kCs = 0, kH = 1;

enum Gate : int { kInput, kNew, kForget, kOutput };

struct Cell {
  // All that go, from the products to h.
  std::vector<Node*> nodes;
  // Constants that were inputs of theirs and have control inputs.
  std::vector<Node*> waits_for;
  Endpoint x, h_prev, cs_prev, w, b;
  // Of products that are added: the rows of h_prev, while w has those of x.
  Endpoint u;
  Node* cs = nullptr;
  Node* h = nullptr;
  float forget_bias = 0;
  std::array<int64_t, 4> order = {};
};

bool IsAdd(const Node& n) {
  return n.traits().arithmetic == ArithmeticOp::kAdd;
}

bool IsMul(const Node& n) {
  return n.traits().arithmetic == ArithmeticOp::kMul;
}

// Finds the cell around one Split.
class Matcher {
 public:
  explicit Matcher(Rewriter* rewriter) : rewriter_(rewriter) {}

  bool Match(Node* split, Cell* cell) {
    cell_ = cell;
    split_ = split;
    return MatchGateSums() && MatchGates() && MatchState() && MatchOutput() &&
           absl::c_all_of(cell->nodes, [&](const Node* n) {
             return Rewriter::SamePlace(*split, *n);
           });
  }

 private:
  struct GatePath {
    Node* last = nullptr;  // the activation
    bool sigmoid = false;
    bool biased = false;
    float bias = 0;
  };

  // The only reader of `n`'s output 0. Null if there are several, if it is a
  // control edge, or if `n` may not go.
  Node* Reader(const Node& n) {
    const Edge* const e = rewriter_->OnlyReader(n);
    return e == nullptr || e->IsControlEdge() ? nullptr : e->dst();
  }

  // Input `i`, if it is a constant. What it waits for the cell will.
  const Tensor* Constant(const Node& n, int i) {
    const Node& c = *n.input_edge(i)->src();
    const Tensor* const value = ConstantValue(c);
    if (value == nullptr) return nullptr;
    for (const Edge* e : c.control_inputs()) {
      cell_->waits_for.push_back(e->src());
    }
    return value;
  }

  // Input `i` is 1 or -1, the last axis of a matrix.
  bool IsColumns(const Node& n, int i) {
    const Tensor* const t = Constant(n, i);
    if (t == nullptr || t->NumElements() != 1) return false;
    const int64_t axis = t->dtype() == DT_INT32   ? t->data<int32_t>()[0]
                         : t->dtype() == DT_INT64 ? t->data<int64_t>()[0]
                                                  : 0;
    return axis == 1 || axis == -1;
  }

  // From the products to the Split.
  bool MatchGateSums() {
    int64_t parts = 0;
    if (split_->output_type(0) != DT_FLOAT ||
        !split_->attrs().Get("num_split", &parts).ok() || parts != 4 ||
        !rewriter_->MayRemove(*split_) || !IsColumns(*split_, 0)) {
      return false;
    }
    Node* const bias = split_->input_edge(1)->src();
    if (bias->traits().arithmetic != ArithmeticOp::kBiasAdd ||
        Reader(*bias) != split_) {
      return false;
    }
    std::string format;
    if (!bias->attrs().Get("data_format", &format).ok() || format != "NHWC") {
      return false;
    }
    cell_->b = InputOf(*bias, 1);
    cell_->nodes = {bias, split_};
    Node* const sums = bias->input_edge(0)->src();
    return IsAdd(*sums) ? MatchProducts(sums, bias) : MatchProduct(sums, bias);
  }

  bool IsProductFor(const Node& n, const Node* reader) {
    bool transpose_a = true, transpose_b = true;
    const LayerTraits& layer = n.traits().layer;
    return layer.kind == LayerKind::kMatMul && layer.is_plain() &&
           Reader(n) == reader &&
           n.attrs().Get("transpose_a", &transpose_a).ok() &&
           n.attrs().Get("transpose_b", &transpose_b).ok() && !transpose_a &&
           !transpose_b;
  }

  // One product, of x and h_prev side by side.
  bool MatchProduct(Node* product, Node* bias) {
    if (!IsProductFor(*product, bias)) return false;
    Node* const concat = product->input_edge(0)->src();
    if (concat->type_string() != "ConcatV2" || concat->num_inputs() != 3 ||
        Reader(*concat) != product || !IsColumns(*concat, 2)) {
      return false;
    }
    cell_->x = InputOf(*concat, 0);
    cell_->h_prev = InputOf(*concat, 1);
    cell_->w = InputOf(*product, 1);
    cell_->nodes.insert(cell_->nodes.begin(), {concat, product});
    return true;
  }

  // The sum of a product of x and one of h_prev.
  bool MatchProducts(Node* sums, Node* bias) {
    Node* const first = sums->input_edge(0)->src();
    Node* const second = sums->input_edge(1)->src();
    if (Reader(*sums) != bias || first == second ||
        !IsProductFor(*first, sums) || !IsProductFor(*second, sums)) {
      return false;
    }
    // Constants that wait may be those of a loop's body: the new one would not.
    const Tensor* const w = ConstantValue(*first->input_edge(1)->src());
    const Tensor* const u = ConstantValue(*second->input_edge(1)->src());
    if (!first->input_edge(1)->src()->control_inputs().empty() ||
        !second->input_edge(1)->src()->control_inputs().empty() ||
        w == nullptr || u == nullptr || w->dims() != 2 || u->dims() != 2 ||
        w->dim_size(1) != u->dim_size(1)) {
      return false;
    }
    cell_->x = InputOf(*first, 0);
    cell_->w = InputOf(*first, 1);
    cell_->h_prev = InputOf(*second, 0);
    cell_->u = InputOf(*second, 1);
    cell_->nodes.insert(cell_->nodes.begin(), {first, second, sums});
    return true;
  }

  // The reader of each part, through an addition, to its activation.
  bool MatchGates() {
    std::array<Node*, 4> readers = {};
    for (const Edge* e : split_->out_edges()) {
      if (e->IsControlEdge() || readers[e->src_output()] != nullptr) {
        return false;
      }
      readers[e->src_output()] = e->dst();
    }
    for (int g = 0; g < 4; ++g) {
      GatePath& path = gates_[g];
      Node* n = readers[g];
      if (n == nullptr) return false;
      if (IsAdd(*n)) {
        const int other = n->input_edge(0)->src() == split_ ? 1 : 0;
        const Tensor* const bias = Constant(*n, other);
        if (bias == nullptr || bias->dims() != 0) return false;
        path.biased = true;
        path.bias = bias->data<float>()[0];
        cell_->nodes.push_back(n);
        n = Reader(*n);
        if (n == nullptr) return false;
      }
      path.sigmoid = n->type_string() == "Sigmoid";
      if (!path.sigmoid && n->type_string() != "Tanh") return false;
      path.last = n;
      cell_->nodes.push_back(n);
    }
    return true;
  }

  // Of a product of two, the one that is not `known`.
  static Node* OtherFactor(const Node& product, const Node* known) {
    const int i = product.input_edge(0)->src() == known ? 1 : 0;
    return product.input_edge(i)->src();
  }

  // The number of the gate that ends with `n` and has no other reader than
  // `reader`; -1 if it is none.
  int GateOf(const Node* n, const Node* reader) {
    for (int g = 0; g < 4; ++g) {
      if (gates_[g].last == n) {
        return gates_[g].sigmoid && Reader(*n) == reader ? g : -1;
      }
    }
    return -1;
  }

  bool MatchState() {
    const auto tanh =
        absl::c_find_if(gates_, [](const GatePath& p) { return !p.sigmoid; });
    if (tanh == gates_.end() || tanh->biased) return false;
    Node* const added = Reader(*tanh->last);
    if (added == nullptr || !IsMul(*added)) return false;
    const int input = GateOf(OtherFactor(*added, tanh->last), added);
    Node* const cs = Reader(*added);
    if (input < 0 || cs == nullptr || !IsAdd(*cs)) return false;
    Node* const kept = OtherFactor(*cs, added);
    if (kept == added || !IsMul(*kept) || Reader(*kept) != cs) {
      return false;
    }
    int forget = -1;
    for (int i = 0; i < 2 && forget < 0; ++i) {
      forget = GateOf(kept->input_edge(i)->src(), kept);
      cell_->cs_prev = InputOf(*kept, 1 - i);
    }
    if (forget < 0) return false;
    cell_->cs = cs;
    cell_->nodes.insert(cell_->nodes.end(), {added, kept, cs});
    // A graph may add the two products in any order. What comes out of the cell
    // that gave cs_prev is h_prev.
    const Endpoint before = {cell_->cs_prev.node, kH};
    if (cell_->u.node != nullptr && before.node->type_string() == kFusedLstm &&
        cell_->x == before && !(cell_->h_prev == before)) {
      std::swap(cell_->x, cell_->h_prev);
      std::swap(cell_->w, cell_->u);
    }
    cell_->forget_bias = gates_[forget].bias;
    cell_->order[kNew] = tanh - gates_.begin();
    cell_->order[kInput] = input;
    cell_->order[kForget] = forget;
    return rewriter_->MayReplace(*cs) && IsState(*cell_);
  }

  // cs_prev surely is a matrix with a column for each cell. In a loop, whose
  // variables have no known shape, it is one in every iteration if it is one at
  // first: cs then is, too.
  static bool IsState(const Cell& c) {
    const PartialTensorShape& w = c.w.node->output_shape(c.w.index);
    if (w.dims() != 2 || w.dim_size(1) < 0) return false;
    absl::flat_hash_set<const Node*> seen = {c.cs};
    std::vector<Endpoint> stack = {c.cs_prev};
    while (!stack.empty()) {
      const Endpoint e = stack.back();
      stack.pop_back();
      if (!seen.insert(e.node).second) continue;
      const PartialTensorShape& s = e.node->output_shape(e.index);
      if (s.dims() == 2 && s.dim_size(1) >= 0 &&
          w.dim_size(1) == 4 * s.dim_size(1)) {
        continue;
      }
      const bool passes = e.node->IsIdentity() || e.node->IsSwitch() ||
                          e.node->IsEnter() || e.node->IsNextIteration();
      const bool selects = e.node->type_string() == "Select";
      if (!passes && !e.node->IsMerge() && !selects) return false;
      const int from = selects ? 1 : 0;
      const int to = passes ? 1 : e.node->num_inputs();
      for (int i = from; i < to; ++i) stack.push_back(InputOf(*e.node, i));
    }
    return true;
  }

  bool MatchOutput() {
    const auto& order = cell_->order;
    const int64_t output = 6 - order[kInput] - order[kNew] - order[kForget];
    if (gates_[order[kInput]].biased || gates_[output].biased) return false;
    for (const Edge* e : cell_->cs->out_edges()) {
      Node* const tanh = e->dst();
      if (e->IsControlEdge() || tanh->type_string() != "Tanh") continue;
      Node* const h = Reader(*tanh);
      if (h == nullptr || !IsMul(*h) ||
          GateOf(OtherFactor(*h, tanh), h) != output) {
        continue;
      }
      cell_->order[kOutput] = output;
      cell_->nodes.insert(cell_->nodes.end(), {tanh, h});
      cell_->h = h;
      return true;
    }
    return false;
  }

  Rewriter* const rewriter_;
  Node* split_ = nullptr;
  Cell* cell_ = nullptr;
  std::array<GatePath, 4> gates_;
};

bool ReadsReference(const Cell& c) {
  return absl::c_any_of(
      std::array<Endpoint, 5>{c.x, c.h_prev, c.cs_prev, c.w, c.b},
      [](const Endpoint& e) {
        return IsRefType(e.node->output_type(e.index));
      });
}

// Cells that follow each other.

// The cell after `n`, of the same layer; null if there is none.
Node* Next(const Node& n) {
  for (const Edge* e : n.out_edges()) {
    Node* const next = e->dst();
    if (e->IsControlEdge() || next->type_string() != kFusedLstm ||
        next->num_inputs() != 5 || e->dst_input() != kHPrev ||
        e->src_output() != kH || !next->control_inputs().empty() ||
        !(InputOf(*next, kCsPrev) == Endpoint{e->src(), kCs}) ||
        !(InputOf(*next, kW) == InputOf(n, kW)) ||
        !(InputOf(*next, kB) == InputOf(n, kB)) ||
        !Rewriter::SamePlace(n, *next)) {
      continue;
    }
    const auto same = [&](const char* attr) {
      return *n.attrs().Find(attr) == *next->attrs().Find(attr);
    };
    if (same("forget_bias") && same("gate_order") && same("rows_broadcast")) {
      return next;
    }
  }
  return nullptr;
}

// True if an x of `layer` depends, within one iteration of the loops around
// it, on what a cell of it gives.
bool FeedsItself(absl::Span<Node* const> layer) {
  absl::flat_hash_set<const Node*> seen(layer.begin(), layer.end());
  std::vector<const Node*> stack;
  const auto follow = [&](const Node& n) {
    if (n.IsNextIteration()) return;
    for (const Edge* e : n.out_edges()) {
      if (seen.insert(e->dst()).second) stack.push_back(e->dst());
    }
  };
  for (const Node* n : layer) follow(*n);
  while (!stack.empty()) {
    const Node* const n = stack.back();
    stack.pop_back();
    follow(*n);
  }
  return absl::c_any_of(layer, [&](const Node* n) {
    return seen.contains(n->input_edge(kCellX)->src());
  });
}

// True if an x after the first may be dead while those before it are not: there
// is a Switch among what it depends on.
bool MayEndEarly(absl::Span<Node* const> layer) {
  absl::flat_hash_set<const Node*> seen(layer.begin(), layer.end());
  std::vector<const Node*> stack;
  for (const Node* n : layer.subspan(1)) {
    stack.push_back(n->input_edge(kCellX)->src());
  }
  while (!stack.empty()) {
    const Node* const n = stack.back();
    stack.pop_back();
    if (n->IsSwitch()) return true;
    const auto follow = [&](const Edge* e) {
      if (seen.insert(e->src()).second) stack.push_back(e->src());
    };
    absl::c_for_each(n->data_inputs(), follow);
    absl::c_for_each(n->control_inputs(), follow);
  }
  return false;
}

class LstmFuser {
 public:
  LstmFuser(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph_, &order));
    std::vector<int> splits;  // ids: nodes go while cells are made
    for (const Node* n : order) {
      if (n->type_string() == "Split") splits.push_back(n->id());
    }
    std::vector<int> cells;
    for (const int id : splits) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      Cell cell;
      Matcher matcher(&rewriter_);
      if (graph_->node(id) == nullptr ||
          !matcher.Match(graph_->node(id), &cell) || ReadsReference(cell)) {
        continue;
      }
      HR_RETURN_IF_ERROR(MakeCell(cell, &cells, changes));
    }
    for (const int id : cells) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      std::vector<Node*> layer = {graph_->node(id)};
      if (layer[0] == nullptr || !layer[0]->control_inputs().empty()) continue;
      while (Node* const next = Next(*layer.back())) layer.push_back(next);
      if (layer.size() == 1 || FeedsItself(layer) || MayEndEarly(layer) ||
          !absl::c_all_of(layer, [&](const Node* n) {
            return n == layer.back() || rewriter_.MayRemove(*n);
          })) {
        continue;
      }
      HR_RETURN_IF_ERROR(MakeLayer(layer, changes));
    }
    return OkStatus();
  }

 private:
  Status MakeCell(const Cell& c, std::vector<int>* made, int* changes) {
    NodeDef def;
    def.op = kFusedLstm;
    def.attrs.Set("T", DT_FLOAT);
    def.attrs.Set("num_steps", int64_t{1});
    def.attrs.Set("forget_bias", c.forget_bias);
    def.attrs.Set("gate_order",
                  std::vector<int64_t>(c.order.begin(), c.order.end()));
    def.attrs.Set("rows_broadcast", c.u.node != nullptr);
    Endpoint w = c.w;
    if (c.u.node != nullptr) {
      HR_ASSIGN_OR_RETURN(w, BothWeights(c));
      if (w.node == nullptr) return OkStatus();
    }
    const int merged = static_cast<int>(c.nodes.size()) - 1;
    const Rewriter::Output outputs[] = {{{c.cs, 0}, kCs}, {{c.h, 0}, kH}};
    const std::string cs = c.cs->name();
    HR_ASSIGN_OR_RETURN(Node * done,
                        rewriter_.Replace(c.nodes, outputs, std::move(def),
                                          {c.x, c.h_prev, c.cs_prev, w, c.b}));
    if (done == nullptr) return OkStatus();
    // A dynamic_rnn of sequences with lengths selects beside cs and beside h.
    rewriter_.MovePeers(cs, *done);
    for (Node* n : c.waits_for) graph_->AddControlEdge(n, done);
    made->push_back(done->id());
    *changes += merged;
    return OkStatus();
  }

  // A constant of the rows of w, then of u. Cells with the same two share it.
  // No node if there is no memory for it.
  StatusOr<Endpoint> BothWeights(const Cell& c) {
    int& id = weights_.try_emplace({c.w, c.u}, -1).first->second;
    if (id < 0) {
      const Tensor& w = *ConstantValue(*c.w.node);
      const Tensor& u = *ConstantValue(*c.u.node);
      Tensor both;
      if (!Tensor::Allocate(
               CpuAllocator(), DT_FLOAT,
               TensorShape({w.dim_size(0) + u.dim_size(0), w.dim_size(1)}),
               &both)
               .ok()) {
        return Endpoint();
      }
      char* const to = static_cast<char*>(both.raw_data());
      std::memcpy(to, w.raw_data(), w.TotalBytes());
      std::memcpy(to + w.TotalBytes(), u.raw_data(), u.TotalBytes());
      HR_ASSIGN_OR_RETURN(
          const Node* node,
          rewriter_.AddConst(*c.h, StrCat(c.h->name(), "/weights"),
                             std::move(both)));
      id = node->id();
    }
    return Endpoint{graph_->node(id), 0};
  }

  Status MakeLayer(absl::Span<Node* const> layer, int* changes) {
    const int n = static_cast<int>(layer.size());
    NodeDef def;
    def.op = kFusedLstm;
    for (const char* attr :
         {"T", "forget_bias", "gate_order", "rows_broadcast"}) {
      def.attrs.Set(attr, *layer[0]->attrs().Find(attr));
    }
    def.attrs.Set("num_steps", int64_t{n});
    std::vector<Endpoint> inputs;
    std::vector<Rewriter::Output> outputs;
    for (int t = 0; t < n; ++t) {
      inputs.push_back(InputOf(*layer[t], kCellX));
      outputs.push_back({{layer[t], kCs}, t});
      outputs.push_back({{layer[t], kH}, n + t});
    }
    for (const int i : {kHPrev, kCsPrev, kW, kB}) {
      inputs.push_back(InputOf(*layer[0], i));
    }
    HR_ASSIGN_OR_RETURN(
        Node * done, rewriter_.Replace(layer, outputs, std::move(def), inputs));
    if (done != nullptr) *changes += n - 1;
    return OkStatus();
  }

  Graph* const graph_;
  Rewriter rewriter_;
  // By w and u, the id of their constant.
  absl::flat_hash_map<std::pair<Endpoint, Endpoint>, int> weights_;
};

}  // namespace

Status FuseLstm(const GraphPassContext& context, Graph* graph, int* changes) {
  const OpDef* fused = nullptr;
  if (!OpRegistry::Global()->LookUp(kFusedLstm, &fused).ok()) return OkStatus();
  return LstmFuser(context, graph).Run(changes);
}

}  // namespace headrace
