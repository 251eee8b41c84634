// Gradients in place.
#include "headrace/gradients.h"

#include "base/exceptions.h"
#include "c_api/internal.h"

using headrace::Endpoint;
using headrace::Gradient;
using headrace::GradientOptions;
using headrace::Graph;
using headrace::MutexLock;
using headrace::Node;
using headrace::OkStatus;
using headrace::Status;
using headrace::c_api::EndpointList;
using headrace::c_api::Set;
namespace errors = headrace::errors;

namespace {

// A node whose name is `scope` or begins with "scope/"; null if there is none.
const Node* UserOf(const Graph& graph, const std::string& scope) {
  const Node* found = nullptr;
  graph.ForEachNode([&](const Node* n) {
    const std::string& name = n->name();
    if (found == nullptr && name.compare(0, scope.size(), scope) == 0 &&
        (name.size() == scope.size() || name[scope.size()] == '/')) {
      found = n;
    }
  });
  return found;
}

Status AddGradients(Graph* graph, const char* prefix, const TF_Output* y,
                    int ny, const TF_Output* x, int nx, const TF_Output* dx,
                    TF_Output* dy) {
  using headrace::c_api::ReadEndpoints;
  EndpointList ys, xs, grad_ys;
  HR_RETURN_IF_ERROR(ReadEndpoints("y", y, ny, &ys));
  HR_RETURN_IF_ERROR(ReadEndpoints("x", x, nx, &xs));
  if (dx != nullptr) HR_RETURN_IF_ERROR(ReadEndpoints("dx", dx, ny, &grad_ys));
  MutexLock lock(&graph->mu());
  const auto check = [&](const EndpointList& list) {
    for (const Endpoint& e : list) {
      HR_RETURN_IF_ERROR(headrace::c_api::CheckOwned(*graph, e.node));
    }
    return OkStatus();
  };
  HR_RETURN_IF_ERROR(check(ys));
  HR_RETURN_IF_ERROR(check(xs));
  HR_RETURN_IF_ERROR(check(grad_ys));

  GradientOptions options;
  options.must_be_connected = true;
  for (const Endpoint& e : grad_ys) options.grad_ys.push_back({.dense = e});
  if (prefix != nullptr) {
    options.scope = prefix;
    if (const Node* const n = UserOf(*graph, options.scope)) {
      return errors::InvalidArgument(
          "prefix [", options.scope,
          "] conflicts with existing node in the graph named [", n->name(),
          "]");
    }
  } else {
    for (int i = 1; UserOf(*graph, options.scope) != nullptr; ++i) {
      options.scope = headrace::StrCat("gradients_", i);
    }
  }
  std::vector<Gradient> gradients;
  HR_RETURN_IF_ERROR(
      headrace::AddSymbolicGradients(graph, ys, xs, options, &gradients));
  // A client of C has no slices.
  for (int i = 0; i < nx; ++i) {
    if (gradients[i].IsSparse()) {
      HR_ASSIGN_OR_RETURN(
          gradients[i].dense,
          headrace::DensifyGradient(graph, options, gradients[i]));
    }
    dy[i] = headrace::c_api::ToOutput(gradients[i].dense);
  }
  return OkStatus();
}

}  // namespace

void TF_AddGradientsWithPrefix(TF_Graph* g, const char* prefix, TF_Output* y,
                               int ny, TF_Output* x, int nx, TF_Output* dx,
                               TF_Status* status, TF_Output* dy) {
  for (int i = 0; dy != nullptr && i < nx; ++i) dy[i] = {nullptr, 0};
  if (g == nullptr || (dy == nullptr && nx > 0)) {
    return Set(status, errors::InvalidArgument(
                           "TF_AddGradients: ",
                           g == nullptr ? "the graph" : "dy", " is NULL"));
  }
  Set(status, headrace::CatchExceptions([&] {
        return AddGradients(g->graph.get(), prefix, y, ny, x, nx, dx, dy);
      }));
}

void TF_AddGradients(TF_Graph* g, TF_Output* y, int ny, TF_Output* x, int nx,
                     TF_Output* dx, TF_Status* status, TF_Output* dy) {
  TF_AddGradientsWithPrefix(g, nullptr, y, ny, x, nx, dx, status, dy);
}
