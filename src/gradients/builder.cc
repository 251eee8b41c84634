// AddSymbolicGradients: walks from ys back to xs. A node is differentiated when
// the gradients of all its outputs are complete, that is when all its consumers
// between xs and ys are done.
#include <deque>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "gradients/function.h"
#include "gradients/loop.h"
#include "headrace/gradients.h"

namespace headrace {
namespace {

bool IsOneOf(const Node& n, absl::string_view a, absl::string_view b) {
  return n.type_string() == a || n.type_string() == b;
}

// Calls fn(node) for each node that uses the stack of `user`, a push or a pop.
template <typename F>
void ForEachUserOfStack(const Node* user, const F& fn) {
  const Node* stack = user;
  while (stack->num_inputs() > 0 && stack->input_edge(0) != nullptr &&
         (stack == user || stack->IsEnter() || stack->IsSwitch())) {
    stack = stack->input_edge(0)->src();
  }
  std::vector<const Node*> handles = {stack};
  absl::flat_hash_set<const Node*> seen = {stack};
  while (!handles.empty()) {
    const Node* const n = handles.back();
    handles.pop_back();
    for (const Edge* e : n->out_edges()) {
      const Node* const dst = e->dst();
      if (e->IsControlEdge() || !seen.insert(dst).second) continue;
      if (dst->IsEnter() || dst->IsSwitch()) {
        handles.push_back(dst);
      } else {
        fn(dst);
      }
    }
  }
}

}  // namespace

class GradientBuilder {
 public:
  GradientBuilder(Graph* graph, absl::Span<const Endpoint> ys,
                  absl::Span<const Endpoint> xs, const GradientOptions& options)
      : graph_(graph),
        ys_(ys),
        xs_(xs),
        options_(options),
        context_(graph, &options) {}

  // Within the body of a loop.
  GradientBuilder(Graph* graph, absl::Span<const Endpoint> ys,
                  absl::Span<const Endpoint> xs, const GradientOptions& options,
                  GradientLoop* loop)
      : GradientBuilder(graph, ys, xs, options) {
    body_of_ = context_.loop_ = loop;
    frame_ = loop->frame();
    flow_ = &loop->flow();
  }

  StatusOr<Endpoint> Densify(const Gradient& slices) {
    Enter(nullptr, {}, nullptr);
    const Endpoint dense = context_.Densify(slices).endpoint();
    HR_RETURN_IF_ERROR(context_.status());
    return dense;
  }

