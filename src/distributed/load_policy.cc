#include "distributed/load_policy.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

constexpr char kFoldersVariable[] = "HEADRACE_ALLOW_FOLDERS";
constexpr char kOpsVariable[] = "HEADRACE_ALLOW_OPS";

REGISTER_OP("_AllowedPath")
    .Input("path: string")
    .Output("same: string")
    .Attr("folders: list(string) >= 0")
    .Attr("inside: bool")
    .Attr("op: string")
    .Attr("node: string")
    .SetShapeFn(shape_inference::UnchangedShape)
    .ReadsFiles();  // where links lead

class AllowedPathOp : public OpKernel {
 public:
  explicit AllowedPathOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("folders", &folders_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("inside", &inside_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("op", &op_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("node", &node_));
  }
  void Compute(OpKernelContext* ctx) override {
    // A copy: a variable's buffer can change after it was looked at.
    const Tensor& given = ctx->input(0);
    Tensor* paths = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, given.shape(), &paths));
    for (int64_t i = 0; i < given.NumElements(); ++i) {
      tstring& path = paths->data<tstring>()[i];
      path = given.data<tstring>()[i];
      OP_REQUIRES_OK(
          ctx, Annotate(CheckAllowedPath(std::string(path), folders_, inside_),
                        StrCat(" (op ", op_, ", node ", node_, ")")));
    }
  }

 private:
  std::vector<std::string> folders_;
  bool inside_ = true;
  std::string op_, node_;
};
REGISTER_KERNEL_BUILDER(Name("_AllowedPath").Device(DEVICE_CPU), AllowedPathOp);

std::string Canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return "";
  std::filesystem::path p = std::filesystem::weakly_canonical(absolute, error);
  if (error) return "";
  std::string text = p.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// The effects that a policy is about.
constexpr Effect kFiles = Effect::kReadsFiles | Effect::kWritesFiles;

// Applies a policy to the nodes of a graph or of a function.
class Guard {
 public:
  explicit Guard(const LoadPolicy& policy) : policy_(policy) {}

  // `output` is what an added node's output is called beyond its name.
  Status Apply(const char* output,
               google::protobuf::RepeatedPtrField<pb::NodeDef>* nodes) {
    std::set<std::string> names;
    for (const pb::NodeDef& n : *nodes) names.insert(n.name());
    const int count = nodes->size();
    for (int i = 0; i < count; ++i) {
      pb::NodeDef* const n = nodes->Mutable(i);
      const OpDef* const op = OpRegistry::Global()->Find(n->op());
      if (op == nullptr) continue;  // a function, or for the importer to refuse
      if (absl::StartsWith(n->op(), "_AllowedPath")) {
        return errors::PermissionDenied("op ", n->op(), ", node ", n->name(),
                                        ": is for servers alone");
      }
      const Effect effects = EffectsOf(*op);
      HR_RETURN_IF_ERROR(CheckKind(*n, effects));
      if (policy_.all_folders || !HasAny(effects, kFiles)) continue;
      const FileNameTraits& names_at = op->traits->file_names;
      if (!names_at.stated) {
        return errors::PermissionDenied(
            "op ", n->op(), ", node ", n->name(),
            ": opens files whose names the server cannot see; it would need ",
            kFoldersVariable, "=*");
      }
      if (names_at.attr != nullptr) {
        HR_RETURN_IF_ERROR(CheckAttr(*n, *op));
      }
      for (int input = 0; names_at.inputs >> input != 0; ++input) {
        if ((names_at.inputs >> input & 1) == 0) continue;
        HR_RETURN_IF_ERROR(
            AddCheck(input, !names_at.may_be_folder, output, &names, i, nodes));
      }
    }
    return OkStatus();
  }

  Status CheckKind(const pb::NodeDef& n, Effect effects) const {
    const struct {
      Effect effect;
      bool allowed;
      const char *what, *word;
    } kinds[] = {
        {Effect::kRunsCode, policy_.code, "runs code", "code"},
        {Effect::kUsesNetwork, policy_.network, "uses the network", "network"},
        {Effect::kUnknown, policy_.custom, "does not say what it does",
         "custom"},
    };
    for (const auto& k : kinds) {
      if (k.allowed || !HasAny(effects, k.effect)) continue;
      return errors::PermissionDenied(
          "op ", n.op(), ", node ", n.name(), ": ", k.what,
          ", which the server does not allow to clients of other processes; "
          "it would need ",
          kOpsVariable, "=", k.word, " (headrace server --allow-ops ", k.word,
          ")");
    }
    return OkStatus();
  }

