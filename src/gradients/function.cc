#include "gradients/function.h"

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "framework/op/tensor_proto.h"
#include "graph/algorithm.h"
#include "graph/function_def.h"
#include "headrace/op_traits.h"

namespace headrace {
namespace {

bool IsNumeric(DataType dtype) {
  return DataTypeIsFloating(dtype) || DataTypeIsComplex(dtype);
}

// Effects that give other values, or happen twice, when a node runs again.
constexpr Effect kOnce = Effect::kWritesState | Effect::kRandom |
                         Effect::kReadsClock | Effect::kUsesNetwork |
                         Effect::kRunsCode | Effect::kUnknown;

// Stacks and tensor arrays belong to one run of a function.
bool IsLocal(absl::string_view op) {
  return absl::StartsWith(op, "TensorArray") || absl::StartsWith(op, "Stack");
}

Status RunsOnce(absl::string_view node, absl::string_view op,
                absl::string_view function) {
  return errors::Unimplemented(
      "gradient of function '", function, "': it would run node '", node,
      "' (op ", op,
      ") again, which then gives another value or changes state "
      "twice");
}

// Unimplemented if running a function of the library again is not the same as
// running it once.
Status CheckRunsAgain(const FunctionLibrary& library, const std::string& name,
                      absl::flat_hash_set<std::string>* seen) {
  std::vector<std::string> todo;
  const auto visit = [&](const std::string& f) {
    if (seen->insert(f).second) todo.push_back(f);
  };
  visit(name);
  while (!todo.empty()) {
    const std::string f = std::move(todo.back());
    todo.pop_back();
    const auto def = library.Find(f);
    if (def == nullptr) continue;  // a call says so
    for (const pb::NodeDef& n : def->node_def()) {
      const OpDef* const op = OpRegistry::Global()->Find(n.op());
      if (op == nullptr) {
        visit(n.op());
      } else if (op->is_stateful && HasAny(EffectsOf(*op), kOnce) &&
                 !IsLocal(n.op())) {
        return RunsOnce(n.name(), n.op(), f);
      }
      for (const auto& [key, value] : n.attr()) {
        if (value.has_func()) visit(value.func().name());
        for (const pb::NameAttrList& g : value.list().func()) visit(g.name());
      }
    }
  }
  return OkStatus();
}

// The same for a node.
Status CheckRunsAgain(const FunctionLibrary& library, const Node& n,
                      const std::string& function) {
  absl::flat_hash_set<std::string> seen;
  if (IsFunctionCall(n)) {
    return CheckRunsAgain(library, n.type_string(), &seen);
  }
  if (n.op_def().is_stateful && HasAny(n.effects(), kOnce) &&
      !IsLocal(n.type_string())) {
    return RunsOnce(n.name(), n.type_string(), function);
  }
  for (const auto& [key, value] : n.attrs()) {
    if (const auto* f = value.Get<NameAttrList>()) {
      HR_RETURN_IF_ERROR(CheckRunsAgain(library, f->name, &seen));
    } else if (const auto* list = value.Get<std::vector<NameAttrList>>()) {
      for (const NameAttrList& f : *list) {
        HR_RETURN_IF_ERROR(CheckRunsAgain(library, f.name, &seen));
      }
    }
  }
  return OkStatus();
}

// The gradients of functions that this thread is making, outermost first.
// Functions that call each other many times would take time without end.
struct InProgress {
  std::vector<std::string> names;
  int made = 0;  // since the first of these
};
constexpr size_t kMaxDepth = 100;
constexpr int kMaxMade = 10'000;

Status Enter(const std::string& function, InProgress* now) {
  if (now->names.empty()) now->made = 0;
  if (std::find(now->names.begin(), now->names.end(), function) !=
      now->names.end()) {
    return errors::Unimplemented("gradient of function '", function,
                                 "', which calls itself");
  }
  if (now->names.size() >= kMaxDepth || ++now->made > kMaxMade) {
    return errors::ResourceExhausted(
        "gradient of function '", function, "': wanted at most ", kMaxDepth,
        " calls inside each other and ", kMaxMade, " in all");
  }
  now->names.push_back(function);
  return OkStatus();
}

StatusOr<Node*> AddArgument(Graph* graph, DataType dtype, int index) {
  NodeDef def;
  def.op = "_Arg";
  def.name = graph->UniqueName(StrCat("arg_", index));
  def.attrs.Set("T", BaseType(dtype));
  def.attrs.Set("index", index);
  return graph->AddNode(std::move(def), {});
}

StatusOr<Endpoint> AddTo(Graph* graph, const char* op,
                         absl::Span<const Endpoint> inputs,
                         AttrMap attrs = {}) {
  NodeDef def;
  def.op = op;
  def.name = graph->UniqueName(op);
  def.attrs = std::move(attrs);
  HR_ASSIGN_OR_RETURN(Node* const n, graph->AddNode(std::move(def), inputs));
  return Endpoint{n, 0};
}

}  // namespace

StatusOr<NameAttrList> AddFunction(FunctionLibrary* library,
                                   const std::string& name,
                                   absl::Span<const Endpoint> inputs,
                                   absl::Span<const Endpoint> outputs,
                                   const Graph& graph, bool* is_stateful) {
  FunctionParts parts;
  parts.inputs.assign(inputs.begin(), inputs.end());
  parts.outputs.assign(outputs.begin(), outputs.end());
  std::vector<Node*> roots;
  for (const Endpoint& e : outputs) roots.push_back(e.node);
  const std::vector<bool> needed = ReachableBackwards(graph, roots);
  graph.ForEachNode([&](Node* n) {
    if (needed[n->id()] && !n->IsArg() && !n->IsRetval()) {
      parts.body.push_back(n);
    }
  });
  // Another function may have the name.
  constexpr int kTries = 100'000;
  for (int i = 0; i < kTries; ++i) {
    parts.name = i == 0 ? name : StrCat(name, "_", i);
    pb::FunctionDef def;
    HR_RETURN_IF_ERROR(MakeFunctionDef(parts, &def));
    if (!library->Add(def).ok()) continue;
    if (is_stateful != nullptr) *is_stateful = def.signature().is_stateful();
    return NameAttrList{.name = parts.name};
  }
  return errors::ResourceExhausted("no name is free for function '", name, "'");
}

StatusOr<GradientFunction> GradientFunction::Build(
    const std::shared_ptr<FunctionLibrary>& library, const NameAttrList& f,
    const GraphVersions& versions, const std::vector<bool>& needs,
    const std::vector<bool>& has_dy, const GradientOptions& outer,
    absl::Span<const PartialTensorShape> shapes) {
  static thread_local InProgress in_progress;
  HR_RETURN_IF_ERROR(Enter(f.name, &in_progress));
  const auto leave = absl::MakeCleanup([] { in_progress.names.pop_back(); });
  GradientFunction out;
  out.library_ = library;
  out.function_ = f.name;
  HR_ASSIGN_OR_RETURN(
      out.body_,
      BuildFunctionBody(library, f.name,
                        f.attrs == nullptr ? AttrMap() : *f.attrs, versions));
  FunctionBody& body = out.body_;
  out.graph_ = std::move(body.graph);
  Graph* const graph = out.graph_.get();
  const size_t n = body.args.size();
  if (needs.size() != n || has_dy.size() != body.rets.size()) {
    return errors::InvalidArgument(
        "gradient of function '", f.name, "': it has ", n, " arguments and ",
        body.rets.size(), " results, but is called with ", needs.size(),
        " and ", has_dy.size());
  }
  if (shapes.size() == n) {
    for (size_t i = 0; i < n; ++i) {
      graph->SetOutputShape(body.args[i], 0, shapes[i]);
    }
    std::vector<Node*> order;
    HR_RETURN_IF_ERROR(TopologicalOrder(*graph, &order));
    for (Node* node : order) {
      if (!node->IsArg()) HR_RETURN_IF_ERROR(graph->InferShapes(node));
    }
  }
  out.forward_ids_ = graph->num_node_ids();
  std::vector<Endpoint> ys, xs;
  std::vector<int> x_arguments;
  GradientOptions options;
  options.scope = graph->UniqueName("gradients");
  options.custom = outer.custom;
  options.function_body = out.graph_;
  for (size_t i = 0; i < has_dy.size(); ++i) {
    if (!has_dy[i]) continue;
    const Edge* const y = body.rets[i]->input_edge(0);
    HR_ASSIGN_OR_RETURN(Node* const dy,
                        AddArgument(graph, body.ret_types[i],
                                    static_cast<int>(n + out.dys_.size())));
    graph->SetOutputShape(dy, 0, y->src()->output_shape(y->src_output()));
    out.dys_.push_back(dy);
    ys.push_back({y->src(), y->src_output()});
    options.grad_ys.push_back({.dense = {dy, 0}});
  }
  for (size_t i = 0; i < n; ++i) {
    if (!needs[i]) continue;
    xs.push_back({body.args[i], 0});
    x_arguments.push_back(static_cast<int>(i));
  }
  out.dxs_.resize(n);
  std::vector<Gradient> dxs;
  HR_RETURN_IF_ERROR(
      Annotate(AddSymbolicGradients(graph, ys, xs, options, &dxs),
               StrCat(" (in the gradient of function '", f.name, "')")));
  for (size_t i = 0; i < xs.size(); ++i) {
    if (dxs[i].IsSparse()) {
      HR_ASSIGN_OR_RETURN(dxs[i].dense,
                          DensifyGradient(graph, options, dxs[i]));
      dxs[i] = {.dense = dxs[i].dense};
    }
    out.dxs_[x_arguments[i]] = dxs[i];
  }
  return out;
}

DataType GradientFunction::dtype(int i) const {
  if (Depends(i)) {
    const Endpoint& e = dxs_[i].dense;
    return BaseType(e.node->output_type(e.index));
  }
  const DataType own = BaseType(body_.arg_types[i]);
  return own == DT_RESOURCE ? DT_INVALID : own;
}

bool GradientFunction::Passes(int i) const {
  const Node* n = body_.rets[i]->input_edge(0)->src();
  while (n->IsIdentity()) n = n->input_edge(0)->src();
  return n == body_.args[i];
}

StatusOr<NameAttrList> GradientFunction::Finish(
    const std::vector<int>& arguments, const DataTypeVector& types) {
  Graph* const graph = graph_.get();
  std::vector<Endpoint> inputs, outputs;
  for (Node* n : body_.args) inputs.push_back({n, 0});
  for (Node* n : dys_) inputs.push_back({n, 0});
  for (size_t k = 0; k < arguments.size(); ++k) {
    const int i = arguments[k];
    const Endpoint x{body_.args[i], 0};
    Endpoint dx = dxs_[i].dense;
    if (dx.node == nullptr && BaseType(body_.arg_types[i]) != DT_RESOURCE) {
      HR_ASSIGN_OR_RETURN(dx, AddTo(graph, "ZerosLike", {x}));
    } else if (dx.node == nullptr) {
      HR_ASSIGN_OR_RETURN(const Endpoint shape,
                          AddTo(graph, "VariableShape", {x}));
      HR_ASSIGN_OR_RETURN(
          const Endpoint zero,
          AddTo(graph, "Const", {},
                {{"dtype", DT_FLOAT}, {"value", Tensor::Scalar<float>(0)}}));
      HR_ASSIGN_OR_RETURN(const Endpoint of_type,
                          AddTo(graph, "Cast", {zero}, {{"DstT", types[k]}}));
      HR_ASSIGN_OR_RETURN(dx, AddTo(graph, "Fill", {shape, of_type}));
    }
    outputs.push_back(dx);
  }
  std::vector<Node*> roots;
  for (const Endpoint& e : outputs) roots.push_back(e.node);
  const std::vector<bool> needed = ReachableBackwards(*graph, roots);
  for (int id = 0; id < forward_ids_; ++id) {
    const Node* const n = graph->node(id);
    if (n == nullptr || !needed[id] || n->IsArg() || n->IsRetval()) continue;
    HR_RETURN_IF_ERROR(CheckRunsAgain(*library_, *n, function_));
  }
  return AddFunction(library_.get(), StrCat(function_, "_grad"), inputs,
                     outputs, *graph, &is_stateful_);
}

namespace {

using G = GradientContext;

// What the gradients of calls, branches and loops share: the library, the
// arguments, and which gradients there are and are wanted.
struct Site {
  Site(G& g, int first, const std::vector<Expr>& arguments)
      : library(g.graph()->shared_functions()),
        versions(g.graph()->versions()),
        x(arguments) {
    for (size_t i = 0; i < x.size(); ++i) {
      needs.push_back(g.Needs(static_cast<int>(i) + first));
      shapes.push_back(x[i].shape());
    }
    for (int i = 0; i < g.num_outputs(); ++i) {
      const DataType dtype = BaseType(g.node().output_type(i));
      has_dy.push_back(g.HasDy(i) && (IsNumeric(dtype) || dtype == DT_VARIANT));
      if (has_dy.back()) dy.push_back(g.dy(i));
    }
  }
  // x, dy.
  std::vector<Expr> Inputs() const {
    std::vector<Expr> all = x;
    all.insert(all.end(), dy.begin(), dy.end());
    return all;
  }

