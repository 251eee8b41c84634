// Makes one node of a group of element-wise ones whose values have one shape,
// however they read each other: values that the group alone reads are never in
// memory, and those that others read are outputs. This is what gradients of
// activations, gates and normalisations consist of. fuse_elementwise has the
// groups that are mere chains.
//
// A group is convex: no value goes out of it and comes back in. Its nodes are
// dead together (Switch). Values of a few cheap ops that it reads from another
// group, as a gradient reads those of the forward step, are computed once more
// if it reads their operands anyway: they need not be kept then. Results keep
// every bit.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/interrupt.h"
#include "graph/algorithm.h"
#include "headrace/elementwise_loops.h"
#include "runtime/passes/expression.h"
#include "runtime/passes/rewrite.h"
#include "runtime/passes/symbolic_shape.h"

namespace headrace {
namespace {

constexpr char kFused[] = "_FusedElementwiseGroup";
// As many ops as the kernel takes, and fewer inputs than would fill a cache.
constexpr size_t kMaxOps = 48;
constexpr size_t kMaxInputs = 16;
constexpr size_t kMaxMembers = 40;
constexpr int kMaxSummands = 8;
// Deeper values are not computed once more.
constexpr int kMaxAgain = 4;
// Shorter rows are not worth a call each.
constexpr int64_t kMinRow = 64;

// When a node is dead: the outputs of Switch that it needs, by predicate and
// branch. Nodes with the same number are dead together.
class Liveness {
 public:
  explicit Liveness(const std::vector<Node*>& order) {
    for (const Node* n : order) {
      int& of = of_[n->id()];
      if (n->IsMerge() && !IsOfLoop(*n)) {
        of = Number({{n->id(), -1}});
      } else if (n->IsExit()) {
        of = Number({{n->id(), -2}});
      } else {
        of = Number(SetOf(*n));
      }
    }
  }

  int Of(const Node& n) const {
    const auto it = of_.find(n.id());
    return it == of_.end() ? -1 : it->second;
  }

 private:
  using Set = std::vector<std::pair<int, int>>;  // sorted

  static bool IsOfLoop(const Node& n) {
    return absl::c_any_of(n.data_inputs(), [](const Edge* e) {
      return e != nullptr && e->src()->IsNextIteration();
    });
  }

  Set SetOf(const Node& n) const {
    Set all;
    const auto add = [&](const Edge& e) {
      const Node& from = *e.src();
      const auto it = of_.find(from.id());
      if (from.IsNextIteration() || it == of_.end()) return;
      const Set& set = sets_[it->second];
      all.insert(all.end(), set.begin(), set.end());
      if (from.IsSwitch() && !e.IsControlEdge()) {
        const Edge* const predicate = from.input_edge(1);
        if (predicate != nullptr) {
          all.push_back({predicate->src()->id(), e.src_output()});
        }
      }
    };
    for (const Edge* e : n.data_inputs()) {
      if (e != nullptr) add(*e);
    }
    for (const Edge* e : n.control_inputs()) add(*e);
    absl::c_sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  int Number(Set set) {
    const auto [it, added] =
        numbers_.try_emplace(set, static_cast<int>(sets_.size()));
    if (added) sets_.push_back(std::move(set));
    return it->second;
  }

  absl::flat_hash_map<int, int> of_;  // by node id
  std::map<Set, int> numbers_;
  std::vector<Set> sets_;
};

class Groups {
 public:
  Groups(const GraphPassContext& context, Graph* graph)
      : graph_(graph), rewriter_(context, graph) {}

  Status Run(int* changes) {
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph_, &order));
    if (absl::c_count_if(order,
                         [](const Node* n) { return !OpOf(*n).empty(); }) < 2) {
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(SymbolicShapes::Make(*graph_, &shapes_));
    position_.assign(graph_->num_node_ids(), -1);
    group_of_.assign(graph_->num_node_ids(), -1);
    const Liveness liveness(order);
    for (size_t i = 0; i < order.size(); ++i) {
      position_[order[i]->id()] = static_cast<int>(i);
    }
    for (Node* n : order) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      if (IsMember(*n)) Join(n, liveness);
    }
    std::vector<Program> programs;
    for (const std::vector<Node*>& group : groups_) {
      HR_RETURN_IF_ERROR(CheckInterrupt());
      if (group.size() < 2) continue;
      Program p;
      if (Write(group, &p)) programs.push_back(std::move(p));
    }
    // Readers first: what they compute again, nobody need give them then.
    absl::c_sort(programs, [&](const Program& x, const Program& y) {
      return position_[x.members.back()->id()] >
             position_[y.members.back()->id()];
    });
    for (const Program& p : programs) HR_RETURN_IF_ERROR(Replace(p, changes));
    return OkStatus();
  }