 private:
  Status CheckAttr(const pb::NodeDef& n, const OpDef& op) const {
    const FileNameTraits& names = op.traits->file_names;
    absl::string_view path;
    const auto it = n.attr().find(names.attr);
    if (it == n.attr().end()) {
      const int i = op.FindAttr(names.attr);
      if (i >= 0 && op.attrs[i].default_value.has_value()) {
        path = *op.attrs[i].default_value->Get<std::string>();
      }
    } else {
      if (!it->second.has_s()) {
        return errors::InvalidArgument("op ", n.op(), ", node ", n.name(),
                                       ": attr ", names.attr, " is no string");
      }
      path = it->second.s();
    }
    if (!absl::ConsumePrefix(&path, names.attr_prefix)) return OkStatus();
    return Annotate(CheckAllowedPath(std::string(path), policy_.folders,
                                     !names.may_be_folder),
                    StrCat(" (op ", n.op(), ", node ", n.name(), ")"));
  }

  // Puts a node between input `input` of node `at` and what it comes from.
  Status AddCheck(int input, bool inside, const char* output,
                  std::set<std::string>* names, int at,
                  google::protobuf::RepeatedPtrField<pb::NodeDef>* nodes) {
    pb::NodeDef* check = nodes->Add();
    pb::NodeDef* const n = nodes->Mutable(at);
    if (input >= n->input_size() || absl::StartsWith(n->input(input), "^")) {
      return errors::InvalidArgument("op ", n->op(), ", node ", n->name(),
                                     ": has no input ", input);
    }
    std::string name = StrCat(n->name(), "/allowed_path_", input);
    while (!names->insert(name).second) name += "_";
    check->set_name(name);
    check->set_op("_AllowedPath");
    check->set_device(n->device());
    check->add_input(n->input(input));
    auto& attrs = *check->mutable_attr();
    attrs["folders"].mutable_list();
    for (const std::string& folder : policy_.folders) {
      attrs["folders"].mutable_list()->add_s(folder);
    }
    attrs["inside"].set_b(inside);
    attrs["op"].set_s(n->op());
    attrs["node"].set_s(n->name());
    n->set_input(input, StrCat(name, output));
    return OkStatus();
  }

  const LoadPolicy& policy_;
};

// The functions that nodes may call: by their ops and by attrs.
void AddCalled(const pb::AttrValue& value, std::vector<std::string>* out) {
  if (value.has_func()) {
    out->push_back(value.func().name());
    for (const auto& [name, v] : value.func().attr()) AddCalled(v, out);
  }
  for (const pb::NameAttrList& f : value.list().func()) {
    out->push_back(f.name());
    for (const auto& [name, v] : f.attr()) AddCalled(v, out);
  }
}
void AddCalled(const google::protobuf::RepeatedPtrField<pb::NodeDef>& nodes,
               std::vector<std::string>* out) {
  for (const pb::NodeDef& n : nodes) {
    out->push_back(n.op());
    for (const auto& [name, value] : n.attr()) AddCalled(value, out);
  }
}