  const std::shared_ptr<FunctionLibrary> library;
  const GraphVersions versions;
  const std::vector<Expr> x;
  std::vector<bool> needs, has_dy;
  std::vector<PartialTensorShape> shapes;
  std::vector<Expr> dy;
};

// Gives input first + arguments[k] output k of `found`.
void SetAll(G& g, int first, const std::vector<int>& arguments,
            const Expr& found) {
  for (size_t k = 0; k < arguments.size(); ++k) {
    g.SetDx(first + arguments[k], found.out(static_cast<int>(k)));
  }
}

// Of a node that calls one of several functions: `branches`, with inputs from
// `first` on. `call` makes the node that calls one of their gradients.
template <typename Call>
void BranchesGradient(G& g, int first,
                      const std::vector<NameAttrList>& branches,
                      const Call& call) {
  const Site site(g, first, g.Inputs(first, g.num_inputs()));
  if (!g.status().ok()) return;
  std::vector<GradientFunction> built;
  for (const NameAttrList& f : branches) {
    StatusOr<GradientFunction> one =
        GradientFunction::Build(site.library, f, site.versions, site.needs,
                                site.has_dy, g.options(), site.shapes);
    if (!one.ok()) return g.Fail(one.status());
    built.push_back(*std::move(one));
  }
  // Gradients that some branch has; the others give zeros.
  std::vector<int> arguments;
  DataTypeVector types;
  for (size_t i = 0; i < site.x.size(); ++i) {
    for (const GradientFunction& f : built) {
      const int at = static_cast<int>(i);
      if (!site.needs[i] || !f.Depends(at)) continue;
      arguments.push_back(at);
      types.push_back(f.dtype(at));
      break;
    }
  }
  if (arguments.empty()) return;
  std::vector<NameAttrList> gradients;
  bool is_stateful = false;
  for (GradientFunction& f : built) {
    StatusOr<NameAttrList> name = f.Finish(arguments, types);
    if (!name.ok()) return g.Fail(name.status());
    gradients.push_back(*std::move(name));
    is_stateful |= f.is_stateful();
  }
  const Expr found =
      call(gradients, site.Inputs(), is_stateful,
           AttrValue(std::vector<DataType>(types.begin(), types.end())));
  SetAll(g, first, arguments, found);
}

// Of a node that calls `f` with its inputs from `first` on.
void CallGradient(G& g, int first, const NameAttrList& f) {
  const auto library = g.graph()->shared_functions();
  const std::string given =
      library == nullptr ? "" : library->FindGradient(f.name);
  if (given.empty()) {
    return BranchesGradient(
        g, first, {f},
        [&](const std::vector<NameAttrList>& fs, const std::vector<Expr>& in,
            bool stateful, AttrValue types) {
          return g.Op(stateful ? "StatefulPartitionedCall" : "PartitionedCall",
                      in, {{"f", fs[0]}, {"Tout", std::move(types)}});
        });
  }
  // The library's: of all arguments, from the gradients of all results.
  std::vector<Expr> inputs = g.Inputs(first, g.num_inputs());
  DataTypeVector types;
  for (const Expr& x : inputs) types.push_back(x.dtype());
  for (int i = 0; i < g.num_outputs(); ++i) {
    const Expr dy = g.dy(i);
    inputs.push_back(dy ? dy : g.Op("ZerosLike", {g.y(i)}));
  }
  const auto def = library->Find(given);
  if (def == nullptr) {
    return g.Fail(errors::NotFound("gradient function '", given,
                                   "' of function '", f.name,
                                   "' is not in the library"));
  }
  if (def->signature().output_arg_size() != static_cast<int>(types.size())) {
    return g.Fail(errors::InvalidArgument(
        "gradient function '", given, "' of function '", f.name, "' has ",
        def->signature().output_arg_size(), " results, wanted ", types.size(),
        ", one for each argument"));
  }
  const Expr found =
      g.Op(def->signature().is_stateful() ? "StatefulPartitionedCall"
                                          : "PartitionedCall",
           inputs,
           {{"f", NameAttrList{.name = given, .attrs = f.attrs}},
            {"Tout", std::vector<DataType>(types.begin(), types.end())}});
  for (size_t i = 0; i < types.size(); ++i) {
    const int at = first + static_cast<int>(i);
    if (g.Needs(at)) g.SetDx(at, found.out(static_cast<int>(i)));
  }
}

REGISTER_GRADIENTS(
    +[](G& g) { CallGradient(g, 0, g.Attr<NameAttrList>("f")); },
    "PartitionedCall", "StatefulPartitionedCall");
REGISTER_GRADIENT("RemoteCall",
                  [](G& g) { CallGradient(g, 1, g.Attr<NameAttrList>("f")); });
REGISTER_GRADIENT("SymbolicGradient", [](G& g) {
  StatusOr<NameAttrList> f =
      SymbolicGradientOf(g.graph()->shared_functions(),
                         g.Attr<NameAttrList>("f"), g.graph()->versions());
  if (!f.ok()) return g.Fail(f.status());
  CallGradient(g, 0, *f);
});

constexpr auto kIfGrad = [](G& g) {
  BranchesGradient(g, 1,
                   {g.Attr<NameAttrList>("then_branch"),
                    g.Attr<NameAttrList>("else_branch")},
                   [&](const std::vector<NameAttrList>& fs,
                       std::vector<Expr> in, bool stateful, AttrValue types) {
                     in.insert(in.begin(), g.x(0));
                     return g.Op(stateful ? "If" : "StatelessIf", in,
                                 {{"then_branch", fs[0]},
                                  {"else_branch", fs[1]},
                                  {"Tcond", g.x(0).dtype()},
                                  {"Tout", std::move(types)}});
                   });
};
REGISTER_GRADIENTS(kIfGrad, "If", "StatelessIf");

constexpr auto kCaseGrad = [](G& g) {
  BranchesGradient(g, 1, g.Attr<std::vector<NameAttrList>>("branches"),
                   [&](const std::vector<NameAttrList>& fs,
                       std::vector<Expr> in, bool stateful, AttrValue types) {
                     in.insert(in.begin(), g.x(0));
                     return g.Op(
                         stateful ? "Case" : "StatelessCase", in,
                         {{"branches", fs}, {"Tout", std::move(types)}});
                   });
};
REGISTER_GRADIENTS(kCaseGrad, "Case", "StatelessCase");

// Builds a function that calls another: its arguments, and what it adds.
class Wrapper {
 public:
  Wrapper(const Site& site, G* g) : site_(site), g_(g) {
    graph_.versions() = site.versions;
    graph_.set_functions(site.library);
  }
  Endpoint Arg(DataType dtype) {
    StatusOr<Node*> n =
        AddArgument(&graph_, dtype, static_cast<int>(inputs_.size()));
    if (!n.ok()) {
      g_->Fail(n.status());
      return {};
    }
    inputs_.push_back({*n, 0});
    return inputs_.back();
  }
  Endpoint Op(const char* op, std::vector<Endpoint> inputs,
              AttrMap attrs = {}) {
    for (const Endpoint& e : inputs) {
      if (e.node == nullptr) return {};  // failed before
    }
    StatusOr<Endpoint> e = AddTo(&graph_, op, inputs, std::move(attrs));
    if (e.ok()) return *e;
    g_->Fail(e.status());
    return {};
  }
  Endpoint Int(int32_t value) {
    return Op("Const", {},
              {{"dtype", DT_INT32}, {"value", Tensor::Scalar<int32_t>(value)}});
  }
  NameAttrList Finish(const std::string& name, std::vector<Endpoint> outputs) {
    if (!g_->status().ok()) return {};
    StatusOr<NameAttrList> f = AddFunction(site_.library.get(), name, inputs_,
                                           outputs, graph_, nullptr);
    if (f.ok()) return *f;
    g_->Fail(f.status());
    return {};
  }
  bool failed() const { return !g_->status().ok(); }