 private:
  struct Value {
    int node, output;  // by id: nodes go
    bool operator==(const Value&) const = default;
  };
  struct Span {  // of positions
    int first = std::numeric_limits<int>::max();
    int last = -1;
  };
  struct Step {
    std::string op;
    int64_t a, b;  // values: inputs, then results; -1: none
  };
  struct Program {
    std::vector<Node*> members;
    std::vector<Value> inputs;
    std::vector<Step> steps;
    absl::flat_hash_map<int, int> result_of;  // step by node id
  };

  // The op whose loop computes `n`, "" if there is none.
  static std::string OpOf(const Node& n) {
    if (n.num_outputs() != 1 || n.num_inputs() < 1 ||
        (n.output_type(0) != DT_FLOAT && n.output_type(0) != DT_DOUBLE)) {
      return "";
    }
    if (n.type_string() == "AddN") return n.num_inputs() > 1 ? "Add" : "";
    if (n.traits().arithmetic == ArithmeticOp::kBiasAdd) {
      std::string format;
      return n.attrs().Get("data_format", &format).ok() && format == "NHWC"
                 ? "Add"
                 : "";
    }
    if (n.num_inputs() > 2 || !HasLoop(n.op_def(), n.output_type(0))) return "";
    // Gradients of unary ops take two tensors of one shape, and no attr that a
    // loop would have to know.
    const bool is_gradient =
        n.num_inputs() == 2 && n.op_def().attrs.size() == 1;
    return n.traits().elementwise != Elementwise::kNo || is_gradient
               ? n.type_string()
               : "";
  }

  bool IsMember(const Node& n) {
    if (OpOf(n).empty() || n.attrs().Find("_kernel") != nullptr ||
        n.num_inputs() > kMaxSummands || !rewriter_.MayRemove(n) ||
        EndsInUpdate(n)) {
      return false;
    }
    const PartialTensorShape& shape = n.output_shape(0);
    if (shape.unknown_rank() || shape.dims() == 0 ||
        (shape.IsFullyDefined() && shape.num_elements() <= 1)) {
      return false;
    }
    int whole = 0;
    for (const Edge* e : n.data_inputs()) {
      if (e == nullptr ||
          e->src()->output_type(e->src_output()) != n.output_type(0)) {
        return false;
      }
      const Endpoint x = {e->src(), e->src_output()};
      if (shapes_.SurelyEqual(x, {const_cast<Node*>(&n), 0})) {
        ++whole;
      } else if (!IsRepeated(x, shape)) {
        return false;
      }
    }
    // A gradient's operands are not repeated.
    const bool may_repeat = n.traits().elementwise != Elementwise::kNo ||
                            n.traits().arithmetic == ArithmeticOp::kBiasAdd;
    return may_repeat ? whole > 0 : whole == n.num_inputs();
  }

  // `x` is one element, a row or a column of `shape`.
  static bool IsRepeated(const Endpoint& x, const PartialTensorShape& shape) {
    const PartialTensorShape& s = x.node->output_shape(x.index);
    if (!s.IsFullyDefined() || s.dims() > shape.dims()) return false;
    if (s.num_elements() == 1) return true;
    const int last = shape.dims() - 1;
    const int64_t row = shape.dim_size(last);
    if (row < kMinRow) return false;
    bool is_row = true, is_column = s.dims() == shape.dims();
    int d = 0;
    while (d < s.dims() && s.dim_size(d) == 1) ++d;
    for (; d < s.dims(); ++d) {
      is_row = is_row &&
               s.dim_size(d) == shape.dim_size(shape.dims() - s.dims() + d);
    }
    for (int i = 0; is_column && i < last; ++i) {
      is_column = s.dim_size(i) == shape.dim_size(i);
    }
    return is_row || (is_column && s.dim_size(last) == 1);
  }

  // It goes into an update of a variable, which fuse_elementwise takes it into.
  static bool EndsInUpdate(const Node& n) {
    const Node* at = &n;
    for (size_t i = 0; i < kMaxMembers; ++i) {
      if (at->out_edges().size() != 1) return false;
      const Edge& e = *at->out_edges()[0];
      if (e.IsControlEdge()) return false;
      at = e.dst();
      if (at->traits().variable_update != VariableUpdate::kNone) return true;
      if (OpOf(*at).empty()) return false;
    }
    return false;
  }

