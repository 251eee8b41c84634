// AddSymbolicGradients: walks from ys back to xs. A node is differentiated when
// the gradients of all its outputs are complete, that is when all its consumers
// between xs and ys are done.
#include <deque>

#include "absl/container/flat_hash_set.h"
#include "headrace/gradients.h"

namespace headrace {

class GradientBuilder {
 public:
  GradientBuilder(Graph* graph, absl::Span<const Endpoint> ys,
                  absl::Span<const Endpoint> xs, const GradientOptions& options)
      : graph_(graph),
        ys_(ys),
        xs_(xs),
        options_(options),
        context_(graph, &options) {}

  StatusOr<Endpoint> Densify(const Gradient& slices) {
    Enter(nullptr, {}, nullptr);
    const Endpoint dense = context_.Densify(slices).endpoint();
    HR_RETURN_IF_ERROR(context_.status());
    return dense;
  }

  Status Build(std::vector<Gradient>* dxs) {
    HR_RETURN_IF_ERROR(CheckArguments());
    MarkReached();
    CountPending();
    HR_RETURN_IF_ERROR(RefuseLoops());
    HR_RETURN_IF_ERROR(Start());
    while (!ready_.empty()) {
      Node* const n = ready_.front();
      ready_.pop_front();
      HR_RETURN_IF_ERROR(Visit(n));
    }
    return Collect(dxs);
  }

 private:
  using Parts = absl::InlinedVector<Gradient, 1>;

  Status CheckArguments();
  // Marks the nodes that depend on an x through trainable tensors.
  void MarkReached();
  // Counts, for each reached node that a y depends on, its consumers among
  // these nodes.
  void CountPending();
  // Unimplemented if a loop of Enter, NextIteration... is on the way.
  Status RefuseLoops();
  // Sets the gradients of ys.
  Status Start();
  StatusOr<Gradient> StartOf(int i);
  Status Visit(Node* n);
  // Calls the node's gradient function.
  Status Differentiate(Node* n, absl::Span<const Gradient> dys,
                       std::vector<Gradient>* dxs);
  Status CheckResult(const Node& n, std::vector<Gradient>* dxs);
  // Passes the node's gradients on through Identities that wait for all.
  Status Gate(Node* n, std::vector<Gradient>* dxs);
  // The sum of all gradients of `e`, kept as its only one.
  StatusOr<Gradient> SumOf(const Endpoint& e);
  Status Collect(std::vector<Gradient>* dxs);
  bool IsBetween(const Node* n) const {
    return n->id() < static_cast<int>(between_.size()) && between_[n->id()];
  }
  // Directs the context at a node. Null: at the scope itself.
  void Enter(Node* n, absl::Span<const Gradient> dys,
             std::vector<Gradient>* dxs);