 private:
  const Site& site_;
  G* const g_;
  Graph graph_;
  std::vector<Endpoint> inputs_;
};

AttrValue Types(const std::vector<DataType>& types) { return AttrValue(types); }

Endpoint Out(const Endpoint& e, size_t i) {
  return {e.node, static_cast<int>(i)};
}

// While: the loop runs again and keeps in lists what its variables were before
// each iteration; variables that the body passes on are not kept. Then a loop
// backwards takes them from the lists.
constexpr auto kWhileGrad = [](G& g) {
  const auto body = g.Attr<NameAttrList>("body");
  const auto cond = g.Attr<NameAttrList>("cond");
  const int n = g.num_inputs();
  Site site(g, 0, g.Inputs(0, n));
  if (!g.status().ok()) return;
  if (site.library == nullptr) {
    return g.Fail(errors::NotFound("Function ", body.name, " is not defined."));
  }
  absl::flat_hash_set<std::string> seen;
  for (const NameAttrList& f : {body, cond}) {
    if (Status s = CheckRunsAgain(*site.library, f.name, &seen); !s.ok()) {
      return g.Fail(s);
    }
  }
  // Which variables have gradients: those with one at the end, and those that
  // these depend on in the iteration before.
  std::vector<bool> wanted(n), has = site.has_dy;
  for (int i = 0; i < n; ++i) wanted[i] = IsTrainable(site.x[i].dtype());
  std::unique_ptr<GradientFunction> gradient;
  for (;;) {
    StatusOr<GradientFunction> built = GradientFunction::Build(
        site.library, body, site.versions, wanted, has, g.options());
    if (!built.ok()) return g.Fail(built.status());
    gradient = std::make_unique<GradientFunction>(*std::move(built));
    bool more = false;
    for (int i = 0; i < n; ++i) {
      if (has[i] || !gradient->Depends(i) || site.x[i].dtype() == DT_RESOURCE) {
        continue;
      }
      has[i] = more = true;
    }
    if (!more) break;
  }
  std::vector<int> arguments;  // whose gradients the body's gradient gives
  DataTypeVector types;
  std::vector<bool> passes(n);
  for (int i = 0; i < n; ++i) {
    passes[i] = gradient->Passes(i);
    const bool resource = site.x[i].dtype() == DT_RESOURCE;
    if (resource && gradient->Depends(i) && !passes[i]) {
      return g.Fail(errors::Unimplemented(
          "gradient of ", g.node().type_string(), " '", g.node().name(),
          "': variable ", i, " is a resource that the body replaces"));
    }
    if (!has[i] && !(resource && gradient->Depends(i))) continue;
    arguments.push_back(i);
    types.push_back(gradient->dtype(i));
  }
  StatusOr<NameAttrList> body_gradient = gradient->Finish(arguments, types);
  if (!body_gradient.ok()) return g.Fail(body_gradient.status());

  std::vector<DataType> x_types, result_types(types.begin(), types.end());
  std::vector<int> kept;  // variables that change
  for (int i = 0; i < n; ++i) {
    x_types.push_back(site.x[i].dtype());
    if (!passes[i]) kept.push_back(i);
  }
  const size_t lists = kept.size();

  // Forwards: the number of iterations, the variables, the lists.
  NameAttrList again_cond, again_body;
  const auto variables = [&](Wrapper& w, Endpoint* count,
                             std::vector<Endpoint>* x,
                             std::vector<Endpoint>* list) {
    *count = w.Arg(DT_INT32);
    for (const DataType t : x_types) x->push_back(w.Arg(t));
    for (size_t k = 0; k < lists; ++k) list->push_back(w.Arg(DT_VARIANT));
  };
  {
    Wrapper w(site, &g);
    Endpoint count;
    std::vector<Endpoint> x, list;
    variables(w, &count, &x, &list);
    const Endpoint holds = w.Op("StatefulPartitionedCall", x,
                                {{"f", cond}, {"Tout", Types({DT_BOOL})}});
    again_cond = w.Finish(StrCat(cond.name, "_again"), {holds});
  }
  {
    Wrapper w(site, &g);
    Endpoint count;
    std::vector<Endpoint> x, list, out;
    variables(w, &count, &x, &list);
    out.push_back(w.Op("AddV2", {count, w.Int(1)}));
    const Endpoint next = w.Op("StatefulPartitionedCall", x,
                               {{"f", body}, {"Tout", Types(x_types)}});
    for (int i = 0; i < n; ++i) {
      out.push_back(passes[i] ? x[i] : Out(next, i));
    }
    for (size_t k = 0; k < lists && !w.failed(); ++k) {
      out.push_back(w.Op("TensorListPushBack", {list[k], x[kept[k]]},
                         {{"element_dtype", x_types[kept[k]]}}));
    }
    again_body = w.Finish(StrCat(body.name, "_again"), out);
  }
  if (!g.status().ok()) return;
  std::vector<Expr> start = {g.Int(0)};
  start.insert(start.end(), site.x.begin(), site.x.end());
  for (const int i : kept) {
    start.push_back(g.Op("EmptyTensorList", {g.Int(-1), g.Int(-1)},
                         {{"element_dtype", x_types[i]}}));
  }
  const auto loop = [&](const std::vector<Expr>& in, const NameAttrList& c,
                        const NameAttrList& b) {
    std::vector<PartialTensorShape> unknown(in.size());
    return g.Op("While", in,
                {{"cond", c}, {"body", b}, {"output_shapes", unknown}});
  };
  const Expr forward = loop(start, again_cond, again_body);

  // Backwards: the number of iterations left, the gradients, the lists, the
  // variables that do not change.
  NameAttrList back_cond, back_body;
  std::vector<int> constant;
  for (int i = 0; i < n; ++i) {
    if (passes[i]) constant.push_back(i);
  }
  const auto back_variables =
      [&](Wrapper& w, Endpoint* left, std::vector<Endpoint>* dx,
          std::vector<Endpoint>* list, std::vector<Endpoint>* same) {
        *left = w.Arg(DT_INT32);
        for (const DataType t : types) dx->push_back(w.Arg(t));
        for (size_t k = 0; k < lists; ++k) list->push_back(w.Arg(DT_VARIANT));
        for (const int i : constant) same->push_back(w.Arg(x_types[i]));
      };
  {
    Wrapper w(site, &g);
    Endpoint left;
    std::vector<Endpoint> dx, list, same;
    back_variables(w, &left, &dx, &list, &same);
    back_cond = w.Finish(StrCat(cond.name, "_back"),
                         {w.Op("Greater", {left, w.Int(0)})});
  }
  {
    Wrapper w(site, &g);
    Endpoint left;
    std::vector<Endpoint> dx, list, same, out, in(n);
    back_variables(w, &left, &dx, &list, &same);
    out.push_back(w.Op("Sub", {left, w.Int(1)}));
    std::vector<Endpoint> shorter;
    for (size_t k = 0; k < lists; ++k) {
      const Endpoint pop = w.Op("TensorListPopBack", {list[k], w.Int(-1)},
                                {{"element_dtype", x_types[kept[k]]}});
      shorter.push_back(pop);
      in[kept[k]] = Out(pop, 1);
    }
    for (size_t k = 0; k < constant.size(); ++k) in[constant[k]] = same[k];
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (has[arguments[k]]) in.push_back(dx[k]);
    }
    const Endpoint found =
        w.Op("StatefulPartitionedCall", in,
             {{"f", *body_gradient}, {"Tout", Types(result_types)}});
    for (size_t k = 0; k < arguments.size(); ++k) {
      // Each iteration adds to the gradient of a variable of the graph.
      out.push_back(has[arguments[k]] ? Out(found, k)
                                      : w.Op("AddV2", {dx[k], Out(found, k)}));
    }
    out.insert(out.end(), shorter.begin(), shorter.end());
    out.insert(out.end(), same.begin(), same.end());
    back_body = w.Finish(StrCat(body.name, "_back"), out);
  }
  if (!g.status().ok()) return;
  std::vector<Expr> back = {forward.out(0)};
  for (size_t k = 0; k < arguments.size(); ++k) {
    const int i = arguments[k];
    if (!has[i]) {
      back.push_back(g.Op(
          "Fill", {g.Op("VariableShape", {site.x[i]}), g.Scalar(types[k], 0)}));
    } else if (site.has_dy[i]) {
      back.push_back(g.dy(i));
    } else {
      back.push_back(g.Op("ZerosLike", {g.y(i)}));
    }
  }
  for (size_t k = 0; k < lists; ++k) {
    back.push_back(forward.out(static_cast<int>(1 + n + k)));
  }
  for (const int i : constant) back.push_back(site.x[i]);
  const Expr backward = loop(back, back_cond, back_body);
  for (size_t k = 0; k < arguments.size(); ++k) {
    const int i = arguments[k];
    if (g.Needs(i)) g.SetDx(i, backward.out(static_cast<int>(1 + k)));
  }
};
REGISTER_GRADIENTS(kWhileGrad, "While", "StatelessWhile");

}  // namespace

