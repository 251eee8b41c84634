#include "headrace/cc/saver.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "cc/meta_graph.h"
#include "cc/scope_data.h"
#include "headrace/cc/checkpoint_reader.h"
#include "headrace/cc/op_call.h"
#include "headrace/checkpoint_state.pb.h"
#include "io/tensor_bundle.h"

namespace headrace {
namespace {

constexpr char kStateFile[] = "checkpoint";

Tensor Strings(const std::vector<std::string>& values) {
  return Input::Initializer(values).tensor;
}

std::string StatePath(const std::string& path) {
  return JoinPath(Dirname(path), kStateFile);
}

// A line with the tensors of a checkpoint that no variable has; "" for none.
std::string Unused(const CheckpointReader& reader,
                   absl::Span<const Variable> variables) {
  constexpr size_t kShown = 10;
  std::set<std::string> unused;
  for (const auto& [name, entry] : reader.entries()) unused.insert(name);
  for (const Variable& v : variables) unused.erase(v.name());
  if (unused.empty()) return "";
  const size_t shown = std::min(kShown, unused.size());
  std::string out = StrCat(
      "\nThe checkpoint also has: ",
      absl::StrJoin(unused.begin(), std::next(unused.begin(), shown), ", "));
  if (unused.size() > shown) {
    StrAppend(&out, " and ", unused.size() - shown, " more");
  }
  return out;
}

Tensor Names(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& v : variables) names.push_back(v.name());
  return Strings(names);
}
Tensor NoSlices(const std::vector<Variable>& variables) {
  return Strings(std::vector<std::string>(variables.size()));
}

// The value, once these have run.
Output After(const Scope& scope, const std::vector<Operation>& ops,
             const Output& value) {
  for (const Operation& op : ops) {
    if (op.empty()) return Output();
  }
  return OpCall(scope.WithControlDependencies(ops).WithOpName(
                    "control_dependency"),
                "Identity")
      .Add(value)
      .Finish(0);
}

void DeleteCheckpoint(Env* env, const std::string& path, int shards) {
  // Without its index, what is left is no checkpoint.
  std::vector<std::string> files = {BundleIndexPath(path), path + ".meta"};
  for (int i = 0; i < shards; ++i) {
    files.push_back(BundleDataPath(path, i, shards));
  }
  for (const std::string& file : files) env->DeleteFile(file).IgnoreError();
}

}  // namespace

Saver::Saver(const Scope& scope, std::vector<Variable> variables)
    : Saver(scope, std::move(variables), Options()) {}

Saver::Saver(const Scope& scope, std::vector<Variable> variables,
             Options options)
    : scope_(internal::Plain(scope.data())),
      options_(options),
      variables_(std::move(variables)) {
  if (!scope.ok()) return;
  if (variables_.empty()) variables_ = GlobalVariables(scope);
  if (variables_.empty()) {
    scope.UpdateStatus(
        errors::InvalidArgument("Saver: the graph has no variables"));
    return;
  }
  std::set<std::string> distinct;
  for (const Variable& v : variables_) {
    if (v.empty() || !distinct.insert(v.name()).second) {
      scope.UpdateStatus(
          v.empty() ? errors::InvalidArgument("Saver: got an empty Variable")
                    : errors::InvalidArgument("Saver: variable '", v.name(),
                                              "' is given twice"));
      return;
    }
    shards_[options_.sharded ? v.ref().node()->requested_device() : ""]
        .push_back(v);
  }
  const Scope save = scope_.NewSubScope("save");
  const Output model = OpCall(save.WithOpName("filename/input"), "Const")
                           .Set("dtype", DT_STRING)
                           .Set("value", Tensor::Scalar<tstring>("model"))
                           .Finish(0);
  const auto path = [&](const char* name, const Output& value) {
    return OpCall(save.WithOpName(name), "PlaceholderWithDefault")
        .Add(value)
        .Set("shape", PartialTensorShape::Scalar())
        .Finish(0);
  };
  filename_ = path("Const", path("filename", model));
  saved_ =
      options_.sharded
          ? SaveShards(save)
          : After(save, {SaveNode(save, filename_, variables_)}, filename_);
  std::vector<Operation> restored;
  for (const auto& [device, variables] : shards_) {
    const Scope here = options_.sharded ? save.WithDevice(device) : save;
    const std::vector<Operation> assigned = RestoreNodes(here, variables);
    if (assigned.empty()) return;
    if (options_.sharded) {
      restored.push_back(
          OpCall(here.WithControlDependencies(assigned).WithOpName(
                     "restore_shard"),
                 "NoOp")
              .Finish());
    } else {
      restored = assigned;
    }
  }
  restored_ =
      OpCall(save.WithControlDependencies(restored).WithOpName("restore_all"),
             "NoOp")
          .Finish();
  if (restored_.empty() || saved_.empty()) return;
  saver_def_.set_filename_tensor_name(filename_.name());
  saver_def_.set_save_tensor_name(saved_.name());
  saver_def_.set_restore_op_name(restored_.name());
  saver_def_.set_sharded(options_.sharded);
  saver_def_.set_max_to_keep(std::max(0, options_.max_to_keep));
  saver_def_.set_keep_checkpoint_every_n_hours(10000);
  saver_def_.set_version(pb::SaverDef::V2);
}

