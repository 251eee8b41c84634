// Gradients in place. Errors are those of TensorFlow's C API, which differ from
// those of its Python API: an op without a gradient is an error unless
// TensorFlow's C++ says that it has none.
#include "headrace/gradients.h"

#include "absl/container/flat_hash_set.h"
#include "base/exceptions.h"
#include "c_api/internal.h"
#include "graph/algorithm.h"

using headrace::Endpoint;
using headrace::Gradient;
using headrace::GradientContext;
using headrace::GradientEntry;
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

// Ops of which TensorFlow's C++ says that no gradient goes through them.
bool StopsGradients(const std::string& op) {
  static const auto* const ops =
      new absl::flat_hash_set<std::string>{"ApproximateEqual",
                                           "BroadcastGradientArgs",
                                           "ConcatOffset",
                                           "Const",
                                           "DeleteSessionTensor",
                                           "EditDistance",
                                           "Equal",
                                           "Floor",
                                           "GetSessionHandle",
                                           "GetSessionHandleV2",
                                           "GetSessionTensor",
                                           "Greater",
                                           "GreaterEqual",
                                           "InvertPermutation",
                                           "Less",
                                           "LessEqual",
                                           "LogicalAnd",
                                           "LogicalNot",
                                           "LogicalOr",
                                           "NonMaxSuppression",
                                           "NonMaxSuppressionV2",
                                           "NotEqual",
                                           "OneHot",
                                           "QueueClose",
                                           "QueueDequeue",
                                           "QueueDequeueMany",
                                           "QueueDequeueUpTo",
                                           "QueueEnqueue",
                                           "QueueEnqueueMany",
                                           "QueueSize",
                                           "Rank",
                                           "Shape",
                                           "ShapeN",
                                           "Size",
                                           "Stack",
                                           "StackClose",
                                           "StackPop",
                                           "StackPush",
                                           "StopGradient",
                                           "ZerosLike"};
  return ops->contains(op);
}

Status CheckHasGradient(const Node& n) {
  const GradientEntry* const entry =
      headrace::GradientRegistry::Find(n.type_string());
  if (entry == nullptr || entry->fn != nullptr ||
      StopsGradients(n.type_string())) {
    return OkStatus();
  }
  return errors::NotFound("No gradient defined for operation '", n.name(),
                          "' (op type: ", n.type_string(),
                          "): ", entry->reason);
}

// By id: the nodes that ys depend on, whatever the types of the tensors
// between.
std::vector<bool> NodesBehind(const Graph& graph, const EndpointList& ys) {
  std::vector<Node*> roots;
  for (const Endpoint& y : ys) roots.push_back(y.node);
  return headrace::ReachableBackwards(graph, roots, /*along_control=*/false);
}

// Errors that a walk along trainable tensors does not find.
Status CheckConnected(const Graph& graph, const EndpointList& ys,
                      const EndpointList& xs) {
  const auto behind = NodesBehind(graph, ys);
  for (const Endpoint& x : xs) {
    if (!behind[x.node->id()]) {
      return errors::InvalidArgument(
          "Cannot compute the partial derivative for node '", x.node->name(),
          "' as it's unreachable from the output node(s).");
    }
  }
  for (const Endpoint& y : ys) {
    const Status s = CheckHasGradient(*y.node);
    if (s.ok()) continue;
    const auto behind_y = NodesBehind(graph, {y});
    for (const Endpoint& x : xs) {
      if (x.node != y.node && behind_y[x.node->id()]) return s;
    }
  }
  return OkStatus();
}

// InvalidArgument if "prefix/name" could not be imported.
Status CheckPrefix(const Graph& graph, const std::string& prefix) {
  if (prefix.empty() ||
      !headrace::IsValidNodeName(prefix, /*allow_internal=*/false)) {
    return errors::InvalidArgument(
        "prefix [", prefix,
        "] is no name scope: wanted [A-Za-z0-9.][A-Za-z0-9_.\\/>-]*");
  }
  if (const Node* const n = UserOf(graph, prefix)) {
    return errors::InvalidArgument(
        "prefix [", prefix,
        "] conflicts with existing node in the graph named [", n->name(), "]");
  }
  return OkStatus();
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
  options.custom = [](GradientContext&, Node* n, const std::string&,
                      absl::Span<const Gradient>, std::vector<Gradient>*,
                      bool* handled) {
    *handled = false;
    return CheckHasGradient(*n);
  };
  for (const Endpoint& e : grad_ys) options.grad_ys.push_back({.dense = e});
  if (prefix != nullptr) {
    options.scope = prefix;
    HR_RETURN_IF_ERROR(CheckPrefix(*graph, options.scope));
  } else {
    for (int i = 1; UserOf(*graph, options.scope) != nullptr; ++i) {
      options.scope = headrace::StrCat("gradients_", i);
    }
  }
  HR_RETURN_IF_ERROR(CheckConnected(*graph, ys, xs));
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
    if (!gradients[i].IsNone()) {
      dy[i] = headrace::c_api::ToOutput(gradients[i].dense);
    }
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