  Status Build(std::vector<Gradient>* dxs) {
    HR_RETURN_IF_ERROR(CheckArguments());
    MarkReached();
    MarkBetween();
    if (options_.must_be_connected) {
      for (const Endpoint& x : xs_) {
        if (!IsBetween(x.node)) return Unconnected(x);
      }
    }
    HR_RETURN_IF_ERROR(FindLoops());
    CountPending();
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
  static Status Unconnected(const Endpoint& x) {
    return errors::InvalidArgument(
        "Cannot compute the partial derivative for node '", x.node->name(),
        "' as it's unreachable from the output node(s).");
  }
  // Marks the nodes that depend on an x through trainable tensors.
  void MarkReached();
  // Marks the nodes that pop from the stack of a push, which depends on an x.
  void MarkPops(const Node* push, std::vector<const Node*>* todo);
  // The name of the loop that pushes onto the stack which `pop` takes from.
  StatusOr<std::string> LoopThatPushes(const Node* pop) const;
  // Marks the reached nodes that a y depends on.
  void MarkBetween();
  // Counts the consumers of each of these nodes among them. Loops count as one
  // node: Enters are its inputs, Exits its outputs.
  void CountPending();
  // Finds the loop in whose body the gradient is taken: that of the ys.
  void FindFrame();
  // Finds the loops on the way, except those inside of other loops.
  Status FindLoops();
  // True for a frame in which this walk differentiates node by node: its own
  // and, without a backward loop, those around it.
  bool IsOwnFrame(int frame) const;
  struct Loop {
    int frame = 0;
    int exits = 0;      // on the way, and not visited
    bool live = false;  // a gradient comes in through an Exit
    std::vector<Node*> enters;
  };
  // The loop whose Exit `n` is; null if that is outside all loops.
  Loop* LoopOf(const Node* n);
  Status VisitExit(Node* n, Loop* loop);
  Status VisitLoop(const Loop& loop);
  // The sum of the gradients of `e` as one tensor; zeros like it for none.
  StatusOr<Endpoint> DenseSumOf(const Endpoint& e, const Endpoint& like);
  // Zeros of the shape and type of the gradient of `e`.
  StatusOr<Endpoint> ZerosFor(const Endpoint& e);
  // Sets the gradients of ys.
  Status Start();
  StatusOr<Gradient> StartOf(int i);
  Status Visit(Node* n);
  // Calls the node's gradient function.
  Status Differentiate(Node* n, absl::Span<const Gradient> dys,
                       std::vector<Gradient>* dxs);
  // What a function of the client gave, as it is known in the backward loop.
  Status TakeIntoLoop(std::vector<Gradient>* dxs);
  void SetShape(const Endpoint& e, const PartialTensorShape& shape);
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
  GradientLoop* body_of_ = nullptr;
  int frame_ = 0;       // of the body in which the gradient is taken
  ControlFlow of_all_;  // empty in a body, or without loops on the way
  const ControlFlow* flow_ = &of_all_;
  std::vector<Loop> loops_;
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
          !IsTrainable(n->output_type(e->src_output())) ||
          (body_of_ != nullptr && !body_of_->InBody(e->dst()))) {
        continue;
      }
      reached_[e->dst()->id()] = true;
      todo.push_back(e->dst());
    }
    if (IsOneOf(*n, "StackPushV2", "StackPush")) MarkPops(n, &todo);
  }
}

void GradientBuilder::MarkPops(const Node* push,
                               std::vector<const Node*>* todo) {
  ForEachUserOfStack(push, [&](const Node* user) {
    if (IsOneOf(*user, "StackPopV2", "StackPop") && !reached_[user->id()]) {
      reached_[user->id()] = true;
      todo->push_back(user);
    }
  });
}

StatusOr<std::string> GradientBuilder::LoopThatPushes(const Node* pop) const {
  ControlFlow flow;
  HR_RETURN_IF_ERROR(AnalyzeControlFlow(*graph_, &flow));
  std::string name;
  ForEachUserOfStack(pop, [&](const Node* user) {
    if (IsOneOf(*user, "StackPushV2", "StackPush")) {
      name = flow.frames[flow.runs_in[user->id()]].name;
    }
  });
  return name;
}

void GradientBuilder::MarkBetween() {
  between_.assign(reached_.size(), false);
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
      if (!reached_[id] || between_[id]) continue;
      between_[id] = true;
      todo.push_back(e->src());
    }
  }
}