  void Join(Node* n, const Liveness& liveness) {
    int mine = -1;
    for (const Edge* e : n->data_inputs()) {
      const int other = group_of_[e->src()->id()];
      if (other < 0 || other == mine) continue;
      const std::vector<Node*>& group = groups_[other];
      const Node& first = *group[0];
      std::vector<Node*> both = group;
      if (mine < 0) {
        both.push_back(n);
      } else {
        both.insert(both.end(), groups_[mine].begin(), groups_[mine].end());
      }
      if (both.size() > kMaxMembers ||
          first.output_type(0) != n->output_type(0) ||
          liveness.Of(first) != liveness.Of(*n) ||
          !Rewriter::SamePlace(first, *n) ||
          !shapes_.SurelyEqual({group[0], 0}, {n, 0}) || !IsConvex(both)) {
        continue;
      }
      if (mine >= 0) {
        groups_[mine].clear();
        spans_[mine] = Span();
      }
      Span span;
      for (const Node* m : both) {
        group_of_[m->id()] = other;
        span.first = std::min(span.first, position_[m->id()]);
        span.last = std::max(span.last, position_[m->id()]);
      }
      groups_[other] = std::move(both);
      spans_[other] = span;
      mine = other;
    }
    if (mine < 0) {
      group_of_[n->id()] = static_cast<int>(groups_.size());
      groups_.push_back({n});
      spans_.push_back({position_[n->id()], position_[n->id()]});
    }
  }

  // Whether no path leads out of `set` and back, where every other group is
  // one node, and no node of it waits for another.
  bool IsConvex(const std::vector<Node*>& set) const {
    absl::flat_hash_set<int> in, seen;
    int first = std::numeric_limits<int>::max();
    for (const Node* n : set) {
      in.insert(n->id());
      first = std::min(first, position_[n->id()]);
    }
    // Nodes before `first` depend on none of the set, unless they are of a
    // group that goes on behind it.
    for (bool moved = true; moved;) {
      moved = false;
      for (const Span& span : spans_) {
        if (span.first < first && span.last >= first) {
          first = span.first;
          moved = true;
        }
      }
    }
    std::vector<const Node*> todo;
    const auto visit = [&](const Edge& e) {
      const Node& from = *e.src();
      if (!from.IsNextIteration() && !in.contains(from.id()) &&
          position_[from.id()] >= first && seen.insert(from.id()).second) {
        todo.push_back(&from);
      }
    };
    const auto expand = [&](const Node& n) {
      for (const Edge* e : n.data_inputs()) {
        if (e != nullptr) visit(*e);
      }
      for (const Edge* e : n.control_inputs()) visit(*e);
    };
    for (const Node* n : set) {
      if (absl::c_any_of(n->control_inputs(), [&](const Edge* e) {
            return in.contains(e->src()->id());
          })) {
        return false;
      }
      expand(*n);
    }
    while (!todo.empty()) {
      const Node& n = *todo.back();
      todo.pop_back();
      const int group = group_of_[n.id()];
      const auto reads = [&](const Node& m) {
        return absl::c_any_of(m.data_inputs(),
                              [&](const Edge* e) {
                                return e != nullptr &&
                                       in.contains(e->src()->id());
                              }) ||
               absl::c_any_of(m.control_inputs(), [&](const Edge* e) {
                 return in.contains(e->src()->id());
               });
      };
      if (group < 0) {
        if (reads(n)) return false;
        expand(n);
        continue;
      }
      for (const Node* m : groups_[group]) {
        if (in.contains(m->id())) continue;
        if (reads(*m)) return false;
        expand(*m);
      }
    }
    return true;
  }

  // What a group reads for `e`: of a value that BroadcastTo repeats, the value.
  static Value Read(const Edge& e) {
    const Node& n = *e.src();
    if (n.type_string() == "BroadcastTo" && n.control_inputs().empty() &&
        n.input_edge(0) != nullptr &&
        IsRepeated(InputOf(n, 0), n.output_shape(0))) {
      return {n.input_edge(0)->src()->id(), n.input_edge(0)->src_output()};
    }
    return {n.id(), e.src_output()};
  }

