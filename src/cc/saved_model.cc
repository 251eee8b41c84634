#include "headrace/cc/saved_model.h"

#include <google/protobuf/text_format.h>

#include <set>

#include "absl/strings/match.h"
#include "base/env.h"
#include "cc/meta_graph.h"
#include "framework/op/tensor_proto.h"
#include "headrace/cc/op_call.h"
#include "headrace/saved_model.pb.h"

namespace headrace {
namespace {

constexpr char kDefaultSignature[] = "serving_default";
constexpr char kMainOp[] = "saved_model_main_op";
// A signature's name that begins so is not for users.
constexpr char kInternal[] = "__saved_model";

using TensorInfos = google::protobuf::Map<std::string, pb::TensorInfo>;

void AddInfos(const std::vector<std::pair<std::string, Output>>& outputs,
              TensorInfos* infos) {
  for (const auto& [name, output] : outputs) {
    pb::TensorInfo& info = (*infos)[name];
    info.set_name(output.name());
    info.set_dtype(static_cast<pb::DataType>(output.type()));
    ShapeToProto(output.shape(), info.mutable_tensor_shape());
  }
}

Status CheckInfos(const Graph& graph, const std::string& signature,
                  const TensorInfos& infos) {
  for (const auto& [name, info] : infos) {
    std::string node;
    int index = 0;
    const Status s = ParseEndpointName(info.name(), &node, &index);
    const Node* const n = s.ok() ? graph.FindNode(node) : nullptr;
    if (n == nullptr || index < 0 || index >= n->num_outputs()) {
      return errors::InvalidArgument(
          "SavedModelBuilder: '", name, "' of signature '", signature,
          "' is the tensor '", info.name(), "', which the graph does not have");
    }
  }
  return OkStatus();
}

std::string Names(const TensorInfos& infos) {
  std::set<std::string> sorted;
  for (const auto& [name, info] : infos) sorted.insert(name);
  std::string list;
  for (const std::string& name : sorted) {
    StrAppend(&list, list.empty() ? "'" : ", '", name, "'");
  }
  return list.empty() ? "none" : list;
}

}  // namespace

pb::SignatureDef MakeSignature(
    const std::vector<std::pair<std::string, Output>>& inputs,
    const std::vector<std::pair<std::string, Output>>& outputs,
    const std::string& method_name) {
  pb::SignatureDef signature;
  AddInfos(inputs, signature.mutable_inputs());
  AddInfos(outputs, signature.mutable_outputs());
  signature.set_method_name(method_name);
  return signature;
}

SavedModelBuilder::SavedModelBuilder(std::string export_dir)
    : export_dir_(std::move(export_dir)) {}

Status SavedModelBuilder::Prepare() {
  if (is_prepared_) return OkStatus();
  Env* const env = Env::Default();
  if (env->IsDirectory(export_dir_)) {
    std::vector<std::string> names;
    HR_RETURN_IF_ERROR(env->GetChildren(export_dir_, &names));
    if (!names.empty()) {
      return errors::AlreadyExists("SavedModelBuilder: the folder ",
                                   export_dir_, " is not empty");
    }
  }
  HR_RETURN_IF_ERROR(env->CreateDirRecursively(export_dir_));
  is_prepared_ = true;
  return OkStatus();
}

Status SavedModelBuilder::AddAsset(const Output& path,
                                   const std::string& file) {
  if (path.empty() || path.type() != DT_STRING) {
    return errors::InvalidArgument(
        "SavedModelBuilder::AddAsset: the path of ", file,
        " must be a tensor of type string, got ",
        path.empty() ? "none" : DataTypeString(path.type()));
  }
  const std::string name(Basename(file));
  if (name.empty()) {
    return errors::InvalidArgument("SavedModelBuilder::AddAsset: '", file,
                                   "' is no name of a file");
  }
  Env* const env = Env::Default();
  std::string contents;
  HR_RETURN_IF_ERROR(env->ReadFile(file, &contents));
  HR_RETURN_IF_ERROR(Prepare());
  const std::string folder = JoinPath(export_dir_, "assets");
  const std::string copy = JoinPath(folder, name);
  std::string old;
  if (env->ReadFile(copy, &old).ok()) {
    if (old != contents) {
      return errors::InvalidArgument(
          "SavedModelBuilder::AddAsset: the model "
          "has another file of the name ",
          name, " than ", file);
    }
  } else {
    HR_RETURN_IF_ERROR(env->CreateDirRecursively(folder));
    HR_RETURN_IF_ERROR(env->WriteFile(copy, contents, WriteMode::kAtomic));
  }
  pb::AssetFileDef asset;
  asset.mutable_tensor_info()->set_name(path.name());
  asset.mutable_tensor_info()->set_dtype(pb::DT_STRING);
  asset.set_filename(name);
  assets_.push_back(std::move(asset));
  return OkStatus();
}

Status SavedModelBuilder::Add(
    const ClientSession& session, const std::vector<std::string>& tags,
    const std::map<std::string, pb::SignatureDef>& signatures, Saver* saver,
    const Operation& main_op) {
  const Scope& scope = session.scope();
  HR_RETURN_IF_ERROR(scope.status());
  HR_RETURN_IF_ERROR(session.status());
  for (const auto& [name, signature] : signatures) {
    MutexLock lock(&scope.graph()->mu());
    HR_RETURN_IF_ERROR(CheckInfos(*scope.graph(), name, signature.inputs()));
    HR_RETURN_IF_ERROR(CheckInfos(*scope.graph(), name, signature.outputs()));
  }
  for (const pb::AssetFileDef& asset : assets_) {
    TensorInfos infos;
    infos["path"] = asset.tensor_info();
    MutexLock lock(&scope.graph()->mu());
    HR_RETURN_IF_ERROR(
        CheckInfos(*scope.graph(), StrCat("asset ", asset.filename()), infos));
  }
  HR_RETURN_IF_ERROR(Prepare());
  pb::MetaGraphDef meta_graph;
  if (saver == nullptr && GlobalVariables(scope).empty()) {
    HR_RETURN_IF_ERROR(internal::MakeMetaGraph(scope, &meta_graph));
  } else {
    std::unique_ptr<Saver> own;
    if (saver == nullptr) {
      own = std::make_unique<Saver>(scope);
      HR_RETURN_IF_ERROR(scope.status());
      saver = own.get();
    }
    if (meta_graphs_.empty()) {
      const std::string folder = JoinPath(export_dir_, "variables");
      HR_RETURN_IF_ERROR(Env::Default()->CreateDirRecursively(folder));
      const pb::SaverDef& names = saver->saver_def();
      HR_RETURN_IF_ERROR(session.session()->Run(
          {{names.filename_tensor_name(),
            Tensor::Scalar<tstring>(JoinPath(folder, "variables"))}},
          {names.save_tensor_name()}, {}, nullptr));
    }
    HR_RETURN_IF_ERROR(saver->ToMetaGraph(&meta_graph));
  }
  for (const std::string& tag : tags) {
    meta_graph.mutable_meta_info_def()->add_tags(tag);
  }
  for (const auto& [name, signature] : signatures) {
    (*meta_graph.mutable_signature_def())[name] = signature;
  }
  for (const pb::AssetFileDef& asset : assets_) {
    *meta_graph.add_asset_file_def() = asset;
  }
  if (!main_op.empty()) {
    (*meta_graph.mutable_collection_def())[kMainOp]
        .mutable_node_list()
        ->add_value(main_op.name());
  }
  meta_graphs_.push_back(std::move(meta_graph));
  return OkStatus();
}

Status SavedModelBuilder::Save(bool as_text) {
  if (meta_graphs_.empty()) {
    return errors::FailedPrecondition(
        "SavedModelBuilder: Add was not called, or failed");
  }
  pb::SavedModel model;
  model.set_saved_model_schema_version(1);
  for (const pb::MetaGraphDef& m : meta_graphs_) *model.add_meta_graphs() = m;
  std::string bytes;
  if (as_text) {
    google::protobuf::TextFormat::PrintToString(model, &bytes);
  } else if (!model.SerializeToString(&bytes)) {
    return errors::InvalidArgument(
        "SavedModelBuilder: the model is larger than 2 GB");
  }
  return Env::Default()->WriteFile(
      JoinPath(export_dir_, as_text ? "saved_model.pbtxt" : "saved_model.pb"),
      bytes, WriteMode::kAtomic);
}

StatusOr<SavedModel> SavedModel::Load(const std::string& dir,
                                      const std::vector<std::string>& tags,
                                      const pb::ConfigProto& config) {
  SavedModel model;
  HR_ASSIGN_OR_RETURN(LoadedModel loaded,
                      LoadSavedModel(config, "", pb::RunOptions(), dir, tags,
                                     std::make_shared<Graph>()));
  model.model_ = std::make_shared<const LoadedModel>(std::move(loaded));
  return model;
}

StatusOr<std::map<std::string, Tensor>> SavedModel::Run(
    const std::map<std::string, Tensor>& inputs,
    const std::string& signature) const {
  const auto& signatures = meta_graph().signature_def();
  std::set<std::string> names;
  for (const auto& [name, def] : signatures) {
    if (!absl::StartsWith(name, kInternal)) names.insert(name);
  }
  std::string key = signature;
  if (key.empty()) {
    key = names.size() == 1 ? *names.begin() : kDefaultSignature;
  }
  const auto at = signatures.find(key);
  if (at == signatures.end()) {
    std::string list;
    for (const std::string& name : names) {
      StrAppend(&list, list.empty() ? "'" : ", '", name, "'");
    }
    return errors::NotFound("SavedModel: there is no signature '", key,
                            "'; there are: ", list.empty() ? "none" : list);
  }
  const pb::SignatureDef& def = at->second;
  std::vector<std::pair<std::string, Tensor>> feeds;
  for (const auto& [name, value] : inputs) {
    const auto info = def.inputs().find(name);
    if (info == def.inputs().end()) {
      return errors::NotFound("SavedModel: signature '", key,
                              "' has no input '", name,
                              "'; there are: ", Names(def.inputs()));
    }
    feeds.emplace_back(info->second.name(), value);
  }
  for (const auto& [name, info] : def.inputs()) {
    if (!inputs.contains(name)) {
      return errors::InvalidArgument("SavedModel: input '", name,
                                     "' of signature '", key, "' has no value");
    }
  }
  std::vector<std::string> keys, fetches;
  for (const auto& [name, info] : def.outputs()) {
    keys.push_back(name);
    fetches.push_back(info.name());
  }
  std::vector<Tensor> out;
  HR_RETURN_IF_ERROR(session()->Run(feeds, fetches, {}, &out));
  std::map<std::string, Tensor> results;
  for (size_t i = 0; i < keys.size(); ++i) results[keys[i]] = out[i];
  return results;
}

}  // namespace headrace
