// TF_LoadSessionFromSavedModel.
#include "headrace/saved_model.h"

#include "c_api/internal.h"
#include "c_api/live_objects.h"

using headrace::Session;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

namespace {

Status Load(const TF_SessionOptions* options, const TF_Buffer* run_options,
            const char* export_dir, const char* const* tags, int tags_len,
            TF_Graph* graph, TF_Buffer* meta_graph_def,
            std::unique_ptr<Session>* session) {
  if (graph == nullptr || export_dir == nullptr) {
    return errors::InvalidArgument(
        "SavedModel: the ", graph == nullptr ? "graph" : "folder", " is NULL");
  }
  if (tags_len < 0 || (tags == nullptr && tags_len > 0)) {
    return errors::InvalidArgument("SavedModel: ", tags_len, " tags");
  }
  if (meta_graph_def != nullptr && meta_graph_def->data != nullptr) {
    return errors::InvalidArgument(
        "SavedModel: meta_graph_def must be an empty buffer; it has ",
        meta_graph_def->length, " bytes");
  }
  {
    headrace::MutexLock lock(&graph->graph->mu());
    if (graph->graph->num_nodes() > 0) {
      return errors::InvalidArgument("Graph is non-empty: it has ",
                                     graph->graph->num_nodes(), " nodes");
    }
  }
  pb::RunOptions parsed;
  if (run_options != nullptr) {
    HR_RETURN_IF_ERROR(ParseProto("run_options", run_options->data,
                                  run_options->length, &parsed));
  }
  std::vector<std::string> names;
  for (int i = 0; i < tags_len; ++i) names.emplace_back(Text(tags[i]));
  HR_ASSIGN_OR_RETURN(
      headrace::LoadedModel model,
      headrace::LoadSavedModel(options == nullptr
                                   ? pb::ConfigProto::default_instance()
                                   : options->config,
                               options == nullptr ? "" : options->target,
                               parsed, export_dir, names, graph->graph));
  *session = std::move(model.session);
  if (meta_graph_def == nullptr) return headrace::OkStatus();
  return ToBuffer(model.meta_graph, meta_graph_def);
}

}  // namespace

TF_Session* TF_LoadSessionFromSavedModel(
    const TF_SessionOptions* session_options, const TF_Buffer* run_options,
    const char* export_dir, const char* const* tags, int tags_len,
    TF_Graph* graph, TF_Buffer* meta_graph_def, TF_Status* status) {
  std::unique_ptr<Session> session;
  const Status s = Load(session_options, run_options, export_dir, tags,
                        tags_len, graph, meta_graph_def, &session);
  Set(status, s);
  if (!s.ok()) return nullptr;
  auto handle = std::make_unique<TF_Session>();
  handle->session = std::move(session);
  return LiveObjects<TF_Session>::Release(std::move(handle));
}
