// Makes one node of attention that the graph spells out:
//
//   softmax(mask(query key^T * scale)) value
//
// The products are BatchMatMul of any version, or Einsum. Scale (constant
// factors and divisors, of the query, the key or the product) and mask are
// optional. The mask is a chain of steps of any length: what other tensors add,
// subtract, multiply or divide by, or put in the place of scores (Select). How
// these tensors come about does not matter, but for two things that the scores
// would otherwise be needed for: a value that is the same everywhere (Fill,
// OnesLike, ZerosLike with the shape of the scores) becomes a scalar, and
// Shape of the scores is computed from the shapes of query and key. Transposes
// that keep the last dim, before and after, become part of it. float only.
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

constexpr char kFusedAttention[] = "_FusedAttention";
constexpr char kShape[] = "_ProductShape";

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

class AttentionFinder {
 public:
  AttentionFinder(const GraphPassContext& context, Graph* graph)
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
  // One node of the chain from the product to the softmax. `from`: which of its
  // inputs is the one before.
  struct Link {
    Node* node;
    int from;
  };
  // From the softmax back; the last is the product.
  using Chain = std::vector<Link>;
  // A step that masks: what it is called, and its args.
  struct Step {
    std::string name;
    std::vector<Endpoint> args;
    std::optional<float> value;  // of the last arg, everywhere
  };
  struct Attention {
    std::vector<Node*> nodes;
    Endpoint operands[3];  // query, key, value
    std::string labels[3], result, scores;
    std::vector<Step> steps;
    // Nodes that make values which are the same everywhere, readers first.
    std::vector<Node*> uniform;
    std::vector<const Node*> of_scores_shape;
    std::vector<Node*> shapes;  // Shape of such a node
    double scale = 1;
    bool repeats = false;  // a product repeats batch dims of size 1
    bool repeats_in_scores = false;
  };

  Status Fuse(Node* softmax, int* changes) {
    std::vector<Chain> chains;
    Chain chain;
    int visits = 0;
    FindChains(InputOf(*softmax, 0), &chain, &visits, &chains);
    absl::c_stable_sort(chains, [](const Chain& a, const Chain& b) {
      return a.size() < b.size();
    });
    for (const Chain& c : chains) {
      Attention a;
      if (Find(softmax, c, &a)) return Replace(*softmax, a, changes);
    }
    return OkStatus();
  }

  Status Replace(const Node& softmax, const Attention& a, int* changes) {
    for (Node* n : a.shapes) {
      DataType out_type = DT_INT32;
      HR_RETURN_IF_ERROR(n->attrs().Get("out_type", &out_type));
      NodeDef def;
      def.op = kShape;
      def.attrs.Set("T", DT_FLOAT);
      def.attrs.Set("labels",
                    StrCat(a.labels[0], ",", a.labels[1], "->", a.scores));
      def.attrs.Set("repeats", a.repeats_in_scores);
      def.attrs.Set("out_type", out_type);
      const Rewriter::Output output = {{n, 0}, 0};
      HR_ASSIGN_OR_RETURN(
          Node * done, rewriter_.Replace({&n, 1}, {&output, 1}, std::move(def),
                                         {a.operands[0], a.operands[1]}));
      // The scores are still needed.
      if (done == nullptr) return OkStatus();
      ++*changes;
    }
    NodeDef def;
    def.op = kFusedAttention;
    def.attrs.Set("T", DT_FLOAT);
    def.attrs.Set("labels", StrCat(a.labels[0], ",", a.labels[1], ",",
                                   a.labels[2], "->", a.result));
    def.attrs.Set("scores", a.scores);
    def.attrs.Set("scale", static_cast<float>(a.scale));
    def.attrs.Set("repeats", a.repeats);
    std::vector<std::string> steps;
    std::vector<DataType> types;
    std::vector<Endpoint> inputs(a.operands, a.operands + 3);
    for (const Step& step : a.steps) {
      steps.push_back(step.name);
      for (const Endpoint& arg : step.args) inputs.push_back(arg);
      if (step.value) {
        HR_ASSIGN_OR_RETURN(
            inputs.emplace_back().node,
            rewriter_.AddConst(softmax, StrCat(softmax.name(), "/masked"),
                               Tensor::Scalar<float>(*step.value)));
        inputs.back().index = 0;
      }
    }
    for (size_t i = 3; i < inputs.size(); ++i) {
      types.push_back(inputs[i].node->output_type(inputs[i].index));
    }
    def.attrs.Set("steps", std::move(steps));
    def.attrs.Set("TArgs", std::move(types));
    return rewriter_.ReplaceByOne(a.nodes, std::move(def), inputs, changes);
  }

