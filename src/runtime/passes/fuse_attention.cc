// Makes one node of attention that the graph spells out:
//
//   softmax(query key^T * scale + mask) value
//
// The products are BatchMatMul of any version, or Einsum. Scale (a factor or
// divisor) and mask (which is added) are optional. Transposes that keep the
// last dim, before and after, become part of it. float only.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/passes/expression.h"

namespace headrace {
namespace {

constexpr char kFused[] = "_FusedAttention";

// A product of two tensors: a letter for each dim.
struct Product {
  std::string operand[2], result;
};

bool Has(const std::string& labels, char c) {
  return labels.find(c) != std::string::npos;
}

bool AreDistinct(const std::string& labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels.find(labels[i]) != i) return false;
  }
  return true;
}

bool ReadEinsum(const Node& n, Product* p) {
  std::string equation;
  if (n.num_inputs() != 2 || !n.attrs().Get("equation", &equation).ok()) {
    return false;
  }
  std::erase(equation, ' ');
  const std::vector<std::string> sides = absl::StrSplit(equation, "->");
  const std::vector<std::string> in = absl::StrSplit(sides[0], ',');
  if (sides.size() != 2 || in.size() != 2) return false;
  *p = {{in[0], in[1]}, sides[1]};
  for (const std::string& labels : {in[0], in[1], sides[1]}) {
    if (Has(labels, '.') || !AreDistinct(labels)) return false;
  }
  return true;
}

bool ReadMatMul(const Node& n, Product* p) {
  bool adjoint[2];
  if (!n.attrs().Get("adj_x", &adjoint[0]).ok() ||
      !n.attrs().Get("adj_y", &adjoint[1]).ok()) {
    return false;
  }
  int batch[2];
  for (int i = 0; i < 2; ++i) {
    const Endpoint e = InputOf(n, i);
    batch[i] = e.node->output_shape(e.index).dims() - 2;
    if (batch[i] < 0 || batch[i] > 6) return false;
  }
  // The last batch dims of both go together.
  const std::string all = "ABCDEF";
  const int most = std::max(batch[0], batch[1]);
  for (int i = 0; i < 2; ++i) {
    std::string matrix = i == 0 ? "xk" : "ky";
    if (adjoint[i]) std::swap(matrix[0], matrix[1]);
    p->operand[i] = all.substr(most - batch[i], batch[i]) + matrix;
  }
  p->result = all.substr(0, most) + "xy";
  return true;
}

bool ReadProduct(const Node& n, Product* p) {
  if (n.num_outputs() != 1 || n.output_type(0) != DT_FLOAT) return false;
  for (const Edge* e : n.data_inputs()) {
    if (e == nullptr || e->src()->output_type(e->src_output()) != DT_FLOAT) {
      return false;
    }
  }
  const std::string& op = n.type_string();
  if (op == "Einsum") return ReadEinsum(n, p);
  return (op == "BatchMatMul" || op == "BatchMatMulV2" ||
          op == "BatchMatMulV3") &&
         ReadMatMul(n, p);
}

// The order in which a Transpose puts `rank` dims; nothing if it is not
// constant, or `n` is none.
std::optional<std::vector<int64_t>> OrderOf(const Node& n, size_t rank) {
  if (n.type_string() != "Transpose") return std::nullopt;
  auto order = IntegerInput(n, 1);
  if (!order || order->size() != rank) return std::nullopt;
  for (const int64_t from : *order) {
    if (from < 0 || from >= static_cast<int64_t>(rank)) return std::nullopt;
  }
  return order;
}

// The labels of what is transposed, of those of the result; empty if the last
// dim does not stay the last.
std::string BeforeTranspose(const Node& n, const std::string& labels) {
  const auto order = OrderOf(n, labels.size());
  if (!order) return "";
  std::string before(labels.size(), ' ');
  for (size_t i = 0; i < labels.size(); ++i) before[(*order)[i]] = labels[i];
  return AreDistinct(before) && before.back() == labels.back() ? before : "";
}

std::string AfterTranspose(const Node& n, const std::string& labels) {
  const auto order = OrderOf(n, labels.size());
  if (!order) return "";
  std::string after;
  for (const int64_t from : *order) after += labels[from];
  return AreDistinct(after) && after.back() == labels.back() ? after : "";
}

class Finder {
 public:
  Finder(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    return ForEachRoot(
        *graph_,
        [](const Node& n) {
          return n.type_string() == "Softmax" && n.output_type(0) == DT_FLOAT;
        },
        [&](Node* n) { return Fuse(n, changes); });
  }

