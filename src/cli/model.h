// Loads a model for a command, and finds its inputs and outputs.
#ifndef HEADRACE_CLI_MODEL_H_
#define HEADRACE_CLI_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph_def_reader.h"
#include "headrace/graph.h"
#include "headrace/meta_graph.pb.h"
#include "headrace/session.h"

namespace headrace::cli {

struct Model {
  std::shared_ptr<Graph> graph;
  // SavedModel: the inputs and outputs of the signature "serving_default", or
  // of the only signature. If there are several others, the placeholders, and
  // no outputs. Graph: the placeholders, and the unused outputs of nodes that
  // compute something. In order of id.
  std::vector<Endpoint> inputs, outputs;
  // True if the model contains values of variables.
  bool has_variables = false;
};

// The contents of a model's file or folder.
struct ModelParts {
  GraphDefParts graph_def;
  std::optional<pb::MetaGraphDef> meta_graph;  // of a SavedModel
};
Status ReadModel(const std::string& path, ModelParts* parts);
// Creates the model from its parts. Messages use `path`.
Status MakeModel(const std::string& path, ModelParts parts, Model* model);

// Of standard input for "-", else `path`.
std::string ModelFile(const std::string& path);

// Loads a GraphDef file (binary or text, "-" for standard input) or the folder
// of a SavedModel (its meta graph with the tag "serve").
Status LoadModel(const std::string& path, Model* model);

// The same, with a session. Its variables have the values from the model.
Status OpenModel(const std::string& path, const pb::ConfigProto& config,
                 Model* model, std::unique_ptr<Session>* session);

// If `status` says that variables have no value, adds advice. Returns any other
// status unchanged.
Status ExplainNoValues(const Status& status, const Model& model);

// "input_1:0 float [?,32,32,3]".
std::string Describe(const Endpoint& e);

// If `status` says that a feed is missing, adds the inputs without a value and
// how to give one.
Status ExplainNoFeed(const Status& status, const Model& model,
                     const std::vector<Session::Feed>& feeds);

// Finds "a" or "a:0" in `graph`. NotFound, with similar names.
StatusOr<Endpoint> FindTensor(const Graph& graph, const std::string& name);
// The same for a tensor to feed. NotFound, with the model's inputs.
StatusOr<Endpoint> FindFeed(const Model& model, const std::string& name);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_MODEL_H_