  bool Find(Node* softmax, const Chain& chain, Attention* a) {
    Node* const first = chain.back().node;
    const Edge* const e = rewriter_.OnlyReader(*softmax);
    if (e == nullptr || e->IsControlEdge()) return false;
    Node* const last = e->dst();
    Product qk, pv;
    if (!ReadProduct(*first, &qk) || !ReadProduct(*last, &pv) ||
        !Name(qk, *first, pv, *last, e->dst_input(), a) ||
        !ReadSteps(chain, static_cast<int>(qk.result.size()), a)) {
      return false;
    }
    a->repeats_in_scores = Repeats(*first);
    a->repeats = Repeats(*first) || Repeats(*last);
    for (size_t i = chain.size(); i-- > 0;) a->nodes.push_back(chain[i].node);
    a->nodes.push_back(softmax);
    a->nodes.push_back(last);
    AddUniform(a);
    if (!FindShapes(a, *last) || ReadsItself(*a)) return false;
    TakeOperands(*first, *last, a);
    const Edge* const next = rewriter_.OnlyReader(*last);
    if (next != nullptr && !next->IsControlEdge() && next->dst_input() == 0) {
      const std::string after = AfterTranspose(*next->dst(), a->result);
      std::vector<Node*> nodes = a->nodes;
      nodes.push_back(next->dst());
      if (!after.empty() &&
          MayBecomeOne(&rewriter_, nodes, *next->dst(), a->shapes)) {
        a->result = after;
        a->nodes = std::move(nodes);
      }
    }
    return true;
  }

  // Chains from `e` back to products.
  static void FindChains(Endpoint e, Chain* chain, int* visits,
                         std::vector<Chain>* found) {
    Product p;
    if (++*visits > kMaxVisits || chain->size() > kMaxSteps) return;
    if (ReadProduct(*e.node, &p)) {
      chain->push_back({e.node, 0});
      found->push_back(*chain);
      chain->pop_back();
      return;
    }
    std::vector<int> from;
    switch (e.node->traits().arithmetic) {
      case ArithmeticOp::kAdd:
      case ArithmeticOp::kMul:
        from = {0, 1};
        break;
      case ArithmeticOp::kSub:
      case ArithmeticOp::kDiv:
        from = {0};
        break;
      default:
        if (IsSelect(*e.node)) from = {1, 2};
        break;
    }
    for (const int i : from) {
      chain->push_back({e.node, i});
      FindChains(InputOf(*e.node, i), chain, visits, found);
      chain->pop_back();
    }
  }

  static bool IsSelect(const Node& n) {
    return n.type_string() == "Select" || n.type_string() == "SelectV2";
  }

  // A tensor of `type` that is no larger than scores of rank `rank`.
  static bool IsMask(Endpoint e, DataType type, int rank) {
    const PartialTensorShape& shape = e.node->output_shape(e.index);
    return !shape.unknown_rank() && shape.dims() <= rank &&
           e.node->output_type(e.index) == type;
  }

  // What the chain does to the scores: scale and steps.
  static bool ReadSteps(const Chain& chain, int rank, Attention* a) {
    a->of_scores_shape = {chain.back().node};
    std::vector<const Node*> before = a->of_scores_shape;
    for (size_t at = chain.size() - 1; at-- > 0;) {
      const Node& n = *chain[at].node;
      const int from = chain[at].from;
      const ArithmeticOp what = n.traits().arithmetic;
      if (IsSelect(n)) {
        if (!ReadSelect(n, from, rank, before, a)) return false;
      } else {
        const std::optional<double> value = ScalarInput(n, 1 - from, rank);
        const bool scales = what == ArithmeticOp::kMul ||
                            (what == ArithmeticOp::kDiv && value != 0.0);
        if (value && scales && a->steps.empty()) {
          a->scale = what == ArithmeticOp::kMul ? a->scale * *value
                                                : a->scale / *value;
        } else {
          const Endpoint arg = InputOf(n, 1 - from);
          if (!IsMask(arg, DT_FLOAT, rank)) return false;
          a->steps.push_back({StepName(what), {arg}, std::nullopt});
        }
        // A scalar does not change the shape.
        if (value && a->of_scores_shape.size() == before.size()) {
          a->of_scores_shape.push_back(&n);
        }
      }
      before.push_back(&n);
    }
    return true;
  }