  // Writes what a group computes. False if it is a chain or too large.
  bool Write(const std::vector<Node*>& group, Program* p) {
    p->members = group;
    absl::c_sort(p->members, [&](const Node* a, const Node* b) {
      return position_[a->id()] < position_[b->id()];
    });
    absl::flat_hash_set<int> in;
    for (const Node* n : group) in.insert(n->id());
    // What the members read from outside.
    std::vector<Value> reads;
    for (const Node* n : p->members) {
      for (const Edge* e : n->data_inputs()) {
        const Value v = Read(*e);
        if (!in.contains(v.node) && !absl::c_linear_search(reads, v)) {
          reads.push_back(v);
        }
      }
    }
    std::vector<Value> again;
    // The latest first: it may be made of earlier ones.
    std::vector<Value> latest = reads;
    absl::c_sort(latest, [&](const Value& a, const Value& b) {
      return position_[a.node] > position_[b.node];
    });
    for (const Value& v : latest) {
      std::vector<Value> others = reads;
      std::erase(others, v);
      int steps = 0;
      if (CanRepeat(v, others, /*depth=*/0, &steps)) {
        reads = std::move(others);
        again.push_back(v);
      }
    }
    bool is_chain = again.empty();
    // One whole operand comes first: it has the shape of the results.
    const auto whole = absl::c_find_if(reads, [&](const Value& v) {
      return shapes_.SurelyEqual({graph_->node(v.node), v.output},
                                 {p->members[0], 0});
    });
    if (whole == reads.end()) return false;
    std::swap(*whole, reads[0]);
    p->inputs = std::move(reads);
    // Constants that repeated ops read are inputs, too: all inputs must be
    // known before results have numbers.
    for (const Value& v : again) AddConstants(v, 0, p);
    absl::flat_hash_map<int, int64_t> made;  // by node id
    for (const Node* n : p->members) {
      int inside = 0;
      std::vector<int64_t> operands;
      for (const Edge* e : n->data_inputs()) {
        inside += in.contains(e->src()->id());
        operands.push_back(Find(Read(*e), p, &made));
      }
      Add(*n, operands, p, &made);
      p->result_of[n->id()] = static_cast<int>(
          made[n->id()] - static_cast<int64_t>(p->inputs.size()));
      // Whoever waits for a node waits for the group: it is an output.
      int readers_inside = 0;
      for (const Edge* e : n->out_edges()) {
        readers_inside += in.contains(e->dst()->id());
      }
      is_chain = is_chain && inside <= 1 && readers_inside <= 1 &&
                 (readers_inside == 0 || n->out_edges().size() == 1) &&
                 n->type_string() != "AddN" &&
                 (n->traits().elementwise != Elementwise::kNo ||
                  n->traits().arithmetic == ArithmeticOp::kBiasAdd);
    }
    return !is_chain && p->steps.size() <= kMaxOps &&
           p->inputs.size() <= kMaxInputs;
  }

  static bool IsCheap(const Node& n) {
    switch (n.traits().arithmetic) {
      case ArithmeticOp::kAdd:
      case ArithmeticOp::kSub:
      case ArithmeticOp::kMul:
      case ArithmeticOp::kNegate:
      case ArithmeticOp::kSquare:
        return true;
      default:
        return false;
    }
  }

  // Its value cannot be the bytes of a variable, which may have been updated
  // since it was first read.
  static bool KeepsValue(const Node& n) {
    return n.traits().output_buffer == OutputBuffer::kOwn;
  }

  static bool IsScalar(const Node& n) {
    const Tensor* const t = FreeConstant(n);
    return t != nullptr && t->NumElements() == 1;
  }

  // `v` may be computed again out of `reads` and scalars.
  bool CanRepeat(const Value& v, const std::vector<Value>& reads, int depth,
                 int* steps) const {
    const Node& n = *graph_->node(v.node);
    // Only what another group computes: else nothing is saved.
    if (v.output != 0 || depth > kMaxAgain || ++*steps > 2 * kMaxAgain ||
        group_of_[v.node] < 0 || !IsCheap(n)) {
      return false;
    }
    return absl::c_all_of(n.data_inputs(), [&](const Edge* e) {
      const Value from = Read(*e);
      const Node& source = *graph_->node(from.node);
      return (absl::c_linear_search(reads, from) && KeepsValue(source)) ||
             IsScalar(source) || CanRepeat(from, reads, depth + 1, steps);
    });
  }

