#include "runtime/shared_kernels.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/function_runtime.h"

namespace headrace {
namespace {

// Args, results, sends and receives belong to their step, whatever their ops
// say.
bool IsShared(const Node& n) {
  return n.op_def().is_stateful && !n.IsArg() && !n.IsRetval() && !n.IsSend() &&
         !n.IsRecv();
}

bool Counts(absl::string_view attr) {
  return attr.empty() || attr[0] != '_' || attr == "_kernel";
}

// All attrs of `a` that count are in `b`.
bool Holds(const AttrMap& a, const AttrMap& b) {
  return absl::c_all_of(a, [&](const AttrMap::Item& item) {
    if (!Counts(item.first)) return true;
    const AttrValue* const other = b.Find(item.first);
    return other != nullptr && *other == item.second;
  });
}

}  // namespace

bool SharedKernels::Serves(const Entry& e, const Node& n) {
  return e.def == n.shared_def() ||
         (e.def->op == n.type_string() && e.input_types == n.input_types() &&
          e.output_types == n.output_types() &&
          Holds(e.def->attrs, n.attrs()) && Holds(n.attrs(), e.def->attrs));
}

std::shared_ptr<OpKernel> SharedKernels::Find(const std::string& key,
                                              const Node& n) const {
  const auto it = kernels_.find(key);
  if (it == kernels_.end()) return nullptr;
  for (const Entry& e : it->second) {
    if (Serves(e, n)) return e.kernel;
  }
  return nullptr;
}

Status SharedKernels::FindOrCreate(Device* device, const Node& n,
                                   std::shared_ptr<OpKernel>* kernel) {
  const bool shared = IsShared(n);
  std::string key;
  if (shared) {
    key = absl::StrCat(device->name(), ";", n.name());
    MutexLock lock(&mu_);
    *kernel = Find(key, n);
    if (*kernel != nullptr) return OkStatus();
  }
  std::unique_ptr<OpKernel> made;
  HR_RETURN_IF_ERROR(CreateNodeKernel(device, n, &made));
  *kernel = std::move(made);
  if (shared) {
    MutexLock lock(&mu_);
    if (std::shared_ptr<OpKernel> other = Find(key, n)) {
      kernel->swap(other);  // another thread was faster
      return OkStatus();
    }
    kernels_[key].push_back(
        {n.shared_def(), n.input_types(), n.output_types(), *kernel});
  }
  return OkStatus();
}

void SharedKernels::Clear() {
  decltype(kernels_) gone;  // destroyed after the lock
  MutexLock lock(&mu_);
  gone.swap(kernels_);
}

}  // namespace headrace