  static std::string StepName(ArithmeticOp what) {
    switch (what) {
      case ArithmeticOp::kAdd:
        return "add";
      case ArithmeticOp::kSub:
        return "sub";
      case ArithmeticOp::kMul:
        return "mul";
      default:
        return "div";
    }
  }

  // A Select, of which input `from` is the scores. `before`: the chain up to
  // it.
  static bool ReadSelect(const Node& n, int from, int rank,
                         const std::vector<const Node*>& before, Attention* a) {
    const bool is_strict = n.type_string() == "Select";
    const Endpoint condition = InputOf(n, 0), value = InputOf(n, 3 - from);
    const auto fits = [&](Endpoint e) {
      const int dims = e.node->output_shape(e.index).dims();
      return !is_strict || dims == rank;
    };
    if (!IsMask(condition, DT_BOOL, rank) ||
        !(fits(condition) ||
          condition.node->output_shape(condition.index).dims() == 0)) {
      return false;
    }
    Step step = {
        StrCat(is_strict ? "select" : "where", from == 1 ? "" : "_not"),
        {condition},
        std::nullopt};
    const PartialTensorShape& scores =
        InputOf(n, from).node->output_shape(InputOf(n, from).index);
    std::vector<Node*> uniform;
    step.value = Uniform(value, scores, before, &uniform);
    if (step.value) {
      a->uniform.insert(a->uniform.end(), uniform.begin(), uniform.end());
    } else {
      if (!IsMask(value, DT_FLOAT, rank) || !fits(value)) return false;
      step.args.push_back(value);
    }
    a->steps.push_back(std::move(step));
    return true;
  }

  // What every element of `e` is, if `e` has the shape of one of `like`, or the
  // static shape `shape`. Adds the nodes that make it to `nodes`.
  static std::optional<float> Uniform(const Endpoint& e,
                                      const PartialTensorShape& shape,
                                      const std::vector<const Node*>& like,
                                      std::vector<Node*>* nodes) {
    const Node& n = *e.node;
    if (n.num_outputs() != 1 || n.output_type(0) != DT_FLOAT) {
      return std::nullopt;
    }
    if (const Tensor* const t = FreeConstant(n)) {
      TensorShape want;
      if (!shape.AsTensorShape(&want) || t->shape() != want ||
          t->NumElements() == 0) {
        return std::nullopt;
      }
      const float* const x = t->data<float>();
      const bool same = std::all_of(x, x + t->NumElements(),
                                    [x](float y) { return y == x[0]; });
      return same ? std::optional<float>(x[0]) : std::nullopt;
    }
    const std::string& op = n.type_string();
    if (op == "OnesLike" || op == "ZerosLike") {
      if (!absl::c_linear_search(like, InputOf(n, 0).node)) {
        return std::nullopt;
      }
      nodes->push_back(e.node);
      return op == "OnesLike" ? 1.0f : 0.0f;
    }
    if (op == "Fill") {
      Node* const dims = InputOf(n, 0).node;
      const std::optional<double> value = ScalarInput(n, 1, 0);
      if (!value || dims->type_string() != "Shape" ||
          !absl::c_linear_search(like, InputOf(*dims, 0).node)) {
        return std::nullopt;
      }
      nodes->push_back(e.node);
      nodes->push_back(dims);
      return static_cast<float>(*value);
    }
    const ArithmeticOp what = n.traits().arithmetic;
    if (what != ArithmeticOp::kMul && what != ArithmeticOp::kAdd) {
      return std::nullopt;
    }
    for (int i = 0; i < 2; ++i) {
      const std::optional<double> y = ScalarInput(n, 1 - i, 0);
      if (!y) continue;
      nodes->push_back(e.node);
      const auto x = Uniform(InputOf(n, i), shape, like, nodes);
      if (!x) return std::nullopt;
      const auto z = static_cast<float>(*y);
      return what == ArithmeticOp::kMul ? *x * z : *x + z;
    }
    return std::nullopt;
  }

