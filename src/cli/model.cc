#include "cli/model.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/importer.h"

namespace headrace::cli {

Status LoadModel(const std::string& path, std::shared_ptr<Graph>* graph) {
  auto g = std::make_shared<Graph>();
  HR_RETURN_IF_ERROR(ImportGraphDefFile(ImportOptions(), path, g.get()));
  *graph = std::move(g);
  return OkStatus();
}

std::vector<Endpoint> ModelInputs(const Graph& graph) {
  std::vector<Endpoint> inputs;
  graph.ForEachNode([&](Node* n) {
    if (absl::StartsWith(n->type_string(), "Placeholder")) {
      inputs.push_back({n, 0});
    }
  });
  return inputs;
}

std::vector<Endpoint> ModelOutputs(const Graph& graph) {
  std::vector<Endpoint> outputs;
  graph.ForEachNode([&](Node* n) {
    if (n->num_outputs() == 0 || n->IsConstant() || !n->out_edges().empty() ||
        n->num_inputs() == 0) {
      return;
    }
    outputs.push_back({n, 0});
  });
  return outputs;
}

std::string Describe(const Endpoint& e) {
  return absl::StrCat(EndpointName(e), "  ",
                      DataTypeString(e.node->output_type(e.index)), " ",
                      e.node->output_shape(e.index).DebugString());
}

StatusOr<Endpoint> FindTensor(const Graph& graph, const std::string& name) {
  std::string node;
  int index = 0;
  HR_RETURN_IF_ERROR(ParseEndpointName(name, &node, &index));
  Node* n = graph.FindNode(node);
  if (n == nullptr) {
    std::string similar;
    int count = 0;
    graph.ForEachNode([&](Node* other) {
      if (count < 5 && (absl::StrContains(other->name(), node) ||
                        absl::StrContains(node, other->name()))) {
        absl::StrAppend(&similar, count++ == 0 ? "; there is " : ", ",
                        other->name());
      }
    });
    return errors::NotFound("the model has no node '", node, "'", similar);
  }
  if (index < 0 || index >= n->num_outputs()) {
    return errors::InvalidArgument("node '", node, "' has ", n->num_outputs(),
                                   " outputs, ", name, " is none of them");
  }
  return Endpoint{n, index};
}

}  // namespace headrace::cli
