// Loading a model for a command, and telling its inputs and outputs.
#ifndef HEADRACE_CLI_MODEL_H_
#define HEADRACE_CLI_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace headrace::cli {

// A GraphDef file, binary or text.
Status LoadModel(const std::string& path, std::shared_ptr<Graph>* graph);

// Placeholders, in order of id.
std::vector<Endpoint> ModelInputs(const Graph& graph);
// Outputs that nothing in the graph reads, of nodes that compute something.
std::vector<Endpoint> ModelOutputs(const Graph& graph);

// "input_1:0 float [?,32,32,3]".
std::string Describe(const Endpoint& e);

// "a" or "a:0" in `graph`; NotFound with similar names.
StatusOr<Endpoint> FindTensor(const Graph& graph, const std::string& name);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_MODEL_H_