 private:
  struct Attention {
    std::vector<Node*> nodes;
    Endpoint operands[3];  // query, key, value
    std::string labels[3], result, scores;
    std::optional<Endpoint> mask;
    double scale = 1;
    bool repeats = false;  // a product repeats batch dims of size 1
  };

  Status Fuse(Node* softmax, int* changes) {
    Attention a;
    if (!Find(softmax, &a)) return OkStatus();
    NodeDef def;
    def.op = kFused;
    def.attrs.Set("T", DT_FLOAT);
    def.attrs.Set("labels", StrCat(a.labels[0], ",", a.labels[1], ",",
                                   a.labels[2], "->", a.result));
    def.attrs.Set("scores", a.scores);
    def.attrs.Set("scale", static_cast<float>(a.scale));
    def.attrs.Set("repeats", a.repeats);
    def.attrs.Set("has_mask", a.mask.has_value());
    def.attrs.Set("num_args", int64_t{a.mask.has_value() ? 1 : 0});
    std::vector<Endpoint> inputs(a.operands, a.operands + 3);
    if (a.mask) inputs.push_back(*a.mask);
    return rewriter_.ReplaceByOne(a.nodes, std::move(def), inputs, changes);
  }

  bool Find(Node* softmax, Attention* a) {
    Node* const first = FindScores(softmax, a);
    const Edge* const e = rewriter_.OnlyReader(*softmax);
    if (first == nullptr || e == nullptr || e->IsControlEdge()) return false;
    Node* const last = e->dst();
    Product qk, pv;
    if (!ReadProduct(*first, &qk) || !ReadProduct(*last, &pv) ||
        !Name(qk, *first, pv, *last, e->dst_input(), a)) {
      return false;
    }
    a->repeats = Repeats(*first) || Repeats(*last);
    a->nodes.push_back(softmax);
    a->nodes.push_back(last);
    if (!MayBecomeOne(&rewriter_, a->nodes, *last)) return false;
    // Transposes that nobody needs then.
    for (int i = 0; i < 3; ++i) {
      Endpoint& x = a->operands[i];
      const std::string before = BeforeTranspose(*x.node, a->labels[i]);
      if (before.empty() || !x.node->control_inputs().empty() ||
          !Rewriter::SamePlace(*x.node, *last) ||
          InputOf(*x.node, 0).node->output_type(InputOf(*x.node, 0).index) !=
              DT_FLOAT) {
        continue;
      }
      a->labels[i] = before;
      x = InputOf(*x.node, 0);
    }
    const Edge* const next = rewriter_.OnlyReader(*last);
    if (next != nullptr && !next->IsControlEdge() && next->dst_input() == 0) {
      const std::string after = AfterTranspose(*next->dst(), a->result);
      std::vector<Node*> nodes = a->nodes;
      nodes.push_back(next->dst());
      if (!after.empty() && MayBecomeOne(&rewriter_, nodes, *next->dst())) {
        a->result = after;
        a->nodes = std::move(nodes);
      }
    }
    return true;
  }

  // From the softmax back to the product of queries and keys; null if there is
  // none.
  Node* FindScores(Node* softmax, Attention* a) {
    Endpoint e = InputOf(*softmax, 0);
    const int rank = e.node->output_shape(e.index).dims();
    std::vector<Node*> found;
    Product p;
    if (e.node->traits().arithmetic == ArithmeticOp::kAdd) {
      for (int i = 0; i < 2; ++i) {
        if (!IsScores(InputOf(*e.node, i))) continue;
        const Endpoint mask = InputOf(*e.node, 1 - i);
        const PartialTensorShape& shape = mask.node->output_shape(mask.index);
        if (shape.unknown_rank() || shape.dims() > rank ||
            mask.node->output_type(mask.index) != DT_FLOAT) {
          continue;
        }
        a->mask = mask;
        found.push_back(e.node);
        e = InputOf(*e.node, i);
        break;
      }
    }
    for (int steps = 0; steps < kMaxScales; ++steps) {
      const ArithmeticOp what = e.node->traits().arithmetic;
      int i = 0;
      std::optional<double> value;
      if (what == ArithmeticOp::kMul || what == ArithmeticOp::kDiv) {
        value = ScalarInput(*e.node, 1, rank);
        if (!value && what == ArithmeticOp::kMul) {
          i = 1;
          value = ScalarInput(*e.node, 0, rank);
        }
      }
      if (!value) break;
      a->scale =
          what == ArithmeticOp::kMul ? a->scale * *value : a->scale / *value;
      found.push_back(e.node);
      e = InputOf(*e.node, i);
    }
    if (!ReadProduct(*e.node, &p)) return nullptr;
    found.push_back(e.node);
    a->nodes.assign(found.rbegin(), found.rend());
    return e.node;
  }