  void AddConstants(const Value& v, int depth, Program* p) const {
    if (absl::c_linear_search(p->inputs, v) || depth > kMaxAgain + 1) return;
    const Node& n = *graph_->node(v.node);
    if (IsScalar(n)) {
      p->inputs.push_back(v);
      return;
    }
    for (const Edge* e : n.data_inputs()) {
      AddConstants(Read(*e), depth + 1, p);
    }
  }

  // The number of a value, which is computed again if need be.
  int64_t Find(const Value& v, Program* p,
               absl::flat_hash_map<int, int64_t>* made) const {
    const auto input = absl::c_find(p->inputs, v);
    if (input != p->inputs.end()) return input - p->inputs.begin();
    if (const auto it = made->find(v.node); it != made->end()) {
      return it->second;
    }
    const Node& n = *graph_->node(v.node);
    std::vector<int64_t> operands;
    for (const Edge* e : n.data_inputs()) {
      operands.push_back(Find(Read(*e), p, made));
    }
    Add(n, operands, p, made);
    return (*made)[v.node];
  }

  static void Add(const Node& n, const std::vector<int64_t>& operands,
                  Program* p, absl::flat_hash_map<int, int64_t>* made) {
    const std::string op = OpOf(n);
    int64_t result = operands[0];
    const auto next = [p] {
      return static_cast<int64_t>(p->inputs.size() + p->steps.size());
    };
    if (operands.size() == 1) {
      result = next();
      p->steps.push_back({op, operands[0], -1});
    }
    for (size_t i = 1; i < operands.size(); ++i) {
      const int64_t sum = next();
      p->steps.push_back({op, result, operands[i]});
      result = sum;
    }
    (*made)[n.id()] = result;
  }

  Status Replace(const Program& p, int* changes) {
    absl::flat_hash_set<int> in;
    for (const Node* n : p.members) in.insert(n->id());
    std::vector<Rewriter::Output> outputs;
    std::vector<int64_t> results;
    for (Node* n : p.members) {
      const bool is_read = absl::c_any_of(n->out_edges(), [&](const Edge* e) {
        return !in.contains(e->dst()->id());
      });
      if (!is_read) continue;
      outputs.push_back({{n, 0}, static_cast<int>(outputs.size())});
      results.push_back(p.result_of.at(n->id()));
    }
    if (outputs.empty()) return OkStatus();
    NodeDef def;
    def.op = kFused;
    def.attrs.Set("T", p.members[0]->output_type(0));
    def.attrs.Set("num_inputs", static_cast<int64_t>(p.inputs.size()));
    def.attrs.Set("num_outputs", static_cast<int64_t>(outputs.size()));
    std::vector<std::string> ops;
    std::vector<int64_t> operands;
    for (const Step& s : p.steps) {
      ops.push_back(s.op);
      operands.push_back(s.a);
      operands.push_back(s.b);
    }
    def.attrs.Set("ops", std::move(ops));
    def.attrs.Set("operands", std::move(operands));
    def.attrs.Set("results", std::move(results));
    std::vector<Endpoint> inputs;
    for (const Value& v : p.inputs) {
      const auto it = moved_.find(v.node);
      inputs.push_back(it != moved_.end()
                           ? it->second
                           : Endpoint{graph_->node(v.node), v.output});
    }
    std::vector<int> ids;
    for (const Rewriter::Output& o : outputs) ids.push_back(o.from.node->id());
    const int merged = static_cast<int>(p.members.size());
    HR_ASSIGN_OR_RETURN(Node * done, rewriter_.Replace(p.members, outputs,
                                                       std::move(def), inputs));
    if (done == nullptr) return OkStatus();
    for (size_t i = 0; i < ids.size(); ++i) {
      moved_[ids[i]] = {done, static_cast<int>(i)};
    }
    *changes += merged - 1;
    return OkStatus();
  }

  Graph* const graph_;
  Rewriter rewriter_;
  SymbolicShapes shapes_;
  std::vector<int> position_;  // in topological order, by node id
  std::vector<int> group_of_;  // by node id; -1: none
  std::vector<std::vector<Node*>> groups_;
  std::vector<Span> spans_;  // of the groups
  // Where the value of a node that is gone is now, by its id.
  absl::flat_hash_map<int, Endpoint> moved_;
};

}  // namespace

Status GroupElementwise(const GraphPassContext& context, Graph* graph,
                        int* changes) {
  if (OpRegistry::Global()->Find(kFused) == nullptr) return OkStatus();
  return Groups(context, graph).Run(changes);
}

}  // namespace headrace
