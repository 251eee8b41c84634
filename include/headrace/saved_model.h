// SavedModel: a folder with saved_model.pb (or .pbtxt), variables/ and assets/.
// Loading imports the meta graph with the wanted tags, creates a session,
// restores the variables and runs the model's initialisation.
//
// All functions are thread-safe. LoadSavedModel locks Graph::mu() itself: do
// not hold it. %
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

// True if `dir` contains a model file.
bool MaybeSavedModelDirectory(const std::string& dir);

// Reads the meta graph whose set of tags equals `tags`. NotFound if there is no
// file or no such meta graph; InvalidArgument if the file is no SavedModel.
StatusOr<pb::MetaGraphDef> ReadMetaGraph(const std::string& dir,
                                         absl::Span<const std::string> tags);

struct LoadedModel {
  pb::MetaGraphDef meta_graph;
  std::unique_ptr<Session> session;  // of the graph that was given
};

// Loads the model in `dir` into `graph`, which must be empty, and opens a
// session on it. `run_options` apply to the runs that restore and initialise.
// Nothing is restored if there is no variables/variables.index. After an error
// `graph` may contain the model's nodes. Errors: those of ReadMetaGraph,
// ImportGraphDef and NewSession; NotFound for a missing variable; those of the
// runs.
StatusOr<LoadedModel> LoadSavedModel(const pb::ConfigProto& config,
                                     const std::string& target,
                                     const pb::RunOptions& run_options,
                                     const std::string& dir,
                                     absl::Span<const std::string> tags,
                                     std::shared_ptr<Graph> graph);

}  // namespace headrace

#endif  // HEADRACE_SAVED_MODEL_H_