Operation Saver::SaveNode(const Scope& scope, const Output& path,
                          const std::vector<Variable>& variables) const {
  std::vector<Output> values;
  for (const Variable& v : variables) {
    values.push_back(v.is_resource() ? v.value() : v.ref());
  }
  return OpCall(scope, "SaveV2")
      .Add(path)
      .Add(Names(variables))
      .Add(NoSlices(variables))
      .Add(values)
      .Finish();
}

std::vector<Operation> Saver::RestoreNodes(
    const Scope& scope, const std::vector<Variable>& variables) const {
  std::vector<DataType> types;
  for (const Variable& v : variables) types.push_back(v.type());
  const Operation restore =
      OpCall(scope.WithDevice("/device:CPU:0"), "RestoreV2")
          .Add(filename_)
          .Add(Names(variables))
          .Add(NoSlices(variables))
          .Set("dtypes", types)
          .Finish();
  if (restore.empty()) return {};
  std::vector<Operation> assigned;
  for (size_t i = 0; i < variables.size(); ++i) {
    assigned.push_back(CallAssign(
        scope.WithOpName("Assign").ColocateWith(variables[i].ref()), "Assign",
        "", variables[i], Output(restore, static_cast<int>(i))));
  }
  return assigned;
}

// Each shard is written under a name of its own; then the files get their
// names, and one index.
Output Saver::SaveShards(const Scope& scope) const {
  const auto constant = [&](const char* name, Tensor value) {
    const DataType dtype = value.dtype();
    return OpCall(scope.WithOpName(name), "Const")
        .Set("value", std::move(value))
        .Set("dtype", dtype)
        .Finish(0);
  };
  std::random_device random;
  const std::string part = absl::StrFormat(
      "_temp_%08x%08x%08x%08x/part", random(), random(), random(), random());
  const Output prefix =
      OpCall(scope.WithOpName("StringJoin"), "StringJoin")
          .Add(std::vector<Output>{
              filename_, constant("StringJoin/inputs_1",
                                  Tensor::Scalar<tstring>(part.c_str()))})
          .Finish(0);
  const int32_t n = static_cast<int32_t>(shards_.size());
  const Output number = constant("num_shards", Tensor::Scalar<int32_t>(n));
  std::vector<Output> files;
  std::vector<Operation> done;
  int32_t shard = 0;
  for (const auto& [device, variables] : shards_) {
    const Scope here = scope.WithDevice(device).WithDevice("/device:CPU:0");
    files.push_back(
        OpCall(here.WithOpName("ShardedFilename"), "ShardedFilename")
            .Add(prefix)
            .Add(constant("ShardedFilename/shard",
                          Tensor::Scalar<int32_t>(shard++)))
            .Add(number)
            .Finish(0));
    done.push_back(SaveNode(here, files.back(), variables));
    if (done.back().empty()) return Output();
  }
  const Operation merged =
      OpCall(scope.WithDevice(shards_.rbegin()->first)
                 .WithDevice("/device:CPU:0")
                 .WithControlDependencies(done)
                 .WithOpName("MergeV2Checkpoints"),
             "MergeV2Checkpoints")
          .Add(
              OpCall(scope.WithOpName("MergeV2Checkpoints/checkpoint_prefixes"),
                     "Pack")
                  .Add(files)
                  .Finish(0))
          .Add(filename_)
          .Finish();
  return After(scope, {merged}, filename_);
}

