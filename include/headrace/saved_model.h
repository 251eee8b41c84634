// SavedModel: a folder with saved_model.pb (or .pbtxt), variables/ and assets/.
// Loading imports the meta graph with the wanted tags, makes a session,
// restores the variables and runs what initialises the model.
#ifndef HEADRACE_SAVED_MODEL_H_
#define HEADRACE_SAVED_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "headrace/config.pb.h"
#include "headrace/graph.h"
#include "headrace/meta_graph.pb.h"
#include "headrace/session.h"

namespace headrace {

// True if there is a model file in `dir`.
bool MaybeSavedModelDirectory(const std::string& dir);

// The meta graph whose set of tags equals `tags`. NotFound if there is no file
// or no such meta graph; InvalidArgument if the file is no SavedModel.
StatusOr<pb::MetaGraphDef> ReadMetaGraph(const std::string& dir,
                                         absl::Span<const std::string> tags);

struct LoadedModel {
  pb::MetaGraphDef meta_graph;
  std::unique_ptr<Session> session;  // of the graph that was given
};

// `graph` must be empty; after an error it may hold the model's nodes.
// `run_options` apply to restoring and initialising. A model without
// variables/variables.index restores nothing. Errors: those of ReadMetaGraph,
// NewSession and ImportGraphDef; NotFound for missing variables; those of the
// model's initialisation.
StatusOr<LoadedModel> LoadSavedModel(const pb::ConfigProto& config,
                                     const std::string& target,
                                     const pb::RunOptions& run_options,
                                     const std::string& dir,
                                     absl::Span<const std::string> tags,
                                     std::shared_ptr<Graph> graph);

}  // namespace headrace

#endif  // HEADRACE_SAVED_MODEL_H_