  Graph* const graph_;
  const absl::Span<const Endpoint> ys_, xs_;
  const GradientOptions& options_;
  GradientContext context_;
  // By node id; nodes that are added meanwhile have no entry.
  std::vector<bool> reached_, between_, stops_;
  std::vector<int> pending_;
  absl::flat_hash_map<Endpoint, Parts> gradients_;
  std::deque<Node*> ready_;
};

Status GradientBuilder::CheckArguments() {
  const auto check = [this](absl::Span<const Endpoint> list, const char* what) {
    for (size_t i = 0; i < list.size(); ++i) {
      const Endpoint& e = list[i];
      if (e.node == nullptr || e.index < 0 ||
          e.index >= e.node->num_outputs() ||
          e.node->id() >= graph_->num_node_ids() ||
          graph_->node(e.node->id()) != e.node) {
        return errors::InvalidArgument("gradients: ", what, "[", i,
                                       "] is no output of a node of the graph");
      }
    }
    return OkStatus();
  };
  HR_RETURN_IF_ERROR(check(ys_, "ys"));
  HR_RETURN_IF_ERROR(check(xs_, "xs"));
  HR_RETURN_IF_ERROR(check(options_.stop_gradients, "stop_gradients"));
  if (!options_.grad_ys.empty() && options_.grad_ys.size() != ys_.size()) {
    return errors::InvalidArgument("gradients: got ", options_.grad_ys.size(),
                                   " grad_ys for ", ys_.size(),
                                   " ys, wanted one for each");
  }
  return OkStatus();
}

void GradientBuilder::MarkReached() {
  reached_.assign(graph_->num_node_ids(), false);
  std::vector<const Node*> todo;
  for (const Endpoint& x : xs_) {
    if (reached_[x.node->id()]) continue;
    reached_[x.node->id()] = true;
    todo.push_back(x.node);
  }
  while (!todo.empty()) {
    const Node* const n = todo.back();
    todo.pop_back();
    for (const Edge* e : n->out_edges()) {
      if (e->IsControlEdge() || reached_[e->dst()->id()] ||
          !IsTrainable(n->output_type(e->src_output()))) {
        continue;
      }
      reached_[e->dst()->id()] = true;
      todo.push_back(e->dst());
    }
  }
}

void GradientBuilder::CountPending() {
  between_.assign(reached_.size(), false);
  pending_.assign(reached_.size(), 0);
  stops_.assign(reached_.size(), false);
  std::vector<const Node*> todo;
  for (const Endpoint& y : ys_) {
    if (!reached_[y.node->id()] || between_[y.node->id()]) continue;
    between_[y.node->id()] = true;
    todo.push_back(y.node);
  }
  while (!todo.empty()) {
    const Node* const n = todo.back();
    todo.pop_back();
    for (const Edge* e : n->data_inputs()) {
      if (e == nullptr) continue;
      const int id = e->src()->id();
      if (!reached_[id]) continue;
      ++pending_[id];
      if (between_[id]) continue;
      between_[id] = true;
      todo.push_back(e->src());
    }
  }
  // An x stops the traversal unless it depends on another x.
  for (const Endpoint& x : xs_) {
    bool stops = true;
    for (const Edge* e : x.node->data_inputs()) {
      stops = stops && (e == nullptr || pending_[e->src()->id()] == 0);
    }
    stops_[x.node->id()] = stops;
  }
  for (const Endpoint& e : options_.stop_gradients) {
    stops_[e.node->id()] = true;
  }
}

Status GradientBuilder::RefuseLoops() {
  for (size_t id = 0; id < between_.size(); ++id) {
    const Node* const n = between_[id] ? graph_->node(id) : nullptr;
    if (n != nullptr && (n->IsEnter() || n->IsNextIteration())) {
      return errors::Unimplemented(
          "gradients: the way from ys to xs leads through the loop of node '",
          n->name(), "' (op ", n->type_string(),
          "), which has no gradient yet");
    }
  }
  return OkStatus();
}

void GradientBuilder::Enter(Node* n, absl::Span<const Gradient> dys,
                            std::vector<Gradient>* dxs) {
  context_.node_ = n;
  context_.dys_ = dys;
  context_.dxs_ = dxs;
  context_.dense_dys_.assign(dys.size(), Expr());
  context_.scope_ = n == nullptr
                        ? StrCat(options_.scope, "/")
                        : StrCat(options_.scope, "/", n->name(), "_grad/");
  if (n == nullptr) return;
  context_.needs_.assign(n->num_inputs(), false);
  for (int i = 0; i < n->num_inputs(); ++i) {
    const Edge* const e = n->input_edge(i);
    context_.needs_[i] = e != nullptr && IsBetween(e->src()) &&
                         IsTrainable(e->src()->output_type(e->src_output()));
  }
}

StatusOr<Gradient> GradientBuilder::StartOf(int i) {
  const Endpoint& y = ys_[i];
  const DataType dtype = BaseType(y.node->output_type(y.index));
  const Gradient given =
      options_.grad_ys.empty() ? Gradient() : options_.grad_ys[i];
  if (given.IsNone()) {
    if (DataTypeIsComplex(dtype)) {
      return errors::InvalidArgument(
          "Gradients of complex tensors must set grad_ys (y.dtype = ",
          DataTypeString(dtype), " of '", EndpointName(y), "')");
    }
    const Expr y_expr(&context_, y);
    const Expr shape = context_.Shape(y_expr);
    const Expr one = context_.Scalar(dtype, 1, StrCat("grad_ys_", i).c_str());
    const Expr ones = context_.Op("Fill", {shape, one});
    HR_RETURN_IF_ERROR(context_.status());
    return Gradient{.dense = ones.endpoint()};
  }
  const Endpoint& value = given.IsSparse() ? given.values : given.dense;
  const DataType got = BaseType(value.node->output_type(value.index));
  const bool fits = dtype == DT_RESOURCE || dtype == DT_VARIANT ||
                    (DataTypeIsFloating(dtype) && DataTypeIsFloating(got)) ||
                    (DataTypeIsInteger(dtype) && DataTypeIsInteger(got)) ||
                    (DataTypeIsComplex(dtype) && DataTypeIsComplex(got)) ||
                    dtype == got;
  if (!fits) {
    return errors::InvalidArgument(
        "Gradient type ", DataTypeString(got), " generated for tensor '",
        EndpointName(y), "' of type ", DataTypeString(dtype),
        " does not fit: wanted one of the same kind");
  }
  if (!given.IsSparse() &&
      !value.node->output_shape(value.index)
           .IsCompatibleWith(y.node->output_shape(y.index))) {
    return errors::InvalidArgument(
        "grad_ys[", i, "] has shape ",
        value.node->output_shape(value.index).DebugString(), ", but ys[", i,
        "] ('", EndpointName(y), "') has shape ",
        y.node->output_shape(y.index).DebugString());
  }
  return given;
}

Status GradientBuilder::Start() {
  Enter(nullptr, {}, nullptr);
  for (size_t i = 0; i < ys_.size(); ++i) {
    HR_ASSIGN_OR_RETURN(const Gradient g, StartOf(static_cast<int>(i)));
    gradients_[ys_[i]].push_back(g);
  }
  // A y that another y depends on is ready when that one is done.
  absl::flat_hash_set<const Node*> queued;
  for (const Endpoint& y : ys_) {
    if (IsBetween(y.node) && pending_[y.node->id()] == 0 &&
        queued.insert(y.node).second) {
      ready_.push_back(y.node);
    }
  }
  return OkStatus();
}

StatusOr<Gradient> GradientBuilder::SumOf(const Endpoint& e) {
  const auto it = gradients_.find(e);
  if (it == gradients_.end() || it->second.empty()) return Gradient();
  Parts& parts = it->second;
  if (parts.size() == 1) return parts[0];
  Enter(nullptr, {}, nullptr);
  bool all_sparse = true;
  for (const Gradient& g : parts) all_sparse = all_sparse && g.IsSparse();
  Gradient sum;
  if (all_sparse) {
    std::vector<Expr> values, indices;
    bool int64_indices = false;
    for (const Gradient& g : parts) {
      values.emplace_back(&context_, g.values);
      indices.emplace_back(&context_, g.indices);
      int64_indices |= indices.back().dtype() == DT_INT64;
    }
    for (Expr& i : indices) {
      if (int64_indices) i = context_.Cast(i, DT_INT64);
    }
    sum = {.values = context_.Concat(values).endpoint(),
           .indices = context_.Concat(indices).endpoint(),
           .dense_shape = parts[0].dense_shape};
  } else {
    std::vector<Expr> terms;
    for (const Gradient& g : parts) {
      terms.push_back(g.IsSparse() ? context_.Densify(g)
                                   : Expr(&context_, g.dense));
    }
    sum.dense = context_.Op("AddN", terms).endpoint();
  }
  HR_RETURN_IF_ERROR(context_.status());
  parts.assign(1, sum);
  return sum;
}

Status GradientBuilder::Differentiate(Node* n, absl::Span<const Gradient> dys,
                                      std::vector<Gradient>* dxs) {
  Enter(n, dys, dxs);
  if (options_.custom) {
    bool handled = false;
    HR_RETURN_IF_ERROR(options_.custom(n, context_.scope_, dys, dxs, &handled));
    if (handled) {
      if (dxs->size() != static_cast<size_t>(n->num_inputs())) {
        return errors::InvalidArgument(
            "Num gradients ", dxs->size(), " generated for op ",
            SummarizeNodeDef(n->def()), " do not match num inputs ",
            n->num_inputs());
      }
      return OkStatus();
    }
  }
  std::string op = n->type_string();
  if (const AttrValue* o = n->attrs().Find("_gradient_op_type");
      o != nullptr && o->Get<std::string>() != nullptr) {
    op = *o->Get<std::string>();
  }
  const GradientEntry* const entry = GradientRegistry::Find(op);
  if (entry == nullptr) {
    return errors::NotFound("No gradient defined for operation '", n->name(),
                            "' (op type: ", op, ")");
  }
  if (entry->fn == nullptr) return OkStatus();
  entry->fn(context_);
  if (!context_.status().ok()) {
    return Annotate(context_.status(), StrCat(" (gradient of node '", n->name(),
                                              "', op ", n->type_string(), ")"));
  }
  return OkStatus();
}

Status GradientBuilder::CheckResult(const Node& n, std::vector<Gradient>* dxs) {
  for (int i = 0; i < n.num_inputs(); ++i) {
    Gradient& g = (*dxs)[i];
    const Endpoint x{n.input_edge(i)->src(), n.input_edge(i)->src_output()};
    const DataType dtype = BaseType(n.input_type(i));
    if (g.IsNone() || g.IsSparse() || dtype == DT_RESOURCE) continue;
    const PartialTensorShape& got = g.dense.node->output_shape(g.dense.index);
    PartialTensorShape merged;
    if (!got.MergeWith(x.node->output_shape(x.index), &merged).ok()) {
      return errors::InvalidArgument(
          "Incompatible shapes between op input and calculated input gradient. "
          "Forward operation: ",
          n.name(), ". Input index: ", i, ". Original input shape: ",
          x.node->output_shape(x.index).DebugString(),
          ". Calculated input gradient shape: ", got.DebugString());
    }
    if (g.dense.node == x.node || merged == got) continue;
    if (options_.add_node) {  // whoever adds nodes takes the lock
      MutexLock lock(&graph_->mu());
      graph_->SetOutputShape(g.dense.node, g.dense.index, merged);
    } else {
      graph_->SetOutputShape(g.dense.node, g.dense.index, merged);
    }
  }
  return OkStatus();
}

Status GradientBuilder::Gate(Node* n, std::vector<Gradient>* dxs) {
  std::vector<Node*> wait;
  for (const Gradient& g : *dxs) {
    if (!g.IsNone()) {
      wait.push_back(g.IsSparse() ? g.values.node : g.dense.node);
    }
  }
  if (wait.size() < 2) return OkStatus();
  NodeDef group;
  group.name = StrCat(context_.scope_, "tuple/group_deps");
  group.op = "NoOp";
  HR_ASSIGN_OR_RETURN(Node* const all,
                      context_.Add(std::move(group), {}, wait));
  for (Gradient& g : *dxs) {
    if (g.IsNone()) continue;
    Endpoint* const e = g.IsSparse() ? &g.values : &g.dense;
    NodeDef def;
    def.name = StrCat(context_.scope_, "tuple/control_dependency");
    def.op = "Identity";
    HR_ASSIGN_OR_RETURN(Node* const identity,
                        context_.Add(std::move(def), {*e}, {all}));
    *e = {identity, 0};
  }
  return OkStatus();
}

Status GradientBuilder::Visit(Node* n) {
  std::vector<Gradient> dys(n->num_outputs());
  bool any = false;
  for (int i = 0; i < n->num_outputs(); ++i) {
    HR_ASSIGN_OR_RETURN(dys[i], SumOf({n, i}));
    any = any || !dys[i].IsNone();
  }
  std::vector<Gradient> dxs(n->num_inputs());
  if (any && !stops_[n->id()]) {
    HR_RETURN_IF_ERROR(Differentiate(n, dys, &dxs));
    HR_RETURN_IF_ERROR(CheckResult(*n, &dxs));
    if (options_.gate) HR_RETURN_IF_ERROR(Gate(n, &dxs));
  }
  for (int i = 0; i < n->num_inputs(); ++i) {
    const Edge* const e = n->input_edge(i);
    if (e == nullptr) continue;
    if (!dxs[i].IsNone() && IsBetween(e->src())) {
      gradients_[{e->src(), e->src_output()}].push_back(dxs[i]);
    }
    const int id = e->src()->id();
    if (IsBetween(e->src()) && --pending_[id] == 0) ready_.push_back(e->src());
  }
  return OkStatus();
}

Status GradientBuilder::Collect(std::vector<Gradient>* dxs) {
  dxs->clear();
  for (const Endpoint& x : xs_) {
    HR_ASSIGN_OR_RETURN(Gradient g, SumOf(x));
    if (g.IsNone() && options_.zero_if_unconnected) {
      Enter(nullptr, {}, nullptr);
      const Expr t(&context_, x);
      const std::vector<DtypeAndShape>& handle = x.node->output_handle(x.index);
      if (t.dtype() == DT_RESOURCE && !handle.empty()) {
        g.dense = context_
                      .Op("Fill", {context_.Shape(t),
                                   context_.Scalar(handle[0].dtype, 0)})
                      .endpoint();
      } else {
        g.dense = context_.Op("ZerosLike", {t}, {}, "zeros_like").endpoint();
      }
      HR_RETURN_IF_ERROR(context_.status());
    }
    dxs->push_back(g);
  }
  return OkStatus();
}

Status AddSymbolicGradients(Graph* graph, absl::Span<const Endpoint> ys,
                            absl::Span<const Endpoint> xs,
                            const GradientOptions& options,
                            std::vector<Gradient>* dxs) {
  return GradientBuilder(graph, ys, xs, options).Build(dxs);
}

StatusOr<Endpoint> DensifyGradient(Graph* graph, const GradientOptions& options,
                                   const Gradient& slices) {
  return GradientBuilder(graph, {}, {}, options).Densify(slices);
}

}  // namespace headrace
