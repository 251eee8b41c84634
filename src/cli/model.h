// Loading a model for a command, and telling its inputs and outputs.
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
  // Of a SavedModel, what its signature "serving_default" says, or else the
  // only one; if there are others, placeholders and no outputs. Of a graph,
  // placeholders, and outputs that nothing reads of nodes that compute
  // something; in order of id.
  std::vector<Endpoint> inputs, outputs;
  // Whether values of variables came with it.
  bool has_variables = false;
};

// What a model's file or folder holds.
struct ModelParts {
  GraphDefParts graph_def;
  std::optional<pb::MetaGraphDef> meta_graph;  // of a SavedModel
};
Status ReadModel(const std::string& path, ModelParts* parts);
// The model of it; `path` is for messages.
Status MakeModel(const std::string& path, ModelParts parts, Model* model);

// A GraphDef file, binary or text, "-" for standard input, or the folder of a
// SavedModel, of which the meta graph with the tag "serve" is taken.
Status LoadModel(const std::string& path, Model* model);

// The same, with a session in which variables have the values that came with
// the model.
Status OpenModel(const std::string& path, const pb::ConfigProto& config,
                 Model* model, std::unique_ptr<Session>* session);

// To the failure of a run whose variables had no value, adds what can be done.
// Returns any other status as it is.
Status ExplainNoValues(const Status& status, const Model& model);

// "input_1:0 float [?,32,32,3]".
std::string Describe(const Endpoint& e);

// To the failure of a run that lacked a feed, adds which inputs have no value
// and how to give one.
Status ExplainNoFeed(const Status& status, const Model& model,
                     const std::vector<Session::Feed>& feeds);

// "a" or "a:0" in `graph`; NotFound with similar names.
StatusOr<Endpoint> FindTensor(const Graph& graph, const std::string& name);
// The same of what is to be fed; NotFound with the model's inputs.
StatusOr<Endpoint> FindFeed(const Model& model, const std::string& name);

}  // namespace headrace::cli

#endif  // HEADRACE_CLI_MODEL_H_