  static bool Repeats(const Node& n) {
    return n.type_string() == "BatchMatMulV2" ||
           n.type_string() == "BatchMatMulV3";
  }

  // `e` is a product, scaled or not.
  static bool IsScores(Endpoint e) {
    Product p;
    for (int steps = 0; steps < kMaxScales; ++steps) {
      if (ReadProduct(*e.node, &p)) return true;
      const ArithmeticOp what = e.node->traits().arithmetic;
      if (what == ArithmeticOp::kMul && ScalarInput(*e.node, 0, 0)) {
        e = InputOf(*e.node, 1);
      } else if ((what == ArithmeticOp::kMul || what == ArithmeticOp::kDiv) &&
                 ScalarInput(*e.node, 1, 0)) {
        e = InputOf(*e.node, 0);
      } else {
        return false;
      }
    }
    return false;
  }

  // Finds out which dim is which. `at`: which operand of `pv` the softmax is.
  static bool Name(const Product& qk, const Node& first, const Product& pv,
                   const Node& last, int at, Attention* a) {
    const std::string& scores = qk.result;
    if (scores.size() < 2 || pv.operand[at].size() != scores.size()) {
      return false;
    }
    const char s = scores.back();
    if (Has(qk.operand[0], s) == Has(qk.operand[1], s)) return false;
    const int k = Has(qk.operand[0], s) ? 0 : 1;
    const std::string &query = qk.operand[1 - k], &key = qk.operand[k];
    // The queries: by choice the dim before the keys.
    char t = 0;
    for (const char c : scores) {
      if (c != s && Has(query, c) && !Has(key, c)) t = c;
    }
    char h = 0;
    for (const char c : query) {
      if (Has(scores, c)) continue;
      if (h != 0 || !Has(key, c)) return false;
      h = c;
    }
    if (t == 0 || h == 0) return false;
    // As the scores are named in the second product.
    const std::string &p = pv.operand[at], &value = pv.operand[1 - at];
    const char p_s = p.back();
    if (!Has(value, p_s) || Has(pv.result, p_s)) return false;
    char d = 0;
    for (const char c : value) {
      if (Has(p, c)) continue;
      if (d != 0 || !Has(pv.result, c)) return false;
      d = c;
    }
    if (d == 0 || pv.result.size() != p.size()) return false;
    for (const char c : p) {
      if (c != p_s && !Has(pv.result, c)) return false;
    }
    if (Has(value, p[scores.find(t)])) return false;

    std::string batch = "abcefg";
    std::string names;  // of the dims of the scores
    for (const char c : scores) {
      if (c == s) {
        names += 's';
      } else if (c == t) {
        names += 't';
      } else if (batch.empty()) {
        return false;
      } else {
        names += batch[0];
        batch.erase(0, 1);
      }
    }
    const auto rename = [&](const std::string& labels, const std::string& from,
                            char own, char name, std::string* out) {
      for (const char c : labels) {
        if (c == own) {
          *out += name;
        } else if (const size_t i = from.find(c); i != std::string::npos) {
          *out += names[i];
        } else {
          return false;
        }
      }
      return true;
    };
    if (!rename(query, scores, h, 'h', &a->labels[0]) ||
        !rename(key, scores, h, 'h', &a->labels[1]) ||
        !rename(value, p, d, 'd', &a->labels[2]) ||
        !rename(pv.result, p, d, 'd', &a->result)) {
      return false;
    }
    a->scores = names;
    a->operands[0] = InputOf(first, 1 - k);
    a->operands[1] = InputOf(first, k);
    a->operands[2] = InputOf(last, 1 - at);
    return true;
  }

  static constexpr int kMaxScales = 3;

  Graph* const graph_;
  Rewriter rewriter_;
};

}  // namespace

Status FuseAttention(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  if (OpRegistry::Global()->Find(kFused) == nullptr) return OkStatus();
  return Finder(context, graph).Run(changes);
}

}  // namespace headrace