void GradientBuilder::CountPending() {
  pending_.assign(reached_.size(), 0);
  stops_.assign(reached_.size(), false);
  for (size_t id = 0; id < between_.size(); ++id) {
    if (!between_[id]) continue;
    for (const Edge* e : graph_->node(static_cast<int>(id))->data_inputs()) {
      if (e == nullptr || !between_[e->src()->id()]) continue;
      const int src = e->src()->id();
      if (loops_.empty() || IsOwnFrame(flow_->puts_out_to[src])) {
        ++pending_[src];
      }
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

bool GradientBuilder::IsOwnFrame(int frame) const {
  int own = frame_;
  while (body_of_ == nullptr && own > frame) own = flow_->frames[own].parent;
  return own == frame;
}

void GradientBuilder::FindFrame() {
  // The innermost. FindLoops refuses a y that does not lie around it.
  for (const Endpoint& y : ys_) {
    const int frame = of_all_.puts_out_to[y.node->id()];
    if (of_all_.frames[frame].depth > of_all_.frames[frame_].depth) {
      frame_ = frame;
    }
  }
}

Status GradientBuilder::FindLoops() {
  for (size_t id = 0; id < between_.size() && flow_->frames.empty(); ++id) {
    const Node* const n =
        between_[id] ? graph_->node(static_cast<int>(id)) : nullptr;
    if (n == nullptr || !n->IsEnter()) continue;
    HR_RETURN_IF_ERROR(AnalyzeControlFlow(*graph_, &of_all_));
    FindFrame();
  }
  for (size_t id = 0; id < between_.size(); ++id) {
    Node* const n = between_[id] ? graph_->node(static_cast<int>(id)) : nullptr;
    if (n != nullptr && IsOneOf(*n, "StackPopV2", "StackPop")) {
      HR_ASSIGN_OR_RETURN(const std::string loop, LoopThatPushes(n));
      return errors::Unimplemented(
          "Second-order gradient for while loops not supported: node '",
          n->name(), "' of the gradient of while loop '", loop,
          "' pops what that loop pushed");
    }
    if (n == nullptr || !n->IsEnter()) continue;
    const int frame = flow_->puts_out_to[id];
    // In the body of a loop: what enters that is constant there.
    if (IsOwnFrame(frame)) {
      if (IsConstantEnter(*n)) continue;
      return errors::InvalidArgument(
          "Cannot compute gradient inside while loop '",
          flow_->frames[frame].name, "' through Enter '", n->name(),
          "', the initial value of a loop variable. Gradients inside a loop go "
          "through loop invariants and to the input parameters of its body.");
    }
    if (flow_->frames[frame].parent != frame_) {
      int around = frame;
      while (flow_->frames[around].depth > flow_->frames[frame_].depth) {
        around = flow_->frames[around].parent;
      }
      if (around == frame_) continue;  // the gradient of a loop around it
      return errors::InvalidArgument(
          "Cannot compute gradient inside while loop '",
          flow_->frames[frame_].name, "' through while loop '",
          flow_->frames[frame].name, "', which lies outside of it");
    }
    Loop* loop = nullptr;
    for (Loop& l : loops_) {
      if (l.frame == frame) loop = &l;
    }
    if (loop == nullptr) loop = &loops_.emplace_back(Loop{.frame = frame});
    loop->enters.push_back(n);
  }
  for (size_t id = 0; id < between_.size() && !loops_.empty(); ++id) {
    const Node* const n =
        between_[id] ? graph_->node(static_cast<int>(id)) : nullptr;
    if (n == nullptr || !n->IsExit()) continue;
    if (Loop* const loop = LoopOf(n)) ++loop->exits;
  }
  for (const Endpoint& e : ys_) {
    if (!loops_.empty() && !IsOwnFrame(flow_->puts_out_to[e.node->id()])) {
      return errors::Unimplemented("gradients: y '", EndpointName(e),
                                   "' is a value inside a loop");
    }
  }
  return OkStatus();
}

GradientBuilder::Loop* GradientBuilder::LoopOf(const Node* n) {
  for (Loop& l : loops_) {
    if (l.frame == flow_->runs_in[n->id()]) return &l;
  }
  return nullptr;
}

StatusOr<Endpoint> GradientBuilder::DenseSumOf(const Endpoint& e,
                                               const Endpoint& like) {
  HR_ASSIGN_OR_RETURN(const Gradient g, SumOf(e));
  Enter(nullptr, {}, nullptr);
  Endpoint dense = g.dense;
  if (g.IsSparse()) {
    dense = context_.Densify(g).endpoint();
  } else if (g.IsNone()) {
    dense = context_.Op("ZerosLike", {Expr(&context_, like)}, {}, "zeros_like")
                .endpoint();
  }
  HR_RETURN_IF_ERROR(context_.status());
  return dense;
}

StatusOr<Endpoint> GradientBuilder::ZerosFor(const Endpoint& e) {
  const Expr t(&context_, e);
  const std::vector<DtypeAndShape>& handle = e.node->output_handle(e.index);
  Expr zeros;
  if (t.dtype() != DT_RESOURCE) {
    zeros = context_.Op("ZerosLike", {t}, {}, "zeros_like");
  } else if (!handle.empty()) {
    zeros = context_.Op(
        "Fill", {context_.Shape(t), context_.Scalar(handle[0].dtype, 0)});
  } else {
    return errors::Unimplemented("gradients: resource '", EndpointName(e),
                                 "' is not known to be a variable");
  }
  HR_RETURN_IF_ERROR(context_.status());
  return zeros.endpoint();
}

Status GradientBuilder::VisitExit(Node* n, Loop* loop) {
  HR_ASSIGN_OR_RETURN(const Gradient dy, SumOf({n, 0}));
  if (stops_[n->id()]) {
    gradients_.erase({n, 0});
  } else if (!dy.IsNone()) {
    loop->live = true;
  }
  if (--loop->exits > 0) return OkStatus();
  if (loop->live) HR_RETURN_IF_ERROR(VisitLoop(*loop));
  for (const Node* enter : loop->enters) {
    Node* const src = enter->input_edge(0)->src();
    if (IsBetween(src) && --pending_[src->id()] == 0) ready_.push_back(src);
  }
  return OkStatus();
}

Status GradientBuilder::VisitLoop(const Loop& found) {
  GradientLoop loop(graph_, flow_, found.frame, &context_, body_of_);
  HR_RETURN_IF_ERROR(loop.Find());
  Enter(nullptr, {}, nullptr);
  context_.scope_ = StrCat(options_.scope, "/", loop.name(), "_grad/");
  const std::string scope = context_.scope_;
  HR_RETURN_IF_ERROR(loop.Begin());

  // The body's gradients: by its variables and by what is constant.
  std::vector<GradientLoop::Variable> variables;
  std::vector<GradientLoop::Backward> backward;
  std::vector<Endpoint> ys, xs;
  GradientOptions options = options_;
  options.grad_ys.clear();
  options.zero_if_unconnected = false;
  options.must_be_connected = false;
  for (const GradientLoop::Variable& v : loop.variables()) {
    const DataType dtype = BaseType(v.merge->output_type(0));
    if (!IsBetween(v.branch) ||
        !(DataTypeIsFloating(dtype) || DataTypeIsComplex(dtype) ||
          dtype == DT_VARIANT)) {
      continue;
    }
    const Edge* const in = v.enter->input_edge(0);
    const Endpoint initial{in->src(), in->src_output()};
    Endpoint dy;
    if (v.exit != nullptr) {
      HR_ASSIGN_OR_RETURN(dy, DenseSumOf({v.exit, 0}, {v.exit, 0}));
    } else {
      HR_ASSIGN_OR_RETURN(dy, ZerosFor(initial));
    }
    context_.scope_ = scope;
    GradientLoop::Backward b;
    HR_RETURN_IF_ERROR(loop.AddVariable(dy, &b));
    variables.push_back(v);
    backward.push_back(b);
    const Edge* const next = v.next->input_edge(0);
    ys.push_back({next->src(), next->src_output()});
    xs.push_back({v.branch, 1});
    options.grad_ys.push_back({.dense = b.value});
  }
  std::vector<Node*> constants;
  for (Node* n : loop.constants()) {
    if (!IsBetween(n) || !IsTrainable(n->output_type(0))) continue;
    constants.push_back(n);
    xs.push_back({n, 0});
  }
  GradientBuilder body(graph_, ys, xs, options, &loop);
  std::vector<Gradient> dxs;
  HR_RETURN_IF_ERROR(body.Build(&dxs));
  body.Enter(nullptr, {}, nullptr);
  body.context_.scope_ = scope;

  const auto give = [&](Node* enter, const Endpoint& gradient) {
    const Edge* const in = enter->input_edge(0);
    const std::vector<DtypeAndShape>& handle =
        in->src()->output_handle(in->src_output());
    if (!handle.empty()) {
      SetShape(gradient, handle[0].shape);
    } else if (BaseType(in->src()->output_type(in->src_output())) !=
               DT_RESOURCE) {
      SetShape(gradient, in->src()->output_shape(in->src_output()));
    }
    if (IsBetween(in->src())) {
      gradients_[{in->src(), in->src_output()}].push_back({.dense = gradient});
    }
  };
  for (size_t i = 0; i < variables.size(); ++i) {
    Endpoint next;
    if (dxs[i].IsSparse()) {
      next = body.context_.Densify(dxs[i]).endpoint();
    } else if (dxs[i].IsNone()) {
      next = body.context_
                 .Op("ZerosLike", {Expr(&body.context_, backward[i].value)})
                 .endpoint();
    } else {
      next = dxs[i].dense;
    }
    HR_RETURN_IF_ERROR(body.context_.status());
    HR_RETURN_IF_ERROR(loop.SetNext(backward[i], next));
    give(variables[i].enter, {backward[i].exit, 0});
  }
  // What is constant in the loop has the sum over the iterations.
  for (size_t i = 0; i < constants.size(); ++i) {
    const Gradient& g = dxs[variables.size() + i];
    if (g.IsNone()) continue;
    const Edge* const in = constants[i]->input_edge(0);
    Enter(nullptr, {}, nullptr);
    context_.scope_ = scope;
    HR_ASSIGN_OR_RETURN(const Endpoint zeros,
                        ZerosFor({in->src(), in->src_output()}));
    GradientLoop::Backward b;
    HR_RETURN_IF_ERROR(loop.AddVariable(zeros, &b));
    const Expr term =
        g.IsSparse() ? body.context_.Densify(g) : Expr(&body.context_, g.dense);
    const Expr so_far(&body.context_, b.value);
    const Expr sum = term.dtype() == DT_VARIANT
                         ? body.context_.Op("AddN", {so_far, term})
                         : so_far + term;
    HR_RETURN_IF_ERROR(body.context_.status());
    HR_RETURN_IF_ERROR(loop.SetNext(b, sum.endpoint()));
    give(constants[i], {b.exit, 0});
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
  // A handle's gradient is that of its value.
  if (dtype != DT_RESOURCE && dtype != DT_VARIANT && got != dtype) {
    return errors::InvalidArgument(
        "grad_ys[", i, "] ('", EndpointName(value), "') has type ",
        DataTypeString(got), ", but the gradient of '", EndpointName(y),
        "' must have its type ", DataTypeString(dtype));
  }
  const PartialTensorShape& is = value.node->output_shape(value.index);
  const PartialTensorShape& wanted = y.node->output_shape(y.index);
  if (given.IsSparse() || is.IsCompatibleWith(wanted)) return given;
  if (is.num_elements() < 0 || is.num_elements() != wanted.num_elements()) {
    return errors::InvalidArgument(
        "grad_ys[", i, "] has shape ", is.DebugString(), ", but ys[", i, "] ('",
        EndpointName(y), "') has shape ", wanted.DebugString());
  }
  // TensorFlow lets gradient functions see what comes of that.
  const Expr y_expr(&context_, y), value_expr(&context_, value);
  const Expr fitting =
      context_.Op("Reshape", {value_expr, context_.Shape(y_expr)});
  HR_RETURN_IF_ERROR(context_.status());
  return Gradient{.dense = fitting.endpoint()};
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
    if (options_.add_in_turn) {
      context_.scope_ =
          StrCat(options_.scope, "/", e.node->name(), "_gradient_sum/");
      Expr running = terms[0];
      for (size_t i = 1; i < terms.size(); ++i) {
        running = context_.Op("AddN", {running, terms[i]});
      }
      sum.dense = running.endpoint();
    } else {
      sum.dense = context_.Op("AddN", terms).endpoint();
    }
  }
  HR_RETURN_IF_ERROR(context_.status());
  parts.assign(1, sum);
  return sum;
}

// InvalidArgument unless the op that a node is differentiated as has arguments
// like the node's.
static Status CheckSameArguments(const Node& n, const std::string& op) {
  const OpDef* other;
  HR_RETURN_IF_ERROR(OpRegistry::Global()->LookUp(op, &other));
  const auto same = [](const std::vector<OpDef::Arg>& a,
                       const std::vector<OpDef::Arg>& b) {
    bool all = a.size() == b.size();
    for (size_t i = 0; all && i < a.size(); ++i) {
      all = (a[i].number_attr >= 0) == (b[i].number_attr >= 0) &&
            (a[i].type_list_attr >= 0) == (b[i].type_list_attr >= 0);
    }
    return all;
  };
  if (same(n.op_def().inputs, other->inputs) &&
      same(n.op_def().outputs, other->outputs)) {
    return OkStatus();
  }
  return errors::InvalidArgument("node '", n.name(), "' of op ",
                                 n.type_string(), " is differentiated as ", op,
                                 " (attr _gradient_op_type), which has "
                                 "other arguments");
}

Status GradientBuilder::Differentiate(Node* n, absl::Span<const Gradient> dys,
                                      std::vector<Gradient>* dxs) {
  Enter(n, dys, dxs);
  if (options_.custom) {
    bool handled = false;
    HR_RETURN_IF_ERROR(
        options_.custom(context_, n, context_.scope_, dys, dxs, &handled));
    if (handled) {
      if (dxs->size() != static_cast<size_t>(n->num_inputs())) {
        return errors::InvalidArgument(
            "Num gradients ", dxs->size(), " generated for op ",
            SummarizeNodeDef(n->def()), " do not match num inputs ",
            n->num_inputs());
      }
      return TakeIntoLoop(dxs);
    }
  }
  std::string op = n->type_string();
  if (const AttrValue* o = n->attrs().Find("_gradient_op_type");
      o != nullptr && o->Get<std::string>() != nullptr) {
    op = *o->Get<std::string>();
  }
  // TensorFlow 2 gives each call a gradient of its own, which no file has.
  if (absl::StartsWith(op, StrCat(n->type_string(), "-"))) {
    op = n->type_string();
  }
  static const GradientEntry* const call =
      new GradientEntry{.fn = FunctionCallGradient};
  const GradientEntry* entry = GradientRegistry::Find(op);
  if (entry == nullptr && op == n->type_string() && IsFunctionCall(*n)) {
    entry = call;
  }
  if (entry == nullptr) {
    const std::string& source = n->def().source;
    return errors::NotFound("No gradient defined for operation '", n->name(),
                            "' (op type: ", op, ")",
                            source.empty() ? "" : ". Node made at ", source);
  }
  if (entry->fn == nullptr) return OkStatus();
  if (op != n->type_string()) {
    HR_RETURN_IF_ERROR(CheckSameArguments(*n, op));
  }
  entry->fn(context_);
  if (!context_.status().ok()) {
    return Annotate(context_.status(), StrCat(" (gradient of node '", n->name(),
                                              "', op ", n->type_string(), ")"));
  }
  return OkStatus();
}

Status GradientBuilder::TakeIntoLoop(std::vector<Gradient>* dxs) {
  if (body_of_ == nullptr) return OkStatus();
  for (Gradient& g : *dxs) {
    for (Endpoint* e : {&g.dense, &g.values, &g.indices, &g.dense_shape}) {
      if (e->node == nullptr) continue;
      HR_ASSIGN_OR_RETURN(*e, body_of_->Map(*e));
    }
  }
  return OkStatus();
}

void GradientBuilder::SetShape(const Endpoint& e,
                               const PartialTensorShape& shape) {
  if (options_.add_node) {  // whoever adds nodes takes the lock
    MutexLock lock(&graph_->mu());
    graph_->SetOutputShape(e.node, e.index, shape);
  } else {
    graph_->SetOutputShape(e.node, e.index, shape);
  }
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
    SetShape(g.dense, merged);
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
  if (!loops_.empty() && n->IsExit()) {
    if (Loop* const loop = LoopOf(n)) return VisitExit(n, loop);
  }
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
    if (g.IsNone() && options_.must_be_connected) return Unconnected(x);
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
