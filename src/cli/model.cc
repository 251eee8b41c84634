#include "cli/model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/error_cause.h"
#include "cli/suggest.h"
#include "framework/tensor/mapped_buffer.h"
#include "graph/graph_def_reader.h"
#include "headrace/importer.h"
#include "headrace/saved_model.h"

namespace headrace::cli {
namespace {

constexpr char kStandardInput[] = "-";
constexpr char kServe[] = "serve", kDefaultSignature[] = "serving_default";
// A signature's name that begins so is not for users.
constexpr char kInternal[] = "__saved_model";

void FindEnds(const Graph& graph, Model* model) {
  graph.ForEachNode([&](Node* n) {
    if (absl::StartsWith(n->type_string(), "Placeholder")) {
      model->inputs.push_back({n, 0});
    }
    if (n->num_outputs() > 0 && n->num_inputs() > 0 && !n->IsConstant() &&
        n->out_edges().empty()) {
      model->outputs.push_back({n, 0});
    }
  });
}

// Adds the name of one tensor, or the names of the parts of a sparse or
// composite one.
void AddNames(const pb::TensorInfo& info, std::vector<std::string>* names) {
  if (info.has_coo_sparse()) {
    const pb::TensorInfo::CooSparse& sparse = info.coo_sparse();
    names->insert(names->end(),
                  {sparse.values_tensor_name(), sparse.indices_tensor_name(),
                   sparse.dense_shape_tensor_name()});
  } else if (info.has_composite_tensor()) {
    for (const pb::TensorInfo& part : info.composite_tensor().components()) {
      AddNames(part, names);
    }
  } else {
    names->push_back(info.name());
  }
}

using Tensors = google::protobuf::Map<std::string, pb::TensorInfo>;

Status FindTensors(const Graph& graph, const Tensors& tensors,
                   std::vector<Endpoint>* out) {
  const std::map<std::string, pb::TensorInfo> sorted(tensors.begin(),
                                                     tensors.end());
  for (const auto& [key, info] : sorted) {
    std::vector<std::string> names;
    AddNames(info, &names);
    for (const std::string& name : names) {
      HR_ASSIGN_OR_RETURN(const Endpoint e, FindTensor(graph, name));
      if (std::find(out->begin(), out->end(), e) == out->end()) {
        out->push_back(e);
      }
    }
  }
  return OkStatus();
}

// Uses the signature. If it is ambiguous, takes the placeholders as inputs and
// no outputs: the unused outputs would include the node that writes a
// checkpoint.
Status FindEnds(const pb::MetaGraphDef& meta_graph, Model* model) {
  const pb::SignatureDef* chosen = nullptr;
  int count = 0;
  for (const auto& [name, signature] : meta_graph.signature_def()) {
    if (absl::StartsWith(name, kInternal)) continue;
    ++count;
    chosen = &signature;
  }
  const auto at = meta_graph.signature_def().find(kDefaultSignature);
  if (at != meta_graph.signature_def().end()) {
    chosen = &at->second;
  } else if (count != 1) {
    FindEnds(*model->graph, model);
    model->outputs.clear();
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(
      FindTensors(*model->graph, chosen->inputs(), &model->inputs));
  return FindTensors(*model->graph, chosen->outputs(), &model->outputs);
}

Status CheckFolder(const std::string& path) {
  if (MaybeSavedModelDirectory(path)) return OkStatus();
  return errors::InvalidArgument(
      path,
      " is a folder without saved_model.pb or saved_model.pbtxt; wanted a "
      "GraphDef, binary or text, or the folder of a SavedModel");
}

}  // namespace

std::string ModelFile(const std::string& path) {
  return path == kStandardInput ? "/dev/stdin" : path;
}

Status ReadModel(const std::string& path, ModelParts* parts) {
  if (Env::Default()->IsDirectory(path)) {
    HR_RETURN_IF_ERROR(CheckFolder(path));
    HR_RETURN_IF_ERROR(
        MoveTo(ReadMetaGraph(path, {kServe}), &parts->meta_graph.emplace()));
    return GraphDefPartsFromProto(parts->meta_graph->graph_def(),
                                  &parts->graph_def);
  }
  HR_ASSIGN_OR_RETURN(const RefPtr<MappedFile> file,
                      Env::Default()->MapFile(ModelFile(path)));
  if (file->size() == 0) {
    return errors::InvalidArgument(
        path, " is empty; wanted a GraphDef, binary or text");
  }
  const RefPtr<TensorBuffer> bytes = MappedBuffer(file);
  const absl::string_view view(file->data(), file->size());
  Status s;
  if (IsGraphDefText(view)) {
    pb::GraphDef def;
    s = ParseGraphDef(view, &def);
    if (s.ok()) s = GraphDefPartsFromProto(def, &parts->graph_def);
  } else {
    s = ReadGraphDefParts(bytes, &parts->graph_def);
  }
  return Annotate(s, absl::StrCat(" (file ", path, ")"));
}

Status MakeModel(const std::string& path, ModelParts parts, Model* model) {
  model->graph = std::make_shared<Graph>();
  HR_RETURN_IF_ERROR(
      Annotate(ImportGraphDefParts(ImportOptions(), std::move(parts.graph_def),
                                   model->graph.get()),
               absl::StrCat(" (file ", path, ")")));
  if (parts.meta_graph) return FindEnds(*parts.meta_graph, model);
  FindEnds(*model->graph, model);
  return OkStatus();
}

Status LoadModel(const std::string& path, Model* model) {
  ModelParts parts;
  HR_RETURN_IF_ERROR(ReadModel(path, &parts));
  return MakeModel(path, std::move(parts), model);
}

Status OpenModel(const std::string& path, const pb::ConfigProto& config,
                 Model* model, std::unique_ptr<Session>* session) {
  if (!Env::Default()->IsDirectory(path)) {
    HR_RETURN_IF_ERROR(LoadModel(path, model));
    return MoveTo(NewSession(config, "", model->graph), session);
  }
  HR_RETURN_IF_ERROR(CheckFolder(path));
  model->graph = std::make_shared<Graph>();
  model->has_variables = true;
  HR_ASSIGN_OR_RETURN(LoadedModel loaded,
                      LoadSavedModel(config, "", pb::RunOptions(), path,
                                     {kServe}, model->graph));
  *session = std::move(loaded.session);
  return FindEnds(loaded.meta_graph, model);
}

Status ExplainNoValues(const Status& status, const Model& model) {
  if (model.has_variables ||
      !HasCause(status, ErrorCause::kUninitializedVariable)) {
    return status;
  }
  return Annotate(status,
                  "\nA GraphDef holds no values of variables. Give the folder "
                  "of a SavedModel, or freeze the graph: put constants in "
                  "place of its variables, as TensorFlow's freeze_graph and "
                  "tf.graph_util.convert_variables_to_constants do.");
}

std::string Describe(const Endpoint& e) {
  return absl::StrCat(EndpointName(e), "  ",
                      DataTypeString(e.node->output_type(e.index)), " ",
                      e.node->output_shape(e.index).DebugString());
}

Status ExplainNoFeed(const Status& status, const Model& model,
                     const std::vector<Session::Feed>& feeds) {
  if (!HasCause(status, ErrorCause::kNoFeed)) return status;
  std::string missing;
  for (const Endpoint& e : model.inputs) {
    const bool is_fed =
        std::any_of(feeds.begin(), feeds.end(),
                    [&](const auto& f) { return f.first == e; });
    if (is_fed || e.node->type_string() == "PlaceholderWithDefault") continue;
    absl::StrAppend(&missing, "\n  ", Describe(e));
  }
  if (missing.empty()) return status;
  return Annotate(status, absl::StrCat("\nGive a value by --feed NAME=VALUE. "
                                       "Inputs without one:",
                                       missing));
}

StatusOr<Endpoint> FindTensor(const Graph& graph, const std::string& name) {
  std::string node;
  int index = 0;
  HR_RETURN_IF_ERROR(ParseEndpointName(name, &node, &index));
  Node* n = graph.FindNode(node);
  if (n == nullptr) {
    std::vector<std::string> names;
    graph.ForEachNode([&](Node* other) {
      if (other->num_outputs() > 0) names.push_back(other->name());
    });
    return errors::NotFound("the model has no node '", node, "'",
                            DidYouMean(node, names));
  }
  if (index < 0 || index >= n->num_outputs()) {
    return errors::InvalidArgument("node '", node, "' has ", n->num_outputs(),
                                   " outputs, ", name, " is none of them");
  }
  return Endpoint{n, index};
}

StatusOr<Endpoint> FindFeed(const Model& model, const std::string& name) {
  StatusOr<Endpoint> found = FindTensor(*model.graph, name);
  if (!errors::IsNotFound(found.status()) || model.inputs.empty()) return found;
  std::vector<std::string> names;
  std::string list;
  for (const Endpoint& e : model.inputs) {
    names.push_back(EndpointName(e));
    absl::StrAppend(&list, "\n  ", Describe(e));
  }
  return errors::NotFound("the model has no input '", name, "'",
                          DidYouMean(name, names), "\nIts inputs:", list);
}

}  // namespace headrace::cli
