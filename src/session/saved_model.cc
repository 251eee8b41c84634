#include "headrace/saved_model.h"

#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/require_memory.h"
#include "framework/op/message_util.h"
#include "headrace/importer.h"
#include "headrace/saved_model.pb.h"

namespace headrace {
namespace {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

constexpr char kInitSignature[] = "__saved_model_init_op";
// Tried in this order; a model has one of them at most.
constexpr const char* kInitCollections[] = {"saved_model_main_op",
                                            "legacy_init_op"};
constexpr char kAssetsCollection[] = "saved_model_assets";

std::string ModelPath(const std::string& dir, const char* suffix) {
  return JoinPath(dir, StrCat("saved_model.", suffix));
}

Status ReadSavedModel(const std::string& dir, pb::SavedModel* model) {
  HR_RETURN_IF_ERROR(RequireMemoryReserve());
  Env* env = Env::Default();
  const std::string binary = ModelPath(dir, "pb"),
                    text = ModelPath(dir, "pbtxt");
  if (env->FileExists(binary).ok()) {
    HR_ASSIGN_OR_RETURN(RefPtr<MappedFile> file, env->MapFile(binary));
    if (file->size() > INT32_MAX ||
        !model->ParseFromArray(file->data(), static_cast<int>(file->size()))) {
      return errors::InvalidArgument("Could not parse ", binary, " (",
                                     file->size(), " bytes) as a SavedModel");
    }
    return OkStatus();
  }
  if (env->FileExists(text).ok()) {
    std::string contents;
    HR_RETURN_IF_ERROR(env->ReadFile(text, &contents));
    const Status s = MessageFromText(contents, model);
    if (s.ok()) return s;
    return Status(s.code(),
                  StrCat("Could not parse ", text,
                         " as the text of a SavedModel: ", s.message()));
  }
  return errors::NotFound(
      "Could not find SavedModel .pb or .pbtxt at supplied export directory "
      "path: ",
      dir);
}

// What is fed for assets: the paths of the files.
Status AssetFeeds(const pb::MetaGraphDef& meta_graph, const std::string& dir,
                  NamedTensors* feeds) {
  std::vector<pb::AssetFileDef> assets(meta_graph.asset_file_def().begin(),
                                       meta_graph.asset_file_def().end());
  const auto at = meta_graph.collection_def().find(kAssetsCollection);
  if (assets.empty() && at != meta_graph.collection_def().end()) {
    for (const auto& any : at->second.any_list().value()) {
      // By its bytes: the type's URL names TensorFlow's package.
      if (!assets.emplace_back().ParseFromString(any.value())) {
        return errors::InvalidArgument("SavedModel: collection '",
                                       kAssetsCollection,
                                       "' holds what is no AssetFileDef");
      }
    }
  }
  for (const pb::AssetFileDef& asset : assets) {
    feeds->emplace_back(asset.tensor_info().name(),
                        Tensor::Scalar<tstring>(JoinPath(
                            JoinPath(dir, "assets"), asset.filename())));
  }
  return OkStatus();
}

std::string NodeOf(const std::string& tensor) {
  return tensor.substr(0, tensor.find(':'));
}

Status RunTarget(Session* session, const pb::RunOptions& options,
                 const NamedTensors& feeds, const std::string& tensor) {
  std::vector<Tensor> outputs;
  pb::RunMetadata metadata;
  return session->Run(options, feeds, {}, {NodeOf(tensor)}, &outputs,
                      &metadata);
}

// The name of what initialises the model, "" if nothing does.
Status FindInitOp(const pb::MetaGraphDef& meta_graph, std::string* name) {
  const auto signature = meta_graph.signature_def().find(kInitSignature);
  if (signature != meta_graph.signature_def().end()) {
    const auto output = signature->second.outputs().find(kInitSignature);
    if (output == signature->second.outputs().end()) {
      return errors::InvalidArgument("SavedModel: signature '", kInitSignature,
                                     "' has no output of that name");
    }
    *name = output->second.name();
    return OkStatus();
  }
  for (const char* key : kInitCollections) {
    const auto at = meta_graph.collection_def().find(key);
    if (at == meta_graph.collection_def().end()) continue;
    if (at->second.node_list().value_size() != 1) {
      return errors::FailedPrecondition(
          "Expected exactly one main op in : ", key, ", got ",
          at->second.node_list().value_size());
    }
    *name = at->second.node_list().value(0);
    return OkStatus();
  }
  return OkStatus();
}

}  // namespace

bool MaybeSavedModelDirectory(const std::string& dir) {
  Env* env = Env::Default();
  return env->FileExists(ModelPath(dir, "pb")).ok() ||
         env->FileExists(ModelPath(dir, "pbtxt")).ok();
}

StatusOr<pb::MetaGraphDef> ReadMetaGraph(const std::string& dir,
                                         absl::Span<const std::string> tags) {
  pb::SavedModel model;
  HR_RETURN_IF_ERROR(ReadSavedModel(dir, &model));
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::string there;
  for (pb::MetaGraphDef& m : *model.mutable_meta_graphs()) {
    const auto& its = m.meta_info_def().tags();
    const std::set<std::string> set(its.begin(), its.end());
    if (set == wanted) return std::move(m);
    StrAppend(&there, " { ", absl::StrJoin(set, " "), " }");
  }
  return errors::NotFound(
      "Could not find meta graph def matching supplied tags: { ",
      absl::StrJoin(tags, " "), " }. There are",
      there.empty() ? " none" : there, " in ", dir);
}

StatusOr<LoadedModel> LoadSavedModel(const pb::ConfigProto& config,
                                     const std::string& target,
                                     const pb::RunOptions& run_options,
                                     const std::string& dir,
                                     absl::Span<const std::string> tags,
                                     std::shared_ptr<Graph> graph) {
  LoadedModel model;
  HR_ASSIGN_OR_RETURN(model.meta_graph, ReadMetaGraph(dir, tags));
  {
    MutexLock lock(&graph->mu());
    HR_RETURN_IF_ERROR(ImportGraphDef(
        ImportOptions(), model.meta_graph.graph_def(), graph.get()));
  }
  HR_ASSIGN_OR_RETURN(model.session, NewSession(config, target, graph));

  NamedTensors feeds;
  HR_RETURN_IF_ERROR(AssetFeeds(model.meta_graph, dir, &feeds));
  const std::string variables =
      JoinPath(JoinPath(dir, "variables"), "variables");
  const pb::SaverDef& saver = model.meta_graph.saver_def();
  if (Env::Default()->FileExists(variables + ".index").ok() &&
      !saver.restore_op_name().empty()) {
    NamedTensors restore = feeds;
    restore.emplace_back(saver.filename_tensor_name(),
                         Tensor::Scalar<tstring>(variables));
    HR_RETURN_IF_ERROR(
        Annotate(RunTarget(model.session.get(), run_options, restore,
                           saver.restore_op_name()),
                 StrCat(" (restoring the variables of ", dir, ")")));
  }
  std::string init;
  HR_RETURN_IF_ERROR(FindInitOp(model.meta_graph, &init));
  if (!init.empty()) {
    HR_RETURN_IF_ERROR(
        Annotate(RunTarget(model.session.get(), run_options, feeds, init),
                 StrCat(" (initialising the model in ", dir, ")")));
  }
  return model;
}

}  // namespace headrace