StatusOr<std::string> Saver::Save(const ClientSession& session,
                                  const std::string& prefix, int64_t step) {
  HR_RETURN_IF_ERROR(scope_.status());
  if (Basename(prefix).empty() ||
      (step < 0 && Basename(prefix) == kStateFile)) {
    return errors::InvalidArgument("Saver::Save: '", prefix,
                                   "' is no name for a checkpoint");
  }
  const std::string path = step < 0 ? prefix : StrCat(prefix, "-", step);
  const std::string folder(Dirname(path));
  Env* const env = Env::Default();
  if (!folder.empty() && !env->IsDirectory(folder)) {
    return errors::NotFound("Saver::Save: there is no folder ", folder);
  }
  std::vector<Tensor> out;
  HR_RETURN_IF_ERROR(session.Run({{filename_, path}}, {saved_}, &out));
  if (options_.write_meta_graph) {
    pb::MetaGraphDef meta_graph;
    HR_RETURN_IF_ERROR(ToMetaGraph(&meta_graph));
    HR_RETURN_IF_ERROR(env->WriteFile(
        path + ".meta", meta_graph.SerializeAsString(), WriteMode::kAtomic));
  }
  HR_RETURN_IF_ERROR(WriteState(path));
  return path;
}

Status Saver::WriteState(const std::string& path) {
  Env* const env = Env::Default();
  kept_.erase(std::remove(kept_.begin(), kept_.end(), path), kept_.end());
  kept_.push_back(path);
  std::vector<std::string> old;
  if (options_.max_to_keep > 0) {
    while (kept_.size() > static_cast<size_t>(options_.max_to_keep)) {
      old.push_back(kept_.front());
      kept_.erase(kept_.begin());
    }
  }
  // Paths in a relative folder are relative to it.
  const auto listed = [](const std::string& p) {
    return p[0] == '/' ? p : std::string(Basename(p));
  };
  pb::CheckpointState state;
  state.set_model_checkpoint_path(listed(path));
  for (const std::string& p : kept_) {
    state.add_all_model_checkpoint_paths(listed(p));
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(state, &text);
  HR_RETURN_IF_ERROR(env->WriteFile(StatePath(path), text, WriteMode::kAtomic));
  for (const std::string& p : old) {
    DeleteCheckpoint(env, p, static_cast<int>(shards_.size()));
  }
  return OkStatus();
}

Status Saver::CheckFits(const std::string& path) const {
  HR_ASSIGN_OR_RETURN(const CheckpointReader reader,
                      CheckpointReader::Open(path));
  std::string missing, other;
  for (const Variable& v : variables_) {
    const auto at = reader.entries().find(v.name());
    const std::string wanted =
        StrCat(DataTypeString(v.type()), " ", v.shape().DebugString());
    if (at == reader.entries().end()) {
      StrAppend(&missing, "\n  ", v.name(), "  ", wanted,
                "  not found in checkpoint");
      continue;
    }
    const CheckpointReader::Entry& entry = at->second;
    if (entry.dtype != v.type() || !v.shape().IsCompatibleWith(entry.shape)) {
      StrAppend(&other, "\n  ", v.name(), "  ", wanted, "  the checkpoint has ",
                DataTypeString(entry.dtype), " ", entry.shape.DebugString());
    }
  }
  if (missing.empty() && other.empty()) return OkStatus();
  const std::string message =
      StrCat("Restoring from checkpoint failed: ", path,
             " does not fit the graph. No variable was changed.", missing,
             other, Unused(reader, variables_));
  return missing.empty() ? errors::InvalidArgument(message)
                         : errors::NotFound(message);
}

Status Saver::Restore(const ClientSession& session,
                      const std::string& path) const {
  HR_RETURN_IF_ERROR(scope_.status());
  HR_RETURN_IF_ERROR(CheckFits(path));
  return session.Run({{filename_, path}}, {}, {restored_}, nullptr);
}

Status Saver::ToMetaGraph(pb::MetaGraphDef* meta_graph) const {
  HR_RETURN_IF_ERROR(internal::MakeMetaGraph(scope_, meta_graph));
  *meta_graph->mutable_saver_def() = saver_def_;
  return OkStatus();
}

StatusOr<std::string> LatestCheckpoint(const std::string& folder) {
  Env* const env = Env::Default();
  const std::string file = JoinPath(folder, kStateFile);
  std::string text;
  HR_RETURN_IF_ERROR(env->ReadFile(file, &text));
  pb::CheckpointState state;
  if (!google::protobuf::TextFormat::ParseFromString(text, &state) ||
      state.model_checkpoint_path().empty()) {
    return errors::DataLoss(file, " names no checkpoint");
  }
  const std::string path = JoinPath(folder, state.model_checkpoint_path());
  if (!env->FileExists(BundleIndexPath(path)).ok() &&
      !env->FileExists(path).ok()) {
    return errors::NotFound(file, " names ", path, ", which is gone");
  }
  return path;
}

}  // namespace headrace