  // Adds those of a->uniform that nobody else reads to a->nodes, behind the
  // product.
  static void AddUniform(Attention* a) {
    for (Node* n : a->uniform) {
      const bool is_read = absl::c_any_of(n->out_edges(), [&](const Edge* e) {
        return e->IsControlEdge() || !absl::c_linear_search(a->nodes, e->dst());
      });
      if (!is_read && !absl::c_linear_search(a->nodes, n)) {
        a->nodes.insert(a->nodes.begin() + 1, n);
      }
    }
  }

  // Finds what wants the shape of the scores only. False if others read what
  // would be gone.
  bool FindShapes(Attention* a, const Node& last) {
    for (const Node* n : a->of_scores_shape) {
      for (const Edge* e : n->out_edges()) {
        Node* const reader = e->dst();
        if (!e->IsControlEdge() && reader->type_string() == "Shape" &&
            !absl::c_linear_search(a->nodes, reader) &&
            !absl::c_linear_search(a->shapes, reader) &&
            reader->attrs().Find("_kernel") == nullptr &&
            rewriter_.MayReplace(*reader)) {
          a->shapes.push_back(reader);
        }
      }
    }
    return MayBecomeOne(&rewriter_, a->nodes, last, a->shapes);
  }

  // An operand or arg is a part of what would be one node.
  static bool ReadsItself(const Attention& a) {
    const auto is_part = [&](const Endpoint& e) {
      return absl::c_linear_search(a.nodes, e.node);
    };
    return absl::c_any_of(a.operands, is_part) ||
           absl::c_any_of(a.steps, [&](const Step& step) {
             return absl::c_any_of(step.args, is_part);
           });
  }

  // Goes behind transposes that nobody needs then, and behind constant factors
  // of query and key.
  void TakeOperands(const Node& first, const Node& last, Attention* a) {
    for (int i = 0; i < 3; ++i) {
      Endpoint& x = a->operands[i];
      const Node* reader = i < 2 ? &first : &last;
      while (x.node->control_inputs().empty() &&
             Rewriter::SamePlace(*x.node, last)) {
        if (const std::string before = BeforeTranspose(*x.node, a->labels[i]);
            !before.empty()) {
          const Endpoint from = InputOf(*x.node, 0);
          if (from.node->output_type(from.index) != DT_FLOAT) break;
          a->labels[i] = before;
          reader = x.node;
          x = from;
          continue;
        }
        const ArithmeticOp what = x.node->traits().arithmetic;
        if (i == 2 ||
            (what != ArithmeticOp::kMul && what != ArithmeticOp::kDiv)) {
          break;
        }
        // What others read as well is computed anyway.
        const Edge* const only = rewriter_.OnlyReader(*x.node);
        const int rank = static_cast<int>(a->labels[i].size());
        const int at =
            what == ArithmeticOp::kMul && !ScalarInput(*x.node, 1, rank) ? 0
                                                                         : 1;
        const std::optional<double> value = ScalarInput(*x.node, at, rank);
        if (only == nullptr || only->dst() != reader || !value ||
            (what == ArithmeticOp::kDiv && *value == 0)) {
          break;
        }
        const Endpoint from = InputOf(*x.node, 1 - at);
        const PartialTensorShape& shape = from.node->output_shape(from.index);
        if (shape.unknown_rank() || shape.dims() != rank) break;
        a->scale =
            what == ArithmeticOp::kMul ? a->scale * *value : a->scale / *value;
        reader = x.node;
        x = from;
      }
    }
  }

  static bool Repeats(const Node& n) {
    return n.type_string() == "BatchMatMulV2" ||
           n.type_string() == "BatchMatMulV3";
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

  static constexpr size_t kMaxSteps = 8;
  static constexpr int kMaxVisits = 64;

  Graph* const graph_;
  Rewriter rewriter_;
};

}  // namespace

Status FuseAttention(const GraphPassContext& context, Graph* graph,
                     int* changes) {
  if (OpRegistry::Global()->Find(kFusedAttention) == nullptr ||
      OpRegistry::Global()->Find(kShape) == nullptr) {
    return OkStatus();
  }
  return AttentionFinder(context, graph).Run(changes);
}

}  // namespace headrace
