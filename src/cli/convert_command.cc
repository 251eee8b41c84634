// headrace convert: a checkpoint or a SavedModel as one file.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "cli/command.h"
#include "cli/freeze.h"
#include "cli/model.h"
#include "cli/suggest.h"
#include "headrace/checkpoint_state.pb.h"
#include "headrace/importer.h"
#include "headrace/saved_model.h"
#include "io/checkpoint_v1.h"
#include "io/tensor_bundle.h"

namespace headrace::cli {
namespace {

constexpr char kConvertHelp[] =
    "usage: headrace convert MODEL --out FILE [OPTIONS]\n\n"
    "Freezes a model into one GraphDef: variables become constants, functions "
    "their\nbodies, and nodes that no output needs go. MODEL is\n"
    "  the folder of a SavedModel,\n"
    "  a checkpoint with its graph beside it (PREFIX, where PREFIX.meta is),\n"
    "  a folder with such checkpoints: the newest counts,\n"
    "  or a graph, binary or text, with --checkpoint.\n\n"
    "  --out FILE          what to write\n"
    "  --output NAME       a tensor or node to keep; may be given several "
    "times, or\n"
    "                      as a list with commas. By default the outputs of "
    "the signature\n"
    "  --signature KEY     the signature; by default serving_default, or the "
    "only one\n"
    "  --tags TAG,...      of the SavedModel's graph; by default serve\n"
    "  --checkpoint PREFIX where the values of the variables are\n\n"
    "examples:\n"
    "  headrace convert saved_model/ --out model.pb\n"
    "  headrace convert train/model-200 --output classes --out model.pb\n";

constexpr char kDefaultSignature[] = "serving_default";

struct Arguments {
  std::string model, out, signature, tags = "serve", checkpoint;
  std::vector<std::string> outputs;
};

// A graph, what is known of its use, and where the values are.
struct Source {
  pb::MetaGraphDef meta_graph;
  bool is_saved_model = false;
  std::string checkpoint;  // "" if there is none
};

Status ReadMeta(const std::string& path, pb::MetaGraphDef* meta_graph) {
  std::string bytes;
  HR_RETURN_IF_ERROR(Env::Default()->ReadFile(path, &bytes));
  if (meta_graph->ParseFromString(bytes) && meta_graph->has_graph_def()) {
    return OkStatus();
  }
  if (google::protobuf::TextFormat::ParseFromString(bytes, meta_graph)) {
    return OkStatus();
  }
  return errors::InvalidArgument(path, " is no meta graph");
}

bool IsCheckpoint(const std::string& prefix) {
  Env* const env = Env::Default();
  return env->FileExists(BundleIndexPath(prefix)).ok();
}

// The newest checkpoint of a folder, "" if it lists none.
Status NewestCheckpoint(const std::string& folder, std::string* prefix) {
  const std::string path = JoinPath(folder, "checkpoint");
  if (!Env::Default()->FileExists(path).ok()) return OkStatus();
  std::string text;
  HR_RETURN_IF_ERROR(Env::Default()->ReadFile(path, &text));
  pb::CheckpointState state;
  if (!google::protobuf::TextFormat::ParseFromString(text, &state) ||
      state.model_checkpoint_path().empty()) {
    return errors::DataLoss(path, " names no checkpoint");
  }
  *prefix = JoinPath(folder, state.model_checkpoint_path());
  return OkStatus();
}

Status ReadSource(const Arguments& args, Source* source) {
  Env* const env = Env::Default();
  std::string model = args.model;
  source->checkpoint = args.checkpoint;
  if (env->IsDirectory(model)) {
    if (MaybeSavedModelDirectory(model)) {
      source->is_saved_model = true;
      const std::vector<std::string> tags =
          absl::StrSplit(args.tags, ',', absl::SkipEmpty());
      return MoveTo(ReadMetaGraph(model, tags), &source->meta_graph);
    }
    std::string newest;
    HR_RETURN_IF_ERROR(NewestCheckpoint(model, &newest));
    if (newest.empty()) {
      return errors::InvalidArgument(
          model, " is a folder without saved_model.pb and without checkpoints");
    }
    model = newest;
  }
  if (IsCheckpoint(model)) {
    if (source->checkpoint.empty()) source->checkpoint = model;
    if (!env->FileExists(model + ".meta").ok()) {
      return errors::NotFound(
          "there is no graph beside the checkpoint ", model, " (", model,
          ".meta); give the graph as MODEL, and the checkpoint by "
          "--checkpoint");
    }
    return ReadMeta(model + ".meta", &source->meta_graph);
  }
  if (absl::EndsWith(model, ".meta")) {
    const std::string prefix = model.substr(0, model.size() - 5);
    if (source->checkpoint.empty() && IsCheckpoint(prefix)) {
      source->checkpoint = prefix;
    }
    return ReadMeta(model, &source->meta_graph);
  }
  return Annotate(
      ReadGraphDef(ModelFile(model), source->meta_graph.mutable_graph_def()),
      StrCat(" (file ", model, ")"));
}

// The tensors to keep: those that were named, else those of a signature.
Status FindOutputs(const Arguments& args, const pb::MetaGraphDef& meta_graph,
                   std::vector<std::string>* outputs) {
  if (!args.outputs.empty()) {
    *outputs = args.outputs;
    return OkStatus();
  }
  std::vector<std::string> keys;
  for (const auto& [key, signature] : meta_graph.signature_def()) {
    if (!absl::StartsWith(key, "__saved_model")) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  std::string key = args.signature;
  if (key.empty()) key = keys.size() == 1 ? keys[0] : kDefaultSignature;
  const auto at = meta_graph.signature_def().find(key);
  if (at == meta_graph.signature_def().end()) {
    if (keys.empty() && args.signature.empty()) {
      return errors::InvalidArgument(
          "the model has no signature: name its outputs by --output");
    }
    return errors::NotFound("the model has no signature '", key,
                            "'; it has: ", absl::StrJoin(keys, ", "));
  }
  for (const auto& [name, info] : at->second.outputs()) {
    if (info.name().empty()) {
      return errors::Unimplemented(
          "output '", name, "' of signature '", key,
          "' is made of several tensors: name them by --output");
    }
    outputs->push_back(info.name());
  }
  std::sort(outputs->begin(), outputs->end());
  return OkStatus();
}

// Reads variables of a session, whose graph may get nodes for that.
Status ReadFromSession(Session* session, const std::vector<std::string>& names,
                       std::map<std::string, Tensor>* values) {
  const std::shared_ptr<Graph>& graph = session->graph();
  std::vector<Endpoint> ends;
  {
    MutexLock lock(&graph->mu());
    for (const std::string& name : names) {
      Node* n = graph->FindNode(name);
      if (n == nullptr) {
        return errors::Unimplemented(
            "the variable '", name,
            "' is made by a function; it cannot be frozen");
      }
      if (n->type_string() == "VarHandleOp") {
        NodeDef read;
        read.name = graph->UniqueName(name + "/Read/ReadVariableOp");
        read.op = "ReadVariableOp";
        read.attrs.Set("dtype", *n->attrs().Find("dtype"));
        HR_ASSIGN_OR_RETURN(n, graph->AddNode(std::move(read), {{n, 0}}));
      }
      ends.push_back({n, 0});
    }
  }
  std::vector<Tensor> out;
  HR_RETURN_IF_ERROR(session->Run(pb::RunOptions(), {}, ends, {}, &out));
  for (size_t i = 0; i < names.size(); ++i) (*values)[names[i]] = out[i];
  return OkStatus();
}

// Reads variables of a checkpoint by their names.
Status ReadFromCheckpoint(const std::string& prefix,
                          const std::vector<std::string>& names,
                          std::map<std::string, Tensor>* values) {
  Env* const env = Env::Default();
  std::unique_ptr<BundleReader> bundle;
  std::unique_ptr<CheckpointV1Reader> v1;
  if (IsCheckpoint(prefix)) {
    HR_ASSIGN_OR_RETURN(bundle, BundleReader::Open(env, prefix));
  } else {
    HR_ASSIGN_OR_RETURN(v1, CheckpointV1Reader::Open(env, prefix));
  }
  std::string missing;
  for (const std::string& name : names) {
    Tensor value;
    const Status s = v1 != nullptr ? v1->Read(name, nullptr, nullptr, &value)
                                   : bundle->Read(name, &value);
    if (errors::IsNotFound(s)) {
      StrAppend(&missing, "\n  ", name);
      continue;
    }
    HR_RETURN_IF_ERROR(s);
    (*values)[name] = std::move(value);
  }
  if (missing.empty()) return OkStatus();
  return errors::NotFound("the checkpoint ", prefix,
                          " has no values of these variables:", missing);
}

Status ReadValues(const Arguments& args, const Source& source,
                  const std::vector<std::string>& names,
                  std::map<std::string, Tensor>* values) {
  if (source.is_saved_model && source.checkpoint.empty()) {
    const std::vector<std::string> tags =
        absl::StrSplit(args.tags, ',', absl::SkipEmpty());
    HR_ASSIGN_OR_RETURN(
        const LoadedModel loaded,
        LoadSavedModel(pb::ConfigProto(), "", pb::RunOptions(), args.model,
                       tags, std::make_shared<Graph>()));
    return ReadFromSession(loaded.session.get(), names, values);
  }
  if (source.checkpoint.empty()) {
    return errors::InvalidArgument(
        "the outputs need ", names.size(), " variables ('", names[0],
        "' is one), whose values are not in the model: give a checkpoint by "
        "--checkpoint");
  }
  const pb::SaverDef& saver = source.meta_graph.saver_def();
  if (saver.restore_op_name().empty()) {
    return ReadFromCheckpoint(source.checkpoint, names, values);
  }
  // Its nodes know under which names and in which slices the values are.
  auto graph = std::make_shared<Graph>();
  HR_RETURN_IF_ERROR(ImportGraphDef(
      ImportOptions(), source.meta_graph.graph_def(), graph.get()));
  HR_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                      NewSession(pb::ConfigProto(), "", graph));
  HR_RETURN_IF_ERROR(
      Annotate(session->Run({{saver.filename_tensor_name(),
                              Tensor::Scalar<tstring>(source.checkpoint)}},
                            {}, {saver.restore_op_name()}, nullptr),
               StrCat(" (restoring ", source.checkpoint, ")")));
  return ReadFromSession(session.get(), names, values);
}

// The same bytes for the same graph. False if it is too large for a message.
bool SerializeInOrder(const pb::GraphDef& def, std::string* bytes) {
  google::protobuf::io::StringOutputStream stream(bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  return def.ByteSizeLong() <= INT32_MAX && def.SerializeToCodedStream(&out);
}

void Count(std::FILE* to, int n, const char* what) {
  if (n > 0) std::fprintf(to, "  %d %s\n", n, what);
}

Status Convert(const Arguments& args) {
  Source source;
  HR_RETURN_IF_ERROR(ReadSource(args, &source));
  std::vector<std::string> tensors, nodes;
  HR_RETURN_IF_ERROR(FindOutputs(args, source.meta_graph, &tensors));
  for (const std::string& tensor : tensors) {
    std::string node;
    int index = 0;
    HR_RETURN_IF_ERROR(ParseEndpointName(tensor, &node, &index));
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
      nodes.push_back(node);
    }
  }
  pb::GraphDef frozen;
  FreezeReport report;
  HR_RETURN_IF_ERROR(Freeze(
      source.meta_graph.graph_def(), nodes,
      [&](const std::vector<std::string>& names,
          std::map<std::string, Tensor>* values) {
        return ReadValues(args, source, names, values);
      },
      &frozen, &report));
  Graph graph;
  HR_RETURN_IF_ERROR(ImportGraphDef(ImportOptions(), frozen, &graph));
  for (const std::string& tensor : tensors) {
    HR_RETURN_IF_ERROR(FindTensor(graph, tensor).status());
  }
  std::string bytes;
  if (!SerializeInOrder(frozen, &bytes)) {
    return errors::InvalidArgument(
        "the frozen graph is larger than the 2 GB that a message can have");
  }
  HR_RETURN_IF_ERROR(
      Env::Default()->WriteFile(args.out, bytes, WriteMode::kAtomic));

  // The model alone goes to standard output.
  std::FILE* const to = args.out == "/dev/stdout" ? stderr : stdout;
  std::fprintf(to, "%s: %d nodes\n", args.model.c_str(), report.nodes_before);
  Count(to, report.unneeded, "nodes that no output needs were left out");
  Count(to, report.calls, "calls of functions became their bodies");
  if (report.constants > 0) {
    std::fprintf(to, "  %d variables became constants, %.2f MB\n",
                 report.constants,
                 static_cast<double>(report.constant_bytes) / 1e6);
  }
  Count(to, report.removed, "identities and nodes for training were removed");
  std::fprintf(to, "%s: %d nodes, %.2f MB\ninputs:\n", args.out.c_str(),
               graph.num_nodes(), static_cast<double>(bytes.size()) / 1e6);
  graph.ForEachNode([&](Node* n) {
    if (absl::StartsWith(n->type_string(), "Placeholder")) {
      std::fprintf(to, "  %s\n", Describe({n, 0}).c_str());
    }
  });
  std::fprintf(to, "outputs:\n");
  for (const std::string& tensor : tensors) {
    HR_ASSIGN_OR_RETURN(const Endpoint e, FindTensor(graph, tensor));
    std::fprintf(to, "  %s\n",
                 e.index < 0 || e.node->num_outputs() == 0
                     ? e.node->name().c_str()
                     : Describe(e).c_str());
  }
  if (!report.stateful.empty()) {
    std::fprintf(stderr,
                 "headrace: warning: the graph has %s, whose contents a "
                 "GraphDef cannot hold\n",
                 absl::StrJoin(report.stateful, ", ").c_str());
  }
  return OkStatus();
}

}  // namespace

int ConvertCommand(const Args& list) {
  ArgReader reader(list);
  Arguments args;
  while (!reader.done()) {
    std::string output;
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kConvertHelp, stdout);
      return 0;
    }
    if (reader.Option("--out", &args.out) ||
        reader.Option("--signature", &args.signature) ||
        reader.Option("--tags", &args.tags) ||
        reader.Option("--checkpoint", &args.checkpoint)) {
      continue;
    }
    if (reader.Option("--output", &output)) {
      const std::vector<std::string> names =
          absl::StrSplit(output, ',', absl::SkipEmpty());
      args.outputs.insert(args.outputs.end(), names.begin(), names.end());
    } else if (reader.status().ok()) {
      reader.TakeOnly("model", &args.model);
    }
  }
  if (!reader.status().ok()) {
    return UsageError("convert", std::string(reader.status().message()));
  }
  if (args.model.empty()) return UsageError("convert", "which model?");
  if (args.out.empty()) {
    return UsageError("convert", "where to? Give --out FILE");
  }
  const Status s = Convert(args);
  return s.ok() ? 0 : Fail(s);
}

}  // namespace headrace::cli
