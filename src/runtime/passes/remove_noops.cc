// Removes nodes that hand an input on as it is: Identity and its relatives,
// PlaceholderWithDefault (a fed one is an _Arg by now), casts to the same type,
// reshapes to the same shape, transposes that change nothing or undo each
// other, arithmetic with 0 and 1 that is exact. When an op changes nothing, its
// schema says (NoOpWhen in headrace/op_traits.h).
//
// An Identity may be there for its control edges. It goes only if these can be
// moved to its neighbours without adding any, and it stays beside control flow,
// where an edge also says in which frame or branch something runs. The same
// holds for a Reshape whose shape waits for something: its readers waited, too.
// Fetched nodes and readers of references stay.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "graph/constant_eval.h"
#include "runtime/passes/rewrite.h"

namespace headrace {
namespace {

// Both shapes are the same if the tensors have equally many elements.
bool EqualBesidesOneDim(const PartialTensorShape& a,
                        const PartialTensorShape& b) {
  if (a.unknown_rank() || a.dims() != b.dims()) return false;
  int unknown = 0;
  int64_t rest = 1;
  for (int i = 0; i < a.dims(); ++i) {
    if (a.dim_size(i) != b.dim_size(i)) return false;
    if (a.dim_size(i) < 0) {
      ++unknown;
    } else if (a.dim_size(i) == 0) {
      rest = 0;
    }
  }
  return unknown == 0 || (unknown == 1 && rest != 0);
}

bool ChangesShapeAlone(const Node& n) {
  return n.traits().no_op_when == NoOpWhen::kShapeIsKept;
}

// Back through nodes that change the shape alone, to one of the same shape.
const Edge* SourceOfView(const Node& n) {
  constexpr int kMaxSteps = 8;
  const Edge* e = n.input_edge(0);
  for (int i = 0; i < kMaxSteps && e != nullptr; ++i) {
    const Node& src = *e->src();
    if (EqualBesidesOneDim(src.output_shape(e->src_output()),
                           n.output_shape(0))) {
      return e;
    }
    if (!ChangesShapeAlone(src)) return nullptr;
    e = src.input_edge(0);
  }
  return nullptr;
}

bool Permutation(const Node& transpose, std::vector<int64_t>* out) {
  const Tensor* t = ConstantInput(transpose, 1);
  if (t == nullptr || t->dims() != 1) return false;
  const auto order = Integers(t);
  if (!order) return false;
  *out = *order;
  return absl::c_all_of(
      *out, [t](int64_t d) { return d >= 0 && d < t->NumElements(); });
}

const Edge* SourceOfTranspose(const Node& n) {
  std::vector<int64_t> last;
  if (!Permutation(n, &last)) return nullptr;
  const auto is_identity = [](const std::vector<int64_t>& p) {
    for (size_t i = 0; i < p.size(); ++i) {
      if (p[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  };
  const Edge* const e = n.input_edge(0);
  if (is_identity(last)) return e;
  std::vector<int64_t> first;
  if (e == nullptr || e->src()->traits().no_op_when != NoOpWhen::kOrderIsKept ||
      !Permutation(*e->src(), &first) || first.size() != last.size()) {
    return nullptr;
  }
  std::vector<int64_t> both;
  for (const int64_t d : last) both.push_back(first[d]);
  return is_identity(both) ? e->src()->input_edge(0) : nullptr;
}

// Every element of constant input `i` is `value`.
bool IsAll(const Node& n, int i, double value) {
  const Tensor* t = ConstantInput(n, i);
  if (t == nullptr) return false;
  const auto all = [&]<typename T>(T v) {
    return absl::c_all_of(t->span<T>(), [v](T x) { return x == v; });
  };
  switch (t->dtype()) {
    case DT_FLOAT:
      return all(static_cast<float>(value));
    case DT_DOUBLE:
      return all(value);
    case DT_INT32:
      return all(static_cast<int32_t>(value));
    case DT_INT64:
      return all(static_cast<int64_t>(value));
    default:
      return false;
  }
}

// The other operand if constant operand `i` is all `value` and does not change
// the shape.
const Edge* OtherOperand(const Node& n, int i, double value) {
  const Edge* const other = n.input_edge(1 - i);
  if (other == nullptr || !IsAll(n, i, value)) return nullptr;
  const PartialTensorShape& shape =
      other->src()->output_shape(other->src_output());
  const Tensor& c = *ConstantInput(n, i);
  const bool narrow =
      c.NumElements() == 1 &&
      (c.dims() == 0 || (!shape.unknown_rank() && c.dims() <= shape.dims()));
  return narrow || (shape.IsFullyDefined() && shape == n.output_shape(0))
             ? other
             : nullptr;
}

// The edges whose values the outputs of `n` have; empty if it computes
// something.
std::vector<const Edge*> SourcesOf(const Node& n) {
  if (n.num_inputs() == 0) return {};
  const Edge* const first = n.input_edge(0);
  const auto only = [](const Edge* e) {
    return e == nullptr ? std::vector<const Edge*>()
                        : std::vector<const Edge*>{e};
  };
  switch (n.traits().no_op_when) {
    case NoOpWhen::kNever:
      return {};
    case NoOpWhen::kAlways:
      if (n.traits().output_buffer == OutputBuffer::kEachInput) {
        return {n.data_inputs().begin(), n.data_inputs().end()};
      }
      return only(first);
    case NoOpWhen::kTypeIsKept:
      return only(n.input_type(0) == n.output_type(0) ? first : nullptr);
    case NoOpWhen::kShapeIsKept:
      return only(SourceOfView(n));
    case NoOpWhen::kOtherIsOne:
      if (const Edge* e = OtherOperand(n, 1, 1)) return only(e);
      return only(OtherOperand(n, 0, 1));
    case NoOpWhen::kSecondIsOne:
      return only(OtherOperand(n, 1, 1));
    case NoOpWhen::kSecondIsZero:
      return only(OtherOperand(n, 1, 0));
    case NoOpWhen::kPaddingIsZero:
      return only(IsAll(n, 1, 0) ? first : nullptr);
    case NoOpWhen::kOrderIsKept:
      return only(SourceOfTranspose(n));
    case NoOpWhen::kNoAxes: {
      const Tensor* axes = ConstantInput(n, 1);
      const bool none = axes != nullptr && axes->NumElements() == 0;
      return only(none ? first : nullptr);
    }
    case NoOpWhen::kOnlyInput:
      return only(n.num_inputs() == 1 ? first : nullptr);
  }
  return {};
}

// What nodes wait for beside the nodes that they read. Only what has to do with
// state counts: the order of other nodes shows in no value.
class Waits {
 public:
  // In topological order, for all nodes that stay.
  void Add(const Node& n) {
    const int id = n.id();
    bool touches = TouchesState(n), waits = HasEffects(n);
    for (const Edge* e : n.data_inputs()) {
      if (e == nullptr) continue;
      touches = touches || touches_.contains(e->src()->id());
      waits = waits || waits_.contains(e->src()->id());
    }
    for (const Edge* e : n.control_inputs()) {
      if (!touches_.contains(e->src()->id())) continue;
      touches = waits = true;
    }
    if (touches) touches_.insert(id);
    if (waits) waits_.insert(id);
  }

  // If readers of `n` read `sources` instead: what they waited for and no
  // longer would. False if that is much, or does more than give values.
  bool Lost(const Node& n, absl::Span<const Edge* const> sources,
            std::vector<Node*>* out) const {
    constexpr size_t kMost = 32;
    absl::flat_hash_set<const Node*> seen{&n};
    for (const Edge* s : sources) seen.insert(s->src());
    std::vector<const Node*> left{&n};
    for (const Edge* e : n.control_inputs()) out->push_back(e->src());
    while (!left.empty()) {
      const Node& at = *left.back();
      left.pop_back();
      for (const Edge* e : at.data_inputs()) {
        if (e == nullptr) return false;
        const Node& src = *e->src();
        if (!waits_.contains(src.id()) || !seen.insert(&src).second) continue;
        if (HasEffects(src) || src.IsControlFlow() || seen.size() > kMost) {
          return false;
        }
        for (const Edge* c : src.control_inputs()) {
          if (touches_.contains(c->src()->id())) out->push_back(c->src());
        }
        left.push_back(&src);
      }
    }
    absl::c_sort(
        *out, [](const Node* a, const Node* b) { return a->id() < b->id(); });
    out->erase(std::unique(out->begin(), out->end()), out->end());
    return true;
  }

 private:
  static bool HasEffects(const Node& n) {
    return !n.IsArg() && !n.IsPlaceholder() &&
           HasAny(n.effects(), ~Effect::kReadsState);
  }
  static bool TouchesState(const Node& n) {
    if (n.IsArg() || n.IsPlaceholder()) return false;
    return n.effects() != Effect::kNone ||
           absl::c_any_of(n.output_types(), IsRefType);
  }

  // Ids: they or what they depend on read or change state; wait by a control
  // edge for what does, or change it.
  absl::flat_hash_set<int> touches_, waits_;
};

// Nothing but a value goes in and out of `n`, as far as its edges tell.
// `control_in`: the number of nodes that its readers wait for instead.
bool MayBypass(Rewriter& rewriter, const Node& n,
               absl::Span<const Edge* const> sources, size_t control_in) {
  if (!rewriter.MayRemove(n)) return false;
  size_t data_out = 0, control_out = 0;
  for (const Edge* e : n.out_edges()) {
    if (e->dst()->IsRetval() || e->dst()->IsControlFlow()) return false;
    ++(e->IsControlEdge() ? control_out : data_out);
  }
  const size_t out = data_out + control_out;
  if (control_in * out > control_in + out) return false;
  for (const Edge* e : sources) {
    const Node& src = *e->src();
    if (IsRefType(src.output_type(e->src_output())) ||
        (!n.requested_device().empty() &&
         n.requested_device() != src.requested_device())) {
      return false;
    }
    if (src.IsControlFlow() && (control_in > 0 || control_out > 0)) {
      return false;
    }
    std::vector<std::string> classes;
    if (n.attrs().Get("_class", &classes).ok() &&
        absl::c_any_of(classes, [&](const std::string& c) {
          return c != StrCat("loc:@", src.name());
        })) {
      return false;
    }
  }
  return true;
}

// Gives the readers of output i of `n` the value of sources[i]. They wait for
// `before`.
Status Bypass(Graph* graph, Node* n, absl::Span<const Edge* const> sources,
              absl::Span<Node* const> before) {
  const std::vector<const Edge*> out(n->out_edges().begin(),
                                     n->out_edges().end());
  for (const Edge* e : out) {
    Node* const reader = e->dst();
    if (e->IsControlEdge()) {
      // A constant orders nothing.
      for (const Edge* s : sources) {
        if (FreeConstant(*s->src()) == nullptr) {
          graph->AddControlEdge(s->src(), reader);
        }
      }
    } else {
      const Edge& s = *sources[e->src_output()];
      HR_RETURN_IF_ERROR(graph->ReplaceInput(reader, e->dst_input(),
                                             {s.src(), s.src_output()}));
    }
    for (Node* b : before) graph->AddControlEdge(b, reader);
  }
  graph->RemoveNode(n);
  return OkStatus();
}

}  // namespace

Status RemoveNoOps(const GraphPassContext& context, Graph* graph,
                   int* changes) {
  Rewriter rewriter(context, graph);
  std::vector<Node*> order;
  HR_RETURN_IF_ERROR(TopologicalOrder(*graph, &order));
  Waits waits;
  for (Node* n : order) {
    HR_RETURN_IF_ERROR(CheckInterrupt());
    const std::vector<const Edge*> sources = SourcesOf(*n);
    std::vector<Node*> before;
    if (sources.empty() || absl::c_linear_search(sources, nullptr) ||
        !waits.Lost(*n, sources, &before) ||
        !MayBypass(rewriter, *n, sources, before.size())) {
      waits.Add(*n);
      continue;
    }
    HR_RETURN_IF_ERROR(Bypass(graph, n, sources, before));
    ++*changes;
  }
  return OkStatus();
}

}  // namespace headrace
