#include "headrace/cc/gradients.h"

#include "cc/scope_data.h"
#include "headrace/gradients.h"

namespace headrace {
namespace {

Status TakeList(const Scope& scope, const std::vector<Output>& list,
                const char* what, std::vector<Endpoint>* taken) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].empty()) {
      return errors::InvalidArgument("AddSymbolicGradients: ", what, "[", i,
                                     "] is an empty Output");
    }
    if (list[i].op().scope_data()->shared->graph != scope.graph()) {
      return errors::InvalidArgument("AddSymbolicGradients: ", what, "[", i,
                                     "], ", list[i].name(),
                                     ", belongs to another graph");
    }
    taken->push_back(list[i].endpoint());
  }
  return OkStatus();
}

Status Build(const Scope& scope, const std::vector<Output>& ys,
             const std::vector<Output>& xs, const std::vector<Output>& grad_ys,
             GradientOptions* options, std::vector<Gradient>* gradients) {
  HR_RETURN_IF_ERROR(scope.status());
  std::vector<Endpoint> y_ends, x_ends, grad_ends;
  HR_RETURN_IF_ERROR(TakeList(scope, ys, "ys", &y_ends));
  HR_RETURN_IF_ERROR(TakeList(scope, xs, "xs", &x_ends));
  HR_RETURN_IF_ERROR(TakeList(scope, grad_ys, "grad_ys", &grad_ends));
  if (!grad_ends.empty() && grad_ends.size() != y_ends.size()) {
    return errors::InvalidArgument("AddSymbolicGradients: got ",
                                   grad_ends.size(), " grad_ys for ",
                                   y_ends.size(), " ys");
  }
  for (const Endpoint& e : grad_ends) {
    options->grad_ys.push_back({.dense = e});
  }
  options->scope =
      scope.data()->shared->Unique(StrCat(scope.data()->prefix, "gradients"));
  const std::shared_ptr<Graph>& graph = scope.graph();
  MutexLock lock(&graph->mu());
  return AddSymbolicGradients(graph.get(), y_ends, x_ends, *options, gradients);
}

Output ToOutput(const Scope& scope, const Endpoint& e) {
  if (e.node == nullptr) return Output();
  return Output(Operation(e.node, internal::Plain(scope.data()).data()),
                e.index);
}

}  // namespace

Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& ys,
                            const std::vector<Output>& xs,
                            std::vector<Output>* grad_xs) {
  return AddSymbolicGradients(scope, ys, xs, {}, grad_xs);
}

Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& ys,
                            const std::vector<Output>& xs,
                            const std::vector<Output>& grad_ys,
                            std::vector<Output>* grad_xs) {
  GradientOptions options;
  options.must_be_connected = true;
  std::vector<Gradient> gradients;
  HR_RETURN_IF_ERROR(Build(scope, ys, xs, grad_ys, &options, &gradients));
  grad_xs->clear();
  for (Gradient& g : gradients) {
    if (g.IsSparse()) {
      MutexLock lock(&scope.graph()->mu());
      HR_ASSIGN_OR_RETURN(g.dense,
                          DensifyGradient(scope.graph().get(), options, g));
    }
    grad_xs->push_back(ToOutput(scope, g.dense));
  }
  return OkStatus();
}

Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& ys,
                            const std::vector<Output>& xs,
                            const std::vector<Output>& grad_ys,
                            std::vector<GradientOutput>* grad_xs, bool gate) {
  GradientOptions options;
  options.gate = gate;
  std::vector<Gradient> gradients;
  HR_RETURN_IF_ERROR(Build(scope, ys, xs, grad_ys, &options, &gradients));
  grad_xs->clear();
  for (const Gradient& g : gradients) {
    if (g.IsSparse()) {
      grad_xs->push_back({Output(), ToOutput(scope, g.values),
                          ToOutput(scope, g.indices),
                          ToOutput(scope, g.dense_shape)});
    } else {
      grad_xs->push_back({ToOutput(scope, g.dense), {}, {}, {}});
    }
  }
  return OkStatus();
}

}  // namespace headrace
