#include "eager/kernel_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/infer.h"
#include "headrace/graph.h"
#include "headrace/version.h"
#include "runtime/function_runtime.h"

namespace headrace {
namespace {

// Larger attrs are not compared: the kernel is made anew for each call.
constexpr size_t kMaxTensorBytes = 1024;

template <typename T>
void AppendBytes(const T& v, std::string* key) {
  key->append(reinterpret_cast<const char*>(&v), sizeof(v));
}
void AppendString(absl::string_view s, std::string* key) {
  AppendBytes(s.size(), key);
  key->append(s.data(), s.size());
}
void AppendShape(const PartialTensorShape& s, std::string* key) {
  AppendBytes(s.unknown_rank() ? -1 : s.dims(), key);
  if (s.unknown_rank()) return;
  for (int64_t d : s.dim_sizes()) AppendBytes(d, key);
}

bool AppendAttrs(const AttrMap& attrs, std::string* key);

struct AppendValue {
  std::string* key;

  bool operator()(std::monostate) const { return true; }
  bool operator()(AttrValue::EmptyList) const { return true; }
  bool operator()(const AttrValue::Placeholder& p) const {
    AppendString(p.name, key);
    return true;
  }
  bool operator()(const std::string& s) const {
    AppendString(s, key);
    return true;
  }
  bool operator()(const PartialTensorShape& s) const {
    AppendShape(s, key);
    return true;
  }
  bool operator()(const Tensor& t) const {
    if (!DataTypeCanUseMemcpy(t.dtype()) || t.TotalBytes() > kMaxTensorBytes) {
      return false;
    }
    AppendBytes(t.dtype(), key);
    AppendShape(t.shape(), key);
    const absl::string_view data = t.tensor_data();
    key->append(data.data(), data.size());
    return true;
  }
  bool operator()(const NameAttrList& f) const {
    AppendString(f.name, key);
    return f.attrs == nullptr || AppendAttrs(*f.attrs, key);
  }
  template <typename T>
  bool operator()(const std::vector<T>& list) const {
    AppendBytes(list.size(), key);
    for (const auto& v : list) {
      if (!(*this)(static_cast<const T&>(v))) return false;
    }
    return true;
  }
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  bool operator()(T v) const {
    AppendBytes(v, key);
    return true;
  }
};

bool AppendAttrs(const AttrMap& attrs, std::string* key) {
  AppendBytes(attrs.size(), key);
  for (const auto& [name, value] : attrs) {
    AppendString(name, key);
    key->push_back(static_cast<char>(value.storage().index()));
    if (!std::visit(AppendValue{key}, value.storage())) return false;
  }
  return true;
}

// The words that TensorFlow's clients know.
Status CheckInputs(const EagerCall& call, const DataTypeVector& wanted) {
  if (call.input_types.size() != wanted.size()) {
    return errors::InvalidArgument("expected ", wanted.size(), " inputs, got ",
                                   call.input_types.size(), " for op ",
                                   call.name);
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (IsRefType(wanted[i])) {
      return errors::InvalidArgument(
          "op ", call.name, " wants a reference to a variable as input #", i,
          ", which only a graph has; use a resource variable");
    }
    if (call.input_types[i] == wanted[i]) continue;
    return errors::InvalidArgument(
        "cannot compute ", call.name, " as input #", i,
        "(zero-based) was expected to be a ", DataTypeString(wanted[i]),
        " tensor but is a ", DataTypeString(call.input_types[i]), " tensor");
  }
  return OkStatus();
}

// What is kept in a resource is the resource's, and a kernel that makes handles
// of variables by their names makes the same ones again.
bool KeepsState(const Node& n) {
  const auto is_resource = [](DataType t) { return t == DT_RESOURCE; };
  return n.op_def().is_stateful &&
         std::none_of(n.input_types().begin(), n.input_types().end(),
                      is_resource) &&
         !(n.traits().variable_use == VariableUse::kHolds &&
           std::all_of(n.output_types().begin(), n.output_types().end(),
                       is_resource));
}

}  // namespace

Status CompleteAttrs(const EagerCall& call, AttrMap* attrs) {
  const OpDef& def = *call.op_def;
  for (const auto& [name, value] : call.attrs) {
    if (def.FindAttr(name) >= 0 || absl::StartsWith(name, "_"))
      attrs->Set(name, value);
  }
  HR_RETURN_IF_ERROR(
      Annotate(InferAttrsFromInputs(def, call.input_types,
                                    call.arg_sizes.size() == def.inputs.size()
                                        ? call.arg_sizes
                                        : absl::Span<const int>(),
                                    attrs),
               StrCat(" for op ", call.name)));
  AddDefaultAttrs(def, attrs);
  return OkStatus();
}

bool AppendKernelKey(const EagerCall& call, std::string* key) {
  AppendString(call.name, key);
  // One function may have been removed and another added under its name.
  AppendBytes(call.op_def.get(), key);
  AppendBytes(call.input_types.size(), key);
  for (DataType t : call.input_types) AppendBytes(t, key);
  AppendBytes(call.arg_sizes.size(), key);
  for (int n : call.arg_sizes) AppendBytes(n, key);
  return AppendAttrs(call.attrs, key);
}

Status MakeEagerKernel(const EagerCall& call, Device* device,
                       const std::shared_ptr<FunctionLibrary>& functions,
                       RefPtr<EagerKernel>* out) {
  NodeDef def;
  def.name = call.name;
  def.op = call.name;
  def.device = device->name();
  HR_RETURN_IF_ERROR(CompleteAttrs(call, &def.attrs));
  if (call.input_types.size() < call.op_def->inputs.size() &&
      call.arg_sizes.empty()) {
    // Before a word about attrs that only the missing inputs would tell.
    const bool has_lists =
        std::any_of(call.op_def->inputs.begin(), call.op_def->inputs.end(),
                    [](const auto& a) {
                      return a.number_attr >= 0 || a.type_list_attr >= 0;
                    });
    if (!has_lists) {
      return errors::InvalidArgument("expected ", call.op_def->inputs.size(),
                                     " inputs, got ", call.input_types.size(),
                                     " for op ", call.name);
    }
  }
  // A graph of one node: it checks the attrs against the op's signature.
  Graph graph;
  graph.versions().producer = kGraphDefProducer;
  graph.set_functions(functions);
  HR_ASSIGN_OR_RETURN(Node* const n, graph.AddUnconnectedNode(std::move(def)));
  HR_RETURN_IF_ERROR(CheckInputs(call, n->input_types()));
  auto made = MakeRef<EagerKernel>();
  made->device = device;
  HR_RETURN_IF_ERROR(CreateNodeKernel(device, *n, &made->kernel));
  made->async = made->kernel->AsAsync();
  made->calls_functions = made->kernel->traits().calls_functions;
  made->transfers = n->IsSend() || n->IsRecv();
  made->may_leave_unset = n->IsSwitch() || n->IsRecv();
  made->keeps_state = KeepsState(*n);
  for (const auto& [name, value] : made->kernel->def().attrs) {
    made->names_functions |=
        value.Is<NameAttrList>() || value.Is<std::vector<NameAttrList>>();
  }
  *out = std::move(made);
  return OkStatus();
}

RefPtr<EagerKernel> KernelCache::Find(absl::string_view key) {
  MutexLock lock(&mu_);
  const auto it = kernels_.find(key);
  if (it == kernels_.end()) return nullptr;
  it->second->last_use.store(++lookups_, std::memory_order_relaxed);
  return it->second;
}

RefPtr<EagerKernel> KernelCache::Insert(absl::string_view key,
                                        RefPtr<EagerKernel> made) {
  Map dropped;  // destroyed after the lock
  MutexLock lock(&mu_);
  if (kernels_.size() >= limit_) Shrink(&dropped);
  made->last_use.store(++lookups_, std::memory_order_relaxed);
  return kernels_.try_emplace(key, std::move(made)).first->second;
}

void KernelCache::Shrink(Map* dropped) {
  std::vector<int64_t> uses;
  for (const auto& [key, k] : kernels_) {
    if (!k->keeps_state) uses.push_back(k->last_use.load());
  }
  if (!uses.empty()) {
    const auto middle = uses.begin() + uses.size() / 2;
    std::nth_element(uses.begin(), middle, uses.end());
    for (auto it = kernels_.begin(); it != kernels_.end();) {
      const auto at = it++;
      if (at->second->keeps_state || at->second->last_use.load() > *middle) {
        continue;
      }
      dropped->emplace(at->first, std::move(at->second));
      kernels_.erase(at);
    }
  }
  // What is left has state and stays.
  limit_ = std::max(limit_, 2 * kernels_.size());
}

void KernelCache::Clear() {
  Map dropped;
  MutexLock lock(&mu_);
  dropped.swap(kernels_);
}

void KernelCache::DropFunctionUsers() {
  Map dropped;  // destroyed after the lock
  MutexLock lock(&mu_);
  for (auto it = kernels_.begin(); it != kernels_.end();) {
    const auto at = it++;
    if (!at->second->names_functions) continue;
    dropped.emplace(at->first, std::move(at->second));
    kernels_.erase(at);
  }
}

size_t KernelCache::size() const {
  MutexLock lock(&mu_);
  return kernels_.size();
}

}  // namespace headrace
