// The functions of a graph, by name.
#include "graph/function_library.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "framework/op/message_util.h"
#include "framework/op/tensor_proto.h"
#include "headrace/op.h"

namespace headrace {

namespace {

// `def` without what does not make another function of it: attrs without a
// value, remarks about its nodes, and the order in which they are written.
pb::FunctionDef Essence(const pb::FunctionDef& def) {
  pb::FunctionDef out = def;
  auto* const attrs = out.mutable_attr();
  for (auto it = attrs->begin(); it != attrs->end();) {
    const bool is_set = it->second.value_case() != pb::AttrValue::VALUE_NOT_SET;
    it = is_set ? std::next(it) : attrs->erase(it);
  }
  for (pb::NodeDef& n : *out.mutable_node_def()) {
    auto* const remarks = n.mutable_attr();
    for (auto it = remarks->begin(); it != remarks->end();) {
      it =
          absl::StartsWith(it->first, "_") ? remarks->erase(it) : std::next(it);
    }
  }
  std::sort(out.mutable_node_def()->begin(), out.mutable_node_def()->end(),
            [](const pb::NodeDef& a, const pb::NodeDef& b) {
              return a.name() < b.name();
            });
  return out;
}

bool IsSameFunction(const pb::FunctionDef& a, const pb::FunctionDef& b) {
  return DeterministicBytes(a) == DeterministicBytes(b) ||
         (a.node_def_size() == b.node_def_size() &&
          DeterministicBytes(Essence(a)) == DeterministicBytes(Essence(b)));
}

}  // namespace

Status FunctionLibrary::AddLocked(const pb::FunctionDef& def, bool* is_new) {
  *is_new = false;
  const std::string& name = def.signature().name();
  if (name.empty()) {
    return errors::InvalidArgument("a function in the library has no name");
  }
  if (const auto it = functions_.find(name); it != functions_.end()) {
    if (IsSameFunction(*it->second.def, def)) return OkStatus();
    return errors::InvalidArgument(
        "Cannot add function '", name,
        "' because a different function with the same name already exists.");
  }
  if (OpRegistry::Global()->Find(name) != nullptr) {
    return errors::InvalidArgument(
        "Cannot add function '", name,
        "' because an op with the same name already exists.");
  }
  auto op_def = std::make_unique<OpDef>();
  if (Status s = OpDefFromProto(def.signature(), op_def.get()); !s.ok()) {
    return Annotate(s, StrCat(" in the signature of function '", name, "'"));
  }
  functions_.emplace(name, Entry{std::make_shared<const pb::FunctionDef>(def),
                                 std::move(op_def)});
  *is_new = true;
  return OkStatus();
}

Status FunctionLibrary::AddGradientLocked(const std::string& function,
                                          const std::string& gradient) {
  const auto [it, is_new] = gradients_.try_emplace(function, gradient);
  if (!is_new && it->second != gradient) {
    return errors::InvalidArgument("Cannot assign gradient function '",
                                   gradient, "' to '", function,
                                   "' because it already has gradient "
                                   "function '",
                                   it->second, "'");
  }
  return OkStatus();
}

Status FunctionLibrary::Add(const pb::FunctionDef& def) {
  MutexLock lock(&mu_);
  bool is_new;
  return AddLocked(def, &is_new);
}

Status FunctionLibrary::AddGradient(const std::string& function,
                                    const std::string& gradient) {
  MutexLock lock(&mu_);
  return AddGradientLocked(function, gradient);
}

Status FunctionLibrary::AddLibrary(const pb::FunctionDefLibrary& library,
                                   std::vector<std::string>* added) {
  MutexLock lock(&mu_);
  std::vector<std::string> fresh;
  std::vector<std::string> fresh_gradients;
  Status s;
  for (const pb::FunctionDef& f : library.function()) {
    bool is_new;
    s = AddLocked(f, &is_new);
    if (!s.ok()) break;
    if (is_new) fresh.push_back(f.signature().name());
  }
  for (const pb::GradientDef& g : library.gradient()) {
    if (!s.ok()) break;
    if (gradients_.contains(g.function_name())) {
      s = AddGradientLocked(g.function_name(), g.gradient_func());
    } else {
      gradients_.emplace(g.function_name(), g.gradient_func());
      fresh_gradients.push_back(g.function_name());
    }
  }
  if (!s.ok()) {
    for (const std::string& name : fresh) functions_.erase(name);
    for (const std::string& name : fresh_gradients) gradients_.erase(name);
    return s;
  }
  if (added != nullptr) {
    added->insert(added->end(), fresh.begin(), fresh.end());
  }
  return OkStatus();
}

void FunctionLibrary::Remove(absl::Span<const std::string> names) {
  MutexLock lock(&mu_);
  for (const std::string& name : names) {
    functions_.erase(name);
    gradients_.erase(name);
  }
}

std::shared_ptr<const pb::FunctionDef> FunctionLibrary::Find(
    absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second.def;
}

const OpDef* FunctionLibrary::FindOpDef(absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second.op_def.get();
}

std::string FunctionLibrary::FindGradient(absl::string_view function) const {
  MutexLock lock(&mu_);
  const auto it = gradients_.find(function);
  return it == gradients_.end() ? "" : it->second;
}

std::vector<std::string> FunctionLibrary::Names() const {
  MutexLock lock(&mu_);
  std::vector<std::string> names;
  for (const auto& [name, entry] : functions_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void FunctionLibrary::ToProto(pb::FunctionDefLibrary* out) const {
  out->Clear();
  for (const std::string& name : Names()) {
    if (const auto def = Find(name)) *out->add_function() = *def;
  }
  MutexLock lock(&mu_);
  std::vector<std::pair<std::string, std::string>> gradients(gradients_.begin(),
                                                             gradients_.end());
  std::sort(gradients.begin(), gradients.end());
  for (auto& [function, gradient] : gradients) {
    pb::GradientDef* const g = out->add_gradient();
    g->set_function_name(function);
    g->set_gradient_func(gradient);
  }
}

}  // namespace headrace