void FunctionCallGradient(GradientContext& g) {
  NameAttrList f{.name = g.node().type_string()};
  f.attrs = std::make_shared<AttrMap>(g.node().attrs());
  CallGradient(g, 0, f);
}

StatusOr<NameAttrList> SymbolicGradientOf(
    const std::shared_ptr<FunctionLibrary>& library, const NameAttrList& f,
    const GraphVersions& versions) {
  if (library == nullptr) {
    return errors::NotFound("Function ", f.name, " is not defined.");
  }
  if (std::string given = library->FindGradient(f.name); !given.empty()) {
    return NameAttrList{.name = std::move(given), .attrs = f.attrs};
  }
  HR_ASSIGN_OR_RETURN(
      const FunctionBody body,
      BuildFunctionBody(library, f.name,
                        f.attrs == nullptr ? AttrMap() : *f.attrs, versions));
  std::vector<bool> needs, has_dy;
  std::vector<int> all;
  DataTypeVector types;
  for (const DataType t : body.arg_types) {
    needs.push_back(IsTrainable(t));
    all.push_back(static_cast<int>(all.size()));
    types.push_back(BaseType(t));
  }
  // Results without gradients have arguments, too, which are not read.
  for (size_t i = 0; i < body.ret_types.size(); ++i) has_dy.push_back(true);
  HR_ASSIGN_OR_RETURN(GradientFunction gradient,
                      GradientFunction::Build(library, f, versions, needs,
                                              has_dy, GradientOptions()));
  return gradient.Finish(all, types);
}

}  // namespace headrace