void KeepCalledFunctions(pb::GraphDef* graph) {
  pb::FunctionDefLibrary* const library = graph->mutable_library();
  std::map<std::string, const pb::FunctionDef*> functions;
  for (const pb::FunctionDef& f : library->function()) {
    functions.emplace(f.signature().name(), &f);
  }
  std::multimap<std::string, std::string> gradients;
  for (const pb::GradientDef& g : library->gradient()) {
    gradients.emplace(g.function_name(), g.gradient_func());
  }
  std::set<std::string> kept;
  std::vector<std::string> names;
  AddCalled(graph->node(), &names);
  while (!names.empty()) {
    const std::string name = std::move(names.back());
    names.pop_back();
    const auto f = functions.find(name);
    if (f == functions.end() || !kept.insert(name).second) continue;
    AddCalled(f->second->node_def(), &names);
    for (const auto& [attr, value] : f->second->attr()) {
      AddCalled(value, &names);
    }
    const auto [begin, end] = gradients.equal_range(name);
    for (auto g = begin; g != end; ++g) names.push_back(g->second);
  }
  pb::FunctionDefLibrary small;
  for (pb::FunctionDef& f : *library->mutable_function()) {
    if (kept.contains(f.signature().name())) {
      small.add_function()->Swap(&f);
    }
  }
  for (pb::GradientDef& g : *library->mutable_gradient()) {
    if (kept.contains(g.function_name())) small.add_gradient()->Swap(&g);
  }
  library->Swap(&small);
}

}  // namespace

Status CheckAllowedPath(const std::string& path,
                        const std::vector<std::string>& folders, bool inside) {
  // "" names no file: a cache in memory.
  if (path.empty()) return OkStatus();
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  bool up = path.find('\0') != std::string::npos;
  for (const absl::string_view part : parts) up |= part == "..";
  const std::string real = up ? "" : Canonical(path);
  for (const std::string& folder : folders) {
    if (real.empty()) break;
    if (real == folder) {
      if (!inside) return OkStatus();
      continue;
    }
    if (folder == "/" || absl::StartsWith(real, folder + "/")) {
      return OkStatus();
    }
  }
  return errors::PermissionDenied(
      "'", path,
      "' is in no folder that the server allows to clients of other "
      "processes",
      folders.empty() ? "; it allows none"
                      : StrCat(": ", absl::StrJoin(folders, ", ")),
      ". ", kFoldersVariable, " (headrace server --allow-folder) names them");
}

StatusOr<LoadPolicy> LoadPolicy::FromEnvironment(bool is_loopback) {
  LoadPolicy p;
  p.all_folders = p.custom = is_loopback;
  if (const char* const value = std::getenv(kFoldersVariable)) {
    p.all_folders = absl::string_view(value) == "*";
    for (const absl::string_view folder :
         absl::StrSplit(value, ':', absl::SkipEmpty())) {
      if (p.all_folders) break;
      const std::string real = Canonical(std::string(folder));
      if (!absl::StartsWith(folder, "/") || real.empty()) {
        return errors::InvalidArgument(kFoldersVariable, ": '", folder,
                                       "' is no absolute path of a folder");
      }
      p.folders.push_back(real);
    }
  }
  if (const char* const value = std::getenv(kOpsVariable)) {
    p.code = p.network = p.custom = false;
    for (const absl::string_view word :
         absl::StrSplit(value, ',', absl::SkipEmpty())) {
      bool* const known = word == "code"      ? &p.code
                          : word == "network" ? &p.network
                          : word == "custom"  ? &p.custom
                                              : nullptr;
      if (known == nullptr) {
        return errors::InvalidArgument(kOpsVariable, ": '", word,
                                       "' is none of code, network and custom");
      }
      *known = true;
    }
  }
  return p;
}

Status LoadPolicy::Apply(pb::GraphDef* graph) const {
  KeepCalledFunctions(graph);
  Guard guard(*this);
  HR_RETURN_IF_ERROR(guard.Apply("", graph->mutable_node()));
  for (pb::FunctionDef& f : *graph->mutable_library()->mutable_function()) {
    HR_RETURN_IF_ERROR(
        Annotate(guard.Apply(":same:0", f.mutable_node_def()),
                 StrCat(" (function ", f.signature().name(), ")")));
  }
  return OkStatus();
}

Status LoadPolicy::CheckImport(const pb::GraphDef& graph) const {
  // Shapes are inferred from constants, which may mean to run a node.
  const Guard guard(*this);
  for (const pb::NodeDef& n : graph.node()) {
    const OpDef* const op = OpRegistry::Global()->Find(n.op());
    if (op == nullptr || op->is_stateful) continue;
    const Effect code = EffectsOf(*op) & Effect::kRunsCode;
    HR_RETURN_IF_ERROR(guard.CheckKind(n, code));
  }
  return OkStatus();
}

}  // namespace headrace
